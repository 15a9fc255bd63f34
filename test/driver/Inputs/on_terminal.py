#!/usr/bin/python3
"""on_terminal.py COMMAND...: runs it with a terminal as standard output and error, and prints what the terminal got: `<clear>` and a new line where the line was cleared.
Its standard input is this one's."""
import os
import pty
import subprocess
import sys
import threading

END = b"\0"  # that all has been read: what a terminal gives once its other side is closed differs between systems

terminal, other = pty.openpty()
process = subprocess.Popen(sys.argv[1:], stdout=other, stderr=other)


def end():
    process.wait()
    os.write(other, END)


threading.Thread(target=end).start()
text = b""
while not text.endswith(END):
    text += os.read(terminal, 1 << 16)
print(text[: -len(END)].decode().replace("\r\033[K", "\n<clear>").replace("\r\n", "\n"), end="")
sys.exit(process.wait())
