"""Goes through a plan on the machine with the GPU: what is done is written down at once, and not done again by the next call."""
import concurrent.futures
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time

import calls
import peers
import results

HERE = pathlib.Path(__file__).resolve().parent


def run_process(command, environment, limit):
    """What a process prints as JSON in its last line, or what became of it."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment, start_new_session=True)
    try:
        out, err = process.communicate(timeout=limit)
        return json.loads(out.splitlines()[-1])
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return {"state": "time-out", "text": f"not done after {limit:g} s"}
    except (IndexError, json.JSONDecodeError):
        last = err.strip().splitlines()[-1:] or [f"status {process.returncode}"]
        return {"state": "failed", "text": last[0]}


def run_case(folder, case, on, limit, threads):
    """A process of its own, so that neither a crash nor a hang is more than one case, and neither leaves files behind."""
    begin = time.monotonic()
    with tempfile.TemporaryDirectory(dir=calls.memory()) as scratch:
        environment = {**os.environ, "TMPDIR": scratch, **{f"{name}_NUM_THREADS": str(threads) for name in ("OMP", "OPENBLAS", "MKL")}}
        result = run_process([sys.executable, HERE, "call", folder, case["key"], "--on", on], environment, limit)
    result["text"] = result.get("text", "")[:1000]
    return {"key": case["key"], "id": case["id"], "kind": "case", **result, "seconds": round(time.monotonic() - begin, 1)}


class NoGpu(Exception):
    pass


class Progress:
    """What is done, in a file of one JSON object a line."""

    def __init__(self, out, plan):
        out.mkdir(parents=True, exist_ok=True)
        self.path = out / "done.jsonl"
        known = {record["key"] for record in plan}
        self.done = {r["key"]: r for r in results.read_lines(self.path) if r["key"] in known}
        # What a call left half written is no line: the next one begins on its own.
        self.path.write_text("".join(json.dumps(r) + "\n" for r in self.done.values()))

    def add(self, record):
        self.done[record["key"]] = record
        with self.path.open("a") as file:
            file.write(json.dumps(record) + "\n")
        print(results.line(record), flush=True)


def run_cases(folder, cases, progress, given, deadline):
    """Several at a time; none begins behind the deadline."""
    threads = max(1, min(16, os.cpu_count() or 1) // given.jobs)

    stop = threading.Event()

    def one(case):
        late = stop.is_set() or time.monotonic() > deadline
        return None if late else run_case(folder, case, given.on, given.case_seconds, threads)

    with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
        for future in concurrent.futures.as_completed([pool.submit(one, case) for case in cases]):
            result = future.result()
            if result and result["state"] == "no GPU":  # nothing about the case
                stop.set()
                problem = result["text"]
            elif result:
                progress.add(result)
    if stop.is_set():
        raise NoGpu(problem)


def run_benches(folder, plan, benches, progress, given, deadline):
    """One after the other, alone on the GPU."""
    for bench in benches:
        if time.monotonic() > deadline:
            return
        progress.add(peers.time_kernel(folder, bench, plan["load_only"], given.rounds))


def run(folder, given):
    """The exit status."""
    plan = json.loads((folder / "plan.json").read_text())
    deadline = time.monotonic() + given.seconds
    records = [r for r in plan["plan"] if given.only in r["id"]]
    if given.on != "cuda":
        records = [r for r in records if r["kind"] != "bench"]
    if not records:
        print("acceptance: error: nothing in the plan is called so", file=sys.stderr)
        return 3
    progress = Progress(given.out, plan["plan"])
    if given.again:
        for record in records:
            if record["key"] in progress.done and results.is_wrong(progress.done[record["key"]]):
                del progress.done[record["key"]]
    left = [r for r in records if r["key"] not in progress.done]
    run_cases(folder, [r for r in left if r["kind"] != "bench"], progress, given, deadline)
    left = [r for r in records if r["key"] not in progress.done]
    if all(r["kind"] == "bench" for r in left):
        run_benches(folder, plan, left, progress, given, deadline)
    rest = sum(1 for r in records if r["key"] not in progress.done)
    summary = results.collect(plan, progress.done, given.on)
    results.write(given.out / "results.json", summary)
    print(results.totals(summary))
    kept = folder / "baseline.json"
    baseline = given.baseline or (kept if kept.exists() else None)
    if baseline and not rest:
        compared = results.compare(json.loads(baseline.read_text()), summary, given.limit)
        print("\n".join(compared.lines))
        if compared.worse:
            return 1
    if rest:
        print(f"rest: {rest}; the same command goes on")
        return 2
    return 1 if any(results.is_wrong(progress.done[r["key"]]) for r in records) or plan["problems"] else 0
