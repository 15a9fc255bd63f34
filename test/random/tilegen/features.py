"""The table of features: each draws statements at the present place of a program. A new one is one more function here or in a
file beside this, with its weight; it returns False if it does not apply."""
from . import functions, nodes as n
from .builder import COMPUTED, HINTS
from .expressions import COMPARISONS, expression, leaf, of_bits, repeatable, repeated, scalar
from .formats import FORMATS

TABLE = {}  # name -> (function, weight)


def feature(name, weight):
    def register(function):
        TABLE[name] = (function, weight)
        return function

    return register


def draw_feature(b, only=None):
    """One statement or more of a feature that applies."""
    pairs = [(name, weight) for name, (_, weight) in TABLE.items()]
    for _ in range(20):
        name = only if only and b.chance(0.5) else b.weighted(pairs)
        if TABLE[name][0](b) is not False:
            b.note(name)
            return


def copy_notes(b):
    notes = []
    if b.chance(0.1):
        notes.append("no_tma")
    if b.chance(0.06):
        notes.append(f"cache({b.pick(HINTS)})")
    return notes


# --- moving


@feature("load", 5)
def load(b, shape=None, format=None, scope=None):
    """From global memory into a new buffer, or one that is there; converting now and then."""
    scope = scope or b.pick(["shared", "fragment"])
    known = b.tiles(lambda t: t.scope == scope and not t.fixed and t.format != "bool")
    if shape is None and known and b.chance(0.35):
        tile = b.pick(known)
    else:
        shape = shape or b.shape()
        format = format or b.stored_format(shape)
        tile = b.declare(scope, format, shape)
    source = tile.format
    if b.chance(0.12):
        source = b.stored_format(tile.shape)
        b.note("casts")
    region = bounded_region(b, source, tile.shape) if b.chance(0.9 if b.bounded else 0.1) else b.input_region(source, tile.shape)
    b.emit(n.Copy(region, n.Ref(tile.name), copy_notes(b)))
    tile.ready = True
    return tile


def bounded_region(b, format, shape):
    """A place in a view with bounds of its own, or in a view of that one, from which a tile of this shape can be copied. Along rows
    it mostly begins where TMA can follow, which then reads beyond the bounds."""
    packed, scalars, lead = FORMATS[format].packed, b.scalars(), []
    loops = [name for name in scalars if name.startswith("k")]
    starts = [b.origin(e, True, packed and i + 1 == len(shape)) for i, e in enumerate(shape)]
    aligned = b.chance(0.8)
    if aligned:
        name = b.pick(loops + ["0"])
        starts[-1] = (f"{name} * {shape[-1]}", scalars.get(name, 0) * b.value(shape[-1]))
    extents = [b.dimension(reach + b.value(e) + b.pick([0, 8, 32])) for (_, reach), e in zip(starts, shape)]
    if b.chance(0.2):
        lead = [b.pick(list(scalars) or ["0"])]
        extents.insert(0, b.dimension(scalars.get(lead[0], 0) + 2))
    tensor = b.tensor("X", format, extents, data=b.data_kind(format))

    def bounds(i):
        if b.chance(0.35):
            return None
        last, whole = i + 1 == len(extents), extents[i]
        if last and aligned:
            first = ["0", "0", "16", *(f"{name} * 16" for name in loops)]
        else:
            first = ["0", "2", *([f"{name} * 2" for name in scalars] if packed and last else ["1", "3", *scalars])]
        near = b.value(shape[i - len(lead)]) if i >= len(lead) else 1
        ends = [f"{whole} - 2", f"{whole} + 4", str(near * 2), str(near // 2 * 2 + 6)]
        return b.pick(first), b.pick(ends + [f"{name} * {near // 2 * 2} + 10" for name in scalars])

    name, subscripts = b.name("w"), [bounds(i) for i in range(len(extents))]
    if lead and b.chance(0.5):
        subscripts[0] = lead.pop()
    b.emit(n.View(name, tensor.name, subscripts))
    if b.chance(0.25):
        outer, name = name, b.name("w")
        rows = [b.pick([None, ("0", "20"), ("2", "30"), ("-2", "9")]) for _ in range(len(lead) + len(shape) - 1)]
        b.emit(n.View(name, outer, rows + [b.pick([None, ("0", "40"), ("16", "64")])]))
    b.note("bounded")
    return n.Region(name, lead + [start for start, _ in starts])


@feature("store", 3)
def store(b, tile=None, format=None):
    """Into a region of the block's own."""
    if b.depth > 1 and b.chance(0.7):
        return False
    tiles = b.tiles()
    if not tile and not tiles:
        return False
    tile = tile or b.pick(tiles)
    format = format or (tile.format if tile.format == "bool" or b.chance(0.7) else b.stored_format(tile.shape))
    source = n.Ref(tile.name)
    if tile.format != "bool" and b.chance(0.25):
        source = expression(b, tile.format, tile.shape) or source
    b.emit(n.Copy(source, b.output_region(format, tile.shape), copy_notes(b)))


@feature("elementwise", 6)
def elementwise(b):
    tiles = b.tiles(lambda t: not FORMATS[t.format].only_stores and t.format != "bool")
    if not tiles:
        return False
    base = b.pick(tiles)
    format = base.format if b.chance(0.7) else b.pick(COMPUTED)
    value = expression(b, format, base.shape, depth=b.pick([1, 2, 3]))
    if value is None:
        return False
    if b.chance(0.15):
        value = functions.applied(b, value, format)
    targets = b.tiles(lambda t: t.shape == base.shape and t.format == format and not t.fixed)
    if targets and b.chance(0.5):
        b.emit(n.Assign(n.Ref(b.pick(targets).name), "=", value))
    elif b.chance(0.3):
        tile = b.add_tile("let", format, base.shape, fixed=True)
        b.emit(n.Let(tile.name, value))
    else:
        scope = "fragment" if b.chance(0.65) else "shared"
        if b.chance(0.4):
            b.declare(scope, format, base.shape, value)
        else:
            tile = b.declare(scope, format, base.shape)
            b.emit(n.Assign(n.Ref(tile.name), "=", value))
            tile.ready = True


@feature("repeated", 2)
def repeat(b):
    """A vector beside a matrix: loaded, or there, and repeated along what it lacks."""
    tiles = b.tiles(lambda t: len(t.shape) > 1 and not FORMATS[t.format].only_stores and t.format != "bool")
    if not tiles:
        return False
    base = b.pick(tiles)
    axes = sorted(b.random.sample(range(len(base.shape)), b.random.randrange(1, len(base.shape))))
    known = [t for t, at in repeatable(b, base.format, base.shape) if list(at) == axes]
    if known and b.chance(0.5):
        vector = b.pick(known)
    else:
        vector = load(b, [base.shape[i] for i in axes], base.format)
    value = repeated(b, base.shape, vector, axes)
    first = expression(b, base.format, base.shape, depth=1) or n.Ref(base.name)
    ways = [lambda: n.Binary(b.pick("+-*"), first, value), lambda: n.Call(b.pick(["min", "max"]), [value, first])]
    ways.append(lambda: n.Select(n.Binary(b.pick(COMPARISONS), value, first), first, value))
    whole = b.pick(ways)()
    if not base.fixed and b.chance(0.4):
        b.emit(n.Assign(n.Ref(base.name), "=", whole if b.chance(0.7) else value))
    elif not base.fixed and b.chance(0.3):
        b.emit(n.Assign(n.Ref(base.name), b.pick(["+=", "-="]), value))
    else:
        tile = b.declare(b.pick(["fragment", "shared"]), base.format, base.shape, whole)
        tile.ready = True


@feature("update", 3)
def update(b):
    targets = b.tiles(lambda t: not t.fixed and FORMATS[t.format].kind in "fiu" and not FORMATS[t.format].only_stores)
    if not targets:
        return False
    target = b.pick(targets)
    value = expression(b, target.format, target.shape, depth=1) if b.chance(0.6) else scalar(b, target.format)
    op = b.pick(["+=", "-=", "*=", "+="]) if FORMATS[target.format].is_float else b.pick(["+=", "-=", "&=", "^=", "|="])
    b.emit(n.Assign(n.Ref(target.name), op, value))


@feature("bits", 0.6)
def bits(b):
    """Functions of the bits of integers: of a tile that is there, or one that is loaded."""
    tiles = b.tiles(lambda t: FORMATS[t.format].is_int and not FORMATS[t.format].only_stores)
    base = b.pick(tiles) if tiles and b.chance(0.7) else load(b, None, b.pick([f for f in COMPUTED if FORMATS[f].is_int]))
    if not FORMATS[base.format].is_int or FORMATS[base.format].only_stores:
        return False  # it was loaded into a tile that was there
    value = of_bits(b, base.format, base.shape, 1, n.Ref(base.name))
    if not base.fixed and b.chance(0.4):
        b.emit(n.Assign(n.Ref(base.name), b.pick(["=", "^=", "|="]), value))
    else:
        b.declare(b.pick(["fragment", "shared"]), base.format, base.shape, value)


@feature("fill", 0.7)
def fill(b):
    format = b.pick(COMPUTED)
    b.declare(b.pick(["shared", "fragment"]), format, b.shape(), b.literal(format, small=False))


@feature("round trip", 4)
def round_trip(b):
    """Registers to shared memory and back, through one buffer again and again in a loop."""
    tiles = b.tiles(lambda t: t.scope != "shared")
    if not tiles:
        return False
    tile = b.pick(tiles)
    if tile.format == "bool":
        return bools(b, tile.shape, n.Ref(tile.name))
    shared = b.tiles(lambda t: t.scope == "shared" and t.shape == tile.shape and not t.fixed and t.format != "bool")
    if shared and b.chance(0.5):
        through = b.pick(shared)
    else:
        through = b.declare("shared", tile.format if b.chance(0.8) else b.stored_format(tile.shape), tile.shape)
    if through.format == tile.format and b.chance(0.5):
        b.emit(n.Assign(n.Ref(through.name), "=", n.Ref(tile.name)))
    else:
        b.emit(n.Copy(n.Ref(tile.name), n.Ref(through.name)))
    through.ready = True
    back = b.tiles(lambda t: t.scope == "fragment" and t.shape == tile.shape and not t.fixed and t.format != "bool")
    if back and b.chance(0.6):
        target = b.pick(back)
    else:
        target = b.declare("fragment", through.format, tile.shape)
    b.emit(n.Copy(n.Ref(through.name), n.Ref(target.name)))
    target.ready = True


@feature("bools", 0.5)
def bools(b, shape=None, value=None):
    """A tile of truth values, from memory or a comparison, through shared memory and back."""
    if shape is None:
        known = b.tiles(lambda t: FORMATS[t.format].kind in "iu" and not FORMATS[t.format].only_stores)
        if known and b.chance(0.5):
            shape = b.pick(known).shape
            same = [t for t in known if t.shape == shape]
            value = n.Binary(b.pick(COMPARISONS), n.Ref(b.pick(same).name), b.literal(same[0].format))
            if len({t.format for t in same}) > 1:
                return False
        else:
            shape = b.shape()
    first = b.declare(b.pick(["fragment", "shared"]), "bool", shape)
    if value is None:
        b.emit(n.Copy(b.input_region("bool", shape), n.Ref(first.name)))
    else:
        b.emit(n.Assign(n.Ref(first.name), "=", value))
    first.ready = True
    second = b.declare("shared" if first.scope == "fragment" else "fragment", "bool", shape)
    b.emit(n.Copy(n.Ref(first.name), n.Ref(second.name)))
    second.ready = True


@feature("transpose", 0.8)
def transpose(b):
    tiles = b.tiles(lambda t: len(t.shape) == 2 and b.fits(t.format, t.shape[::-1]))
    if not tiles:
        return False
    tile = b.pick(tiles)
    turned = b.add_tile("let", tile.format, tile.shape[::-1], fixed=True)
    b.emit(n.Let(turned.name, n.Call("transpose", [n.Ref(tile.name)])))


@feature("reduce", 1.5)
def reduce(b):
    """Along a dimension, or over all, beside a tile; of what came of it too."""
    tiles = b.tiles(lambda t: FORMATS[t.format].kind in "fiub" and not FORMATS[t.format].only_stores)
    if not tiles:
        return False
    tile = b.pick(tiles)
    axis = b.random.randrange(len(tile.shape))
    kind = FORMATS[tile.format].kind
    if kind == "b" and len(tile.shape) == 1:
        return False
    if len(tile.shape) > 1 and (kind == "b" or (kind in "iu" and b.chance(0.3))):
        result = b.add_tile("let", tile.format, tile.shape[:axis] + tile.shape[axis + 1 :], fixed=True)
        function = b.pick(["reduce_any", "reduce_all"] if kind == "b" else ["reduce_and", "reduce_or", "reduce_xor"])
        b.emit(n.Let(result.name, n.Call(function, [n.Ref(tile.name)], {"axis": axis})))
        return
    if len(tile.shape) == 1 or b.chance(0.3):
        b.note("reduce to a scalar")
        function = b.pick(["reduce_sum", "reduce_max", "reduce_min"])
        keywords = {"axis": 0} if len(tile.shape) == 1 and b.chance(0.5) else {}
        value = n.Binary(b.pick("+-"), n.Ref(tile.name), n.Call(function, [n.Ref(tile.name)], keywords))
        if tile.fixed or b.chance(0.5):
            b.declare(b.pick(["fragment", "shared"]), tile.format, tile.shape, value)
        else:
            b.emit(n.Assign(n.Ref(tile.name), "=", value))
        return
    result = b.add_tile("let", tile.format, tile.shape[:axis] + tile.shape[axis + 1 :], fixed=True)
    function = b.pick(["reduce_sum", "reduce_max", "reduce_min"])
    b.emit(n.Let(result.name, n.Call(function, [n.Ref(tile.name)], {"axis": axis})))


# --- memory that is written and read again


@feature("own memory", 2.5)
def own_memory(b):
    """Loads and stores of one `inout` tensor or workspace, where each block has a region of its own."""
    if not b.own or (len(b.own) < 2 and b.chance(0.2)):
        new_own(b)
    memory = b.pick(b.own)
    for _ in range(b.pick([1, 2, 3])):
        _own_access(b, *memory)


def new_own(b):
    format = b.pick(["f16", "f32", "f32", "i32", "bf16", "i8", "u16", "f64"])
    inner = [b.extent(among=[16, 32, 64, 24, 20]), b.extent(among=[16, 32, 64, 128, 40, 33])]
    extents = [b.grid_dimension(i) for i in b.index_names] + inner
    read = None
    if b.chance(0.3):
        tensor = n.Workspace(b.name("w"), format, extents, b.literal(format))
        b.program.workspaces.append(tensor)
        b.note("workspace")
    else:
        tensor = n.Tensor(b.name("Z"), format, extents, "inout", data=b.data_kind(format))
        if b.chance(0.35):
            read = n.Tensor(b.name("X"), format, list(extents), data=tensor.data)
            b.program.arguments.append(read)
            tensor.alias = read.name
            tensor.same = read.name if b.chance(0.8) else ""
            b.note("may_alias")
        b.program.arguments.append(tensor)
    b.own.append((tensor, inner, read))


def _own_access(b, tensor, inner, read):
    shift = lambda e: b.pick(["0", "0", "1", "8", str(b.value(e) // 2)])  # noqa: E731
    loops = [k for k, most in b.scalars().items() if k.startswith("k") and most < 8]
    row = shift(inner[0])
    if loops and b.chance(0.5):
        row = f"{b.pick(loops)} * {b.pick(['1', '4', '8', '16'])}" + (f" + {row}" if row != "0" else "")
    place = n.Region(tensor.name, list(b.index_names) + [row, shift(inner[1])])
    alike = b.tiles(lambda t: len(t.shape) == 2 and not t.fixed and t.format != "bool" and b.value(t.shape[0]) <= 64 and b.value(t.shape[1]) <= 128)
    if b.chance(0.5) or not alike:
        if alike and b.chance(0.4):
            tile = b.pick(alike)
        else:
            shape = (inner[0], inner[1]) if b.chance(0.6) else (b.extent(b.value(inner[0]) // 2), inner[1])
            tile = b.declare(b.pick(["shared", "fragment"]), tensor.format, shape)
        if read and b.chance(0.5):
            place.name = read.name
        b.emit(n.Copy(place, n.Ref(tile.name), copy_notes(b)))
        tile.ready = True
        return
    tile = b.pick(alike)
    source = n.Ref(tile.name)
    if b.chance(0.3):
        source = expression(b, tile.format, tile.shape) or source
    b.emit(n.Copy(source, place, copy_notes(b)))


# --- elements of four bits


@feature("packed", 1.5)
def packed(b):
    """A tile of packed elements: decoded, formed again, written back."""
    formats = b.packed
    shape = b.shape()
    if not formats or not b.fits(formats[0], shape):
        return False
    known = b.tiles(lambda t: FORMATS[t.format].packed)
    tile = b.pick(known) if known and b.chance(0.4) else load(b, shape, b.pick(formats), b.pick(["shared", "shared", "fragment"]))
    kind = b.pick(["decode", "decode", "again", "store", "scaled"])
    if kind == "store":
        return store(b, tile)
    format = b.pick(["f16", "f16", "bf16", "f32", "i8", "i32", "u16", "f64"])
    value = n.Cast(format, n.Ref(tile.name))
    if kind == "scaled" and FORMATS[format].is_float:
        value = n.Binary("*", n.Binary("-", value, b.literal(format)), b.literal(format))
    target = b.declare(b.pick(["shared", "fragment", "fragment"]), format, tile.shape, value)
    if kind == "again":
        other = b.pick(formats)
        b.declare(b.pick(["shared", "fragment"]), other, tile.shape, n.Cast(other, n.Ref(target.name)))


# --- control flow


def statements(b, count):
    def draw():
        for _ in range(count):
            draw_feature(b)

    return draw


@feature("serial loop", 1.5)
def serial_loop(b):
    return _loop(b, b.pick(["serial", "serial", "unrolled"]))


@feature("pipelined loop", 2.5)
def pipelined_loop(b):
    return _loop(b, "pipelined")


def _loop(b, kind):
    if b.depth > 3 or b.trips > 12:
        return False
    trips = b.pick([1, 1, 2, 3, 4, 5])
    variable, step = b.name("k"), 1
    factor = b.pick([0, 1, 2, 3, 4]) if kind == "unrolled" else 0
    end = str(trips)
    if (kind != "unrolled" or factor) and b.chance(0.4):
        extent = b.extent(16)
        end = f"ceildiv({b.dimension(trips * 16)}, {extent})"
        b.bind_by_tensor(end)
    elif kind == "serial" and b.chance(0.3):
        end, step = str(trips * 2), 2
    stages = b.stages([1, 2, 2, 3, 3, 4, 5], kind)
    if stages > 5 and end == str(trips) and b.trips == 1 and b.chance(0.5):
        trips = b.pick([7, 9, 12])
        end = str(trips)

    def draw():
        if kind == "pipelined":
            load(b)
        statements(b, b.pick([1, 2, 3]))()
        if b.chance(0.2):  # what the first iteration, which may be the last one, leaves out
            b.emit(n.If(f"{variable} > 0", b.inside(statements(b, b.pick([1, 2])))))

    body = b.inside(draw, trips, {variable: trips})
    b.emit(n.For(variable, "0", end, body, kind, stages, step, factor))


@feature("while loop", 0.5)
def while_loop(b):
    if b.depth > 3 or b.trips > 12:
        return False
    name, trips = b.name("v"), b.pick([1, 2, 3])
    b.emit(n.LetScalar(name, "0", "var"))

    def draw():
        statements(b, b.pick([1, 2]))()
        b.emit(n.SetScalar(name, "+=", "1"))

    b.emit(n.While(f"{name} < {trips}", b.inside(draw, trips, {})))


@feature("jump", 0.5)
def jump(b):
    """A serial loop that ends early, or skips the rest of some iterations."""
    if b.depth > 3 or b.trips > 12:
        return False
    trips, variable = b.pick([2, 3, 4]), b.name("k")

    def draw():
        statements(b, 1)()
        b.emit(n.Jump(b.pick(["break", "continue"]), f"{variable} == {b.random.randrange(trips)}"))
        statements(b, b.pick([1, 2]))()

    b.emit(n.For(variable, "0", str(trips), b.inside(draw, trips, {variable: trips})))


@feature("set element", 0.5)
def set_element(b):
    """One element of memory that is the block's own."""
    format = b.pick(["f32", "i32", "f16", "u8"])
    tensor = n.Tensor(b.name("Y"), format, [b.grid_dimension(i) for i in b.index_names], "out")
    b.program.arguments.append(tensor)
    b.emit(n.SetElement(n.Region(tensor.name, list(b.index_names)), scalar(b, format)))


@feature("optional", 0.4)
def optional(b):
    """A tensor that may be missing."""
    tiles = b.tiles(lambda t: t.format != "bool")
    if not tiles:
        return False
    tile = b.pick(tiles)
    extents = [b.grid_dimension(i) for i in b.index_names] + list(tile.shape)
    tensor = b.tensor("P", tile.format, extents, "out", optional=True, absent=b.chance(0.4))
    region = n.Region(tensor.name, list(b.index_names) + ["0"] * len(tile.shape))
    b.emit(n.If(f"present({tensor.name})", [n.Copy(n.Ref(tile.name), region)]))


@feature("branch", 1.5)
def branch(b):
    names = list(b.scalars())
    if b.depth > 3 or not names:
        return False
    name = b.pick(names)
    condition = b.pick([f"{name} > 0", f"{name} % 2 == 0", f"{name} == 1", f"{name} < 2"])
    if b.chance(0.2) and len(names) > 1:
        condition += b.pick([" && ", " || "]) + f"{b.pick(names)} != 1"
    then = b.inside(statements(b, b.pick([1, 2])))
    otherwise = b.inside(statements(b, 1)) if b.chance(0.4) else []
    b.emit(n.If(condition, then, otherwise))


@feature("variable", 0.8)
def variable(b):
    """A mutable scalar, changed here and in what follows."""
    known = [k for k in b.scalars() if k.startswith(("v", "w"))]
    if known and b.chance(0.6):
        b.emit(n.SetScalar(b.pick(known), b.pick(["=", "+="]), b.pick(["1", "2", *b.index_names])))
    elif b.chance(0.25):
        name = b.name("w")
        b.emit(n.LetVec(name, 2, b.pick(["0", "1", *b.index_names])))
        b.scopes[-1].scalars.update({f"{name}[{i}]": 4 for i in range(2)})
    else:
        name = b.name("v")
        b.emit(n.LetScalar(name, b.pick(["0", "1", *b.index_names]), "var"))
        b.scopes[-1].scalars[name] = 4


@feature("view", 0.8)
def view(b):
    """Part of an input with bounds of its own."""
    shape = (b.extent(), b.extent())
    format = b.stored_format(shape)
    if b.size(shape) > b.threads * 32:
        return False
    packed = FORMATS[format].packed
    extents = [b.dimension(3), b.dimension(b.value(shape[0]) * 2), b.dimension(b.value(shape[1]) * 2)]
    tensor = b.tensor("X", format, extents, data=b.data_kind(format))
    name = b.name("w")
    index = b.pick(b.index_names)
    cut = lambda e, first: b.pick([None, ("0", str(b.value(e) + 3)), (first, e), ("0", f"{index} * 8 + 5")])  # noqa: E731
    b.emit(n.View(name, tensor.name, [index, cut(shape[0], "1"), cut(shape[1], "2" if packed else "1")]))
    tile = b.declare(b.pick(["shared", "fragment"]), format, shape)
    starts = [b.origin(shape[0], True)[0], b.origin(shape[1], True, packed)[0]]
    b.emit(n.Copy(n.Region(name, starts), n.Ref(tile.name), copy_notes(b)))
    tile.ready = True


@feature("assert", 0.2)
def assertion(b):
    """Does nothing, or is tested."""
    names = b.scalars()
    if not names:
        return False
    name = b.pick(list(names))
    b.emit(n.Assert(b.pick([f"{name} >= -1000000", f"{name} < 1000000 || {name} == 7", f"{name} * {name} >= 0"])))


@feature("assume", 0.3)
def assumption(b):
    """A fact that holds."""
    names = b.scalars()
    if not names:
        return False
    name = b.pick(list(names))
    facts = [f"{name} >= 0", f"{name} < 1000", f"{name} * 3 != 1", f"{name} < {names[name] + 8}", "num_threads() % 32 == 0"]
    b.emit(n.Assume(b.pick(facts)))


@feature("element", 0.6)
def element(b):
    """A scalar read from memory, in a branch or a subscript."""
    tensor = n.Tensor(b.name("S"), "i32", [b.dimension(4)], data="few")
    b.program.arguments.append(tensor)
    name = b.name("e")
    b.emit(n.ReadScalar(name, n.Region(tensor.name, [b.pick(list(b.scalars()) or ["0"])])))
    b.scopes[-1].scalars[name] = 4
