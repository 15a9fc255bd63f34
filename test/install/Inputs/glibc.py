#!/usr/bin/env python3
"""What a program or library needs of glibc that is newer than a version: `NAME VERSION` in each line, sorted.

usage: glibc.py FILE VERSION
"""

import re
import subprocess
import sys


def number(version):
    return tuple(int(part) for part in version.split("."))


def main():
    file, newest = sys.argv[1:]
    table = subprocess.run(["readelf", "--dyn-syms", "--wide", file], check=True, capture_output=True, text=True).stdout
    needed = set(re.findall(r"\bUND (\w+)@GLIBC_([\d.]+)", table))
    if not needed:
        sys.exit(f"{file} needs nothing of glibc: not a library, or readelf writes other tables")
    for name, version in sorted(needed):
        if number(version) > number(newest):
            print(name, version)


if __name__ == "__main__":
    main()
