#!/usr/bin/python3
"""check_support.py [--write | --show TEXT | --assemble]: does docs/support.md say what runs where?

Each cell of its tables is a small program (support_programs.py). It runs on the cpu target, then on the emulator for sm_90a and
sm_80, where it must give the same results without a report; or the target refuses it with [not-supported], whose text the document
lists. --write puts in the tables of today. --show runs the cells whose `table: row: column` contains TEXT and prints their
programs. --assemble also hands the PTX to ptxas. What is neither right nor refused is a fault: it is printed, shown in the
document, and to be repaired.
"""
import collections
import concurrent.futures
import difflib
import itertools
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np

import support_programs
from support_programs import ALL, PRODUCTS, PLACES, program

ROOT = pathlib.Path(__file__).resolve().parents[2]
TILEC = ROOT / "build/bin/tilec"
DOCUMENT = ROOT / "docs/support.md"
BEGIN = "<!-- What follows is written by tools/dev/check_support.py --write. -->"
TARGETS = ["sm_90a", "sm_80"]
ERROR = re.compile(r"^[^\s:]+:(\d+):\d+: error: (.*?)(?: \[([a-z-]+)\])?$", re.M)
INSTRUCTION = re.compile(r"wgmma\.mma_async\.\S+?\.(m\d+n\d+k\d+)|(mma\.sync)\.\S+?\.(m\d+n\d+k\d+)")
FAULTS = {"internal error": "crash", "no end after": "no end", "report": "report of the emulator", "WRONG": "wrong", "error": "error"}
# Long enough for two cores that do something else as well.
SECONDS = 60


def tilec(*words):
    try:
        done = subprocess.run([TILEC, *words], capture_output=True, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return 124, "", f"error: no end after {SECONDS} seconds\n"
    return done.returncode, done.stdout, done.stderr


def said(out):
    """What a kernel printed: all lines but the one that says where it ran."""
    return sorted(line for line in out.splitlines() if not re.match(r"cpu: |emu sm_", line))


class Broken(Exception):
    """A program that is none, or that the cpu target does not run."""


class Runner:
    def __init__(self, folder, assemble):
        self.folder, self.assemble = pathlib.Path(folder), assemble
        self.numbers = itertools.count()
        self.faults = []
        self.permutation = self.folder / "permutation.npy"
        np.save(self.permutation, np.random.default_rng(1).permutation(16).astype(np.int32))

    def write(self, cells, names):
        """A file with the cells' program, and which cell stands on which line."""
        folder = self.folder / str(next(self.numbers))
        folder.mkdir()
        source, lines = program(cells, names)
        (folder / "k.tile").write_text(source)
        return folder / "k.tile", lines

    def run(self, cells):
        """What becomes of each cell: {cell: {target: (state, text)}}; nothing for what the language does not have."""
        names, results = support_programs.number_results(cells)
        file, lines = self.write(cells, names)
        status, out, errors = tilec("run", file, "--on=cpu", *self.options(cells, names), *(f"--out={r}={file.parent / r}.npy" for r in results))
        if status:
            missing = {lines[int(line)] for line, _, name in ERROR.findall(errors) if name == "conversion"}
            if not missing:
                raise Broken(f"the cpu target does not run this:\n{file.read_text()}\n{errors}")
            rest = [cell for cell in cells if cell not in missing]
            return self.run(rest) if rest else {}
        found = {cell: {} for cell in cells}
        for target in TARGETS:
            self.on_emulator(target, cells, names, file.parent, out, found)
        return found

    def options(self, cells, names):
        """Those of the frame, and what results hold before: values that each type has."""
        given = [a.replace("$PERMUTATION", str(self.permutation)) for a in cells[0].kernel.args]
        for cell in cells:
            for number, result in enumerate(cell.results):
                if result.startswith("inout") and not re.search("<(e|.4>)", result):
                    given.append(f"--arg=R{names[cell] + number}=integers(0, {1 if '<bool>' in result else 3})")
        return given

    def on_emulator(self, target, cells, names, expected, printed, found):
        """The cells together; without those that are refused, again; one by one where that does not help."""
        file, lines = self.write(cells, names)
        results = [f"R{names[cell] + number}" for cell in cells for number in range(len(cell.results))]
        status, out, errors = tilec("run", file, "--on=emu", "--arch=" + target, *self.options(cells, names),
                                    *(f"--expect={r}={expected / r}.npy" for r in results))
        refused = {lines.get(int(line)): text for line, text, name in ERROR.findall(errors) if name == "not-supported"}
        if len(cells) == 1:
            found[cells[0]][target] = self.state(target, status, out, errors, refused, file, said(printed) if cells[0].prints else None)
            return
        if status == 0 and not cells[0].prints:
            for cell in cells:
                found[cell][target] = self.assembled(file, target) if self.assemble else ("ok", "")
            return
        # What is refused of the common parameters is refused of all.
        refused = {cell: refused.get(cell, refused.get(None)) for cell in cells if None in refused or cell in refused}
        for cell, text in refused.items():
            found[cell][target] = "refused", text.replace(f" on `{target}`", "")
        rest = [cell for cell in cells if cell not in refused]
        half = 0 if refused else len(rest) // 2
        for part in (rest[:half], rest[half:]):
            if part:
                self.on_emulator(target, part, names, expected, printed, found)

    def state(self, target, status, out, errors, refused, file, printed):
        if status == 0 and (printed is None or said(out) == printed):
            return self.assembled(file, target) if self.assemble else ("ok", "")
        if refused:
            return "refused", next(iter(refused.values())).replace(f" on `{target}`", "")
        self.faults.append(f"{target}: {out}{errors}{file.read_text()}")
        what = [text for sign, text in FAULTS.items() if sign in out + errors]
        return "fault", what[0] if what else "wrong output" if status == 0 else f"status {status}"

    def assembled(self, file, target):
        status, _, errors = tilec(file, "--arch=" + target, "-o", file.with_suffix(".cubin"))
        if status:
            self.faults.append(f"{target}: {errors}")
        return ("ok", "") if status == 0 else ("fault", "ptxas")

    def instructions(self, kind, target):
        """Those of a product of this kind, in the PTX for the target."""
        cell = support_programs.product_cell(*kind, "A Bᵀ")
        file, _ = self.write([cell], {cell: 0})
        status, out, _ = tilec(file, "--arch=" + target, "--emit=ptx", "-o", "-")
        names = {"wgmma " + wgmma if wgmma else f"{sync} {shape}" for wgmma, sync, shape in INSTRUCTION.findall(out)}
        return "-" if status else ", ".join(sorted(names)) or "multiply-add"

    def remark(self, cell):
        """What `--report` says an annotation does not do yet."""
        file, _ = self.write([cell], {cell: 0})
        _, _, errors = tilec(file, "--report", "--emit=ptx", "-o", file.with_suffix(".ptx"))
        texts = re.findall(r"remark: [^:]*: (@.*\byet\b.*?) \[remark\]", errors)
        return "; ".join(dict.fromkeys(texts))


def groups(cells):
    by_kernel = collections.defaultdict(list)
    for cell in cells:
        by_kernel[cell.kernel, cell if cell.prints else None].append(cell)  # what it prints is its own
    # The longest first, so that no core waits for the last one.
    return sorted(by_kernel.values(), key=len, reverse=True)


class Notes:
    """Refusals, numbered as they first come up."""

    def __init__(self):
        self.texts = {}

    def mark(self, state):
        kind, text = state
        if kind == "refused":
            return f"[{self.texts.setdefault(text, len(self.texts) + 1)}]"
        return "✓" if kind == "ok" else f"✗ {text}"

    def cell(self, states):
        marks = [self.mark(states[target]) for target in TARGETS]
        return marks[0] if marks[0] == marks[1] else f"{marks[0]} / {marks[1]}"

    def lines(self):
        return [f"{number}. {text[0].upper() + text[1:]} [not-supported]" for text, number in self.texts.items()]


def table(title, cells, found, notes, more):
    """A table; `more` has further columns: {name: {row: text}}."""
    rows = list(dict.fromkeys(cell.row for cell in cells))
    order = {name: number for number, name in enumerate(ALL + list(PLACES))}
    columns = sorted({cell.column for cell in cells}, key=lambda name: order.get(name, -1))
    at = {(cell.row, cell.column): notes.cell(found[cell]) for cell in cells if cell in found}
    head = {"Conversions of tiles": "from, to"}.get(title, "")
    yield f"## {title}"
    yield "| " + " | ".join([head, *(column or "runs" for column in columns), *more]) + " |"
    yield "|" + "---|" * (1 + len(columns) + len(more))
    for row in rows:
        texts = [at.get((row, column), "") for column in columns] + [further.get(row, "") for further in more.values()]
        yield "| " + " | ".join([row, *texts]) + " |"
    yield ""


def document(cells, found, further):
    notes = Notes()
    lines = []
    for title in dict.fromkeys(cell.table for cell in cells):
        lines += table(title, [c for c in cells if c.table == title], found, notes, further.get(title, {}))
    return "\n".join([BEGIN, "", *lines, "## Refusals", *(notes.lines() or ["There are none."])]) + "\n", notes


def measure(runner, cells, pool):
    """Everything that the document needs, by all cores."""
    found = {}
    running = [pool.submit(runner.run, group) for group in groups(cells)]
    products = {target: [pool.submit(runner.instructions, kind, target) for kind in PRODUCTS] for target in TARGETS}
    plain = [cell for cell in cells if not cell.column]
    remarks = {cell.row: pool.submit(runner.remark, cell) for cell in plain if "@" in cell.row}
    for job in running:
        found.update(job.result())
    rows = [support_programs.product_cell(*kind, "A Bᵀ").row for kind in PRODUCTS]
    further = {"Products": {target: dict(zip(rows, (job.result() for job in jobs))) for target, jobs in products.items()}}
    if plain:
        further[plain[0].table] = {"without effect yet": {row: job.result() for row, job in remarks.items()}}
    return found, further


def show(runner, text):
    for cell in support_programs.every_cell():
        if text in f"{cell.table}: {cell.row}: {cell.column}":
            print(f"// {cell.table}: {cell.row}: {cell.column}: {runner.run([cell]).get(cell, 'not in the language')}")
            print(f"// tilec run k.tile {' '.join(cell.kernel.args)}\n{program([cell], {cell: 0})[0]}")


def main():
    arguments = sys.argv[1:]
    if arguments and arguments[0] not in ("--write", "--show", "--assemble"):
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        runner = Runner(folder, "--assemble" in arguments)
        if "--show" in arguments:
            return show(runner, arguments[1])
        cells = list(support_programs.every_cell())
        try:
            tables, notes = document(cells, *measure(runner, cells, pool))
        except Broken as program:
            sys.exit(str(program))
    text = DOCUMENT.read_text()
    head, _, old = text.partition(BEGIN)
    print("\n".join(runner.faults + [f"{len(cells)} programs, {len(notes.texts)} kinds of refusals, {len(runner.faults)} faults"]))
    if "--write" in arguments:
        DOCUMENT.write_text(head + tables)
    elif BEGIN + old != tables:
        print("docs/support.md is not what the programs show (--write puts that in):")
        print("\n".join(difflib.unified_diff((BEGIN + old).splitlines(), tables.splitlines(), "document", "today", lineterm="", n=0)))
        sys.exit(1)


if __name__ == "__main__":
    main()
