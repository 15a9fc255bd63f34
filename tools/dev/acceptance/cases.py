"""What is run on a GPU: cases of all shipped kernels, and what is timed.

The `//! test:` lines of the kernels are cases by themselves, so many combinations of each as `prepare --per-line` says. LINES adds
what is too large for the processor, or too much for each day: lists of values of which each pair occurs together at least once.
"""
import itertools

ATOMICS = "../test/e2e/Inputs/atomics/"
ATTENTION = "attention/flash_attention.tile"
NORM = "norm/softmax_rmsnorm.tile"
SIZES = ["1", "63", "64", "65", "1000", "4096"]
# Extents of a convolution's output (docs/language.md has the division).
OUT = "OH = (H + 2 * PAD - DIL * (KH - 1) - 1) / STRIDE + 1; OW = (W + 2 * PAD - DIL * (KW - 1) - 1) / STRIDE + 1"
# With tiles that fit shared memory where heads are wide.
HEADS = [
    "D = 64; scale = 0.125",
    "D = 80; scale = 0.1118",
    "D = 96; scale = 0.10206",
    "D = 128; scale = 0.088388",
    "D = 192; BN = 64; scale = 0.072169",
    "D = 256; BN = 64; scale = 0.0625",
]
GROUPS = ["H, HKV = 2", "H = 4; HKV = 1", "H = 8; HKV = 1"]
TYPES = ["T = f16", "T = bf16"]
CAUSAL = ["CAUSAL = false", "CAUSAL = true"]
GEMMS = {"gemm": TYPES, "gemm_nt": TYPES, "gemm_tn": TYPES, "gemm_tt": TYPES, "gemm_e4m3": ["TC = bf16"]}
# Of gemm where no row starts at a multiple of 16 bytes; the first are the defaults.
TILES = [
    {},
    {"BM": 128, "BN": 128, "STAGES": 3},
    {"BM": 128, "BN": 128, "BK": 32, "STAGES": 4},
    {"BM": 128, "BN": 192, "STAGES": 4},
    {"BM": 256, "BN": 128, "STAGES": 4},
    {"BM": 128, "BN": 256, "BK": 32, "STAGES": 4},
    {"BM": 128, "BN": 256, "BK": 128, "STAGES": 2},
    {"BM": 64, "BN": 256, "STAGES": 4, "THREADS": 128},
    {"BM": 128, "BN": 128, "STAGES": 3, "THREADS": 128},
]


def each(name, values):
    return [f"{name} = {value}" for value in values]


def gain(missing, picks, k, value):
    """How many of the missing pairs this value of list k makes with what is picked."""
    return sum(((o, p, k, value) if o < k else (k, value, o, p)) in missing for o, p in picks.items())


def pairwise(*choices):
    """Few combinations of one text of each list, such that each two texts of two lists are together in one of them."""
    if len(choices) == 1:
        yield from choices[0]
    lists = list(itertools.combinations(range(len(choices)), 2))
    missing = {(i, a, j, b) for i, j in lists for a in range(len(choices[i])) for b in range(len(choices[j]))}
    while missing:
        i, a, j, b = min(missing)
        picks = {i: a, j: b}
        for k in range(len(choices)):
            if k not in picks:
                picks[k] = max(range(len(choices[k])), key=lambda value: gain(missing, picks, k, value))  # noqa: B023
        missing -= {(p, picks[p], q, picks[q]) for p, q in lists}
        yield "; ".join(choices[k][picks[k]] for k in range(len(choices)))


# (file, kernel, what each line begins with, lists of which pairs are formed)
PAIRS = [
    (ATTENTION, "flash_attention", "B = 1", [each("S", SIZES), each("SK", SIZES), HEADS, GROUPS, TYPES, CAUSAL]),
    # Rows that see no key: whole blocks of them, and parts of blocks.
    (ATTENTION, "flash_attention", "B = 2; H = 4; HKV = 2; CAUSAL = true", [each("S", [129, 384, 1000]), each("SK", [1, 64, 128]), HEADS, TYPES]),
    # Blocks that load for each other, where there are as many tiles.
    (ATTENTION, "flash_attention", "B = 2; H = 4; HKV = 2", [each("S", [256, 500, 1000]), each("SK", [1, 128, 1000]), HEADS, TYPES, each("CLUSTER", [2, 4])]),
    # Lengths from 0 to SK, with NaN behind each; more parts than there are tiles, too.
    (
        "attention/mla_decode.tile",
        "mla_decode",
        "B = 4; scale = 0.041667",
        [each("SK", [1, 64, 65, 1000, 4095, 8192]), each("splits", [1, 2, 3, 5, 8, 16]), each("H", [16, 64, 128]), TYPES],
    ),
    # Most groups are empty where there are more than rows.
    ("grouped_gemm/grouped_gemm.tile", "grouped_gemm", "", [each("M", [1, 129, 2000]), each("G", [16, 64]), each("K", [7, 264]), each("N", [130, 512]), TYPES]),
    (
        "conv/conv2d.tile",
        "conv2d",
        f"N = 2; H = 19; W = 23; KW = 3; bias = normal; {{}}; {OUT}",
        [each("STRIDE", [1, 2, 3]), each("PAD", [0, 1, 3]), each("DIL", [1, 2, 3]), each("KH", [1, 3, 5]), each("C", [3, 64, 72]), each("OC", [8, 130]), TYPES],
    ),
    (
        "varlen_attention/varlen_attention.tile",
        "varlen_attention",
        "B = 7; H = 4; scale = 0.088388",
        [each("TQ", [7, 1000, 4096]), each("TK", [5, 1000, 4096]), each("HKV", [1, 4]), CAUSAL, TYPES],
    ),
    (
        "window_attention/window_attention.tile",
        "window_attention",
        "B = 1; H = 4; scale = 0.088388; softcap = 5.0",
        [each("S", [64, 1000, 4096]), each("SK", [63, 1000, 4096]), each("window", [1, 128, 4096]), each("HKV", [1, 4]), TYPES],
    ),
    (
        "paged_attention/paged_attention.tile",
        "paged_attention",
        "B = 6; H = 16; PAGES = 300; scale = 0.088388",
        [each("MAX", [1, 63, 256]), each("splits", [1, 4, 16]), each("HKV", [2, 16]), TYPES],
    ),
    (
        "attention_backward/attention_backward.tile",
        "attention_backward",
        "B = 1; H = 4; HKV = 2; scale = 0.088388",
        [each("S", [63, 1000]), each("SK", [65, 1000]), CAUSAL, TYPES],
    ),
    ("linear_attention/linear_attention.tile", "linear_attention", "B = 1; H = 2; scale = 0.125; S = 2000", [each("DK", [64, 128]), each("DV", [64, 128]), TYPES]),
    *[(f"gemm/{name}.tile", name, "M = 4097; N = 4095; K = 4093", [types]) for name, types in GEMMS.items()],
    # The tiles of timed.py must be right, too.
    ("gemm/gemm.tile", "gemm", "M = 1023; N = 1025; K = 519", [["; ".join(f"{name} = {value}" for name, value in tile.items()) for tile in TILES if tile]]),
]


def line(begin, choice):
    return begin.format(choice) if "{}" in begin else "; ".join(filter(None, (begin, choice)))


# (file, kernel, lines)
LINES = [
    *[(file, kernel, [line(begin, choice) for choice in pairwise(*lists)]) for file, kernel, begin, lists in PAIRS],
    ("splitk_gemm/splitk_gemm.tile", "splitk_gemm", ["M = 64; N = 1000; K = 16384; splits = 16; T = f16"]),
    (NORM, "softmax_long", ["M = 300; N = 65536; T = f16", "M = 5; N = 100001; T = bf16"]),
    (NORM, "softmax_wide", ["M = 700; N = 65536; T = f16", "M = 133; N = 65536; T = bf16"]),
    ("cross_entropy/cross_entropy.tile", "cross_entropy", ["M = 300; N = 65536; ignore_index = 3; T = f16"]),
]

# Strides of `strided` tensors, in order the batch's and the rows': parts of larger tensors, and one matrix for the whole batch.
STRIDED = [
    (
        "batched_gemm/batched_gemm.tile",
        "strided_batched_gemm",
        f"L = 3; M = {m}; N = {n}; K = {k}; T = {t}",
        {name: (0 if name in same else rows * pitch, pitch) for name, rows, pitch in (("A", m, a), ("B", k, b))},
    )
    for m, n, k, a, b, t in ((136, 264, 200, 200, 264, "f16"), (129, 130, 72, 80, 136, "bf16"), (65, 127, 63, 65, 130, "f16"))
    for same in ("A", "B", "AB", "")
]

# What has no numpy reference: (file, kernel, parameters, dimensions, arguments, outputs, tolerance), compared with the cpu target.
ELEMENTS = ["sums", "low", "high", "next", "taken", "last"]
ON_CPU = [
    *[(ATOMICS + "elements.tile", "elements", {"T": t}, {"N": 1000}, {}, ELEMENTS, 1e-2) for t in ("i32", "f32", "f64", "u64")],
    *[(ATOMICS + "bits.tile", "bits", {"T": t}, {"N": 500}, {"locks": "0"}, ["words", "locks", "winners"], 0) for t in ("u32", "i64")],
    # Of floats one block, so that a second run gives the same bits; many of integers.
    *[(ATOMICS + "tiles.tile", "tiles", {"T": t}, {"M": 60, "N": 60, "K": 60}, {"E": "0"}, ["C", "D", "E"], 2e-2) for t in ("f32", "f16", "bf16", "f64")],
    (ATOMICS + "tiles.tile", "tiles", {"T": "i32", "A": "i8", "P": "i32"}, {"M": 300, "N": 264, "K": 520}, {}, ["C", "D", "E"], 0),
    (ATOMICS + "last-block.tile", "last_block", {}, {"M": 7, "N": 5000}, {"arrived": "0", "parts": "0"}, ["parts", "arrived", "Y"], 1e-3),
]
