#!/usr/bin/env python3
"""Breaks the synchronisation of PTX programs, one instruction at a time, and counts how often the emulator notices.

    sabotage.py FILE.ptx... [--runner PTX_RUN] [--schedules N] [--jobs N] [--limit N] [--reasons FILE] [--options TEXT] [--verbose]

Each FILE has a description (test/ptx/README.md), and perhaps more in NAME+*.json beside it: launches of other sizes. What it computes
unbroken is taken for right. The mutants:
  remove   fences, barrier arrivals and waits, initialisations of mbarriers, commits and waits of asynchronous groups; waits for
           mbarriers become true at once
  parity   waits for the other phase of an mbarrier
  bytes    one byte more, one byte less expected by an mbarrier
  count    one arrival more, one less expected by an mbarrier; a warp more, a warp less by a named barrier
  loosen   one group more left pending by wait_group
Each is run with every description, round-robin and in N random schedules, until it is caught: `reported` (a race, an uninitialised read, misuse), `hang` (deadlock,
or no end), or `wrong` (another result). The rest have survived: they are printed, with the reason why they are equivalent if FILE has one
(lines `PROGRAM: MUTANT: INSTRUCTION: REASON`, the first three as shell patterns).
Exit status: 0 if at least 95 of 100 mutants without such a reason are caught, 1 if fewer, 2 if an unbroken program is not clean.
"""
import argparse
import collections
import concurrent.futures
import fnmatch
import pathlib
import re
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "test/ptx"))
import inputs  # noqa: E402

INSTRUCTION = re.compile(r"^(?P<head>\s*\{?\s*(?P<guard>@!?%?\w+\s+)?)(?P<opcode>[a-z][\w.:]*)(?P<operands>[^;]*);(?P<tail>.*)$")
REMOVED = re.compile(r"(fence|membar|bar|barrier)\.|mbarrier\.(init|arrive|arrive_drop|expect_tx|complete_tx)\b|cp\.async\.(commit_group|wait_group|wait_all|mbarrier)\b|"
                     r"cp\.async\.bulk\.(commit_group|wait_group)\b|wgmma\.(fence|commit_group|wait_group)\b")
SECONDS = 60  # more than that is no end


def split_operands(text):
    """The operands, cut at commas outside of brackets."""
    parts, depth, current = [], 0, ""
    for letter in text:
        depth += (letter in "[{") - (letter in "]}")
        if letter == "," and depth == 0:
            parts.append(current.strip())
            current = ""
        else:
            current += letter
    return parts + ([current.strip()] if current.strip() else [])


def changed(match, operands, index, delta):
    """The line with an integer operand changed by delta, or XORed with 1 for delta None; registers through a new one."""
    guard, opcode = match["guard"] or "", match["opcode"]
    value = operands[index]
    if re.fullmatch(r"-?\d+|0x[0-9a-fA-F]+", value):
        number = int(value, 0)
        fresh = number ^ 1 if delta is None else number + delta
        if fresh < 0:
            return None
        return f"{match['head']}{opcode} {', '.join(operands[:index] + [str(fresh)] + operands[index + 1:])};{match['tail']}"
    change = f"xor.b32 %sabotage, {value}, 1" if delta is None else f"add.u32 %sabotage, {value}, {delta}"
    operands = operands[:index] + ["%sabotage"] + operands[index + 1:]
    return f"{{ .reg .b32 %sabotage; {change}; {guard}{opcode} {', '.join(operands)}; }}"


def mutants_of_line(line):
    """[(kind of mutant, new line)]"""
    match = INSTRUCTION.match(line)
    if not match:
        return
    opcode, operands = match["opcode"], split_operands(match["operands"])
    head = match["head"] if "{" in match["head"] else ""
    brace = "{" if "{" in head else ""
    if REMOVED.match(opcode):
        yield "remove", brace + match["tail"]
    if re.match(r"mbarrier\.(try_wait|test_wait)\b", opcode):
        yield "remove", f"{match['head']}setp.eq.u32 {operands[0]}, 0, 0;{match['tail']}"
        if ".parity" in opcode:
            yield "parity", changed(match, operands, 2, None)
    numbers = []
    if "expect_tx" in opcode:
        numbers = [("bytes", len(operands) - 1, 1), ("bytes", len(operands) - 1, -1)]
    elif opcode.startswith("mbarrier.init"):
        numbers = [("count", 1, 1), ("count", 1, -1)]
    elif re.match(r"(bar|barrier)\.(cta\.)?(sync|arrive)\b", opcode) and len(operands) == 2:
        numbers = [("count", 1, 32), ("count", 1, -32)]
    elif "wait_group" in opcode:
        numbers = [("loosen", 0, 1)]
    for kind, index, delta in numbers:
        fresh = changed(match, operands, index, delta)
        if fresh is not None:
            yield f"{kind} {delta:+d}" if kind != "loosen" else kind, fresh


class Program:
    def __init__(self, path, runner, folder):
        self.path, self.name, self.runner, self.folder = path, path.stem, runner, folder
        self.lines = path.read_text().splitlines()
        beside = [path.with_suffix(".json"), *sorted(path.parent.glob(self.name + "+*.json"))]
        self.descriptions = [["--description", str(file)] for file in beside if file.exists()] or [[]]
        self.order = range(len(self.descriptions))  # the quickest first, once that is known
        self.answers = [str(folder / f"{self.name}.{i}.answer") for i in range(len(self.descriptions))]
        entry = self.entry_lines()
        self.mutants = [(number, kind, fresh) for number in entry for kind, fresh in mutants_of_line(self.lines[number])]

    def entry_lines(self):
        """Numbers of the lines of the functions that are launched."""
        names = {launch["entry"] for launch in inputs.read_description(self.path)[0]["launches"]}
        inside, result = False, []
        for number, line in enumerate(self.lines):
            entry = re.search(r"\.(?:entry|func)\s+(\w+)", line)
            if entry:
                inside = entry[1] in names
            if inside:
                result.append(number)
        return result

    def run(self, path, which, extra):
        """(exit status, output); status None: out of time."""
        command = [*self.runner, str(path), *self.descriptions[which], "--quiet", "--budget", "50000000", *extra]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
            return done.returncode, done.stdout + done.stderr
        except subprocess.TimeoutExpired:
            return None, ""

    def runs(self, schedules):
        """[(description, options)], all round-robin ones first."""
        return [(which, ["--seed", str(seed)] if seed else []) for seed in range(schedules + 1) for which in self.order]

    def baseline(self, schedules):
        """What the unbroken program gets wrong, or ''."""
        seconds = {}
        for which, seed in self.runs(schedules):
            begin = time.time()
            status, text = self.run(self.path, which, ["--answer" if seed else "--out", self.answers[which], *seed])
            if status != 0:
                return f"status {status}: {text[:2000]}"
            seconds.setdefault(which, time.time() - begin)
        self.order = sorted(self.order, key=seconds.get)
        return ""

    def judge(self, index, schedules):
        """(verdict, text) of one mutant."""
        number, _, fresh = self.mutants[index]
        path = self.folder / f"{self.name}.{index}.ptx"
        path.write_text("\n".join(self.lines[:number] + [fresh] + self.lines[number + 1:]) + "\n")
        try:
            for which, seed in self.runs(schedules):
                status, text = self.run(path, which, ["--answer", self.answers[which], *seed])
                if status != 0:
                    return self.verdict(status, text)
            return "survived", ""
        finally:
            path.unlink()

    @staticmethod
    def verdict(status, text):
        first = text.strip().split("\n")[0]
        if status is None:
            return "hang", "no end"
        if status == 1:
            return ("hang" if first.startswith(("deadlock", "step budget", "budget")) else "reported"), first
        if status == 2:
            return "wrong", first
        return "broken", first


def reason_for(reasons, program, kind, instruction):
    for pattern in reasons:
        if all(fnmatch.fnmatchcase(text, part) for text, part in zip((program, kind, instruction), pattern[:3])):
            return pattern[3]
    return ""


def show(program, results, reasons, verbose):
    """Prints what survived, or all; how many survivors have a reason."""
    explained = 0
    for i, (verdict, text) in results:
        number, kind, _ = program.mutants[i]
        instruction = " ".join(program.lines[number].split("//")[0].split())
        reason = reason_for(reasons, program.name, kind, instruction) if verdict == "survived" else text
        explained += verdict == "survived" and bool(reason)
        if verdict in ("survived", "broken") or verbose:
            print(f"  {verdict}: line {number + 1}, {kind}: {instruction}" + (f"\n      {reason}" if reason else ""), flush=True)
    return explained


def read_reasons(path):
    if path is None:
        return []
    lines = [line.strip() for line in path.read_text().splitlines()]
    return [[part.strip() for part in line.split(": ", 3)] for line in lines if line and not line.startswith("#")]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    parser.add_argument("--runner", default="build/bin/ptx-run")
    parser.add_argument("--schedules", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--limit", type=int, help="only this many mutants of each program, evenly spread")
    parser.add_argument("--reasons", type=pathlib.Path)
    parser.add_argument("--options", default="", help="more options of ptx-run, as one word: --options=--strict-proxies")
    parser.add_argument("--verbose", action="store_true", help="print every mutant")
    args = parser.parse_args()
    reasons = read_reasons(args.reasons)
    total, explained = collections.Counter(), 0
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for path in args.files:
            program = Program(path, [args.runner, *args.options.split()], pathlib.Path(folder))
            unclean = program.baseline(args.schedules)
            if unclean:
                print(f"{program.name}: unbroken, but {unclean}")
                return 2
            chosen = range(len(program.mutants))
            if args.limit and args.limit < len(program.mutants):
                chosen = [i * len(program.mutants) // args.limit for i in range(args.limit)]
            results = list(pool.map(lambda i: program.judge(i, args.schedules), chosen))
            counts = collections.Counter(verdict for verdict, _ in results)
            total += counts
            print(f"{program.name}: {len(results)} mutants, " + ", ".join(f"{n} {verdict}" for verdict, n in sorted(counts.items())), flush=True)
            explained += show(program, zip(chosen, results), reasons, args.verbose)
    mutants = sum(total.values())
    caught = total["reported"] + total["hang"] + total["wrong"]
    different = mutants - explained
    print(f"{caught} of {mutants} mutants caught ({100 * caught / max(mutants, 1):.1f} %): " + ", ".join(f"{n} {verdict}" for verdict, n in sorted(total.items())) +
          f"; {explained} of those that survived are equivalent, so {100 * caught / max(different, 1):.1f} % of the others are caught")
    return 0 if different and caught >= 0.95 * different else 1


if __name__ == "__main__":
    sys.exit(main())
