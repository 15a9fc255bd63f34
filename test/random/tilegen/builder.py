"""A program under construction: names, scopes, tensors, and draws that every feature needs.

Whatever a feature draws is legal by construction: buffers are written before they are read, blocks write regions of their own,
subscripts of buffers stay inside. What cannot be excluded by construction (signed overflow, say) the interpreter notices; such a
program is drawn again.
"""
import math
import random
import re
from dataclasses import dataclass, field

from . import nodes as n, requirements
from .formats import FORMATS

EXTENTS = [1, 2, 4, 8, 8, 16, 16, 16, 32, 32, 32, 64, 64, 64, 128, 128, 256]
ODD_EXTENTS = [3, 5, 7, 9, 12, 20, 24, 33, 40, 48, 65, 80, 96, 100]
THREADS = [32, 64, 96, 128, 128, 128, 128, 160, 192, 256, 256, 256, 384, 512]
# What not every program may use, so that a refusal of one does not hide the rest: (name, probability).
RARE = {"eight bits": 0.12, "four bits": 0.12, "fragments in products": 0.5, "division": 0.3}
MOST_ELEMENTS = 1 << 23  # of a tensor: the interpreter has several numbers for each
PACKED = ["u4", "i4", "e2m1"]
HINTS = ["evict_first", "evict_last", "no_allocate"]  # of `@cache`
COMPUTED = ["f32", "f32", "f32", "f16", "f16", "bf16", "i32", "i8", "u8", "i16", "u16", "u32", "f64", "i64", "u64"]


@dataclass
class TileInfo:
    name: str
    scope: str  # shared, fragment, let
    format: str
    shape: tuple  # names of extents
    ready: bool = True
    fixed: bool = False  # not to be written: a `let`, or an operand of what goes on


@dataclass
class Dimension:
    """How a dimension's extents are drawn: near a number, or few of them."""

    near: int
    grid: bool = False
    even: bool = False  # the last one of a tensor of packed elements


@dataclass
class Scope:
    tiles: list = field(default_factory=list)
    scalars: dict = field(default_factory=dict)  # name -> largest value


class Builder:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.program = n.Program({}, [], [], [], [])
        self.dimensions = {}  # name -> Dimension
        self.counters = {}
        self.scopes = []
        self.body = None
        self.depth = 0
        self.trips = 1  # how often the present place runs
        self.work = 0  # multiply-adds so far
        self.threads = 128
        self.index_names = []
        self.natural = {}  # extent -> (index, dimension) that tile a whole tensor by it
        self.allowed = {name for name, probability in RARE.items() if self.chance(probability)}
        self.stored = COMPUTED + (["e4m3", "e5m2"] if "eight bits" in self.allowed else [])
        self.packed = []
        if "four bits" in self.allowed:
            self.allow_packed()
        self.infos = {}  # tiles by name, whether in scope or not
        self.results = {}  # formats of scalars that atomics of block code return
        self.indices = set()  # names of tiles that hold indices
        self.own = []  # inout tensors with a region for each block
        self.bounded = False  # what is loaded mostly comes from views with bounds of their own
        self.element_leaf = None  # in a `parallel` loop: draws an operand of a format

    def allow_packed(self):
        if not self.packed:
            self.packed = PACKED
            self.stored = self.stored + PACKED

    # --- draws

    def chance(self, probability):
        return self.random.random() < probability

    def rarely(self, name, probability):
        """Whether to draw what has no function of its own in the table; it is counted under its name."""
        if self.chance(probability):
            self.note(name)
            return True
        return False

    def stages(self, usual, kind="pipelined"):
        """Of a pipelined loop; now and then more than its iterations or the memory can use."""
        many = kind == "pipelined" and self.rarely("many stages", 0.07)
        return self.pick([6, 7, 8, 12, 16, 33, 64] if many else usual)

    def pick(self, items):
        return self.random.choice(list(items))

    def weighted(self, pairs):
        total = sum(weight for _, weight in pairs)
        at = self.random.random() * total
        for item, weight in pairs:
            at -= weight
            if at < 0:
                return item
        return pairs[-1][0]

    def name(self, prefix):
        """A new name that begins so and is no type."""
        self.counters[prefix] = self.counters.get(prefix, -1) + 1
        name = f"{prefix}{self.counters[prefix]}"
        return self.name(prefix) if name in FORMATS else name

    def note(self, feature):
        if feature not in self.program.features:
            self.program.features.append(feature)

    # --- extents

    def extent(self, value=None, among=None):
        """The name of a compile-time parameter with this value, or a drawn one."""
        if value is None:
            if self.program.params and self.chance(0.5):
                fitting = [k for k, v in self.program.params.items() if among is None or v in among]
                if fitting:
                    return self.pick(fitting)
            value = self.pick(among or (EXTENTS if self.chance(0.75) else ODD_EXTENTS))
        same = [k for k, v in self.program.params.items() if v == value]
        if same and self.chance(0.7):
            return same[0]
        name = self.name("E")
        self.program.params[name] = value
        return name

    def size(self, shape):
        result = 1
        for e in shape:
            result *= self.value(e)
        return result

    def value(self, extent):
        return int(extent) if extent.isdigit() else self.program.params[extent]

    def shape(self, limit=None):
        """A shape of rank 1 or 2 (rarely 3), of at most `limit` elements."""
        limit = limit or self.threads * 32
        rank = self.weighted([(1, 2), (2, 7), (3, 0.5)])
        for _ in range(50):
            shape = tuple(self.extent() for _ in range(rank))
            if self.size(shape) <= limit:
                return shape
        return (self.extent(8),) * rank

    def fits(self, format, shape):
        """Rows of packed elements are whole bytes."""
        return not FORMATS[format].packed or self.value(shape[-1]) % 2 == 0

    def stored_format(self, shape):
        """A format in which a tile of this shape may lie in memory."""
        return self.pick([f for f in self.stored if self.fits(f, shape)])

    # --- scopes

    def tiles(self, test=lambda t: True):
        return [t for scope in self.scopes for t in scope.tiles if t.ready and test(t)]

    def divided(self, code):
        """Now and then what a number of the host leaves of code that is not negative, or its quotient."""
        dims = sorted({e for t in self.program.tensors() for e in t.extents if re.fullmatch(r"D\d+", e)})
        if not dims or not self.chance(0.12):
            return code
        return f"({code}) {self.pick('/%')} ({self.pick(dims)} + {self.pick([1, 2, 5])})"

    def scalars(self):
        return {k: v for scope in self.scopes for k, v in scope.scalars.items()}

    def add_tile(self, scope, format, shape, ready=True, fixed=False, prefix=None):
        info = TileInfo(self.name(prefix or {"shared": "s", "fragment": "f", "let": "t"}[scope]), scope, format, tuple(shape), ready, fixed)
        self.scopes[-1].tiles.append(info)
        self.infos[info.name] = info
        return info

    def emit(self, statement):
        if hasattr(statement, "hint") and self.chance(0.06):
            statement.hint = self.pick(HINTS)
            self.note("cache")
        if hasattr(statement, "require") and self.rarely("@require", 0.006):
            statement.require = requirements.drawn(self, statement)
        self.body.append(statement)

    def inside(self, draw, trips=1, scalars=None):
        """Runs `draw` with an empty body in a scope of its own; returns the body."""
        saved, self.body = self.body, []
        ready = [(t, t.ready) for scope in self.scopes for t in scope.tiles]
        self.scopes.append(Scope(scalars=dict(scalars or {})))
        self.trips *= max(trips, 1)
        self.depth += 1
        draw()
        self.depth -= 1
        self.trips //= max(trips, 1)
        self.scopes.pop()
        for t, before in ready:
            t.ready = before
        body, self.body = self.body, saved
        return body

    def declare(self, scope, format, shape, init=None, prefix=None):
        tile = self.add_tile(scope, format, shape, ready=init is not None, prefix=prefix)
        layout = ""
        if scope == "shared" and self.chance(0.04):
            layout = self.pick(["row_major", "swizzle(32)", "swizzle(64)", "swizzle(128)", "padded(8)"])
            self.note("layout")
        self.emit(n.Declare(scope, tile.name, format, list(shape), init, layout))
        return tile

    # --- global memory

    def dimension(self, near, grid=False):
        name = self.name("G" if grid else "D")
        self.dimensions[name] = Dimension(near, grid)
        return name

    def origin(self, extent, span, even=False):
        """A start along a dimension in which tiles of `extent` lie, and how far the starts reach."""
        scalars = self.scalars()
        terms, reach = [], 0
        for name, most in scalars.items():
            if self.chance(0.5 if name in self.index_names else 0.6):
                terms.append(f"{name} * {extent}" if self.chance(0.85) else f"{name} * 2" if even else name)
                reach += most * self.value(extent)
        if self.chance(0.15):
            shift = self.pick([2, 4, 6, 8, 16, 30] if even else [1, 2, 3, 4, 8, 16])
            terms.append(str(shift))
            reach += shift
        if span and self.chance(0.02):
            terms.append("-4" if even else "-3")
        return " + ".join(terms).replace("+ -", "- ") if terms else "0", reach

    def input_region(self, format, shape, same=None):
        """A place in an input tensor from which a tile of this shape can be copied."""
        packed = FORMATS[format].packed
        starts = [self.origin(e, True, packed and i + 1 == len(shape)) for i, e in enumerate(shape)]
        lead = []
        if self.chance(0.12):
            index = self.pick(list(self.scalars()) or ["0"])
            lead = [(index, self.scalars().get(index, 0))]
        reached = [most + 1 for _, most in lead] + [reach + self.value(e) for (_, reach), e in zip(starts, shape)]
        if math.prod(reached) > MOST_ELEMENTS:
            lead, starts = [], [("0", 0)] * len(shape)
        known = [
            t
            for t in self.program.tensors()
            if not t.direction and t.format == format and len(t.extents) == len(lead) + len(shape) and all(e in self.dimensions for e in t.extents)
        ]
        if known and self.chance(0.4):
            tensor = self.pick(known)
        else:
            extents = [self.dimension(most + 1) for _, most in lead]
            for (_, reach), e in zip(starts, shape):
                near = reach + self.value(e)
                alike = [k for k, d in self.dimensions.items() if d.near == near and not d.grid]
                extents.append(self.pick(alike) if alike and self.chance(0.4) else self.dimension(near))
            tensor = self.tensor("X", format, extents, data=self.data_kind(format))
        subscripts = [i for i, _ in lead] + [s for s, _ in starts]
        if not lead and self.chance(0.1) and len(shape) == 2:
            subscripts = [(s, e) for (s, _), e in zip(starts, shape)]
        return n.Region(tensor.name, subscripts)

    def tensor(self, prefix, format, extents, direction="", **more):
        """A new one; rows of packed elements are whole bytes."""
        tensor = n.Tensor(self.name(prefix), format, extents, direction, **more)
        self.program.arguments.append(tensor)
        if FORMATS[format].packed and extents[-1] in self.dimensions:
            self.dimensions[extents[-1]].even = True
        return tensor

    def data_kind(self, format):
        if FORMATS[format].is_float:  # sums of 16 bits show where they are rounded too early
            return self.weighted([("small", 6), ("normal", 5 if FORMATS[format].bits == 16 else 3), ("special", 0.7)])
        return self.weighted([("small", 7), ("edges", 0.7), ("zeros", 0.6)])

    def output_region(self, format, shape):
        """A place of its own for each block, in a new tensor."""
        tiled = [self.natural.get(e) for e in shape]
        if len(shape) == len(self.index_names) and all(tiled) and len({t[0] for t in tiled}) == len(tiled) and self.chance(0.8):
            tensor = self.tensor("Y", format, [d for _, d in tiled], "out")
            return n.Region(tensor.name, [f"{index} * {e}" for (index, _), e in zip(tiled, shape)])
        blocks = self.index_names
        extents = [self.grid_dimension(i) for i in blocks]
        inner = []
        for e in shape:
            if self.chance(0.5):
                inner.append(e)
            else:
                inner.append(self.dimension(self.value(e)))
        tensor = self.tensor("Y", format, extents + inner, "out")
        return n.Region(tensor.name, list(blocks) + ["0"] * len(shape))

    def grid_dimension(self, index):
        """An extent that covers all values of a block index, as text."""
        return self.grid[index]

    def literal(self, format, small=True):
        fmt = FORMATS[format]
        if fmt.kind == "b":
            return n.Lit(self.chance(0.5), "bool")
        if not small and not fmt.only_stores and self.rarely("min_value, max_value", 0.12):
            return n.Limit(self.pick(["min_value", "max_value"]), format)
        if not fmt.is_float:
            low, high = fmt.range
            if not small and self.chance(0.15):
                self.note("edges")
                return n.Lit(self.pick([low, high, high - 1, low + 1]), format)
            return n.Lit(max(self.pick([0, 1, 1, 2, 3, 5, -1, -2]), low), format)
        if not small and self.chance(0.1):
            self.note("edges")
            edge = [0.0, float("inf"), float("-inf"), fmt.largest, 2.0**fmt.least, 2.0 ** (fmt.least - fmt.precision + 1)]
            value = self.pick(edge)
            return n.Lit(value, format)
        return n.Lit(self.pick([0.0, 1.0, 0.5, 2.0, -1.0, -0.5, 3.0, 0.25, -2.0]), format)
