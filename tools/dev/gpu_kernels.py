#!/usr/bin/env python3
"""Shipped kernels on a GPU: results against the cpu target, and times beside torch's own kernels.

    gpu_kernels.py prepare DIR [--only TEXT]   here: packs, and what the cpu target computes, into DIR; with tile-run
    gpu_kernels.py run DIR --out DIR           there, where nothing is built: needs a GPU, for times torch

`run` writes one JSON file, results.json: for each case its state, and medians of launches with the L2 flushed before each, in
microseconds, of both. Exit status: 0 all right, 1 a wrong result.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
ATOMICS = "../test/e2e/Inputs/atomics/"
NORM = "norm/softmax_rmsnorm.tile"
ATTENTION = {"scale": "0.088388"}
# (file, symbol, parameters, dimensions, arguments, outputs, tolerance)
CASES = [
    *[("norm/layernorm.tile", "layernorm", {}, {"M": m, "N": n}, {"eps": "1e-5"}, ["Y"], 1e-3) for m, n in ((3, 1000), (128, 4096), (5, 7))],
    *[(NORM, "softmax", {}, {"M": m, "N": n}, {}, ["Y"], 1e-3) for m, n in ((3, 1000), (64, 8192), (5, 1))],
    *[(NORM, "softmax_long", {}, {"M": m, "N": n}, {}, ["Y"], 1e-3) for m, n in ((3, 4097), (2, 20000))],
    *[(NORM, "argmax", {}, {"M": m, "N": n}, {}, ["values", "indices"], 1e-6) for m, n in ((5, 1000), (64, 1024), (1, 1))],
    *[("gemv/gemv.tile", "gemv", {}, {"N": n, "K": k}, {}, ["c"], 1e-3) for n, k in ((1000, 1024), (7, 8), (129, 4096))],
    *[
        ("attention/flash_attention.tile", symbol, {}, {"B": 2, "H": 4, "HKV": g, "S": s, "SK": sk}, {**ATTENTION, "LSE": "poison"}, ["O", "LSE"], 2e-3)
        for symbol in ("flash_attention_f16_d128", "flash_attention_f16_d128_causal")
        for s, sk, g in ((1, 1, 4), (127, 128, 2), (129, 300, 1), (300, 129, 4))
    ],
    *[
        ("attention/mla_decode.tile", "mla_decode", {}, {"B": 2, "H": h, "SK": sk}, {**ATTENTION, "splits": str(n), "seqlens": f"integers(0,{sk + 1})"}, ["O"], 8e-3)
        for h, sk, n in ((16, 100, 1), (128, 300, 3))
    ],
    *[
        ("linear_attention/linear_attention.tile", "linear_attention_bf16_d128", {}, {"B": 2, "H": 2, "S": s, "DV": 64}, {"scale": "0.125", "initial": "normal", "final": "poison"}, ["O", "final"], 8e-3)
        for s in (1, 130)
    ],
    *[
        ("conv/conv2d.tile", "conv2d_f16_s1p1", {}, {"N": n, "H": h, "W": h, "OH": h, "OW": h, "C": c, "OC": k, "KH": 3, "KW": 3}, {"bias": "normal"}, ["Y"], 1e-3)
        for n, h, c, k in ((3, 13, 72, 130), (1, 8, 1, 16))
    ],
    *[("w4a16_gemm/w4a16_gemm.tile", f"w4a16_gemm_{t}", {}, {"M": m, "N": n, "K": k}, {"zeros": "integers(0, 15)"}, ["C"], 5e-3) for t, m, n, k in (("f16", 1, 200, 256), ("f16", 65, 128, 1024), ("bf16", 15, 136, 256), ("f16_decode", 17, 1024, 512))],
    *[("batched_gemm/batched_gemm.tile", symbol, {}, {"L": 3, "M": m, "N": n, "K": k}, {}, ["C"], 1e-3) for symbol in ("batched_gemm", "strided_batched_gemm") for m, n, k in ((136, 264, 200), (7, 127, 64))],
    *[("int8_gemm/int8_gemm.tile", "int8_gemm", {}, {"M": m, "N": n, "K": k}, {"A": "integers(-128,127)", "B": "integers(-128,127)"}, ["C"], 1e-3) for m, n, k in ((264, 272, 1040), (7, 127, 200))],
    *[
        ("window_attention/window_attention.tile", "window_attention", {}, {"B": 2, "H": 4, "HKV": g, "S": s, "SK": sk}, {**ATTENTION, "softcap": "5", "window": str(w)}, ["O"], 2e-3)
        for s, sk, g, w in ((129, 300, 1, 100), (300, 129, 4, 64), (1, 1000, 2, 300))
    ],
    *[
        ("paged_attention/paged_attention.tile", "paged_attention", {}, {"B": 4, "H": 16, "HKV": g, "MAX": n, "PAGES": 40}, {**ATTENTION, "splits": str(p), "pages": "integers(0,39)", "lengths": f"integers(0,{16 * n})"}, ["O"], 2e-3)
        for g, n, p in ((2, 9, 3), (16, 30, 1))
    ],
    *[
        ("attention_backward/attention_backward.tile", symbol, {}, {"B": 2, "H": 4, "HKV": g, "S": s, "SK": sk}, ATTENTION, ["dQ", "dK", "dV"], 3e-3)
        for symbol in ("attention_backward_f16_d128", "attention_backward_f16_d128_causal")
        for s, sk, g in ((129, 200, 2), (200, 65, 4), (300, 300, 1))
    ],
    *[("transpose/transpose.tile", "transpose", {"T": t}, {"M": m, "N": n}, {}, ["Y"], 0) for t in ("f16", "f32", "i8") for m, n in ((256, 1000), (129, 65))],
    *[("cumsum/cumsum.tile", "cumsum", params, {"M": 3, "N": n}, {}, ["Y"], 1e-3) for params in ({}, {"T": "f16"}, {"REVERSE": "true", "EXCLUSIVE": "true"}) for n in (7, 10000)],
    *[("topk/topk.tile", symbol, {}, {"M": 65, "N": n}, {}, ["values", "indices"], 1e-6) for symbol, n in (("topk", 129), ("topk", 256), ("topk_long", 10000), ("topk_long", 4096))],
    *[("gemm_epilogue/gemm_epilogue.tile", "gemm_epilogue", {"ACT": a}, {"M": m, "N": n, "K": k}, {"bias": "normal", "residual": "normal"}, ["C"], 1e-3) for a in (1, 2, 3) for m, n, k in ((264, 400, 200), (65, 129, 7))],
    *[("gemm_epilogue/gemm_epilogue.tile", "gemm_swiglu", {}, {"M": m, "N": n, "K": k}, {}, ["C"], 1e-3) for m, n, k in ((264, 272, 200), (65, 129, 7))],
    *[("add_rmsnorm/add_rmsnorm.tile", "add_rmsnorm", {}, {"M": m, "N": n}, {"eps": "1e-6"}, ["S", "Y"], 5e-3) for m, n in ((5, 8192), (3, 1001))],
    *[("rotary/rotary.tile", symbol, {}, {"B": 2, "S": 65, "H": h, "L": 300}, {"positions": "integers(0,299)"}, ["Y"], 5e-3) for symbol in ("rope_half", "rope_interleaved") for h in (5, 8)],
    *[("cross_entropy/cross_entropy.tile", "cross_entropy", {}, {"M": 9, "N": n}, {"labels": f"integers(0,{n - 1})", "ignore_index": "3", "lse": "poison"}, ["loss", "lse"], 1e-4) for n in (7, 4097, 20000)],
    *[("quantize/quantize.tile", symbol, {}, {"M": 9, "N": n}, {}, ["Q", "scales"], 1e-2) for symbol, n in (("quantize", 4096), ("quantize", 63), ("quantize_long", 10000))],
    *[(ATOMICS + "elements.tile", "elements", {"T": t}, {"N": 1000}, {}, ["sums", "low", "high", "next", "taken", "last"], 1e-2) for t in ("i32", "f32", "f64", "u64")],
    *[(ATOMICS + "bits.tile", "bits", {"T": t}, {"N": 500}, {"locks": "0"}, ["words", "locks", "winners"], 0) for t in ("u32", "i64")],
    # Of floats one block, so that a second run gives the same bits; many of integers.
    *[(ATOMICS + "tiles.tile", "tiles", {"T": t}, {"M": 60, "N": 60, "K": 60}, {"E": "0"}, ["C", "D", "E"], 2e-2) for t in ("f32", "f16", "bf16", "f64")],
    (ATOMICS + "tiles.tile", "tiles", {"T": "i32", "A": "i8", "P": "i32"}, {"M": 300, "N": 264, "K": 520}, {}, ["C", "D", "E"], 0),
    (ATOMICS + "last-block.tile", "last_block", {}, {"M": 7, "N": 5000}, {"arrived": "0", "parts": "0"}, ["parts", "arrived", "Y"], 1e-3),
]
# (file, symbol, parameters, dimensions, arguments, what torch computes on inputs of these shapes)
BENCH = [
    ("norm/layernorm.tile", "layernorm", {"BN": 8192}, {"M": 8192, "N": 8192}, {"eps": "1e-5"}, "layer_norm"),
    (NORM, "softmax", {}, {"M": 8192, "N": 8192}, {}, "softmax"),
    (NORM, "softmax_long", {}, {"M": 4096, "N": 65536}, {}, "softmax"),
    ("elementwise/elementwise.tile", "map_gelu", {}, {"N": 8192 * 8192}, {}, "gelu"),
    (NORM, "rmsnorm", {"T": "f16"}, {"M": 8192, "N": 8192}, {"eps": "1e-5", "residual": "none"}, "rms_norm"),
    *[("gemv/gemv.tile", "gemv", {}, {"N": n, "K": k}, {}, "gemv") for n, k in ((7168, 16384), (18432, 7168), (28672, 8192), (57344, 7168))],
    *[("w4a16_gemm/w4a16_gemm.tile", name, {}, {"M": m, "N": 8192, "K": 8192}, {"zeros": "integers(0, 15)"}, "matmul") for name, m in (("w4a16_gemm_f16_decode", 16), ("w4a16_gemm_f16", 64))],
    ("attention/flash_attention.tile", "flash_attention_f16_d128", {}, {"B": 2, "H": 32, "HKV": 32, "S": 2048, "SK": 2048}, {**ATTENTION, "LSE": "none"}, "attention"),
    ("attention/flash_attention.tile", "flash_attention_f16_d128_causal", {}, {"B": 2, "H": 32, "HKV": 32, "S": 2048, "SK": 2048}, {**ATTENTION, "LSE": "none"}, "causal attention"),
    *[("attention_backward/attention_backward.tile", f"attention_backward_f16_d128{c}", {}, {"B": 2, "H": 32, "HKV": 32, "S": 2048, "SK": 2048}, ATTENTION, f"{'causal ' if c else ''}attention backward") for c in ("", "_causal")],
    ("batched_gemm/batched_gemm.tile", "batched_gemm", {}, {"L": 16, "M": 2048, "N": 2048, "K": 2048}, {}, "batched matmul"),
    ("int8_gemm/int8_gemm.tile", "int8_gemm", {}, {"M": 4096, "N": 4096, "K": 4096}, {}, "int8 matmul"),
    *[("transpose/transpose.tile", "transpose", {"T": t}, {"M": 8192, "N": 8192}, {}, f"{t} transpose") for t in ("f16", "f32")],
    ("cumsum/cumsum.tile", "cumsum", {}, {"M": 8192, "N": 8192}, {}, "cumsum"),
    ("topk/topk.tile", "topk", {}, {"M": 65536, "N": 256}, {}, "topk"),
    ("gemm_epilogue/gemm_epilogue.tile", "gemm_epilogue", {"ACT": 3}, {"M": 4096, "N": 4096, "K": 4096}, {"bias": "normal", "residual": "normal"}, "silu linear"),
    ("gemm_epilogue/gemm_epilogue.tile", "gemm_swiglu", {}, {"M": 4096, "N": 4096, "K": 4096}, {}, "swiglu"),
    ("add_rmsnorm/add_rmsnorm.tile", "add_rmsnorm", {"T": "f16"}, {"M": 8192, "N": 8192}, {"eps": "1e-6"}, "add_rms_norm"),
    ("cross_entropy/cross_entropy.tile", "cross_entropy", {"T": "f16"}, {"M": 4096, "N": 65536}, {"labels": "integers(0,65535)", "ignore_index": "-100", "lse": "none"}, "cross_entropy"),
]
# What the memory alone takes: of kernels that write as much as they read torch's copy of their tensor, whose elements have these
# bytes; of those that only read load_only.tile over f16 with these dimensions.
COPIES = {"layernorm": 2, "softmax": 2, "softmax_long": 2, "rmsnorm": 2, "map_gelu": 2, "cumsum": 4}
LOADS = {"gemv": ("N", "K"), "cross_entropy": ("M", "N")}


def options(symbol, dims, args):
    result = ["--kernel", symbol]
    for name, value in dims.items():
        result += ["--dim", f"{name}={value}"]
    for name, value in args.items():
        result += ["--arg", f"{name}={value}"]
    return result


def compiled(folder, file, params):
    """The pack of a kernel file with these parameters, for sm_90a."""
    name = pathlib.Path(file).stem + "".join(f"_{k}{v}" for k, v in params.items()) + ".pack"
    if not (folder / name).exists():
        given = [x for k, v in params.items() for x in ("-P", f"{k}={v}")]
        tilec = [ROOT / "build/bin/tilec", ROOT / "kernels" / file, *given, "--arch=sm_90a", "-o", folder / name]
        subprocess.run(tilec, check=True, stderr=subprocess.DEVNULL)
    return name


def prepare(folder, only):
    folder.mkdir(parents=True, exist_ok=True)
    plan = {"cases": [], "bench": []}
    for number, (file, symbol, params, dims, args, outputs, tolerance) in enumerate(CASES):
        if only not in symbol:
            continue
        files = {name: f"{number}_{name}.npy" for name in outputs}
        given = [x for k, v in params.items() for x in ("-P", f"{k}={v}")]
        run = [ROOT / "build/bin/tilec", "run", ROOT / "kernels" / file, *given, "--on=cpu", *options(symbol, dims, args)]
        for name, target in files.items():
            run += ["--out", f"{name}={folder / target}"]
        subprocess.run(run, check=True, stdout=subprocess.DEVNULL)
        plan["cases"].append({"pack": compiled(folder, file, params), "options": options(symbol, dims, args), "expect": files, "tolerance": tolerance})
    for file, symbol, params, dims, args, torch in BENCH:
        if only in symbol:
            plan["bench"].append({"pack": compiled(folder, file, params), "options": options(symbol, dims, args), "dims": dims, "torch": torch, "symbol": symbol})
    compiled(folder, "../tools/dev/load_only.tile", {})
    (folder / "plan.json").write_text(json.dumps(plan, indent=1))
    for file in ("bin/tile-run", "lib/libtile_rt.so"):
        subprocess.run(["cp", ROOT / "build" / file, folder], check=True)


def tile_run(folder, pack, arguments):
    environment = {**os.environ, "LD_LIBRARY_PATH": f"{folder}:{os.environ.get('LD_LIBRARY_PATH', '')}"}
    done = subprocess.run([folder / "tile-run", folder / pack, "--on=cuda", *arguments], capture_output=True, text=True, env=environment, timeout=300)
    return done.returncode, (done.stdout + done.stderr).strip()


def peer(kind, dims):
    """A function that runs torch's kernel for this."""
    import torch
    import torch.nn.functional as F

    draw = lambda *shape: torch.randn(*shape, device="cuda", dtype=torch.float16)  # noqa: E731
    if kind in ("layer_norm", "rms_norm", "softmax"):
        x, n = draw(dims["M"], dims["N"]), dims["N"]
        weight, bias = draw(n), draw(n)
        if kind == "softmax":
            return lambda: torch.softmax(x, -1)
        return lambda: F.layer_norm(x, (n,), weight, bias) if kind == "layer_norm" else F.rms_norm(x, (n,), weight)
    if kind == "gelu":
        x = draw(dims["N"])
        return lambda: F.gelu(x, approximate="tanh")
    if kind == "gemv":
        a, w = draw(dims["K"]), draw(dims["N"], dims["K"])
        return lambda: torch.mv(w, a)
    if kind.endswith("transpose"):
        x = draw(dims["M"], dims["N"]).to(torch.float16 if kind.startswith("f16") else torch.float32)
        return lambda: x.t().contiguous()
    if kind in ("cumsum", "topk", "cross_entropy", "add_rms_norm"):
        x, y, n = draw(dims["M"], dims["N"]), draw(dims["M"], dims["N"]), dims["N"]
        wide, weight, labels = x.float(), draw(n), torch.randint(0, n, (dims["M"],), device="cuda")
        return {
            "cumsum": lambda: torch.cumsum(wide, -1),
            "topk": lambda: torch.topk(wide, 8),
            "cross_entropy": lambda: F.cross_entropy(x, labels, reduction="none"),
            "add_rms_norm": lambda: F.rms_norm(x + y, (n,), weight),
        }[kind]
    if kind in ("silu linear", "swiglu"):  # several of its kernels
        x, w, u, r, bias = draw(dims["M"], dims["K"]), draw(dims["N"], dims["K"]), draw(dims["N"], dims["K"]), draw(dims["M"], dims["N"]), draw(dims["N"])
        return lambda: F.silu(F.linear(x, w)) * F.linear(x, u) if kind == "swiglu" else F.silu(F.linear(x, w, bias)) + r
    if kind == "matmul":  # of f16 weights, four times the bytes
        x, w = draw(dims["M"], dims["K"]), draw(dims["N"], dims["K"])
        return lambda: F.linear(x, w)
    if kind == "batched matmul":
        x, w = draw(dims["L"], dims["M"], dims["K"]), draw(dims["L"], dims["K"], dims["N"])
        return lambda: torch.bmm(x, w)
    if kind == "int8 matmul":  # without scales, the result in i32
        x, w = (torch.randint(-128, 128, (dims[d], dims["K"]), device="cuda", dtype=torch.int8) for d in "MN")
        return lambda: torch._int_mm(x, w.t())
    q, k, v = (draw(dims["B"], dims["H"], dims["S"], 128) for _ in range(3))
    backend = torch.nn.attention.SDPBackend.CUDNN_ATTENTION

    def attention():
        with torch.nn.attention.sdpa_kernel(backend):
            return F.scaled_dot_product_attention(q, k, v, is_causal=kind.startswith("causal"))

    if kind.endswith("backward"):
        inputs = [x.requires_grad_() for x in (q, k, v)]
        out, grad = attention(), torch.randn_like(q)
        return lambda: torch.autograd.grad(out, inputs, grad, retain_graph=True)
    return attention


def median(function, count=30):
    """Microseconds of the GPU, the L2 flushed before each launch."""
    import torch

    flush = torch.empty(256 << 20, dtype=torch.uint8, device="cuda")
    times = []
    for i in range(count + 5):
        flush.zero_()
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        function()
        end.record()
        end.synchronize()
        if i >= 5:
            times.append(begin.elapsed_time(end) * 1000)
    return sorted(times)[count // 2]


def memory_alone(folder, symbol, dims):
    """Microseconds of a copy or a load of the same bytes, or None."""
    import torch

    if symbol in COPIES:
        elements = dims["N"] * dims.get("M", 1)
        x = torch.randn(elements * COPIES[symbol] // 2, device="cuda", dtype=torch.float16)
        y = torch.empty_like(x)
        return median(lambda: y.copy_(x))
    if symbol in LOADS:
        a, b = (dims[name] for name in LOADS[symbol])
        text = tile_run(folder, "load_only.pack", ["--kernel", "load_only", "--dim", f"N={a * b // 2}", "--arg", "X=1", "--repeat", "30", "--warmup", "5", "--flush-l2"])[1]
        return float(text.split(" ms (median")[0].split()[-1]) * 1000
    return None


def run(folder, out):
    plan = json.loads((folder / "plan.json").read_text())
    results, wrong = {"cases": [], "bench": []}, 0
    for case in plan["cases"]:
        arguments = [*case["options"], "--tolerance", str(case["tolerance"]), "--twice"]
        for name, file in case["expect"].items():
            arguments += ["--expect", f"{name}={folder / file}"]
        status, text = tile_run(folder, case["pack"], arguments)
        wrong += status != 0
        print("ok   " if status == 0 else "WRONG", *case["options"], "" if status == 0 else text, flush=True)
        results["cases"].append({**case, "status": status, "text": text})
    for bench in plan["bench"]:
        status, text = tile_run(folder, bench["pack"], [*bench["options"], "--repeat", "30", "--warmup", "5", "--flush-l2"])
        try:
            torch = median(peer(bench["torch"], bench["dims"]))
        except Exception as error:  # a peer that is not there is no failure of the kernel
            torch, text = None, f"{text}\ntorch: {error}"
        memory = memory_alone(folder, bench["symbol"], bench["dims"])
        print("bench", *bench["options"], "|", text.replace("\n", " "), "| torch", torch, "us | memory", memory, "us", flush=True)
        results["bench"].append({**bench, "status": status, "text": text, "torch_us": torch, "memory_us": memory})
    out.mkdir(parents=True, exist_ok=True)
    (out / "results.json").write_text(json.dumps(results, indent=1))
    print(f"{len(plan['cases']) - wrong} right, {wrong} wrong")
    return 1 if wrong else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mode", choices=["prepare", "run"])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("."))
    given = parser.parse_args()
    if given.mode == "prepare":
        prepare(given.folder, given.only)
        return 0
    return run(given.folder.resolve(), given.out)


if __name__ == "__main__":
    sys.exit(main())
