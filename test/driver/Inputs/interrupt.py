"""interrupt.py FOLDER LINES COMMAND...: starts the command, and ends it as soon as the files of results in FOLDER have so many lines."""
import pathlib
import signal
import subprocess
import sys
import time

folder, lines = pathlib.Path(sys.argv[1]), int(sys.argv[2])
process = subprocess.Popen(sys.argv[3:])
for _ in range(6000):
    if sum(file.read_text().count("\n") for file in folder.glob("*.results")) >= lines:
        break
    if process.poll() is not None:
        sys.exit(f"it ended by itself, with status {process.returncode}")
    time.sleep(0.01)
process.send_signal(signal.SIGTERM)
print("ended by signal", -process.wait())
