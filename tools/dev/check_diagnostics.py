#!/usr/bin/env python3
"""Checks that every diagnostic of the language is declared and tested.

A name in brackets in docs/language.md, outside code, names a diagnostic. It must have an entry in
dialects/support/Diagnostics.def.

Each entry of the table is met by a test, by its own text, since several may share a name: a line under test/, or a
string of a unit test, has all that stands around the placeholders, in order, and then the name in brackets (the
runtime puts it first). Where a line fits several texts of its name it is a test of the one that says most, since a
placeholder stands for anything. A text that is only a placeholder is made where it is reported: a line has its name
behind some text. Lines that say what is not printed (`-NOT:`) do not count.

Prints what is missing and exits with 1 if anything is.

usage: check_diagnostics.py [ROOT]    ROOT: the top of the repository
"""

import pathlib
import re
import sys

NAME = r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*"
# `[arguments]`, but also `[parallel-race, where provable]`.
MENTION = re.compile(rf"\[({NAME})(?:, where provable)?\]")
# A string literal in C++ or Python, with its text, and several in a row.
STRING = r'"((?:[^"\\\n]|\\.)*)"'
STRINGS = r'(?:"(?:[^"\\\n]|\\.)*"\s*)+'
# The word that explains the notation.
NOT_A_NAME = {"like-this"}


def names_of_language(text):
    """Bracketed names, in order; none from fenced or quoted code, or from links."""
    text = re.sub(r"```.*?```", "", text, flags=re.S)
    text = re.sub(r"`[^`\n]*`", "", text)
    text = re.sub(r"\[[^\]\n]*\]\([^)\n]*\)", "", text)
    return [n for n in dict.fromkeys(MENTION.findall(text)) if n not in NOT_A_NAME]


def plain(text):
    """Without what differs between a text and its quotation: backslashes and how wide spaces are."""
    return re.sub(r"\s+", " ", text.replace("\\", ""))


def joined(literals):
    """The text of string literals that stand beside each other."""
    return plain("".join(re.findall(STRING, literals)))


class Entry:
    """An entry of the table: its name, and what a line with its text looks like."""

    def __init__(self, entry, name, text):
        self.entry, self.name, self.text = entry, name, text
        pieces = re.split(r"\{\d\}", text)
        self.length = sum(len(piece) for piece in pieces)
        said = ".+".join(map(re.escape, pieces)) if "".join(pieces).strip() else r"\S+"
        self.pattern = re.compile(rf"(?:^|[\s:]){said} \[{name}\]|\[{name}\] {said}")


def entries_of_table(text):
    text = re.sub(r"^//.*$", "", text, flags=re.M)
    for entry in re.finditer(rf'TILE_DIAG\((\w+),\s*"({NAME})",\s*"T\d+",\s*\w+,\s*({STRINGS}),', text):
        yield Entry(entry[1], entry[2], joined(entry[3]))


def lines_of_tests(folder):
    """What tests say, line by line; of unit tests each string, joined with those that it goes on in."""
    for path in sorted(folder.rglob("*")):
        if not path.is_file() or path.suffix not in {".tile", ".mlir", ".test", ".txt", ".cpp", ".py", ".json"}:
            continue
        text = path.read_text(errors="replace")
        if path.suffix == ".cpp":
            yield from (joined(literals) for literals in re.findall(STRINGS, text))
            continue
        if path.suffix == ".py":
            text = re.sub(r'"\s*\n\s*f?"', "", text)
        yield from (plain(line) for line in text.splitlines() if "-NOT:" not in line)


def untested_of(entries, lines):
    """The entries that no line meets."""
    named = {}
    for entry in entries:
        named.setdefault(entry.name, []).append(entry)
    met = set()
    for line in lines:
        for name in set(re.findall(rf"\[({NAME})\]", line)):
            fitting = [entry for entry in named.get(name, []) if entry.pattern.search(line)]
            most = max((entry.length for entry in fitting), default=0)
            met.update(entry.entry for entry in fitting if entry.length == most)
    return [entry for entry in entries if entry.entry not in met]


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2])
    language = names_of_language((root / "docs/language.md").read_text())
    entries = list(entries_of_table((root / "dialects/support/Diagnostics.def").read_text()))
    names = {entry.name for entry in entries}
    undeclared = [name for name in language if name not in names]
    untested = untested_of(entries, lines_of_tests(root / "test"))
    for name in undeclared:
        print(f"[{name}] is in docs/language.md, but not in Diagnostics.def")
    for entry in untested:
        print(f"{entry.entry} has no test: no line under test/ has its text, '{entry.text} [{entry.name}]'")
    print(f"{len(language)} names, {len(undeclared)} undeclared; {len(entries)} texts, {len(untested)} untested")
    return 1 if undeclared or untested or not language or not entries else 0


if __name__ == "__main__":
    sys.exit(main())
