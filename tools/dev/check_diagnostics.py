#!/usr/bin/env python3
"""Checks that every diagnostic of the language is declared and tested.

A name in brackets in docs/language.md, outside code, names a diagnostic. It must have an entry in
dialects/support/Diagnostics.def, and some file under test/ must mention it in brackets (a unit test: in
a string, for names that are no plain words). Prints what is missing and exits with 1 if anything is.

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
        if path.is_file() and path.suffix in {".tile", ".mlir", ".test", ".cpp", ".py", ".json"}:
            text = path.read_text(errors="replace")
            names.update(re.findall(rf"\[({NAME})\]", text))
            if path.suffix == ".cpp":
                for string in re.findall(r'"(?:[^"\\\n]|\\.)*"', text):
                    names.update(n for n in re.findall(NAME, string) if "-" in n)
    return names


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2])
    language = names_of_language((root / "docs/language.md").read_text())
    table = names_of_table((root / "dialects/support/Diagnostics.def").read_text())
    tests = names_of_tests(root / "test")
    undeclared = [n for n in language if n not in table]
    untested = [n for n in language if n not in tests]
    for name in undeclared:
        print(f"[{name}] is in docs/language.md, but not in Diagnostics.def")
    for name in untested:
        print(f"[{name}] has no test: no file under test/ mentions it")
    print(f"{len(language)} names, {len(undeclared)} undeclared, {len(untested)} untested")
    return 1 if undeclared or untested or not language else 0


if __name__ == "__main__":
    sys.exit(main())
