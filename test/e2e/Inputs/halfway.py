"""halfway.py FOLDER: for each type that a conversion has to round, numbers next to halves of a unit of a narrower float, in FOLDER/SOURCE.npy, and
what they are in that float, exactly rounded to nearest even, in FOLDER/SOURCE-FLOAT.npy (as f32)."""

import fractions
import pathlib
import sys

import numpy

# Bits of the mantissa, least exponent of a normal number, largest number.
FLOATS = {"bf16": (7, -126, (2 - 2**-7) * 2.0**127), "e4m3": (3, -6, 448.0), "e5m2": (2, -14, 57344.0), "f16": (10, -14, 65504.0)}
SATURATING = ("e4m3", "e5m2")


def rounded(value, name):
    mantissa, least, largest = FLOATS[name]
    magnitude = abs(value)
    exponent = least
    while magnitude >= fractions.Fraction(2) ** (exponent + 1):
        exponent += 1
    unit = fractions.Fraction(2) ** (exponent - mantissa)
    units = magnitude / unit
    whole = units.numerator // units.denominator
    rest = units - whole
    whole += rest > fractions.Fraction(1, 2) or (rest == fractions.Fraction(1, 2) and whole % 2 == 1)
    result = whole * unit
    if result > fractions.Fraction(largest):
        result = largest if name in SATURATING else float("inf")
    return -float(result) if value < 0 else float(result)


def near_halves(bits, mantissa, signed):
    """Integers of so many bits around the middle between two floats, and one unit beside it."""
    for top in range(mantissa + 2, bits - signed):
        unit = 1 << (top - mantissa)
        for whole in (0, 1, (1 << mantissa) - 1):
            middle = (1 << top) + whole * unit + unit // 2
            for value in (middle - 1, middle, middle + 1):
                yield value
                if signed:
                    yield -value


def write(folder, name, values, dtype, floats):
    values = list(values)
    numpy.save(folder / f"{name}.npy", numpy.array(values, dtype))
    for to in floats:
        exact = [rounded(fractions.Fraction(value), to) for value in values]
        numpy.save(folder / f"{name}-{to}.npy", numpy.array(exact, numpy.float32))


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, bits in (("i32", 32), ("u32", 32), ("i64", 64), ("u64", 64)):
        values = [v for to in ("bf16", "e5m2") for v in near_halves(bits, FLOATS[to][0], name[0] == "i")]
        write(folder, name, values, {"i": f"int{bits}", "u": f"uint{bits}"}[name[0]], ("bf16", "e5m2", "f16"))
    doubles = []
    for to in ("e4m3", "e5m2", "bf16", "f16"):
        mantissa = FLOATS[to][0]
        for exponent in (-20, -15, -9, -7, -1, 0, 5, 8, 15):
            for whole in (0, 1, 2, (1 << mantissa) - 1):
                middle = 1.0 + (whole + 0.5) * 2.0**-mantissa
                for away in (-(2.0**-40), -(2.0**-24), 0.0, 2.0**-24, 2.0**-40):
                    doubles += [(middle + away) * 2.0**exponent, -(middle + away) * 2.0**exponent]
    write(folder, "f64", doubles, "float64", ("e4m3", "e5m2", "bf16", "f16"))


main()
