"""Transposition: the elements keep their bits."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

from reference_support import decode  # noqa: E402


def transpose(X, T=None, **_):
    return {"Y": X.T if T in ("i8", "u16") else decode(X, T).T}
