"""Causal attention over a window with capped scores, in float64."""

import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

from reference_support import decode, softmax  # noqa: E402


def window_attention(Q, K, V, scale, softcap, window, CAP=True, T=None, **_):
    """Row i of S sees the keys p - window + 1 to p, where p = i + SK - S; a row that sees none gives 0."""
    q, k, v = (decode(x, T) for x in (Q, K, V))
    group = q.shape[1] // k.shape[1]
    k, v = np.repeat(k, group, axis=1), np.repeat(v, group, axis=1)
    scores = q @ k.swapaxes(2, 3) * scale
    if CAP:
        scores = softcap * np.tanh(scores / softcap)
    rows, columns = scores.shape[2:]
    behind = np.arange(rows)[:, None] + columns - rows - np.arange(columns)[None, :]
    scores = np.where((behind < 0) | (behind >= window), -np.inf, scores)
    return {"O": softmax(scores) @ v}
