"""`print` of scalars and small tiles in block code: what each block says is held against what the interpreter knows of its values."""
import collections
import re
from dataclasses import dataclass

import numpy as np

from . import nodes as n
from .features import feature

LINE = re.compile(r"(p\d+)((?: -?\d+)+):(.*)")
VALUE = re.compile(r"-?(?:\d[\d.]*(?:e[+-]\d+)?|inf)|nan|true|false")
LIMIT = 128  # elements that one place prints: all that a program says fits the buffer of a GPU
LOST = "messages of `print` are lost"


@dataclass
class Print:
    """Its name, the block's indices, and values: tiles or scalar code."""

    name: str
    indices: list
    values: list

    def lines(self):
        values = [v if isinstance(v, str) else v.text() for v in self.values]
        text = f"{self.name}{' {}' * len(self.indices)}:{' {}' * len(values)}"
        yield f'print("{text}", {", ".join([*self.indices, *values])});'


@feature("print", 0.5)
def say(b):
    tiles = b.tiles(lambda t: b.size(t.shape) * b.trips <= LIMIT)
    values = [n.Ref(b.pick(tiles).name) for _ in range(b.pick([1, 1, 2])) if tiles]
    names = list(b.scalars())
    if names and (not values or b.chance(0.4)):
        values.insert(b.pick([0, len(values)]), b.pick(names))
    if not values or b.trips > LIMIT:
        return False
    b.emit(Print(b.name("p"), list(b.index_names), values))


def interpret(interpreter, s):
    """What this statement says now: for each element the least and the greatest number that it may be, and whether it is a float of 32
    bits or less."""
    message = []
    for value in s.values:
        if isinstance(value, str):
            number = int(interpreter.number(value))
            message.append((number, number, False))
            continue
        tile = interpreter.evaluate(value).stored()
        wild = [False] * tile.lo.size if tile.wild is None else tile.wild.ravel().tolist()
        short = tile.format.is_float and tile.format.name != "f64"
        ends = zip(tile.lo.ravel().tolist(), tile.hi.ravel().tolist(), wild)
        message += [None if any_value else (lo, hi, short) for lo, hi, any_value in ends]
    block = tuple(int(interpreter.number(i)) for i in s.indices)
    interpreter.printed.setdefault((s.name, block), []).append(message)


def number_of(text):
    if text in ("true", "false"):
        return text == "true"
    return float(text) if re.search(r"[.einf]", text) else int(text)


def is_right(value, ends):
    if ends is None:
        return True
    lo, hi, short = ends
    if short:
        value = float(np.float32(value))  # the text is the shortest that reads back as the same f32
    return lo <= value <= hi or (value != value and lo != lo and hi != hi)


def wrong_text(expected, text, runs=1):
    """None, or how the lines in `text`, of so many runs, differ from `expected`: of one name and block they stand in the order of the
    program."""
    found = collections.defaultdict(list)
    for line in text.splitlines():
        if match := LINE.match(line):
            found[match[1], tuple(map(int, match[2].split()))].append([number_of(v) for v in VALUE.findall(match[3])])
    for key in sorted(expected.keys() | found.keys()):
        ours, theirs = expected.get(key, []) * runs, found.get(key, [])
        if len(ours) != len(theirs):
            return f"{key} is printed {len(theirs)} times, expected {len(ours)}"
        for i, (message, values) in enumerate(zip(ours, theirs)):
            if len(message) != len(values):
                return f"{key}, message {i}: {len(values)} values, expected {len(message)}"
            for at, (ends, value) in enumerate(zip(message, values)):
                if not is_right(value, ends):
                    return f"{key}, message {i}, value {at}: {value}, expected {ends}"
    return None
