"""Regions of single threads: their nodes, and how they are drawn.

A thread's number is a name of its own in each; scalar expressions are those of tiles, over one number for each thread. What may race
is excluded by construction: between two barriers a buffer is either read anywhere, or written by each thread in places of its own.
"""
from dataclasses import dataclass, field

from . import atomics, swaps
from . import nodes as n
from .builder import COMPUTED, Scope, TileInfo
from .expressions import expression
from .features import feature
from .formats import FORMATS
from .nodes import hinted, indented, strip

# --- expressions


@dataclass
class Item:
    """An element, or `count` neighbours along the last dimension."""

    buffer: str
    subscripts: list  # text
    count: int = 0

    def text(self):
        last = f" :+ {self.count}" if self.count else ""
        return f"{self.buffer}[{', '.join(self.subscripts)}{last}]"


@dataclass
class OfVector:
    """An element of a `vec`, or what a reduction makes of it."""

    vector: str
    count: int
    what: str  # text of the position, or the name of a function

    def text(self):
        return f"{self.what}({self.vector})" if self.what.startswith("reduce") else f"{self.vector}[{self.what}]"


@dataclass
class OfWarp:
    """An operation among lanes: of a number in groups of `width`, or by a lane that is text."""

    function: str
    x: object
    width: int = 32
    lane: str = ""
    keywords: dict = field(default_factory=dict)  # of a scan: reverse, exclusive

    def text(self):
        if self.lane:
            return f"{self.function}({self.x.text()}, {self.lane})"
        width = f", width = {self.width}" if self.width != 32 else ""
        keywords = "".join(f", {word} = {str(value).lower()}" for word, value in self.keywords.items())
        return f"{self.function}({strip(self.x.text())}{width}{keywords})"


@dataclass
class Ballot:
    """Of a condition that is text."""

    condition: str

    def text(self):
        return f"ballot({self.condition})"


# --- statements


@hinted
@dataclass
class Threads:
    in_place = True  # it stays out of functions
    axes: list  # (name, extent)
    number: str
    body: list

    def lines(self):
        stride, terms = 1, []
        for name, extent in self.axes:
            terms.append(name if stride == 1 else f"{name} * {stride}")
            stride *= extent
        yield f"threads({', '.join(f'{name}: {extent}' for name, extent in self.axes)}) {{"
        yield f"    let {self.number} = {' + '.join(terms)};"
        yield from indented(self.body)
        yield "}"


@dataclass
class OwnArray:
    """A `local` array, in block code."""

    in_place = True
    name: str
    format: str
    shape: list
    init: object

    def lines(self):
        shape = f"[{', '.join(self.shape)}]" if self.shape else ""
        yield f"local {self.name}: {self.format}{shape} = {strip(self.init.text())};"


@dataclass
class OwnLet:
    """A `let` or `var` of each thread; with a count it is a `vec`."""

    name: str
    format: str
    value: object
    count: int = 0
    word: str = "let"

    def lines(self):
        type = f"vec<{self.format}>[{self.count}]" if self.count else self.format
        yield f"{self.word} {self.name}: {type} = {strip(self.value.text())};"


@dataclass
class OwnSet:
    name: str
    op: str
    value: object

    def lines(self):
        yield f"{self.name} {self.op} {strip(self.value.text())};"


@dataclass
class ItemSet:
    item: Item
    op: str
    value: object

    def lines(self):
        yield f"{self.item.text()} {self.op} {strip(self.value.text())};"


@dataclass
class OwnIf:
    """Under a condition of the threads' own, which is text."""

    condition: str
    then: list
    otherwise: list = field(default_factory=list)

    def lines(self):
        yield from n.If(self.condition, self.then, self.otherwise).lines()


@dataclass
class Strided:
    """The numbers below `count` that are this thread's: its own, and each so many threads later."""

    variable: str
    start: str
    count: int
    threads: int
    body: list
    factor: int = 0
    counted: bool = False  # the threads by `num_threads()`

    def lines(self):
        bounds = f"{self.start}..{self.count} step {'num_threads()' if self.counted else self.threads}"
        yield f"for {self.variable} in {f'unrolled({bounds}, factor = {self.factor})' if self.factor else bounds} {{"
        yield from indented(self.body)
        yield "}"


@dataclass
class Counted:
    """A loop of all threads alike, which a thread may leave at `leave` or where it skips what follows `skip` (text, or empty)."""

    variable: str
    trips: str
    body: list
    factor: int = 0
    word: str = ""  # break or continue
    condition: str = ""

    def lines(self):
        bounds = f"0..{self.trips}"
        yield f"for {self.variable} in {f'unrolled({bounds}, factor = {self.factor})' if self.factor else bounds} {{"
        if self.word:
            yield f"    if {self.condition} {{ {self.word}; }}"
        yield from indented(self.body)
        yield "}"


@dataclass
class Barrier:
    def lines(self):
        yield "sync_threads();"


# --- drawing

WIDTHS = [32, 32, 16, 8, 4, 2]
WARP_SCANS = ["warp_scan_sum", "warp_scan_sum", "warp_scan_max", "warp_scan_min", "warp_scan_prod"]
FORMATS_IN_REGIONS = ["f32", "f32", "f16", "bf16", "i32", "i32", "u32", "u8", "i16", "f64", "i64", "u16"]


class Region:
    """A region under construction. In it a builder sees the threads' own numbers only."""

    def __init__(self, b):
        self.b, self.threads = b, b.threads
        self.read, self.written = set(), set()  # buffers since the last barrier
        self.shared = b.tiles(lambda t: t.scope == "shared" and not t.fixed and t.format != "bool" and not FORMATS[t.format].only_stores)
        self.readable = b.tiles(lambda t: t.scope == "shared" and t.format != "bool" and not FORMATS[t.format].only_stores)
        self.arrays, self.ints, self.conditional = [], [], False
        self.own = str(self.threads)
        self.uniform = list(b.scalars())

    def number(self, format, depth=2):
        """An expression of the threads' own numbers; now and then one of them is drawn before."""
        if self.b.chance(0.3):
            self.let(self.b.pick(FORMATS_IN_REGIONS))
        return expression(self.b, format, (self.own,), depth=depth)

    def add(self, format, count=0, prefix="p"):
        shape = (str(self.threads * count) if count else self.own,)
        info = TileInfo(self.b.name(prefix), "own", format, shape)
        self.b.scopes[-1].tiles.append(info)
        return info

    def index(self, terms=None):
        """A number of the thread's own, not negative."""
        b = self.b
        name = b.pick(terms or self.ints)
        code = b.pick([name, name, f"{name} * {b.pick([2, 3, 4, 5])}", f"{name} / {b.pick([2, 3, 32])}", f"({name} ^ {b.pick([1, 3, 16])})"])
        if b.chance(0.3):
            code += f" + {b.pick([1, 2, 7] + [u for u in self.uniform])}"
        if b.rarely("num_threads()", 0.02):
            code = f"{b.pick(self.uniform or ['1'])} * num_threads() + {code}"
        return code

    def inside(self, extent):
        return f"({self.b.divided(self.index())}) % {extent}"

    # --- what a thread reads

    def element(self):
        """(format, expression) of one element of memory, or nothing."""
        b = self.b
        tiles = [t for t in self.readable if t.name not in self.written]
        kind = b.pick(["input", "shared", "array"])
        if kind == "shared" and tiles:
            tile = b.pick(tiles)
            self.read.add(tile.name)
            return tile.format, Item(tile.name, [self.inside(e) for e in tile.shape])
        if kind == "array" and self.arrays:
            name, format, shape = b.pick(self.arrays)
            return format, Item(name, [self.inside(e) for e in shape]) if shape else n.Ref(name)
        if b.packed and b.chance(0.3):
            return "f32", n.Cast("f32", Item(*self.input(b.pick(b.packed))))
        format = b.pick(FORMATS_IN_REGIONS)
        return format, Item(*self.input(format))

    def input(self, format, stride=1):
        b = self.b
        tensor = b.tensor("X", format, [b.dimension(3), b.dimension(self.threads * stride + 8)], data="small")
        shift = b.pick(["", "", " + 1", " - 2", f" + {4 * stride}"])
        own = b.pick(self.ints)
        return tensor.name, [b.pick(["0", "1", self.index(), *self.uniform]), (f"{own} * {stride}" if stride > 1 else own) + shift]

    def let(self, wanted):
        format, value = self.element()
        info = self.add(format)
        self.b.emit(OwnLet(info.name, format, value))

    def vector(self):
        b = self.b
        format = b.pick(["f32", "f16", "f16", "bf16", "i32", "u8", "f64", "u16"])
        count = b.pick([2, 4, 8, 16 // FORMATS[format].bytes])
        tiles = [t for t in self.readable if t.name not in self.written and b.value(t.shape[-1]) >= 2]
        if tiles and b.chance(0.4):
            tile = b.pick(tiles)
            format, columns = tile.format, b.value(tile.shape[-1])
            count = b.pick([c for c in (2, 4, 8) if c <= columns])
            first = self.index()
            last = f"({first}) % {columns // count} * {count}" if b.chance(0.7) else f"({first}) % {columns - count + 1}"
            self.read.add(tile.name)
            place = Item(tile.name, [self.inside(e) for e in tile.shape[:-1]] + [last], count)
        else:
            name, subscripts = self.input(format, count)
            place = Item(name, subscripts, count)
        if FORMATS[format].kind == "b":
            return
        if b.rarely("neighbours one by one", 0.3):
            self.one_by_one(format, place)
            return
        info = self.add(format, count, "q")
        b.emit(OwnLet(info.name, format, place, count))
        if b.chance(0.6):
            value = expression(b, format, info.shape, depth=b.pick([1, 2]))
            if any(isinstance(x, n.Select) for x in n.walk(value)):
                value = n.Ref(info.name)  # its condition would be a vector
            after = self.add(format, count, "q")
            b.emit(OwnLet(after.name, format, value, count, b.pick(["let", "var"])))
            info = after
        if b.chance(0.4):
            self.store_vector(info, count)
        what = b.pick([str(b.random.randrange(count)), f"{b.pick(self.ints)} % {count}", "reduce_sum", "reduce_max", "reduce_min"])
        if what == "reduce_sum" and not FORMATS[format].is_float:
            what = "reduce_max"
        result = self.add(format)
        b.emit(OwnLet(result.name, format, OfVector(info.name, count, what)))

    def one_by_one(self, format, place):
        """The neighbours in any order, as variables of their own; often written side by side, too."""
        b = self.b
        order = list(range(place.count))
        b.random.shuffle(order)
        names = {}
        for e in order:
            names[e] = self.add(format).name
            b.emit(OwnLet(names[e], format, Item(place.buffer, place.subscripts[:-1] + [f"{place.subscripts[-1]} + {e}"])))
        if not self.conditional and b.chance(0.7):
            self.store_elements(format, {e: n.Ref(name) for e, name in names.items()})

    # --- what it writes

    def output(self, format, count):
        b = self.b
        extents = [b.grid_dimension(i) for i in b.index_names]
        tensor = n.Tensor(b.name("Y"), format, extents + [b.dimension(count) if b.chance(0.6) else b.extent(count)], "out")
        b.program.arguments.append(tensor)
        return tensor.name

    def store_vector(self, info, count):
        if self.conditional:
            return
        if self.b.rarely("neighbours one by one", 0.4):
            self.store_elements(info.format, {e: OfVector(info.name, count, str(e)) for e in range(count)})
            return
        name = self.output(info.format, self.threads * count)
        number = self.ints[0]
        self.b.emit(ItemSet(Item(name, list(self.b.index_names) + [f"{number} * {count}"], count), "=", n.Ref(info.name)))

    def store_elements(self, format, values):
        """Neighbours of a row of an output, by their numbers, one by one in any order."""
        b = self.b
        name, order = self.output(format, self.threads * len(values)), list(values)
        b.random.shuffle(order)
        for e in order:
            place = list(b.index_names) + [f"{self.ints[0]} * {len(values)} + {e}"]
            b.emit(ItemSet(Item(name, place), "=", values[e]))

    def store(self):
        """Each thread its share of a buffer, or of an output."""
        b = self.b
        targets = [t for t in self.shared if t.name not in self.read and t.name not in self.written]
        if targets and b.chance(0.6):
            tile = b.pick(targets)
            shape = [b.value(e) for e in tile.shape]
            format, name, lead = tile.format, tile.name, []
        else:
            tile, format = None, b.pick(FORMATS_IN_REGIONS)
            shape = [b.pick([self.threads, self.threads // 2 + 3, self.threads * 2 + 1])]
            name, lead = self.output(format, shape[0]), list(b.index_names)
        count = 1
        for extent in shape:
            count *= extent
        variable = b.name("j")
        place, rest = [], variable
        for at, extent in enumerate(shape):
            below = 1
            for inner in shape[at + 1 :]:
                below *= inner
            code = rest if below == 1 else f"{rest} / {below}"
            place.append(f"{code} % {extent}" if at > 0 else code)

        def draw():
            item = Item(name, lead + place)
            if tile:
                self.written.add(name)
            op = "+=" if tile and FORMATS[format].kind in "fu" and b.chance(0.3) else "="
            b.emit(ItemSet(item, op, self.number(format)))

        self.ints.append(variable)
        body = b.inside(draw, 1, {})
        self.ints.pop()
        b.emit(Strided(variable, self.ints[0], count, self.threads, body, b.pick([0, 0, 2, 3, 4]), b.rarely("num_threads()", 0.15)))

    # --- control

    def condition(self):
        b = self.b
        name = b.pick(self.ints)
        return b.pick([f"{name} % 3 == {b.pick([0, 1, 2])}", f"{name} < {b.pick([1, 20, 32, 40])}", f"({name} & 5) != 0", f"{name} / 32 == {b.pick([0, 1])}"])

    def change(self, variables):
        b = self.b
        variable = b.pick(variables)
        op = b.pick(["=", "+=", "-=", "*="] if FORMATS[variable.format].is_float else ["=", "+=", "^=", "|="])
        b.emit(OwnSet(variable.name, op, self.number(variable.format, 1)))

    def array_set(self):
        b = self.b
        name, format, shape = b.pick(self.arrays)
        value = self.number(format, 1)
        if shape:
            b.emit(ItemSet(Item(name, [self.inside(e) for e in shape]), "=", value))
        else:
            b.emit(OwnSet(name, "=", value))

    def changes(self, variables, count):
        for _ in range(count):
            if self.arrays and self.b.chance(0.3):
                self.array_set()
            else:
                self.change(variables)

    def flow(self):
        """Variables, changed in loops and branches."""
        b = self.b
        variables = []
        for _ in range(b.pick([1, 1, 2])):
            format = b.pick(FORMATS_IN_REGIONS)
            value = self.number(format, 1)
            variable = self.add(format, prefix="v")
            b.emit(OwnLet(variable.name, format, value, 0, "var"))
            variables.append(variable)
        outer, self.conditional = self.conditional, True
        draw = lambda: self.changes(variables, b.pick([1, 2]))  # noqa: E731
        kind = b.pick(["if", "loop", "loop", "strided"])
        if kind == "if":
            b.emit(OwnIf(self.condition(), b.inside(draw), b.inside(draw) if b.chance(0.5) else []))
        elif kind == "strided":
            name = b.name("j")
            self.ints.append(name)
            count = b.pick([self.threads, self.threads * 2 + 5, self.threads // 2, 7])
            body = b.inside(draw)
            self.ints.pop()
            b.emit(Strided(name, self.ints[0], count, self.threads, body, b.pick([0, 2, 3])))
        else:
            name = b.name("c")
            self.ints.append(name)
            word = b.pick(["", "", "break", "continue"])
            condition = self.condition() if word else ""
            trips = str(b.pick([1, 2, 3, 5])) if b.chance(0.6) else f"{b.pick(self.ints[:1])} % 4 + 1"
            body = b.inside(draw)
            self.ints.pop()
            b.emit(Counted(name, trips, body, 0 if word else b.pick([0, 0, 1, 2, 3, 4]), word, condition))
        self.conditional = outer

    def lanes(self):
        b = self.b
        format = b.pick(["f32", "f32", "i32", "u32", "f64", "u8", "i16", "i64"])
        function = b.pick(["warp_sum", "warp_max", "warp_min", "shuffle", "shuffle_xor", "shuffle_up", "shuffle_down", "ballot", "scan", "scan"])
        if function == "scan":
            return self.lane_scan()
        if function == "ballot":
            info = self.add("u32")
            return b.emit(OwnLet(info.name, "u32", Ballot(self.condition())))
        x = self.number(format)
        if function.startswith("warp"):
            value = OfWarp(function, x, b.pick(WIDTHS))
        else:
            lane = b.pick([str(b.pick([0, 1, 2, 5, 16, 31])), self.index() if function == "shuffle" else "lane() % 4"])
            value = OfWarp(function, x, 32, lane)
        info = self.add(format)
        b.emit(OwnLet(info.name, format, value))

    def lane_scan(self):
        b = self.b
        function = b.pick(WARP_SCANS)
        # A product of many numbers that are no whole ones says little.
        format = b.pick(["u32", "u8", "u16"] if function == "warp_scan_prod" else ["f32", "f32", "f16", "i32", "u32", "f64", "u8", "i16", "i64"])
        keywords = {word: b.chance(0.8) for word in ("reverse", "exclusive") if b.chance(0.4)}
        value = OfWarp(function, self.number(format), b.pick(WIDTHS), keywords=keywords)
        info = self.add(format)
        b.emit(OwnLet(info.name, format, value))

    def atomic(self):
        self.b.note("atomic")
        atomics.in_region(self)

    def swap(self):
        swaps.in_region(self)

    def barrier(self):
        self.read.clear()
        self.written.clear()
        self.b.emit(Barrier())


def axes_of(b):
    ways = [[b.threads], [32, b.threads // 32], [8, b.threads // 8], [2, 16, b.threads // 32], [b.threads // 4, 4], [b.threads // 32, 32]]
    return [(b.name("x"), extent) for extent in b.pick(ways)]


@feature("threads", 2)
def threads(b):
    """A region: elements and neighbours of memory, lanes, arrays, loops and branches; what it did is seen by what follows."""
    if b.depth > 3:
        return False
    arrays = []
    for _ in range(b.pick([0, 0, 1, 1, 2])):
        format, shape = b.pick(FORMATS_IN_REGIONS), b.pick([[], ["3"], ["4"], ["8"], ["2", "3"]])
        name = b.name("l")
        b.emit(OwnArray(name, format, shape, b.literal(format)))
        arrays.append((name, format, shape))
    region = Region(b)
    region.arrays = arrays
    number, axes = b.name("t"), axes_of(b)
    region.ints = [number] + [name for name, _ in axes]
    allowed, scopes = b.allowed, b.scopes
    b.allowed = b.allowed - {"division"}  # by 0 is an error of scalar code
    b.scopes = [Scope(scalars=b.scalars())]

    def draw():
        b.scopes[-1].tiles.append(TileInfo(number, "own", "i32", (region.own,)))
        for _ in range(b.pick([2, 3, 4, 6])):
            b.weighted([(region.store, 3), (lambda: region.let("f32"), 1), (region.flow, 2), (region.lanes, 1.5), (region.vector, 2), (region.barrier, 1), (region.atomic, 0.4), (region.swap, 0.4)])()
        region.store()

    body = b.inside(draw)
    b.allowed, b.scopes = allowed, scopes
    b.emit(Threads(axes, number, body))
    for name, format, shape in arrays:
        if b.chance(0.7) and len(shape) < 2:
            tile = b.add_tile("let", format, [region.own, *shape], fixed=True)
            b.emit(n.Let(tile.name, n.Ref(name)))
