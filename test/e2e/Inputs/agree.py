"""agree.py FILE OPTIONS...: what a kernel computes on the cpu target, its PTX computes on the emulator, for each architecture, in
any order of warps and without a report. OPTIONS are those of `tilec run`; --archs A,B chooses architectures, --schedules N how
many random ones, --tolerance T."""

import os
import re
import subprocess
import sys
import tempfile


def option(arguments, name, default):
    if name not in arguments:
        return default
    at = arguments.index(name)
    value = arguments[at + 1]
    del arguments[at : at + 2]
    return value


def main():
    file, *options = sys.argv[1:]
    archs = option(options, "--archs", "sm_90a,sm_80").split(",")
    schedules = option(options, "--schedules", "3")
    tolerance = option(options, "--tolerance", "1e-3")
    with open(file) as source:
        outputs = re.findall(r"(\w+)\s*:\s*(?:out|inout)\s+(?:strided\s+)?tensor<", source.read())
    with tempfile.TemporaryDirectory() as folder:
        files = [f"{name}={os.path.join(folder, name)}.npy" for name in outputs]
        run = ["tilec", "run", file, *options]
        subprocess.run([*run, "--on=cpu", *(x for f in files for x in ("--out", f))], check=True)
        for arch in archs:
            emulate = [*run, "--on=emu", f"--arch={arch}", "--tolerance", tolerance]
            expect = [x for f in files for x in ("--expect", f)]
            subprocess.run([*emulate, *expect, "--schedules", schedules], check=True)


try:
    main()
except subprocess.CalledProcessError as error:
    sys.exit(f"{' '.join(map(str, error.cmd))}: exit status {error.returncode}")
