"""What the programs of the lessons compute, in float64."""

import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "kernels"))

from reference_support import decode, softmax as softmax_rows  # noqa: E402


def axpy(X, Y, a, T=None, **_):
    return {"Y": a * decode(X, T) + decode(Y, T)}


def silu_mul(X, lengths, Y, T=None, **_):
    """Rows from the length on keep what they hold."""
    gate, up = np.split(decode(X, T), 2, axis=2)
    inside = np.arange(X.shape[1])[None, :, None] < lengths[:, None, None]
    return {"Y": np.where(inside, gate / (1 + np.exp(-gate)) * up, decode(Y, T))}


def softmax(X, T=None, **_):
    return {"Y": softmax_rows(decode(X, T))}


def rmsnorm(X, weight, eps, T=None, **_):
    x = decode(X, T)
    return {"Y": x / np.sqrt((x**2).mean(axis=1, keepdims=True) + eps) * decode(weight, T)}


def blur(X, R, T=None, **_):
    window = 2 * R + 1
    return {"Y": np.convolve(np.pad(decode(X, T), R), np.ones(window) / window, "valid")}


def gemm(A, B, T=None, **_):
    return {"C": decode(A, T) @ decode(B, T)}


def linear(X, W, bias=None, residual=None, T=None, **_):
    y = decode(X, T) @ decode(W, T).T
    if bias is not None:
        y = y + decode(bias, T)
    y = 0.5 * y * (1 + np.tanh(0.797885 * (y + 0.044715 * y**3)))
    return {"Y": y if residual is None else y + decode(residual, T)}


def linear_i8(X, W, x_scale, w_scale, **_):
    return {"Y": (X.astype(np.float64) @ W.astype(np.float64).T) * x_scale[:, None] * w_scale}


def attention(Q, K, V, scale, CAUSAL=False, T=None, **_):
    q, k, v = (decode(x, T) for x in (Q, K, V))
    scores = scale * q @ np.swapaxes(k, -1, -2)
    if CAUSAL:
        scores = np.where(np.tri(Q.shape[2], dtype=bool), scores, -np.inf)
    return {"O": softmax_rows(scores) @ v}
