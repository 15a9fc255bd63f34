"""Parts of tiles: slices at constant places, and single elements as scalars of the block."""
from dataclasses import dataclass

from . import nodes as n
from .expressions import leaf
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
