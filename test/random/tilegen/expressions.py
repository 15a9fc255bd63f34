"""Element-wise expressions over tiles."""
import itertools

from . import nodes as n
from .formats import FORMATS

ARITHMETIC = {"f": ["+", "-", "*", "+", "-", "*", "/"], "i": ["+", "-", "*", "/", "%", "&", "|", "^"], "u": ["+", "-", "*", "/", "%", "&", "|", "^"]}
FLOAT_FUNCTIONS = ["abs", "sqrt", "exp", "exp2", "log", "log2", "sin", "cos", "tanh", "sigmoid", "erf", "floor", "ceil", "round", "trunc", "rsqrt"]
COMPARISONS = ["<", "<=", ">", ">=", "==", "!="]
CASTS = ["f32", "f32", "f16", "bf16", "i32", "f64", "i8", "u8", "i16", "u32", "i64", "e4m3", "e5m2"]


def leaf(b, format, shape, need_tile=True, beside=False):
    """A tile of this format and shape, or one that converts to it; else a scalar. None if there must be a tile and is none.
    `beside` a tile of the shape it may be one that is repeated."""
    if b.element_leaf:
        return b.element_leaf(format) if need_tile or b.chance(0.6) else scalar(b, format)
    same = b.tiles(lambda t: t.shape == shape and t.format == format)
    others = b.tiles(lambda t: t.shape == shape and t.format != format and t.format != "bool")
    turned = b.tiles(lambda t: len(shape) == 2 and t.shape == shape[::-1] and t.format == format and t.shape != t.shape[::-1])
    turned = [t for t in turned if b.fits(format, shape)]
    choices = []
    if same:
        choices.append((lambda: n.Ref(b.pick(same).name), 6))
    if others:
        choices.append((lambda: cast(b, format, b.pick(others)), 2))
    if turned:
        choices.append((lambda: n.Call("transpose", [n.Ref(b.pick(turned).name)]), 0.4))
    if not need_tile and not FORMATS[format].only_stores:
        choices.append((lambda: scalar(b, format), 2))
    if beside and (parts := repeatable(b, format, shape)):
        choices.append((lambda: repeated(b, shape, *b.pick(parts)), 3))
    return b.weighted(choices)() if choices else None


def repeatable(b, format, shape):
    """Tiles of some of the dimensions, with these."""
    found = []
    for count in range(1, len(shape)):
        for axes in itertools.combinations(range(len(shape)), count):
            own = tuple(shape[i] for i in axes)
            found += [(t, axes) for t in b.tiles(lambda t: t.format == format and t.shape == own)]
    return found


def repeated(b, shape, tile, axes):
    b.note("repeated")
    return n.Repeated(n.Ref(tile.name), list(axes), list(shape))


def cast(b, format, tile):
    b.note("casts")
    return n.Cast(format, n.Ref(tile.name))


def scalar(b, format):
    names = [k for k, most in b.scalars().items() if most < 100]
    if names and b.chance(0.3) and not FORMATS[format].kind == "b":
        name = b.pick(names)
        return n.Scalar(name, format, cast=format != "i32")
    if FORMATS[format].kind in "fiu" and not FORMATS[format].only_stores and b.rarely("num_threads()", 0.02):
        return n.ThreadCount(format)
    arguments = [a for a in b.program.scalars() if a.format == format]
    if arguments and b.chance(0.3):
        return n.Scalar(b.pick(arguments).name, format, cast=False)
    return b.literal(format, small=False)


def expression(b, format, shape, depth=2, beside=False):
    """An expression of this format over tiles of this shape; None if there is no tile to begin with."""
    fmt = FORMATS[format]
    first = leaf(b, format, shape, beside=beside)
    if first is None or depth == 0 or fmt.only_stores or b.chance(0.25):
        return first
    kind = b.weighted(
        [("binary", 6), ("unary", 1), ("function", 2), ("extreme", 1.5), ("select", 1.2), ("convert", 1.0), ("bits", 0.4), ("fma", 0.4)]
    )
    if kind == "binary":
        return _binary(b, format, shape, depth, first)
    if kind == "unary":
        return n.Unary("-", first) if fmt.kind == "f" or (fmt.kind == "i" and b.chance(0.6)) else n.Unary("~", first) if fmt.is_int else first
    if kind == "extreme":
        second = expression(b, format, shape, depth - 1, beside=True) or first
        if b.chance(0.3):
            return n.Call("clamp", [first, n.Lit(0 if fmt.is_int else -2.0, format), n.Lit(5 if fmt.is_int else 2.0, format)])
        return n.Call(b.pick(["min", "max"]), [first, second if b.chance(0.6) else b.literal(format)])
    if kind == "select":
        return _select(b, format, shape, depth, first)
    if kind == "convert":
        via = b.pick([c for c in CASTS + b.packed if c != format])
        if FORMATS[via].only_stores and (via not in b.stored or not b.fits(via, shape)):
            return first
        b.note("casts")
        inner = expression(b, via, shape, depth - 1)
        return n.Cast(format, inner) if inner is not None else first
    if kind == "bits":
        alike = [f.name for f in FORMATS.values() if f.bits == fmt.bits and f.name != format and f.kind != "b" and not f.only_stores]
        inner = expression(b, b.pick(alike), shape, 0) if alike else None
        return n.Bitcast(format, inner) if inner is not None else first
    if kind == "fma" and fmt.is_float:
        return n.Call("fma", [first, leaf(b, format, shape, beside=True) or first, leaf(b, format, shape) or first])
    if kind == "function" and fmt.is_float:
        if b.rarely("pow", 0.15):
            return _power(b, format, shape, first)
        b.note("functions")
        return n.Call(b.pick(FLOAT_FUNCTIONS), [first])
    if kind == "function" and fmt.is_int and b.chance(0.4):
        return of_bits(b, format, shape, depth, first)
    if kind == "function" and fmt.is_int and "division" in b.allowed:
        return n.Call(b.pick(["ceildiv", "floordiv", "floormod"]), [first, divisor(leaf(b, format, shape, need_tile=False, beside=True))])
    return first


def _power(b, format, shape, first):
    """Mostly of a number that is not negative."""
    exponent = leaf(b, format, shape, need_tile=False, beside=True)
    return n.Call("pow", [n.Call("abs", [first]) if b.chance(0.6) else first, exponent if exponent is not None else b.literal(format)])


def of_bits(b, format, shape, depth, first):
    function = b.pick(["popcount", "clz", "mulhi"])
    b.note(function)
    if function != "mulhi":
        return n.Call(function, [first])
    second = expression(b, format, shape, depth - 1, beside=True) if b.chance(0.5) else scalar(b, format)
    return n.Call("mulhi", [first, second if second is not None else first])


def _binary(b, format, shape, depth, first):
    fmt = FORMATS[format]
    if fmt.is_int and b.chance(0.1):
        return n.Binary(b.pick(["<<", ">>"]), first, n.Lit(b.random.randrange(0, fmt.bits // 2), format))
    op = b.pick(ARITHMETIC[fmt.kind])
    if op in "/%" and fmt.is_int and "division" not in b.allowed:
        op = "+"
    if op in "/%" and fmt.is_int:
        b.note("division")
    second = expression(b, format, shape, depth - 1, beside=True) if b.chance(0.55) else scalar(b, format)
    second = second if second is not None else first
    if b.chance(0.2):
        first, second = second, first
    return n.Binary(op, first, divisor(second) if op in "/%" else second)


def divisor(value):
    """Not the constant 0, by which integers are not divided [constant-fit]: as a literal, the least number or some threads in few bits."""
    zero = value.value == 0 if isinstance(value, n.Lit) else isinstance(value, (n.Limit, n.ThreadCount))
    return n.Lit(3, value.format) if zero and FORMATS[value.format].is_int else value


def _select(b, format, shape, depth, first):
    fmt = FORMATS[format]
    b.note("select")
    other = expression(b, format, shape, depth - 1, beside=True) if b.chance(0.5) else b.literal(format)
    if fmt.is_float and b.chance(0.15):
        condition = n.Call(b.pick(["isnan", "isinf", "isfinite"]), [first])
    else:
        condition = n.Binary(b.pick(COMPARISONS), first, b.literal(format))
        if b.chance(0.2):
            condition = n.Binary(b.pick(["&&", "||"]), condition, n.Binary(b.pick(COMPARISONS), first, b.literal(format)))
    return n.Select(condition, first, other if other is not None else first)
