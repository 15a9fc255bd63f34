"""Quotients of all pairs of special numbers against numpy: zero-dividends.py TILEC SOURCE FOLDER TARGET..."""
import subprocess
import sys

import numpy as np

tilec, source, folder = sys.argv[1:4]
np.seterr(all="ignore")
for dtype in (np.float16, np.float32, np.float64):
    info = np.finfo(dtype)
    least, most = info.smallest_subnormal, info.max
    special = np.array([0, 1, 3, 448, 0.1, 2.0**-24, least, 2 * least, info.tiny, 4 * info.tiny, most, np.inf, np.nan], dtype)
    x, s = (np.ravel(one).copy() for one in np.meshgrid(np.concatenate([special, -special]), np.concatenate([special, -special])))
    np.save(f"{folder}/x.npy", x)
    np.save(f"{folder}/s.npy", s)
    # Those of 16 bits are rounded from the quotient in f32, as the language has it.
    expected = (x.astype(np.float32) / s.astype(np.float32)).astype(dtype) if dtype == np.float16 else x / s
    for target in sys.argv[4:]:
        name = f"quotients_f{info.bits}"
        on, _, arch = target.partition(":")
        subprocess.run([tilec, "run", source, "--kernel", name, f"--on={on}", *([f"--arch={arch}"] if arch else []), "--dim", f"N={len(x)}",
                        "--arg", f"X={folder}/x.npy", "--arg", f"S={folder}/s.npy", "--out", f"Y={folder}/y.npy"], check=True, stdout=subprocess.DEVNULL)
        got = np.load(f"{folder}/y.npy")
        bits = f"u{info.bits // 8}"
        wrong = (got.view(bits) != expected.view(bits)) & ~(np.isnan(got) & np.isnan(expected))
        for i in np.flatnonzero(wrong)[:5]:
            print(f"{name} {target}: {x[i]!r} / {s[i]!r} is {got[i]!r}, not {expected[i]!r}")
        if wrong.any():
            sys.exit(1)
