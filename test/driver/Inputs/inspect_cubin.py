#!/usr/bin/python3
"""inspect_cubin.py TILEC FILE.ptx ARCH... FOLDER: does `tilec inspect` say of cubins what `ptxas -v` said when it made them? Where ptxas is stands on standard
input, as `tilec --print-tools` says it.

A program with clusters is assembled without them for architectures before 9.0.
"""
import json
import pathlib
import re
import subprocess
import sys


def properties(text):
    """What `ptxas -v` prints of each kernel."""
    found, name = {}, None
    for line in text.splitlines():
        if entry := re.search(r"Compiling entry function '(\S+)'", line):
            name = entry[1]
        elif name and "Used " in line:
            def number(pattern):
                match = re.search(pattern, line)
                return int(match[1]) if match else 0

            found[name] = {"registers": number(r"Used (\d+) registers"), "barriers": number(r"used (\d+) barriers"),
                           "static_shared_bytes": number(r"(\d+) bytes smem"), "stack_bytes": number(r"(\d+) bytes cumulative stack"),
                           "constant_bytes": {bank: int(size) for size, bank in re.findall(r"(\d+) bytes cmem\[(\d+)\]", line)}}
            name = None
    return found


def agree(said, seen):
    """For newer architectures ptxas does not print the bank of the parameters; and what all kernels share it prints once."""
    banks = said["constant_bytes"].items()
    return all(seen[key] == said[key] for key in said if key != "constant_bytes") and all(seen["constant_bytes"].get(bank) == size for bank, size in banks)


def main():
    tilec, source, *archs, folder = sys.argv[1:]
    ptxas = dict(line.split(": ", 1) for line in sys.stdin.read().splitlines())["ptxas"]
    count = 0
    for arch in archs:
        text = pathlib.Path(source).read_text()
        if int(re.match(r"sm_(\d+)", arch)[1]) < 90:
            text = re.sub(r"\.explicitcluster|\.reqnctapercluster \d+", "", text)
        program = pathlib.Path(folder, f"{arch}.ptx")
        program.write_text(re.sub(r"\.target \w+", f".target {arch}", text))
        cubin = program.with_suffix(".cubin")
        said = subprocess.run([ptxas, "-v", f"-arch={arch}", program, "-o", cubin], check=True, capture_output=True, text=True).stderr
        seen = json.loads(subprocess.run([tilec, "inspect", "--format=json", cubin], check=True, capture_output=True, text=True).stdout)
        kernels, expected = {kernel["name"]: kernel for kernel in seen["kernels"]}, properties(said)
        wrong = [name for name in expected if name not in kernels or not agree(expected[name], kernels[name])]
        if seen["arch"] != arch or wrong or kernels.keys() != expected.keys() or not kernels:
            sys.exit(f"{arch}: {seen}\nptxas -v: {said}")
        count += len(kernels)
    print(f"{count} kernels are as ptxas -v said")


if __name__ == "__main__":
    main()
