"""What is timed: (name, file, kernel, parameters, dimensions, arguments, torch's kernel of peers.py or None). AUTO among the parameters: the compiler chooses
the rest, as for the symbols that are shipped."""
from cases import ATTENTION, NORM, TILES

SCALE = {"scale": "0.088388"}
LONG = {"B": 2, "H": 32, "HKV": 32, "S": 2048, "SK": 2048}
LONGER = {"B": 1, "H": 32, "HKV": 32, "S": 16384, "SK": 16384}
MANY = {"B": 4, "H": 32, "HKV": 32, "S": 4096, "SK": 4096}
RAGGED = {"M": 4097, "N": 4095, "K": 4093}
# Groups of one length, and of many: both have 16384 rows.
EVEN = [1024 * i for i in range(17)]
UNEVEN = [0, 3000, 3000, 3127, 4200, 6247, 6375, 7999, 8000, 9024, 12000, 12100, 13000, 14500, 15000, 16255, 16384]
PACKED = [2048 * i for i in range(17)]
EQUAL = {"B": 16, "TQ": 32768, "TK": 32768, "H": 16, "HKV": 16}
LENGTHS = {**SCALE, "cu_q": PACKED, "cu_k": PACKED, "LSE": "none"}


def cube(n):
    return {"M": n, "N": n, "K": n}


def tile_name(tile):
    return ", ".join(f"{name} = {value}" for name, value in tile.items()) or "defaults"


def attention_by_auto(size, dims, causal):
    name = f"flash_attention, auto, D = {size}{', causal' if causal else ''}"
    return name, ATTENTION, "flash_attention", {"D": size, **causal, **AUTO}, dims, {"scale": str(size**-0.5), "LSE": "none"}, "causal attention" if causal else "attention"


GEMM = "gemm/gemm.tile"
EPILOGUE = "gemm_epilogue/gemm_epilogue.tile"
GROUPED_GEMM = ("grouped_gemm/grouped_gemm.tile", "grouped_gemm")
BACKWARD = "attention_backward/attention_backward.tile"
LABELS = {"labels": "integers(0,65535)", "ignore_index": "-100", "lse": "none"}
WINDOW = {**SCALE, "window": "1024", "softcap": "5"}
CAUSAL = {"CAUSAL": "true"}
AUTO = {"auto": None}
GROUPED = {"M": 16384, "G": 16, "K": 4096, "N": 4096}
BENCH = [
    ("layernorm", "norm/layernorm.tile", "layernorm", AUTO, {"M": 8192, "N": 8192}, {"eps": "1e-5"}, "layer_norm"),
    ("softmax", NORM, "softmax", AUTO, {"M": 8192, "N": 8192}, {}, "softmax"),
    ("rmsnorm", NORM, "rmsnorm", {"T": "f16", **AUTO}, {"M": 8192, "N": 8192}, {"eps": "1e-5", "residual": "none"}, "rms_norm"),
    ("map_gelu", "elementwise/elementwise.tile", "map_gelu", {}, {"N": 8192 * 8192}, {}, "gelu"),
    ("softmax_long", NORM, "softmax_long", {}, {"M": 4096, "N": 65536}, {}, "softmax"),
    ("softmax_wide", NORM, "softmax_wide", {}, {"M": 4096, "N": 65536}, {}, "softmax"),
    ("cumsum, f32", "cumsum/cumsum.tile", "cumsum", {}, {"M": 8192, "N": 8192}, {}, "cumsum"),
    ("cross_entropy", "cross_entropy/cross_entropy.tile", "cross_entropy", {"T": "f16"}, {"M": 4096, "N": 65536}, LABELS, "cross_entropy"),
    *[("gemv", "gemv/gemv.tile", "gemv", AUTO, {"N": n, "K": k}, {}, "gemv") for n, k in ((7168, 16384), (18432, 7168), (28672, 8192), (57344, 7168))],
    *[(f"transpose, {t}", "transpose/transpose.tile", "transpose", {"T": t}, {"M": 8192, "N": 8192}, {}, f"{t} transpose") for t in ("f16", "f32")],
    ("add_rmsnorm", "add_rmsnorm/add_rmsnorm.tile", "add_rmsnorm", {"T": "f16", **AUTO}, {"M": 8192, "N": 8192}, {"eps": "1e-6"}, "add_rms_norm"),
    ("topk, K = 8, f32", "topk/topk.tile", "topk", {}, {"M": 65536, "N": 256}, {}, "topk"),
    ("w4a16_gemm, decoding", "w4a16_gemm/w4a16_gemm.tile", "w4a16_gemm", {"BM": 16}, {"M": 16, "N": 8192, "K": 8192}, {"zeros": "integers(0, 15)"}, "linear"),
    ("w4a16_gemm", "w4a16_gemm/w4a16_gemm.tile", "w4a16_gemm", {}, {"M": 64, "N": 8192, "K": 8192}, {"zeros": "integers(0, 15)"}, "linear"),
    ("int8_gemm", "int8_gemm/int8_gemm.tile", "int8_gemm", AUTO, cube(4096), {}, "int8 matmul"),
    ("batched_gemm", "batched_gemm/batched_gemm.tile", "batched_gemm", AUTO, {"L": 16, **cube(2048)}, {}, "batched matmul"),
    ("gemm_epilogue, silu", EPILOGUE, "gemm_epilogue", {"ACT": 3, **AUTO}, cube(4096), {"bias": "normal", "residual": "normal"}, "silu linear"),
    ("gemm_swiglu", EPILOGUE, "gemm_swiglu", AUTO, cube(4096), {}, "swiglu"),
    *[("gemm", GEMM, "gemm", AUTO, cube(n), {}, "matmul") for n in (4096, 8192)],
    *[(f"gemm, {tile_name(tile)}", GEMM, "gemm", tile, RAGGED, {}, "matmul") for tile in TILES],
    # The same operations dense and by groups.
    ("gemm, dense", GEMM, "gemm", AUTO, {"M": 16384, "N": 4096, "K": 4096}, {}, "matmul"),
    ("grouped_gemm, f16, equal groups", *GROUPED_GEMM, {"T": "f16", **AUTO}, GROUPED, {"offsets": EVEN}, "matmul"),
    ("grouped_gemm, f16, unequal groups", *GROUPED_GEMM, {"T": "f16", **AUTO}, GROUPED, {"offsets": UNEVEN}, "matmul"),
    ("grouped_gemm, f16, BN = 256", *GROUPED_GEMM, {"T": "f16", "BN": 256}, GROUPED, {"offsets": EVEN}, "matmul"),
    *[attention_by_auto(size, dims, causal) for size, dims in ((128, LONG), (128, LONGER), (64, MANY)) for causal in ({}, CAUSAL)],
    *[
        (f"flash_attention, {tile_name(tile)}", ATTENTION, "flash_attention", tile, dims, {**SCALE, "LSE": "none"}, "attention")
        for tile, dims in (({}, LONG), ({"BN": 160, "CLUSTER": 2}, LONGER))
    ],
    ("flash_attention, causal", ATTENTION, "flash_attention", CAUSAL, LONG, {**SCALE, "LSE": "none"}, "causal attention"),
    ("attention_backward", BACKWARD, "attention_backward", {}, LONG, SCALE, "attention backward"),
    ("attention_backward, causal", BACKWARD, "attention_backward", CAUSAL, LONG, SCALE, "causal attention backward"),
    ("window_attention, 1024 keys", "window_attention/window_attention.tile", "window_attention", {}, {**LONG, "S": 4096, "SK": 4096}, WINDOW, "causal attention"),
    *[
        (f"mla_decode, {splits} splits", "attention/mla_decode.tile", "mla_decode", {}, {"B": b, "H": h, "SK": 4096}, {"scale": "0.041667", "splits": str(splits), "seqlens": [4096] * b}, None)
        for b, h, splits in ((128, 128, 1), (32, 128, 2), (1, 128, 32), (128, 16, 1))
    ],
    ("varlen_attention, causal", "varlen_attention/varlen_attention.tile", "varlen_attention", {}, EQUAL, LENGTHS, "packed causal attention"),
]
# What the memory alone takes: of kernels that write as much as they read torch's copy of their tensor, whose elements have these
# bytes; of those that only read load_only.tile over f16 with these dimensions.
COPIES = {"layernorm": 2, "softmax": 2, "softmax_long": 2, "softmax_wide": 2, "rmsnorm": 2, "map_gelu": 2, "cumsum": 4, "transpose": 2}
LOADS = {"gemv": ("N", "K"), "cross_entropy": ("M", "N")}
