"""Shows the first error of `tilec test` for each of these case lines. usage: case_lines.py TILEC FOLDER"""

import pathlib
import re
import subprocess
import sys

LINES = """\
tst: N = 1
test
test:
[scal] test: N = 1; a = 1
[scale test: N = 1; a = 1
tolerance: f17 1e-3
tolerance: f16 -1
reference: foo
test: N = 1
test: a = 1
test: N in 3; a = 1
test: N = 1 2; a = 1
test: N in [1, 2; a = 1
test: N = ; a = 1
test: Q = 1; N = 1; a = 1
test: N = 1; N = 2; a = 1
test: N = 1.5; a = 1
test: N = -1; a = 1
test: N = M; a = 1
test: N = 1 / 0; a = 1
test: N = 1; a = 1; T = 3
test: N = 1; a = 1; X = none
test: N = 1; a = 1; X in gauss(1)
test: N = 1; a = 1; X in uniform(2, 1)
test: N, BLOCK, a in [1, 2, 3
"""

here = pathlib.Path(__file__).parent
kernel = (here / "scale.tile").read_text()
source = pathlib.Path(sys.argv[2]) / "k.tile"
for line in LINES.splitlines():
    source.write_text(f"//! reference: cases_reference.py:scale\n//! {line}\n{kernel}")
    done = subprocess.run([sys.argv[1], "test", source, "--on=cpu"], capture_output=True, text=True)
    error = re.search(r"k\.tile:(\d+:\d+): error: (.*)", done.stderr)
    print(line)
    print(f"{error[1]}: {error[2]}" if error and done.returncode == 1 else f"status {done.returncode}: {done.stdout}")
