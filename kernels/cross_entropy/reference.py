"""Cross-entropy of rows of logits in float64."""

import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

from reference_support import decode, encode  # noqa: E402


def cross_entropy(X, labels, ignore_index, T=None, **_):
    x = decode(X, T)
    top = x.max(axis=1, keepdims=True)
    lse = top[:, 0] + np.log(np.exp(x - top).sum(axis=1))
    ignored = labels == ignore_index
    chosen = x[np.arange(len(x)), np.where(ignored, 0, labels)]
    return {"loss": np.where(ignored, 0.0, lse - chosen), "lse": lse}


def cross_entropy_inputs(random, M, N, ignore_index, **_):
    """Every third label is ignored, where there are three."""
    labels = random.integers(0, N, M)
    labels[2::3] = ignore_index
    return {"labels": encode(labels, "i32")}
