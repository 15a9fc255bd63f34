"""Matrix times vector in float64."""

import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

from reference_support import decode  # noqa: E402


def gemv(a, B, T=None, **_):
    return {"c": np.einsum("nk,k->n", decode(B, T), decode(a, T))}
