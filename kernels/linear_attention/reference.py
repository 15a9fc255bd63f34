"""Causal linear attention as its recurrence, in float64."""

import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

from reference_support import decode  # noqa: E402


def linear_attention(Q, K, V, scale, initial=None, T=None, **_):
    """state[t] = state[t - 1] + K[t]^T V[t]; O[t] = scale * Q[t] * state[t]."""
    q, k, v = (decode(x, T) for x in (Q, K, V))
    batches, length, heads = q.shape[:3]
    state = np.zeros((batches, heads, q.shape[3], v.shape[3]))
    if initial is not None:
        state += initial
    out = np.empty(v.shape)
    for t in range(length):
        state += k[:, t, :, :, None] * v[:, t, :, None, :]
        out[:, t] = scale * np.einsum("bhk,bhkv->bhv", q[:, t], state)
    return {"O": out, "final": state}
