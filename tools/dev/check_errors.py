#!/usr/bin/env python3
"""check_errors.py [--write]: is docs/errors.md what `tilec --explain` says of each diagnostic, and has each an example there or the reason why there is none?

--write writes it.
"""
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
INDEX = ROOT / "docs/errors.md"
TABLE = ROOT / "dialects/support/Diagnostics.def"
HEAD = """# Errors, warnings and remarks

Each message ends in a name in brackets, by which `-Wno-NAME` and `-Werror=NAME` choose among warnings and `tilec --explain NAME` shows what stands here. `...` stands for what differs from one
to the next. The examples are mistakes of the tests (`test/mistakes`). `tools/dev/check_errors.py --write` writes this page.

"""


def names():
    """(code, name) of each diagnostic, in the order of the table."""
    found = re.findall(r'^TILE_DIAG\(\w+,\s*"([a-z0-9-]+)",\s*"(T\d+)"', TABLE.read_text(), re.M)
    return list(dict.fromkeys((code, name) for name, code in found))


def section(entry):
    code, name = entry
    done = subprocess.run([ROOT / "build/bin/tilec", f"--explain={name}"], capture_output=True, text=True, check=True)
    lines = done.stdout.rstrip().splitlines()
    rule = "if it is one of the language" in lines[-1]
    body = lines[1 : -1 if rule else None]
    out, previous = [f"## {name}", "", code + (": [language.md](language.md) has the rule" if f"[{name}]" in (ROOT / "docs/language.md").read_text() else "")], ""
    for line in body:
        if re.match(r"(error|warning|remark|help): ", line):
            line = ("  " if line.startswith("help: ") else "- ") + f"{line.split(': ', 1)[0]}: {line.split(': ', 1)[1]}"
            if line.startswith("- ") and previous.startswith(("- ", "  ")):
                out.pop()  # one list
        out.append(line)
        previous = line if line else previous
    return "\n".join(line.rstrip() for line in out).rstrip() + "\n"


def main():
    entries = names()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        sections = list(pool.map(section, entries))
    index = ", ".join(f"[{name}](#{name})" for _, name in sorted(entries, key=lambda e: e[1]))
    text = HEAD + index + "\n\n" + "\n".join(sections)
    if "--write" in sys.argv[1:]:
        INDEX.write_text(text)
    same = INDEX.is_file() and INDEX.read_text() == text
    # An example is a mistake of the tests, the reason an entry of compiler/driver/Explain.cpp.
    shown = [("\nExample, " in part) + ("\nWithout an example: " in part) for part in sections]
    wrong = [name for (_, name), count in zip(entries, shown) if count != 1]
    for name in wrong:
        print(f"[{name}] has neither an example in test/mistakes nor a reason in compiler/driver/Explain.cpp, or both")
    print(f"{len(entries)} diagnostics" + ("" if same else "; docs/errors.md is not what tilec says of them: tools/dev/check_errors.py --write"))
    sys.exit(not same or bool(wrong))


if __name__ == "__main__":
    main()
