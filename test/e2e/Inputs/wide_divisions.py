"""wide_divisions.py FOLDER: runs its packs wide, narrow and single with divisors and dividends at the ends of their types, and compares with Python's
integers."""
import subprocess
import sys

import numpy as np

from divisions import expected, wrapped

FOLDER = sys.argv[1]


def edges(bits, step):
    return sorted({s * x for s in (1, -1) for e in range(0, bits, step) for x in (2**e - 1, 2**e, 2**e + 1)} | {-7, -10, 99, 641, 1 - 2 ** (bits - 1), 2 - 2 ** (bits - 1)})


def save(name, values, dtype):
    np.save(f"{FOLDER}/{name}.npy", np.array(values, dtype))
    return f"{FOLDER}/{name}.npy"


def run(kernel, given, results):
    """Element by element: what tile-run compares may differ a little."""
    outputs = [f"--out={name}={FOLDER}/out-{name}.npy" for name in results]
    done = subprocess.run(["tile-run", f"{FOLDER}/{kernel}.pack", "--on=emu", *given, *outputs], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{kernel} {given}: {done.stdout}{done.stderr}")
    for name, (values, dtype) in results.items():
        found = np.load(f"{FOLDER}/out-{name}.npy").ravel().tolist()
        wrong = [(i, f, w) for i, (f, w) in enumerate(zip(found, values, strict=True)) if f != w]
        if wrong or np.load(f"{FOLDER}/out-{name}.npy").dtype != dtype:
            sys.exit(f"{kernel} {given}: {name}: (place, is, should be) {wrong[:5]}")


def of_tiles(kernel, bits, step, divisors):
    signed = [x for x in edges(bits, step) if -(2 ** (bits - 1)) <= x < 2 ** (bits - 1)]
    unsigned = sorted({x % 2**bits for x in signed} | {2 ** (bits - 1), 2**bits - 1, 2**bits - 2})
    x, y, z = (signed * 20)[:256], (unsigned * 20)[:256], list(range(-128, 128))
    i, u = f"i{bits // 8}", f"u{bits // 8}"
    options = [f"--arg=X={save('x', x, i)}", f"--arg=U={save('y', y, u)}"]
    if bits == 16:
        options.append(f"--arg=B={save('z', z, 'i1')}")
    for d in divisors:
        e = d % 2**bits
        signed_results = {"Q": expected(x, d), "R": expected(x, d, remainder=True), "C": expected(x, d, "up"), "F": expected(x, d, "down"), "M": expected(x, d, "down", remainder=True)}
        results = {name: ([wrapped(v, bits) for v in values], i) for name, values in signed_results.items()}
        results |= {"QU": (expected(y, e), u), "RU": (expected(y, e, remainder=True), u), "CU": (expected(y, e, "up"), u)}
        given = [f"--arg=d={d}", f"--arg=u={e}"]
        if bits == 16:
            f = wrapped(d, 8)
            given.append(f"--arg=e={f}")
            for name, values in {"QB": expected(z, f), "MB": expected(z, f, "down", remainder=True)}.items():
                results[name] = ([wrapped(v, 8) for v in values], "i1")
        run(kernel, options + given, results)


def of_scalars(height, width, other, d, u):
    def one(x, y, *how, **more):
        return expected([x], y, *how, **more)[0]

    place = [(i // width, i % width, i) for i in range(height * width)]
    group = (height + width) // height
    t = [wrapped((i - 100) // width + one(i - 100, width + 3, remainder=True) * 1000 + one(i - 100, d) * 1000000 + one((i - 100) * 123456789123, d, "down", remainder=True), 64) for _, _, i in place]
    s = [(i // width + (i + 18446744073709551000) // u) % 2**64 for _, _, i in place]
    b = [-(-(x - 7) // group) + (x - 5) % (height // width + 2) + 100 * (height * 3 % width) + 10000 * (x % group) for _, x, _ in place]
    n = width // other
    z = [(v + 1) // n + (v + 1) % n * 100 if n else 0 for _ in range(height) for v in range(other)]
    options = [f"--dim={k}={v}" for k, v in (("H", height), ("W", width), ("V", other))] + [f"--arg=d={d}", f"--arg=u={u}"]
    run("single", options, {"T": (t, "i8"), "S": (s, "u8"), "B": (b, "i4"), "Z": (z, "i4")})


of_tiles("wide", 64, 5, [0, 1, -1, 2, 3, -3, 7, 10, 641, 2**32 - 1, 2**32, -(2**32) - 1, 2**62, 2**63 - 1, -(2**63), 1 - 2**63, 1000000007 * 998244353])
of_tiles("narrow", 16, 1, [0, 1, -1, 2, -2, 3, 7, -10, 127, 128, 255, 641, 2**14, 2**15 - 1, -(2**15), 1 - 2**15])
of_scalars(5, 7, 3, 3, 10)
of_scalars(7, 5, 6, -(2**40) - 3, 2**64 - 1)
of_scalars(3, 40, 40, 2**63 - 1, 1)
