#!/usr/bin/env python3
"""Checks that the options that README.md and docs/ show are options of tilec, and that docs/options.md is what it prints, and
docs/options-tile-run.md what tile-run does.

Each command `tilec ...` there, in a block of code or between back-ticks, is taken apart up to `|`, `;`, `&`, `>` or `#`; its
options must be among those that `--help=all` of its subcommand prints, which come from compiler/driver/Options.td.

usage: check_options.py [--write] [ROOT [TILEC]]    --write: writes the two
"""

import pathlib
import re
import subprocess
import sys

COMMANDS = ["compile", "run", "test", "tune", "bench", "inspect"]
# Spellings of which a value follows at once, and those that no help line begins with.
JOINED = re.compile(r"-(?:[PIOoj]|MF|MT|Wno-|Werror=|Wno-error=)")


def options_of(tilec, command):
    text = subprocess.run([tilec, command, "--help=all"], check=True, capture_output=True, text=True).stdout
    names = set()
    for line in text.splitlines():
        if line.startswith("  -"):
            for form in re.split(r"  +", line.strip())[0].split(", "):
                names.add(re.match(r"-[A-Za-z-]+", form)[0])
    return names


def commands_of(text):
    """The words behind each `tilec` of a text in Markdown."""
    code = re.findall(r"^(?:    |\t)(.*)$", text, re.M) + re.findall(r"`([^`\n]+)`", text)
    code += [line for block in re.findall(r"^```.*?\n(.*?)^```", text, re.M | re.S) for line in block.splitlines()]
    for line in code:
        for found in re.finditer(r"(?:^|[\s/(])tilec\s+([^|;&>#]*)", line):
            yield found[1].split()


def main():
    arguments = [word for word in sys.argv[1:] if word != "--write"]
    root = pathlib.Path(arguments[0] if arguments else pathlib.Path(__file__).parents[2])
    tilec = arguments[1] if len(arguments) > 1 else str(root / "build/bin/tilec")
    pages = {"options.md": tilec, "options-tile-run.md": str(pathlib.Path(tilec).with_name("tile-run"))}
    for name, program in pages.items():
        pages[name] = subprocess.run([program, "--help=markdown"], check=True, capture_output=True, text=True).stdout
        if "--write" in sys.argv:
            (root / "docs" / name).write_text(pages[name])
    known = {command: options_of(tilec, command) for command in COMMANDS}
    count, wrong = 0, []
    for name, page in pages.items():
        path = root / "docs" / name
        if not path.is_file() or path.read_text() != page:
            wrong.append(f"docs/{name} is not what `--help=markdown` prints: check_options.py --write makes it")
    files = [root / "README.md", *sorted((root / "docs").rglob("*.md"))]
    for path in files:
        for words in commands_of(path.read_text()):
            command = words[0] if words and words[0] in COMMANDS else "compile"
            for word in words:
                if not re.match(r"--?[A-Za-z]", word):
                    continue
                name = re.match(r"-[A-Za-z-]+", word)[0]
                count += 1
                if name not in known[command] and not JOINED.match(word):
                    wrong.append(f"{path.relative_to(root)}: `tilec {command}` has no option {word}")
    print("\n".join(wrong + [f"{count} options in {len(files)} files, {len(wrong)} wrong"]))
    return 1 if wrong or count < 20 else 0


if __name__ == "__main__":
    sys.exit(main())
