"""What the kernels of narrow-steps.tile give, far from the ends of i32."""
import numpy as np


def wrapped(value):
    return (value + 2**31) % 2**32 - 2**31


def hits(kind, M, N, a, b):
    row, col = np.arange(M, dtype=np.int64)[:, None], np.arange(N, dtype=np.int64)[None, :]
    above = col > wrapped(a + row)
    return [
        above,
        (col >= N) | above,
        above | (col < wrapped(b + row)),
        (col >= wrapped(wrapped(a + 64) + row)) | (col <= wrapped(b + row)),
        row + col > a,
        (col > np.maximum(wrapped(a + row), b)) & (col > 3),
        wrapped(col + b) > wrapped(a - row),
        np.minimum(col, b) > wrapped(wrapped(a - 1) + row),
    ][kind]


def weights(A, B, V, M, N, a, b, on, KIND, BN, T, **_):
    # Columns behind N in the last step: their rows of B and V are zeros, so they add nothing.
    scores = A.astype(np.float64) @ B.astype(np.float64).T
    if KIND == 3:
        scores = np.abs(scores) - 1
    if on:
        scores = np.where(hits(KIND, M, N, a, b), np.arange(N) // BN * 0.125 + 0.25, scores)
    return {"C": (scores * 0.125 + 0.5) @ V.astype(np.float64)}


def counts(A, B, M, N, a, **_):
    # A step's columns behind N are masked by the same rule as others, and are 0 otherwise.
    columns = -(-N // 128) * 128
    scores = np.zeros((M, columns), np.int64)
    scores[:, :N] = A.astype(np.int64) @ B.astype(np.int64).T
    row, col = np.arange(M, dtype=np.int64)[:, None], np.arange(columns, dtype=np.int64)[None, :]
    return {"C": np.where((a != 5) & (col > wrapped(wrapped(a + row // 128 * 128) + row % 128)), 7, scores).sum(axis=1)}
