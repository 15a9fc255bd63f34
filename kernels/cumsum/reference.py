"""Running sums of rows in float64, of integers in their own type."""

import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

from reference_support import decode  # noqa: E402


def cumsum(X, REVERSE=False, EXCLUSIVE=False, T=None, **_):
    x = X.astype(np.int64) if T == "i32" else decode(X, T)
    if REVERSE:
        x = x[:, ::-1]
    sums = np.cumsum(x, axis=1)
    if EXCLUSIVE:
        sums = sums - x
    return {"Y": sums[:, ::-1] if REVERSE else sums}
