"""A product of 8-bit integers with a scale for each row of A and of B."""

import numpy as np


def int8_gemm(A, B, a_scale, b_scale, **_):
    """B stored [N, K]; the sums are exact."""
    sums = A.astype(np.int64) @ B.astype(np.int64).T
    return {"C": a_scale.astype(np.float64)[:, None] * sums * b_scale.astype(np.float64)[None, :]}
