"""Random programs on a GPU: packs are written where the compiler is, and run where the GPU is, which needs tile-run, Python and numpy.
Of each seed only the first draw is taken."""
import glob
import os

from .draw import draw_program
from .run import Outcome, clean, compile_for, prepare, run_on_gpu

MULTIPROCESSORS = 100  # at least: a program does not tell larger numbers apart


def write_pack(arguments):
    """Compiles a seed's program into DIR/SEED.pack, or DIR/SEED.ARCH.pack where only one architecture takes it; gives its
    refusals and failures."""
    tools, seed, only, base, directory = arguments
    folder, outcome = os.path.join(base, str(seed)), Outcome()
    os.makedirs(folder, exist_ok=True)
    program = draw_program(seed, 0, only)
    with open(os.path.join(folder, "k.tile"), "w") as file:
        file.write(program.without_requirements().text())
    for architectures in (program.architectures, *((a,) for a in program.architectures)):
        if compile_for(tools, folder, architectures, outcome, program.compile_options()):
            name = f"{seed}.pack" if len(architectures) > 1 else f"{seed}.{architectures[0]}.pack"
            os.replace(os.path.join(folder, "k.pack"), os.path.join(directory, name))
            break
    clean(folder)
    return seed, outcome


def packs(directory):
    """(seed, path) of each pack."""
    paths = glob.glob(os.path.join(directory, "*.pack"))
    return sorted((int(os.path.basename(path).split(".")[0]), os.path.abspath(path)) for path in paths)


def run_pack(arguments):
    """(seed, what went wrong) of a pack on the GPU."""
    tools, seed, only, base, path = arguments
    folder, outcome = os.path.join(base, str(seed)), Outcome()
    os.makedirs(folder, exist_ok=True)
    program = draw_program(seed, 0, only)
    one = os.path.basename(path).split(".")[1]
    architectures = [one] if one in program.architectures else program.architectures
    calls = prepare(program, seed, folder, outcome, MULTIPROCESSORS)
    if calls is not None:
        run_on_gpu(tools, program, calls, path, architectures, folder, outcome)
    clean(folder)
    return seed, outcome
