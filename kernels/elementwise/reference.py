"""Element-wise maps in float64."""

import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

from reference_support import decode  # noqa: E402


def map_gelu(X, T=None, **_):
    """GELU by its usual tanh approximation, with the constants of the kernel."""
    x = decode(X, T)
    return {"Y": 0.5 * x * (1.0 + np.tanh(0.797885 * (x + 0.044715 * x**3)))}


def map_relu(X, T=None, **_):
    return {"Y": np.maximum(decode(X, T), 0.0)}
