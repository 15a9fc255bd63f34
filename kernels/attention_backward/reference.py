"""Gradients of attention in float64."""

import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

from reference_support import decode, encode, softmax  # noqa: E402


def _weights(q, k, scale, causal):
    """softmax(scale * Q K^T) with the causal mask at the last row and column, and the logarithm of each row's sum."""
    scores = q @ k.swapaxes(2, 3) * scale
    if causal:
        rows, columns = scores.shape[2:]
        scores = np.where(np.tri(rows, columns, columns - rows) == 1, scores, -np.inf)
    top = np.max(scores, axis=-1, keepdims=True, initial=-np.inf)
    base = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        return softmax(scores), base[..., 0] + np.log(np.exp(scores - base).sum(axis=-1))


def attention_backward(Q, K, V, dO, scale, CAUSAL=False, T=None, **_):
    """O and LSE are not looked at: the weights come from Q and K, and the row sums of O * dO are those of P * dP."""
    q, k, v, grad = (decode(x, T) for x in (Q, K, V, dO))
    heads, group = k.shape[1], q.shape[1] // k.shape[1]
    k, v = np.repeat(k, group, axis=1), np.repeat(v, group, axis=1)
    p, _ = _weights(q, k, scale, CAUSAL)
    dp = grad @ v.swapaxes(2, 3)
    ds = scale * p * (dp - (p * dp).sum(axis=-1, keepdims=True))

    def over_group(x):
        return x.reshape(x.shape[0], heads, group, *x.shape[2:]).sum(axis=2)

    return {
        "dQ": ds @ k,
        "dK": over_group(ds.swapaxes(2, 3) @ q),
        "dV": over_group(p.swapaxes(2, 3) @ grad),
    }


def attention_backward_inputs(random, B, H, HKV, S, SK, scale, D=128, CAUSAL=False, T="f16", **_):
    """What a forward pass leaves behind: O and LSE belong to Q, K and V. No key: O = 0, LSE = -inf."""
    shapes = {"Q": (B, H, S, D), "K": (B, HKV, SK, D), "V": (B, HKV, SK, D)}
    drawn = {name: encode(random.standard_normal(shape), T) for name, shape in shapes.items()}
    q, k, v = (decode(drawn[name], T) for name in "QKV")
    p, lse = _weights(q, np.repeat(k, H // HKV, axis=1), scale, CAUSAL)
    out = p @ np.repeat(v, H // HKV, axis=1)
    return {**drawn, "O": encode(out, T), "LSE": encode(lse, "f32")}
