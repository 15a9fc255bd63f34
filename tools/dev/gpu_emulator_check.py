#!/usr/bin/env python3
"""Runs the kernels of packs on the GPU and on the emulator with the same inputs, and compares the outputs bit for bit.

    gpu_emulator_check.py DIR [--arch sm_90a,sm_80] [--cases 6] [--kernel NAME]    DIR: what gpu_stage filled

Each kernel runs with several sizes for its dimensions. Kernels that read integer tensors (offsets, lengths) are left out: drawn data
makes no sense there. Outputs that differ in bits are shown with their relative error; exits with 1 if one is off by more than
tile-run's tolerance, a run fails, or the emulator reports something.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

# Below, at and above tiles; with and without the alignment that TMA needs.
SIZES = [(1, 7, 127), (129, 136, 72), (256, 256, 320), (128, 520, 1000), (127, 129, 65), (136, 264, 328), (300, 8, 16)]


def kernels(tile_run, pack):
    """(name, dimensions, scalars, outputs) of each kernel that can run with drawn data."""
    for line in subprocess.run([tile_run, pack, "--list"], capture_output=True, text=True, check=True).stdout.splitlines():
        name, arguments = re.fullmatch(r"(\w+)\((.*)\)", line).groups()
        tensors = re.findall(r"(\w+): (?:optional )?(out |inout |)(\w+)\[([^\]]*)\]", arguments)
        scalars = [n for n, _ in re.findall(r"(\w+): (\w+)(?=, |$)", arguments) if n not in {t[0] for t in tensors}]
        if any(direction != "out " and dtype in ("i32", "i64", "u32") for _, direction, dtype, _ in tensors):
            continue
        dims = list(dict.fromkeys(d for tensor in tensors for d in re.findall(r"[A-Za-z_]\w*", tensor[3]) if d not in scalars))
        yield name, dims, scalars, [t[0] for t in tensors if t[1]]


class Checker:
    def __init__(self, folder, scratch):
        self.tile_run, self.scratch = folder / "tile-run", scratch
        self.same = self.close = self.bad = 0

    def run(self, on, pack, kernel, options, outputs, expect):
        files = {name: self.scratch / f"{on}.{name}.npy" for name in outputs}
        command = [self.tile_run, pack, f"--on={on}", f"--kernel={kernel}", *options, *(f"--out={n}={f}" for n, f in files.items())]
        command += [f"--expect={n}={f}" for n, f in (expect or {}).items()]
        done = subprocess.run(command, capture_output=True, text=True)
        return files, done.returncode, (done.stdout + done.stderr).strip()

    def case(self, pack, arch, kernel, sizes):
        name, dims, scalars, outputs = kernel
        options = [f"--arch={arch}", *(f"--dim={d}={sizes[i % 3]}" for i, d in enumerate(dims)), *(f"--arg={s}=2" for s in scalars)]
        what = f"{name} {arch} " + " ".join(f"{d}={sizes[i % 3]}" for i, d in enumerate(dims))
        wanted, status, text = self.run("cuda", pack, name, options, outputs, None)
        if status and "[no-variant]" in text:
            return
        if not status:
            got, status, text = self.run("emu", pack, name, options, outputs, wanted)
        if status:
            self.bad += 1
            print(f"WRONG {what}: {text}")
        elif all(got[n].read_bytes() == wanted[n].read_bytes() for n in outputs):
            self.same += 1
        else:
            self.close += 1
            print(f"other bits {what}: {text}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--arch", default="sm_90a,sm_80")
    parser.add_argument("--cases", type=int, default=len(SIZES))
    parser.add_argument("--kernel", default="")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        checker = Checker(args.folder, pathlib.Path(scratch))
        for pack in sorted(args.folder.glob("*.pack")):
            for kernel in kernels(checker.tile_run, pack):
                for arch in args.arch.split(","):
                    for sizes in SIZES[: args.cases] if args.kernel in kernel[0] else ():
                        checker.case(pack, arch, kernel, sizes)
    print(f"{checker.same} runs with the same bits, {checker.close} within the tolerance, {checker.bad} wrong")
    return 1 if checker.bad or not checker.same + checker.close else 0


if __name__ == "__main__":
    sys.exit(main())
