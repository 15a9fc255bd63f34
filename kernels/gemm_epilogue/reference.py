"""Products and what follows them, in float64."""

import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

from reference_support import decode  # noqa: E402


def silu(x):
    return x / (1 + np.exp(-x))


def gelu(x):
    """By the usual tanh approximation, with the constants of the kernel."""
    return 0.5 * x * (1 + np.tanh(0.797885 * (x + 0.044715 * x**3)))


ACTIVATIONS = (lambda x: x, lambda x: np.maximum(x, 0.0), gelu, silu)


def gemm_epilogue(A, B, bias=None, residual=None, ACT=0, T=None, **_):
    """B stored [N, K]; the residual is added after the activation."""
    product = decode(A, T) @ decode(B, T).T
    if bias is not None:
        product = product + decode(bias, T)
    result = ACTIVATIONS[ACT](product)
    return {"C": result if residual is None else result + decode(residual, T)}


def gemm_swiglu(A, G, U, T=None, **_):
    a = decode(A, T)
    return {"C": silu(a @ decode(G, T).T) * (a @ decode(U, T).T)}
