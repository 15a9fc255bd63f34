"""Sums that may go on.

What a loop only accumulates, `s = s + reduce_sum(x)`, scaled on its way or not, is one sum whose terms meet in any order (language.md,
section 13). So what comes of a sum remembers of its terms what bounds the sum in every order.
"""
import numpy as np

from . import fast_math


def granule_of(x):
    """The exponent of a power of two of which all these numbers are multiples."""
    x = x[np.isfinite(x) & (x != 0)]
    if x.size == 0:
        return None
    mantissa, exponent = np.frexp(x)
    whole = (mantissa * 2.0**53).astype(np.int64)
    lowest = np.log2((whole & -whole).astype(np.float64)).astype(np.int64)
    return int(np.min(exponent - 53 + lowest))


def sums_are_exact(magnitude, granule, bits):
    """True if numbers that are multiples of 2^granule, with this sum of magnitudes, add without rounding in any order."""
    if fast_math.spoils(granule):
        return False
    top = np.max(magnitude, initial=0.0)
    return granule is None or (np.isfinite(top) and top < 2.0 ** (bits + granule))


class Terms:
    """`count` terms, or roundings of them, whose sum is from `lo` to `hi` but for these; the sum of their magnitudes; all are multiples of
    2^granule; `exact`: they are known."""

    __slots__ = ("lo", "hi", "magnitude", "count", "granule", "exact")

    def __init__(self, lo, hi, magnitude, count, granule, exact):
        self.lo, self.hi, self.magnitude = np.asarray(lo), np.asarray(hi), np.asarray(magnitude) + fast_math.of_sums()
        self.count, self.granule, self.exact = count, granule, exact

    def joined(self, other):
        granules = [g for g in (self.granule, other.granule) if g is not None]
        return Terms(
            self.lo + other.lo,
            self.hi + other.hi,
            self.magnitude + other.magnitude,
            self.count + other.count,
            min(granules, default=None),
            self.exact and other.exact,
        )

    def scaled(self, lo, hi, of_factor, is_known):
        """Each by a factor from `lo` to `hi`, a multiple of 2^of_factor."""
        ends = [self.lo * lo, self.lo * hi, self.hi * lo, self.hi * hi]
        granule = None if self.granule is None or of_factor is None else self.granule + of_factor
        return Terms(
            np.minimum.reduce(ends),
            np.maximum.reduce(ends),
            self.magnitude * np.maximum(np.abs(lo), np.abs(hi)),
            self.count + 1,
            granule,
            self.exact and is_known,
        )

    def slack(self, precision):
        return self.magnitude * self.count * 2.0 ** (1 - precision)

    def each(self, function, shape):
        lo, hi, magnitude = (function(np.broadcast_to(x, shape)) for x in (self.lo, self.hi, self.magnitude))
        return Terms(lo, hi, magnitude, self.count, self.granule, self.exact)
