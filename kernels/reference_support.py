"""What the references share: number formats that numpy lacks, and helpers.

A reference is a function that takes everything by name, inputs as arrays (None where an optional tensor is absent), scalars,
dimensions and compile-time parameters as numbers, types as text ("bf16"), and returns a dict: outputs by name, in float64 or,
where the tolerance is `exact`, integers. bf16, e4m3 and e5m2 arrive as integer arrays of their bits, packed types as bytes.
"""

import numpy as np


def _decode_small_float(bits, exponent_bits, mantissa_bits, has_infinity):
    """float64 of an 8-bit float: sign, exponent, mantissa from the highest bit down."""
    bits = bits.astype(np.int64)
    mantissa = bits & ((1 << mantissa_bits) - 1)
    exponent = bits >> mantissa_bits & ((1 << exponent_bits) - 1)
    sign = np.where(bits >> (exponent_bits + mantissa_bits) & 1, -1.0, 1.0)
    bias = (1 << (exponent_bits - 1)) - 1
    normal = (1 + mantissa / (1 << mantissa_bits)) * 2.0 ** (exponent - bias)
    subnormal = mantissa / (1 << mantissa_bits) * 2.0 ** (1 - bias)
    value = np.where(exponent == 0, subnormal, normal)
    top = exponent == (1 << exponent_bits) - 1
    if has_infinity:
        value = np.where(top, np.where(mantissa == 0, np.inf, np.nan), value)
    else:
        value = np.where(top & (mantissa == (1 << mantissa_bits) - 1), np.nan, value)
    return sign * value


def decode(array, dtype=None):
    """The values of `array` in float64. Integer arrays hold the bits of `dtype`; 16-bit ones are bf16 without it."""
    if array.dtype.kind == "f":
        return array.astype(np.float64)
    if dtype in (None, "bf16") and array.dtype.itemsize == 2:
        return (array.view(np.uint16).astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    if dtype == "e4m3":
        return _decode_small_float(array.view(np.uint8), 4, 3, has_infinity=False)
    if dtype == "e5m2":
        return _decode_small_float(array.view(np.uint8), 5, 2, has_infinity=True)
    if dtype == "u4":
        return unpack_u4(array).astype(np.float64)
    raise ValueError("no values of %s in an array of %s" % (dtype, array.dtype))


def encode_bf16(values):
    """The bits of bf16, rounded to nearest even, as uint16."""
    bits = np.asarray(values, np.float32).view(np.uint32).astype(np.uint64)
    rounded = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16
    return np.where(np.isnan(values), 0x7FC0, rounded).astype(np.uint16)


def encode_small(values, dtype):
    """The bits of e4m3 or e5m2 as uint8: the nearest value, beyond the largest finite one that."""
    codes = np.arange(128, dtype=np.uint8)
    table = decode(codes, dtype)
    finite = np.isfinite(table)
    codes, table = codes[finite], table[finite]
    magnitude = np.abs(np.asarray(values, np.float64))
    above = np.clip(np.searchsorted(table, magnitude), 1, len(table) - 1)
    low, high = magnitude - table[above - 1], table[above] - magnitude
    take_high = (high < low) | ((high == low) & (codes[above] % 2 == 0))
    code = np.where(take_high, codes[above], codes[above - 1])
    return np.where(np.signbit(values), code | 0x80, code).astype(np.uint8)


def unpack_u4(array):
    """Elements of a packed u4 array: two to a byte along the last dimension, the even index in the low half."""
    return np.stack([array & 15, array >> 4], axis=-1).reshape(*array.shape[:-1], -1)


def pack_u4(values):
    values = np.asarray(values, np.uint8)
    return values[..., 0::2] | values[..., 1::2] << 4


def encode(values, dtype):
    """An array as it arrives for a tensor of `dtype`."""
    plain = {"f64": np.float64, "f32": np.float32, "f16": np.float16, "i32": np.int32, "u8": np.uint8}
    if dtype in plain:
        return np.asarray(values).astype(plain[dtype])
    if dtype == "bf16":
        return encode_bf16(values)
    if dtype == "u4":
        return pack_u4(values)
    return encode_small(values, dtype)


def rounded(values, dtype):
    """`values` after a conversion to `dtype`, in float64."""
    return decode(encode(values, dtype), dtype)


def softmax(x):
    """Along the last dimension; rows that are all -inf become 0."""
    top = np.max(x, axis=-1, keepdims=True, initial=-np.inf)
    weights = np.exp(x - np.where(np.isfinite(top), top, 0.0))
    total = np.sum(weights, axis=-1, keepdims=True)
    return weights / np.where(total == 0, 1.0, total)
