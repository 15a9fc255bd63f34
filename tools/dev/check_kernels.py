#!/usr/bin/python3
"""Runs the kernels of kernels/ on the cpu target and compares with their numpy references.

    check_kernels.py [--tilec build/bin/tilec] [--per-line 2] [--limit 1e7] [FILE.tile...]

Cases are the `//! test:` lines (kernels/README.md). Of each line so many combinations are taken, spread over the list, among those
whose extents multiply to no more than the limit. Prints what is wrong, at the end `N passed, N failed`; exits with 1 on failures.
"""

import argparse
import importlib.util
import itertools
import pathlib
import re
import subprocess
import sys
import tempfile
import zlib

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "kernels"))
import reference_support as support  # noqa: E402

TYPES = "f64 f32 f16 bf16 i32 u8 e4m3 e5m2 u4".split()
BITS = {"f64": 64, "f32": 32, "f16": 16, "bf16": 16, "i32": 32, "u8": 8, "e4m3": 8, "e5m2": 8, "u4": 4}
# Names that constant expressions may use, and values that are words.
WORDS = {"true": True, "false": False, "none": None, "normal": ("normal",), "uniform": lambda a, b: ("uniform", a, b),
         "integers": lambda a, b: ("integers", a, b), "bits": lambda t: BITS[t], **{t: t for t in TYPES}}


def evaluate(text, names):
    """A constant expression of a case line, parameter or extent: the part of the language that is also Python."""
    text = re.sub(r"(?<![/])/(?![/])", "//", text)
    return eval(text, {"__builtins__": {}}, {**WORDS, **names})  # expressions of our own tree


def split_clauses(line):
    """`M, N in [1, 2]; T = f16` as [(names, values as text)], in order."""
    clauses = []
    for clause in line.split(";"):
        for names, relation, value in re.findall(r"((?:\w+, )*\w+) (in|=) (\[[^\]]*\]|\w+\([^)]*\)|[^,]+)", clause.strip()):
            values = re.split(r",\s*(?![^(]*\))", value[1:-1]) if relation == "in" and value[0] == "[" else [value]
            clauses.extend((name, values) for name in names.split(", "))
    return clauses


class Kernel:
    """A kernel's signature, read off its text."""

    def __init__(self, name, text):
        self.name = name
        head = re.search(rf"^kernel {name}(?:<([^>]*)>)?\(\s*(.*?)\)\s*(?:where|\{{)", text, re.M | re.S)
        self.parameters = re.findall(r"(\w+): (?:int|bool|type) = ([^,]+)", head[1] or "")
        fields = [re.sub(r"\s*//.*", "", line) for line in head[2].split("\n")]
        arguments = re.sub(r"\s+", " ", " ".join(fields))
        self.tensors = re.findall(r"(\w+): ((?:optional )?)((?:out |inout )?)tensor<(\w+)>\[([^\]]*)\]", arguments)
        self.scalars = re.findall(r"(\w+): (?:f32|i32)\b", arguments)

    def values(self, given):
        """All parameters, for a case."""
        names = dict(given)
        for name, default in self.parameters:
            if name not in names:
                names[name] = evaluate(default.strip(), names)
        return names


def draw(random, how, shape, dtype):
    kind, *bounds = how or (("integers", 0, 15) if dtype == "u4" else ("normal",))
    if kind == "uniform":
        values = random.uniform(*bounds, shape)
    elif kind == "integers":
        values = random.integers(bounds[0], bounds[1] + 1, shape)
    else:
        values = random.standard_normal(shape)
    return support.encode(values, dtype)


def load(path):
    spec = importlib.util.spec_from_file_location("reference_" + path.parent.name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def compare(out, reference, tolerance):
    """None, or what is wrong."""
    if out.shape != reference.shape:
        return f"shape {out.shape}, not {reference.shape}"
    if tolerance == "exact":
        wrong = int(np.sum(out != reference))
        return f"{wrong} elements differ" if wrong else None
    finite = np.isfinite(reference)
    if not np.array_equal(out[~finite], reference[~finite], equal_nan=True):
        return "infinities or NaNs differ"
    scale = np.linalg.norm(reference[finite])
    error = np.linalg.norm(out[finite] - reference[finite]) / (scale if scale else 1.0)
    return None if error <= float(tolerance) else f"relative error {error:.2e}, allowed {tolerance}"


class Runner:
    def __init__(self, tilec, folder):
        self.tilec, self.folder = tilec, folder

    def run(self, file, kernel, given, reference, inputs, tolerances):
        """One case; None, or what is wrong."""
        names = kernel.values(given)
        random = np.random.default_rng(zlib.crc32(repr((kernel.name, sorted(given.items(), key=str))).encode()))
        drawn = inputs(random, **{k: v for k, v in names.items() if isinstance(v, int)}) if inputs else {}
        chosen = ", ".join(f"{n} = {str(names[n]).lower()}" for n, _ in kernel.parameters if n in given)
        command = [str(self.tilec), "run", str(file), "--on=cpu", "--kernel", "case",
                   "--instantiate", f"{kernel.name}{f'<{chosen}>' if chosen else ''} as case"]
        arrays, outputs = {}, {}
        for name, optional, direction, dtype, extents in kernel.tensors:
            if name in given and given[name] is None:
                command += ["--arg", f"{name}=none"]
                continue
            dtype = names.get(dtype, dtype)
            shape = [evaluate(extent, names) for extent in re.split(r",\s*", extents)]
            if direction != "out ":
                value = drawn[name] if name in drawn else draw(random, given.get(name), shape, dtype)
                arrays[name] = value
                np.save(self.folder / f"{name}.npy", value)
                command += ["--arg", f"{name}={self.folder / name}.npy"]
            elif optional:
                command += ["--arg", f"{name}=normal"]  # present; what it holds is overwritten
            if direction:
                outputs[name] = dtype
                command += ["--out", f"{name}={self.folder / name}.out.npy"]
        command += [word for name in kernel.scalars for word in ("--arg", f"{name}={given[name]}")]
        tensors = {tensor[0] for tensor in kernel.tensors}
        dims = [n for n in given if n not in tensors and n not in kernel.scalars and n not in dict(kernel.parameters)]
        command += [word for name in dims for word in ("--dim", f"{name}={given[name]}")]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300)
        if done.returncode:
            return (done.stderr or done.stdout).strip().split("\n")[0]
        rest = {name: value for name, value in names.items() if name not in tensors}
        expected = reference(**arrays, **rest)
        for name, dtype in outputs.items():
            out = np.load(self.folder / f"{name}.out.npy")
            exact = tolerances.get(dtype) == "exact"
            values = out if exact else support.decode(out, dtype)
            wrong = compare(values, expected[name], tolerances.get(dtype, "1e-4"))
            if wrong:
                return f"{name}: {wrong}"
        return None


def cases_of(line, limit, count, kernel):
    """Some combinations of a test line, evenly spread."""
    clauses = split_clauses(line)
    tensors = {tensor[0] for tensor in kernel.tensors}
    found = []
    for combination in itertools.product(*(values for _, values in clauses)):
        given = {}
        for (name, _), text in zip(clauses, combination):
            given[name] = evaluate(text, given) if not re.fullmatch(r"[\d.e-]+", text) else eval(text)
        extents = [v for n, v in given.items() if type(v) is int and n not in tensors and n not in kernel.scalars]
        if np.prod(extents, dtype=float) <= limit:
            found.append(given)
    step = max(1, len(found) // count)
    return found[step // 2 :: step][:count]


def run_file(path, runner, per_line, limit):
    """(passed, failed) over all cases of a file."""
    text = path.read_text()
    passed = failed = 0
    lines = re.findall(r"^//! (?:\[(\w+)\] )?(\w+): (.+)$", text, re.M)
    for name in re.findall(r"^kernel (\w+)", text, re.M):
        mine = [(kind, value) for only, kind, value in lines if only in ("", name)]
        kernel = Kernel(name, text)
        functions = dict(pair for pair in mine if pair[0] in ("reference", "inputs"))
        find = lambda what: getattr(load(path.parent / what.split(":")[0]), what.split(":")[1]) if what else None
        tolerances = dict(part.split() for part in dict(mine)["tolerance"].split(", "))
        for line in (value for kind, value in mine if kind == "test"):
            for given in cases_of(line, limit, per_line, kernel):
                wrong = runner.run(path, kernel, given, find(functions["reference"]), find(functions.get("inputs")), tolerances)
                passed, failed = passed + (not wrong), failed + bool(wrong)
                if wrong:
                    print(f"{path.relative_to(ROOT)}: {name} {given}: {wrong}")
    return passed, failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    parser.add_argument("--tilec", type=pathlib.Path, default=ROOT / "build/bin/tilec")
    parser.add_argument("--per-line", type=int, default=2)
    parser.add_argument("--limit", type=float, default=1e7)
    args = parser.parse_args()
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        runner = Runner(args.tilec, pathlib.Path(folder))
        for path in args.files or sorted((ROOT / "kernels").rglob("*.tile")):
            good, bad = run_file(path.resolve(), runner, args.per_line, args.limit)
            passed, failed = passed + good, failed + bad
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
