"""A residual sum and the norm of its rows, in float64."""

import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

from reference_support import decode, rounded  # noqa: E402


def add_rmsnorm(X, R, weight, eps, T="bf16", **_):
    """The norm is taken of the sum as it is stored, rounded to T."""
    s = rounded(decode(X, T) + decode(R, T), T)
    return {"S": s, "Y": s / np.sqrt((s**2).mean(axis=1, keepdims=True) + eps) * decode(weight, T)}
