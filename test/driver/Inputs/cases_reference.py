import numpy as np


def scale(X, a, BIAS=None, T=None, **_):
    y = a * X.astype(np.float64)
    return {"Y": y if BIAS is None else y + BIAS}


def count(X, Y, N):
    assert X.shape == Y.shape == (N,)
    return {"Y": X + Y}


def count_inputs(random, N, **_):
    return {"X": random.integers(-5, 5, N).astype(np.int32)}


def wrong(X, a, **_):
    return {"Y": a * X.astype(np.float64) + 1}


def broken(X, **_):
    return {"Z": X}
