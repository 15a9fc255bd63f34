#!/usr/bin/env python3
"""How good the cost model's choice is among parameters of kernels other than gemm (gpu_choices.py), on a GPU.

    gpu_candidates.py prepare DIR [--only WORD]    here: for each kernel of KERNELS a pack of its candidates, and what the model expects of them
    gpu_candidates.py run DIR --out DIR            there: needs torch, builds nothing

For each shape all candidates that fit it are timed, L2 flushed, in a drawn order, and the symbol that `auto` makes beside them; results are
compared with those of the first one. Prints the best, the one that the model takes, best / taken, and what torch takes where TORCH knows it. candidates.json in --out has all times.
"""
import argparse
import json
import math
import pathlib
import shutil
import subprocess
import sys

import gpu_timing

TOOLS = pathlib.Path(__file__).resolve().parent
MULTIPROCESSORS = 132
LAUNCHES = 12


def product(**values):
    """All combinations, as dicts."""
    every = [{}]
    for name, options in values.items():
        every = [{**one, name: value} for one in every for value in options]
    return every


def listed(names, rows):
    return [dict(zip(names.split(), row)) for row in rows]


def rows_fit(parameters, dims):
    return dims["N"] <= parameters["BN"]


def scan_fits(parameters, dims):
    return parameters["BM"] == 1 or dims["N"] <= 8 * parameters["BN"]


# Of each kernel's shapes the model knows the first six: its numbers are fitted to them too. The others say what that is worth.
KNOWN = 6
ROWS = listed("M N", [(8192, 8192), (16384, 4096), (65536, 1024), (4096, 1024), (512, 8192), (100000, 768),
                      (2048, 2048), (10000, 5000), (300, 8000), (32768, 512), (131072, 256), (8192, 3000),
                      (1000000, 64), (500000, 128), (20000, 200), (4096, 256), (60000, 40), (3000, 100), (256, 128), (8192, 384)])
SHORT_ROWS = [row for row in ROWS if row["N"] <= 1024]
LOGITS = listed("M N", [(4096, 65536), (4096, 50257), (16384, 32000), (512, 128256), (65536, 1000), (2048, 2048),
                        (1000, 100), (100000, 10), (64, 151936), (30000, 5000), (8192, 3001), (300, 1024)])
# More than the sources' `tune` has.
ROW_CANDIDATES = [one for one in product(BM=[1, 2, 4, 8, 16], BN=[64, 128, 256, 512, 1024, 2048, 4096, 8192], THREADS=[32, 64, 128, 256, 512])
                  if (one["BM"] == 1 or one["BM"] * one["BN"] <= 2048) and 4 * one["THREADS"] <= one["BM"] * one["BN"] <= (16 if one["THREADS"] == 32 else 32) * one["THREADS"]]
TOPK_CANDIDATES = [one for one in product(BM=[1, 2, 4, 8, 16], BN=[32, 64, 128, 256, 512, 1024]) if 64 <= one["BM"] * one["BN"] <= 1024]
UNEVEN = [0, 3000, 3000, 3127, 4200, 6247, 6375, 7999, 8000, 9024, 12000, 12100, 13000, 14500, 15000, 16255, 16384]
FORWARD = [(64, 64, 2, 128), (64, 128, 2, 128), (64, 160, 2, 128), (64, 64, 4, 128), (128, 64, 2, 256), (128, 96, 2, 256), (128, 128, 2, 256), (128, 160, 2, 256), (128, 64, 3, 256), (192, 64, 2, 384),
           (192, 96, 2, 384), (192, 128, 2, 384)]
NARROW = [(64, 64, 4, 128), (64, 128, 4, 128), (64, 160, 4, 128), (128, 64, 4, 256), (128, 128, 3, 256), (128, 128, 4, 256), (128, 160, 4, 256), (192, 64, 4, 384), (192, 96, 4, 384), (192, 128, 2, 384),
          (192, 128, 3, 384), (192, 128, 4, 384)]


CAUSAL = [(64, 128, 2, 128), (128, 64, 2, 256), (128, 96, 2, 256), (128, 128, 2, 256), (192, 64, 2, 384), (192, 128, 2, 384)]
NARROW_CAUSAL = [(64, 128, 4, 128), (128, 64, 4, 256), (128, 128, 4, 256), (128, 128, 2, 256), (192, 64, 4, 384), (192, 128, 4, 384)]


def attention(given, tiles):
    """flash_attention with these parameters; causal of pairs of tiles and with tiles off a counter."""
    shapes = [(2, 32, 32, 2048, 2048), (1, 32, 32, 8192, 8192), (4, 16, 16, 512, 512), (1, 8, 8, 4096, 4096), (16, 16, 16, 300, 300), (8, 32, 8, 128, 4096),
              (1, 16, 16, 1024, 1024), (4, 32, 8, 2048, 2048), (2, 8, 8, 8192, 8192), (1, 32, 32, 128, 16384), (32, 8, 8, 256, 256), (3, 12, 12, 1500, 1500)]
    if given:
        shapes[1:3] = [(1, 32, 32, 16384, 16384), (4, 32, 32, 4096, 4096)]
    dealt = [{"COUNTER": "false"}, {"COUNTER": "true"}] if "CAUSAL" in given else [{}]
    candidates = [{**given, **tile, **how} for tile in listed("BM BN STAGES THREADS", tiles) for how in dealt]
    return "attention/flash_attention.tile", "flash_attention", candidates, listed("B H HKV S SK", shapes), None, {"scale": 0.088388, "LSE": None}


PRODUCTS = listed("M N K", [(16, 8192, 8192), (64, 4096, 4096), (300, 4096, 1024), (1024, 1024, 1024), (2048, 2048, 2048), (4096, 4096, 4096),
                            (1, 4096, 14336), (128, 7168, 2048), (512, 1408, 4096), (1500, 3000, 1008), (3000, 512, 2048), (8192, 1024, 512)])
BATCHES = listed("L M N K", [(16, 2048, 2048, 2048), (4, 1024, 1024, 1024), (64, 128, 128, 512), (8, 64, 4096, 1024), (32, 512, 64, 512), (8, 4096, 4096, 512),
                             (128, 64, 64, 256), (3, 1000, 1000, 1000), (16, 300, 300, 304), (64, 16, 2048, 128), (2, 2048, 512, 4096), (24, 200, 1024, 1024)])


# name: source, kernel, candidates (None: those that `auto` keeps), shapes, which candidates fit a shape, arguments that are no random numbers
KERNELS = {
    "layernorm": ("norm/layernorm.tile", "layernorm", ROW_CANDIDATES, ROWS, rows_fit, {"eps": 1e-5}),
    "softmax": ("norm/softmax_rmsnorm.tile", "softmax", ROW_CANDIDATES, ROWS, rows_fit, {}),
    "rmsnorm": ("norm/softmax_rmsnorm.tile", "rmsnorm", ROW_CANDIDATES, ROWS, rows_fit, {"eps": 1e-5, "residual": None}),
    "add_rmsnorm": ("add_rmsnorm/add_rmsnorm.tile", "add_rmsnorm", ROW_CANDIDATES, ROWS, rows_fit, {"eps": 1e-5}),
    "quantize": ("quantize/quantize.tile", "quantize", ROW_CANDIDATES, ROWS, rows_fit, {}),
    "argmax": ("norm/softmax_rmsnorm.tile", "argmax", ROW_CANDIDATES, ROWS, rows_fit, {}),
    "cumsum": ("cumsum/cumsum.tile", "cumsum", None, ROWS, scan_fits, {}),
    "cross_entropy": ("cross_entropy/cross_entropy.tile", "cross_entropy", None, LOGITS, None, {"ignore_index": -100, "lse": None}),
    "topk": ("topk/topk.tile", "topk", TOPK_CANDIDATES, SHORT_ROWS, rows_fit, {}),
    "int8_gemm": ("int8_gemm/int8_gemm.tile", "int8_gemm", None, PRODUCTS, None, {}),
    "gemm_e4m3": ("gemm/gemm_e4m3.tile", "gemm_e4m3", None, PRODUCTS, None, {}),
    "gemm_epilogue": ("gemm_epilogue/gemm_epilogue.tile", "gemm_epilogue", None, PRODUCTS, None, {}),
    "gemm_swiglu": ("gemm_epilogue/gemm_epilogue.tile", "gemm_swiglu", None, PRODUCTS, None, {}),
    "batched_gemm": ("batched_gemm/batched_gemm.tile", "batched_gemm", None, BATCHES, None, {}),
    "gemv": ("gemv/gemv.tile", "gemv", product(THREADS=[32, 64, 128, 256, 512, 1024], VEC=[4, 8]),
             listed("N K", [(7168, 16384), (18432, 7168), (57344, 7168), (4096, 4096), (1024, 1024), (50000, 768),
                           (2048, 8192), (14336, 4096), (4096, 14336), (128256, 4096), (512, 512), (10000, 1000)]), None, {}),
    "grouped_gemm": ("grouped_gemm/grouped_gemm.tile", "grouped_gemm",
                     listed("BM BN BK STAGES THREADS", [(64, 64, 64, 8, 128), (64, 128, 64, 6, 128), (64, 256, 64, 4, 128), (64, 128, 128, 4, 128), (64, 64, 128, 6, 128),
                                                        (128, 128, 64, 6, 256), (128, 128, 128, 3, 256), (128, 192, 64, 4, 256), (128, 256, 64, 3, 256),
                                                        (128, 256, 64, 4, 256), (256, 128, 64, 4, 256), (128, 64, 64, 6, 256)]),
                     listed("M G K N", [(16384, 16, 4096, 4096), (4096, 64, 4096, 4096), (1024, 8, 2048, 1024), (16384, 64, 2048, 1408), (512, 64, 7168, 2048), (32768, 8, 1024, 7168),
                                        (8192, 8, 4096, 1536), (2048, 16, 1024, 4096), (16384, 32, 2048, 2048), (256, 128, 1024, 1024), (65536, 16, 512, 512), (12288, 16, 2048, 5632)]), None, {}),
    "flash_attention": attention({}, FORWARD),
    "flash_attention, causal": attention({"CAUSAL": "true"}, CAUSAL),
    "flash_attention, D = 64": attention({"D": 64}, NARROW),
    "flash_attention, D = 64, causal": attention({"D": 64, "CAUSAL": "true"}, NARROW_CAUSAL),
}


# What torch has for the same: given torch and the arguments by name.
TORCH = {
    "softmax": lambda torch, v: torch.softmax(v["X"], 1),
    "layernorm": lambda torch, v: torch.nn.functional.layer_norm(v["X"], v["X"].shape[1:], v["gamma"], v["beta"], v["eps"]),
    "rmsnorm": lambda torch, v: torch.nn.functional.rms_norm(v["X"], v["X"].shape[1:], v["weight"], v["eps"]),
}


def offsets_of(dims):
    """Of 16 groups unequal ones, of others equal ones."""
    if dims["G"] == 16:
        return [o * dims["M"] // 16384 for o in UNEVEN]
    return [g * dims["M"] // dims["G"] for g in range(dims["G"] + 1)]


def expected(kernel, dims, scalars):
    """Seconds of a call by the model, and the extents of the tensors."""
    import describe_pack
    import predicted_costs

    host = predicted_costs.Host(kernel, dict(dims), {name: "none" if value is None else value for name, value in scalars.items()}, MULTIPROCESSORS)
    launches = describe_pack.run_host(kernel["configurations"][0]["host"], host, {})
    return sum(min(predicted_costs.cost_of(variant, host) for variant in describe_pack.eligible(launch, host)) for launch in launches), host.extents


def text(value):
    return str(value).lower() if isinstance(value, bool) else value


def kept(tilec, source, kernel):
    """The sets of parameters that `auto` keeps, without the types."""
    done = subprocess.run([tilec, source, "--arch=sm_90a", "--emit=manifest", "--kernel", "chosen", "--instantiate", f"{kernel}<auto> as chosen", "-o", "-"], check=True, capture_output=True, text=True)
    value = lambda given: given["value"] if isinstance(given, dict) else given  # noqa: E731
    configurations = json.loads(done.stdout)["kernels"][0]["configurations"]
    return [{name: value(given) for name, given in one["params"].items() if isinstance(value(given), int)} for one in configurations]


def prepare(options):
    import pack_tool

    root, folder = TOOLS.parents[1], pathlib.Path(options.folder)
    folder.mkdir(parents=True, exist_ok=True)
    plan = {}
    for name, (source, kernel, candidates, shapes, fits, scalars) in KERNELS.items():
        if options.only not in name:
            continue
        candidates = candidates or kept(root / "build/bin/tilec", root / "kernels" / source, kernel)
        types = "" if kernel in ("int8_gemm", "gemm_e4m3") else "T = f16, "
        lists = [", ".join(f"{p} = {text(v)}" for p, v in values.items()) for values in candidates]
        fixed = "".join(f"{p} = {v}, " for p, v in candidates[0].items() if p in ("D", "CAUSAL"))  # which problem it is
        entries = [x for i, values in enumerate(lists) for x in ("--instantiate", f"{kernel}<{types}{values}> as c{i}")]
        entries += ["--instantiate", f"{kernel}<{types}{fixed}auto> as auto"]
        subprocess.run([root / "build/bin/tilec", root / "kernels" / source, "--arch=sm_90a", *entries, "-o", folder / f"{name}.pack"], check=True)
        manifest, _ = pack_tool.split((folder / f"{name}.pack").read_bytes())
        found = {k["symbol"]: k for k in manifest["kernels"]}
        rows = []
        for dims in shapes:
            costs = {f"c{i}": expected(found[f"c{i}"], dims, scalars)[0] for i, values in enumerate(candidates) if not fits or fits(values, dims)}
            given = dict(scalars, offsets=offsets_of(dims)) if "G" in dims else scalars
            rows.append({"dims": dims, "expected": costs, "extents": expected(found["c0"], dims, scalars)[1], "given": given})
        plan[name] = {"candidates": candidates, "arguments": found["c0"]["arguments"], "rows": rows}
    (folder / "plan.json").write_text(json.dumps(plan))
    for file in (root / "build/lib/libtile_rt.so", TOOLS / "gpu_gemm_check.py", TOOLS / "gpu_timing.py", TOOLS / "gpu_candidates.py"):
        shutil.copy(file, folder)


def tensors_of(check, torch, arguments, row):
    values, generator = dict(row["given"]), torch.Generator(device="cuda").manual_seed(1)
    for argument in arguments:
        name = argument["name"]
        if name in row["given"]:
            if isinstance(row["given"][name], list):
                values[name] = torch.tensor(row["given"][name], dtype=torch.int32, device="cuda")
            continue
        shape = row["extents"][name]
        if argument["dtype"] == "i8":
            values[name] = torch.randint(-4, 5, shape, device="cuda", generator=generator, dtype=torch.int8)
        elif argument["dtype"] == "i32":
            values[name] = torch.zeros(shape, dtype=torch.int32, device="cuda")
        else:
            values[name] = torch.randn(shape, device="cuda", generator=generator).to(check.DTYPES[argument["dtype"]])
    return values


def measure(runtime, check, torch, pack, entry, row, flush, of_torch):
    """{candidate: microseconds}, with "torch" where there is `of_torch`; raises where results differ."""
    values = tensors_of(check, torch, entry["arguments"], row)
    outputs = [values[a["name"]] for a in entry["arguments"] if a.get("direction") == "out" and values[a["name"]] is not None]
    given = [(values[a["name"]], a["dtype"]) for a in entry["arguments"]]
    calls = {name: runtime.call(runtime.kernel(pack, name), given)[0] for name in (*row["expected"], "auto")}
    first = None
    for name, call in calls.items():
        for output in outputs:
            output.view(torch.uint8).fill_(255)  # NaN, or -1
        call()
        torch.cuda.synchronize()
        got = [torch.nan_to_num(output.float()) for output in outputs]  # products of 16 bits may overflow
        first = first or got
        for mine, other in zip(got, first):
            if not (mine - other).norm() <= 1e-2 * other.norm():
                raise SystemExit(f"{name} differs from the first candidate: {row['dims']}")
    if of_torch:
        calls["torch"] = lambda: of_torch(torch, values)
    return gpu_timing.in_turn(torch, calls, flush, LAUNCHES, str(row["dims"]))


def run(options):
    sys.path.insert(0, options.folder)
    import gpu_gemm_check as check
    import torch

    folder, out = pathlib.Path(options.folder), pathlib.Path(options.out)
    out.mkdir(parents=True, exist_ok=True)
    runtime = check.Runtime((folder / "libtile_rt.so").resolve())
    flush = gpu_timing.flush_buffer(torch)
    plan, results = json.loads((folder / "plan.json").read_text()), {}
    for name, entry in plan.items():
        pack, ratios, shipped = runtime.load(folder / f"{name}.pack"), [], []
        for row in entry["rows"]:
            us = measure(runtime, check, torch, pack, entry, row, flush, TORCH.get(name))
            auto, torchs = us.pop("auto"), us.pop("torch", None)
            best, taken = min(us, key=us.get), min(row["expected"], key=row["expected"].get)
            ratios.append(us[best] / us[taken])
            shipped.append(us[best] / auto)
            show = lambda c: " ".join(f"{p}={v}" for p, v in entry["candidates"][int(c[1:])].items())  # noqa: E731
            print(f"{name} {row['dims']}: best {us[best]:.1f} us {show(best)}; taken {us[taken]:.1f} us (expected {row['expected'][taken] * 1e6:.1f}) {show(taken)}; {ratios[-1]:.3f}; auto {auto:.1f} us" + (f"; torch {torchs:.1f} us" if torchs else ""), flush=True)
            results.setdefault(name, []).append({"dims": row["dims"], "us": us, "auto": auto, "torch": torchs, "expected": row["expected"]})
            (out / "candidates.json").write_text(json.dumps({"candidates": {k: v["candidates"] for k, v in plan.items()}, "rows": results}))
        for what, some in (("known shapes", ratios[:KNOWN]), ("other shapes", ratios[KNOWN:]), ("auto", shipped)):
            print(f"{name}, {what}: within 8 % of the best at {sum(r >= 1 / 1.08 for r in some)} of {len(some)}, {min(some, default=0):.3f} at worst", flush=True)
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("prepare")
    one.add_argument("folder")
    one.add_argument("--only", default="", help="kernels that have this in their name")
    two = commands.add_parser("run")
    two.add_argument("folder")
    two.add_argument("--out", required=True)
    options = parser.parse_args()
    return prepare(options) if options.command == "prepare" else run(options)


if __name__ == "__main__":
    sys.exit(main())
