"""divisions.py FOLDER: runs FOLDER/divisions.pack with divisors and dividends at the ends of their types, and compares with Python's
integers."""
import subprocess
import sys

import numpy as np

EDGES = sorted({s * x for s in (1, -1) for e in range(0, 32, 3) for x in (2**e - 1, 2**e, 2**e + 1)} | {2**31 - 1, -(2**31), 641, 6700417, -7, -10, 99})
SIGNED = [x for x in EDGES if -(2**31) <= x < 2**31]
UNSIGNED = sorted({x % 2**32 for x in EDGES} | {2**31, 2**31 + 1, 2**32 - 1, 2**32 - 2})


def wrapped(x, bits=32):
    return (x + 2 ** (bits - 1)) % 2**bits - 2 ** (bits - 1)


def quotient(x, d, rounding):
    if d == 0:
        return 0
    floor = x // d
    return {"down": floor, "up": -(-x // d), "zero": floor if (x < 0) == (d < 0) or x % d == 0 else floor + 1}[rounding]


def expected(x, d, rounding="zero", remainder=False):
    q = [quotient(int(v), d, rounding) for v in x]
    return [0 if d == 0 else int(v) - p * d for v, p in zip(x, q)] if remainder else q


def run_all(folder):
    x = np.array((SIGNED * 5)[:256], "i4")
    y = np.array((UNSIGNED * 5)[:256], "u4")
    np.save(f"{folder}/x.npy", x)
    np.save(f"{folder}/y.npy", y)
    divisors = [0, 1, -1, 2, -2, 3, -3, 7, 10, 641, 65535, 65536, -65537, 2**30, 2**31 - 1, -(2**31), 1 - 2**31, 1000000007]
    for d in divisors:
        u = d % 2**32
        results = {
            "Q": expected(x, d), "R": expected(x, d, remainder=True), "C": expected(x, d, "up"), "F": expected(x, d, "down"),
            "M": expected(x, d, "down", remainder=True), "S": expected(x, min(d, 10**9)), "QU": expected(y, u),
            "RU": expected(y, u, remainder=True), "CU": expected(y, u, "up"),
        }
        height, width = 5, abs(d) % 29 + 1
        i = np.arange(height * width)
        t = (i // (height * width) + i % (width + 3) * 1000 + i // (width + 3)).reshape(height, width).astype("i4")
        np.save(f"{folder}/T.npy", t)
        options = [f"--expect=T={folder}/T.npy", f"--arg=X={folder}/x.npy", f"--arg=U={folder}/y.npy", f"--arg=d={d}", f"--arg=u={u}", f"--dim=H={height}", f"--dim=W={width}"]
        for name, values in results.items():
            unsigned = name.endswith("U")
            np.save(f"{folder}/{name}.npy", np.array(values if unsigned else [wrapped(v) for v in values], "u4" if unsigned else "i4"))
            options.append(f"--expect={name}={folder}/{name}.npy")
        done = subprocess.run(["tile-run", f"{folder}/divisions.pack", "--on=emu", *options], capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"by {d}: {done.stdout}{done.stderr}")

if __name__ == "__main__":
    run_all(sys.argv[1])
