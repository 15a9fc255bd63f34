"""`parallel` loops over tiles and lists of extents. No iteration reads what another writes: what the loop writes to, it reads at the
subscripts of the write alone."""
from dataclasses import dataclass

from . import atomics, elements as e, functions, nodes as n, swaps
from .expressions import expression
from .features import feature
from .formats import FORMATS


class Draw:
    """One loop under construction."""

    def __init__(self, b, extents, written):
        self.b, self.extents, self.written = b, extents, written
        self.variables = [b.name("p") for _ in extents]
        self.counters = []  # of inner loops
        self.locals = []  # (name, format, is a variable)

    # --- indices

    def inside(self, extent):
        """A subscript that is never out of a dimension of this extent."""
        b, size = self.b, self.b.value(extent)
        own = [v for v, x in zip(self.variables, self.extents) if b.value(x) <= size]
        if own and b.chance(0.6):
            v = b.pick(own)
            limit = b.value(self.extents[self.variables.index(v)])
            return v if b.chance(0.6) else f"{limit - 1} - {v}"
        term = b.pick(self.variables + self.counters)
        if b.chance(0.15):
            return str(b.random.randrange(size))
        return f"({b.divided(f'{term} * {b.pick([1, 1, 2, 3, 5])} + {b.pick([0, 1, 4])}')}) % {extent}"

    def condition(self):
        b, v = self.b, self.b.pick(self.variables + self.counters)
        kinds = [f"{v} % {b.pick([2, 3])} == 0", f"{v} >= {b.pick([1, 2, 5, 16])}", f"{v} < {b.pick([1, 4, 7, 20])}"]
        if len(self.variables) > 1:
            kinds += [f"{self.variables[0]} >= {self.variables[1]}", f"{self.variables[1]} > {self.variables[0]} + 1"]
            kinds += [f"{self.variables[0]} == {self.variables[1]}", f"{self.variables[0]} % 8 != {self.variables[1]} % 8"]
        if b.chance(0.3):
            return b.pick([" && ", " || "]).join(f"({self.comparison(v)})" for _ in range(b.pick([2, 2, 3])))
        return b.pick(kinds)

    def comparison(self, place):
        """Of this index with a bound: several may become one."""
        b = self.b
        bound = b.pick([str(b.pick([0, 1, 5, 16, 20])), b.pick(self.variables + self.counters) + b.pick([" + 2", " - 3", ""])])
        sides = [place, bound] if b.chance(0.7) else [bound, place]
        return b.pick([" < ", " <= ", " > ", " >= "]).join(sides)

    # --- operands

    def leaf(self, format):
        b = self.b
        own = [name for name, f, _ in self.locals if f == format]
        if own and b.chance(0.4):
            return e.Local(b.pick(own))
        tiles = b.tiles(lambda t: t.format == format and t.name not in self.written)
        if tiles and b.chance(0.75):
            tile = b.pick(tiles)
            same = [self.variables[self.extents.index(x)] for x in tile.shape if x in self.extents]
            if len(set(same)) == len(tile.shape) and b.chance(0.6):
                return e.ElementOf(tile.name, same)
            return e.ElementOf(tile.name, [self.inside(x) for x in tile.shape])
        mine = [t for t, subscripts in self.written.values() if t.format == format and t.ready]
        if mine and b.chance(0.6):
            tile = b.pick(mine)
            return e.ElementOf(tile.name, self.written[tile.name][1])
        if not FORMATS[format].only_stores and format != "bool" and b.chance(0.15):
            return functions.from_table(b, format, e.Number(b.pick(self.variables + self.counters), "i32"))
        if b.chance(0.5) and not FORMATS[format].only_stores and format != "bool":
            return e.Number(b.pick(self.variables + self.counters), format)
        return self.tensor_element(format)

    def tensor_element(self, format):
        """Of an input, also outside of it."""
        b = self.b
        terms, extents = [], []
        for v, x in zip(self.variables, self.extents):
            if b.chance(0.75):
                terms.append(b.pick([v, v, f"{v} + {b.pick(b.index_names)} * {x}", f"{v} * 2", f"{v} - 3", f"{b.value(x)} - {v}"]))
                extents.append(b.dimension(b.value(x) * 2))
        if not terms:
            terms, extents = [b.pick(b.index_names)], [b.dimension(3)]
        if b.chance(0.3):
            terms, extents = terms[::-1], extents[::-1]
        tensor = b.tensor("X", format, extents, data=b.data_kind(format))
        return e.ElementOf(tensor.name, terms)

    def value(self, format, depth=2):
        b = self.b
        b.element_leaf, b.allowed, before = self.leaf, b.allowed - {"division"}, b.allowed
        result = expression(b, format, self.extents, depth)
        b.element_leaf, b.allowed = None, before
        return result

    # --- statements

    def body(self, count, depth):
        b, known = self.b, len(self.locals)
        result = [s for _ in range(count) for s in self.statement(depth)]
        del self.locals[known:]
        return result

    def statement(self, depth):
        b = self.b
        kind = b.weighted([("put", 6), ("let", 2), ("atomic", 0.4), ("swap", 0.3), ("where", 2.5 if depth < 2 else 0), ("times", 1.2 if depth < 2 and not self.counters else 0)])
        if kind == "let":
            format = b.pick(["f32", "i32", "f16"])
            value, name = self.value(format), b.name("a")
            self.locals.append((name, format, False))
            return [e.LetLocal(name, format, value)]
        if kind == "atomic":
            b.note("atomic")
            return [atomics.in_loop(self)]
        if kind == "swap":
            return [swaps.in_loop(self)]
        if kind == "where":
            condition = e.Holds(self.condition())
            then = self.body(b.pick([1, 2]), depth + 1)
            return [e.Where(condition, then, self.body(1, depth + 1) if b.chance(0.4) else [])]
        if kind == "times":
            return self.times(depth)
        if not self.written:
            return []
        tile, subscripts = b.pick(self.written.values())
        put = e.Put(e.ElementOf(tile.name, subscripts), self.value(tile.format))
        return [put]

    def times(self, depth):
        b = self.b
        format, name, counter = b.pick(["f32", "i32", "u32"]), b.name("a"), b.name("n")
        start = e.LetLocal(name, format, b.literal(format), "var")
        end = b.pick(["3", "5", f"{b.pick(self.variables)} % 6", f"{b.pick(self.variables)} % 4 + 1"])
        self.locals.append((name, format, True))
        self.counters.append(counter)
        body = [e.SetLocal(name, n.Binary(b.pick("+-"), e.Local(name), self.value(format, 1)))]
        if b.chance(0.4):
            body.insert(b.pick([0, 1]), e.Leave(b.pick(["break", "continue"]), e.Holds(self.condition())))
        if b.chance(0.3):
            body = [e.Where(e.Holds(self.condition()), body)]
        self.counters.pop()
        return [start, e.Times(counter, b.pick(["0", "0", "1"]), end, body)]


@feature("parallel", 3)
def parallel(b):
    tiles = b.tiles(lambda t: len(t.shape) <= 3)
    targets = b.tiles(lambda t: not t.fixed and t.scope != "let" and t.format != "bool" and len(set(t.shape)) == len(t.shape))
    if not tiles:
        return False
    if targets and b.chance(0.7):
        extents, over = b.pick(targets).shape, None
    else:
        extents, over = b.pick(tiles).shape, None
    if len({b.value(x) for x in extents}) != len(extents) and b.chance(0.5):
        return False
    extents = list(extents)
    if b.size(extents) > b.threads * 24:
        return False
    draw = Draw(b, extents, {})
    # What it writes: tiles of these extents, in any order, and an output of its own.
    for tile in targets:
        if FORMATS[tile.format].packed and tile.shape[-1] != extents[-1]:
            continue  # the last variable runs along the rows
        if sorted(tile.shape) == sorted(extents) and len(set(extents)) == len(extents) and len(draw.written) < 2 and b.chance(0.6):
            draw.written[tile.name] = (tile, [draw.variables[extents.index(x)] for x in tile.shape])
            over = tile.name if list(tile.shape) == extents and b.chance(0.6) else over
    if not draw.written or b.chance(0.3):
        draw.written.update(output(b, draw))
    body = [s for s in draw.body(b.pick([1, 2, 3]), 0)]
    if not any(isinstance(x, e.Put) for x in n.walk(body)):
        return False
    b.emit(e.Parallel(draw.variables, over or "", extents, body))


@dataclass
class Output:
    """A tensor that is written element by element, and never read."""

    name: str
    format: str
    ready: bool = False


def output(b, draw):
    format = b.pick(["f32", "f32", "i32", "f16", "u8"])
    order = list(range(len(draw.extents)))
    b.random.shuffle(order)
    extents = [b.grid_dimension(i) for i in b.index_names] + [draw.extents[i] for i in order]
    tensor = n.Tensor(b.name("Y"), format, extents, "out", strided=b.chance(0.2))
    b.program.arguments.append(tensor)
    subscripts = list(b.index_names)
    for i in order:
        size = b.value(draw.extents[i])
        subscripts.append(draw.variables[i] if b.chance(0.7) else f"{size - 1} - {draw.variables[i]}")
    return {tensor.name: (Output(tensor.name, format), subscripts)}
