"""`@require`: what it asks for is drawn, not whether a target achieves it. Where the compiler says that it does not, the program is run
without its requirements."""
import re

from . import nodes as n

ANYWHERE = ["no_spill", "no_spill", "no_exchange", "vector(2)", "vector(1)"]
OF_COPIES = ["cp_async", "tma, from = 90", "vector(4)", "vector(16)"]
OF_PRODUCTS = ["mma", "mma", "wgmma, from = 90", "mma, no_exchange"]
OF_LOOPS = ["pipelined", "stages", "pipelined, stages", "stages, from = 90", "mma"]
OF_LAUNCHES = ["no_spill", "no_spill", "no_exchange", "pipelined", "mma", "warp_specialize, from = 90", "tma, from = 90",
               "cluster, from = 90"]


def drawn(b, statement):
    """The arguments for one statement."""
    words = list(ANYWHERE)
    if isinstance(statement, n.Copy):
        words += OF_COPIES
    elif isinstance(statement, n.Gemm):
        words += OF_PRODUCTS * 2
    elif isinstance(statement, n.For) and statement.kind == "pipelined":
        words += OF_LOOPS
    return b.pick(words)


def unmet(program, arch, errors):
    """True if these diagnostics, (text, name), say that what the program requires of an architecture is not achieved, and no more."""
    asked = {word for text in program.requirements(arch) for word in re.findall(r"[a-z_]+(?:\(\d+\))?", text)}
    return bool(errors) and all(name == "require" and re.match(r"`(.*?)` is required", text)[1] in asked for text, name in errors)
