#!/usr/bin/python3
"""Checks the numpy references of kernels/ against formulas written another way, and the case lines that name them.

Every .tile file of kernels/ must have `//! reference:` and `//! tolerance:` lines, and the functions they name must exist.
Prints `ok`, or what is wrong and exits with 1. usage: check_references.py [ROOT]    ROOT: the top of the repository
"""

import importlib.util
import math
import pathlib
import re
import sys

import numpy as np

ROOT = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parents[2])
KERNELS = ROOT / "kernels"
sys.path.insert(0, str(KERNELS))
import reference_support as support  # noqa: E402

problems = []


def load(folder):
    spec = importlib.util.spec_from_file_location(f"reference_{folder}", KERNELS / folder / "reference.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def same(what, value, expected, tolerance=1e-12):
    value, expected = np.asarray(value, np.float64), np.asarray(expected, np.float64)
    if value.shape != expected.shape or not np.allclose(value, expected, tolerance, tolerance, equal_nan=True):
        problems.append(what)


def draw(random, *shape, dtype="f64"):
    return support.encode(random.standard_normal(shape), dtype)


def check_formats(random):
    halves = random.standard_normal(1000).astype(np.float32)
    same("bf16 keeps what has 8 bits", support.rounded(support.rounded(halves, "bf16"), "bf16"), support.rounded(halves, "bf16"))
    same("bf16 is near", support.rounded(halves, "bf16"), halves, 2**-8)
    same("bf16 ties to even", support.rounded([1 + 2**-8, 1 + 3 * 2**-8, -1e30], "bf16")[:2], [1.0, 1 + 4 * 2**-8])
    same("e4m3 values", support.decode(np.uint8([0x38, 0x7E, 0x01, 0xB8, 0x7F]), "e4m3"), [1, 448, 2**-9, -1, np.nan])
    same("e5m2 values", support.decode(np.uint8([0x3C, 0x7B, 0x01, 0xFC]), "e5m2"), [1, 57344, 2**-16, -np.inf])
    for dtype, step in (("e4m3", 2**-4), ("e5m2", 2**-3)):
        codes = np.arange(256, dtype=np.uint8)
        finite = codes[np.isfinite(support.decode(codes, dtype))]
        same(f"{dtype} round trip", support.encode(support.decode(finite, dtype), dtype), finite)
        normal = random.uniform(0.1, 10.0, 1000)
        same(f"{dtype} is near", support.rounded(normal, dtype) / normal, np.ones(1000), step)
    same("e4m3 saturates", support.rounded([1e9, -1e9], "e4m3"), [448, -448])
    nibbles = random.integers(0, 16, (3, 8))
    same("u4 round trip", support.unpack_u4(support.pack_u4(nibbles)), nibbles)


def check_products(random):
    gemm = load("gemm")
    a, b = draw(random, 5, 7, dtype="bf16"), draw(random, 7, 3, dtype="bf16")
    wide = sum(support.decode(a)[:, k, None] * support.decode(b)[None, k, :] for k in range(7))
    at, bt = np.ascontiguousarray(a.T), np.ascontiguousarray(b.T)
    for function, arguments in ((gemm.gemm, (a, b)), (gemm.gemm_nt, (a, bt)), (gemm.gemm_tn, (at, b)), (gemm.gemm_tt, (at, bt))):
        same(function.__name__, function(*arguments, T="bf16", M=5)["C"], wide)
    same("splitk_gemm", load("splitk_gemm").splitk_gemm(A=a, B=b, splits=3, T="bf16")["C"], wide)
    same("gemv", load("gemv").gemv(a=bt[0], B=a, T="bf16")["c"], wide[:, 0])
    a8, b8 = draw(random, 5, 7, dtype="e4m3"), draw(random, 3, 7, dtype="e4m3")
    same("gemm_e4m3", gemm.gemm_e4m3(A=a8, B=b8)["C"], np.inner(support.decode(a8, "e4m3"), support.decode(b8, "e4m3")))

    grouped = load("grouped_gemm")
    offsets = grouped.grouped_gemm_inputs(random, M=20, G=4)["offsets"]
    a, b = draw(random, 20, 6), draw(random, 4, 6, 3)
    group = np.searchsorted(offsets[1:], np.arange(20), side="right")
    same("grouped_gemm", grouped.grouped_gemm(A=a, B=b, offsets=offsets)["C"], np.einsum("mk,mkn->mn", a, b[group]))

    a, b = draw(random, 3, 4, 6, dtype="bf16"), draw(random, 3, 6, 5, dtype="bf16")
    each = [gemm.gemm(A=x, B=y, T="bf16")["C"] for x, y in zip(a, b)]
    same("batched_gemm", load("batched_gemm").batched_gemm(A=a, B=b, T="bf16")["C"], each)

    a, b = random.integers(-128, 128, (4, 9), np.int8), random.integers(-128, 128, (5, 9), np.int8)
    rows, columns = draw(random, 4, dtype="f32"), draw(random, 5, dtype="f32")
    scaled = np.inner(a * rows.astype(np.float64)[:, None], b * columns.astype(np.float64)[:, None])
    same("int8_gemm", load("int8_gemm").int8_gemm(A=a, B=b, a_scale=rows, b_scale=columns)["C"], scaled)

    a, packed = draw(random, 4, 256, dtype="f16"), support.pack_u4(random.integers(0, 16, (6, 256)))
    scales, zeros = np.full((6, 2), 0.5, np.float16), np.full((6, 2), 8, np.float16)
    expected = a.astype(np.float64) @ ((support.unpack_u4(packed) - 8.0) * 0.5).T
    same("w4a16_gemm", load("w4a16_gemm").w4a16_gemm(A=a, Wq=packed, scales=scales, zeros=zeros)["C"], expected)

    conv = load("conv").conv2d
    x, f, bias = draw(random, 2, 6, 7, 3), draw(random, 3, 2, 3, 4), draw(random, 4)
    y = conv(X=x, F=f, bias=bias, STRIDE=2, PAD=1, DIL=2)["Y"]
    padded = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    point = bias + np.einsum("klc,klcf->f", padded[1, 2:7:2, 4:7:2], f)
    same("conv2d", y[1, 1, 2], point)
    same("conv2d by ones", conv(X=x, F=f[:1, :1], PAD=0)["Y"], x @ f[0, 0])


def check_rows(random):
    norm = load("norm")
    x = draw(random, 6, 50, dtype="f16")
    same("softmax sums to 1", norm.softmax(X=x)["Y"].sum(axis=1), np.ones(6))
    same("softmax ignores shifts", norm.softmax(X=x.astype(np.float64) + 5)["Y"], norm.softmax(X=x)["Y"])
    y = norm.layernorm(X=x, gamma=np.ones(50), beta=np.zeros(50), eps=0.0)["Y"]
    same("layernorm", [y.mean(axis=1), y.std(axis=1)], [np.zeros(6), np.ones(6)], 1e-9)
    same("layernorm scales", norm.layernorm(X=x, gamma=2 * np.ones(50), beta=np.ones(50), eps=0.0)["Y"], 2 * y + 1)
    out = norm.rmsnorm(X=x, weight=np.ones(50), eps=0.0, residual=x)
    same("rmsnorm", (out["Y"] ** 2).sum(axis=1), np.full(6, 50.0))
    same("rmsnorm residual", out["residual"], 2 * x.astype(np.float64))
    out = norm.argmax(X=np.float16([[1, 3, 3], [5, 0, 5]]))
    same("argmax", [out["indices"], out["values"]], [[1, 0], [3, 5]])
    maps = load("elementwise")
    flat = draw(random, 1000)
    erf = np.array([math.erf(v / math.sqrt(2)) for v in flat])
    same("map_gelu", maps.map_gelu(X=flat)["Y"], 0.5 * flat * (1 + erf), 1e-3)
    same("map_relu", maps.map_relu(X=flat)["Y"], np.where(flat > 0, flat, 0))


def check_maps(random):
    x = draw(random, 5, 8, dtype="f16")
    transposed = load("transpose").transpose
    same("transpose", transposed(X=x, T="f16")["Y"], [[x[i, j] for i in range(5)] for j in range(8)])
    same("transpose of integers", transposed(X=np.int8([[1, -2]]), T="i8")["Y"], [[1], [-2]])

    cumsum, below = load("cumsum").cumsum, np.tril(np.ones((8, 8)))
    wide = x.astype(np.float64)
    same("cumsum", cumsum(X=x)["Y"], wide @ below.T, 1e-9)
    same("cumsum from the end", cumsum(X=x, REVERSE=True)["Y"], wide @ below, 1e-9)
    same("cumsum without itself", cumsum(X=x, EXCLUSIVE=True)["Y"], wide @ (below - np.eye(8)).T, 1e-9)
    same("both", cumsum(X=x, REVERSE=True, EXCLUSIVE=True)["Y"], wide @ (below - np.eye(8)), 1e-9)

    rotary = load("rotary")
    tables = rotary.rope_inputs(random, B=2, S=3, L=9, D=8)
    cosines, sines, positions = tables["cosines"], tables["sines"], tables["positions"]
    heads = draw(random, 2, 3, 4, 8)
    half = rotary.rope_half(X=heads, **tables)["Y"]
    c, s, (x1, x2) = float(cosines[positions[1, 2], 3]), float(sines[positions[1, 2], 3]), heads[1, 2, 0, [3, 7]]
    same("rope_half", half[1, 2, 0, [3, 7]], [x1 * c - x2 * s, x1 * s + x2 * c])
    paired = np.stack([heads[..., :4], heads[..., 4:]], axis=-1).reshape(heads.shape)
    paired = rotary.rope_interleaved(X=paired, **tables)["Y"]
    same("rope_interleaved", np.concatenate([paired[..., 0::2], paired[..., 1::2]], axis=-1), half)
    plain = rotary.rope_half(X=heads, cosines=cosines, sines=sines)["Y"]
    same("rope keeps lengths", (plain**2).sum(axis=3), (heads**2).sum(axis=3), 1e-6)
    same("rope at position 0", plain[:, 0], heads[:, 0])


def check_selections(random):
    topk = load("topk").topk
    x = draw(random, 6, 20, dtype="f16")
    out = topk(X=x, K=4)
    for row, values, indices in zip(x, out["values"], out["indices"]):
        best = sorted(range(20), key=lambda n: (-float(row[n]), n))[:4]
        same("topk", [indices, values], [best, [float(row[n]) for n in best]])
    same("topk of equals", topk(X=np.float32([[1, 3, np.nan, 3, 1]]), K=3)["indices"], [[1, 3, 0]])
    weights = topk(X=x, K=4, SOFTMAX=True)["values"]
    same("topk softmax", [weights.sum(axis=1), weights[:, 0] / weights[:, 1]], [np.ones(6), np.exp(out["values"][:, 0] - out["values"][:, 1])])

    labels = np.int32([3, 0, 19, -7, 5, 5])
    out = load("cross_entropy").cross_entropy(X=x, labels=labels, ignore_index=-7)
    odds = [sum(math.exp(float(v) - float(row[label])) for v in row) for row, label in zip(x, labels)]
    same("cross_entropy", out["loss"], np.where(labels == -7, 0, np.log(odds)))
    same("its logarithm of sums", np.exp(x - out["lse"][:, None]).sum(axis=1), np.ones(6))

    out = load("quantize").quantize(X=x)
    largest, scales = np.abs(x).max(axis=1, keepdims=True).astype(np.float64), out["scales"][:, None]
    same("scales of quantize", scales, largest / 448, 1e-7)
    same("quantize: the largest", np.abs(out["Q"]).max(axis=1), np.full(6, 448.0))
    same("quantize is near", out["Q"] * scales / largest, x / largest, 2**-4)
    same("quantize of zeros", load("quantize").quantize(X=np.zeros((1, 3)))["scales"], [1])

    out = load("add_rmsnorm").add_rmsnorm(X=x, R=x, weight=np.ones(20), eps=0.0, T="f16")
    same("add_rmsnorm", (out["Y"] ** 2).sum(axis=1), np.full(6, 20.0))
    same("its residual", out["S"], 2 * x.astype(np.float64))
    out = load("add_rmsnorm").add_rmsnorm(X=np.float16([[2048]]), R=np.float16([[1]]), weight=np.ones(1), eps=0.0, T="f16")
    same("its residual is rounded", out["S"], [[2048]])


def check_epilogues(random):
    epilogue = load("gemm_epilogue")
    a, b, u = (draw(random, n, 7, dtype="bf16") for n in (5, 3, 3))
    bias, residual = draw(random, 3, dtype="bf16"), draw(random, 5, 3, dtype="bf16")
    wide = np.einsum("mk,nk->mn", support.decode(a), support.decode(b))
    shifted = wide + support.decode(bias)[None, :]
    normal = np.vectorize(lambda v: 0.5 * math.erfc(-v / math.sqrt(2)))
    expected = (shifted, np.where(shifted > 0, shifted, 0), shifted * normal(shifted), shifted * (1 + np.tanh(shifted / 2)) / 2)
    for act, values in enumerate(expected):
        out = epilogue.gemm_epilogue(A=a, B=b, bias=bias, residual=residual, ACT=act, T="bf16")["C"]
        same(f"gemm_epilogue, activation {act}", out - support.decode(residual), values, 2e-3 if act == 2 else 1e-9)
    same("gemm_epilogue, bare", epilogue.gemm_epilogue(A=a, B=b, T="bf16")["C"], wide)
    gated = np.einsum("mk,nk->mn", support.decode(a), support.decode(u)) * wide * (1 + np.tanh(wide / 2)) / 2
    same("gemm_swiglu", epilogue.gemm_swiglu(A=a, G=b, U=u, T="bf16")["C"], gated, 1e-9)


def attend(q, keys, values, scale):
    """One query, one key after the other."""
    weights = [math.exp(float(q @ key) * scale) for key in keys]
    return sum((w * v for w, v in zip(weights, values)), np.zeros(values.shape[1])) / sum(weights)


def check_attention(random):
    attention = load("attention")
    q, k, v = draw(random, 2, 4, 5, 8), draw(random, 2, 2, 7, 8), draw(random, 2, 2, 7, 8)
    out = attention.flash_attention(Q=q, K=k, V=v, scale=0.3, CAUSAL=True)
    same("flash_attention", out["O"][1, 3, 2], attend(q[1, 3, 2], k[1, 1, :5], v[1, 1, :5], 0.3))
    same("flash_attention LSE", out["LSE"][1, 3, 2], math.log(sum(math.exp(float(q[1, 3, 2] @ key) * 0.3) for key in k[1, 1, :5])))
    late = attention.flash_attention(Q=q, K=k[:, :, :3], V=v[:, :, :3], scale=0.3, CAUSAL=True)
    same("rows without keys", late["O"][:, :, :2], np.zeros((2, 4, 2, 8)))
    same("their LSE", late["LSE"][:, :, :2], np.full((2, 4, 2), -np.inf))

    q, cache = draw(random, 3, 2, 12), draw(random, 3, 9, 12)
    seqlens = attention.mla_decode_inputs(random, B=3, SK=9)["seqlens"]
    out = attention.mla_decode(Q=q, KV=cache, seqlens=seqlens, scale=0.2, DV=8)["O"]
    same("mla_decode", out[0, 1], attend(q[0, 1], cache[0], cache[0, :, :8], 0.2))
    same("mla_decode without keys", out[1], np.zeros((2, 8)))

    q, k, v = draw(random, 2, 9, 3, 4), draw(random, 2, 9, 3, 4), draw(random, 2, 9, 3, 5)
    initial = draw(random, 2, 3, 4, 5)
    out = load("linear_attention").linear_attention(Q=q, K=k, V=v, scale=0.7, initial=initial)
    scores = np.tril(np.einsum("bshd,bthd->bhst", q, k))
    whole = np.einsum("bhst,bthv->bshv", scores, v) + np.einsum("bshd,bhdv->bshv", q, initial)
    same("linear_attention", out["O"], 0.7 * whole)
    same("its final state", out["final"], initial + np.einsum("bthk,bthv->bhkv", k, v))


def check_attention_variants(random):
    window = load("window_attention").window_attention
    q, k, v = draw(random, 1, 4, 5, 8), draw(random, 1, 2, 9, 8), draw(random, 1, 2, 9, 8)
    out = window(Q=q, K=k, V=v, scale=0.3, softcap=0.0, window=3, CAP=False)["O"]
    same("window_attention", out[0, 3, 2], attend(q[0, 3, 2], k[0, 1, 4:7], v[0, 1, 4:7], 0.3))
    whole = load("attention").flash_attention(Q=q, K=k, V=v, scale=0.3, CAUSAL=True)["O"]
    same("a window of all keys", window(Q=q, K=k, V=v, scale=0.3, softcap=1e9, window=99)["O"], whole, 1e-9)
    capped = [2.0 * math.tanh(0.3 * float(q[0, 0, 4] @ key) / 2.0) for key in k[0, 0, 6:]]
    weights = np.exp(capped) / np.exp(capped).sum()
    same("softcap", window(Q=q, K=k, V=v, scale=0.3, softcap=2.0, window=3)["O"][0, 0, 4], weights @ v[0, 0, 6:])
    late = window(Q=q, K=k[:, :, :3], V=v[:, :, :3], scale=0.3, softcap=2.0, window=3)["O"]
    same("a window before the first key", late[:, :, :2], np.zeros((1, 4, 2, 8)))


def check_packed_and_paged(random):
    attention, packed = load("attention").flash_attention, load("varlen_attention")
    ends = packed.varlen_attention_inputs(random, B=4, TQ=12, TK=15)
    cu_q, cu_k = ends["cu_q"], ends["cu_k"]
    q, k, v = draw(random, 12, 4, 8), draw(random, 15, 2, 8), draw(random, 15, 2, 8)
    for causal in (False, True):
        out = packed.varlen_attention(Q=q, K=k, V=v, cu_q=cu_q, cu_k=cu_k, scale=0.3, CAUSAL=causal)
        for b in range(4):
            rows, keys = slice(cu_q[b], cu_q[b + 1]), slice(cu_k[b], cu_k[b + 1])
            alone = attention(*(x.swapaxes(0, 1)[None] for x in (q[rows], k[keys], v[keys])), scale=0.3, CAUSAL=causal)
            same("varlen_attention", out["O"][rows], alone["O"][0].swapaxes(0, 1))
            same("varlen_attention LSE", out["LSE"][:, rows], alone["LSE"][0])

    paged = load("paged_attention")
    places = paged.paged_attention_inputs(random, B=3, HKV=2, MAX=4, PAGES=9, PAGE=5, D=8, T="f64")
    q, k, v = draw(random, 3, 4, 8), places["K"], places["V"]
    out = paged.paged_attention(Q=q, scale=0.3, **places)["O"]
    tokens = [(places["pages"][2, t // 5], t % 5) for t in range(places["lengths"][2])]
    keys, values = (np.array([x[page, slot, 1] for page, slot in tokens]).reshape(-1, 8) for x in (k, v))
    same("paged_attention", out[2, 3], attend(q[2, 3], keys, values, 0.3) if tokens else np.zeros(8))
    same("paged_attention of all pages", out[0, 0], attend(q[0, 0], *(np.concatenate(x[places["pages"][0]])[:, 0] for x in (k, v)), 0.3))
    same("paged_attention without keys", out[1], np.zeros((4, 8)))


def check_backward(random):
    """Differences of the forward pass: the derivative of sum(O * dO) in each element of an input."""
    attention, backward = load("attention").flash_attention, load("attention_backward")
    for causal in (False, True):
        inputs = {"Q": draw(random, 1, 4, 3, 5), "K": draw(random, 1, 2, 4, 5), "V": draw(random, 1, 2, 4, 5)}
        grad = draw(random, 1, 4, 3, 5)
        out = backward.attention_backward(**inputs, dO=grad, scale=0.4, CAUSAL=causal)
        for name, value in inputs.items():
            slopes = np.zeros(value.shape)
            for at in np.ndindex(value.shape):
                step = np.zeros(value.shape)
                step[at] = 1e-5
                high, low = (attention(**{**inputs, name: value + s}, scale=0.4, CAUSAL=causal)["O"] for s in (step, -step))
                slopes[at] = ((high - low) * grad).sum() / 2e-5
            same(f"attention_backward d{name}", out[f"d{name}"], slopes, 1e-7)
    made = backward.attention_backward_inputs(random, B=1, H=4, HKV=2, S=5, SK=3, scale=0.4, D=6, CAUSAL=True, T="f64")
    ahead = attention(**{name: made[name] for name in "QKV"}, scale=0.4, CAUSAL=True)
    same("attention_backward O", made["O"], ahead["O"])
    same("attention_backward LSE", made["LSE"], ahead["LSE"], 1e-6)
    dead = backward.attention_backward(**{name: made[name] for name in "QKV"}, dO=made["O"], scale=0.4, CAUSAL=True)
    same("queries without keys", dead["dQ"][:, :, :2], np.zeros((1, 4, 2, 6)))


def check_case_lines():
    for path in sorted(KERNELS.rglob("*.tile")):
        name = path.relative_to(ROOT)
        lines = [line[3:].strip() for line in path.read_text().splitlines() if line.startswith("//!")]
        cases = [re.fullmatch(r"(?:\[(\w+)\] )?(reference|inputs|tolerance|test|bench): (.+)", line) for line in lines]
        problems.extend(f"{name}: unreadable case line: {line}" for line, case in zip(lines, cases) if not case)
        kinds = [case[2] for case in cases if case]
        problems.extend(f"{name}: no `//! {kind}:` line" for kind in ("reference", "tolerance", "test") if kind not in kinds)
        kernels = re.findall(r"^(?:@\w+ )*kernel (\w+)", path.read_text(), re.M)
        for case in filter(None, cases):
            if case[1] and case[1] not in kernels:
                problems.append(f"{name}: [{case[1]}] is no kernel of the file")
            if case[2] in ("reference", "inputs"):
                file, function = case[3].split(":")
                if not (path.parent / file).exists() or not hasattr(load(path.parent.name), function):
                    problems.append(f"{name}: there is no {case[3]}")


def main():
    random = np.random.default_rng(7)
    check_formats(random)
    check_products(random)
    check_rows(random)
    check_maps(random)
    check_selections(random)
    check_epilogues(random)
    check_attention(random)
    check_attention_variants(random)
    check_packed_and_paged(random)
    check_backward(random)
    check_case_lines()
    print("\n".join(problems) if problems else "ok")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
