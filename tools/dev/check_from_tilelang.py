#!/usr/bin/env python3
"""check_from_tilelang.py: does docs/from-tilelang.md point at what it says?

Each row of a table ends with a link and, in backticks, text that is in the file; only where there is nothing to say (`none`) the
last column is empty. So do links with backticks behind them in the text. A block ```tile FILE is an excerpt: its lines stand in the
file in this order, `...` and empty lines left out.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCUMENT = ROOT / "docs/from-tilelang.md"
LINK = re.compile(r"\[[^\]]+\]\(([^)#]+)\)(?: (?:`` (.+?) ``|`([^`]+)`))?")


def excerpt(lines, where):
    """Problems of an excerpt, the lines behind its fence."""
    file = ROOT / lines[0].split()[1]
    if not file.is_file():
        return [f"{where}: there is no {lines[0].split()[1]}"]
    held = iter(line.strip() for line in file.read_text().splitlines())
    shown = (line.strip() for line in lines[1:])
    return [f"{where}: not in {file.name} behind what is shown above it: {line}" for line in shown if line not in ("", "...") and line not in held]


def main():
    lines = DOCUMENT.read_text().splitlines()
    problems, rows, i = [], 0, 0
    while i < len(lines):
        line, where = lines[i], f"{DOCUMENT.name}:{i + 1}"
        i += 1
        if line.startswith("```"):
            end = lines.index("```", i)
            problems += excerpt([line[3:], *lines[i:end]], where)
            i = end + 1
            continue
        links = LINK.findall(line)
        for path, double, single in links:
            file = DOCUMENT.parent / path
            if not file.is_file():
                problems.append(f"{where}: there is no {path}")
            elif (double or single) and (double or single) not in file.read_text():
                problems.append(f"{where}: `{double or single}` is not in {path}")
        if line.startswith("| ") and not line.startswith("| TileLang "):
            rows += 1
            _, theirs, ours, see, _ = re.split(r"(?<!\\)\|", line)
            shown = LINK.fullmatch(see.strip())
            if not (shown and (shown[2] or shown[3])) and ours.strip() != "none":
                problems.append(f"{where}: no test for {theirs.strip()}")
    print("\n".join(problems + [f"{rows} constructs, {len(problems)} problems"]))
    sys.exit(bool(problems) or not rows)


if __name__ == "__main__":
    main()
