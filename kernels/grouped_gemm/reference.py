"""One float64 product per group."""

import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

from reference_support import decode, encode  # noqa: E402


def grouped_gemm(A, B, offsets, T=None, **_):
    """Rows that belong to no group are not written: NaN here."""
    a, b = decode(A, T), decode(B, T)
    out = np.full((a.shape[0], b.shape[2]), np.nan)
    for g in range(b.shape[0]):
        rows = slice(offsets[g], offsets[g + 1])
        out[rows] = a[rows] @ b[g]
    return {"C": out}


def grouped_gemm_inputs(random, M, G, **_):
    """Offsets of groups that own all rows; the second group is empty where there is one."""
    cuts = np.sort(random.integers(0, M + 1, max(G - 1, 0)))
    offsets = np.concatenate([[0], cuts, [M]])
    if G > 2:
        offsets[2] = offsets[1]
    return {"offsets": encode(offsets, "i32")}
