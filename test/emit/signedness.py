"""signedness.py FOLDER a c w v s: what signedness.tile computes of these scalars, as Y.npy and Z.npy, and the call's options."""
import sys

import numpy as np

folder, (a, c, w, v, s) = sys.argv[1], map(int, sys.argv[2:])
n, m = 17, 4


def i32(x):
    return (x + 2**31) % 2**32 - 2**31


def clz(x, width):
    return width - (x % 2**width).bit_length()


chosen = a & c if a > c else a | c
limited = c | 1 if a > c else a & c
signed_any = s | n if s > n else s ^ n
y = [a & c, a | c, a ^ c, a ^ (2**32 - 1), chosen, a // c if c else a ^ c, limited, (a | c).bit_count(), clz(a & c, 32), s & (n - 1), signed_any,
     clz(s & n, 32), i32(a) ^ s, s % 2**32 & a, (a & c) == (a ^ c), (s & n) == (s ^ n), (a | c) // 3]
z = [w & v, w | v if s > 0 else w ^ v, clz(w ^ v, 64), max(w & v, w ^ v) >> 1]
np.save(folder + "/Y.npy", np.array(y, "i8"))
np.save(folder + "/Z.npy", np.array(z, "u8"))
