"""Convolution in float64."""

import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

from reference_support import decode  # noqa: E402


def conv2d(X, F, bias=None, STRIDE=1, PAD=1, DIL=1, T=None, **_):
    """NHWC, filters [KH, KW, C, OC]; one product for each filter tap."""
    x, f = decode(X, T), decode(F, T)
    kh, kw = f.shape[:2]
    padded = np.pad(x, ((0, 0), (PAD, PAD), (PAD, PAD), (0, 0)))
    oh = (padded.shape[1] - DIL * (kh - 1) - 1) // STRIDE + 1
    ow = (padded.shape[2] - DIL * (kw - 1) - 1) // STRIDE + 1
    y = np.zeros((x.shape[0], oh, ow, f.shape[3]))
    for i in range(kh):
        for j in range(kw):
            rows = padded[:, i * DIL : i * DIL + (oh - 1) * STRIDE + 1 : STRIDE]
            y += rows[:, :, j * DIL : j * DIL + (ow - 1) * STRIDE + 1 : STRIDE] @ f[i, j]
    return {"Y": y if bias is None else y + decode(bias, T)}
