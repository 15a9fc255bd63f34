"""The programs behind docs/support.md: one for each cell of its tables, made from a few frames (check_support.py runs them).

A cell is a piece of code in a frame, a launch around it and a kernel around that. Cells whose kernels have the same parameters run
as launches of one kernel: so one run says for many of them what a target takes. In a piece `$0`, `$1` ... are tensors for its results.
"""
import dataclasses

FLOATS = ["f64", "f32", "f16", "bf16"]
SIGNED = ["i64", "i32", "i16", "i8"]
UNSIGNED = ["u64", "u32", "u16", "u8"]
INTEGERS = SIGNED + UNSIGNED
NUMBERS = FLOATS + INTEGERS
PLAIN = NUMBERS + ["bool"]
PACKED = ["e2m1", "i4", "u4"]
STORAGE = ["e4m3", "e5m2", "e8m0"] + PACKED
ALL = PLAIN + STORAGE
WIDTH = {"f64": 64, "f32": 32, "bool": 8, "bf16": 16, "e4m3": 8, "e5m2": 8, "e8m0": 8, "e2m1": 4}


ALIGNED = "    where M % 4 == 0, N % 16 == 0\n"


def bits(dtype):
    return WIDTH.get(dtype) or int(dtype[1:])


@dataclasses.dataclass(frozen=True)
class Kernel:
    """A kernel `k`: its parameters but the results, options of `tilec run`, what stands before it, its `where`; or a whole program
    with one result `R0`. With ALIGNED there is one variant to compile, not two."""

    params: str
    args: tuple
    before: str = ""
    where: str = ""
    whole: str = ""


@dataclasses.dataclass(frozen=True)
class Cell:
    table: str
    row: str
    column: str
    kernel: Kernel
    head: str           # begins the launch
    code: str
    results: tuple = ()
    prints: bool = False        # what it prints is compared, too


def program(cells, names):
    """The source of the cells' common kernel, and {line: cell}; `names` has the number of each cell's first result."""
    kernel = cells[0].kernel
    if kernel.whole:
        return kernel.whole + "\n", {1: cells[0]}
    params, launches = [], []
    for cell in cells:
        code = cell.code
        for number in reversed(range(len(cell.results))):
            code = code.replace(f"${number}", f"R{names[cell] + number}")
        params.append(", ".join(f"R{names[cell] + number}: {result}" for number, result in enumerate(cell.results)))
        launches.append(f"    {cell.head} {code} }}")
    lines = [f"kernel k({kernel.params},", *("    " + p + "," for p in params[:-1]), "    " + params[-1] + ")", f"{kernel.where}{{", *launches, "}"]
    # A parameter's line and a launch's, behind what comes before.
    first = kernel.before.count("\n") + 2
    launch = first + len(cells) + kernel.where.count("\n") + 1
    places = {line + number: cell for number, cell in enumerate(cells) for line in (first, launch)}
    return kernel.before + "\n".join(lines) + "\n", places


def number_results(cells):
    """Names for the results of all cells, for `program`."""
    names, total = {}, 0
    for cell in cells:
        names[cell] = total
        total += len(cell.results)
    return names, [f"R{number}" for number in range(total)]


def draw(name, dtype, low=-5, high=7):
    """What an input holds: small numbers of both signs, zero among the integers."""
    if dtype in FLOATS:
        return f"{name}=normal"
    if dtype == "bool":
        return f"{name}=integers(0, 1)"
    if dtype in PLAIN:
        return f"{name}=integers({0 if dtype[0] == 'u' else low}, {high})"
    return None


def options(*inputs, **dims):
    return tuple(f"--dim={name}={value}" for name, value in dims.items()) + tuple(f"--arg={a}" for a in inputs if a)


# Moving data.

GRID = "launch (bn, bm) in grid(ceildiv(N, 64), ceildiv(M, 8)) threads(128) {"
TILE = "X[bm * 8, bn * 64]"
MOVES = {
    "tensor to registers and back": "fragment x: T[8, 64]; copy(" + TILE + ", x); copy(x, $0[bm * 8, bn * 64]);",
    "tensor to shared memory and back": "shared x: T[8, 64]; copy(" + TILE + ", x); copy(x, $0[bm * 8, bn * 64]);",
    "shared memory to registers and back": "shared x: T[8, 64]; shared z: T[8, 64]; fragment y: T[8, 64]; copy(" + TILE + ", x); "
    "copy(x, y); copy(y, z); copy(z, $0[bm * 8, bn * 64]);",
    "`pipelined` copies to shared memory": "shared x: T[8, 64]; fragment y: T[8, 64]; for k in pipelined(0..ceildiv(N, 64), stages = 2) { "
    "copy(X[bm * 8, k * 64], x); copy(x, y); copy(y, $0[bm * 8, k * 64]); }",
    "view with bounds of its own": "view Xv = X[1..M - 1, 2..N - 2]; fragment x: T[8, 64]; copy(Xv[bm * 8, bn * 64], x); "
    "view Yv = $0[1..M - 1, 2..N - 2]; copy(x, Yv[bm * 8, bn * 64]);",
    "rows gathered by a copy, to registers": "fragment at: i32[8]; copy(rows[bm * 8], at); fragment x: T[8, 64]; "
    "copy(X[at, bn * 64], x); copy(x, $0[bm * 8, bn * 64]);",
    "rows gathered by a copy, to shared memory": "fragment at: i32[8]; copy(rows[bm * 8], at); shared x: T[8, 64]; "
    "copy(X[at, bn * 64], x); copy(x, $0[bm * 8, bn * 64]);",
    "one element of gathered rows": "fragment at: i32[8]; copy(rows[bm * 8], at); view Xr = X[at, :]; fragment y: T[8, 64]; y = Xr[3, bn]; "
    "copy(y, $0[bm * 8, bn * 64]);",
    "elements of gathered rows, at other indices than a `parallel` loop's": "fragment at: i32[8]; copy(rows[bm * 8], at); view Xr = X[at, :]; "
    "fragment y: T[8, 64]; parallel (i, j) in y { y[i, j] = Xr[7 - i, j]; } copy(y, $0[bm * 8, bn * 64]);",
    "rows scattered by a copy": "fragment at: i32[8]; copy(rows[bm * 8], at); fragment x: T[8, 64]; "
    "copy(" + TILE + ", x); copy(x, $0[at, bn * 64]);",
    "`transpose(x)`": "fragment x: T[8, 64]; copy(" + TILE + ", x); fragment y: T[64, 8]; y = transpose(x); copy(y, $0[bn * 64, bm * 8]);",
    "vectors beside a tile: `x[:, _]`, `x[_, :]`": "fragment u: T[8]; fragment v: T[64]; fragment y: T[8, 64]; copy(X[bm * 8 :+ 8, 1], u); "
    "copy(X[1, bn * 64 :+ 64], v); y = bm == 0 ? u[:, _] : v[_, :]; copy(y, $0[bm * 8, bn * 64]);",
    "slices of shared memory as tiles": "shared x: T[8, 64]; fragment h: T[8, 32]; copy(" + TILE + ", x); h = x[:, 32..64]; "
    "x[:, 0..32] = h; copy(x[:, 16..64], $0[bm * 8, bn * 64]);",
    "slices of fragments, read": "fragment x: T[8, 64]; copy(" + TILE + ", x); copy(x[:, 16..64], $0[bm * 8, bn * 64]);",
    "slices of fragments, written": "fragment x: T[8, 64]; fragment h: T[8, 32]; copy(" + TILE + ", x); "
    "copy(X[bm * 8, bn * 64 + 8], h); x[:, 32..64] = h; copy(x, $0[bm * 8, bn * 64]);",
    "one element of a tile, read": "fragment x: T[8, 64]; fragment y: T[8, 64]; copy(" + TILE + ", x); y = x[3, 8 * bn + 5]; "
    "copy(y, $0[bm * 8, bn * 64]);",
    "one element of a tile, written": "fragment x: T[8, 64]; copy(" + TILE + ", x); x[bn, 6] = x[3, 5]; copy(x, $0[bm * 8, bn * 64]);",
    "tiles of three dimensions": "fragment y: T[2, 4, 64]; parallel (a, i, j) in y { y[a, i, j] = X[bm * 8 + 4 * a + i, bn * 64 + j]; } "
    "shared z: T[2, 4, 64]; z = y; copy(z[1, :, :], $0[bm * 8, bn * 64]);",
    "`parallel`: elements of tensors": "parallel (i, j) in [8, 64] { $0[bm * 8 + i, bn * 64 + j] = X[bm * 8 + i, N - 1 - bn * 64 - j]; }",
    "`parallel`: elements of shared memory": "shared x: T[8, 64]; fragment y: T[8, 64]; copy(" + TILE + ", x); "
    "parallel (i, j) in y { y[i, j] = x[7 - i, j / 2]; } copy(y, $0[bm * 8, bn * 64]);",
    "`parallel`: elements of another fragment": "fragment x: T[8, 64]; fragment y: T[8, 64]; copy(" + TILE + ", x); "
    "parallel (i, j) in y { y[i, j] = x[7 - i, 63 - j]; } copy(y, $0[bm * 8, bn * 64]);",
    "`parallel`: computed places in tensors": "parallel (i, j) in [8, 64] { let m = bm * 8 + i; "
    "if m < M { $0[rows[m], bn * 64 + j] = X[rows[m], bn * 64 + j]; } }",
    "`parallel`: computed places in shared memory": "shared x: T[8, 64]; parallel (i, j) in [8, 64] { "
    "x[i, (j + 7 * i) % 64] = X[bm * 8 + i, bn * 64 + j]; } copy(x, $0[bm * 8, bn * 64]);",
    "`threads`: elements of tensors and shared memory": "shared x: T[8, 64]; threads(t: 128) { for e in t..512 step 128 { "
    "x[e / 64, e % 64] = X[bm * 8 + e / 64, bn * 64 + e % 64]; } sync_threads(); for e in t..512 step 128 { "
    "$0[bm * 8 + e / 64, bn * 64 + e % 64] = x[e / 64, 63 - e % 64]; } }",
    "`threads`: `x[i :+ 4]`": "shared x: T[8, 64]; threads(t: 128) { for e in t..128 step 128 { "
    "x[e / 16, e % 16 * 4 :+ 4] = X[bm * 8 + e / 16, bn * 64 + e % 16 * 4 :+ 4]; } sync_threads(); for e in t..128 step 128 { "
    "$0[bm * 8 + e / 16, bn * 64 + e % 16 * 4 :+ 4] = x[7 - e / 16, e % 16 * 4 :+ 4]; } }",
    "`threads`: `local` arrays": "local l: T[4]; threads(t: 128) { for m in t..M step 128 { for j in 0..N / 4 { "
    "for v in 0..4 { l[v] = X[m, 4 * j + v]; } for v in 0..4 { $0[m, 4 * j + v] = l[3 - v]; } } } }",
}
# What leaves elements of its result alone.
KEEPING = ("view with bounds of its own", "rows scattered by a copy", "slices of shared memory as tiles", "slices of fragments, read",
           "tiles of three dimensions")
PITCHES = ("--pitch=X=96", "--pitch=R0=112")
# What the language has no packed types for: single elements of them are not written.
ELEMENTWISE_WRITES = [row for row in MOVES if "parallel" in MOVES[row] or row.startswith("`threads`") or row == "one element of a tile, written"]


def moves():
    for row, code in MOVES.items():
        for dtype in ALL:
            if dtype in PACKED and row in ELEMENTWISE_WRITES:
                continue
            shape = "[N, M]" if row == "`transpose(x)`" else "[M, N]"
            grid = GRID if "bn" in code else "launch bm in grid(ceildiv(M, 8)) threads(128) {"
            kernel = Kernel(f"rows: tensor<i32>[M], X: tensor<{dtype}>[M, N]", options(draw("X", dtype), "rows=$PERMUTATION", M=16, N=80))
            direction = "inout" if row in KEEPING else "out"
            yield Cell("Moving data", row, dtype, kernel, grid, code.replace(": T[", f": {dtype}["), (f"{direction} tensor<{dtype}>{shape}",))
    for dtype in ALL:
        code = "fragment x: T[8, 64]; copy(" + TILE + ", x); copy(x, $0[bm * 8, bn * 64]);"
        kernel = Kernel(f"X: strided tensor<{dtype}>[M, N]", options(draw("X", dtype), M=12, N=80) + PITCHES * (dtype not in PACKED))
        yield Cell("Moving data", "`strided` tensors", dtype, kernel, GRID, code.replace("T[", f"{dtype}["), (f"out strided tensor<{dtype}>[M, N]",))


# Arithmetic.

def same(*expressions):
    return [(e, "T") for e in expressions]


def truth(*expressions):
    return [(e, "bool") for e in expressions]


ARITHMETIC = [
    ("`+ - *`", NUMBERS, same("x + z", "x - z", "x * z")),
    ("unary `-`, `abs`", FLOATS + SIGNED, same("-x", "abs(x)")),
    ("`/`", NUMBERS, same("x / z")),
    ("`%`, `ceildiv floordiv floormod`", INTEGERS, same("x % z", "ceildiv(x, z)", "floordiv(x, z)", "floormod(x, z)")),
    ("<code>& &#124; ^ ~</code>", INTEGERS, same("x & z", "x | z", "x ^ z", "~x")),
    ("`<< >>`", INTEGERS, same("x << z", "x >> z")),
    ("`== != < <= > >=`", NUMBERS, truth("x == z", "x != z", "x < z", "x <= z", "x > z", "x >= z")),
    ("<code>&& &#124;&#124; ! == ?:</code>", ["bool"], truth("x && z", "x || z", "!x", "x == z", "x ? z : !z")),
    ("`?:`", NUMBERS, same("x < z ? x : z")),
    ("`min max clamp`", NUMBERS, same("min(x, z)", "max(x, z)", "clamp(x, T(1), T(3))")),
    ("`fma sqrt rsqrt`", FLOATS, same("fma(x, z, x)", "sqrt(abs(x))", "rsqrt(abs(x) + T(1))")),
    ("`exp exp2 log log2`", FLOATS, same("exp(x)", "exp2(x)", "log(abs(x) + T(1))", "log2(abs(x) + T(1))")),
    ("`pow`", FLOATS, same("pow(abs(x) + T(1), z)")),
    ("`sin cos tanh`", FLOATS, same("sin(x)", "cos(x)", "tanh(x)")),
    ("`erf sigmoid`", FLOATS, same("erf(x)", "sigmoid(x)")),
    ("`floor ceil round trunc`", FLOATS, same("floor(x)", "ceil(x)", "round(x)", "trunc(x)")),
    ("`isnan isinf isfinite`", FLOATS, truth("isnan(x)", "isinf(x / (z - z))", "isfinite(x)")),
    ("`popcount clz`", INTEGERS, same("popcount(x)", "clz(x)")),
    ("`mulhi`", INTEGERS, same("mulhi(x, z)")),
    ("`bitcast`", PLAIN[:-1], None),
]


def expressions(entry, dtype):
    if entry is None:
        return [(f"bitcast(u{bits(dtype)}, x)", f"u{bits(dtype)}"), (f"bitcast(i{bits(dtype)}, x)", f"i{bits(dtype)}")]
    return [(e.replace("T(", f"{dtype}("), dtype if result == "T" else result) for e, result in entry]


def arithmetic():
    tiles, single = "Arithmetic of tiles", "Arithmetic in `threads` regions"
    for row, types, entry in ARITHMETIC:
        for dtype in types:
            inputs = options(draw("X", dtype), draw("Z", dtype, 0 if "<<" in row else -5, 6), M=12, N=80)
            kernel = Kernel(f"X: tensor<{dtype}>[M, N], Z: tensor<{dtype}>[M, N]", inputs, where=ALIGNED)
            head = f"{GRID} fragment x, z: {dtype}[8, 64]; copy({TILE}, x); copy({TILE.replace('X', 'Z')}, z);"
            parts = expressions(entry, dtype)
            code = " ".join(f"copy({e}, ${n}[bm * 8, bn * 64]);" for n, (e, _) in enumerate(parts))
            yield Cell(tiles, row, dtype, kernel, head, code, tuple(f"out tensor<{r}>[M, N]" for _, r in parts))
            # A scalar division by zero is an error of the program, unlike one of tiles.
            divisor = f"z_ == 0 ? {dtype}(1) : z_" if dtype in INTEGERS and "<<" not in row else "z_"
            head = ("launch b in grid(ceildiv(M * N, 128)) threads(t: 128) { let m = (b * 128 + t) / N; let n = (b * 128 + t) % N; "
                    f"let x = X[m, n]; let z_ = Z[m, n]; let z = {divisor};")
            code = " ".join(f"${n}[m, n] = {e};" for n, (e, _) in enumerate(parts))
            yield Cell(single, row, dtype, kernel, head, code, tuple(f"out tensor<{r}>[M, N]" for _, r in parts))


def conversions():
    """Of tiles, from and to each type: those that the language does not have end in [conversion]."""
    for source in ALL:
        for target in ALL:
            if source == target:
                continue
            inputs = options("X=normal(0, 100)" if source in FLOATS else draw("X", source, -100, 120), M=12, N=80)
            head = f"{GRID} fragment x: {source}[8, 64]; copy({TILE}, x);"
            yield Cell("Conversions of tiles", source, target, Kernel(f"X: tensor<{source}>[M, N]", inputs, where=ALIGNED), head, f"copy({target}(x), $0[bm * 8, bn * 64]);", (f"out tensor<{target}>[M, N]",))


# Reductions and scans.

LARGER = "fn larger(a: T, b: T) -> T { return a > b ? a : b; }\n"
PAIR = "fn first(a: T, i: i32, b: T, j: i32) -> (T, i32) { if a > b || (a == b && i < j) { return (a, i); } return (b, j); }\n"


def axes(call, shapes=("[M]", "[64]", "[1]")):
    rows = f"copy({call.replace(')', ', axis = 1)')}, $0[b * 8]);"
    columns = f"copy({call.replace(')', ', axis = 0)')}, $1[b, 0]);"
    return f"{rows} {columns} let s = {call}; $2[b] = s;"


def reductions():
    table = "Reductions and scans"
    head = "launch b in grid(ceildiv(M, 8)) threads(128) { fragment x: T[8, 64]; copy(X[b * 8, 0], x);"

    def cells(row, types, code, results):
        for dtype in types:
            inputs = options("X=uniform(0.9, 1.1)" if dtype in FLOATS else draw("X", dtype, 0, 1), M=12)
            kernel = Kernel(f"X: tensor<{dtype}>[M, 64]", inputs, (LARGER + PAIR).replace("T", dtype) if dtype != "bool" else "")
            yield Cell(table, row, dtype, kernel, head.replace(": T[", f": {dtype}["), code, tuple(r.replace("<T>", f"<{dtype}>") for r in results))
    three = ("out tensor<T>[M]", "out tensor<T>[ceildiv(M, 8), 64]", "out tensor<T>[ceildiv(M, 8)]")
    for name, types in (("sum", NUMBERS), ("prod", NUMBERS), ("max", NUMBERS), ("min", NUMBERS), ("and", INTEGERS), ("or", INTEGERS),
                        ("xor", INTEGERS), ("any", ["bool"]), ("all", ["bool"])):
        yield from cells(f"`reduce_{name}`", types, axes(f"reduce_{name}(x)"), three)
    yield from cells("`reduce(f, x)`", NUMBERS, axes("reduce(larger, x)"), three)
    code = ("fragment at: i32[8, 64]; parallel (i, j) in at { at[i, j] = j; } let (v, w) = reduce(first, x, at, axis = 1); "
            "copy(v, $0[b * 8]); copy(w, $1[b * 8]);")
    yield from cells("`reduce(f, x, y)`", NUMBERS, code, ("out tensor<T>[M]", "out tensor<i32>[M]"))
    two = ("out tensor<T>[M, 64]",) * 4
    for name in ("sum", "prod", "max", "min"):
        code = (f"copy(scan_{name}(x, axis = 1), $0[b * 8, 0]); copy(scan_{name}(x, axis = 0), $1[b * 8, 0]); "
                f"copy(scan_{name}(x, axis = 1, reverse = true), $2[b * 8, 0]); copy(scan_{name}(x, axis = 0, exclusive = true), $3[b * 8, 0]);")
        yield from cells(f"`scan_{name}`", NUMBERS, code, two)
    yield from cells("`scan(f, x)`", NUMBERS, "copy(scan(larger, x, axis = 1), $0[b * 8, 0]); copy(scan(larger, x, axis = 0), $1[b * 8, 0]);",
                     two[:2])


# Threads of a warp.

WARP = [
    ("`warp_sum warp_min warp_max`", NUMBERS, ["warp_sum(x)", "warp_min(x)", "warp_max(x, width = 8)"]),
    ("`warp_scan_sum warp_scan_prod warp_scan_max warp_scan_min`", NUMBERS,
     ["warp_scan_sum(x)", "warp_scan_prod(x, exclusive = true)", "warp_scan_max(x, width = 8, reverse = true)", "warp_scan_min(x)"]),
    ("`shuffle shuffle_xor shuffle_up shuffle_down`", PLAIN, ["shuffle(x, 31 - lane())", "shuffle_xor(x, 3)", "shuffle_up(x, 1)", "shuffle_down(x, 2)"]),
    ("`warp_any warp_all ballot`", ["bool"], ["warp_any(x)", "warp_all(x)", "(ballot(x) & u32(1)) == u32(1)"]),
    ("`vec`: operators, `reduce_sum`", NUMBERS, ["reduce_sum(X[m, 0 :+ 4] * Z[m, 4 :+ 4])"]),
    ("`vec`: `reduce_min reduce_max`", NUMBERS, ["reduce_min(X[m, 0 :+ 4])", "reduce_max(min(X[m, 0 :+ 4], Z[m, 4 :+ 4]))"]),
]


def warps():
    for row, types, parts in WARP:
        for dtype in types:
            kernel = Kernel(f"X: tensor<{dtype}>[M, N], Z: tensor<{dtype}>[M, N]", options(draw("X", dtype, -1, 1), draw("Z", dtype, -1, 1), M=3, N=64))
            code = " ".join(f"${n}[m, t] = {e};" for n, e in enumerate(parts))
            head = "launch m in grid(M) threads(t: 64) { let x = X[m, t];"
            yield Cell("Lanes and vectors", row, dtype, kernel, head, code, (f"out tensor<{dtype}>[M, N]",) * len(parts))


# Products.

PRODUCTS = [
    ("f16", "f16", "f32", ""), ("f16", "f16", "f16", ""), ("bf16", "bf16", "f32", ""),
    ("e4m3", "e4m3", "f32", ""), ("e4m3", "e5m2", "f32", ""), ("e5m2", "e4m3", "f32", ""), ("e5m2", "e5m2", "f32", ""),
    ("e4m3", "e4m3", "f32", ", promote = 0"),
    ("i8", "i8", "i32", ""), ("u8", "u8", "i32", ""), ("i8", "u8", "i32", ""), ("u8", "i8", "i32", ""),
    ("f32", "f32", "f32", ", precision = tf32"), ("f32", "f32", "f32", ""), ("f64", "f64", "f64", ""),
]
ODD = "48 x 24 x 8, any rows"
PLACES = {
    "A B": ("shared As: TA[64, 32]; shared Bs: TB[32, 16];", "gemm(As, Bs, acc{});"),
    "A Bᵀ": ("shared As: TA[64, 32]; shared Bs: TB[16, 32];", "gemm(As, Bs, acc, transpose_b = true{});"),
    "Aᵀ B": ("shared As: TA[32, 64]; shared Bs: TB[32, 16];", "gemm(As, Bs, acc, transpose_a = true{});"),
    "A in registers": ("fragment As: TA[64, 32]; shared Bs: TB[16, 32];", "gemm(As, Bs, acc, transpose_b = true{});"),
    "B in registers": ("shared As: TA[64, 32]; fragment Bs: TB[32, 16];", "gemm(As, Bs, acc{});"),
    "parts": ("shared As: TA[64, 32]; shared Bs: TB[32, 16];",
              "gemm(As[:, 0..16], Bs[0..16, :], acc{}); gemm(As[:, 16..32], Bs[16..32, :], acc{});"),
    ODD: ("shared As: TA[48, 8]; shared Bs: TB[8, 24];", "gemm(As, Bs, acc{});"),
}


def product_cell(a, b, c, option, place):
    declare, multiply = PLACES[place]
    m, n, k = (48, 24, 8) if place == ODD else (64, 16, 32)
    ta, tb = "transpose_a" in multiply, "transpose_b" in multiply
    load = (f"copy({f'A[k * {k}, bm * {m}]' if ta else f'A[bm * {m}, k * {k}]'}, As); "
            f"copy({f'B[bn * {n}, k * {k}]' if tb else f'B[k * {k}, bn * {n}]'}, Bs);")
    head = f"launch (bn, bm) in grid(ceildiv(N, {n}), ceildiv(M, {m})) threads(128) {{"
    code = (f"{declare.replace('TA', a).replace('TB', b)} fragment acc: {c}[{m}, {n}] = 0; "
            f"for k in pipelined(0..ceildiv(K, {k}), stages = 2) {{ {load} {multiply.replace('{}', option)} }} "
            f"copy(acc, $0[bm * {m}, bn * {n}]);")
    inputs = [None if dtype in STORAGE else draw(name, dtype) for name, dtype in (("A", a), ("B", b))]
    kernel = Kernel(f"A: tensor<{a}>[{'K, M' if ta else 'M, K'}], B: tensor<{b}>[{'N, K' if tb else 'K, N'}]",
                    options(*inputs, M=64, N=16, K=48) + (("--tolerance=0.002",) if "tf32" in option else ()),
                    where="" if place == ODD else "    where M % 16 == 0, N % 16 == 0, K % 16 == 0\n")
    operands = f"`{a}` `{b}` → `{c}`" + (f", `{option[2:]}`" if option else "")
    return Cell("Products", operands, place, kernel, head, code, (f"out tensor<{c}>[M, N]",))


def products():
    for kind in PRODUCTS:
        for place in PLACES:
            yield product_cell(*kind, place)


# Atomics.

COUNTS = ["i32", "u32", "i64", "u64"]
REALS = ["f32", "f64", "f16", "bf16"]
SUM = "atomic_add({p}, {v});"
LEAST = "atomic_min({p}, {v}); atomic_max({q}, {v});"
BITS = "atomic_and({p}, {v}); atomic_or({q}, {v}); atomic_xor({r}, {v});"
# Exchanged elements are met by one thread each: what is left does not depend on the order.
SWAP = "{o} = atomic_exchange({p}, {v});"
CAS = "{o} = atomic_cas({p}, T(0), {v});"
ATOMIC_PLACES = {
    "an element of a tensor, block code": ("let v = X[b];", dict(p="$0[b]", q="$1[b]", r="$2[b]", o="$3[b]")),
    "elements of tensors, `parallel`": ("parallel i in [64] { let v = X[b * 64 + i];",
                                        dict(p="$0[PLACE]", q="$1[PLACE]", r="$2[PLACE]", o="$3[b * 64 + i]")),
    "elements of tensors, `threads`": ("threads(i: 64) { let v = X[b * 64 + i];",
                                       dict(p="$0[PLACE]", q="$1[PLACE]", r="$2[PLACE]", o="$3[b * 64 + i]")),
    "elements of shared memory, `parallel`": ("parallel i in [64] { let v = X[b * 64 + i];",
                                              dict(p="s0[PLACE]", q="s1[PLACE]", r="s2[PLACE]", o="$3[b * 64 + i]")),
    "elements of shared memory, `threads`": ("threads(i: 64) { let v = X[b * 64 + i];",
                                             dict(p="s0[PLACE]", q="s1[PLACE]", r="s2[PLACE]", o="$3[b * 64 + i]")),
    "tiles of tensors": ("fragment v: T[64]; copy(X[b * 64], v);", dict(p="$0[b * 32]", q="$1[b * 32]", r="$2[b * 32]")),
    "tiles of shared memory": ("fragment v: T[64]; copy(X[b * 64], v);", dict(p="s0", q="s1", r="s2")),
}


def atomic_cell(place, operation, text, dtype):
    before, names = ATOMIC_PLACES[place]
    single = operation in ("exchange", "cas")
    where = ("i" if "shared" in place else "b * 64 + i") if single else "i % 8"
    names = {key: name.replace("PLACE", where) for key, name in names.items()}
    code = before + " " + text.format(v="v", **{"o": "", **names}) + (" }" if before.rstrip().count("{") else "")
    if "shared" in place:
        size = 64
        code = (f"shared s0, s1, s2: {dtype}[{size}] = 0; " + code +
                "".join(f" copy(s{n}, ${n}[b * 64]);" for n in range(3)))
    code = code.replace(": T[", f": {dtype}[").replace("T(0)", f"{dtype}(0)")
    kernel = Kernel(f"X: tensor<{dtype}>[N]", options("X=integers(0, 3)", N=128))
    # Some of them, some elements, no operation meets: they keep what they hold.
    results = (f"inout tensor<{dtype}>[N]",) * 4
    return Cell("Atomics", f"{operation}: {place}", dtype, kernel, "launch b in grid(N / 64) threads(64) {", code, results)


def atomics():
    kinds = [("add", SUM, COUNTS + REALS), ("min, max", LEAST, COUNTS + REALS), ("and, or, xor", BITS, COUNTS),
             ("exchange", SWAP, COUNTS + REALS), ("cas", CAS, COUNTS)]
    for place in ATOMIC_PLACES:
        for operation, text, types in kinds:
            if operation in ("exchange", "cas") and place.startswith("tiles"):
                continue
            for dtype in types:
                yield atomic_cell(place, operation, text, dtype)


# What has no type: statements, annotations, forms of kernels.

MAP = "copy(X[b * 64], x); copy(x * 2.0, $0[b * 64]);"
ONE = "fragment x: f32[64]; "
LAUNCH = "launch b in grid(ceildiv(N, 64)) threads(64) {"
TENSOR = "X: tensor<f32>[N]"
GEMM = ("shared As: f16[64, 32]; shared Bs: f16[32, 64]; fragment acc: f32[64, 64] = 0; for k in pipelined(0..ceildiv(K, 32), stages = 3) {{ "
        "{copies} gemm(As, Bs, acc); }} copy(acc, $0[bm * 64, bn * 64]);")
COPIES = "copy(A[bm * 64, k * 32], As); copy(B[k * 32, bn * 64], Bs);"
STATEMENTS = {
    "`while`, `break`, `continue` over data": ONE + "copy(X[b * 64], x); var i: i32 = 0; var s: f32 = 0; while true { i += 1; "
    "if i > 60 { break; } if X[i] < 0.0 { continue; } s += X[i]; } $0[b] = s;",
    "`if` over data": ONE + "if X[b] > 0.0 { " + MAP + " } else { copy(X[b * 64], x); copy(x, $0[b * 64]); }",
    "`return`": ONE + "if b % 2 == 1 { return; } " + MAP,
    "`unrolled(.., factor = 3)`": ONE + "copy(X[b * 64], x); for i in unrolled(0..N / 16, factor = 3) { x += X[i]; } copy(x, $0[b * 64]);",
    "`parallel` with `while`": ONE + "copy(X[b * 64], x); parallel i in x { var v = x[i]; while abs(v) > 0.1 { v /= 2.0; } x[i] = v; } copy(x, $0[b * 64]);",
    "`threads` region between block code": ONE + "shared s: f32[64]; copy(X[b * 64], s); threads(t: 64) { let v = s[63 - t]; sync_threads(); s[t] = v; } copy(s, x); copy(x, $0[b * 64]);",
    "`local` of each thread, read by block code": "local l: f32; threads(t: 64) { l = X[b * 64 + t]; } $0[b] = reduce_max(l);",
    "constant arrays": ONE + "const LUT: f32[4] = [0.5, 1.0, 2.0, 4.0]; parallel i in x { x[i] = LUT[i % 4] * X[b * 64 + i]; } copy(x, $0[b * 64]);",
    "several warps, one element (`X[i] = v;` in block code)": "$0[b] = X[b] + 1.0;",
    "a tensor written and read again": ONE + "copy(X[b * 64], x); copy(x, $0[b * 64]); parallel i in x { x[i] = $0[b * 64 + 63 - i]; } copy(x, $0[b * 64]);",
    "`assert`, `assume`": ONE + 'assume(N > 0); assert(N < 100000, "N {}", N); ' + MAP,
    "`print` of scalars": 'print("b {} x {}", b, X[b]); $0[b] = X[b];',
    "`print` of tiles": 'fragment x: f32[64]; copy(X[b * 64], x); print("x {}", x); copy(x, $0[b * 64]);',
    "`print` in `parallel` loops": 'parallel (i) in [9] { if i % 4 == 1 { print("i {} x {}", i, X[i]); } } $0[b] = X[b];',
    "`print` in `threads` regions": 'threads(t: 64) { if t < 2 { print("t {} x {}", t, X[t]); } } $0[b] = X[b];',
}
LAUNCHES = {
    "`@persistent`": "@persistent ", "`@persistent(dynamic)`": "@persistent(dynamic) ", "`@rasterize`": "@rasterize(group = 4) ",
    "`@cluster`": "@cluster(2) @warp_specialize(producer) ", "`@min_blocks`": "@min_blocks(2) ", "`@max_registers`": "@max_registers(128) ",
    "`@warp_specialize(producer)`": "@warp_specialize(producer) ", "`@warp_specialize(operations)`": "@warp_specialize(operations) ",
    "`@warp_specialize(pingpong)`": "@persistent @warp_specialize(pingpong) ",
    "`@no_tma`": "@no_tma ", "`@overlap`": "@overlap ",
}
CACHES = {f"`@cache({word})`": word for word in ("evict_first", "evict_last", "no_allocate")}
LOOPS = {
    "`pipelined` under `if`": ("if K > 8 { ", " }"), "`pipelined` in a serial loop": ("for again in 0..2 { ", " }"),
    "`pipelined` in `while`": ("var again: i32 = 0; while again < 2 { again += 1; ", " }"),
    "`pipelined` behind `return`": ("if bm > bn + 5 { return; } ", ""),
}
WHOLE = {
    "several launches, `workspace`": "kernel k(X: tensor<f32>[N], R0: out tensor<f32>[N]) { workspace w: f32[N]; launch b in grid(ceildiv(N, 64)) "
    "threads(64) { fragment x: f32[64]; copy(X[b * 64], x); copy(x + 1.0, w[b * 64]); } launch b in grid(ceildiv(N, 128)) threads(64) { "
    "fragment x: f32[128]; copy(w[b * 128], x); copy(x * x, R0[b * 128]); } }",
    "`optional` tensors": "kernel k(X: tensor<f32>[N], Z: optional tensor<f32>[N], R0: out tensor<f32>[N]) { launch b in grid(ceildiv(N, 64)) "
    "threads(64) { fragment x: f32[64]; copy(X[b * 64], x); if present(Z) { fragment z: f32[64]; copy(Z[b * 64], z); x += z; } copy(x, R0[b * 64]); } }",
    "`may_alias`": "kernel k(X: tensor<f32>[N], R0: out tensor<f32>[N] may_alias(X)) { launch b in grid(ceildiv(N, 64)) threads(64) { "
    "fragment x: f32[64]; copy(X[b * 64], x); copy(x + 1.0, R0[b * 64]); } }",
    "grids of five extents": "kernel k(X: tensor<f32>[N], R0: out tensor<f32>[N]) { launch (a, b, c, d, e) in grid(2, 2, 2, 4, 4) threads(32) { "
    "let i = a + 2 * b + 4 * c + 8 * d + 32 * e; R0[i] = X[i] + 1.0; } }",
    "tensors of rank 5": "kernel k(X: tensor<f32>[N], R0: out tensor<f32>[2, 2, 2, 2, N]) { launch b in grid(ceildiv(N, 64)) threads(64) { "
    "fragment x: f32[64]; copy(X[b * 64], x); for i in 0..16 { copy(x, R0[i / 8, i / 4 % 2, i / 2 % 2, i % 2, b * 64]); } } }",
    "`reshape` of a tensor": "kernel k(X: tensor<f32>[N], R0: out tensor<f32>[N / 4, 4]) { view Y = reshape(R0, [N]); "
    "launch b in grid(ceildiv(N, 64)) threads(64) { fragment x: f32[64]; copy(X[b * 64], x); copy(x, Y[b * 64]); } }",
    "`bitcast` of a tensor": "kernel k(X: tensor<f32>[N], R0: out tensor<f32>[N]) { view U = bitcast(u32, X); "
    "launch b in grid(ceildiv(N, 64)) threads(64) { fragment x: u32[64]; copy(U[b * 64], x); copy(bitcast(f32, x ^ u32(1)), R0[b * 64]); } }",
    "`reshape` of a shared buffer": "kernel k(X: tensor<f32>[N], R0: out tensor<f32>[N]) { launch b in grid(N / 64) threads(64) { "
    "shared x: f32[64]; shared y: f32[8, 8]; copy(X[b * 64], x); y = transpose(reshape(x, [8, 8])); copy(reshape(y, [64]), R0[b * 64]); } }",
    "`bitcast` of a shared buffer": "kernel k(X: tensor<f32>[N], R0: out tensor<f32>[N]) { launch b in grid(N / 64) threads(64) { "
    "shared x: f32[64]; copy(X[b * 64], x); view u = bitcast(u32, x); u = u ^ u32(1); u[3] = u32(bitcast(u16, x)[8]); copy(x, R0[b * 64]); } }",
    "neighbours of a `reshape` of a shared buffer": "kernel k(X: tensor<f32>[N], R0: out tensor<f32>[N]) { launch b in grid(N / 64) threads(64) { "
    "shared x: f32[64]; copy(X[b * 64], x); view y = reshape(x, [8, 8]); threads(t: 64) { if t < 16 { R0[b * 64 + t * 4 :+ 4] = y[t / 2, t % 2 * 4 :+ 4]; } } } }",
    "neighbours of a `bitcast` of a shared buffer": "kernel k(X: tensor<f32>[N], R0: out tensor<u32>[N]) { launch b in grid(N / 64) threads(64) { "
    "shared x: f32[64]; copy(X[b * 64], x); view u = bitcast(u32, x); threads(t: 64) { if t < 16 { R0[b * 64 + t * 4 :+ 4] = u[t * 4 :+ 4]; } } } }",
    "writes through a `bitcast` to smaller elements": "kernel k(X: tensor<f32>[N], R0: out tensor<f32>[N]) { launch b in grid(N / 64) threads(64) { "
    "shared x: f32[64]; copy(X[b * 64], x); view h = bitcast(u16, x); h[3] = u16(5); copy(x, R0[b * 64]); } }",
    "`@fast_math`": "@fast_math kernel k(X: tensor<f32>[N], R0: out tensor<f32>[N]) { launch b in grid(ceildiv(N, 64)) threads(64) { "
    "fragment x: f32[64]; copy(X[b * 64], x); copy(exp2(x) / sqrt(abs(x) + 1.0), R0[b * 64]); } }",
    "`tile fn`": "tile fn double(x: inout fragment f32[A]) { x = x * 2.0; } kernel k(X: tensor<f32>[N], R0: out tensor<f32>[N]) { "
    "launch b in grid(ceildiv(N, 64)) threads(64) { fragment x: f32[64]; copy(X[b * 64], x); double(x); copy(x, R0[b * 64]); } }",
    "`i64` extents": "kernel k(n: i64, X: tensor<f32>[n], R0: out tensor<f32>[n]) { launch b in grid(ceildiv(n, 64)) threads(64) { "
    "fragment x: f32[64]; copy(X[i64(b) * 64], x); copy(x * 2.0, R0[i64(b) * 64]); } }",
}


def statements():
    table = "Statements, annotations, kernels"
    for row, code in STATEMENTS.items():
        yield Cell(table, row, "", Kernel(TENSOR, options("X=normal", N=128)), LAUNCH, code, ("inout tensor<f32>[N]",), "print" in row)
    kernel = Kernel("A: tensor<f16>[M, K], B: tensor<f16>[K, N]", options(M=128, N=128, K=96))
    grid = "launch (bn, bm) in grid(ceildiv(N, 64), ceildiv(M, 64)) threads(128) {"
    out = ("out tensor<f16>[M, N]",)
    plain = GEMM.format(copies=COPIES)
    begin, end = plain.index("for k in"), plain.index("copy(acc")
    variants = {row: (annotation + grid, plain) for row, annotation in LAUNCHES.items()}
    variants |= {row: (grid, GEMM.format(copies=COPIES.replace("copy", f"@cache({word}) copy"))) for row, word in CACHES.items()}
    variants |= {row: (grid, plain[:begin] + before + plain[begin:end] + behind + " " + plain[end:]) for row, (before, behind) in LOOPS.items()}
    variants["`pipelined` with `turns`"] = (grid, plain.replace("stages = 3", "stages = 3, turns = true"))
    halves = plain.replace("acc: f32[64, 64]", "acc: f32[64, 128]").replace("Bs, acc)", "Bs, acc[:, 0..64])").replace("copy(acc,", "copy(acc[:, 0..64],")
    variants["`gemm` into a slice of a fragment"] = (grid, halves)
    for row, (head, code) in variants.items():
        yield Cell(table, row, "", kernel, head, code, out)
    kernel = Kernel("X: tensor<f16>[M, N]", options(M=12, N=80))
    for word in ("row_major", "swizzle(32)", "swizzle(64)", "swizzle(128)", "padded(8)"):
        code = f"@layout({word}) shared x: f16[8, 64]; fragment y: f16[8, 64]; copy({TILE}, x); copy(x, y); copy(y, $0[bm * 8, bn * 64]);"
        yield Cell(table, f"`@layout({word})`", "", kernel, GRID, code, out)
    for row, text in WHOLE.items():
        arguments = options("X=normal", n=128) if "n: i64" in text else options("X=normal", N=128)
        yield Cell(table, row, "", Kernel("", arguments, whole=text), "", "", ("R0",))


def every_cell():
    for part in (moves, arithmetic, conversions, reductions, warps, products, atomics, statements):
        yield from part()
