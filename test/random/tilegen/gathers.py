"""Copies at places that index tiles give, and tensors under other shapes."""
from dataclasses import dataclass

import numpy as np

from . import elements as e, nodes as n
from .features import copy_notes, feature
from .formats import FORMATS
from .intervals import ProgramError


class Indices(str):
    """A subscript of a region that is the name of an index tile."""


@dataclass
class Reshape:
    """A view of a whole tensor under another shape."""

    name: str
    of: str
    extents: list
    in_place = True  # moves into no function

    def lines(self):
        yield f"view {self.name} = reshape({self.of}, [{', '.join(self.extents)}]);"


class Renumbered:
    """A store of the interpreter, seen under another shape."""

    def __init__(self, store, shape):
        self.store, self.shape = store, shape
        if np.prod(shape, dtype=np.int64) != store.written.size:
            raise ProgramError("another number of elements")

    @property
    def tile(self):
        return self.store.tile.each(lambda x: x.reshape(self.shape))

    @property
    def written(self):
        return self.store.written.reshape(self.shape)

    def put(self, index, tile, waits=False):
        flat = np.arange(self.store.written.size).reshape(self.shape)[index]
        self.store.put(np.unravel_index(flat, self.store.written.shape), tile, waits)


# --- index tiles


def filled(b, extent, largest):
    """A tile of indices that are drawn: of one number twice, out of range at both ends, from memory."""
    format = b.pick(["i32", "i32", "i64"])
    known = b.tiles(lambda t: t.format == format and t.shape == (extent,) and t.scope != "let" and t.name in b.indices)
    if known and b.chance(0.4):
        return b.pick(known)
    tile = b.declare(b.pick(["fragment", "fragment", "shared"]), format, (extent,))
    b.indices.add(tile.name)
    if b.chance(0.3):
        source = b.input_region(format, tile.shape)
        next(t for t in b.program.tensors() if t.name == source.name).data = b.pick(["few", "small"])
        b.emit(n.Copy(source, n.Ref(tile.name)))
    else:
        v, terms = b.name("p"), [k for k in b.scalars()]
        term = f" + {b.pick(terms)}" if terms and b.chance(0.6) else ""
        code = b.pick([f"({v} * {b.pick([1, 2, 3, 7])}{term}) % {largest + 2} - 1", f"{v}{term}", f"{largest} - {v}{term}", f"{v} / 2 * 2"])
        b.emit(e.Parallel([v], "", [extent], [e.Put(e.ElementOf(tile.name, [v]), e.Number(code, format))]))
    tile.ready = True
    return tile


def different(b, extent):
    """A tile of indices of which no two are one number."""
    tile = b.declare(b.pick(["fragment", "shared"]), b.pick(["i32", "i64"]), (extent,))
    v, size = b.name("p"), b.value(extent)
    code = b.pick([v, f"{size - 1} - {v}", f"{v} + {b.pick([1, 3])}", f"{v} * 2 - 3"])
    b.emit(e.Parallel([v], "", [extent], [e.Put(e.ElementOf(tile.name, [v]), e.Number(code, tile.format))]))
    tile.ready = True
    return tile


def drawn_often(b, draw, format, shape):
    """A tile once, or in each iteration of a pipelined loop, which adds them up or keeps the last."""
    if b.depth > 2 or b.trips > 6 or b.chance(0.4):
        draw()
        return
    variable, trips = b.name("k"), b.pick([1, 2, 3, 4])
    total = b.declare("fragment", format, shape, b.literal(format))

    def body():
        tile = draw()
        if FORMATS[format].only_stores:
            b.emit(n.Copy(n.Ref(tile.name), n.Ref(total.name)))
        else:
            b.emit(n.Assign(n.Ref(total.name), b.pick(["+=", "="]), n.Ref(tile.name)))

    b.emit(n.For(variable, "0", str(trips), b.inside(body, trips, {variable: trips}), "pipelined", b.stages([1, 2, 3, 4])))


@feature("gather", 1.2)
def gather(b):
    """Rows, columns or both of an input, into shared memory or registers, often in a pipelined loop."""
    shape = b.shape()
    if len(shape) > 2 or b.size(shape) > b.threads * 24:
        return False
    format, scope = b.stored_format(shape), b.pick(["shared", "shared", "fragment"])
    axes = [axis for axis in range(len(shape)) if b.chance(0.85 if axis == 0 else 0.15)] or [0]

    def draw():
        tile = b.declare(scope, format, shape)
        tiles = {axis: filled(b, shape[axis], b.value(shape[axis])) for axis in axes}
        source = b.input_region(b.stored_format(shape) if b.chance(0.1) else format, shape)
        lead = len(source.subscripts) - len(shape)
        if any(not isinstance(s, str) for s in source.subscripts):
            source.subscripts = [s if isinstance(s, str) else s[0] for s in source.subscripts]
        for axis, index in tiles.items():
            source.subscripts[lead + axis] = Indices(index.name)
        b.emit(n.Copy(source, n.Ref(tile.name), copy_notes(b)))
        tile.ready = True
        return tile

    drawn_often(b, draw, format, shape)


@feature("scatter", 0.5)
def scatter(b):
    """A tile into a region of the block's own, its rows at other places."""
    tiles = b.tiles(lambda t: t.format != "bool" and len(t.shape) <= 2)
    if not tiles or b.depth > 1:
        return False
    tile = b.pick(tiles)
    target = b.output_region(tile.format, tile.shape)
    if target.subscripts[-len(tile.shape) :] != ["0"] * len(tile.shape):
        return False
    axis = b.random.randrange(len(tile.shape))
    index = different(b, tile.shape[axis])
    target.subscripts[len(target.subscripts) - len(tile.shape) + axis] = Indices(index.name)
    b.emit(n.Copy(n.Ref(tile.name), target, copy_notes(b)))


@feature("reshape", 0.7)
def reshape(b):
    """An input under another shape, read as tiles, or an output that is written so."""
    shape = (b.extent(), b.extent())
    if b.size(shape) > b.threads * 24:
        return False
    first, second, third = (b.dimension(near) for near in (3, b.value(shape[0]), b.value(shape[1])))
    name, format = b.name("w"), b.pick([f for f in b.stored if not FORMATS[f].packed])  # those are refused
    ways = [([first, second, third], [f"{first} * {second}", third]), ([f"{first} * {second}", third], [first, second, third])]
    ways.append(([first, second, third], [third, f"{first} * {second}"]))
    extents, seen = b.pick(ways)
    tensor = n.Tensor(b.name("X"), format, extents, data=b.data_kind(format))
    b.program.arguments.append(tensor)
    b.emit(Reshape(name, tensor.name, seen))
    starts = ["0"] * (len(seen) - 2) + [b.origin(x, True)[0] for x in shape]
    if b.chance(0.3) and b.value(shape[0]) > 1:
        starts[-2] = Indices(filled(b, shape[0], b.value(shape[0])).name)
    tile = b.declare(b.pick(["shared", "fragment"]), format, shape)
    b.emit(n.Copy(n.Region(name, starts), n.Ref(tile.name), copy_notes(b)))
    tile.ready = True
    if b.chance(0.4):
        # A block has a row of the output, which is as long as a tile.
        rows = [b.grid_dimension(i) for i in b.index_names]
        out = n.Tensor(b.name("Y"), format, [*rows, f"{shape[0]} * {shape[1]}"], "out")
        b.program.arguments.append(out)
        lines = b.name("w")
        b.emit(Reshape(lines, out.name, [*rows, *shape]))
        b.emit(n.Copy(n.Ref(tile.name), n.Region(lines, [*b.index_names, "0", "0"]), copy_notes(b)))
