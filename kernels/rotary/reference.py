"""Rotary position embedding as products of complex numbers, in float64."""

import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

from reference_support import decode, encode  # noqa: E402


def turned(first, second, cosines, sines, positions):
    """The pairs (first, second), [B, S, H, D / 2], turned by the angles of their positions: [B, S] or the place in the sequence."""
    rows = np.arange(first.shape[1])[None] if positions is None else positions
    product = (first + 1j * second) * (cosines.astype(np.float64) + 1j * sines)[rows][:, :, None, :]
    return product.real, product.imag


def rope_half(X, cosines, sines, positions=None, T=None, **_):
    first, second = np.split(decode(X, T), 2, axis=3)
    return {"Y": np.concatenate(turned(first, second, cosines, sines, positions), axis=3)}


def rope_interleaved(X, cosines, sines, positions=None, T=None, **_):
    x = decode(X, T)
    pairs = turned(x[..., 0::2], x[..., 1::2], cosines, sines, positions)
    return {"Y": np.stack(pairs, axis=-1).reshape(x.shape)}


def rope_inputs(random, B, S, L, D=128, **_):
    """Tables of the usual frequencies; positions anywhere in them."""
    angles = np.arange(L)[:, None] / 10000.0 ** (np.arange(D // 2) / (D // 2))
    return {
        "cosines": encode(np.cos(angles), "f32"),
        "sines": encode(np.sin(angles), "f32"),
        "positions": encode(random.integers(0, L, (B, S)), "i32"),
    }
