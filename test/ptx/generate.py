#!/usr/bin/env python3
"""Writes the probes: small PTX programs, one per group of instructions, into probes/, and what a GPU refuses into faults/ (or checks
that they hold just these).

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
           "warpgroups", "clusters", "policies")


def different(folder, texts):
    """Names of the files of a folder that are not what is generated, or not there, or too many."""
    present = {path.name: path.read_text() for path in folder.glob("*.ptx")}
    return sorted(name for name in texts.keys() | present.keys() if texts.get(name) != present.get(name))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; exit status 1 if a file differs")
    parser.add_argument("dir", nargs="?", type=pathlib.Path, default=HERE)
    args = parser.parse_args()
    for name in MODULES:
        importlib.import_module("families." + name).add_probes()
    changed = []
    for folder, programs in ((args.dir / "probes", ptx.ALL), (args.dir / "faults", ptx.FAULTS)):
        texts = {program.name + ".ptx": program.text() for program in programs}
        assert len(texts) == len(programs), "two programs of one name"
        for name in different(folder, texts):
            changed.append(folder / name)
            if not args.check:
                folder.mkdir(parents=True, exist_ok=True)
                (folder / name).write_text(texts[name]) if name in texts else (folder / name).unlink()
    if args.check and changed:
        print("\n".join(f"{path}: not as generate.py writes it" for path in changed))
        return 1
    print(f"{len(ptx.ALL)} probes, {len(ptx.FAULTS)} files of faults, {len(changed)} changed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
