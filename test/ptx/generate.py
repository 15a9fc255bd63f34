#!/usr/bin/env python3
"""Writes the probes: small PTX programs, one per group of instructions, into probes/ (or checks that it holds just them).

    generate.py [--check] [DIR]
"""
import argparse
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import importlib

from families import ptx

MODULES = ("integers", "floats", "conversions", "warps", "memory", "barriers", "copies", "tensors", "matrices",
           "warpgroups", "clusters")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; exit status 1 if a file differs")
    parser.add_argument("dir", nargs="?", type=pathlib.Path, default=HERE / "probes")
    args = parser.parse_args()
    for name in MODULES:
        importlib.import_module("families." + name).add_probes()
    texts = {probe.name + ".ptx": probe.text() for probe in ptx.ALL}
    assert len(texts) == len(ptx.ALL), "two probes of one name"
    present = {path.name: path for path in args.dir.glob("*.ptx")}
    different = sorted(name for name in texts.keys() | present.keys()
                       if name not in texts or name not in present or present[name].read_text() != texts[name])
    if args.check:
        print("\n".join(f"{name}: not as generate.py writes it" for name in different) or f"{len(texts)} probes")
        return 1 if different else 0
    args.dir.mkdir(exist_ok=True)
    for name in different:
        if name in texts:
            (args.dir / name).write_text(texts[name])
        else:
            present[name].unlink()
    print(f"{len(texts)} probes, {len(different)} changed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
