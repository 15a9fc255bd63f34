"""Atomic operations: on tiles, on elements in `parallel` loops and regions. All that meet in one place do the same, and what that gives
does not depend on their order: integers, or sums of floats that are exact. Nothing else reads the place before the next statement."""
from dataclasses import dataclass

import numpy as np

from . import nodes as n
from .features import feature
from .formats import FORMATS
from .intervals import ProgramError
from .nodes import hinted, strip

KINDS = ["add", "min", "max", "and", "or", "xor"]
INTEGERS = ["i32", "u32", "i64", "u64"]


@hinted
@dataclass
class Atomic:
    """`place` is a tile, a region of a tensor, or one element (in a loop or region)."""

    in_place = True
    kind: str
    place: object
    value: object
    order: str = ""

    def lines(self):
        order = f", order = {self.order}" if self.order else ""
        yield f"atomic_{self.kind}({self.place.text()}, {strip(self.value.text())}{order});"


class AtomicOfIteration(Atomic):
    """Its place is an element of the iteration."""


class AtomicOfThread(Atomic):
    """Its place is an element of the thread."""


# --- meaning


def combine(store, index, value, kind):
    """All elements of `value`, a flat tile, into the places at `index` (one array for each dimension), which may be the same."""
    if not np.all(store.written[index]):
        raise ProgramError("an atomic on what nobody wrote")
    function = {"add": np.add, "min": np.minimum, "max": np.maximum, "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}[kind]
    old = store.tile
    store.put(tuple(np.ones(old.shape, bool).nonzero()), old.each(lambda x: x.reshape(-1).copy()))  # arrays of its own
    tile = store.tile
    with np.errstate(all="ignore"):
        function.at(tile.lo, index, value.lo)
        if tile.hi is not tile.lo:
            function.at(tile.hi, index, value.hi)
    known = value.known()
    if not np.all(known):
        wild = np.zeros(tile.shape, bool) if tile.wild is None else tile.wild.copy()
        np.logical_or.at(wild, index, ~known)
        store.tile = type(tile)(tile.format, tile.lo, tile.hi, wild)


def exact(format, kind, value):
    """Sums of floats in any order: whole numbers, and few."""
    if FORMATS[format].is_float and not np.all(value.known() & (value.lo == np.trunc(value.lo)) & (np.abs(value.lo) <= 4)):
        raise ProgramError("a sum whose order matters")
    if kind == "add" and FORMATS[format].kind == "i" and np.any(np.abs(value.lo.astype(np.float64)) > 2**20):
        raise ProgramError("a sum that may overflow")


# --- drawing


def kind_and_format(b):
    format = b.pick(INTEGERS + ["f32", "f64"])
    return ("add" if FORMATS[format].is_float else b.pick(KINDS)), format


def small(b, format):
    """A number of which many may be added up."""
    if FORMATS[format].is_float:
        return n.Lit(b.pick([1.0, 2.0, 3.0]), format)
    return b.literal(format)


def target(b, format, extents):
    tensor = n.Tensor(b.name("A"), format, extents, "inout", data="small")
    b.program.arguments.append(tensor)
    return tensor


@feature("atomic", 1)
def atomic(b):
    """A tile into a region of a tensor, where blocks meet, or into a shared buffer."""
    kind, format = kind_and_format(b)
    sources = b.tiles(lambda t: t.format == format)
    shape = b.pick(sources).shape if sources and b.chance(0.6) else b.shape()
    same = [t for t in sources if t.shape == shape]
    floats = FORMATS[format].is_float
    value = n.Ref(b.pick(same).name) if same and not floats and kind != "add" and b.chance(0.8) else None
    if value is None:
        tile = b.declare(b.pick(["fragment", "fragment", "shared"]), format, shape, small(b, format))
        value = n.Ref(tile.name)
    shared = [t for t in same if t.scope == "shared" and not t.fixed and t.name != value.text() and not floats]
    if shared and b.chance(0.4):
        b.emit(Atomic(kind, n.Ref(b.pick(shared).name), value))
        return
    starts = [b.origin(e, True) for e in shape]
    tensor = target(b, format, [b.dimension(reach + b.value(e)) for (_, reach), e in zip(starts, shape)])
    order = "acq_rel" if b.chance(0.1) else ""
    b.emit(Atomic(kind, n.Region(tensor.name, [s for s, _ in starts]), value, order))


def in_loop(draw):
    """A statement of a `parallel` loop."""
    from . import elements as e

    b = draw.b
    kind, format = kind_and_format(b)
    subscripts, extents = [], []
    for _ in range(b.pick([1, 1, 2])):
        term = b.pick(draw.variables + draw.counters + b.index_names)
        subscripts.append(b.pick([term, term, f"{term} % 3", f"{term} * 2 - 1", f"{term} / 2"]))
        extents.append(b.dimension(b.pick([3, 8, 33])))
    place = e.ElementOf(target(b, format, extents).name, subscripts)
    value = small(b, format) if FORMATS[format].is_float or kind == "add" else draw.value(format, 1)
    return AtomicOfIteration(kind, place, value)


def in_region(region):
    """A statement of a region, on a tensor."""
    from .threads import Item

    b = region.b
    kind, format = kind_and_format(b)
    extents = [b.dimension(b.pick([2, 9, 40]))]
    tensor = target(b, format, extents)
    value = small(b, format) if FORMATS[format].is_float or kind == "add" else region.number(format, 1)
    b.emit(AtomicOfThread(kind, Item(tensor.name, [b.pick([region.index(), f"({region.index()}) % 7"])]), value))

