"""functions.py TYPE FOLDER TARGET..: every function of docs/language.md section 10 on TYPE, on tiles and on scalars.

Writes a program of them into FOLDER, runs it on each TARGET (`cpu`, or an architecture for the emulator) and compares
with numpy's 80-bit floats, or with Python's integers.
"""
import math
import pathlib
import subprocess
import sys

import numpy as np

N = 64
BITS = {"f16": 16, "bf16": 16, "f32": 32, "f64": 64}
PRECISION = {"f16": 11, "bf16": 8, "f32": 24, "f64": 53}
LEAST = {"f16": -14, "bf16": -126, "f32": -126, "f64": -1022}  # exponent of normal numbers
MOST = {"f16": 65504.0, "bf16": 3.3895313892515355e38, "f32": 3.4028234663852886e38, "f64": 1.7976931348623157e308}


class Floats:
    """Inputs and references of a float type."""

    # Source, reference, bound in units of the last place of f32 and f64 (f16, bf16: half one more than rounding).
    FUNCTIONS = [
        ("abs(x)", lambda x, y, z: abs(x), 0),
        ("min(x, y)", lambda x, y, z: np.fmin(x, y), 0),
        ("max(x, y)", lambda x, y, z: np.fmax(x, y), 0),
        ("min(x, y, z)", lambda x, y, z: np.fmin(np.fmin(x, y), z), 0),
        ("clamp(x, y, z)", lambda x, y, z: np.fmin(np.fmax(x, y), z), 0),
        ("fma(x, y, z)", lambda x, y, z: x * y + z, 0.5),
        ("sqrt(x)", lambda x, y, z: np.sqrt(x), 0.5),
        ("rsqrt(x)", lambda x, y, z: 1 / np.sqrt(x), 2),
        ("exp(x)", lambda x, y, z: np.exp(x), 2),
        ("exp2(x)", lambda x, y, z: np.exp2(x), 2),
        ("log(x)", lambda x, y, z: np.log(x), 2),
        ("log2(x)", lambda x, y, z: np.log2(x), 2),
        ("pow(x, y)", lambda x, y, z: np.power(x, y), 4),
        ("sin(x)", lambda x, y, z: np.sin(x), 2),
        ("cos(x)", lambda x, y, z: np.cos(x), 2),
        ("tanh(x)", lambda x, y, z: np.tanh(x), 4),
        ("erf(x)", lambda x, y, z: np.array([math.erf(v) for v in x], np.longdouble), 4),
        ("sigmoid(x)", lambda x, y, z: 1 / (1 + np.exp(-x)), 4),
        ("floor(x)", lambda x, y, z: np.floor(x), 0),
        ("ceil(x)", lambda x, y, z: np.ceil(x), 0),
        ("round(x)", lambda x, y, z: np.rint(x), 0),
        ("trunc(x)", lambda x, y, z: np.trunc(x), 0),
        ("isnan(x) ? one : zero", lambda x, y, z: np.isnan(x) * np.longdouble(1), 0),
        ("isinf(x) ? one : zero", lambda x, y, z: np.isinf(x) * np.longdouble(1), 0),
        ("isfinite(x) ? one : zero", lambda x, y, z: np.isfinite(x) * np.longdouble(1), 0),
        ("x + y", lambda x, y, z: x + y, 0.5),
        ("x - y", lambda x, y, z: x - y, 0.5),
        ("x * y", lambda x, y, z: x * y, 0.5),
        ("x / y", lambda x, y, z: x / y, 0.5),
    ]
    INTEGERS = ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"]

    def __init__(self, dtype):
        self.dtype = dtype
        generator = np.random.default_rng(7)
        special = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 127.5, 128.0, -129.0,
                   255.5, 300.0, 32767.5, 65504.0, 2.0**-14, 2.0**-20, -(2.0**-24), 3.0, 10.0, -10.0, 88.0, -88.0]
        if BITS[dtype] >= 32:
            special += [1e30, -1e30, 2147483648.0, 4294967295.5, -1e19, 1e-40, 1000.25, 9999.5, 710.0, -745.0]
        self.x = self.rounded(special + list(generator.normal(0, 4, N - len(special))))
        self.y = self.rounded([2.0, 3.0, 1.0, np.nan] + list(generator.normal(0, 2, N - 4)))
        self.z = self.rounded(list(generator.normal(1, 2, N)))

    def rounded(self, values):
        """Nearest numbers of the type, as 80-bit floats."""
        with np.errstate(all="ignore"):
            if self.dtype == "bf16":
                bits = np.array(values, np.float32).view(np.uint32).astype(np.uint64)
                bits = np.where((bits & 0x7FFFFFFF) > 0x7F800000, 0x7FC00000, bits + 0x7FFF + (bits >> 16 & 1))
                return (bits & 0xFFFF0000).astype(np.uint32).view(np.float32).astype(np.longdouble)
            names = {"f16": np.float16, "f32": np.float32, "f64": np.float64}
            return np.array(values, names[self.dtype]).astype(np.longdouble)

    def save(self, path, values):
        if self.dtype == "bf16":
            np.save(path, (values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16))
        else:
            np.save(path, values.astype({"f16": np.float16, "f32": np.float32, "f64": np.float64}[self.dtype]))

    def load(self, path):
        values = np.load(path)
        if self.dtype == "bf16":
            values = (values.astype(np.uint32) << 16).view(np.float32)
        return values.astype(np.longdouble)

    def program(self):
        t, count = self.dtype, len(self.FUNCTIONS)
        tiles = "".join(f"        copy({f}, TILES[{i}, 0]);\n" for i, (f, _, _) in enumerate(self.FUNCTIONS))
        scalars = "".join(
            f"            SCALARS[{i}, i] = {f.replace('one', 'ONE').replace('zero', 'ZERO')};\n"
            for i, (f, _, _) in enumerate(self.FUNCTIONS))
        casts = "".join(
            f"        copy({'bitcast(i64, u64(x))' if to == 'u64' else f'i64({to}(x))'}, CASTS[{i}, 0]);\n"
            for i, to in enumerate(self.INTEGERS))
        return f"""const ONE: {t} = 1.0;
const ZERO: {t} = 0.0;
kernel k(X: tensor<{t}>[{N}], Y: tensor<{t}>[{N}], Z: tensor<{t}>[{N}], TILES: out tensor<{t}>[{count}, {N}],
         SCALARS: out tensor<{t}>[{count}, {N}], CASTS: out tensor<i64>[{len(self.INTEGERS)}, {N}]) {{
    launch b in grid(1) threads(32) {{
        fragment x, y, z: {t}[{N}];
        fragment one: {t}[{N}] = 1;
        fragment zero: {t}[{N}] = 0;
        copy(X[0], x);
        copy(Y[0], y);
        copy(Z[0], z);
{tiles}{casts}    }}
    launch b in grid(1) threads(32) {{
        for i in 0..{N} {{
            let x = X[i];
            let y = Y[i];
            let z = Z[i];
{scalars}        }}
    }}
}}
"""

    def unit(self, value):
        """A unit in the last place of the type at `value`."""
        exponent = LEAST[self.dtype]
        if value != 0 and np.isfinite(value):
            exponent = max(exponent, math.frexp(value)[1] - 1)
        return np.longdouble(2.0) ** (exponent - PRECISION[self.dtype] + 1)

    def wrong(self, source, got, exact, bound):
        """Where `got` is not within `bound` units of `exact`."""
        # The narrow types are rounded once more.
        bound = bound if BITS[self.dtype] >= 32 else 0 if bound == 0 else 0.51
        for i in range(N):
            g, e = got[i], exact[i]
            if np.isnan(e) or np.isnan(g):
                if np.isnan(e) != np.isnan(g):
                    yield i
                continue
            limit = np.longdouble(MOST[self.dtype])
            if abs(e) > limit:  # rounds to infinity, or to the largest number where that is near
                near = abs(e) < limit + self.unit(float(limit)) * max(bound, 0.5)
                if not (np.isinf(g) and (g > 0) == (e > 0)) and not (near and abs(g) == limit):
                    yield i
                continue
            off = abs(g - e) / self.unit(float(e)) if not np.isinf(g) else np.inf
            if off > bound + 1e-3 and not (bound >= 1 and np.isinf(g) and abs(e) > limit * np.longdouble(0.999999)):
                yield i

    def references(self):
        with np.errstate(all="ignore"):
            return [f(self.x, self.y, self.z) for _, f, _ in self.FUNCTIONS]

    def casts(self):
        rows = []
        for to in self.INTEGERS:
            bits = int(to[1:])
            low, high = (0, 2**bits - 1) if to[0] == "u" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
            row = []
            for v in self.x:
                number = 0 if np.isnan(v) else (high if v > 0 else low) if np.isinf(v) else int(v)
                number = min(max(number, low), high)
                row.append(number - 2**64 if number >= 2**63 else number)
            rows.append(row)
        return np.array(rows, np.int64)

    def check(self, run, target, folder):
        tiles, scalars, casts = (self.load(folder / f"{name}.npy") for name in ("TILES", "SCALARS", "CASTS"))
        casts = np.load(folder / "CASTS.npy")
        errors = []
        for i, ((source, _, bound), exact) in enumerate(zip(self.FUNCTIONS, self.references())):
            for form, got in (("tile", tiles[i]), ("scalar", scalars[i])):
                for at in self.wrong(source, got, exact, bound):
                    errors.append(f"{form} {source} at x = {self.x[at]}, y = {self.y[at]}, z = {self.z[at]}: "
                                  f"{got[at]}, exactly {exact[at]}")
        expected = self.casts()
        for i, to in enumerate(self.INTEGERS):
            for at in np.nonzero(casts[i] != expected[i])[0]:
                errors.append(f"{to}({self.x[at]}) is {casts[i][at]}, not {expected[i][at]}")
        return errors


class Integers:
    """Inputs and references of an integer type. In tiles divisions and shifts are defined for all operands."""

    FUNCTIONS = [
        ("min(x, y)", lambda s, x, y, c: min(x, y)),
        ("max(x, y)", lambda s, x, y, c: max(x, y)),
        ("min(x, y, c)", lambda s, x, y, c: min(x, y, c)),
        ("clamp(x, y, c)", lambda s, x, y, c: min(max(x, y), c)),
        ("abs(x)", lambda s, x, y, c: abs(x)),
        ("ceildiv(x, y)", lambda s, x, y, c: -(-x // y) if y else 0),
        ("floordiv(x, y)", lambda s, x, y, c: x // y if y else 0),
        ("floormod(x, y)", lambda s, x, y, c: x % y if y else 0),
        ("popcount(x)", lambda s, x, y, c: bin(x & s.mask).count("1")),
        ("clz(x)", lambda s, x, y, c: s.bits - (x & s.mask).bit_length()),
        ("mulhi(x, y)", lambda s, x, y, c: (x * y) >> s.bits),
        ("x / y", lambda s, x, y, c: s.truncated(x, y)),
        ("x % y", lambda s, x, y, c: x - y * s.truncated(x, y) if y else 0),
        ("x << c", lambda s, x, y, c: x << c if 0 <= c < s.bits else 0),
        ("x >> c", lambda s, x, y, c: x >> c if 0 <= c < s.bits else -1 if x < 0 else 0),
        ("x & y", lambda s, x, y, c: x & y),
        ("x | y", lambda s, x, y, c: x | y),
        ("x ^ y", lambda s, x, y, c: x ^ y),
        ("~x", lambda s, x, y, c: ~x),
        ("x / 7", lambda s, x, y, c: s.truncated(x, 7)),
        ("x % 8", lambda s, x, y, c: x - 8 * s.truncated(x, 8)),
        ("ceildiv(x, 16)", lambda s, x, y, c: -(-x // 16)),
        ("floormod(x, 8)", lambda s, x, y, c: x % 8),
        ("x << 3", lambda s, x, y, c: x << 3),
        ("x << k", lambda s, x, y, c: x << s.count if s.count < s.bits else 0),
        ("x >> k", lambda s, x, y, c: x >> min(s.count, 200)),
    ]

    def __init__(self, dtype):
        self.dtype, self.bits, self.signed = dtype, int(dtype[1:]), dtype[0] == "i"
        self.mask = 2**self.bits - 1
        self.count = 256  # of i32: more than all widths, and 0 in 8 bits
        low, high = (-(2 ** (self.bits - 1)), 2 ** (self.bits - 1) - 1) if self.signed else (0, self.mask)
        generator = np.random.default_rng(3)
        edges = [low, high, 0, 1, self.wrap(-1), low + 1, high - 1, 2, 7, self.wrap(-7)]
        pairs = [(a, b) for a in edges[:6] for b in edges[:6]]
        random = [self.wrap(int(v)) for v in generator.integers(-(2**62), 2**62, 2 * N)]
        self.x = ([a for a, _ in pairs] + edges[6:] + random)[:N]
        self.y = ([b for _, b in pairs] + [3, 5, self.wrap(-3), 10] + random[::-1])[:N]
        self.c = [self.wrap(v) for v in [0, 1, self.bits - 1, self.bits, self.bits + 1, high, -1, 5, low, 64]]
        self.c = (self.c * N)[:N]
        self.c = self.c[3:] + self.c[:3]

    def wrap(self, v):
        v &= self.mask
        return v - 2**self.bits if self.signed and v >> (self.bits - 1) else v

    @staticmethod
    def truncated(x, y):
        if y == 0:
            return 0
        return abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)

    def harmless(self):
        """Operands that are no error of the program in scalar code."""
        y = [3 if b == 0 or (b == -1 and a == self.wrap(1 << (self.bits - 1))) else b for a, b in zip(self.x, self.y)]
        return y, [c % self.bits for c in self.c]

    def program(self):
        t, count = self.dtype, len(self.FUNCTIONS)
        tiles = "".join(f"        copy({f}, TILES[{i}, 0]);\n" for i, (f, _) in enumerate(self.FUNCTIONS))
        scalars = "".join(f"            SCALARS[{i}, i] = {f};\n" for i, (f, _) in enumerate(self.FUNCTIONS)
                          if "k" not in f)
        return f"""kernel k(X: tensor<{t}>[{N}], Y: tensor<{t}>[{N}], C: tensor<{t}>[{N}], Y1: tensor<{t}>[{N}], C1: tensor<{t}>[{N}],
         k: i32, TILES: out tensor<{t}>[{count}, {N}], SCALARS: out tensor<{t}>[{count}, {N}]) {{
    launch b in grid(1) threads(32) {{
        fragment x, y, c: {t}[{N}];
        copy(X[0], x);
        copy(Y[0], y);
        copy(C[0], c);
{tiles}    }}
    launch b in grid(1) threads(32) {{
        for i in 0..{N} {{
            let x = X[i];
            let y = Y1[i];
            let c = C1[i];
{scalars}        }}
    }}
}}
"""

    def save(self, path, values):
        np.save(path, np.array(values, ("u" if not self.signed else "") + f"int{self.bits}"))

    def check(self, run, target, folder):
        tiles, scalars = (np.load(folder / f"{name}.npy") for name in ("TILES", "SCALARS"))
        y1, c1 = self.harmless()
        errors = []
        for i, (source, function) in enumerate(self.FUNCTIONS):
            forms = [("tile", tiles[i], self.y, self.c)]
            forms += [] if "k" in source else [("scalar", scalars[i], y1, c1)]
            for form, got, y, c in forms:
                for at in range(N):
                    expected = self.wrap(function(self, self.x[at], y[at], c[at]))
                    if int(got[at]) != expected:
                        errors.append(f"{form} {source} at x = {self.x[at]}, y = {y[at]}, c = {c[at]}: {got[at]}, "
                                      f"not {expected}")
        return errors


def main():
    dtype, folder, targets = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3:]
    folder.mkdir(parents=True, exist_ok=True)
    case = Floats(dtype) if dtype in BITS else Integers(dtype)
    source = folder / f"{dtype}.tile"
    source.write_text(case.program())
    inputs = {"X": case.x, "Y": case.y}
    if isinstance(case, Floats):
        inputs["Z"] = case.z
    else:
        inputs["Y1"], inputs["C1"] = case.harmless()
        inputs["C"] = case.c
    for name, values in inputs.items():
        case.save(folder / f"{name}.npy", values)
    failed = False
    for target in targets:
        run = ["tilec", "run", str(source)]
        run += ["--on=cpu"] if target == "cpu" else ["--on=emu", f"--arch={target}"]
        run += [part for name in inputs for part in ("--arg", f"{name}={folder}/{name}.npy")]
        run += [] if isinstance(case, Floats) else ["--arg", f"k={case.count}"]
        outputs = ["TILES", "SCALARS"] + (["CASTS"] if isinstance(case, Floats) else [])
        run += [part for name in outputs for part in ("--out", f"{name}={folder}/{name}.npy")]
        done = subprocess.run(run, capture_output=True, text=True)
        errors = [done.stdout + done.stderr] if done.returncode else case.check(run, target, folder)
        for error in errors[:20]:
            print(f"{dtype} {target}: {error}")
        print(f"{dtype} {target}: {len(errors)} errors")
        failed |= bool(errors)
    sys.exit(failed)


main()
