"""Functions of floats, with what the language allows them to be off."""
import math

import numpy as np

from . import fast_math
from .formats import FORMATS, round_to, ulp
from .intervals import Tile


def _erf(x):
    return np.vectorize(math.erf, otypes=[np.float64])(x)


# Functions that never fall, with the units in the last place by which f32 ones may be off (section 13).
RISING = {
    "exp": (np.exp, 2),
    "exp2": (np.exp2, 2),
    "log": (np.log, 2),
    "log2": (np.log2, 2),
    "sqrt": (np.sqrt, 0),
    "tanh": (np.tanh, 4),
    "erf": (_erf, 4),
    "sigmoid": (lambda x: 1 / (1 + np.exp(-x)), 4),
    "floor": (np.floor, 0),
    "ceil": (np.ceil, 0),
    "round": (np.rint, 0),
    "trunc": (np.trunc, 0),
}
OTHERS = {"sin": (np.sin, 2), "cos": (np.cos, 2), "rsqrt": (lambda x: 1 / np.sqrt(x), 2)}
WHOLE = ("floor", "ceil", "round", "trunc")
ULPS_OF_POWER = 4
ULPS_OF_F64 = 4


def function(name, a):
    """Those of f16 and bf16 are computed in f32 and rounded."""
    fmt = a.format
    evaluated, ulps = RISING.get(name) or OTHERS[name]
    inner = FORMATS["f64"] if fmt.name == "f64" else FORMATS["f32"]
    fast = fast_math.is_allowed(inner) and name not in WHOLE
    with np.errstate(all="ignore"):
        a = a.stored()
        a = fast_math.flushed(a) if fast else a
        if name in RISING:
            result = Tile(inner, evaluated(a.lo), evaluated(a.hi), a.wild)
        else:
            result = Tile(inner, evaluated(a.lo), wild=~a.known())
        result = result if ulps else Tile(inner, round_to(inner, result.lo), round_to(inner, result.hi), result.wild)
        wild = ~a.known() & ~(np.isfinite(result.lo) & np.isfinite(result.hi))
        if name in ("sin", "cos"):  # beyond 10^4 nothing is promised
            wild = wild | (np.abs(a.lo) > 1e4)
        result = Tile(inner, result.lo, result.hi, wild if result.wild is None else wild | result.wild)
        if fast:
            result = _widened(inner, result, fast_math.slack(name, _size(a), _size(result)) + _ulps(inner, result, 2))
        elif ulps:
            result = _widened(inner, result, _ulps(inner, result, ulps if inner.name == "f32" else ULPS_OF_F64))
        return result if inner is fmt else Tile(fmt, round_to(fmt, result.lo), round_to(fmt, result.hi), result.wild)


def power(x, y):
    """x^y. With a positive x it rises or falls in each, so that intervals have their extremes at corners."""
    fmt = x.format
    inner = FORMATS["f64"] if fmt.name == "f64" else FORMATS["f32"]
    fast = fast_math.is_allowed(inner)
    with np.errstate(all="ignore"):
        x, y = x.stored(), y.stored()
        if fast:
            x, y = fast_math.flushed(x), fast_math.flushed(y)
        corners = [np.power(p, q) for p in (x.lo, x.hi) for q in (y.lo, y.hi)]
        lo, hi = np.minimum.reduce(corners), np.maximum.reduce(corners)
        known = x.known() & y.known()
        wild = ~known & ~((x.lo > 0) & np.isfinite(lo) & np.isfinite(hi))
        for t in (x, y):
            wild = wild if t.wild is None else wild | t.wild
        result = Tile(inner, lo, hi, wild)
        slack = _ulps(inner, result, ULPS_OF_POWER if inner.name == "f32" else ULPS_OF_F64)
        if fast:
            most = np.maximum.reduce([fast_math.slack_of_power(p, q, _size(result)) for p in (x.lo, x.hi) for q in (y.lo, y.hi)])
            nothing = ~np.isfinite(most)
            result = Tile(inner, lo, hi, nothing if result.wild is None else nothing | result.wild)
            slack = slack + np.where(nothing, 0, most)
        result = _widened(inner, result, slack)
        return result if inner is fmt else Tile(fmt, round_to(fmt, result.lo), round_to(fmt, result.hi), result.wild)


def _size(tile):
    return np.maximum(np.abs(tile.lo), np.abs(tile.hi))


def _ulps(fmt, tile, count):
    return count * ulp(fmt, _size(tile))


def _widened(fmt, tile, slack):
    finite = np.isfinite(tile.lo) & np.isfinite(tile.hi)
    unknown = finite & ~np.isfinite(slack)
    slack = np.where(np.isfinite(slack), slack, 0)
    lo = np.where(finite, tile.lo - slack, tile.lo)
    hi = np.where(finite, tile.hi + slack, tile.hi)
    near = (np.abs(np.where(finite, tile.hi, 0)) + slack > fmt.largest) | unknown
    return Tile(fmt, lo, hi, near if tile.wild is None else near | tile.wild)
