"""integers.py FOLDER: inputs and results of integers.test."""
import pathlib
import sys

import numpy as np

folder = pathlib.Path(sys.argv[1])


def save(name, values, dtype):
    np.save(folder / f"{name}.npy", np.array(values, dtype))


def truncated(x, y):
    return (abs(x) // abs(y)) * (1 if (x < 0) == (y < 0) else -1)


def formula(x):
    if x == 0:
        return 0
    q = truncated(100, x)
    return q + (100 - x * q) - (-100 // x) * 3 + (-100 // x) + 100 % x


x = [int(v) for v in np.random.default_rng(1).integers(-9, 10, 300)]
save("x", x, np.int32)
save("y", [formula(v) for v in x], np.int32)

f = np.arange(1, 129, dtype=np.float32)
save("f", f, np.float32)
z = np.zeros(16, np.float32)
z[:11] = [f[11] + 1, 1, 1, f[19] + 1, 1, 1, 1, 1, f[4] + 1, 1, f[2] + 1]
save("z", z, np.float32)
p = np.zeros((3, 128), np.float32)
p[1, 4:20] = f[8:24]
save("p", p, np.float32)

n, s, u = 2**31 - 1, 2**30, 4000000000
save("count", [len(range(0, n, s)), len(range(0, n, s)), len(range(0, n, s)), 3,
               sum(truncated(i, 1073741823) for i in range(-n, n, s)), 0,
               sum(i // 1000000000 for i in range(u, 4294967295, 147483648)), 0], np.int32)



def digits(values, base=100, add=10, keep=7):
    n = 0
    for v in values:
        n = n * base + (v - truncated(v, keep) * keep if keep else v) + add
    return n


low, high = -2**31 + 5, 2**31 - 1
c, d, u = -3000000000 - 2**32, 2**63 - 1, 2**64 - 1
save("ones", np.ones(64), np.int32)
save("span", [digits(range(-128, 127, 100), 1000, 200, 0), digits(range(-2**31, 2**31 - 1, 10**9)), digits(range(-2**63, 2**63 - 1, 5 * 10**18)),
              digits(range(-2**31, 2**31 - 1, 1500000000)), digits(range(low, high, 10**9)), digits(range(c, d, 5 * 10**18)),
              digits(range(3, u, 6 * 10**18)), 0], np.int64)
save("sum", [len(range(low, high, 10**9))] * 64, np.int32)

n, i, m = 4000000000, -1, 12000000000000000000
following = 2**32 + i - 5
save("host", [n // 3, following, max(following, n), following & 4294967280, following - 2**32, n >> 4, n * 2, m // 2,
              min(m, 10**19) // 10, 1, n * n >> 32, 7, 8, 0, n, int(n // 7 * 7 == n)], np.int64)
