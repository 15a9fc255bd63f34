"""The largest elements of rows by a stable sort, in float64."""

import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

from reference_support import decode, encode, softmax  # noqa: E402


def topk(X, K=8, SOFTMAX=False, T=None, **_):
    x = decode(X, T)
    x = np.where(np.isnan(x), -np.inf, x)
    indices = np.argsort(-x, axis=1, kind="stable")[:, :K]
    values = np.take_along_axis(x, indices, axis=1)
    return {"values": softmax(values) if SOFTMAX else values, "indices": indices.astype(np.int32)}


def topk_inputs(random, M, N, T="f32", SOFTMAX=False, **_):
    """Few different values, so that there are ties; NaN, infinities, and rows of -inf, whose softmax would be no number."""
    x = np.round(4 * random.standard_normal((M, N))) / 4
    x[random.random((M, N)) < 0.02] = np.nan
    x[random.random((M, N)) < 0.1] = -np.inf
    if not SOFTMAX:
        x[random.random((M, N)) < 0.01] = np.inf
        x[1::4] = -np.inf
    return {"X": encode(x, T)}
