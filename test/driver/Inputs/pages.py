"""Whether what tilec, or tile-run, says of its options agrees: each option that --help=all of a subcommand (--help of tile-run)
prints stands in the manual page and in the completions of bash, zsh and fish, with its values. usage: pages.py tilec|tile-run"""

import re
import subprocess
import sys


def said(*options):
    return subprocess.run([sys.argv[1], *options], check=True, capture_output=True, text=True).stdout


def options_of(text):
    """The spellings of all options, without what they take; those of a line `  -j N, --jobs=N  text`."""
    names = set()
    for line in text.splitlines():
        if re.match(r"  -", line):
            forms = re.split(r"  +", line.strip())[0]
            for form in forms.split(", "):
                names.add(re.match(r"-(Wno-(?!error)|-?[A-Za-z0-9-]+=?)", form)[0])
    return names


names, values = set(), ["round-robin", "cublas", "fatbin", "always", "inspect"]
if sys.argv[1].endswith("tile-run"):
    names, values = options_of(said("--help")), ["round-robin", "cuda", "markdown"]
    assert len(names) > 30, names
for command in [] if names else ["compile", "run", "test", "tune", "bench", "inspect"]:
    own = options_of(said(command, "--help=all"))
    if command != "inspect":
        assert len(own) > 30, (command, own)
        assert options_of(said(command, "--help")) < own, command
    names |= own
page = said("--help=man").replace("\\-", "-")
bash, zsh, fish = (said("--completion=" + shell) for shell in ["bash", "zsh", "fish"])
wrong = []
for name in sorted(names):
    bare = name.rstrip("=").lstrip("-")
    how = "-l" if name.startswith("--") else "-s" if len(bare) == 1 else "-o"
    wrong += [f"{name}: not in the manual page"] * (name not in page)
    wrong += [f"{name}: not for bash"] * (not re.search(rf'[" ]{re.escape(name)}[" ]', bash))
    wrong += [f"{name}: not for zsh"] * (f"'*{name.rstrip('=')}" not in zsh)
    wrong += [f"{name}: not for fish"] * (not re.search(rf" {how} {re.escape(bare)}( |$)", fish, re.M))
for value in values:
    wrong += [f"{value}: missing" for text in (page, bash, zsh, fish) if value not in text]
print("\n".join(wrong) or "every option is in the manual page and in the completions of bash, zsh and fish")
