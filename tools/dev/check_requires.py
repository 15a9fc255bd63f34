#!/usr/bin/env python3
"""Checks that no text test is skipped unnoticed on this machine.

- Each feature that a test asks for with REQUIRES (test/lit.cfg.py) is there, or stands in test/unmet.txt with the reason why
  it need not be; what stands there without a test that asks for it goes.
- A test that runs `tilec` or `tile-run` asks for it: builds with sanitizers may have no more than tile-opt.

Needs a finished build. Prints `ok`, or what is wrong and exits with 1. usage: check_requires.py [BUILD]
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build"
UNMET = ROOT / "test/unmet.txt"
LIT = "/usr/lib/llvm-22/bin/lit"


def lit(option):
    run = subprocess.run([LIT, option, str(BUILD / "test")], capture_output=True, text=True)
    if run.returncode:
        sys.exit(run.stdout + run.stderr)
    return run.stdout


def tests():
    for line in lit("--show-tests").splitlines():
        match = re.match(r"\s+tilec :: (.*)", line)
        if match:
            yield ROOT / "test" / match[1]


def main():
    match = re.search(r"Available Features: *(.*)", lit("--show-suites"))
    available = set(match[1].split())
    problems, asked, count = [], {}, 0
    for path in tests():
        count += 1
        name, text = path.relative_to(ROOT), path.read_text(errors="replace")
        features = set(re.findall(r"[\w.+-]+", " ".join(re.findall(r"\bREQUIRES:(.*)", text))))
        for feature in features:
            asked.setdefault(feature, name)
        commands = " ".join(re.findall(r"\b(?:RUN|DEFINE):(.*)", text))
        for tool in ("tilec", "tile-run"):
            if re.search(rf"(?<![\w./-]){tool}(?![\w./-])", commands) and tool not in features:
                problems.append(f"{name}: runs {tool} without `REQUIRES: {tool}`")
    listed = {}
    for number, line in enumerate(UNMET.read_text().splitlines(), 1):
        if line.strip() and not line.startswith("#"):
            feature, _, reason = line.partition(":")
            listed[feature.strip()] = reason.strip()
            if not reason.strip():
                problems.append(f"{UNMET.relative_to(ROOT)}:{number}: `{feature}` without a reason")
    for feature in sorted(asked.keys() - available - listed.keys()):
        problems.append(f"{asked[feature]}: requires `{feature}`, which is not here; if that is as it should be, "
                        f"{UNMET.relative_to(ROOT)} has to say why")
    for feature in sorted(listed.keys() - asked.keys()):
        problems.append(f"{UNMET.relative_to(ROOT)}: no test requires `{feature}`")
    if not count:
        problems.append("lit finds no tests")
    print("\n".join(problems) if problems else f"ok: {count} tests, all can run but those that need "
          f"{', '.join(sorted(asked.keys() & (listed.keys() - available))) or 'nothing'}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
