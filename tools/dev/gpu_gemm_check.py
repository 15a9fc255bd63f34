#!/usr/bin/env python3
"""Checks and times gemm packs on a GPU in one call, cuBLAS (torch.matmul) beside them.

    gpu_gemm_check.py DIR [--out DIR] [--cases FILE] [--sanitize memcheck,synccheck] [--time-limit SECONDS]

DIR is what gpu_stage collected: packs, libtile_rt.so, tile-run. Every kernel of every pack with tensors A, B, C of rank 2 is
taken for a gemm; M, N, K and which operand is stored transposed are read off the extents in its manifest. For every
architecture of the pack that the device runs it is
  - checked on 69 shapes (every pair out of {1, 7, 16, 127, 128, 129, 1000, 4096} for M and N, K mixed) against the float64
    product of the same inputs; output and guards poisoned, NaN right behind the inputs, two runs bit for bit equal;
  - timed at 4096^3 and 8192^3, L2 flushed, interleaved with torch.matmul of the same types and layouts, medians of events.
A cases file, JSON, changes that: {"shapes": [[M, N, K], ...], "bench": [[M, N, K], ...], "kernels": ["symbol", ...],
"tolerance": {"f16": 1e-3}, "no_bench": ["symbol", ...], "layouts": {"symbol": "nt"}}; all members may be left out.
Exit status: 0 all right, 1 a wrong result, 2 nothing to check, 3 no GPU.
"""
import argparse
import ctypes as ct
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import torch

SIZES = [1, 7, 16, 127, 128, 129, 1000, 4096]
SHAPES = [(m, n, SIZES[(i + j) % 8]) for i, m in enumerate(SIZES) for j, n in enumerate(SIZES)]
SHAPES += [(4096, 4096, 4096), (127, 129, 7), (1000, 1000, 1000), (128, 4096, 1), (129, 127, 4096)]
BENCH = [(4096, 4096, 4096), (8192, 8192, 8192)]
# Accepted ||out - ref|| / ||ref|| by output type; e4m3 inputs add the truncation of the tensor cores' sums.
TOLERANCE = {"f64": 1e-12, "f32": 1e-4, "f16": 1e-3, "bf16": 5e-3, "e4m3 inputs": 2e-3}
GUARD = 4096
FLUSH_BYTES = 256 << 20

DTYPES = {"f64": torch.float64, "f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16,
          "e4m3": torch.float8_e4m3fn, "e5m2": torch.float8_e5m2}
DTYPE_NUMBER = {n: i for i, n in enumerate(
    "f64 f32 f16 bf16 i64 i32 i16 i8 u64 u32 u16 u8 bool e4m3 e5m2 e8m0 e2m1 i4 u4".split())}


SCALAR_RANK = -1  # TILE_SCALAR_RANK of tile.h


class TileArg(ct.Structure):
    _fields_ = [("data", ct.c_void_p), ("extents", ct.POINTER(ct.c_int64)), ("strides", ct.POINTER(ct.c_int64)),
                ("rank", ct.c_int32), ("dtype", ct.c_int32)]


class TileError(RuntimeError):
    pass


# What torch raises when a kernel has made the CUDA context unusable: nothing can be run after it in this process.
DEVICE_ERROR = getattr(torch, "AcceleratorError", RuntimeError)


class Runtime:
    """libtile_rt through ctypes."""

    def __init__(self, path):
        self.lib = ct.CDLL(str(path))
        self.lib.tile_last_error.restype = ct.c_char_p
        self.lib.tile_pack_manifest.restype = ct.c_char_p
        self.lib.tile_pack_manifest.argtypes = [ct.c_void_p]
        self.context = ct.c_void_p()
        self.check(self.lib.tile_context_create(0, ct.byref(self.context)))

    def check(self, status):
        if status:
            raise TileError(self.lib.tile_last_error().decode())

    def load(self, path):
        pack = ct.c_void_p()
        self.check(self.lib.tile_load_pack_file(self.context, str(path).encode(), ct.byref(pack)))
        return pack

    def kernel(self, pack, symbol):
        kernel = ct.c_void_p()
        self.check(self.lib.tile_kernel_find(pack, symbol.encode(), ct.byref(kernel)))
        return kernel

    def restrict(self, kernel, arch):
        self.check(self.lib.tile_kernel_restrict(kernel, arch.encode() if arch else None, None))

    def call(self, kernel, tensors):
        """A function that launches, and the text of what it launches. `tensors`: (torch tensor, type name); in place of the
        tensor None for an absent one, or a number for an f32."""
        args = (TileArg * len(tensors))()
        keep = []
        for arg, (tensor, dtype) in zip(args, tensors):
            arg.dtype = DTYPE_NUMBER[dtype]
            if isinstance(tensor, torch.Tensor):
                extents = (ct.c_int64 * tensor.dim())(*tensor.shape)
                keep.append(extents)
                arg.data, arg.rank, arg.extents = tensor.data_ptr(), tensor.dim(), extents
            elif tensor is not None:
                number = ct.c_float(tensor)
                keep.append(number)
                arg.data, arg.rank = ct.cast(ct.pointer(number), ct.c_void_p), SCALAR_RANK
        size = ct.c_size_t()
        self.check(self.lib.tile_workspace_size(kernel, args, ct.c_size_t(len(args)), ct.byref(size)))
        workspace = torch.empty(max(size.value, 1), dtype=torch.uint8, device="cuda")
        text = ct.create_string_buffer(2000)
        self.check(self.lib.tile_describe(kernel, args, ct.c_size_t(len(args)), text, ct.c_size_t(2000), None))

        def launch():
            stream = ct.c_void_p(torch.cuda.current_stream().cuda_stream)
            self.check(self.lib.tile_launch(kernel, args, ct.c_size_t(len(args)), stream,
                                            ct.c_void_p(workspace.data_ptr()), size))
        launch.keep = (args, keep, workspace)
        return launch, text.value.decode()


def modules_of(statements):
    """Numbers of the modules that the launches of a host program can use."""
    for statement in statements:
        for variant in statement.get("launch", {}).get("variants", []):
            yield variant["module"]
        for branch in ("then", "else"):
            yield from modules_of(statement.get("if", {}).get(branch, []))


class Gemm:
    """One kernel of a pack, as its manifest describes it."""

    def __init__(self, runtime, path, pack, manifest, entry, layout):
        self.path, self.symbol = path, entry["symbol"]
        self.args = {a["name"]: a for a in entry["arguments"]}
        self.order = [a["name"] for a in entry["arguments"]]
        self.fixed = {d["name"]: d["value"] for d in entry["dims"] if d.get("value") is not None}
        self.read_dimensions(*(self.args[x]["extents"] for x in "ABC"), layout)
        self.types = [self.args[x]["dtype"] for x in "ABC"]
        self.archs = list(dict.fromkeys(manifest["modules"][i]["arch"] for i in modules_of([s for c in entry["configurations"] for s in c["host"]])))
        self.kernel = runtime.kernel(pack, self.symbol)

    def read_dimensions(self, a, b, c, layout):
        """Names of M, N, K and the layout. Extents fixed when compiling are numbers: those are named here."""
        fits = []
        for candidate in [layout] if layout else ["nn", "nt", "tn", "tt"]:
            ta, tb = (x == "t" for x in candidate)
            (am, ak), (bk, bn) = self.stored(a, ta), self.stored(b, tb)
            if am == c[0] and bn == c[1] and ak == bk:
                fits.append((ta, tb, [am, bn, ak]))
        if not fits:
            raise ValueError("its extents are not those of a gemm")
        if len(fits) > 1:
            print(f"{self.symbol}: its extents fit several layouts; taken for the first of nn, nt, tn, tt (cases file: layouts)")
        self.trans_a, self.trans_b, extents = fits[0]
        names = []
        for default, extent in zip("MNK", extents):
            if isinstance(extent, dict) and "dim" in extent:
                names.append(extent["dim"])
            elif isinstance(extent, int):
                names.append(default)
                self.fixed[default] = extent
            else:
                raise ValueError("an extent is neither a dimension nor a number")
        self.m, self.n, self.k = names

    @staticmethod
    def stored(pair, transposed):
        return pair[::-1] if transposed else pair

    def shapes(self, wanted):
        """The wanted shapes with fixed dimensions put in, each once."""
        dims = (self.m, self.n, self.k)
        return list(dict.fromkeys(tuple(self.fixed.get(d, v) for d, v in zip(dims, s)) for s in wanted))

    def layout(self):
        return ("t" if self.trans_a else "n") + ("t" if self.trans_b else "n")


class Guarded:
    """A tensor between guards. `fill` of the guards: 0xA5, or 0xFF (NaN in floats) around inputs."""

    def __init__(self, shape, dtype, guard):
        self.guard = guard
        bytes_per = torch.empty(0, dtype=dtype).element_size()
        self.size = shape[0] * shape[1] * bytes_per
        self.raw = torch.full((self.size + 2 * GUARD + 16,), guard, dtype=torch.uint8, device="cuda")
        self.bytes = self.raw[GUARD:GUARD + self.size]
        self.tensor = self.bytes.view(dtype).view(shape)

    def intact(self):
        return bool((self.raw[:GUARD] == self.guard).all() and (self.raw[GUARD + self.size:] == self.guard).all())


def make_input(shape, name, generator):
    guarded = Guarded(shape, DTYPES[name], 0xFF)
    values = torch.randn(shape, device="cuda", generator=generator)
    guarded.tensor.copy_(values.to(DTYPES[name]))
    return guarded


def tolerance_of(gemm, table):
    base = table[gemm.types[2]]
    return max(base, table["e4m3 inputs"]) if gemm.types[0] in ("e4m3", "e5m2") else base


def check_shape(runtime, gemm, shape, table):
    """(error, variant, what is wrong or '')"""
    m, n, k = shape
    generator = torch.Generator(device="cuda").manual_seed(m * 1000003 + n * 1009 + k)
    a = make_input(gemm.stored([m, k], gemm.trans_a), gemm.types[0], generator)
    b = make_input(gemm.stored([k, n], gemm.trans_b), gemm.types[1], generator)
    c = Guarded([m, n], DTYPES[gemm.types[2]], 0xA5)
    tensors = {"A": (a.tensor, gemm.types[0]), "B": (b.tensor, gemm.types[1]), "C": (c.tensor, gemm.types[2])}
    copies = [a.bytes.clone(), b.bytes.clone()]
    launch, text = runtime.call(gemm.kernel, [tensors[x] for x in gemm.order])
    results = []
    for _ in range(2):
        c.bytes.fill_(0xFF)
        launch()
        torch.cuda.synchronize()
        results.append(c.bytes.clone())
    variant = re.search(r"variant ([^,]*)", text).group(1) if text else "nothing launched"
    da, db = a.tensor.double(), b.tensor.double()
    reference = (da.T if gemm.trans_a else da) @ (db.T if gemm.trans_b else db)
    difference = (c.tensor.double() - reference).norm()
    norm = reference.norm()
    error = (difference / norm if norm > 0 else difference).item()
    wrong = []
    if not error <= tolerance_of(gemm, table):  # NaN is wrong
        bad = torch.nonzero((c.tensor.double() - reference).abs().nan_to_num(float("inf"))
                            > 0.05 * reference.abs().mean())
        first = bad[0].tolist() if len(bad) else "?"
        nans = int(c.tensor.double().isnan().sum())
        wrong.append(f"error {error:.3g}, {len(bad)} of {m * n} elements off, {nans} NaN, first {first}")
    if not torch.equal(results[0], results[1]):
        wrong.append("two runs differ")
    if not (c.intact() and a.intact() and b.intact()):
        wrong.append("written outside: " + ", ".join(x for x, g in zip("ABC", (a, b, c)) if not g.intact()))
    if not (torch.equal(copies[0], a.bytes) and torch.equal(copies[1], b.bytes)):
        wrong.append("an input was changed")
    return error, variant, "; ".join(wrong)


def check_kernel(runtime, gemm, arch, shapes, table, deadline):
    result = {"pack": gemm.path.name, "kernel": gemm.symbol, "arch": arch, "types": gemm.types,
              "layout": gemm.layout(), "passed": 0, "worst": 0.0, "variants": {}, "failures": []}
    shapes = gemm.shapes(shapes)
    result["total"] = len(shapes)
    for shape in shapes:
        if time.time() > deadline:
            result["failures"].append([list(shape), "", "not run: out of time"])
            break
        try:
            error, variant, wrong = check_shape(runtime, gemm, shape, table)
        except TileError as failure:
            error, variant, wrong = float("nan"), "", str(failure)
        except DEVICE_ERROR as failure:
            result["failures"].append([list(shape), "", f"the device is lost: {str(failure).splitlines()[0]}"])
            result["lost"] = True
            return result
        result["variants"][variant] = result["variants"].get(variant, 0) + 1
        if wrong:
            result["failures"].append([list(shape), variant, wrong])
        else:
            result["passed"] += 1
            result["worst"] = max(result["worst"], error)
    return result


def reference_call(gemm, a, b):
    """cuBLAS for the same operands: the views that torch.matmul takes without copies."""
    left, right = (a.T if gemm.trans_a else a), (b.T if gemm.trans_b else b)
    if gemm.types[0] in ("e4m3", "e5m2"):
        one = torch.ones((), device="cuda")
        out = DTYPES[gemm.types[2]] if gemm.types[2] != "f32" else torch.float32
        return lambda: torch._scaled_mm(left, right, scale_a=one, scale_b=one, out_dtype=out)
    c = torch.empty((left.shape[0], right.shape[1]), dtype=left.dtype, device="cuda")
    return lambda: torch.matmul(left, right, out=c)


def bench(runtime, gemm, archs, shape, repeats):
    m, n, k = shape
    a = torch.randn(gemm.stored([m, k], gemm.trans_a), device="cuda").to(DTYPES[gemm.types[0]])
    b = torch.randn(gemm.stored([k, n], gemm.trans_b), device="cuda").to(DTYPES[gemm.types[1]])
    c = torch.empty([m, n], dtype=DTYPES[gemm.types[2]], device="cuda")
    tensors = {"A": (a, gemm.types[0]), "B": (b, gemm.types[1]), "C": (c, gemm.types[2])}
    calls, variants = {}, {}
    for arch in archs:
        runtime.restrict(gemm.kernel, arch)
        calls[arch], text = runtime.call(gemm.kernel, [tensors[x] for x in gemm.order])
        variants[arch] = text.strip()
    calls["cublas"] = reference_call(gemm, a, b)
    try:
        calls["cublas"]()
    except Exception as failure:  # a type that this torch does not multiply
        print(f"  cuBLAS: {str(failure).splitlines()[0]}")
        del calls["cublas"]
    flush = torch.empty(FLUSH_BYTES, dtype=torch.uint8, device="cuda")
    events = {name: [] for name in calls}
    for i in range(repeats + 3):
        for name, call in calls.items():
            if name != "cublas":
                runtime.restrict(gemm.kernel, name)
            flush.fill_(i)
            begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            begin.record()
            call()
            end.record()
            if i >= 3:
                events[name].append((begin, end))
    torch.cuda.synchronize()
    result = {}
    for name, pairs in events.items():
        times = sorted(b.elapsed_time(e) for b, e in pairs)
        median = times[len(times) // 2]
        result[name] = {"ms": median, "least": times[0], "tflops": 2 * m * n * k / median * 1e-9,
                        "variant": variants.get(name, "")}
    return result


def sanitize(directory, gemm, arch, tools, out, limit):
    """compute-sanitizer over tile-run on small shapes: (tool, ok, what it said)."""
    shapes = gemm.shapes([(1, 1, 1), (7, 16, 129), (128, 128, 64), (129, 127, 128), (200, 264, 72), (256, 512, 256)])
    cases = pathlib.Path(tempfile.mkdtemp()) / "cases"
    lines = []
    for shape in shapes:
        dims = [(d, v) for d, v in zip((gemm.m, gemm.n, gemm.k), shape) if d not in gemm.fixed]
        lines.append(" ".join(f"--dim {d}={v}" for d, v in dims) + " --seed 2\n")
    cases.write_text("".join(lines))
    results = []
    for tool in tools:
        command = ["compute-sanitizer", "--tool", tool, "--error-exitcode", "9", str(directory / "tile-run"),
                   str(gemm.path), "--kernel", gemm.symbol, "--arch", arch, "--cases", str(cases)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=limit)
            text = done.stdout + done.stderr
            summary = re.findall(r"ERROR SUMMARY.*|RACECHECK SUMMARY.*|\d+ of \d+ cases passed", text)
            ok = done.returncode == 0
        except subprocess.TimeoutExpired:
            text, summary, ok = "", ["out of time"], False
        except OSError as failure:
            text, summary, ok = "", [str(failure)], False
        if not ok:
            with open(out / "sanitizer.log", "a") as log:
                log.write(f"==== {' '.join(command)}\n{text[-100000:]}\n")
        results.append((tool, ok, "; ".join(summary) or text[-200:].strip()))
    return results


def layout_of(symbol, layouts):
    """From the cases file, or from a symbol like gemm_f16_nt; None: found from the extents."""
    found = re.search(r"_([nt]{2})(_|$)", symbol)
    return layouts.get(symbol) or (found.group(1) if found else None)


def find_kernels(runtime, directory, wanted, layouts):
    kernels = []
    for path in sorted(directory.glob("*.pack")):
        pack = runtime.load(path)
        manifest = json.loads(runtime.lib.tile_pack_manifest(pack))
        for entry in manifest["kernels"]:
            names = {a["name"]: a for a in entry["arguments"]}
            if set(names) != {"A", "B", "C"} or any(len(a.get("extents", [])) != 2 for a in names.values()):
                continue
            if wanted and entry["symbol"] not in wanted:
                continue
            try:
                kernels.append(Gemm(runtime, path, pack, manifest, entry, layout_of(entry["symbol"], layouts)))
            except ValueError as reason:
                print(f"{path.name}: {entry['symbol']} is left out: {reason}")
    return kernels


def device_runs(arch):
    major, minor = torch.cuda.get_device_capability()
    number, suffix = re.fullmatch(r"sm_(\d+)([af]?)", arch).groups()
    wanted = (int(number) // 10, int(number) % 10)
    return wanted == (major, minor) if suffix == "a" else wanted <= (major, minor)


def print_checks(results):
    print(f"\n{'pack':28} {'kernel':24} {'arch':7} {'types':14} {'lay':3} {'passed':>9} {'worst':>8}  variants")
    for r in results:
        variants = ", ".join(f"{k} {v}" for k, v in r["variants"].items())
        print(f"{r['pack'][:28]:28} {r['kernel'][:24]:24} {r['arch']:7} {','.join(r['types']):14} {r['layout']:3} "
              f"{r['passed']:4}/{r['total']:4} {r['worst']:8.1e}  {variants}")
    failures = [(r, f) for r in results for f in r["failures"]]
    print(f"failures: {len(failures)}")
    for r, (shape, variant, wrong) in failures[:25]:
        print(f"  {r['pack']} {r['kernel']} {r['arch']} {shape} {variant}: {wrong}")


def print_benches(benches):
    if benches:
        print(f"\n{'kernel':28} {'M x N x K':18} {'arch':7} {'ms':>8} {'TFLOPS':>7} {'cuBLAS ms':>9} {'TFLOPS':>7} {'ratio':>6}")
    for entry in benches:
        base = entry["times"].get("cublas")
        for arch, t in entry["times"].items():
            if arch == "cublas":
                continue
            beside = f"{base['ms']:9.4f} {base['tflops']:7.1f} {base['ms'] / t['ms']:6.3f}" if base else ""
            shape = " x ".join(map(str, entry["shape"]))
            print(f"{entry['kernel'][:28]:28} {shape:18} {arch:7} {t['ms']:8.4f} {t['tflops']:7.1f} {beside}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dir", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path, help="folder for results.json and logs; DIR if left out")
    parser.add_argument("--cases", type=pathlib.Path, help="DIR/cases.json if left out and there")
    parser.add_argument("--arch", action="append", help="only these architectures")
    parser.add_argument("--sanitize", default="", help="compute-sanitizer tools, comma between them")
    parser.add_argument("--no-check", action="store_true")
    parser.add_argument("--no-bench", action="store_true")
    parser.add_argument("--repeats", type=int, default=25)
    parser.add_argument("--time-limit", type=float, default=540, help="seconds after which no new shape is begun")
    args = parser.parse_args()
    deadline = time.time() + args.time_limit
    args.dir = args.dir.resolve()
    if not torch.cuda.is_available():
        print("no GPU")
        return 3
    out = (args.out or args.dir).resolve()
    out.mkdir(parents=True, exist_ok=True)
    cases_file = args.cases or args.dir / "cases.json"
    cases = json.loads(cases_file.read_text()) if cases_file.exists() else {}
    table = TOLERANCE | cases.get("tolerance", {})
    torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False
    torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False
    runtime = Runtime((args.dir / "libtile_rt.so").resolve())
    kernels = find_kernels(runtime, args.dir, cases.get("kernels"), cases.get("layouts", {}))
    props = torch.cuda.get_device_properties(0)
    print(f"{props.name}, {props.multi_processor_count} multiprocessors, torch {torch.__version__}; "
          f"{len(kernels)} gemm kernels")
    if not kernels:
        return 2
    archs_of = lambda gemm: [a for a in gemm.archs if device_runs(a) and (not args.arch or a in args.arch)]
    checks, benches, sanitized = [], [], []

    def save():
        (out / "results.json").write_text(
            json.dumps({"device": props.name, "checks": checks, "benches": benches, "sanitizer": sanitized}, indent=1))

    for gemm in kernels if not args.no_check else []:
        for arch in archs_of(gemm):
            runtime.restrict(gemm.kernel, arch)
            checks.append(check_kernel(runtime, gemm, arch, [tuple(s) for s in cases.get("shapes", SHAPES)], table,
                                       deadline))
            if checks[-1].get("lost"):
                save()
                print_checks(checks)
                print("WRONG, and the rest was not run")
                return 1
        save()
    for gemm in kernels if not args.no_bench else []:
        if gemm.symbol in cases.get("no_bench", []):
            continue
        for shape in gemm.shapes([tuple(s) for s in cases.get("bench", BENCH)]):
            if time.time() > deadline:
                print(f"not timed, out of time: {gemm.symbol} {shape}")
                continue
            try:
                times = bench(runtime, gemm, archs_of(gemm), shape, args.repeats)
                benches.append({"pack": gemm.path.name, "kernel": gemm.symbol, "shape": list(shape), "times": times})
            except TileError as failure:
                print(f"not timed: {gemm.symbol} {shape}: {failure}")
        save()
    for gemm in kernels if args.sanitize else []:
        for arch in archs_of(gemm):
            for tool, ok, text in sanitize(args.dir, gemm, arch, args.sanitize.split(","), out,
                                           max(20.0, deadline - time.time())):
                sanitized.append({"kernel": gemm.symbol, "arch": arch, "tool": tool, "ok": ok, "text": text})
        save()
    for s in sanitized:
        print(f"{s['tool']:10} {s['kernel']:24} {s['arch']:7} {'clean' if s['ok'] else 'NOT CLEAN'}: {s['text']}")
    print_checks(checks)
    print_benches(benches)
    wrong = any(r["failures"] for r in checks) or any(not s["ok"] for s in sanitized)
    print("WRONG" if wrong else "all right")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
