"""4-bit weights, formed in T as the kernel forms them, then a float64 product."""

import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

from reference_support import decode, rounded, unpack_u4  # noqa: E402


def w4a16_gemm(A, Wq, scales, zeros, GROUP=128, T="f16", **_):
    """Subtraction and product round to T, each once."""
    group = np.arange(A.shape[1]) // GROUP
    difference = rounded(unpack_u4(Wq) - decode(zeros, T)[:, group], T)
    weights = rounded(difference * decode(scales, T)[:, group], T)
    return {"C": decode(A, T) @ weights.T}
