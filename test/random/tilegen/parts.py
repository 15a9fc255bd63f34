"""Parts of tiles: slices at constant places, single elements as scalars of the block; shared buffers under another shape or type."""
from dataclasses import dataclass

from . import intervals as iv, nodes as n
from .expressions import leaf, scalar
from .features import copy_notes, feature
from .formats import FORMATS


@dataclass
class At(n.Part):
    """One element: its spans are of one index each."""

    def text(self):
        return self.name + "[" + ", ".join(start for start, _ in self.spans) + "]"


@feature("parts", 1.6)
def parts(b):
    """Slices of a buffer or tile: half of it along one dimension."""
    whole = b.tiles(lambda t: t.format != "bool" and any(b.value(e) % 2 == 0 for e in t.shape))
    if not whole:
        return False
    tile = b.pick(whole)
    axis = b.pick([i for i, e in enumerate(tile.shape) if b.value(e) % 2 == 0])
    half = b.extent(b.value(tile.shape[axis]) // 2)
    shape = tuple(half if i == axis else e for i, e in enumerate(tile.shape))
    if not b.fits(tile.format, shape):
        return False
    starts = ["0", half]
    if tile.scope != "shared":  # a constant
        starts = ["0", str(b.value(half))]
    if FORMATS[tile.format].packed and axis + 1 == len(shape) and b.value(half) % 2:
        return False
    start = b.pick(starts)
    part = n.Part(tile.name, [(start, half) if i == axis else ("0", e) for i, e in enumerate(tile.shape)])
    if tile.fixed or b.chance(0.5):
        target = b.declare(b.pick(["fragment", "fragment", "shared"]), tile.format, shape)
        b.emit(n.Copy(part, n.Ref(target.name)) if b.chance(0.6) else n.Assign(n.Ref(target.name), "=", part))
        target.ready = True
    elif b.chance(0.4):
        b.emit(n.Copy(b.input_region(tile.format, shape), part, copy_notes(b)))
    else:
        source = leaf(b, tile.format, shape)
        if source is None:
            return False
        b.emit(n.Assign(part, b.pick(["=", "+="]) if FORMATS[tile.format].is_float and not FORMATS[tile.format].only_stores else "=", source))


def element(b, tile):
    """An element at constant or computed indices that are inside."""
    spans = []
    for e in tile.shape:
        names = [k for k, most in b.scalars().items() if most < 1000]
        if names and b.chance(0.4):
            spans.append((f"({b.pick(names)} + {b.random.randrange(8)}) % {e}", "1"))
        else:
            spans.append((str(b.random.randrange(b.value(e))), "1"))
    return At(tile.name, spans)


@feature("elements of tiles", 1.2)
def elements(b):
    """One element as an operand of an expression over a tile; one that is written, or changed."""
    tiles = b.tiles(lambda t: FORMATS[t.format].kind in "fiu" and not FORMATS[t.format].only_stores)
    if not tiles:
        return False
    tile = b.pick(tiles)
    value = element(b, tile)
    if not FORMATS[tile.format].is_float and b.chance(0.3):
        value = n.Binary("&", value, n.Lit(7, tile.format))
    targets = b.tiles(lambda t: t.format == tile.format and not t.fixed)
    if targets and b.chance(0.6):
        target = b.pick(targets)
        place = element(b, target) if b.chance(0.6) else n.Ref(target.name)
        b.emit(n.Assign(place, b.pick(["=", "=", "+="] if isinstance(place, At) else ["+=", "-="]), value))
        return
    others = b.tiles(lambda t: t.format == tile.format)
    other = b.pick(others)
    whole = n.Binary(b.pick("+-"), n.Ref(other.name), value) if b.chance(0.7) else n.Call(b.pick(["min", "max"]), [n.Ref(other.name), value])
    if b.chance(0.4):
        let = b.add_tile("let", tile.format, other.shape, fixed=True)
        b.emit(n.Let(let.name, whole))
    else:
        b.declare(b.pick(["fragment", "shared"]), tile.format, other.shape, whole)


# --- shared buffers under another shape or element type


@dataclass
class BufferView:
    """`format`: of the new elements, as large as the buffer's; "" where only the shape is another."""

    name: str
    of: str
    format: str
    shape: list
    in_place = True  # moves into no function

    def lines(self):
        what = f"bitcast({self.format}, {self.of})" if self.format else f"reshape({self.of}, [{', '.join(self.shape)}])"
        yield f"view {self.name} = {what};"


class Reinterpreted:
    """A store of the interpreter whose elements are of another format."""

    def __init__(self, store, format):
        self.store, self.format = store, format

    @property
    def tile(self):
        return iv.bitcast(self.format, self.store.tile.stored())

    @property
    def written(self):
        return self.store.written

    def put(self, index, tile, waits=False):
        self.store.put(index, iv.bitcast(self.store.tile.format, tile.stored()))


def _other_shape(b, tile):
    """Extents of as many elements."""
    size, shape = b.size(tile.shape), []
    for _ in range(b.pick([0, 1, 1, 2])):
        factors = [f for f in (2, 4, 8, 16, 3, 5) if size % f == 0 and size // f > 0]
        if factors:
            factor = b.pick(factors)
            shape.append(b.extent(factor))
            size //= factor
    shape.append(b.extent(size))
    b.random.shuffle(shape)
    return tuple(shape)


@feature("views of buffers", 0.8)
def buffer_views(b):
    """One of a shared buffer, which is read or written through it at once, as a whole or half of it."""
    tiles = b.tiles(lambda t: t.scope == "shared" and t.format != "bool" and not FORMATS[t.format].packed)
    if not tiles:
        return False
    tile = b.pick(tiles)
    alike = [f.name for f in FORMATS.values() if f.bits == FORMATS[tile.format].bits and f.name != tile.format and f.kind != "b" and not f.only_stores]
    if alike and not FORMATS[tile.format].only_stores and b.chance(0.4):
        format, shape = b.pick(alike), tile.shape
    else:
        format, shape = "", _other_shape(b, tile)
    name, seen = b.name("w"), format or tile.format
    b.emit(BufferView(name, tile.name, format, list(shape)))
    for _ in range(b.pick([1, 1, 2])):
        place, part = n.Ref(name), shape
        halves = [i for i, e in enumerate(shape) if b.value(e) % 2 == 0]
        if halves and b.chance(0.4):
            axis = b.pick(halves)
            half = b.extent(b.value(shape[axis]) // 2)
            part = tuple(half if i == axis else e for i, e in enumerate(shape))
            place = n.Part(name, [(b.pick(["0", half]), half) if i == axis else ("0", e) for i, e in enumerate(shape)])
        if tile.fixed or b.chance(0.4):
            target = b.declare("fragment", seen, part)
            b.emit(n.Copy(place, n.Ref(target.name)))
            target.ready = True
        elif b.chance(0.3):
            b.emit(n.Copy(b.input_region(seen, part), place, copy_notes(b)))
        else:
            sources = b.tiles(lambda t: t.format == seen and t.shape == part and t.scope != "shared")
            plain = not FORMATS[seen].only_stores
            if not sources and not plain:
                continue
            value = n.Ref(b.pick(sources).name) if sources and (not plain or b.chance(0.7)) else scalar(b, seen)
            b.emit(n.Assign(place, b.pick(["=", "+="]) if FORMATS[seen].is_float and plain else "=", value))
