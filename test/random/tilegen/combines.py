"""Reductions and scans: by functions that are drawn here, and built-in scans. What the functions give does not depend on how the elements
are grouped, so that results are points: least and greatest elements, wrapping and bitwise arithmetic, which element comes first."""
from . import nodes as n
from .features import draw_feature, feature, load
from .formats import FORMATS


def _ref(name):
    return n.Ref(name)


def _extreme(b, format):
    return n.Combine(b.name("c"), [format], [n.Call(b.pick(["min", "max"]), [_ref("p0"), _ref("q0")])])


def _both_extremes(b, format):
    results = [n.Call("min", [_ref("p0"), _ref("q0")]), n.Call("max", [_ref("p1"), _ref("q1")])]
    return n.Combine(b.name("c"), [format, format], results)


def _best(b, format):
    """The greatest or least element, and the least number that comes with it."""
    better = n.Binary(b.pick("<>"), _ref("p0"), _ref("q0"))
    same = n.Binary("&&", n.Binary("==", _ref("p0"), _ref("q0")), n.Binary("<", _ref("p1"), _ref("q1")))
    takes = n.Binary("||", better, same)
    return n.Combine(b.name("c"), [format, "i32"], [n.Select(takes, _ref(f"p{i}"), _ref(f"q{i}")) for i in range(2)])


def _bits(b, format):
    return n.Combine(b.name("c"), [format], [n.Binary(b.pick("^&|"), _ref("p0"), _ref("q0"))])


def _wrapping(b, format):
    return n.Combine(b.name("c"), [format], [n.Binary(b.pick("+*"), _ref("p0"), _ref("q0"))])


def _last_that_is_something(b, format):
    """The later one, unless it is zero. Order matters."""
    zero = n.Lit(0.0 if FORMATS[format].is_float else 0, format)
    return n.Combine(b.name("c"), [format], [n.Select(n.Binary("!=", _ref("q0"), zero), _ref("q0"), _ref("p0"))], commutes=False)


def _affine(b, format):
    """First x -> p0 x + p1, then x -> q0 x + q1, in wrapping arithmetic. Order matters."""
    after = n.Binary("+", n.Binary("*", _ref("q0"), _ref("p1")), _ref("q1"))
    return n.Combine(b.name("c"), [format, format], [n.Binary("*", _ref("p0"), _ref("q0")), after], commutes=False)


def combine(b, format, commutes):
    """A function for elements of this format first."""
    kinds = [_extreme, _both_extremes, _best]
    if FORMATS[format].is_int:
        kinds.append(_bits)
    if FORMATS[format].kind == "u":
        kinds += [_wrapping] + ([] if commutes else [_affine, _affine])
    if not commutes:
        kinds += [_last_that_is_something, _last_that_is_something]
    return b.pick(kinds)(b, format)


def _operands(b, format_wanted, commutes):
    """A function, and as many tiles of a shape as it combines; None if there are none."""
    tiles = b.tiles(lambda t: FORMATS[t.format].kind in "fiu" and not FORMATS[t.format].only_stores and format_wanted(t))
    if not tiles:
        return None
    tile = b.pick(tiles)
    function = combine(b, tile.format, commutes)
    args = [n.Ref(tile.name)]
    for format in function.formats[1:]:
        alike = b.tiles(lambda t: t.shape == tile.shape and t.format == format)
        others = b.tiles(lambda t: t.shape == tile.shape and t.format not in (format, "bool"))
        if alike and b.chance(0.7):
            args.append(n.Ref(b.pick(alike).name))
        elif others:
            args.append(n.Cast(format, n.Ref(b.pick(others).name)))
        else:
            args.append(n.Ref(tile.name) if tile.format == format else n.Cast(format, n.Ref(tile.name)))
    return tile, function, args


@feature("reduce by a function", 1.0)
def reduce_by_function(b):
    """Along a dimension, to tiles like others, or over all, beside a tile."""
    drawn = _operands(b, lambda t: True, commutes=True)
    if not drawn:
        return False
    tile, function, args = drawn
    axis = b.random.randrange(len(tile.shape))
    if len(function.formats) == 1 and (len(tile.shape) == 1 or b.chance(0.3)):
        value = n.Call("min", [n.Ref(tile.name), n.ByFunction("reduce", function, args)])
        b.declare(b.pick(["fragment", "shared"]), tile.format, tile.shape, value)
        return
    if len(tile.shape) == 1:
        return False
    shape = tile.shape[:axis] + tile.shape[axis + 1 :]
    results = [b.add_tile("let", format, shape, fixed=True) for format in function.formats]
    b.emit(n.LetSeveral([r.name for r in results], n.ByFunction("reduce", function, args, {"axis": axis})))


@feature("running reduction", 1.0)
def running_reduction(b):
    """A loop that accumulates reductions of what it loads or finds, now and then scaled; at times something in it reads what there is so far."""
    if b.depth > 2 or b.trips > 12:
        return False
    shape = b.shape()
    if len(shape) != 2:
        return False
    axis = b.random.randrange(2)
    format = b.pick(["f32", "f32", "f32", "f64", "i32", "f16", "u16"])
    total = b.declare("fragment", format, (shape[1 - axis],), b.literal(format))
    name = b.pick(["reduce_sum", "reduce_sum", "reduce_max", "reduce_min"])
    variable, trips = b.name("k"), b.pick([1, 2, 3, 4])
    kind = b.pick(["serial", "serial", "pipelined"])

    def draw():
        tile = load(b, shape, format)
        if b.chance(0.3):
            draw_feature(b)
        value, reduced = n.Ref(total.name), n.Call(name, [n.Ref(tile.name)], {"axis": axis})
        if name != "reduce_sum":
            value = n.Call(name.removeprefix("reduce_"), [value, reduced])
        else:
            if b.chance(0.4):
                value = n.Binary("*", value, b.literal(format))
            value = n.Binary("+", *b.random.sample([value, reduced], 2))
        b.emit(n.Assign(n.Ref(total.name), "=", value))

    total.ready = b.chance(0.3)  # to what else the loop does
    body = b.inside(draw, trips, {variable: trips})
    total.ready = True
    b.emit(n.For(variable, "0", str(trips), body, kind, b.stages([1, 2, 3], kind), 1, 0))


@feature("scan", 1.0)
def scan(b):
    """Running results along a dimension, built in or by a function."""
    if b.chance(0.5):
        return _scan_by_function(b)
    name = b.pick(["scan_sum", "scan_sum", "scan_max", "scan_min", "scan_prod"])
    kinds = "u" if name == "scan_prod" else "fiu"  # a product of many numbers that are no whole ones says little
    tiles = b.tiles(lambda t: FORMATS[t.format].kind in kinds and not FORMATS[t.format].only_stores)
    if not tiles:
        return False
    tile = b.pick(tiles)
    keywords = {"axis": b.random.randrange(len(tile.shape))}
    for word in ("reverse", "exclusive"):
        if b.chance(0.4):
            keywords[word] = b.chance(0.8)
    value = n.Call(name, [n.Ref(tile.name)], keywords)
    if b.chance(0.3) and not tile.fixed:
        b.emit(n.Assign(n.Ref(tile.name), "=", value))
    else:
        result = b.add_tile("let", tile.format, tile.shape, fixed=True)
        b.emit(n.Let(result.name, value))


def _scan_by_function(b):
    drawn = _operands(b, lambda t: True, commutes=False)
    if not drawn:
        return False
    tile, function, args = drawn
    keywords = {"axis": b.random.randrange(len(tile.shape))}
    if b.chance(0.4):
        keywords["reverse"] = b.chance(0.8)
    results = [b.add_tile("let", format, tile.shape, fixed=True) for format in function.formats]
    b.emit(n.LetSeveral([r.name for r in results], n.ByFunction("scan", function, args, keywords)))
