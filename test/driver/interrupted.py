"""interrupted.py TILEC FOLDER SIGNAL WORD...: starts `tilec WORD...` with a ptxas that takes a minute, in FOLDER, and sends the signal when
it runs; `nohup` is SIGHUP to a tilec that ignores it, then SIGTERM. Prints how tilec ended, whether ptxas has ended with it, and what is left in TMPDIR."""
import os
import signal
import subprocess
import sys
import time

tilec, folder, number, *words = sys.argv[1:]
place, pid = os.path.join(folder, "tmp"), os.path.join(folder, "pid")
os.makedirs(os.path.join(folder, "cuda", "bin"), exist_ok=True)
os.makedirs(place)
ptxas = os.path.join(folder, "cuda", "bin", "ptxas")
with open(ptxas, "w") as file:
    file.write(f'#!/bin/sh\nmkdir inner && touch inner/file\necho $$ > "{pid}.new" && mv "{pid}.new" "{pid}"\nexec sleep 60\n')
os.chmod(ptxas, 0o755)


def wait(condition, seconds=50):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.02)
    return condition()


def is_gone(process):
    try:
        with open(f"/proc/{process}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] in "ZX"
    except OSError:
        return True


def choose_signals():
    """What runs in the background without job control ignores SIGINT."""
    for one in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        signal.signal(one, signal.SIG_IGN if number == "nohup" and one == signal.SIGHUP else signal.SIG_DFL)


started = subprocess.Popen([tilec, *words, "--cuda-path=" + os.path.join(folder, "cuda")], cwd=folder, env=dict(os.environ, TMPDIR=place),
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, preexec_fn=choose_signals)
if not wait(lambda: os.path.exists(pid)):
    sys.exit("ptxas did not start: " + started.communicate(timeout=60)[0])
with open(pid) as file:
    process = int(file.read())
if number == "nohup":
    started.send_signal(signal.SIGHUP)
    time.sleep(0.5)
    if started.poll() is not None:
        sys.exit("ended by a signal that is ignored")
    number = "SIGTERM"
started.send_signal(getattr(signal, number))
status = started.wait(timeout=50)
ended = wait(lambda: is_gone(process), 10)
wait(lambda: not os.listdir(place), 10 if number == "SIGKILL" else 0)
if not ended:
    os.kill(process, signal.SIGKILL)
print(f"{number}: {status == -getattr(signal, number)}, ptxas ended: {ended}, left: {os.listdir(place)}, said: {started.stdout.read().strip()!r}")
