"""What `@fast_math` allows besides (language.md, section 13): `/`, `sqrt` and functions of f32 may be the hardware's, and subnormals of f32
and bf16 may become 0. The language names some errors as `about`; the others are those of the PTX ISA, each with a bit to spare."""
import contextlib

import numpy as np

LEAST = 2.0**-126 * (1 + 2.0**-20)  # what rounds to the least normal number may have been below it
_allowed = False


@contextlib.contextmanager
def within(program):
    """While this program is interpreted."""
    global _allowed
    before, _allowed = _allowed, "fast_math" in program.annotations
    try:
        yield
    finally:
        _allowed = before


def is_allowed(fmt=None):
    """In the program at hand, for this format."""
    return _allowed and (fmt is None or fmt.name == "f32")


def flushed(tile):
    """A tile of f32 or bf16 with 0 for subnormals too."""
    if not _allowed or tile.format.name not in ("f32", "bf16"):
        return tile
    tiny = [(tile.lo > 0) & (tile.lo < LEAST), (tile.hi < 0) & (tile.hi > -LEAST)]
    if not np.any(tiny):
        return tile
    return type(tile)(tile.format, np.where(tiny[0], 0.0, tile.lo), np.where(tiny[1], -0.0, tile.hi), tile.wild, tile.terms)


def of_sums():
    """What is added to the magnitude of a sum's terms, so that the bound of its roundings holds subnormal partial sums that became 0."""
    return 2.0**-103 if _allowed else 0.0


def spoils(granule):
    """True if sums of multiples of 2^granule may be subnormal."""
    return _allowed and granule is not None and granule < -126


def quotient(result, x, y):
    """x / y of f32: within 2 units in the last place; a large divisor's reciprocal is subnormal."""
    if not is_allowed(result.format):
        return result
    x, y = x.stored(), y.stored()
    with np.errstate(all="ignore"):
        finite = np.isfinite(result.lo) & np.isfinite(result.hi)
        slack = np.maximum(np.abs(result.lo), np.abs(result.hi)) * 2.0**-21 + LEAST * 2.0**-20
        lo, hi = np.where(finite, result.lo - slack, result.lo), np.where(finite, result.hi + slack, result.hi)
        large = np.isfinite(y.lo) & np.isfinite(y.hi) & (np.maximum(np.abs(y.lo), np.abs(y.hi)) > 2.0**125)
        lo, hi = np.where(large & finite, np.minimum(lo, 0.0), lo), np.where(large & finite, np.maximum(hi, 0.0), hi)
        wild = (large & ~finite) | (np.maximum(np.abs(lo), np.abs(hi)) > result.format.largest) & finite
    return type(result)(result.format, lo, hi, wild if result.wild is None else wild | result.wild)


def slack(name, x, result):
    """By how much a function of numbers as large as x may be off; an infinity where nothing is known."""
    least, angle, x = 2.0**-21, x, np.minimum(x, 128.0)  # beyond, exponentials are 0 or infinite
    return {
        "sqrt": lambda: result * least,
        "rsqrt": lambda: result * least,
        "exp2": lambda: result * least,
        "exp": lambda: result * (least + x * 2.0**-22),  # 2^(x log2 e), of a rounded product
        "log2": lambda: least + result * least,
        "log": lambda: least + result * least,
        "tanh": lambda: result * 2.0**-10,
        "sigmoid": lambda: result * (2 * least + x * 2.0**-21),
        "erf": lambda: result * 2 * least,
        "sin": lambda: _of_angle(angle),
        "cos": lambda: _of_angle(angle),
    }[name]()


def _of_angle(x):
    return np.where(x <= 2 * np.pi, 2.0**-20, np.where(x <= 100 * np.pi, 2.0**-14, np.inf))


def slack_of_power(x, y, result):
    """2^(y log2 x), for positive x; 0 and infinities may give a NaN on that way."""
    off = 2.0**-20 + np.abs(y) * (1 + np.abs(np.log2(x))) * 2.0**-21
    good = (x > 0) & np.isfinite(x) & np.isfinite(y) & (off < 0.5)
    return np.where(good, result * 2 * off, np.inf)
