"""What a run found: kept as JSON, compared with an earlier one, printed as the table of docs/performance.md.

results.json has `device`, `cases` and `bench`. A case: `id`, `state` (right, wrong, failed, time-out), `error`. A time: `id`, `us`, the
median; `noise`, how far medians of rounds and half of all launches are off it, as a share; the same of torch's kernel and of what the
memory alone takes, where there are such.
"""
import json
import subprocess

OUTCOMES = ("right", "wrong", "failed", "time-out")


def read_lines(path):
    """The whole lines of a file that may end in half a one."""
    found = []
    for text in path.read_text().splitlines() if path.exists() else []:
        try:
            found.append(json.loads(text))
        except json.JSONDecodeError:
            continue
    return found


def is_wrong(record):
    return record["state"] != "right"


def line(record):
    """For people."""
    text = f"{record['state']:8} {record['id']}"
    if record.get("ours"):
        times = [f"{side} {record[side]['us']:.1f} us" for side in ("ours", "torch", "memory") if record.get(side)]
        text = f"time     {record['id']}: " + ", ".join(times)
    return text + (f": {record['text']}" if record.get("text") else "")


def device_name(on):
    if on != "cuda":
        return on
    try:
        done = subprocess.run(["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"], capture_output=True, text=True, timeout=60)
        return done.stdout.strip().splitlines()[0]
    except (OSError, IndexError, subprocess.TimeoutExpired):
        return "unknown"


def collect(plan, done, on):
    """What is done of the plan, in its order."""
    found = [done[r["key"]] for r in plan["plan"] if r["key"] in done]
    kept = [{k: v for k, v in r.items() if k not in ("key", "kind", "seconds") and v != ""} for r in found]
    return {
        "device": device_name(on),
        "planned": len(plan["plan"]),
        "not compiled": plan["problems"],
        "cases": [k for k, r in zip(kept, found) if r["kind"] != "bench"],
        "bench": [k for k, r in zip(kept, found) if r["kind"] == "bench"],
    }


def write(path, summary):
    """An object a line, so that versions of it can be compared by eye."""
    parts = [f"{json.dumps(name)}: {json.dumps(value)}" for name, value in summary.items() if not isinstance(value, list)]
    for name, value in summary.items():
        if isinstance(value, list):
            parts.append(f"{json.dumps(name)}: [\n" + ",\n".join(json.dumps(entry) for entry in value) + "\n]")
    path.write_text("{\n" + ",\n".join(parts) + "\n}\n")


def totals(summary):
    counts = {state: sum(1 for r in summary["cases"] if r["state"] == state) for state in OUTCOMES}
    text = ", ".join(f"{count} {state}" for state, count in counts.items() if count or state in ("right", "wrong"))
    return f"{text}; {len(summary['bench'])} timed; {len(summary['not compiled'])} packs not compiled; on {summary['device']}"


class Comparison:
    def __init__(self):
        self.lines, self.worse = [], 0

    def say(self, is_worse, text):
        self.lines.append(("WORSE  " if is_worse else "       ") + text)
        self.worse += is_worse


def compare_states(old, new, found):
    before = {r["id"]: r for r in old["cases"] + old["bench"]}
    after = {r["id"]: r for r in new["cases"] + new["bench"]}
    for name, record in after.items():
        state = before[name]["state"] if name in before else "not there"
        if state != record["state"] and not (state == "not there" and record["state"] == "right"):
            found.say(is_wrong(record), f"{name}: {state}, now {record['state']}" + (f": {record['text']}" if record.get("text") else ""))
        elif is_wrong(record):
            found.say(True, f"{name}: still {state}")
    added, gone = (sum(1 for name in a if name not in b) for a, b in ((after, before), (before, after)))
    if added or gone:
        found.say(False, f"{added} were not there before, {gone} are no longer")


def share(times, peer):
    """(time, noise) of a kernel, as a multiple of its peer's in the same run if there is one."""
    if not peer:
        return times["us"], times["noise"]
    return times["us"] / peer["us"], times["noise"] + peer["noise"]


def change(old, new, peer):
    """(by how much slower, what of it may be noise), of two records."""
    a, b = (share(r["ours"], r.get(peer)) for r in (old, new))
    return b[0] / a[0] - 1, a[1] + b[1]


STEADY = 0.05  # noise of a peer that is asked


def is_steady(peer):
    return bool(peer) and peer["noise"] <= STEADY


def compare_times(old, new, limit, found):
    """Slower is what is slower by the clock and, where something steady was timed beside it, beside that: the clock of a GPU changes, and
    so do peers. Each by more than the limit and more than noise."""
    before = {r["id"]: r for r in old["bench"] if r.get("ours")}
    for record in new["bench"]:
        earlier = before.get(record["id"])
        if not earlier or not record.get("ours"):
            continue
        peers = [None] + [p for p in ("memory", "torch") if is_steady(earlier.get(p)) and is_steady(record.get(p))][:1]
        changes = [change(earlier, record, peer) for peer in peers]
        beyond = [abs(by) > max(limit / 100, noise) for by, noise in changes]
        if all(beyond) and len({by > 0 for by, _ in changes}) == 1:
            text = ", ".join(f"{by:+.1%}{f' beside {p}' if p else ''} (noise {noise:.1%})" for (by, noise), p in zip(changes, peers))
            found.say(changes[0][0] > 0, f"{record['id']}: {earlier['ours']['us']:.1f} us, now {record['ours']['us']:.1f}: {text}")


def compare(old, new, limit):
    found = Comparison()
    compare_states(old, new, found)
    if old["device"] == new["device"]:
        compare_times(old, new, limit, found)
    else:
        found.say(False, f"times are not compared: {old['device']}, now {new['device']}")
    found.lines.append(f"{found.worse} worse")
    return found


def ratio(record, peer):
    return f"{record[peer]['us'] / record['ours']['us']:.2f}" if record.get(peer) else ""


def table(summary):
    rows = ["| kernel | shape | us | noise | memory us | memory / ours | torch us | torch / ours |", "|---|---|---|---|---|---|---|---|"]
    for record in summary["bench"]:
        if record.get("ours"):
            name, shape = record["id"].rsplit(": ", 1)
            cells = [name, shape, f"{record['ours']['us']:.1f}", f"{record['ours']['noise']:.1%}"]
            for peer in ("memory", "torch"):
                cells += [f"{record[peer]['us']:.1f}" if record.get(peer) else "", ratio(record, peer)]
            rows.append("| " + " | ".join(cells) + " |")
    return "\n".join(rows)
