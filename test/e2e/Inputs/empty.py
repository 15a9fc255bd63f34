import numpy as np


def product(M, **rest):
    """B and A are zeros beyond K, and that is all there is of them for K = 0."""
    A, B = (rest[name].astype(np.float64) for name in "AB")
    return {"C": A @ B + 3}


def outside(X, Y, M, L, **rest):
    x = np.zeros((160, 32))
    x[32 : 32 + M] = X
    y = np.zeros((160, 32))
    if L > 1:
        y[:M] = Y[1, :, :32]
    tiles = [x[32 * b : 32 * b + 32] + y[8 * b : 8 * b + 32] + 1 for b in range(4)]
    return {"Z": X, "W": np.stack(tiles)}
