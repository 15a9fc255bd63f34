"""Loops, of one iteration mostly, in which all iterations but the first meet: what orders the buffers behind them."""
from . import nodes as n
from .features import draw_feature, feature
from .formats import FORMATS


def _filled(b, format, shape):
    tile = b.declare("shared", format, shape)
    b.emit(n.Copy(b.input_region(format, shape), n.Ref(tile.name)))
    tile.ready = True
    return tile


@feature("first iteration", 0.6)
def first_iteration(b):
    """A buffer is read in the loop by threads that did not write it, and written behind it."""
    if b.depth > 3 or b.trips > 6:
        return False
    formats = [f for f in ("f32", "f16", "i32", "bf16") if f in b.stored]
    shape = b.shape()
    if not formats or len(shape) != 2:
        return False
    format = b.pick(formats)
    if b.size(shape) * FORMATS[format].bits > b.threads * 1024 or not b.fits(format, shape[::-1]):
        return False
    kept, other = _filled(b, format, shape), _filled(b, format, shape)
    total = b.declare("fragment", format, shape[::-1], n.Call("transpose", [n.Ref(other.name)]))  # all have met behind the copies
    trips, variable = b.pick([1, 1, 1, 2, 3]), b.name("k")
    end = f"ceildiv({b.dimension(trips * 16)}, {b.extent(16)})"
    b.bind_by_tensor(end)

    def meet():
        if b.chance(0.3):
            draw_feature(b)
        else:
            b.emit(n.Assign(n.Ref(other.name), "=", n.Call("transpose", [n.Ref(total.name)])))
            b.emit(n.Assign(n.Ref(total.name), "+=", n.Call("transpose", [n.Ref(other.name)])))

    def draw():
        b.emit(n.Assign(n.Ref(total.name), "+=", n.Call("transpose", [n.Ref(kept.name)])))
        condition = b.pick([f"{variable} > 0", f"{variable} >= 1", f"0 < {variable}", f"{variable} != 0"])
        b.emit(n.If(condition, b.inside(meet), []))

    b.emit(n.For(variable, "0", end, b.inside(draw, trips, {variable: trips}), b.pick(["serial", "serial", "pipelined"]), b.stages([1, 2]), 1))
    b.emit(n.Assign(n.Ref(kept.name), "=", n.Call("transpose", [n.Ref(total.name)])))
    back = b.declare("fragment", format, shape[::-1], n.Call("transpose", [n.Ref(kept.name)]))
    back.ready = True
