"""Inputs of a call: a function of the program's seed, the call and the tensor's name alone."""
import zlib

import numpy as np

from .formats import FORMATS, encode, round_to
from .intervals import Tile


def generator(seed, call, name):
    return np.random.Generator(np.random.PCG64([zlib.crc32(f"{seed}".encode()), call, zlib.crc32(name.encode())]))


def draw(rng, fmt, kind, shape):
    """Numbers of a format. `small` ones are integers, so that sums are exact in any order. A kind that is a number is that number
    everywhere."""
    if kind.isdigit():
        return np.full(shape, int(kind), fmt.array)
    if fmt.kind == "b":
        return rng.integers(0, 2, shape).astype(bool)
    if fmt.is_float:
        if kind == "normal":
            return round_to(fmt, rng.standard_normal(shape))
        if kind == "tenths":
            return round_to(fmt, rng.uniform(-0.3, 0.3, shape))
        values = rng.integers(-2, 3, shape).astype(np.float64)
        if kind == "special":
            tiny = 2.0 ** (fmt.least - fmt.precision + 1)
            special = np.array([np.nan, np.inf, -np.inf, fmt.largest, -fmt.largest, 2.0**fmt.least, tiny, -tiny, -0.0])
            if fmt.name in ("e4m3", "e2m1"):  # have no infinity
                special = special[~np.isinf(special)]
            if fmt.name == "e2m1":
                special = special[~np.isnan(special)]
            values = np.where(rng.random(shape) < 0.05, special[rng.integers(0, len(special), shape)], values)
        return values
    low, high = fmt.range
    if kind == "few":
        return rng.integers(0, 4, shape).astype(fmt.array)
    if kind == "edges":
        return np.array([low, high, low + 1, high - 1, 0, 1], fmt.array)[rng.integers(0, 6, shape)]
    values = rng.integers(0 if fmt.kind == "u" else -4, 5, shape).astype(fmt.array)
    return values if kind == "zeros" else np.where(values == 0, np.array(3, fmt.array), values)


def inputs(program, seed, call, dims, extents):
    """What the interpreter takes: tiles, numbers, None for outputs."""
    result = {}
    for argument in program.arguments:
        fmt = FORMATS[argument.format]
        if hasattr(argument, "value"):
            result[argument.name] = argument.value
        elif argument.direction == "out" or argument.same or argument.absent:
            result[argument.name] = None
        else:
            shape = extents[argument.name]
            result[argument.name] = Tile(fmt, draw(generator(seed, call, argument.name), fmt, argument.data, shape))
    return result


def stored(tile):
    return encode(tile.format, tile.lo)
