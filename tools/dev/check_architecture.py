#!/usr/bin/env python3
"""check_architecture.py [--write]: are the listings of docs/architecture.md what the tools print?

A listing stands behind a comment that says where it comes from:

    <!-- printed by: tilec kernels/gemm/gemm.tile --emit=tgpu --print-ir-after-all | tgpu-plan-pipeline -->

a command, and after `|` the pass behind which the IR is meant (the first time that it runs, or the second, if `2` follows, ...), or
`json`, which is shown with short objects on one line; or a file.
A listing is an excerpt: its lines stand in the output in this order, with others between them. In a line `...` stands
for any text, and what follows the end of a shown line (long types, say) is left out, too. A comment of two slashes behind
three blanks or more belongs to the document. Values have the numbers of the output; --write puts in those of today
where only they have changed.
"""
import difflib
import functools
import json
import pathlib
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
TILEC = ROOT / "build/bin/tilec"
DOCUMENT = ROOT / "docs/architecture.md"
SOURCE = re.compile(r"^<!-- printed by: (.*?)(?: \| (\S+)(?: (\d+))?)? -->$")
REMARK = re.compile(r"(\s{3,}// .*)$")
NAME = re.compile(r"%c-?\d+_i\d+(?:_\d+)?|%[a-z]*\d+|\$L__BB\d+_\d+")


@functools.cache
def output(command, after, time):
    """The lines that the command prints."""
    words = shlex.split(command)
    if words[0] != "tilec":
        return [line.strip() for line in (ROOT / command).read_text().splitlines()]
    run = subprocess.run([TILEC, *words[1:], "-o", "-"], cwd=ROOT, capture_output=True, text=True, timeout=300)
    if run.returncode:
        sys.exit(f"{command}: exit status {run.returncode}\n{run.stderr}")
    text = run.stdout
    if after:
        dumps = re.split(r"^// -----// IR Dump After \w+ \((\S+)\).*$", run.stderr, flags=re.M)
        if after == "json":
            return "\n".join(compact(json.loads(text))).split("\n")
        found = [body for name, body in zip(dumps[1::2], dumps[2::2]) if name == after]
        if len(found) < int(time or 1):
            sys.exit(f"{command}: no IR after {after}")
        text = found[int(time or 1) - 1]
    return [" ".join(line.split()) for line in text.splitlines()]


def compact(value, key=""):
    """JSON, objects and lists on one line where they fit."""
    text = key + json.dumps(value)
    if len(text) <= 100 or not isinstance(value, (dict, list)):
        return [text + ","]
    inner = [compact(v, f"{json.dumps(k)}: ") for k, v in value.items()] if isinstance(value, dict) else map(compact, value)
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    return [key + opening, *(line for lines in inner for line in lines), closing + ","]


def pattern(text, names):
    """What matches a shown line; with `names`, values may have other numbers than those shown."""
    parts = []
    for piece in text.split("..."):
        piece = " ".join(piece.split())
        if names:
            parts.append(r"(%s)".join(re.escape(p) for p in NAME.split(piece)) % ((NAME.pattern,) * len(NAME.findall(piece))))
        else:
            parts.append(re.escape(piece) + (r"(?!\w)" if re.search(r"\w$", piece) else ""))
    return re.compile(r"\s*(?:.*?)".join(parts))


def find(shown, lines, at, names):
    """The first line from `at` that matches, and the match."""
    compiled = pattern(shown, names)
    for i in range(at, len(lines)):
        match = compiled.match(lines[i])
        if match:
            return i, match
    return None, None


def checked(listing, lines, where, write):
    """The listing, with today's numbers if `write`; problems are printed."""
    result, at, good = [], 0, True
    for number, line in listing:
        remark = REMARK.search(line)
        shown = (line[: remark.start()] if remark else line).strip()
        if shown in ("", "...", "}"):
            result.append(line)
            continue
        i, _ = find(shown, lines, at, names=False)
        if write:
            nearest, match = find(shown, lines, at, names=True)
            # The same numbers much further down are those of something else, unless that is where the listing begins.
            if nearest is not None and (i is None or (at > 0 and i > nearest + 50)):
                i = nearest
                numbers = iter(match.groups())
                line = NAME.sub(lambda _: next(numbers), line[: remark.start()] if remark else line) + (remark.group(1) if remark else "")
        if i is None:
            close = difflib.get_close_matches(" ".join(shown.split()), lines[at:], 1, 0.4)
            print(f"{DOCUMENT.relative_to(ROOT)}:{number}: {where} does not print this behind what is shown above it: {shown}")
            print(f"    the nearest line there: {close[0]}" if close else "    nor anything like it")
            good = False
        else:
            at = i + 1
        result.append(line)
    return result, good


def main():
    write = sys.argv[1:] == ["--write"]
    if sys.argv[1:] and not write:
        sys.exit(__doc__)
    lines = DOCUMENT.read_text().splitlines()
    result, good, listings, i = [], True, 0, 0
    while i < len(lines):
        source = SOURCE.match(lines[i])
        result.append(lines[i])
        i += 1
        if not source:
            continue
        while i < len(lines) and not lines[i].strip():
            result.append(lines[i])
            i += 1
        listing = []
        while i < len(lines) and (lines[i].startswith("    ") or (not lines[i].strip() and lines[i + 1].startswith("    "))):
            listing.append((i + 1, lines[i]))
            i += 1
        new, fine = checked(listing, output(*source.groups()), source[2] or source[1], write)
        result += new
        good &= fine
        listings += 1
    if write and result != lines:
        DOCUMENT.write_text("\n".join(result) + "\n")
    print(f"{listings} listings, {'all as printed' if good else 'not all as printed'}")
    sys.exit(not good or not listings)


if __name__ == "__main__":
    main()
