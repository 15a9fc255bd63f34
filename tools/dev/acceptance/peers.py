"""Times kernels, and beside them torch's own and what the memory alone takes: in rounds that alternate, the L2 flushed before each launch."""
import re
import subprocess
import tempfile

import numpy as np

import calls
import timed

LAUNCHES = 20
TIMES = re.compile(r"([0-9.]+) ms \(median of \d+, least [0-9.]+, half ([0-9.]+) to ([0-9.]+)\)")
LIMIT = 120  # seconds of one process


def summary(rounds):
    """Of (median, lower quartile, upper quartile) of each round, in microseconds."""
    medians = sorted(r[0] for r in rounds)
    us = medians[len(medians) // 2]
    off = max(max(abs(m - us) for m in medians), max((high - low) / 2 for _, low, high in rounds))
    return {"us": round(us, 2), "noise": round(off / us, 4)} if us else None


def flushed(function, count=LAUNCHES, warmup=3):
    """(median, quartiles) of a function's launches, in microseconds of the GPU."""
    import torch

    flush = torch.empty(256 << 20, dtype=torch.uint8, device="cuda")
    times = []
    for i in range(count + warmup):
        flush.zero_()
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        function()
        end.record()
        end.synchronize()
        if i >= warmup:
            times.append(begin.elapsed_time(end) * 1000)
    times.sort()
    return times[len(times) // 2], times[(len(times) - 1) // 4], times[3 * (len(times) - 1) // 4]


def ours(folder, pack, options):
    """(median, quartiles) by tile-run. Raises RuntimeError with what it says."""
    arguments = ["--no-print", *options, "--repeat", str(LAUNCHES), "--warmup", "3", "--flush-l2"]
    status, text = calls.tile_run(folder, pack, arguments, "cuda", LIMIT)
    found = TIMES.search(text)
    if status != 0 or not found:
        raise RuntimeError(text or f"tile-run ends with {status}")
    return tuple(float(x) * 1000 for x in found.groups())


def torch_alone(bench):
    """A function that measures torch's kernel, or None."""
    function = peer(bench["torch"], {**bench["params"], **bench["dims"]})
    return function and (lambda: flushed(function))


def memory_alone(folder, load_only, bench):
    """A function that measures a copy or a load of the same bytes, or None."""
    kernel, dims = bench["kernel"], bench["dims"]
    if kernel in timed.COPIES:
        import torch

        size = {"f32": 4}.get(bench["params"].get("T"), timed.COPIES[kernel])
        x = torch.randn(dims["N"] * dims.get("M", 1) * size // 2, device="cuda", dtype=torch.float16)
        y = torch.empty_like(x)
        return lambda: flushed(lambda: y.copy_(x))
    if kernel in timed.LOADS:
        a, b = (dims[name] for name in timed.LOADS[kernel])
        return lambda: ours(folder, load_only, ["--dim", f"N={a * b // 2}", "--arg", "X=1"])
    return None


def time_kernel(folder, bench, load_only, rounds):
    """The record of one kernel."""
    record = {"key": bench["key"], "id": bench["id"], "kind": "bench", "state": "right"}
    with tempfile.TemporaryDirectory() as scratch:
        options = list(bench["options"])
        for name, values in bench["arrays"].items():
            np.save(f"{scratch}/{name}.npy", np.asarray(values, np.int32))
            options += ["--arg", f"{name}={scratch}/{name}.npy"]
        sides, notes = {"ours": lambda: ours(folder, bench["pack"], options)}, []
        for side, make in (("torch", lambda: torch_alone(bench)), ("memory", lambda: memory_alone(folder, load_only, bench))):
            try:
                function = make()
                if function:
                    sides[side] = function
            except Exception as error:  # what is not there beside a kernel is no failure of the kernel
                notes.append(f"{side}: {error}".splitlines()[0])
        found = alternate(sides, rounds, notes, record)
    record.update({side: summary(times) for side, times in found.items() if times})
    record["text"] = "; ".join(notes)[:1000]
    release()
    return record


def alternate(sides, rounds, notes, record):
    found = {side: [] for side in sides}
    for _ in range(rounds):
        for side, measure in list(sides.items()):
            try:
                found[side].append(measure())
            except Exception as error:
                late = isinstance(error, subprocess.TimeoutExpired)
                notes.append(f"{side}: " + (f"not done after {LIMIT} s" if late else str(error)))
                del sides[side]
                if side == "ours":
                    record["state"] = "time-out" if late else "failed"
                    return {}
    return found


def release():
    try:
        import torch

        torch.cuda.empty_cache()
    except ImportError:
        pass


def draw(*shape):
    import torch

    return torch.randn(*shape, device="cuda", dtype=torch.float16)


def peer(kind, dims):
    """A function that runs torch's kernel for this, or None."""
    if kind is None:
        return None
    import torch  # noqa: F401

    for make in (products, rows, attention):
        function = make(kind, dims)
        if function:
            return function
    raise ValueError(f"no kernel of torch is known for `{kind}`")


def products(kind, dims):
    import torch
    import torch.nn.functional as F

    if kind == "gemv":
        a, w = draw(dims["K"]), draw(dims["N"], dims["K"])
        return lambda: torch.mv(w, a)
    if kind == "matmul":
        x, w, y = draw(dims["M"], dims["K"]), draw(dims["K"], dims["N"]), draw(dims["M"], dims["N"])
        return lambda: torch.matmul(x, w, out=y)
    if kind == "linear":  # of f16 weights, four times the bytes of 4-bit ones
        x, w = draw(dims["M"], dims["K"]), draw(dims["N"], dims["K"])
        return lambda: F.linear(x, w)
    if kind in ("silu linear", "swiglu"):  # several of its kernels
        x, w, u, r, bias = draw(dims["M"], dims["K"]), draw(dims["N"], dims["K"]), draw(dims["N"], dims["K"]), draw(dims["M"], dims["N"]), draw(dims["N"])
        return lambda: F.silu(F.linear(x, w)) * F.linear(x, u) if kind == "swiglu" else F.silu(F.linear(x, w, bias)) + r
    if kind == "batched matmul":
        x, w = draw(dims["L"], dims["M"], dims["K"]), draw(dims["L"], dims["K"], dims["N"])
        return lambda: torch.bmm(x, w)
    if kind == "int8 matmul":  # without scales, the result in i32
        x, w = (torch.randint(-128, 128, (dims[d], dims["K"]), device="cuda", dtype=torch.int8) for d in "MN")
        return lambda: torch._int_mm(x, w.t())
    return None


def rows(kind, dims):
    import torch
    import torch.nn.functional as F

    if kind == "gelu":
        x = draw(dims["N"])
        return lambda: F.gelu(x, approximate="tanh")
    if kind not in ("layer_norm", "rms_norm", "softmax", "cumsum", "topk", "cross_entropy", "add_rms_norm", "f16 transpose", "f32 transpose"):
        return None
    n = dims["N"]
    x = torch.randn(dims["M"], n, device="cuda", dtype=torch.float32 if kind in ("cumsum", "topk", "f32 transpose") else torch.float16)
    weight, bias = draw(n), draw(n)
    if kind == "cross_entropy":
        labels = torch.randint(0, n, (dims["M"],), device="cuda")
        return lambda: F.cross_entropy(x, labels, reduction="none")
    if kind == "add_rms_norm":
        y = torch.randn_like(x)
        return lambda: F.rms_norm(x + y, (n,), weight)
    return {
        "layer_norm": lambda: F.layer_norm(x, (n,), weight, bias),
        "rms_norm": lambda: F.rms_norm(x, (n,), weight),
        "softmax": lambda: torch.softmax(x, -1),
        "cumsum": lambda: torch.cumsum(x, -1),
        "topk": lambda: torch.topk(x, 8),
        "f16 transpose": lambda: x.t().contiguous(),
        "f32 transpose": lambda: x.t().contiguous(),
    }[kind]


def attention(kind, dims):
    """By the cuDNN backend. Packed sequences are a batch of equal ones here: the same work."""
    import torch
    import torch.nn.functional as F

    if "attention" not in kind:
        return None
    batch, length = (dims["B"], dims["TQ"] // dims["B"]) if kind.startswith("packed") else (dims["B"], dims["S"])
    q, k, v = (draw(batch, dims["H"], length, dims.get("D", 128)) for _ in range(3))
    backend = torch.nn.attention.SDPBackend.CUDNN_ATTENTION

    def forward():
        with torch.nn.attention.sdpa_kernel(backend):
            return F.scaled_dot_product_attention(q, k, v, is_causal="causal" in kind)

    if kind.endswith("backward"):
        inputs = [x.requires_grad_() for x in (q, k, v)]
        out, grad = forward(), torch.randn_like(q)
        return lambda: torch.autograd.grad(out, inputs, grad, retain_graph=True)
    return forward
