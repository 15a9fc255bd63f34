"""Element types: their numbers as f64 or integers, rounding to them, and their bits in .npy files."""
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Format:
    name: str
    kind: str  # f: float, i: signed, u: unsigned, b: bool
    bits: int
    precision: int = 0  # of a float, with the hidden bit
    least: int = 0  # exponent of its smallest normal number
    largest: float = 0.0
    saturates: bool = False  # a conversion that overflows gives the largest number, not infinity
    stored: str = ""  # numpy's type in files

    @property
    def is_float(self):
        return self.kind == "f"

    @property
    def is_int(self):
        return self.kind in "iu"

    @property
    def only_stores(self):
        return self.name in ("e4m3", "e5m2") or self.packed

    @property
    def packed(self):
        """Two to a byte along the last dimension, whose extent is even."""
        return self.bits == 4

    def held(self, integers):
        """The low bits of integers, as its numbers."""
        if not self.packed:
            return integers.astype(self.array)
        low = integers.astype(np.uint8) & 15
        return (np.where(low > 7, low - 16, low) if self.kind == "i" else low).astype(self.array)

    @property
    def array(self):
        """numpy's type of its numbers in the interpreter."""
        return np.dtype(np.float64) if self.is_float else np.dtype(self.stored)

    @property
    def bytes(self):
        return max(self.bits // 8, 1)

    @property
    def range(self):
        if self.kind == "u":
            return 0, 2**self.bits - 1
        return -(2 ** (self.bits - 1)), 2 ** (self.bits - 1) - 1

    @property
    def all_ones(self):
        """The number whose bits are all set, which is what memory holds that nobody wrote."""
        if self.is_float:
            return np.nan
        return self.range[1] if self.kind == "u" else -1


def _float(name, bits, precision, least, largest, stored, saturates=False):
    return Format(name, "f", bits, precision, least, largest, saturates, stored)


FORMATS = {
    f.name: f
    for f in [
        _float("f64", 64, 53, -1022, float(np.finfo(np.float64).max), "f8"),
        _float("f32", 32, 24, -126, float(np.finfo(np.float32).max), "f4"),
        _float("f16", 16, 11, -14, 65504.0, "f2"),
        _float("bf16", 16, 8, -126, 3.3895313892515355e38, "u2"),
        _float("e4m3", 8, 4, -6, 448.0, "u1", saturates=True),
        _float("e5m2", 8, 3, -14, 57344.0, "u1", saturates=True),
        _float("e2m1", 4, 2, 0, 6.0, "u1", saturates=True),
        Format("i4", "i", 4, stored="i1"),
        Format("u4", "u", 4, stored="u1"),
        *(Format(f"i{n}", "i", n, stored=f"i{n // 8}") for n in (8, 16, 32, 64)),
        *(Format(f"u{n}", "u", n, stored=f"u{n // 8}") for n in (8, 16, 32, 64)),
        Format("bool", "b", 8, stored="b1"),
    ]
}


def round_to(fmt, x):
    """f64 numbers rounded to nearest even in a float format, as f64."""
    x = np.asarray(x, np.float64)
    if fmt.name == "f64":
        return x
    with np.errstate(all="ignore"):
        if fmt.name == "f32":
            return x.astype(np.float32).astype(np.float64)
        if fmt.name == "f16":
            return x.astype(np.float16).astype(np.float64)
        finite = np.isfinite(x)
        safe = np.where(finite, x, 0.0)
        exponent = np.frexp(safe)[1]
        unit = np.maximum(exponent - fmt.precision, fmt.least - fmt.precision + 1)
        rounded = np.ldexp(np.rint(np.ldexp(safe, -unit)), unit)
        over = np.abs(rounded) > fmt.largest
        limit = fmt.largest if fmt.saturates else np.inf
        rounded = np.where(over, np.copysign(limit, safe), rounded)
        infinite = np.copysign(limit, x)
        nan = limit if fmt.name == "e2m1" else np.nan
        return np.where(finite, rounded, np.where(np.isnan(x), nan, infinite))


def held_in(fmt, x):
    """The numbers of a format nearest to x. Not a conversion: an infinity that the format has stays one, in e5m2 too."""
    x = np.asarray(x, np.float64)
    return np.where(np.isinf(x) & (fmt.name != "e4m3"), x, round_to(fmt, x))


def ulp(fmt, x):
    """Distance of neighbouring numbers of the format at x."""
    with np.errstate(all="ignore"):
        exponent = np.frexp(np.where(np.isfinite(x), x, 0.0))[1]
        return np.ldexp(1.0, np.maximum(exponent - fmt.precision, fmt.least - fmt.precision + 1))


def _eight_bit_values(fmt):
    fraction = fmt.precision - 1
    codes = np.arange(128)
    exponent = codes >> fraction
    mantissa = codes & ((1 << fraction) - 1)
    normal = np.ldexp(1.0 + mantissa / (1 << fraction), exponent - 1 + fmt.least)
    value = np.where(exponent == 0, np.ldexp(mantissa / (1 << fraction), fmt.least), normal)
    return np.where(value > fmt.largest, np.nan, value)


_EIGHT = {name: _eight_bit_values(FORMATS[name]) for name in ("e4m3", "e5m2")}


E2M1 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])


def paired(codes):
    """Elements of 4 bits as the bytes of a file."""
    return (codes[..., 0::2] | codes[..., 1::2] << 4).astype(np.uint8)


def unpaired(stored):
    return np.stack([stored & 15, stored >> 4], axis=-1).reshape(*stored.shape[:-1], 2 * stored.shape[-1])


def file_shape(fmt, shape):
    """The shape of the array in a file."""
    return (*shape[:-1], shape[-1] // 2) if fmt.packed else tuple(shape)


def encode(fmt, values):
    """The array that a .npy file holds for representable numbers."""
    if fmt.name == "e2m1":
        return paired(np.searchsorted(E2M1, np.abs(values)) | np.where(np.signbit(values), 8, 0))
    if fmt.packed:
        return paired(np.asarray(values).astype(np.uint8) & 15)
    if fmt.name == "bf16":
        return (np.asarray(values, np.float32).view(np.uint32) >> 16).astype(np.uint16)
    if fmt.only_stores:
        table = _EIGHT[fmt.name]
        count = int(np.sum(~np.isnan(table)))
        magnitude = np.abs(values)
        code = np.searchsorted(table[:count], np.where(np.isnan(magnitude), 0, magnitude))
        code = np.where(np.isnan(magnitude), 0x7F, np.minimum(code, count - 1))
        code = np.where(np.isinf(magnitude) & (fmt.name == "e5m2"), 0x7C, code)
        return (code | np.where(np.signbit(values), 0x80, 0)).astype(np.uint8)
    with np.errstate(all="ignore"):
        return np.asarray(values).astype(fmt.stored)


def decode(fmt, stored):
    """Numbers of the array that a .npy file holds: f64 for floats."""
    if fmt.name == "e2m1":
        codes = unpaired(stored)
        return np.where(codes & 8, -E2M1[codes & 7], E2M1[codes & 7])
    if fmt.packed:
        return fmt.held(unpaired(stored))
    if fmt.name == "bf16":
        return (stored.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    if fmt.only_stores:
        value = _EIGHT[fmt.name][stored & 0x7F]
        if fmt.name == "e5m2":
            value = np.where((stored & 0x7F) == 0x7C, np.inf, value)
        return np.where(stored & 0x80, -value, value)
    return stored.astype(np.float64) if fmt.is_float else stored
