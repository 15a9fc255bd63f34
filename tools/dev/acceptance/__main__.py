"""All shipped kernels on a GPU: results against numpy in float64, times beside torch's kernels and the memory alone.

    python3 tools/dev/acceptance prepare DIR  here: packs and a plan into DIR, with all that is needed there
    python3 DIR/acceptance run DIR --out OUT  on the GPU machine, where nothing is built: numpy; for times torch, too
    acceptance compare OLD NEW                two results.json: which cases changed, which times by more than noise
    acceptance table RESULTS                  the times, as docs/performance.md shows them

`run` writes each result down when it has it, and a second call goes on behind the first: so that no call takes longer than
--seconds and what runs last. It ends with 2 as long as there is a rest. OUT/results.json is everything that is known then.
Then it is compared with --baseline, or with test/gpu/acceptance.json as it was when DIR was made: a copy of results.json that is kept.
Exit status: 0 all right, 1 a wrong result or something worse than before, 2 there is a rest, 3 wrong usage or no GPU.
"""
import argparse
import json
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))


class Parser(argparse.ArgumentParser):
    def error(self, message):
        self.print_usage(sys.stderr)
        self.exit(3, f"{self.prog}: error: {message}\n")


def add_run(modes):
    there = modes.add_parser("run", help="run cases and times, go on where the last call stopped")
    there.add_argument("folder", type=pathlib.Path)
    there.add_argument("--out", type=pathlib.Path, required=True, help="folder for results; another one begins anew")
    there.add_argument("--on", choices=["cuda", "emu"], default="cuda", help="emu: no times")
    there.add_argument("--only", default="", help="what has this in its name")
    there.add_argument("--seconds", type=float, default=float("inf"), help="begin nothing later than that")
    there.add_argument("--case-seconds", type=float, default=150, help="what takes longer has failed")
    there.add_argument("--jobs", type=int, default=max(1, min(8, (os.cpu_count() or 1) // 2)), help="cases at a time")
    there.add_argument("--rounds", type=int, default=3, help="of timing")
    there.add_argument("--again", action="store_true", help="what was not right is done again")
    there.add_argument("--baseline", type=pathlib.Path, help="results.json to compare with when nothing is left (DIR/baseline.json)")
    there.add_argument("--limit", type=float, default=3, help="per cent that a time may be worse")


def parse():
    parser = Parser(prog="acceptance", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    modes = parser.add_subparsers(dest="mode", required=True, parser_class=Parser)
    here = modes.add_parser("prepare", help="make packs and a plan")
    here.add_argument("folder", type=pathlib.Path)
    here.add_argument("--only", default="", help="kernels that have this in their name")
    here.add_argument("--per-line", type=int, default=8, help="combinations of each `//! test:` line; 0: none of them")
    here.add_argument("--arch", default="sm_90a", help="architectures, with commas between; the first is timed")
    here.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    here.add_argument("--build", type=pathlib.Path, help="folder of the build (build)")
    here.add_argument("--no-bench", action="store_true", help="nothing to time")
    add_run(modes)
    two = modes.add_parser("compare", help="compare two runs")
    two.add_argument("old", type=pathlib.Path)
    two.add_argument("new", type=pathlib.Path)
    two.add_argument("--limit", type=float, default=3, help="per cent that a time may be worse")
    modes.add_parser("table", help="print the times").add_argument("results", type=pathlib.Path)
    one = modes.add_parser("call")  # of `run`, in a process of its own
    one.add_argument("folder", type=pathlib.Path)
    one.add_argument("key")
    one.add_argument("--on", default="cuda")
    return parser.parse_args()


def main():
    given = parse()
    if given.mode == "prepare":
        import prepare

        prepare.BUILD = given.build.resolve() if given.build else prepare.BUILD
        return 1 if prepare.prepare(given.folder, given.only, given.per_line, given.arch.split(","), given.jobs, not given.no_bench) else 0
    if given.mode == "run":
        import run

        try:
            return run.run(given.folder.resolve(), given)
        except run.NoGpu as error:
            print(f"acceptance: error: {error}", file=sys.stderr)
            return 3
    if given.mode == "call":
        import calls

        calls.call(given.folder, given.key, given.on)
        return 0
    import results

    if given.mode == "table":
        print(results.table(json.loads(given.results.read_text())))
        return 0
    found = results.compare(json.loads(given.old.read_text()), json.loads(given.new.read_text()), given.limit)
    print("\n".join(found.lines))
    return 1 if found.worse else 0


if __name__ == "__main__":
    sys.exit(main())
