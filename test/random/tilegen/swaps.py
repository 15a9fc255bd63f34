"""Atomic operations on one element whose result is used: `atomic_exchange`, `atomic_cas`, and the others. What they return does not
depend on an order: each block, iteration or thread has an element of its own. Where they meet in one element, all do the same and
none looks at what it returns."""
from dataclasses import dataclass

import numpy as np

from . import atomics, intervals as iv, nodes as n
from .atomics import INTEGERS, KINDS
from .features import feature
from .formats import FORMATS
from .intervals import ProgramError, Tile
from .nodes import hinted, strip

EXCHANGED = [*INTEGERS, "f32", "f64", "f16", "bf16"]


@hinted
@dataclass
class Swap:
    """`name`: of the old value; "" where nobody wants it."""

    in_place = True  # moves into no function
    kind: str  # exchange, cas, add, ..
    place: object  # one element
    value: object
    format: str
    expected: object = None  # of a cas
    name: str = ""

    def lines(self):
        values = ", ".join(strip(v.text()) for v in (self.expected, self.value) if v is not None)
        call = f"atomic_{self.kind}({self.place.text()}, {values});"
        yield f"let {self.name}: {self.format} = {call}" if self.name else call


class SwapOfIteration(Swap):
    """Its place is an element of the iteration."""


class SwapOfThread(Swap):
    """Its place is an element of the thread."""


# --- meaning


def swapped(s, store, index, inside, value, expected):
    """The old values, after the exchange. Flat arrays: an index of numpy, who takes part, and tiles of as many elements. Outside of a
    tensor there is 0, and stays 0."""
    chosen = tuple(at[inside] for at in index)
    if not np.all(store.written[chosen]):
        raise ProgramError("an atomic on what nobody wrote")
    places = np.ravel_multi_index(chosen, store.tile.shape) if store.tile.lo.size else np.zeros(0, int)
    if len(np.unique(places)) != len(places):
        alike = all(t is None or len(np.unique(t.lo[inside])) == 1 and np.all(t.known()) for t in (value, expected))
        if s.name or not alike:
            raise ProgramError("an order that matters")
    if store.tile.lo.size:
        safe = tuple(np.where(inside, at, 0) for at in index)
        old = store.tile.each(lambda x: np.where(inside, x[safe], np.zeros((), x.dtype)))
    else:
        old = Tile(store.tile.format, np.zeros(len(inside), store.tile.format.array))
    own = value.each(lambda x: x[inside])
    if s.kind in KINDS:
        atomics.exact(store.tile.format.name, s.kind, own)
        atomics.combine(store, chosen, own, s.kind)
        return old
    new = value if s.kind == "exchange" else iv.select(iv.compare("==", old, expected), value, old)
    store.put(chosen, new.each(lambda x: x[inside]))
    return old


def operands(s, evaluate, count):
    """The value and what is expected, as flat tiles."""
    flat = lambda e: evaluate(e).stored().each(lambda x: np.broadcast_to(x, count).reshape(-1).copy())  # noqa: E731
    return flat(s.value), None if s.expected is None else flat(s.expected)


# --- drawing


def draw_kind(b, named):
    """(kind, format) of an operation."""
    kind = b.pick(["exchange", "exchange", "cas", "cas", *(KINDS if named else [])])
    b.note("atomic_exchange" if kind == "exchange" else "atomic_cas" if kind == "cas" else "result of an atomic")
    return kind, b.pick(EXCHANGED if kind == "exchange" else INTEGERS)


def target(b, format, extents):
    """An `inout` tensor of numbers that what is expected now and then is among."""
    return b.tensor("A", format, extents, "inout", data="small" if FORMATS[format].is_float else "few").name


def expected(b, kind, format):
    return n.Lit(b.pick([0, 1, 2, 3]), format) if kind == "cas" else None


def _small(b, format):
    return n.Lit(float(b.pick([1, 2, 3])) if FORMATS[format].is_float else b.pick([1, 2, 3]), format)


@feature("swap", 0.8)
def swap(b):
    """In block code, where the result is a scalar: an element of the block's own, one of a shared buffer, or one that blocks meet in."""
    from .parts import element

    if b.chance(0.3):
        kind, format = draw_kind(b, False)
        place = n.Region(target(b, format, [b.dimension(4)]), [b.pick(["0", "1", *b.scalars()])])
        return b.emit(Swap(kind, place, _small(b, format), format, expected(b, kind, format)))
    shared = b.tiles(lambda t: t.scope == "shared" and not t.fixed and t.format in INTEGERS)
    if shared and b.chance(0.4):
        tile = b.pick(shared)
        kind, format = draw_kind(b, True)[0], tile.format
        place = element(b, tile)
    else:
        kind, format = draw_kind(b, True)
        place = n.Region(target(b, format, [b.grid_dimension(i) for i in b.index_names]), list(b.index_names))
    own = isinstance(place, n.Region)
    name = "" if FORMATS[format].is_float else b.name("e" if format == "i32" and own and kind in ("exchange", "cas") else "o")
    b.emit(Swap(kind, place, _small(b, format), format, expected(b, kind, format), name))
    if name:
        b.results[name] = format
    if name.startswith("e"):
        b.scopes[-1].scalars[name] = 4
    if name and b.chance(0.8):
        tiles = b.tiles(lambda t: t.format == format and not t.fixed and t.scope in ("shared", "fragment"))
        value = n.Scalar(name, format, cast=False)
        if tiles:
            tile = b.pick(tiles)
            b.emit(n.Assign(n.Ref(tile.name), b.pick(["^=", "|=", "="]), value))
        else:
            b.declare("fragment", format, b.shape(), value)


def in_loop(draw):
    """A statement of a `parallel` loop."""
    from . import elements as e

    b = draw.b
    if b.chance(0.3):
        kind, format = draw_kind(b, False)
        term = b.pick(draw.variables + draw.counters + b.index_names)
        place = e.ElementOf(target(b, format, [b.dimension(b.pick([3, 8, 33]))]), [b.pick([term, f"{term} % 3", f"{term} / 2"])])
        return SwapOfIteration(kind, place, _small(b, format), format, expected(b, kind, format))
    shared = [(t, at) for t, at in draw.written.values() if getattr(t, "scope", "") == "shared" and t.ready and t.format in INTEGERS]
    if shared and b.chance(0.6):
        tile, subscripts = b.pick(shared)
        kind, format = draw_kind(b, True)[0], tile.format
        place = e.ElementOf(tile.name, subscripts)
    else:
        kind, format = draw_kind(b, True)
        sizes = [b.value(x) for x in draw.extents]
        extents = [b.grid_dimension(i) for i in b.index_names] + [b.dimension(size) for size in sizes]
        own = [b.pick([v, v, f"{size - 1} - {v}"]) for v, size in zip(draw.variables, sizes)]
        if len(extents) > 5:
            return atomics.in_loop(draw)
        place = e.ElementOf(target(b, format, extents), [*b.index_names, *own])
    value = _small(b, format) if kind in KINDS else draw.value(format, 1)
    statement = SwapOfIteration(kind, place, value, format, expected(b, kind, format), b.name("a"))
    draw.locals.append((statement.name, format, False))
    return statement


def in_region(region):
    """A statement of a region."""
    from .threads import Item

    b = region.b
    if b.chance(0.3):
        kind, format = draw_kind(b, False)
        place = Item(target(b, format, [b.dimension(b.pick([2, 9, 40]))]), [b.pick([region.index(), f"({region.index()}) % 7"])])
        return b.emit(SwapOfThread(kind, place, _small(b, format), format, expected(b, kind, format)))
    own = [t for t in region.shared if t.format in INTEGERS and t.name not in region.read | region.written and b.value(t.shape[-1]) >= region.threads]
    if own and b.chance(0.6):
        tile = b.pick(own)
        kind, format = draw_kind(b, True)[0], tile.format
        value = _small(b, format) if kind in KINDS else region.number(format, 1)
        if tile.name in region.read:
            return None  # by the value
        region.written.add(tile.name)
        place = Item(tile.name, ["0"] * (len(tile.shape) - 1) + [region.ints[0]])
    else:
        kind, format = draw_kind(b, True)
        value = _small(b, format) if kind in KINDS else region.number(format, 1)
        extents = [b.grid_dimension(i) for i in b.index_names] + [b.dimension(region.threads)]
        place = Item(target(b, format, extents), [*b.index_names, region.ints[0]])
    name = region.add(format).name
    return b.emit(SwapOfThread(kind, place, value, format, expected(b, kind, format), name))
