"""Normalisations of rows, and argmax, in float64."""

import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

from reference_support import decode, softmax as softmax_rows  # noqa: E402


def layernorm(X, gamma, beta, eps, T=None, **_):
    x = decode(X, T)
    centred = x - x.mean(axis=1, keepdims=True)
    variance = (centred**2).mean(axis=1, keepdims=True)
    return {"Y": centred / np.sqrt(variance + eps) * decode(gamma, T) + decode(beta, T)}


def softmax(X, T=None, **_):
    """A row that is all -inf gives NaN, as the kernel does."""
    x = decode(X, T)
    return {"Y": np.where(np.all(x == -np.inf, axis=1, keepdims=True), np.nan, softmax_rows(x))}


def rmsnorm(X, weight, eps, residual=None, T=None, **_):
    """The norm is taken of the unrounded sum; `residual` gets the sum."""
    x = decode(X, T)
    if residual is not None:
        x = x + decode(residual, T)
    out = {"Y": x / np.sqrt((x**2).mean(axis=1, keepdims=True) + eps) * decode(weight, T)}
    if residual is not None:
        out["residual"] = x
    return out


def argmax(X, T=None, **_):
    """The first one among equals."""
    x = decode(X, T)
    indices = np.argmax(x, axis=1)
    return {"values": np.take_along_axis(x, indices[:, None], axis=1)[:, 0], "indices": indices.astype(np.int32)}
