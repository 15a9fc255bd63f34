"""gathered_elements.py FOLDER: arguments of gathered-elements.tile in FOLDER, and what it computes from them (-1: not looked at)."""

import pathlib
import sys

import numpy

folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
draw = numpy.random.default_rng(1)
x = draw.integers(0, 1000, (20, 9)).astype(numpy.int32)
rows = draw.integers(0, 20, 8).astype(numpy.int32)
rows[3] = -1  # no row
old = draw.integers(0, 9, (20, 9)).astype(numpy.int32)


def element(i, j, first):
    if not (0 <= i < 8 and 0 <= j < 9 - first):
        return 0
    return x[rows[i], first + j] if rows[i] >= 0 else 0


in_block = numpy.zeros(64, numpy.int32)
for i in range(9):
    in_block[i], in_block[32 + i] = element(i, 3, 1), element(8 - i, i, 1)
for block in (0, 32):
    in_block[block + 10] = element(2, 7, 1) + 1000 * element(3, 8, 1)
new = old.copy()
new[rows[1], 2] = 77
by_threads = numpy.array([element(i % 8, i % 5, 0) for i in range(64)], numpy.int32)
vectors = numpy.array([[element(i % 8, 2 + j, 0) for j in range(4)] for i in range(16)], numpy.int32).reshape(64)
columns = draw.integers(0, 9, 8).astype(numpy.int32)
last = numpy.array([[x[i % 4, columns[1 + j]] for j in range(4)] for i in range(16)], numpy.int32).reshape(64)
numpy.save(folder / "I-last.npy", columns)
numpy.save(folder / "O-last.npy", last)
numpy.save(folder / "O-vectors.npy", vectors)
for name, array in (("X", x), ("I", rows), ("P", old), ("O-in_block", in_block), ("P-in_block", new), ("O-by_threads", by_threads), ("P-by_threads", old)):
    numpy.save(folder / f"{name}.npy", array)
