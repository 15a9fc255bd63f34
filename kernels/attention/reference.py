"""Attention in float64."""

import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

from reference_support import decode, encode, softmax  # noqa: E402


def flash_attention(Q, K, V, scale, CAUSAL=False, T=None, **_):
    """A row that sees no key gives O = 0 and LSE = -inf."""
    q, k, v = (decode(x, T) for x in (Q, K, V))
    group = q.shape[1] // k.shape[1]
    k, v = np.repeat(k, group, axis=1), np.repeat(v, group, axis=1)
    scores = q @ k.swapaxes(2, 3) * scale
    if CAUSAL:  # aligned to the last row and column
        rows, columns = scores.shape[2:]
        hidden = np.arange(columns)[None, :] > np.arange(rows)[:, None] + columns - rows
        scores = np.where(hidden, -np.inf, scores)
    top = np.max(scores, axis=-1, initial=-np.inf)
    base = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        lse = base + np.log(np.exp(scores - base[..., None]).sum(axis=-1))
    return {"O": softmax(scores) @ v, "LSE": lse}


def mla_decode(Q, KV, seqlens, scale, DV=512, T=None, **_):
    """Attention over the first seqlens[b] rows of the cache; V is the first DV columns of a row."""
    q, cache = decode(Q, T), decode(KV, T)
    out = np.zeros((*q.shape[:2], DV))
    for b, length in enumerate(np.clip(seqlens, 0, cache.shape[1])):
        rows = cache[b, :length]
        out[b] = softmax(q[b] @ rows.T * scale) @ rows[:, :DV]
    return {"O": out}


def mla_decode_inputs(random, B, SK, DV=512, DR=64, T="bf16", **_):
    """Lengths from 0 to SK, both among them where there is room. What lies behind a length is NaN."""
    seqlens = random.integers(0, SK + 1, B)
    seqlens[0] = SK
    if B > 2:
        seqlens[1] = 0
    cache = random.standard_normal((B, SK, DV + DR))
    cache[np.arange(SK) >= seqlens[:, None]] = np.nan
    return {"KV": encode(cache, T), "seqlens": encode(seqlens, "i32")}
