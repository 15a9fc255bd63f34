"""What kernel `masks` of merged-masks.tile gives: integers of Python, which have no ends."""
import numpy as np


def unsigned(value):
    return value & 0xFFFFFFFF


def masks(X, M, N, a, b, **_):
    Y = np.empty((8, M, N), np.float32)
    for row in range(M):
        for col in range(N):
            i, j = row % 16, col % 32
            hits = [
                col >= N or col > row + 2,
                col >= a or col > b,
                col <= a and row < col < b,
                unsigned(col) >= unsigned(a) or unsigned(col) >= unsigned(row),
                col >= a or col > b or a > col,
                (a <= col and b <= row) or (row <= col and a <= row),
                (col < M and col <= row) or (row >= 2 and row > b and row > col),
                (unsigned(col) < unsigned(b) and unsigned(col) <= unsigned(a)) or i > j or i >= j + 1,
            ]
            for kind, hit in enumerate(hits):
                Y[kind, row, col] = -1.0 if hit else X[row, col]
    return {"Y": Y}
