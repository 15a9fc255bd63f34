#!/usr/bin/env python3
"""Breaks the synchronisation of PTX programs, one instruction at a time, and counts how often the emulator notices.

    sabotage.py FILE.ptx... [--runner PTX_RUN] [--schedules N] [--clean-schedules N] [--jobs N] [--limit N] [--reasons FILE] [--options TEXT]
                [--verbose] [--group TITLE=PATTERN...]

Each FILE has a description (test/ptx/README.md), and perhaps more in NAME+*.json beside it: launches of other sizes. What it computes
unbroken is taken for right. The mutants:
  remove   fences, barrier arrivals and waits, initialisations of mbarriers, commits and waits of asynchronous groups; waits for
           mbarriers become true at once
  parity   waits for the other phase of an mbarrier
  bytes    one byte more, one byte less expected by an mbarrier
  count    one arrival more, one less expected by an mbarrier; a warp more, a warp less by a named barrier
  loosen   one group more left pending by wait_group; .read in a wait for bulk groups
  late     a fence or a wait for a group moved behind the next barrier, arrival or copy; early: an arrival moved before the access
           that comes before it
  relax    .release and .acquire become .relaxed; narrow: .gpu and .cluster become .cta
  other    the threads of every second warp arrive for those of the next one
Each is run with every description, in a plain run (round-robin and a few random schedules) and in N more random schedules, until it is
caught: `reported` (a race, an uninitialised read, misuse), `hang` (deadlock, or no end), or `wrong` (another result). The rest have
survived: they are printed with what the file of reasons says of them. A line there is

    PROGRAM...: MUTANT: ROLE: VERDICT: REASON

PROGRAM is a name, or several with spaces between, each of which has such a survivor. ROLE names one instruction: `INSTRUCTION after ONE before ANOTHER #N`, the N-th of those that stand between these two others that
synchronise, copy or multiply. Lines and registers are not part of it, so it stays when something else in the program changes.
VERDICT is `equivalent`, if the mutant is as right as the program by the letter of PTX, or `not modelled`.
Exit status: 0 if all mutants that survive have a reason and every reason for a program that was run is needed, 1 if not, 2 if an
unbroken program is not clean.
"""
import argparse
import collections
import concurrent.futures
import fnmatch
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "test/ptx"))
import inputs  # noqa: E402

INSTRUCTION = re.compile(r"^(?P<head>\s*\{?\s*(?P<guard>@!?%?\w+\s+)?)(?P<opcode>[a-z][\w.:]*)(?P<operands>[^;]*);(?P<tail>.*)$")
REMOVED = re.compile(r"(fence|membar|bar|barrier)\.|mbarrier\.(init|arrive|arrive_drop|expect_tx|complete_tx)\b|cp\.async\.(commit_group|wait_group|wait_all|mbarrier)\b|"
                     r"cp\.async\.bulk\.(commit_group|wait_group)\b|wgmma\.(fence|commit_group|wait_group)\b")
LANDMARK = re.compile(REMOVED.pattern + r"|mbarrier\.|(cp|cp\.reduce)\.async|(wg)?mma\b|(ld|st)matrix\b|(atom|red|st\.async|setmaxnreg)\b")
SECONDS = 60  # of processor time: more than that is no end
OUT_OF_TIME = (-signal.SIGXCPU, -signal.SIGKILL)


def short_name(opcode):
    """`cp.async.bulk.tensor.2d.shared`: an instruction without what its tile decides."""
    parts = [part.split("::")[0] for part in opcode.split(".")]
    return ".".join(parts[:6 if parts[0] == "cp" else 4])


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


def weakened(match, opcode):
    """[(kind, line)]: the same instruction with less effect."""
    def with_opcode(fresh):
        return f"{match['head']}{fresh}{match['operands']};{match['tail']}"
    if re.match(r"cp\.async\.bulk\.wait_group$", opcode):
        yield "loosen", with_opcode(opcode + ".read")
    relaxed = re.sub(r"\.(release|acquire)\.", ".relaxed.", opcode)
    if relaxed != opcode and not opcode.startswith(("fence", "griddep")):
        yield "relax", with_opcode(relaxed)
    elif re.match(r"barrier\.cluster\.arrive(\.release)?(\.aligned)?$", opcode):
        yield "relax", with_opcode("barrier.cluster.arrive.relaxed" + (".aligned" if "aligned" in opcode else ""))
    if re.match(r"(fence\.(acq_rel|sc)|atom|red|ld|st)\b", opcode) and re.search(r"\.(gpu|cluster)\b", opcode):
        yield "narrow", with_opcode(re.sub(r"\.(gpu|cluster)\b", ".cta", opcode, count=1))
    elif opcode == "membar.gl":
        yield "narrow", with_opcode("membar.cta")
    operands = split_operands(match["operands"])
    if re.match(r"mbarrier\.arrive\.", opcode) and "expect_tx" not in opcode and "noComplete" not in opcode and len(operands) == 2 and operands[0] == "_":
        guard = re.match(r"@(!?)(\S+)", match["guard"] or "")
        both = f"{'not.pred %sabotaged, ' + guard[2] + '; and.pred %sabotage, %sabotage, %sabotaged;' if guard[1] else 'and.pred %sabotage, %sabotage, ' + guard[2] + ';'}" if guard else ""
        yield "other", (f"{{ .reg .pred %sabotage, %sabotaged; .reg .b32 %sabotaget; mov.u32 %sabotaget, %tid.x; and.b32 %sabotaget, %sabotaget, 32; "
                        f"setp.eq.u32 %sabotage, %sabotaget, 0; {both} @%sabotage {opcode} {', '.join(operands)}, 2; }}")


MOVED_LATE = re.compile(r"fence\.(proxy|mbarrier_init|acq_rel|sc|acquire|release)|membar\.|cp\.async\.(bulk\.)?wait_(group|all)|wgmma\.(wait_group|fence)")
BARRIER = re.compile(r"(bar|barrier)\.|mbarrier\.arrive|cp\.async\.bulk\.|wgmma\.mma_async|st\.release|atom\.|red\.")
ACCESS = re.compile(r"(ld|st)\.(shared|global|weak)|ldmatrix|stmatrix|wgmma\.wait_group|cp\.async\.wait")


def moved(lines, number):
    """[(kind, how many lines are replaced, new lines)]: the instruction swapped with one that it has to stand before or behind; within a
    basic block."""
    match = INSTRUCTION.match(lines[number])
    if not match or "{" in match["head"]:
        return
    late, early = MOVED_LATE.match(match["opcode"]), re.match(r"(mbarrier\.arrive|bar\.arrive|barrier\.cluster\.arrive)", match["opcode"])
    step, target = (1, BARRIER) if late else (-1, ACCESS)
    other = number
    for _ in range(24 if late or early else 0):
        other += step
        if not 0 <= other < len(lines) or re.match(r"\s*[\w$]+:|\s*[{}]|.*\b(bra|ret|exit)\b", lines[other]):
            return
        there = INSTRUCTION.match(lines[other])
        if there and target.match(there["opcode"]):
            first, last = min(number, other), max(number, other)
            rest = lines[first:number] + lines[number + 1:last + 1]
            yield ("late", first, last, rest + [lines[number]]) if late else ("early", first, last, [lines[number]] + rest)
            return


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
    yield from weakened(match, opcode)
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
        self.mutants = []  # (line, kind, first and last of the lines that are replaced, by what)
        for number in entry:
            self.mutants += [(number, kind, number, number, [fresh]) for kind, fresh in mutants_of_line(self.lines[number])]
            self.mutants += [(number, *mutant) for mutant in moved(self.lines, number)]
        self.roles = self.name_roles(entry)

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

    def name_roles(self, entry):
        """Of the lines of the functions that are launched what they are to a reason."""
        matches = [(number, INSTRUCTION.match(self.lines[number])) for number in entry]
        landmarks = [(number, short_name(match["opcode"])) for number, match in matches if match and LANDMARK.match(match["opcode"])]
        seen, roles, passed = collections.Counter(), {}, 0
        for number, match in matches:
            while passed < len(landmarks) and landmarks[passed][0] < number:
                passed += 1
            if match:
                following = landmarks[passed:passed + 2]
                following = [name for other, name in following if other != number] + ["the end"]
                before = landmarks[passed - 1][1] if passed else "the start"
                role = f"{match['opcode']} after {before} before {following[0]}"
                seen[role] += 1
                roles[number] = f"{role} #{seen[role]}"
        return roles

    def run(self, path, which, extra):
        """(exit status, output); status None: out of time."""
        command = [*self.runner, str(path), *self.descriptions[which], "--quiet", "--budget", "50000000", *extra]
        limited = ["sh", "-c", f'ulimit -t {SECONDS}; exec "$@"', "sh", *command]
        done = subprocess.run(limited, capture_output=True, text=True)
        return None if done.returncode in OUT_OF_TIME else done.returncode, done.stdout + done.stderr

    def runs(self, schedules):
        """[(description, options)], all plain runs first."""
        return [(which, ["--seed", str(seed + 100)] if seed else []) for seed in range(schedules + 1) for which in self.order]

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
        _, _, first, last, fresh = self.mutants[index]
        path = self.folder / f"{self.name}.{index}.ptx"
        path.write_text("\n".join(self.lines[:first] + fresh + self.lines[last + 1:]) + "\n")
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


class Reasons:
    """What the file says of mutants that survive."""
    VERDICTS = ("equivalent", "not modelled")

    def __init__(self, path):
        self.entries, self.used = {}, set()
        for number, line in enumerate(path.read_text().splitlines() if path else [], 1):
            if not line.strip() or line.startswith("#"):
                continue
            match = re.fullmatch(r"([^:]+): ([^:]+): (\S+ after .+ before .+ #\d+): (" + "|".join(self.VERDICTS) + r"): (.+)", line)
            if not match:
                sys.exit(f"{path}:{number}: no PROGRAM: MUTANT: ROLE: VERDICT: REASON")
            for name in match.group(1).split():
                if (key := (name, *match.group(2, 3))) in self.entries:
                    sys.exit(f"{path}:{number}: the second reason for the same mutant")
                self.entries[key] = match.group(4, 5)

    def find(self, program, mutant):
        """(verdict, reason) or None."""
        number, kind = mutant[:2]
        key = (program.name, kind, program.roles[number])
        self.used.add(key)
        return self.entries.get(key)

    def unused(self, names):
        return [key for key in self.entries if key not in self.used and key[0] in names]


def show(program, results, reasons, verbose):
    """Prints what survived, or all; how many survivors have which verdict."""
    counts = collections.Counter()
    for i, (verdict, text) in results:
        number, kind = program.mutants[i][:2]
        reason = reasons.find(program, program.mutants[i]) if verdict == "survived" else None
        if verdict == "survived":
            counts[reason[0] if reason else "unexplained"] += 1
        if reason is None and verdict in ("survived", "broken") or verbose:
            print(f"  {verdict}: {program.name}: {kind}: {program.roles[number]}   (line {number + 1})" +
                  (f"\n      {reason[0]}: {reason[1]}" if reason else f"\n      {text}" if text else ""), flush=True)
    return counts


def caught_of(counts, explained):
    """How many mutants were caught, how many there are, and how many of those are not equivalent."""
    mutants = sum(counts.values())
    return counts["reported"] + counts["hang"] + counts["wrong"], mutants, mutants - explained["equivalent"]


def row(title, counts, explained):
    """A line of the table in docs/emulator.md."""
    caught, mutants, different = caught_of(counts, explained)
    survivors = ", ".join(f"{n} {verdict}" for verdict, n in sorted(explained.items()))
    return f"| {title} | {mutants} | {caught} ({100 * caught / max(mutants, 1):.1f} %) | {100 * caught / max(different, 1):.1f} % | {survivors} |"


def shares(name, counts, explained):
    """One line: how many were caught, of all and of those that are not equivalent."""
    caught, mutants, different = caught_of(counts, explained)
    return (f"{name}: {caught} of {mutants} mutants caught ({100 * caught / max(mutants, 1):.1f} % raw, {100 * caught / max(different, 1):.1f} % of "
            f"those that are not equivalent): " + ", ".join(f"{n} {verdict}" for verdict, n in sorted(counts.items())) +
            "; of the survivors " + (", ".join(f"{n} {verdict}" for verdict, n in sorted(explained.items())) or "none"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    parser.add_argument("--runner", default="build/bin/ptx-run")
    parser.add_argument("--schedules", type=int, default=3)
    parser.add_argument("--clean-schedules", type=int, default=3, metavar="N", help="random schedules of each unbroken program and description")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--limit", type=int, help="only this many mutants of each program, evenly spread")
    parser.add_argument("--reasons", type=pathlib.Path)
    parser.add_argument("--options", default="", help="more options of ptx-run, as one word: --options=--lenient")
    parser.add_argument("--verbose", action="store_true", help="print every mutant")
    parser.add_argument("--group", action="append", default=[], metavar="TITLE=PATTERN...", help="at the end a table with a line for the programs whose names match, and one for all")
    args = parser.parse_args()
    reasons = Reasons(args.reasons)
    total, explained = collections.Counter(), collections.Counter()
    of_program = {}
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for path in args.files:
            program = Program(path, [args.runner, *args.options.split()], pathlib.Path(folder))
            unclean = program.baseline(args.clean_schedules)
            if unclean:
                print(f"{program.name}: unbroken, but {unclean}")
                return 2
            chosen = range(len(program.mutants))
            if args.limit and args.limit < len(program.mutants):
                chosen = [i * len(program.mutants) // args.limit for i in range(args.limit)]
            results = list(zip(chosen, pool.map(lambda i: program.judge(i, args.schedules), chosen)))
            counts = collections.Counter(verdict for _, (verdict, _) in results)
            verdicts = show(program, results, reasons, args.verbose)
            total += counts
            explained += verdicts
            of_program[program.name] = (counts, verdicts)
            print(shares(program.name, counts, verdicts), flush=True)
    if len(args.files) > 1:
        print(shares("all", total, explained))
    for group in args.group:
        title, patterns = group.rsplit("=", 1)
        members = [of_program[name] for name in of_program if any(fnmatch.fnmatch(name, pattern) for pattern in patterns.split())]
        print(row(title, sum((counts for counts, _ in members), collections.Counter()), sum((verdicts for _, verdicts in members), collections.Counter())))
    if args.group:
        print(row("all", total, explained))
    unused = [] if args.limit else reasons.unused([path.stem for path in args.files])
    for key in unused:
        print("not needed: " + ": ".join(key))
    return 1 if explained["unexplained"] or total["broken"] or unused else 0


if __name__ == "__main__":
    sys.exit(main())
