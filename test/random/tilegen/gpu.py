"""Random programs on a GPU: packs are written where the compiler is, and run where the GPU is, which needs tile-run, Python and numpy.
Of each seed only the first draw is taken."""
import glob
import os

from .draw import draw_program
from .run import ARCHITECTURES, Outcome, clean, compile_for, prepare, run_on_gpu


def write_pack(arguments):
    """Compiles a seed's program into DIR/SEED.pack; gives its refusals and failures."""
    tools, seed, only, base, directory = arguments
    folder, outcome = os.path.join(base, str(seed)), Outcome()
    os.makedirs(folder, exist_ok=True)
    program = draw_program(seed, 0, only)
    with open(os.path.join(folder, "k.tile"), "w") as file:
        file.write(program.text())
    for architectures in (ARCHITECTURES, *((a,) for a in ARCHITECTURES)):
        if compile_for(tools, folder, architectures, outcome, program.check):
            os.replace(os.path.join(folder, "k.pack"), os.path.join(directory, f"{seed}.pack"))
            break
    clean(folder)
    return seed, outcome


def packs(directory):
    """Seeds of which there is a pack."""
    return sorted(int(os.path.basename(path)[:-5]) for path in glob.glob(os.path.join(directory, "*.pack")))


def run_pack(arguments):
    """(seed, what went wrong) of a pack on the GPU."""
    tools, seed, only, base, directory = arguments
    folder, outcome = os.path.join(base, str(seed)), Outcome()
    os.makedirs(folder, exist_ok=True)
    program = draw_program(seed, 0, only)
    calls = prepare(program, seed, folder, outcome)
    if calls is not None:
        run_on_gpu(tools, program, calls, os.path.abspath(os.path.join(directory, f"{seed}.pack")), folder, outcome)
    clean(folder)
    return seed, outcome
