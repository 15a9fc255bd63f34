"""Pipelined loops whose loads go to registers: how far they run ahead, beside what, and where the loop stands."""
from . import nodes as n
from .expressions import expression
from .features import bounded_region, copy_notes, draw_feature, feature
from .formats import FORMATS
from .gathers import Indices, filled


def _loaded(b, format, shape):
    """A fragment that each iteration loads: a tile, part of a view, rows that a tile of indices gives, elements of a `parallel`."""
    tile = b.declare("fragment", format, shape)
    how = b.weighted([("tile", 5), ("bounded", 1), ("rows", 1.5)])
    region = bounded_region(b, format, shape) if how == "bounded" else b.input_region(format, shape)
    if how == "rows" and len(shape) <= 2 and all(isinstance(s, str) for s in region.subscripts):
        index = filled(b, shape[0], b.value(shape[0]))
        region.subscripts[len(region.subscripts) - len(shape)] = Indices(index.name)
        b.note("rows ahead")
    b.emit(n.Copy(region, n.Ref(tile.name), copy_notes(b)))
    tile.ready = True
    return tile


@feature("loads ahead", 1.5)
def loads_ahead(b):
    if b.depth > 3 or b.trips > 8:
        return False
    shape, format = b.shape(), None
    formats = [f for f in ("f32", "f16", "bf16", "i32", "i8", "f64", "u8", "i16") if f in b.stored and b.size(shape) * FORMATS[f].bits <= b.threads * 1536]
    if not formats:
        return False
    format = b.pick(formats)
    total = b.declare("fragment", format, shape, b.literal(format))
    trips, variable = b.pick([0, 1, 1, 2, 3, 4, 5, 7, 9]), b.name("k")
    first, step = b.pick([(0, 1), (0, 1), (0, 1), (1, 1), (0, 2), (2, 3)])
    end = str(first + step * trips - b.pick([0, step - 1]) * (trips > 0))
    if first == 0 and step == 1 and trips and b.chance(0.5):
        end = f"ceildiv({b.dimension(trips * 16)}, {b.extent(16)})"
        b.bind_by_tensor(end)

    def draw():
        if b.chance(0.2):
            draw_feature(b)
        tiles = [_loaded(b, format, shape) for _ in range(b.pick([1, 1, 1, 2, 3]))]
        if b.chance(0.3):
            draw_feature(b)
        for tile in tiles:
            value = expression(b, format, shape, depth=1) if b.chance(0.3) else None
            b.emit(n.Assign(n.Ref(total.name), b.pick(["+=", "+=", "="]), value if value is not None else n.Ref(tile.name)))
        if b.chance(0.15):
            b.emit(n.Copy(n.Ref(tiles[-1].name), b.output_region(format, shape), copy_notes(b)))

    body = b.inside(draw, trips, {variable: first + step * max(trips, 1)})
    b.emit(n.For(variable, str(first), end, body, "pipelined", b.stages([2, 2, 3, 3, 4, 5]), step))
