#!/usr/bin/env python3
"""Checks that every diagnostic of the language is declared and tested.

A name in brackets in docs/language.md, outside code, names a diagnostic. It must have an entry in
dialects/support/Diagnostics.def, and some file under test/ must mention it in brackets (a unit test: in
a string, for names that are no plain words). Several texts may share a name: each entry of the table is met by a test by
its own text, the longest piece of it between placeholders. Prints what is missing and exits with 1 if anything is.

usage: check_diagnostics.py [ROOT]    ROOT: the top of the repository
"""

import pathlib
import re
import sys

NAME = r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*"
# `[arguments]`, but also `[parallel-race, where provable]`.
MENTION = re.compile(rf"\[({NAME})(?:, where provable)?\]")
# The word that explains the notation.
NOT_A_NAME = {"like-this"}


def names_of_language(text):
    """Bracketed names, in order; none from fenced or quoted code, or from links."""
    text = re.sub(r"```.*?```", "", text, flags=re.S)
    text = re.sub(r"`[^`\n]*`", "", text)
    text = re.sub(r"\[[^\]\n]*\]\([^)\n]*\)", "", text)
    return [n for n in dict.fromkeys(MENTION.findall(text)) if n not in NOT_A_NAME]


def names_of_table(text):
    return set(re.findall(rf'TILE_DIAG\(\w+,\s*"({NAME})"', text))


def names_of_tests(folder):
    names = set()
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.suffix in {".tile", ".mlir", ".test", ".txt", ".cpp", ".py", ".json"}:
            text = path.read_text(errors="replace")
            names.update(re.findall(rf"\[({NAME})\]", text))
            if path.suffix == ".cpp":
                for string in re.findall(r'"(?:[^"\\\n]|\\.)*"', text):
                    names.update(n for n in re.findall(NAME, string) if "-" in n)
    return names


def plain(text):
    """Without what differs between a text and its quotation: quotes, backslashes, breaks of lines and literals."""
    text = re.sub(r'"\s*\n\s*"', "", text)
    return re.sub(r"\s+", " ", re.sub(r'[\\`"]', "", text))


def texts_of_table(text):
    """Pairs of an entry and the longest piece of its text; none for texts that are made where they are reported."""
    strings = r'((?:"(?:[^"\\]|\\.)*"\s*)+)'
    for entry in re.finditer(rf'TILE_DIAG\((\w+),\s*"{NAME}",\s*"T\d+",\s*\w+,\s*{strings},', text):
        piece = max((p.strip() for p in re.split(r"\{\d\}", plain(entry[2]))), key=len)
        if piece:
            yield entry[1], piece


def tested_text(folder):
    files = sorted(p for p in folder.rglob("*") if p.is_file() and p.suffix in {".tile", ".mlir", ".test", ".txt", ".cpp", ".py"})
    return "\n".join(plain(path.read_text(errors="replace")) for path in files)


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2])
    language = names_of_language((root / "docs/language.md").read_text())
    definitions = (root / "dialects/support/Diagnostics.def").read_text()
    table = names_of_table(definitions)
    texts, seen = list(texts_of_table(definitions)), tested_text(root / "test")
    unseen = [(entry, piece) for entry, piece in texts if piece not in seen]
    tests = names_of_tests(root / "test")
    undeclared = [n for n in language if n not in table]
    untested = [n for n in language if n not in tests]
    for name in undeclared:
        print(f"[{name}] is in docs/language.md, but not in Diagnostics.def")
    for name in untested:
        print(f"[{name}] has no test: no file under test/ mentions it")
    for entry, piece in unseen:
        print(f"{entry} has no test: no file under test/ has `{piece}`")
    print(f"{len(language)} names, {len(undeclared)} undeclared, {len(untested)} untested; {len(texts)} texts, "
          f"{len(unseen)} untested")
    return 1 if undeclared or untested or unseen or not language or not texts else 0


if __name__ == "__main__":
    sys.exit(main())
