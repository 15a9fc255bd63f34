#!/usr/bin/env python3
"""show_progress.py: what ninja says on standard input with NINJA_STATUS='%f of %t after %e s: ', as one line that is written over on a terminal, with the time
that is left. Where standard output is no terminal, and for what is no status (warnings, errors), the lines as they are.
"""
import os
import re
import sys

STATUS = re.compile(r"(\d+) of (\d+) after ([\d.]+) s: (.*)")
CLEAR = "\r\033[K"
WIDTH = 100


def duration(seconds):
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"


def main():
    is_terminal, is_shown = sys.stdout.isatty() and os.environ.get("TERM") != "dumb", False
    for line in sys.stdin:
        status = STATUS.match(line) if is_terminal else None
        if status:
            done, total, spent = int(status[1]), int(status[2]), float(status[3])
            left = duration(spent / done * (total - done)) if done else "?"
            print(f"{CLEAR}{done} of {total}, {left} left: {status[4]}"[: WIDTH + len(CLEAR)], end="", flush=True)
        else:
            print(CLEAR if is_shown else "", line, sep="", end="", flush=True)
        is_shown = status is not None
    print(CLEAR if is_shown else "", end="", flush=True)


if __name__ == "__main__":
    main()
