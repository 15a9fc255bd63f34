"""Runs and compares times that a fake tile-run and a fake torch give: times.py PYTHON SCRIPT BUILD FAKE."""
import os
import pathlib
import shutil
import subprocess
import sys

python, script, build, fake = sys.argv[1:]


def call(*arguments):
    done = subprocess.run([python, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.stdout, done.returncode


def run(title, out, ours, spread=0.0, torch=0.25, baseline="first"):
    if ours:
        text = f"{ours:.4f} ms (median of 20, least {ours:.4f}, half {ours - spread:.4f} to {ours + spread:.4f})\n"
    else:
        text = "no such thing\n"
    pathlib.Path("ours").write_text("cuda: ran, not compared; " + text if ours else text)
    pathlib.Path("torch_ms").write_text(str(torch))
    text, status = call("packs/acceptance", "run", "packs", "--out", out, "--baseline", f"{baseline}/results.json")
    print(f"== {title}\n{text}status {status}")


made, status = call(script, "prepare", "packs", "--build", build, "--only", "softmax", "--per-line", "0")
plan = pathlib.Path("packs/plan.json")
assert status == 0, made
# Times alone.
import json  # noqa: E402

content = json.loads(plan.read_text())
content["plan"] = [record for record in content["plan"] if record["kind"] == "bench"]
plan.write_text(json.dumps(content))
shutil.copy(os.path.join(fake, "tile-run"), "packs/tile-run")
pathlib.Path("first").mkdir()
pathlib.Path("first/results.json").write_text('{"device": "", "cases": [], "bench": []}')
run("first", "first", 0.1)
run("the same again: nothing is left", "first", 0.3)
run("a machine that is slower as a whole", "slow", 0.11, torch=0.275)
run("by less than the limit", "near", 0.102)
run("by 5 %", "worse", 0.105)
run("by 5 %, of noise", "noise", 0.105, spread=0.006)
run("faster", "faster", 0.09)
run("a kernel that does not run", "gone", None)
print("== table")
print(call(script, "table", "first/results.json")[0])
