"""What stands before launches and kernels, and the multiprocessors that a host counts."""
from . import nodes as n, requirements

CLUSTERS = ["2", "2", "4", "8", "2, 1", "1, 2", "1, 2", "2, 2", "4, 2", "2, 2, 2", "3"]


def of_launch(b, dimensions):
    notes = []
    persistent = b.chance(0.12)
    dynamic = b.rarely("@persistent(dynamic)", 0.04)
    if b.chance(0.08) and dimensions == 2:
        height = b.pick([1, 2, 3, 8, 2147483647, "sm_count()", "sm_count() - 9"])
        notes.append(f"rasterize(group = {height})")
    if b.chance(0.08):
        notes.append("no_tma")
    if b.chance(0.04):
        notes.append(f"min_blocks({b.pick([1, 2])})")
    if b.chance(0.04):
        notes.append(f"max_registers({b.pick([128, 168, 255])})")
    clustered = b.rarely("@cluster", 0.08)
    if clustered:
        notes.append(f"cluster({b.pick(CLUSTERS)})")
    if b.rarely("@overlap", 0.3):
        notes.append("overlap")
    if b.rarely("@require", 0.03):
        notes.append(f"require({b.pick(requirements.OF_LAUNCHES)})")
    if b.rarely("pingpong", 0.1):  # of persistent blocks only
        notes.append("warp_specialize(pingpong)")
        persistent = persistent or not dynamic
    elif b.chance(0.7 if clustered else 0.3):
        notes.append("warp_specialize(operations)" if b.rarely("operations", 0.1) else "warp_specialize(producer)")
    if persistent or dynamic:
        notes.insert(0, "persistent(dynamic)" if dynamic else "persistent")
    for note in notes:
        b.note("@" + note.split("(")[0])
    return notes


def counted(b):
    """The multiprocessors in a number of the host part, at most a few, so that it is the same on every large device: its name and its
    largest value."""
    name, most = b.name("e"), b.pick([2, 3, 5])
    code = b.pick([f"min(sm_count(), {most})", f"min(sm_count() * 2, {most})", f"max(1, min(sm_count() - 1, {most}))"])
    b.program.host.append(n.LetScalar(name, code))
    return name, most


def spread(b):
    """The number of blocks of a launch that goes through its grid by itself."""
    name = b.name("e")
    b.program.host.append(n.LetScalar(name, b.pick(["sm_count()", "sm_count() * 2"])))
    return name


def assumptions(b):
    """What is true of the extents of all calls, as facts at the beginning of a launch."""
    facts = []
    for name in b.dimensions:
        values = [call[name] for call in b.program.calls]
        facts += [f"{name} >= {min(values)}", f"{name} <= {max(values)}"]
        facts += [f"{name} % {by} == 0" for by in (2, 3, 4, 8, 16) if all(value % by == 0 for value in values)] * 2
        facts += [f"{name} <= {other}" for other in b.dimensions if other != name and all(call[name] <= call[other] for call in b.program.calls)][:2]
    if facts:
        for _ in range(b.pick([1, 2, 3])):
            b.pick(b.program.launches).body.insert(0, n.Assume(b.pick(facts)))
