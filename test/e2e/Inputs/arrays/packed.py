import numpy as np

E, U = np.array([1, -2, 7, -8]), np.array([1, 15])


def a(X, **_):
    x, i = np.abs(X.astype(np.int64)) % 16, np.arange(len(X)) % 32
    return {"C": E[x % 4] + U[x % 2], "D": E[i % 4] * U[i % 2]}
