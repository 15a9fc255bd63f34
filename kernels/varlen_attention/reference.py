"""Attention over packed sequences in float64."""

import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

from reference_support import decode, encode, softmax  # noqa: E402


def varlen_attention(Q, K, V, cu_q, cu_k, scale, CAUSAL=True, T=None, **_):
    """One sequence and head after the other. Rows of no sequence are not written: NaN here. No key: O = 0, LSE = -inf."""
    q, k, v = (decode(x, T) for x in (Q, K, V))
    group = q.shape[1] // k.shape[1]
    out, lse = np.full(q.shape, np.nan), np.full(q.shape[1::-1], np.nan)
    for b in range(len(cu_q) - 1):
        queries, keys = slice(cu_q[b], cu_q[b + 1]), slice(cu_k[b], cu_k[b + 1])
        for h in range(q.shape[1]):
            scores = q[queries, h] @ k[keys, h // group].T * scale
            if CAUSAL:  # aligned to the last row and column
                rows, columns = scores.shape
                scores = np.where(np.tri(rows, columns, columns - rows) == 1, scores, -np.inf)
            out[queries, h] = softmax(scores) @ v[keys, h // group]
            with np.errstate(divide="ignore"):
                lse[h, queries] = np.log(np.exp(scores).sum(axis=-1))
    return {"O": out, "LSE": lse}


def varlen_attention_inputs(random, B, TQ, TK, **_):
    """Ends of sequences that own all rows; where there is room, one has no queries and another no keys."""
    cuts = [np.concatenate([[0], np.sort(random.integers(0, total + 1, B - 1)), [total]]) for total in (TQ, TK)]
    if B > 2:
        cuts[0][2] = cuts[0][1]
    if B > 3:
        cuts[1][4] = cuts[1][3]
    return {"cu_q": encode(cuts[0], "i32"), "cu_k": encode(cuts[1], "i32")}
