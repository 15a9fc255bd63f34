"""Every other element of four bits."""

import numpy as np


def refused(X, Y, **_):
    def apart(a):
        return np.stack([a & 15, a >> 4], axis=-1).reshape(a.shape[0], -1)

    row, column = np.indices(apart(X).shape)
    return {"Y": np.where((row + column) % 2 == 0, apart(X), apart(Y))}
