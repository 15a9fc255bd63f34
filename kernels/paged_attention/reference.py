"""Decoding over a paged cache in float64."""

import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

from reference_support import decode, encode, softmax  # noqa: E402


def paged_attention(Q, K, V, pages, lengths, scale, T=None, **_):
    """The pages of a sequence one behind the other, as many tokens as its length says."""
    q, k, v = (decode(x, T) for x in (Q, K, V))
    out, group = np.zeros(q.shape), q.shape[1] // k.shape[2]
    for b, length in enumerate(lengths):
        keys, values = (np.concatenate(cache[pages[b]])[:length] for cache in (k, v))
        for h in range(q.shape[1]):
            out[b, h] = softmax(q[b, h] @ keys[:, h // group].T * scale) @ values[:, h // group]
    return {"O": out}


def paged_attention_inputs(random, B, HKV, MAX, PAGES, PAGE=16, D=128, T="f16", **_):
    """Lengths from 0 to MAX pages, both among them where there is room; pages in any order, some shared. What is no token is NaN."""
    lengths, pages = random.integers(0, MAX * PAGE + 1, B), random.integers(0, PAGES, (B, MAX))
    lengths[0] = MAX * PAGE
    if B > 2:
        lengths[1] = 0
    is_token = np.zeros((PAGES, PAGE), bool)
    for b in range(B):
        token = np.arange(lengths[b])
        is_token[pages[b, token // PAGE], token % PAGE] = True
    caches = {name: random.standard_normal((PAGES, PAGE, HKV, D)) for name in "KV"}
    for cache in caches.values():
        cache[~is_token] = np.nan
    arrays = {name: encode(cache, T) for name, cache in caches.items()}
    return {**arrays, "pages": encode(pages, "i32"), "lengths": encode(lengths, "i32")}
