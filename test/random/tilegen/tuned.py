"""Parameters that are the compiler's choice: threads of launches and stages of loops from a `tune` list, `instantiate k<auto>`.
They change what is fast, and the order of sums, not what a program means."""
from . import nodes as n
from .threads import Threads

MOST_CANDIDATES = 4  # each is compiled


def draw(b):
    """Turns some numbers of a finished program into parameters."""
    if not b.chance(0.06):
        return
    elsewhere = {id(x) for f in n.walk(b.program.launches) if isinstance(f, n.Outlined) for x in n.walk(f.body)}  # functions have no parameters of kernels
    loops = [x for x in n.walk(b.program.launches) if isinstance(x, n.For) and x.kind == "pipelined" and id(x) not in elsewhere]
    places = [(loop, "stages", [1, 2, 3, 4]) for loop in loops]
    for launch in b.program.launches:
        if not any(isinstance(x, (Threads, n.ThreadCount)) for x in n.walk(launch)):  # these know their number
            places.append((launch, "threads", [launch.threads // 2 // 32 * 32 or 96, launch.threads * 2]))
    b.random.shuffle(places)
    count = 1
    for node, field, others in places:
        values = [getattr(node, field)] + [x for x in others if x != getattr(node, field) and x <= 512][: b.pick([1, 1, 2])]
        if count * len(values) <= MOST_CANDIDATES and len(values) > 1:
            count *= len(values)
            name = b.name("P")
            node.tuned = name
            b.random.shuffle(values)
            b.program.tuned[name] = values
    if b.program.tuned:
        b.note("auto")
