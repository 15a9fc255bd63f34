"""Products: alone, in loops, after one another; operands from everywhere."""
from . import elements as e, nodes as n
from .expressions import expression
from .features import copy_notes, draw_feature, feature, load
from .formats import FORMATS

# A, B, accumulator, options
TYPES = [
    (("f16", "f16", "f32", {}), 5),
    (("bf16", "bf16", "f32", {}), 3),
    (("f16", "f16", "f16", {}), 1.5),
    (("e4m3", "e4m3", "f32", {}), 1.5),
    (("e5m2", "e4m3", "f32", {}), 0.6),
    (("e4m3", "e5m2", "f32", {"promote": "0"}), 0.5),
    (("e5m2", "e5m2", "f32", {"promote": "64"}), 0.4),
    (("i8", "i8", "i32", {}), 1.5),
    (("u8", "u8", "i32", {}), 0.6),
    (("u8", "i8", "i32", {}), 0.6),
    (("f32", "f32", "f32", {"precision": "tf32"}), 1.5),
    (("f32", "f32", "f32", {}), 0.8),
    (("f64", "f64", "f64", {}), 0.8),
]
M = [64, 64, 128, 128, 16, 32, 48, 96, 192, 256, 8, 20, 100]
N = [64, 64, 128, 32, 16, 8, 24, 48, 96, 192, 256, 12, 40, 100]
K = [16, 32, 64, 64, 32, 128, 8, 24, 48, 20, 4, 96]
LIMIT = 3_000_000  # multiply-adds of one block


def shape_of_product(b, bits):
    for _ in range(100):
        m, k, c = b.extent(among=M), b.extent(among=K), b.extent(among=N)
        small = b.size((m, c)) <= b.threads * 128 and (b.size((m, k)) + b.size((k, c))) * bits // 8 <= 48 * 1024
        if small and b.work + b.size((m, k, c)) * b.trips * 4 < LIMIT:
            return m, k, c
    return b.extent(16), b.extent(16), b.extent(8)


def in_registers(b, types, extents, side):
    """Whether an operand may be a fragment: of A always where there is a matrix instruction; whole instructions for each warp."""
    m, k, c = (b.value(e) for e in extents)
    bits = FORMATS[types[0]].bits
    scalar = types[0] in ("f64",) or (types[0] == "f32" and not types[3]) or types[2] == "f16" or types[0] != types[1]
    whole = k % (256 // bits) == 0 and m % 16 == 0 and c % 8 == 0 and m * c >= 128 * (b.threads // 32)
    return whole and not scalar and "fragments in products" in b.allowed


def operand(b, format, shape, acc, registers=False):
    """An expression for a product's operand, with what has to go before it. It does not use the accumulator."""
    ready, acc.ready = acc.ready, False
    result = _operand(b, format, shape, registers)
    acc.ready = ready
    return result


def _operand(b, format, shape, registers):
    known = b.tiles(lambda t: t.format == format and t.shape == shape and (registers or t.scope == "shared"))
    how = b.weighted(
        [
            ("loaded", 6),
            ("fragment", 1.5 * registers),
            ("known", 2 if known else 0),
            ("written", 1.2),
            ("converted", 0.8),
            ("expression", 1.5 * registers),
            ("conditional", 0.3),
        ]
    )
    if how == "known":
        return n.Ref(b.pick(known).name)
    if how == "loaded" or how == "conditional":
        tile = load(b, shape, format, "shared")
        if how == "conditional" and b.scalars():
            inner = n.Copy(b.input_region(format, shape), n.Ref(tile.name), copy_notes(b))
            b.emit(n.If(f"{b.pick(list(b.scalars()))} % 2 == 0", [inner]))
        return n.Ref(tile.name)
    if how == "fragment":
        return n.Ref(load(b, shape, format, "fragment").name)
    b.note("operand " + how)
    if how == "converted":
        packed = [f for f in b.packed if b.fits(f, shape)] * 2
        other = b.pick((["f32", "i8", "f16", "bf16"] if FORMATS[format].is_float else ["i32", "i16"]) + packed)
        source = load(b, shape, other if other != format else "f32", b.pick(["shared", "fragment"]))
        value = n.Cast(format, n.Ref(source.name))
    else:
        source = load(b, shape, format, b.pick(["shared", "fragment"]))
        value = None if FORMATS[format].only_stores else expression(b, format, shape, 1)
        value = value if value is not None else n.Ref(source.name)
    if how == "expression" or (how == "converted" and registers and b.chance(0.5)):
        return value
    target = b.declare("shared", format, shape)
    target.ready = True
    b.emit(n.Assign(n.Ref(target.name), "=", value) if b.chance(0.7) else n.Copy(value, n.Ref(target.name)))
    return n.Ref(target.name)


def multiply(b, types, extents, acc, options=None):
    """Operands and one product into acc."""
    a_format, b_format, _, given = types
    m, k, c = extents
    options = {**given, **(options or {})}
    first = b.chance(0.5)
    turned_a, turned_b = b.chance(0.25), b.chance(0.35)
    shapes = [(k, m) if turned_a else (m, k), (c, k) if turned_b else (k, c)]
    operands = [None, None]
    for i in (0, 1) if first else (1, 0):
        operands[i] = operand(b, (a_format, b_format)[i], shapes[i], acc, in_registers(b, types, extents, i))
    if turned_a:
        options["transpose_a"] = "true"
    if turned_b:
        options["transpose_b"] = "true"
    if b.chance(0.25):
        options["policy"] = b.pick(["square", "full_row", "full_col"])
    b.work += b.size(extents) * b.trips
    b.emit(n.Gemm(*operands, acc.name, options))


def accumulator(b, types, extents):
    m, _, c = extents
    known = b.tiles(lambda t: t.scope == "fragment" and t.format == types[2] and t.shape == (m, c) and not t.fixed)
    if known and b.chance(0.4):
        return b.pick(known)
    return b.declare("fragment", types[2], (m, c), n.Lit(0 if types[2] == "i32" else 0.0, types[2]), prefix="acc")


def draw_types(b):
    types = b.weighted([(t, w) for t, w in TYPES if t[0] in b.stored])
    b.note("gemm " + " ".join(types[:2]))
    return types


@feature("product", 2)
def product(b):
    types = draw_types(b)
    extents = shape_of_product(b, FORMATS[types[0]].bits)
    acc = accumulator(b, types, extents)
    multiply(b, types, extents, acc, {"accumulate": "false"} if b.chance(0.2) else None)


@feature("product loop", 3.5)
def product_loop(b):
    if b.depth > 2 or b.trips > 6:
        return False
    types = draw_types(b)
    extents = shape_of_product(b, FORMATS[types[0]].bits)
    acc = accumulator(b, types, extents)
    trips = b.pick([1, 2, 3, 4, 6])
    variable = b.name("k")
    end = str(trips)
    if b.chance(0.6):
        end = f"ceildiv({b.dimension(trips * b.value(extents[1]))}, {extents[1]})"
        b.bind_by_tensor(end)

    def draw():
        acc.fixed = b.chance(0.7)
        if b.chance(0.15):
            draw_feature(b)
        multiply(b, types, extents, acc)
        if b.chance(0.2):
            multiply(b, types, extents, acc)
            b.note("several products")
        if b.chance(0.25):
            draw_feature(b)
        acc.fixed = False

    body = b.inside(draw, trips, {variable: trips})
    kind = b.weighted([("pipelined", 6), ("serial", 1.5), ("unrolled", 0.5 if end.isdigit() else 0)])
    b.emit(n.For(variable, "0", end, body, kind, b.stages([1, 2, 2, 3, 3, 4, 5], kind), turns=kind == "pipelined" and b.rarely("turns", 0.15)))


@feature("bounded product loop", 0.8)
def bounded_product_loop(b):
    b.bounded = True
    drawn = product_loop(b)
    b.bounded = False
    return drawn


def shape_of_chain(b):
    """Half of them as wgmma takes the first result in registers: 64 rows for each warpgroup."""
    if b.threads % 128 == 0 and b.chance(0.5):
        extents = b.extent(among=[b.threads // 2]), b.extent(among=[16, 32, 64]), b.extent(among=[16, 32, 64])
        if b.work + b.size(extents) * b.trips * 4 < LIMIT:
            return extents
    return shape_of_product(b, 16)


def masked(b, scores, step):
    """Zeros where a condition on the indices holds: whole registers of some threads, too, which then hold a constant."""
    i, j = b.name("p"), b.name("p")
    place = f"{step} * {scores.shape[1]} + {j}"
    conditions = [f"{i} % 16 != {j} % 16", f"{i} != {j}", f"{place} != {i}", f"{place} > {i}", f"{j} % 8 > 1", f"{i} % 16 == {j} % 8",
                  f"({place} > {i}) || ({place} >= {b.pick([5, 40, 100])})", f"({place} < {i}) && ({i} + 3 > {place})"]
    zero = e.Put(e.ElementOf(scores.name, [i, j]), n.Lit(0.0, "f32"))
    return e.Parallel([i, j], scores.name, list(scores.shape), [e.Where(e.Holds(b.pick(conditions)), [zero])])


@feature("chained products", 1.2)
def chained(b):
    """As in attention: the first product's result is an operand of the second, in registers or through shared memory."""
    if b.depth > 2 or b.trips > 6:
        return False
    types = b.weighted([(t, w) for t, w in TYPES if t[2] == "f32" and t[0] != "f32" and t[0] in b.stored])
    m, k, c = shape_of_chain(b)
    d = b.extent(among=[16, 32, 64, 24, 8])
    outer = b.declare("fragment", "f32", (m, d), n.Lit(0.0, "f32"), prefix="acc")
    trips, variable = b.pick([1, 2, 3, 4]), b.name("k")

    def draw():
        scores = b.declare("fragment", "f32", (m, c), prefix="p")
        multiply(b, types, (m, k, c), scores, {"accumulate": "false"})
        scores.ready = True
        if b.chance(0.4):
            b.emit(masked(b, scores, variable))
        if b.chance(0.5):
            b.emit(n.Assign(n.Ref(scores.name), "=", n.Call("max", [n.Ref(scores.name), n.Lit(0.0, "f32")])))
        value = n.Cast(types[0], n.Ref(scores.name))
        if not in_registers(b, types, (m, c, d), 0) or b.chance(0.5):
            through = b.declare("shared", types[0], (m, c))
            b.emit(n.Copy(n.Ref(scores.name), n.Ref(through.name)))
            value = n.Ref(through.name)
        elif b.chance(0.5):
            kept = b.add_tile("let", types[0], (m, c), fixed=True)
            b.emit(n.Let(kept.name, value))
            value = n.Ref(kept.name)
        second = operand(b, types[1], (c, d), outer)
        b.work += b.size((m, c, d)) * b.trips
        b.emit(n.Gemm(value, second, outer.name, dict(types[3])))

    body = b.inside(draw, trips, {variable: trips})
    kind = "pipelined" if b.chance(0.7) else "serial"
    b.emit(n.For(variable, "0", str(trips), body, kind, b.stages([2, 2, 3, 4], kind), turns=kind == "pipelined" and b.rarely("turns", 0.3)))
