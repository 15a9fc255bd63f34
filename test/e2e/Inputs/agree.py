"""agree.py FILE OPTIONS...: what a kernel computes on the cpu target, its PTX computes on the emulator, for each architecture, in
any order of warps and without a report. OPTIONS are those of `tilec run`; --archs A,B chooses architectures, --schedules N how
many random ones, --tolerance T, --launch NOTE puts an annotation before each launch.
What it prints is the same text: where lines begin with a name and a colon, those of one name stand in the same order, otherwise
any order will do."""

import collections
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


def printed(command):
    """What a kernel prints, without the line that says how it went: the lines of each name."""
    lines = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    sys.stdout.write("".join(line + "\n" for line in lines))
    named = collections.defaultdict(list)
    for line in lines[:-1]:
        name, colon, _ = line.partition(": ")
        named[name if colon else ""].append(line)
    named[""].sort()
    return named


def difference(expected, found):
    for name in sorted(expected | found):
        ours, theirs = found.get(name, []), expected.get(name, [])
        for i in range(max(len(ours), len(theirs))):
            if ours[i : i + 1] != theirs[i : i + 1]:
                return f"printed {ours[i : i + 1]}, on the cpu target {theirs[i : i + 1]}: line {i + 1} of `{name}`"
    return None


def main():
    file, *options = sys.argv[1:]
    archs = option(options, "--archs", "sm_90a,sm_80").split(",")
    schedules = option(options, "--schedules", "3")
    tolerance = option(options, "--tolerance", "1e-3")
    note = option(options, "--launch", "")
    with open(file) as source:
        text = re.sub(r"\blaunch (?=\w+ in\b|\()", f"{note} launch ", source.read())
    outputs = sorted(set(re.findall(r"(\w+)\s*:\s*(?:out|inout)\s+(?:strided\s+)?tensor<", text)))
    with tempfile.TemporaryDirectory() as folder:
        if note:
            file = os.path.join(folder, os.path.basename(file))
            with open(file, "w") as target:
                target.write(text)
        files = [f"{name}={os.path.join(folder, name)}.npy" for name in outputs]
        run = ["tilec", "run", file, *options]
        text = printed([*run, "--on=cpu", *(x for f in files for x in ("--out", f))])
        for arch in archs:
            emulate = [*run, "--on=emu", f"--arch={arch}", "--tolerance", tolerance]
            expect = [x for f in files for x in ("--expect", f)]
            if wrong := difference(text, printed([*emulate, *expect, "--schedules", schedules])):
                sys.exit(f"{arch}: {wrong}")


try:
    main()
except subprocess.CalledProcessError as error:
    sys.exit(f"{' '.join(map(str, error.cmd))}: exit status {error.returncode}")
