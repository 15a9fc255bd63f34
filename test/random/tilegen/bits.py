"""Functions of integers that look at their bits."""
import numpy as np

from .intervals import Tile, join_wild


def popcount(x):
    bits = x.lo.view(f"u{x.format.bytes}")
    count = sum(((bits >> i) & 1 for i in range(x.format.bits)), np.zeros(x.shape, bits.dtype))
    return Tile(x.format, count.astype(x.format.array), wild=x.wild)


def clz(x):
    """How many of the first bits are zero: all of 0."""
    bits, width = x.lo.view(f"u{x.format.bytes}"), x.format.bits
    count = sum(((bits >> (width - 1 - i) == 0).astype(np.int64) for i in range(width)), np.zeros(x.shape, np.int64))
    return Tile(x.format, count.astype(x.format.array), wild=x.wild)


def mulhi(x, y):
    """The high half of the whole product."""
    whole = x.lo.astype(object) * y.lo.astype(object)
    return Tile(x.format, np.asarray(whole >> x.format.bits).astype(x.format.array), wild=join_wild(x, y))
