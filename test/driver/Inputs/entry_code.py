"""Prints the code of each entry of PTX files, without what depends on the other functions beside it: numbers of blocks, lines, comments.
Usage: entry_code.py FILE.ptx..."""
import re
import sys

entries = {}
for path in sys.argv[1:]:
    with open(path) as file:
        text = re.sub(r"^[ \t]*\.loc[ \t].*\n|^\$L__(tmp|func)\w*:\n|//.*", "", file.read(), flags=re.M)
    for found in re.finditer(r"\.visible \.entry (\w+)\(.*?\n\}\n", text, flags=re.S):
        assert found[1] not in entries, f"{found[1]} is there twice"
        entries[found[1]] = re.sub(r"\$L__BB\d+_", "$L__BB_", found[0])
for name in sorted(entries):
    print(entries[name])
