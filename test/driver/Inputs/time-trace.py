#!/usr/bin/python3
"""time-trace.py FILE [NAME...]: is FILE a trace as Chrome reads it, and are scopes of these names in it?

A NAME may have what it is about behind `=`: `ptxas=sm_90a`. Prints how many threads have events.
"""
import json
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    trace = json.load(file)
events = trace["traceEvents"]
for event in events:
    assert event["ph"] in ("X", "M") and isinstance(event["pid"], int) and isinstance(event["tid"], int), event
    assert event["ph"] == "M" or (event["ts"] >= 0 and event["dur"] >= 0 and event["name"]), event
spans = [event for event in events if event["ph"] == "X" and not event["name"].startswith("Total ")]
# In a thread scopes lie in each other or apart.
for one in {span["tid"] for span in spans}:
    open_until = []
    for span in sorted((s for s in spans if s["tid"] == one), key=lambda s: (s["ts"], -s["dur"])):
        while open_until and open_until[-1] <= span["ts"]:
            open_until.pop()
        assert not open_until or span["ts"] + span["dur"] <= open_until[-1] + 1, span
        open_until.append(span["ts"] + span["dur"])
for wanted in sys.argv[2:]:
    name, _, detail = wanted.partition("=")
    found = [e for e in events if e["name"] in (name, "Total " + name) and (not detail or detail in e.get("args", {}).get("detail", ""))]
    assert found, f"no {wanted} in {sorted({e['name'] for e in events})}"
print(f"{len({span['tid'] for span in spans})} threads")
