"""The command line of tools/dev/random."""
import argparse
import collections
import concurrent.futures
import os
import subprocess
import sys
import tempfile

from . import gpu, kept, loops, mutate
from .draw import draw_program
from .features import TABLE
from .run import COMPILE_SECONDS, Tools, clean, extents_of, run_program
from .shrink import shrink_failure
from .tally import Tally

ATTEMPTS = 8  # draws for a seed whose first programs commit errors
ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", ".."))


def run_seed(tools, seed, only, folder, schedules):
    """(program, outcome) of a seed."""
    for attempt in range(ATTEMPTS):
        program = draw_program(seed, attempt, only)
        outcome = run_program(tools, program, seed, folder, schedules)
        if not outcome.error:
            return program, outcome
    return program, outcome


def _job(arguments):
    tools, seed, only, base, schedules = arguments
    folder = os.path.join(base, str(seed))
    try:
        program, outcome = run_seed(tools, seed, only, folder, schedules)
    finally:
        clean(folder)
    return seed, program, outcome


def keep_shrunk(tools, program, seed, failure, folder, base, seconds):
    small, found = shrink_failure(tools, program, seed, failure.kind, os.path.join(base, f"shrink{seed}"), seconds)
    small, found = (small, found) if found else (program, failure)
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, f"seed{seed}.tile")
    kept.write_case(path, small, seed, [extents_of(small, c) for c in small.calls], found)
    print(f"  wrote {path}")


def run_random(options, tools, base):
    tally = Tally()
    seeds = range(options.seed, options.seed + options.count)
    jobs = [(tools, seed, options.only, base, options.schedules) for seed in seeds]
    for seed, program, outcome in in_parallel(_job, jobs, options.jobs):
        if outcome.error:
            tally.outcomes["discarded"] += 1
            continue
        tally.add(program, seed, outcome)
        if outcome.failures:
            print(f"seed {seed}: {outcome.failures[0]}", flush=True)
            for other in sorted({f.kind for f in outcome.failures} - {outcome.failures[0].kind}):
                print(f"  also: {other}")
            if options.keep:
                keep_shrunk(tools, program, seed, outcome.failures[0], options.keep, base, options.shrink_seconds)
        elif options.verbose:
            print(f"seed {seed}: {outcome.seconds:.1f} s, compiled in {outcome.compile_seconds:.1f} s {outcome.refusals}", flush=True)
    print("\n".join(tally.lines(options.seed)))
    if options.tally:
        tally.append_to(os.path.join(ROOT, "test", "random", "tally.txt"), ROOT, options.seed, options.count)
    return bool(tally.outcomes["failed"])


def _mutants(arguments):
    tools, seed, only, base = arguments
    folder = os.path.join(base, str(seed))
    try:
        return seed, list(mutate.check_program(tools, draw_program(seed, 0, only), seed, folder))
    finally:
        clean(folder)


def run_mutants(options, tools, base):
    """Mutants of programs that pass; fails if nobody notices one."""
    counts, missed = collections.Counter(), 0
    jobs = [(tools, seed, options.only, base) for seed in range(options.seed, options.seed + options.count)]
    for seed, mutants in in_parallel(_mutants, jobs, options.jobs):
        for kind, text, who in mutants:
            counts[kind, who or "NOT NOTICED"] += 1
            if who is None:
                missed += 1
                print(f"seed {seed}: {kind}: {text}", flush=True)
    print("\n".join(mutate.table(counts)))
    print(f"{sum(counts.values()) - missed} mutants noticed, {missed} not")
    return missed > 0


def write_packs(options, tools, base):
    os.makedirs(options.write_packs, exist_ok=True)
    failed = 0
    jobs = [(tools, seed, options.only, base, options.write_packs) for seed in range(options.seed, options.seed + options.count)]
    for seed, outcome in in_parallel(gpu.write_pack, jobs, options.jobs):
        failed += bool(outcome.failures)
        for text in outcome.failures or outcome.refusals:
            print(f"seed {seed}: {text}", flush=True)
    print(f"{len(gpu.packs(options.write_packs))} packs, {failed} failed")
    return failed > 0


def run_packs(options, tools, base):
    counts = collections.Counter()
    jobs = [(tools, seed, options.only, base, path) for seed, path in gpu.packs(options.run_packs)]
    for seed, outcome in in_parallel(gpu.run_pack, jobs, options.jobs):
        counts["discarded" if outcome.error else "failed" if outcome.failures else "passed"] += 1
        for failure in outcome.failures:
            print(f"seed {seed}: {failure}", flush=True)
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['discarded']} discarded")
    return counts["failed"] > 0


def in_parallel(function, jobs, processes):
    """Results in the order of the jobs."""
    if processes <= 1:
        yield from map(function, jobs)
        return
    with concurrent.futures.ProcessPoolExecutor(processes) as executor:
        yield from executor.map(function, jobs)


def _replay(arguments):
    tools, path, base = arguments
    folder = os.path.join(base, os.path.basename(path))
    try:
        return path, kept.replay(tools, path, folder)
    finally:
        clean(folder)


def run_files(options, tools, base):
    jobs = [(tools, path, base) for path in options.replay]
    failed = 0
    for path, outcome in in_parallel(_replay, jobs, options.jobs):
        if outcome.failures:
            failed += 1
            print(f"{path}: {outcome.failures[0]}", flush=True)
        elif options.verbose:
            print(f"{path}: as expected", flush=True)
    print(f"{len(jobs) - failed} passed, {failed} failed")
    return failed > 0


def run_loops(options, tools, base):
    failed = refused = 0
    jobs = [(tools, seed, os.path.join(base, str(seed)), options.keep) for seed in range(options.seed, options.seed + options.count)]
    for seed, outcome in in_parallel(loops.run_seed, jobs, options.jobs):
        failed += bool(outcome.failures)
        refused += bool(outcome.refusals)
        for failure in outcome.failures[:1]:
            print(f"loop {seed}: {failure}", flush=True)
    print(f"{len(jobs) - failed} loops passed, {refused} refused by a target, {failed} failed")
    return failed > 0


def main(argv):
    parser = argparse.ArgumentParser(prog="tools/dev/random", description="Random programs: cpu against the emulator and an interpreter.")
    parser.add_argument("--count", type=int, default=20, help="programs to run")
    parser.add_argument("--seed", type=int, default=0, help="the first seed; one for each program")
    parser.add_argument("--commit", action="store_true", help="take the seed from the commit's hash")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--schedules", type=int, default=1, help="random schedules of each call, besides those of a plain run")
    parser.add_argument("--only", choices=sorted(TABLE), help="mostly this feature")
    parser.add_argument("--compile-seconds", type=float, default=COMPILE_SECONDS, metavar="N", help="of the processor, for each architecture (%(default)s)")
    parser.add_argument("--keep", metavar="DIR", help="shrink what fails and write it here")
    parser.add_argument("--shrink-seconds", type=int, default=90)
    parser.add_argument("--print", type=int, metavar="SEED", help="write the program of a seed and stop")
    parser.add_argument("--replay", nargs="+", metavar="FILE", help="run kept programs")
    parser.add_argument("--write-packs", metavar="DIR", help="compile only, into DIR")
    parser.add_argument("--run-packs", metavar="DIR", help="run such packs on a GPU")
    parser.add_argument("--mutate", action="store_true", help="put faults into the programs: each must be noticed")
    parser.add_argument("--loops", action="store_true", help="run loops of several products instead, planned and drawn schedules")
    parser.add_argument("--tally", action="store_true", help="add a line to test/random/tally.txt")
    parser.add_argument("-v", "--verbose", action="store_true")
    options = parser.parse_args(argv)
    tools = Tools(ROOT, options.compile_seconds)
    if options.print is not None:
        print(draw_program(options.print, 0, options.only).text(), end="")
        return 0
    if options.commit:
        hash = subprocess.run(["git", "-C", ROOT, "rev-parse", "HEAD"], capture_output=True, text=True, check=True).stdout
        options.seed = int(hash[:8], 16)
        print(f"seed {options.seed}, of commit {hash[:12]}")
    with tempfile.TemporaryDirectory(prefix="tile-random-") as base:
        choices = {"replay": run_files, "mutate": run_mutants, "loops": run_loops, "write_packs": write_packs, "run_packs": run_packs}
        act = next((f for name, f in choices.items() if getattr(options, name)), run_random)
        failed = act(options, tools, base)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
