"""Parts of dimensions that index tiles gather: views of views, of which any may gather, slice or take one index."""
from dataclasses import dataclass

from . import atomics, nodes as n
from .features import copy_notes, feature
from .formats import FORMATS
from .gathers import Indices, different, drawn_often, filled


@dataclass
class Axis:
    """A dimension that is still open: what tiles have of it, "" where one index of it is taken; about how long it is now."""

    extent: str
    length: int
    even: bool


def _span(b, axis):
    """(begin, end), or None for all."""
    step = 2 if axis.even else 1
    first = b.pick(["0", "0", "-2", "2", *([] if axis.even else ["1", "3", *b.scalars()]), *(f"{k} * 2" for k in b.scalars())])
    ends = [axis.length, axis.length - 2 * step, axis.length // 4 * 2, axis.length + 6]
    return (first, str(b.pick(ends))) if b.chance(0.5) else None


def _view(b, name, axes, is_first):
    """A view of `name`, and which dimensions it leaves."""
    subscripts, left = [], []
    chosen = b.random.randrange(len(axes))
    for i, axis in enumerate(axes):
        gathers = not axis.even and (b.chance(0.25) or (is_first and i == chosen))
        if gathers:
            length = b.extent()
            subscripts.append(Indices(filled(b, length, axis.length).name))
            left.append(Axis(axis.extent, b.value(length), False))
        elif not axis.extent and not is_first and b.chance(0.6):
            subscripts.append(_index(b, axis))
        else:
            subscripts.append(_span(b, axis))
            left.append(axis)
    view = n.View(b.name("w"), name, subscripts)
    b.emit(view)
    return view.name, left


def _index(b, axis):
    return b.pick(["0", "1", "3", str(axis.length - 1), *b.scalars()])


def _start(b, axis):
    """Where a tile begins: mostly inside."""
    free = max(axis.length - b.value(axis.extent), 0) // 2 * 2
    starts = ["0", str(free), str(free // 4 * 2), "-2"]
    return b.pick(starts + [f"{k} * {b.pick([2, 4, axis.extent])}" for k in b.scalars()] + ([] if axis.even else ["1", "3", *b.scalars()]))


def _region(b, name, axes):
    """A tile of the last of `axes`, as an origin, as a slice, or at index tiles of its own."""
    is_slice, subscripts = b.chance(0.35), []
    for axis in axes:
        if not axis.extent:
            subscripts.append(_index(b, axis))
        elif not axis.even and b.chance(0.15):
            subscripts.append(Indices(filled(b, axis.extent, axis.length).name))
        else:
            subscripts.append((_start(b, axis), axis.extent) if is_slice else _start(b, axis))
    return n.Region(name, subscripts)


def _views(b, name, axes):
    for number in range(b.pick([1, 1, 2, 2, 3])):
        name, axes = _view(b, name, axes, number == 0)
    # What is not a tile's is taken by an index in front, or by one more view.
    if any(not axis.extent for axis in axes[1:]):
        view = n.View(b.name("w"), name, [None if axis.extent else _index(b, axis) for axis in axes])
        b.emit(view)
        name, axes = view.name, [axis for axis in axes if axis.extent]
    return name, axes


@feature("part of gather", 0.8)
def part_of_gather(b):
    """Loads, often in a pipelined loop, inside or outside of which the views are."""
    shape = b.shape()
    if len(shape) > 2 or b.size(shape) > b.threads * 24:
        return False
    format = b.stored_format(shape)
    if FORMATS[format].packed and len(shape) < 2:
        return False
    axes = [Axis(e, b.value(e) + b.pick([0, 4, 16]), FORMATS[format].packed and i + 1 == len(shape)) for i, e in enumerate(shape)]
    if b.chance(0.3):
        axes.insert(b.random.randrange(len(axes)), Axis("", b.pick([2, 5, 16]), False))
    tensor = b.tensor("X", format, [b.dimension(axis.length) for axis in axes], data=b.data_kind(format))
    scope = b.pick(["shared", "shared", "fragment"])
    known = _views(b, tensor.name, axes) if b.chance(0.6) else None

    def draw():
        tile = b.declare(scope, format, shape)
        region = _region(b, *(known or _views(b, tensor.name, axes)))
        b.emit(n.Copy(region, n.Ref(tile.name), copy_notes(b)))
        tile.ready = True
        return tile

    drawn_often(b, draw, format, shape)


@feature("part of scatter", 0.4)
def part_of_scatter(b):
    """A tile into a part of places that are all different, of the block's own."""
    tiles = b.tiles(lambda t: t.format != "bool" and len(t.shape) <= 2 and not FORMATS[t.format].packed)
    if not tiles or b.depth > 1:
        return False
    tile = b.pick(tiles)
    axes = [Axis(e, b.value(e) + b.pick([0, 4, 16]), False) for e in tile.shape]
    blocks = b.index_names
    tensor = b.tensor("Y", tile.format, [b.grid_dimension(i) for i in blocks] + [b.dimension(axis.length) for axis in axes], "out")
    chosen = b.random.randrange(len(axes))
    length = b.extent()
    subscripts = [_span(b, axis) for axis in axes]
    subscripts[chosen] = Indices(different(b, length).name)
    axes[chosen] = Axis(axes[chosen].extent, b.value(length), False)
    view = n.View(b.name("w"), tensor.name, [*blocks, *subscripts])
    b.emit(view)
    starts = [_start(b, axis) for axis in axes]
    if b.chance(0.3):
        starts = list(zip(starts, tile.shape))
    b.emit(n.Copy(n.Ref(tile.name), n.Region(view.name, starts), copy_notes(b)))


@feature("atomic at part of gather", 0.3)
def atomic_at_part(b):
    """A tile into places of which several may be one."""
    shape = b.shape()
    if len(shape) > 2 or b.size(shape) > b.threads * 24:
        return False
    kind, format = atomics.kind_and_format(b)
    axes = [Axis(e, b.value(e) + b.pick([0, 4, 16]), False) for e in shape]
    tensor = atomics.target(b, format, [b.dimension(axis.length) for axis in axes])
    tile = b.declare(b.pick(["fragment", "shared"]), format, shape, atomics.small(b, format))
    b.emit(atomics.Atomic(kind, _region(b, *_views(b, tensor.name, axes)), n.Ref(tile.name)))
