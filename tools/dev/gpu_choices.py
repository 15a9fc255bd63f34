#!/usr/bin/env python3
"""How good the compiler's choice of a gemm's parameters is, on a GPU.

    gpu_choices.py prepare DIR [--source kernels/gemm/gemm.tile] [--type f16] [--every] [--tune-file FILE]
                                                                                here: packs of the choice and of candidates, 24 or every one of the source
    gpu_choices.py run DIR --out DIR [--random 20] [--words] [--layers] [--seconds 400]   there: needs torch, builds nothing

For each shape (those below, with --layers those of LAYERS, and random ones, each extent log-uniform in 16..16384, half of them multiples of 8; with --words only those whose rows of 16-bit elements start at multiples of 4 bytes and not of 16) what `auto` takes, each of the
candidates, and torch.matmul are timed, L2 flushed, in turn; the result of `auto` is checked against the float64 product (up to 2^37
products). With a tune file what `auto` takes by it is timed too. A copy of choices.json is kept as test/gpu/choices.json: tools/dev/predicted_costs.py holds the cost model to it.
"""
import argparse
import json
import math
import pathlib
import random
import shutil
import subprocess
import sys
import time

import gpu_timing

SHAPES = [(1024, 1024, 1024), (2048, 2048, 2048), (4096, 4096, 4096), (8192, 8192, 8192), (64, 18432, 7168), (4096, 28672, 4096), (128, 7168, 16384),
          (16, 7168, 16384), (4097, 4095, 4093), (1000, 1000, 1000)]  # M, N, K
# Products with the weights of language models: N and K, and M.
WEIGHTS = [(4096, 4096), (14336, 4096), (4096, 14336), (6144, 4096), (8192, 8192), (28672, 8192), (2048, 7168), (7168, 2048), (5120, 5120), (12288, 4096)]
FEW = [(4096, 4096), (14336, 4096), (4096, 14336), (28672, 8192), (2048, 7168), (5120, 5120), (3072, 1024), (18432, 7168), (24576, 1536), (7168, 18432)]
LAYERS = [(m, n, k) for n, k in FEW for m in (1, 4, 8, 24, 32, 48, 96)] + [(m, n, k) for n, k in WEIGHTS for m in (16, 64, 128, 256, 512, 1024, 2048, 4096)]
# BM, BN, BK, STAGES, THREADS
CANDIDATES = [(128, 256, 64, 4, 256), (256, 128, 64, 4, 256), (128, 192, 64, 4, 256), (256, 192, 32, 5, 256), (128, 128, 64, 4, 256), (128, 128, 64, 6, 128),
              (128, 128, 32, 4, 256), (128, 128, 32, 4, 128), (128, 128, 128, 3, 256), (128, 256, 32, 7, 256), (64, 256, 64, 4, 128), (64, 256, 128, 2, 256),
              (64, 192, 64, 5, 128), (64, 128, 64, 6, 128), (64, 128, 128, 4, 128), (64, 128, 64, 3, 128), (128, 64, 64, 6, 128), (256, 64, 64, 5, 256),
              (128, 64, 128, 4, 256), (64, 64, 64, 6, 128), (64, 64, 64, 8, 128), (64, 64, 128, 4, 128), (64, 64, 128, 6, 128), (64, 64, 32, 4, 128)]
PARAMETERS = ("BM", "BN", "BK", "STAGES", "THREADS")
CHOICES = ("auto", "tuned", "torch")  # all other names of times are candidates
MAX_CANDIDATES = 100000  # that tilec tune takes
LAUNCHES, SHORT_LAUNCHES = 16, 256  # of what takes less than SHORT operations, which some 20 us are enough for, single times differ by 2 to 4 %: the best of 30 medians of 64 is luck
SHORT = 2**34


def chosen(source, dtype):
    """Options that make the kernel of a source, as `auto` takes it, the only one."""
    return ["--kernel", "chosen", "--instantiate", f"{source.stem}<T = {dtype}, auto> as chosen"]


def every_candidate(tilec, source, dtype):
    """All candidates of the source's `tune` for sm_90a, as dicts of texts."""
    command = [tilec, "tune", source, *chosen(source, dtype), "--dry-run", "--candidates", str(MAX_CANDIDATES), *[f"--dim={x}=1024" for x in "MNK"]]
    plan = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return [dict(pair.split(" = ") for pair in line.split(" us  ")[1].split(", ")) for line in plan.splitlines() if " us  " in line]


def prepare(options):
    root = pathlib.Path(__file__).resolve().parents[2]
    folder = pathlib.Path(options.folder)
    folder.mkdir(parents=True, exist_ok=True)
    source = root / options.source
    kernel = source.stem
    tilec = root / "build/bin/tilec"
    auto = [tilec, source, *chosen(source, options.type)]
    subprocess.run([*auto, "--tune-file", "none", "-o", folder / "auto.pack"], check=True)
    if options.tune_file:
        subprocess.run([*auto, "--tune-file", options.tune_file, "-o", folder / "tuned.pack"], check=True)
    candidates = every_candidate(tilec, source, options.type) if options.every else [dict(zip(PARAMETERS, values)) for values in CANDIDATES]
    more = []
    for i, values in enumerate(candidates):
        given = ", ".join(f"{name} = {value}" for name, value in values.items())
        more += ["--instantiate", f"{kernel}<T = {options.type}, {given}> as c{i}"]
    (folder / "candidates.json").write_text(json.dumps(candidates))
    subprocess.run([tilec, source, *more, "-o", folder / "candidates.pack"], check=True)
    for file in (root / "build/lib/libtile_rt.so", root / "tools/dev/gpu_gemm_check.py", root / "tools/dev/gpu_timing.py", root / "tools/dev/gpu_choices.py"):
        shutil.copy(file, folder)


def shapes_of(options):
    draw = random.Random(options.seed)
    shapes = SHAPES + (LAYERS if options.layers else [])
    drawn, i = [], 0
    while len(drawn) < options.random:
        extents = [int(2 ** draw.uniform(4, 14)) for _ in range(3)]
        if math.prod(extents) > 2**39:  # 1.6 s of tensor cores
            extents[draw.randrange(3)] //= 8
        shape = tuple(max(e // 8 * 8, 16) if i % 2 else e for e in extents)
        i += 1
        rows = math.gcd(*shape[1:])  # how long rows are of A and B, nn and nt
        if not options.words or rows % 2 == 0 and rows % 8 != 0:
            drawn.append(shape)
    return shapes + drawn


def gemms_of(runtime, check, path):
    pack = runtime.load(path)
    manifest = json.loads(runtime.lib.tile_pack_manifest(pack).decode())
    return [check.Gemm(runtime, path, pack, manifest, entry, None) for entry in manifest["kernels"]]


def measure(runtime, check, torch, gemms, shape, flush):
    """{name: microseconds}, what the first of `gemms` launches, and its error."""
    m, n, k = shape
    chosen = gemms[0]
    dtype = check.DTYPES[chosen.types[0]]
    generator = torch.Generator(device="cuda").manual_seed(m * 1000003 + n * 1009 + k)
    a = torch.randn(chosen.stored([m, k], chosen.trans_a), device="cuda", generator=generator).to(dtype)
    b = torch.randn(chosen.stored([k, n], chosen.trans_b), device="cuda", generator=generator).to(dtype)
    c = torch.empty([m, n], device="cuda", dtype=check.DTYPES[chosen.types[2]])
    tensors = {"A": (a, chosen.types[0]), "B": (b, chosen.types[1]), "C": (c, chosen.types[2])}
    left, right = (a.T if chosen.trans_a else a), (b.T if chosen.trans_b else b)
    calls, text = {}, ""
    for number, gemm in enumerate(gemms):
        launch, described = runtime.call(gemm.kernel, [tensors[x] for x in gemm.order])
        text = text or described
        calls["auto" if number == 0 else "tuned" if pathlib.Path(gemm.path).name == "tuned.pack" else gemm.symbol] = launch
    c.fill_(float("nan"))
    calls["auto"]()
    error = None
    if m * n * k <= 2**37:
        reference = left.double() @ right.double()
        error = ((c.double() - reference).norm() / reference.norm()).item()
    calls["torch"] = lambda: torch.matmul(left, right)
    launches = SHORT_LAUNCHES if 2 * m * n * k < SHORT else LAUNCHES
    return gpu_timing.in_turn(torch, calls, flush, launches, f"{m} {n} {k}"), text, error


def run(options):
    sys.path.insert(0, options.folder)
    import gpu_gemm_check as check
    import torch

    folder, out = pathlib.Path(options.folder), pathlib.Path(options.out)
    out.mkdir(parents=True, exist_ok=True)
    runtime = check.Runtime((folder / "libtile_rt.so").resolve())
    gemms = gemms_of(runtime, check, folder / "auto.pack")[:1]
    if (folder / "tuned.pack").exists():
        gemms += gemms_of(runtime, check, folder / "tuned.pack")[:1]
    gemms += [gemm for gemm in gemms_of(runtime, check, folder / "candidates.pack") if gemm.symbol.startswith("c")]
    candidates = json.loads((folder / "candidates.json").read_text())
    flush = gpu_timing.flush_buffer(torch)
    deadline, rows = time.time() + options.seconds, []
    print(f"{torch.cuda.get_device_name()}; M N K: torch us, auto / torch, best candidate / torch, auto / best; error")
    for shape in shapes_of(options):
        if time.time() > deadline:
            print("out of time")
            break
        times, text, error = measure(runtime, check, torch, gemms, shape, flush)
        best = min((name for name in times if name not in CHOICES), key=times.get)
        taken = text.splitlines()[0] if text else ""
        rows.append({"shape": shape, "us": {name: round(us, 2) for name, us in times.items()}, "taken": taken, "error": error})
        print(f"{shape}: {times['torch']:.1f}, {times['torch'] / times['auto']:.3f}, {times['torch'] / times[best]:.3f} {candidates[int(best[1:])]}, "
              f"{times[best] / times['auto']:.3f}; {'not checked' if error is None else f'{error:.1e}'}; {taken}", flush=True)
        (out / "choices.json").write_text("[\n" + ",\n".join(map(json.dumps, rows)) + "\n]\n")
    for choice in ("auto", "tuned"):
        ratios = [row["us"]["torch"] / row["us"][choice] for row in rows if choice in row["us"]]
        if ratios:
            print(f"geometric mean of {choice} / torch over {len(ratios)} shapes: {math.exp(sum(map(math.log, ratios)) / len(ratios)):.3f}")
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("prepare")
    one.add_argument("folder")
    one.add_argument("--source", default="kernels/gemm/gemm.tile")
    one.add_argument("--type", default="f16")
    one.add_argument("--every", action="store_true")
    one.add_argument("--tune-file", help="written by `tilec tune`")
    two = commands.add_parser("run")
    two.add_argument("folder")
    two.add_argument("--out", required=True)
    two.add_argument("--random", type=int, default=20)
    two.add_argument("--seed", type=int, default=1)
    two.add_argument("--words", action="store_true", help="random shapes whose rows start at multiples of 4 bytes and not of 16")
    two.add_argument("--layers", action="store_true", help="those of LAYERS, too")
    two.add_argument("--seconds", type=float, default=400)
    options = parser.parse_args()
    return prepare(options) if options.command == "prepare" else run(options)


if __name__ == "__main__":
    sys.exit(main())
