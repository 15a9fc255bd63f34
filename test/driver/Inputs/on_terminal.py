#!/usr/bin/python3
"""on_terminal.py COMMAND...: runs it with a terminal as standard output and error, and prints what the terminal got: `<clear>` and a new line where the line was cleared.
Its standard input is this one's."""
import os
import pty
import subprocess
import sys

terminal, other = pty.openpty()
process = subprocess.Popen(sys.argv[1:], stdout=other, stderr=other)
os.close(other)
text = b""
while True:
    try:
        piece = os.read(terminal, 1 << 16)
    except OSError:  # the other side is closed
        break
    if not piece:
        break
    text += piece
print(text.decode().replace("\r\033[K", "\n<clear>").replace("\r\n", "\n"), end="")
sys.exit(process.wait())
