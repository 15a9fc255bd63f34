"""Arithmetic of the language on tiles of intervals.

A tile holds for each element the least and the greatest value that a right implementation may give, as f64 (which contains f32
and all that is narrower), or an integer. What is correctly rounded stays a point: it must come out exactly. Only sums whose order
is free, products and functions widen, by bounds that follow from their number of roundings; sums whose every order is exact do
not. `wild` marks elements of which nothing is known, such as a comparison of overlapping intervals.
"""
import numpy as np

from . import fast_math
from .formats import FORMATS, held_in, round_to, ulp
from .terms import Terms, granule_of, sums_are_exact


class ProgramError(Exception):
    """The program does what the language calls an error of the program."""


class Tile:
    __slots__ = ("format", "lo", "hi", "wild", "terms")

    def __init__(self, format, lo, hi=None, wild=None, terms=None):
        self.format = format
        self.lo = np.asarray(lo, format.array)
        self.hi = self.lo if hi is None else np.asarray(hi, format.array)
        self.wild = wild if wild is not None and np.any(wild) else None
        self.terms = terms  # of a sum that may go on (terms.py)

    @property
    def shape(self):
        return self.lo.shape

    def known(self):
        """Which elements are points; a NaN is one. A zero of either sign is none: `rsqrt` and `/` tell them apart."""
        same = (self.lo == self.hi) | ((self.lo != self.lo) & (self.hi != self.hi))
        if self.format.is_float and self.hi is not self.lo:
            same = same & ((self.lo != 0) | (np.signbit(self.lo) == np.signbit(self.hi)))
        return same if self.wild is None else same & ~self.wild

    def each(self, function):
        """The same rearrangement of both ends."""
        hi = None if self.hi is self.lo else function(self.hi)
        terms = None if self.terms is None else self.terms.each(function, self.shape)
        return Tile(self.format, function(self.lo), hi, None if self.wild is None else function(self.wild), terms)

    def stored(self):
        """As memory holds it: a number of the format. In registers a product may wait for its addition unrounded."""
        if not self.format.is_float or self.hi is self.lo:
            return self
        return Tile(self.format, held_in(self.format, self.lo), held_in(self.format, self.hi), self.wild, self.terms)


def join_wild(*tiles):
    result = None
    for tile in tiles:
        if tile.wild is not None:
            result = tile.wild if result is None else result | tile.wild
    return result


def _build(fmt, inputs, point, interval):
    """Applies `point` where all inputs are points, `interval` elsewhere."""
    inputs = [Tile(t.format, *np.broadcast_arrays(t.lo, t.hi), t.wild) for t in inputs]
    with np.errstate(all="ignore"):
        at = point(*(t.lo for t in inputs))
        known = np.ones(np.shape(at), bool)
        finite = known.copy()
        for t in inputs:
            known = known & t.known()
            finite = finite & np.isfinite(t.lo) & np.isfinite(t.hi)
        if np.all(known):
            return Tile(fmt, at)
        lo, hi = interval(*inputs)
        wild = ~known & (~finite | ~np.isfinite(lo) | ~np.isfinite(hi))
        for t in inputs:
            wild = wild if t.wild is None else wild | t.wild
        return Tile(fmt, np.where(known, at, lo), np.where(known, at, hi), wild)


def _ends(*candidates):
    """Least and greatest; where zeros of both signs are among them, the one and the other."""
    lo, hi = np.minimum.reduce(candidates), np.maximum.reduce(candidates)
    below = np.logical_or.reduce([(c == 0) & np.signbit(c) for c in candidates])
    above = np.logical_or.reduce([(c == 0) & ~np.signbit(c) for c in candidates])
    return np.where((lo == 0) & below, -0.0, lo), np.where((hi == 0) & above, 0.0, hi)


def float_binary(op, a, b):
    result = _float_binary(op, a, b)
    if op in ("+", "*") and (a.terms or b.terms):
        return _going_on(op, a, b, result)
    return result


def _terms_of(tile):
    if tile.terms is not None:
        return tile.terms
    ends = np.maximum(np.abs(tile.lo), np.abs(tile.hi))
    return Terms(tile.lo, tile.hi, np.where(np.isfinite(ends), ends, 0), 1, granule_of(tile.lo), bool(np.all(tile.known())))


def _going_on(op, a, b, result):
    """A sum that goes on, or is scaled on its way: its terms may meet, and be scaled, in any order."""
    with np.errstate(all="ignore"):
        wild = np.zeros(result.shape, bool) if result.wild is None else result.wild
        if op == "+":
            terms = _terms_of(a).joined(_terms_of(b))
        elif a.terms and b.terms:
            return result
        else:
            terms, factor = (a.terms, b) if a.terms else (b.terms, a)
            terms = terms.scaled(factor.lo, factor.hi, granule_of(factor.lo), bool(np.all(factor.known())))
            wild = wild | ~(np.isfinite(factor.lo) & np.isfinite(factor.hi))
        if terms.exact and sums_are_exact(terms.magnitude, terms.granule, result.format.precision):
            return Tile(result.format, result.lo, result.hi, wild, terms)
        wild = wild | ~(terms.magnitude <= result.format.largest / 2)
        finite = np.isfinite(result.lo) & np.isfinite(result.hi)
        lo, hi = terms.lo - terms.slack(result.format.precision), terms.hi + terms.slack(result.format.precision)
        return Tile(result.format, np.where(finite, lo, result.lo), np.where(finite, hi, result.hi), wild, terms)


def _float_binary(op, a, b):
    fmt = a.format
    if op in ("+", "-"):
        sign = 1.0 if op == "+" else -1.0

        def interval(x, y):
            ylo, yhi = (y.lo, y.hi) if op == "+" else (-y.hi, -y.lo)
            lo, hi = np.nextafter(x.lo + ylo, -np.inf), np.nextafter(x.hi + yhi, np.inf)
            return round_to(fmt, lo), round_to(fmt, hi)

        return _build(fmt, [a, b], lambda x, y: round_to(fmt, x + sign * y), interval)
    if op == "*":

        def product(x, y):
            ends = _ends(x.lo * y.lo, x.lo * y.hi, x.hi * y.lo, x.hi * y.hi)
            rounded = [round_to(fmt, end) for end in ends]
            return np.where(rounded[0] < ends[0], rounded[0], ends[0]), np.where(rounded[1] > ends[1], rounded[1], ends[1])

        result = _build(fmt, [a, b], lambda x, y: round_to(fmt, x * y), product)
        if fmt.name in ("f64", "i64"):
            overflows = result.known() & np.isinf(result.lo) & np.isfinite(a.lo) & np.isfinite(b.lo)
            return _fused_f64(result, overflows)
        # The product itself, should an addition take it before it is rounded.
        with np.errstate(all="ignore"):
            exact = a.lo * b.lo
        finite = result.known() & np.isfinite(exact)  # the rounded one may be infinite
        lo = np.where(finite, np.minimum(result.lo, exact), result.lo)
        hi = np.where(finite, np.maximum(result.hi, exact), result.hi)
        return Tile(fmt, lo, hi, result.wild)
    if op == "/":

        def quotient(x, y):
            ends = _ends(*(round_to(fmt, p / q) for p in (x.lo, x.hi) for q in (y.lo, y.hi)))
            through = (y.lo <= 0) & (y.hi >= 0)
            return np.where(through, -np.inf, ends[0]), np.where(through, np.inf, ends[1])

        return _build(fmt, [a, b], lambda x, y: round_to(fmt, x / y), quotient)
    raise ValueError(op)


def _fused_f64(result, overflows):
    """f64 products have no wider type to be exact in: a neighbour on both sides, unless they are small integers, or beyond the largest."""
    simple = ~np.isfinite(result.lo) | ((np.abs(result.lo) < 2**52) & (result.lo == np.rint(result.lo)))
    with np.errstate(all="ignore"):
        lo = np.where(simple, result.lo, np.nextafter(result.lo, -np.inf))
        hi = np.where(simple, result.hi, np.nextafter(result.hi, np.inf))
    largest = result.format.largest
    lo, hi = np.where(overflows & (lo > 0), largest, lo), np.where(overflows & (hi < 0), -largest, hi)
    return Tile(result.format, lo, hi, result.wild)


def integer_binary(op, a, b):
    fmt = a.format
    wild = join_wild(a, b)
    if np.any(a.known() == False) or np.any(b.known() == False):  # noqa: E712
        wild = ~(a.known() & b.known())
    low, high = fmt.range
    x, y = a.lo, b.lo
    with np.errstate(all="ignore"):
        if op in ("<<", ">>"):
            if np.any((y < 0) | (y >= fmt.bits)):
                raise ProgramError("shift by the width or more")
            y = y.astype(fmt.array)
            value = x << y if op == "<<" else x >> y
            return Tile(fmt, value.astype(fmt.array), wild=wild)
        if op in ("&", "|", "^"):
            value = {"&": np.bitwise_and, "|": np.bitwise_or, "^": np.bitwise_xor}[op](x, y)
            return Tile(fmt, value, wild=wild)
        if op in ("/", "%", "ceildiv", "floordiv", "floormod"):
            if fmt.kind == "i" and np.any((x == low) & (y == -1)):
                raise ProgramError("signed overflow in a division")
            return Tile(fmt, _divide(op, x, y), wild=wild)
        if op in ("min", "max"):
            return Tile(fmt, (np.minimum if op == "min" else np.maximum)(x, y), wild=wild)
        wide = np.longdouble if fmt.bits == 64 else np.int64
        function = {"+": np.add, "-": np.subtract, "*": np.multiply}[op]
        if fmt.kind == "i":
            exact = function(x.astype(wide), y.astype(wide))
            if np.any((exact < low) | (exact > high)):
                raise ProgramError("signed overflow")
        return Tile(fmt, function(x, y).astype(fmt.array), wild=wild)


def _divide(op, x, y):
    zero = y == 0
    # Constants of the operands' own type: beside a single u64 an int would make both f64.
    safe = np.where(zero, y.dtype.type(1), y)
    floor, remainder = x // safe, x % safe
    inexact = remainder != 0
    if op == "floordiv":
        value = floor
    elif op == "floormod":
        value = remainder
    elif op == "ceildiv":
        value = floor + inexact.astype(x.dtype)
    else:
        down = inexact & ((x < 0) != (safe < 0))
        quotient = floor + down.astype(x.dtype)
        value = quotient if op == "/" else x - quotient * safe
    return np.where(zero, x.dtype.type(0), value).astype(x.dtype)


def compare(op, a, b):
    function = {"==": np.equal, "!=": np.not_equal, "<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal}[op]
    with np.errstate(all="ignore"):
        value = function(a.lo, b.lo)
        sure = a.known() & b.known()
        apart = (a.hi < b.lo) | (b.hi < a.lo)
    return Tile(FORMATS["bool"], value, wild=~(sure | (apart & ~_is_wild(a) & ~_is_wild(b))))


def _is_wild(tile):
    return np.zeros(tile.shape, bool) if tile.wild is None else tile.wild


def select(condition, a, b):
    pick = condition.lo
    lo, hi = np.where(pick, a.lo, b.lo), np.where(pick, a.hi, b.hi)
    wild = np.where(pick, _is_wild(a), _is_wild(b))
    if condition.wild is not None:
        wild = wild | condition.wild
    return Tile(a.format, lo, hi, wild)


def minimum(a, b):
    return _extreme(np.fmin, a, b)


def maximum(a, b):
    return _extreme(np.fmax, a, b)


def _extreme(function, a, b):
    if not a.format.is_float:
        return integer_binary("min" if function is np.fmin else "max", a, b)
    lo, hi = function(a.lo, b.lo), function(a.hi, b.hi)
    # Of zeros of both signs either one.
    below, above = (sum((x == 0) & (np.signbit(x) == sign) for x in (a.lo, a.hi, b.lo, b.hi)) > 0 for sign in (True, False))
    lo, hi = np.where((lo == 0) & below, -0.0, lo), np.where((hi == 0) & above, 0.0, hi)
    wild = None
    if a.wild is not None or b.wild is not None:
        wild = np.broadcast_to(join_wild(a, b), np.broadcast(a.lo, b.lo).shape)
    return Tile(a.format, lo, hi, wild)


def convert(fmt, a):
    source = a.format
    if source.name == fmt.name:
        return a
    with np.errstate(all="ignore"):
        if fmt.is_float:
            if source.is_float:
                return Tile(fmt, round_to(fmt, held_in(source, a.lo)), round_to(fmt, held_in(source, a.hi)), a.wild)
            value = a.lo.astype(np.float32).astype(np.float64) if fmt.name == "f32" else round_to(fmt, a.lo.astype(np.float64))
            return Tile(fmt, value, wild=a.wild)
        if source.is_float:
            lo, hi = _truncate(fmt, held_in(source, a.lo)), _truncate(fmt, held_in(source, a.hi))
            wild = lo != hi
            return Tile(fmt, lo, wild=wild if a.wild is None else wild | a.wild)
        return Tile(fmt, fmt.held(a.lo), wild=a.wild)


def _truncate(fmt, x):
    low, high = fmt.range
    whole = np.trunc(np.where(np.isnan(x), 0, x))
    inside = (whole > low) & (whole < high)
    value = np.where(inside, whole, 0).astype(fmt.array)
    ends = np.where(whole >= high, np.array(high, fmt.array), np.array(low, fmt.array))
    return np.where(inside, value, ends).astype(fmt.array)


def bitcast(fmt, a):
    from .formats import decode, encode

    if not np.all(a.known()):
        return Tile(fmt, np.zeros(a.shape), wild=np.ones(a.shape, bool))
    bits = np.ascontiguousarray(encode(a.format, a.lo)).reshape(-1)
    value = decode(fmt, bits.view(fmt.stored)).reshape(a.shape)
    undefined = np.isnan(a.lo) if a.format.is_float else None  # which NaN it is says nobody
    return Tile(fmt, value, wild=undefined)


def absolute(a):
    if not a.format.is_float:
        if a.format.kind == "i" and np.any(a.lo == a.format.range[0]):
            raise ProgramError("signed overflow in abs")
        return Tile(a.format, np.abs(a.lo), wild=a.wild)
    through = (a.lo < 0) & (a.hi > 0)
    lo, hi = _ends(np.abs(a.lo), np.abs(a.hi))
    return Tile(a.format, np.where(through, 0, lo), hi, a.wild)


def negate(a):
    if a.format.is_float:
        return Tile(a.format, -a.hi, -a.lo, a.wild) if a.hi is not a.lo else Tile(a.format, -a.lo, wild=a.wild)
    return integer_binary("-", Tile(a.format, np.zeros((), a.format.array)), a)


def fma(a, b, c):
    """One rounding: of the f64 sum of an exact product, which is off by less than its neighbours."""
    fmt = a.format

    def interval(x, y, z):
        ends = _ends(x.lo * y.lo, x.lo * y.hi, x.hi * y.lo, x.hi * y.hi)
        return round_to(fmt, np.nextafter(ends[0] + z.lo, -np.inf)), round_to(fmt, np.nextafter(ends[1] + z.hi, np.inf))

    a, b, c = a.stored(), b.stored(), c.stored()
    result = _build(fmt, [a, b, c], lambda x, y, z: round_to(fmt, x * y + z), interval)
    with np.errstate(all="ignore"):
        product, total = a.lo * b.lo, a.lo * b.lo + c.lo
        exact = (total - product == c.lo) & (total - c.lo == product) & (fmt.name != "f64")
    close = ~exact & result.known() & np.isfinite(result.lo) & np.isfinite(product)
    if fmt.name == "f64":  # cancellation shows the product's own rounding; without it, the rounding may tip that of the sum
        slack = np.where(close, np.abs(product) * 2.0**-52, 0)
        below, above = np.nextafter(result.lo - slack, -np.inf), np.nextafter(result.hi + slack, np.inf)
        return Tile(fmt, np.where(close, below, result.lo), np.where(close, above, result.hi), result.wild)
    below, above = round_to(fmt, np.nextafter(total, -np.inf)), round_to(fmt, np.nextafter(total, np.inf))
    return Tile(fmt, np.where(close, below, result.lo), np.where(close, above, result.hi), result.wild)


# --- sums


def reduce_sum(a, axis):
    inner = FORMATS["f32"] if a.format.bits == 16 and a.format.is_float else a.format
    if not a.format.is_float:
        return _integer_sum(a, axis)
    count = a.lo.size if axis is None else a.lo.shape[axis]
    with np.errstate(all="ignore"):
        lo, hi = a.lo.sum(axis=axis), a.hi.sum(axis=axis)
        magnitude = np.maximum(np.abs(a.lo), np.abs(a.hi)).sum(axis=axis) + fast_math.of_sums()
        wild = None if a.wild is None else a.wild.any(axis=axis)
        if np.all(a.known()) and sums_are_exact(magnitude, granule_of(a.lo), inner.precision):
            result = Tile(inner, lo, wild=wild)
            exact = True
        else:
            slack = magnitude * count * 2.0 ** (1 - inner.precision)
            ends = np.maximum(np.abs(a.lo), np.abs(a.hi))
            over = np.where(np.isfinite(ends), ends, 0).sum(axis=axis) > inner.largest / 2
            wild = over if wild is None else wild | over
            # An accumulator that may be infinite or not, and terms that are infinite: infinite or a NaN.
            over = over | (np.isnan(lo) != np.isnan(hi))
            finite = np.isfinite(lo) & np.isfinite(hi)
            result = Tile(inner, np.where(finite, lo - slack, lo), np.where(finite, hi + slack, hi), wild)
            exact = False
    if inner is a.format:
        result.terms = Terms(lo, hi, magnitude, count, granule_of(a.lo), exact)
    return convert(a.format, result)


def _integer_sum(a, axis):
    wide = a.lo.astype(np.longdouble if a.format.bits == 64 else np.int64)
    low, high = a.format.range
    if a.format.kind == "i" and np.any(np.abs(wide).sum(axis=axis) > high):
        raise ProgramError("signed overflow in a sum")
    return Tile(a.format, a.lo.sum(axis=axis, dtype=a.format.array), wild=None if a.wild is None else a.wild.any(axis=axis))


def reduce_extreme(name, a, axis):
    if a.format.is_float:
        function = np.fmin.reduce if name == "reduce_min" else np.fmax.reduce
    else:
        function = np.minimum.reduce if name == "reduce_min" else np.maximum.reduce
    wild = None if a.wild is None else a.wild.any(axis=axis)
    lo, hi = function(a.lo, axis=axis), function(a.hi, axis=axis)
    if a.format.is_float:  # of zeros of both signs either one
        below, above = (sum(((x == 0) & (np.signbit(x) == sign)).any(axis=axis) for x in (a.lo, a.hi)) > 0 for sign in (True, False))
        lo, hi = np.where((lo == 0) & below, -0.0, lo).astype(lo.dtype), np.where((hi == 0) & above, 0.0, hi).astype(hi.dtype)
    return Tile(a.format, lo, hi, wild)


BITS = {
    "reduce_and": np.bitwise_and,
    "reduce_or": np.bitwise_or,
    "reduce_xor": np.bitwise_xor,
    "reduce_any": np.logical_or,
    "reduce_all": np.logical_and,
}


def reduce_bits(name, a, axis):
    return Tile(a.format, BITS[name].reduce(a.lo, axis=axis), wild=None if a.wild is None else a.wild.any(axis=axis))


def scan(name, a, axis, reverse, exclusive):
    """Running results: each is the reduction of what comes before it, and of its element unless `exclusive`."""
    if reverse:
        flipped = scan(name, a.each(lambda x: np.flip(x, axis)), axis, False, exclusive)
        return flipped.each(lambda x: np.flip(x, axis))
    take = lambda count: a.each(lambda x: x[(slice(None),) * axis + (slice(0, count),)])  # noqa: E731
    steps = [_scanned(name, take(i if exclusive else i + 1), axis, exclusive) for i in range(a.shape[axis])]
    return concatenated([s.each(lambda x: np.expand_dims(x, axis)) for s in steps], axis)


def _scanned(name, a, axis, exclusive):
    fmt, shape = a.format, a.shape[:axis] + a.shape[axis + 1 :]
    least, greatest = (-np.inf, np.inf) if fmt.is_float else fmt.range
    identity = Tile(fmt, np.full(shape, {"scan_sum": 0, "scan_prod": 1, "scan_max": least, "scan_min": greatest}[name], fmt.array))
    if a.shape[axis] == 0:
        return identity
    if name == "scan_sum":
        return reduce_sum(a, axis)
    if name == "scan_prod":
        return Tile(fmt, np.multiply.reduce(a.lo, axis, dtype=fmt.array), wild=None if a.wild is None else a.wild.any(axis=axis))
    result = reduce_extreme(name.replace("scan", "reduce"), a, axis)
    # Nothing but NaNs, after the identity: that is the number of the two.
    return (maximum if name == "scan_max" else minimum)(identity, result) if exclusive else result


def unordered(a, axis):
    """Elements of rows where a function that compares may give something else in another order: beside a NaN, or zeros of both signs."""
    if not a.format.is_float:
        return np.zeros(a.shape, bool)
    below, above = ((a.lo == 0) & np.signbit(a.lo), (a.hi == 0) & ~np.signbit(a.hi))
    rows = (np.isnan(a.lo) | np.isnan(a.hi)).any(axis=axis, keepdims=True) | (below.any(axis=axis, keepdims=True) & above.any(axis=axis, keepdims=True))
    return np.broadcast_to(rows, a.shape)


def concatenated(tiles, axis):
    join = lambda parts: np.concatenate([np.broadcast_to(x, t.shape) for x, t in zip(parts, tiles)], axis)  # noqa: E731
    wild = join([_is_wild(t) for t in tiles])
    return Tile(tiles[0].format, join([t.lo for t in tiles]), join([t.hi for t in tiles]), wild)


def _tf32(x):
    with np.errstate(all="ignore"):
        bits = np.asarray(x, np.float32).view(np.uint32)
        return ((bits + np.uint32(0x1000)) & np.uint32(0xFFFFE000)).view(np.float32).astype(np.float64)


def gemm(a, b, acc, precision, promote):
    """acc + a b, where the hardware may sum in any order and cuts terms that lie below its window."""
    fmt = acc.format
    if not fmt.is_float:
        value = acc.lo.astype(np.int64) + a.lo.astype(np.int64) @ b.lo.astype(np.int64)
        return Tile(fmt, value.astype(fmt.array), wild=_gemm_wild(a, b, acc))
    inner = FORMATS["f32"] if fmt.name == "f16" else fmt
    a, b = (fast_math.flushed(t.stored()) for t in (a, b))
    (x, spread_x), (y, spread_y) = _middle(a), _middle(b)
    vanishes = [np.zeros(x.shape, bool), np.zeros(y.shape, bool)]
    if precision == "tf32":
        rounded_x, rounded_y = _tf32(x), _tf32(y)
        overflows = [np.isfinite(x) & ~np.isfinite(rounded_x), np.isfinite(y) & ~np.isfinite(rounded_y)]
        # Cut rather than rounded, what lies below the least number of tf32 is zero.
        vanishes = [(x != 0) & (_tf32(x / 2) == 0), (y != 0) & (_tf32(y / 2) == 0)]
        a, b = (Tile(t.format, t.lo, t.hi, over if t.wild is None else over | t.wild) for t, over in zip((a, b), overflows))
        # Rounded or cut: both are conversions that hardware makes.
        spread_x = spread_x + np.where(rounded_x != x, np.abs(x) * 2.0**-10, 0)
        spread_y = spread_y + np.where(rounded_y != y, np.abs(y) * 2.0**-10, 0)
    eight = a.format.bits == 8
    with np.errstate(all="ignore"):
        total, depth = _product(x, y), x.shape[1]
        magnitude = _product(_size(a.format, x), _size(b.format, y)) + np.maximum(np.abs(acc.lo), np.abs(acc.hi)) + fast_math.of_sums()
        lo, hi = acc.lo + total, acc.hi + total
        granules = [granule_of(x), granule_of(y)]
        granule = None if None in granules else sum(granules)
        rest = granule_of(acc.lo)
        granule = rest if granule is None else granule if rest is None else min(granule, rest)
        window = 13 if eight else inner.precision - 1
        points = not (np.any(spread_x) or np.any(spread_y)) and np.all(acc.known())
        fits = not np.any(np.isfinite(magnitude) & (magnitude > inner.largest / 4))
        if points and fits and sums_are_exact(magnitude, granule, window):
            result = Tile(inner, lo, wild=_gemm_wild(a, b, acc))
        else:
            if eight and promote:
                terms = (min(depth, promote) + 32) * 2.0**-13
            else:
                terms = (depth + 8) * 2.0 ** ((-13) if eight else 2 - inner.precision)
            # What may be zero or of either sign times an infinity: infinite or a NaN.
            unsure = [(t.lo <= 0) & (t.hi >= 0) & ~t.known() | v for t, v in zip((a, b), vanishes)]
            # What may be infinite or not.
            border = [~t.known() & ~(np.isfinite(t.lo) & np.isfinite(t.hi)) for t in (a, b)]
            if any(np.any(m) for m in unsure + border):
                infinite = _meets(unsure[0], np.isinf(y)) | _meets(np.isinf(x), unsure[1])
                infinite = infinite | np.any(border[0], axis=1)[:, None] | np.any(border[1], axis=0)[None, :]
                acc = Tile(fmt, acc.lo, acc.hi, infinite if acc.wild is None else acc.wild | infinite)
            size_x, size_y = (np.abs(np.where(np.isfinite(v), v, 0)) for v in (x, y))
            slack = magnitude * terms + spread_x @ size_y + size_x @ spread_y + spread_x @ spread_y
            slack = slack + depth * ulp(inner, 0.0)
            # Where finite terms may overflow on the way, infinities of either sign may meet.
            over = size_x @ size_y + np.where(np.isfinite(acc.lo), np.abs(acc.lo), 0) > inner.largest / 4
            wild = _gemm_wild(a, b, acc)
            # An accumulator that may be infinite or not, and terms that are infinite: infinite or a NaN.
            over = over | (np.isnan(lo) != np.isnan(hi))
            finite = np.isfinite(lo) & np.isfinite(hi)
            result = Tile(inner, np.where(finite, lo - slack, lo), np.where(finite, hi + slack, hi), over if wild is None else over | wild)
    return convert(fmt, result)


def _size(fmt, x):
    """|x| as the hardware sees it when it lines terms up: a subnormal number counts as the smallest normal one."""
    return np.where(x == 0, 0.0, np.maximum(np.abs(x), 2.0**fmt.least)) if fmt.is_float else np.abs(x)


def _product(x, y):
    """x y with the infinities and NaNs of IEEE arithmetic, which a BLAS may lose where it leaves out zeros."""
    finite = [np.where(np.isfinite(v), v, 0.0) for v in (x, y)]
    total = finite[0] @ finite[1]
    if np.all(np.isfinite(x)) and np.all(np.isfinite(y)):
        return total

    everywhere = np.ones(x.shape, bool), np.ones(y.shape, bool)
    nan = _meets(np.isnan(x), everywhere[1]) | _meets(everywhere[0], np.isnan(y)) | _meets(np.isinf(x), y == 0) | _meets(x == 0, np.isinf(y))
    above = _meets(x == np.inf, y > 0) | _meets(x == -np.inf, y < 0) | _meets(x > 0, y == np.inf) | _meets(x < 0, y == -np.inf)
    below = _meets(x == np.inf, y < 0) | _meets(x == -np.inf, y > 0) | _meets(x > 0, y == -np.inf) | _meets(x < 0, y == np.inf)
    total = np.where(above, np.inf, np.where(below, -np.inf, total))
    return np.where(nan | (above & below), np.nan, total)


def _meets(p, q):
    """Where some pair of a product's factors are both marked."""
    return p.astype(np.float64) @ q.astype(np.float64) > 0


def _middle(tile):
    """The numbers of a tile and how far they may be off."""
    with np.errstate(all="ignore"):
        spread = np.where(tile.known() | ~np.isfinite(tile.lo) | ~np.isfinite(tile.hi), 0, (tile.hi - tile.lo) / 2)
        return tile.lo + spread, spread


def _gemm_wild(a, b, acc):
    if a.wild is None and b.wild is None and acc.wild is None:
        return None
    rows = np.zeros(a.shape[0], bool) if a.wild is None else a.wild.any(axis=1)
    columns = np.zeros(b.shape[1], bool) if b.wild is None else b.wild.any(axis=0)
    return rows[:, None] | columns[None, :] | _is_wild(acc)
