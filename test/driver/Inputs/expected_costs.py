"""expected_costs.py TILEC gemm_nt.tile: what the cost model knows of products of few rows; prints `ok`, or what it does not know."""
import re
import subprocess
import sys

TILE = "BM = 64, BN = 32, BK = 128, STAGES = 8, THREADS = 128, ROLES = 1"
WIDE = "BM = 64, BN = 128, STAGES = 8, THREADS = 128, ROLES = 1"


def cost(tile, m, n, k):
    command = [*sys.argv[1:], "--arch=sm_90a", "--emit=manifest", "-o", "-", "--report", "--kernel=timed", f"--instantiate=gemm_nt<T = f16, {tile}> as timed",
               "-P", f"M={m}", "-P", f"N={n}", "-P", f"K={k}"]
    report = subprocess.run(command, check=True, capture_output=True, text=True).stderr
    return float(re.search(r"expected cost: ([\d.]+) us", report)[1])


wrong = []
# 61.8 and 41.3 us on an H200: rows of zeros take longer than rows of numbers, where many blocks load them.
ratio = cost(TILE, 16, 4096, 14336) / cost(TILE, 64, 4096, 14336)
if not 1.2 < ratio < 1.7:
    wrong.append(f"16 rows take {ratio:.2f} of 64")
# 13.6 us: few blocks do not feel them.
if cost(TILE, 16, 112, 4552) > 18:
    wrong.append("rows of zeros cost as much where there are few blocks")
# 144 blocks on 132 multiprocessors: 90 us beside 72 by memory alone.
ratio = cost(WIDE, 64, 18432, 7168) / cost(WIDE, 64, 16896, 7168)
if ratio < 1.12:
    wrong.append(f"a last round of 12 blocks adds {ratio - 1:.2f}, their bytes are 0.09")
print("\n".join(wrong) if wrong else "ok")
