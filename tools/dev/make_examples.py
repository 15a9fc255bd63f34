#!/usr/bin/env python3
"""Writes the examples of `tilec --explain`: for each name of a diagnostic the shortest of the mistakes of test/mistakes that ends
with it alone or, where there is none, whose last message has it, or any, as C++ that compiler/driver/Explain.cpp includes.

usage: make_examples.py OUTPUT FILE...    FILE: test/mistakes/*.txt
"""

import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "test/mistakes"))
sys.dont_write_bytecode = True
import run  # noqa: E402

MESSAGE = re.compile(r"(?:error|warning): (?:.* \[([a-z0-9-]+)\]$|\[([a-z0-9-]+)\] )")  # calls have the name in front


def text_of(case):
    """What is shown of a mistake: its source or command, and what is said."""
    lines = []
    if case.source:
        source = "\n".join(case.source) + "\n"
        if case.is_body:
            source = case.kernel % "\n".join("        " + line for line in case.source)
        lines += source.rstrip("\n").splitlines()
    commands = [command for command in case.commands if not command.startswith("tilec k.tile --emit=ptx -o -")]
    lines += ["$ " + command for command in commands] if commands or not lines else []
    return "\n".join("    " + line if line else "" for line in [*lines, "", *case.expected]) + "\n"


def main():
    output, *files = sys.argv[1:]
    examples = {}  # name of the diagnostic: 0 if it stands alone, 1 if it is the last; length, name and text of the mistake
    for path in sorted(files):
        for case in run.read(path)[0]:
            names = [found[1] or found[2] for line in case.expected if (found := MESSAGE.search(line))]
            for name in set(names):
                text = text_of(case)
                best = 0 if len(set(names)) == 1 else 1 if name == names[-1] else 2, len(text), case.name, text
                examples[name] = min(best, examples.get(name, best))
    with open(output, "w") as file:
        file.write("// Made by tools/dev/make_examples.py from test/mistakes.\n")
        for name, (_, _, title, text) in sorted(examples.items()):
            file.write(f'TILE_EXAMPLE("{name}", R"tile({title})tile", R"tile({text})tile")\n')


if __name__ == "__main__":
    main()
