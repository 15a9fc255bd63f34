"""What a region of single threads means: all threads go on together, each statement for those that run it. A number of each thread is
a tile with an element for each; a `vec` has its elements side by side there."""
import numpy as np

from . import atomics, fast_math, swaps
from . import intervals as iv
from . import nodes as n
from .formats import FORMATS
from .intervals import ProgramError, Tile
from .scalars import value_of


def of_all(tile, count):
    return tile.each(lambda x: np.broadcast_to(x, (count,)))


class Region:
    def __init__(self, interpreter, statement):
        self.i, self.s = interpreter, statement
        self.threads = int(np.prod([extent for _, extent in statement.axes]))
        rest = np.arange(self.threads)
        self.ints = {statement.number: rest}
        for name, extent in statement.axes:
            self.ints[name], rest = rest % extent, rest // extent
        self.ints["lane"] = lambda: np.arange(self.threads) % 32

    def run(self):
        number = self.ints[self.s.number]
        self.i.bind_tile(self.s.number, Tile(FORMATS["i32"], number.astype(np.int32)))
        self.block(self.s.body, np.ones(self.threads, bool))

    def block(self, body, active):
        self.i.scopes.append({})
        for statement in body:
            self.i.count()
            getattr(self, "do_" + type(statement).__name__)(statement, active)
        self.i.scopes.pop()

    def whole(self, code):
        """Text over numbers of the threads."""
        try:
            value = value_of(code, {**self.i.scalars, **self.ints})
        except (NameError, ZeroDivisionError) as error:
            raise ProgramError(str(error))
        value = np.broadcast_to(np.asarray(value), (self.threads,))
        if value.dtype != bool and np.any(np.abs(value.astype(np.int64)) >= 2**31):
            raise ProgramError("signed overflow of a subscript")
        return value

    # --- statements

    def do_OwnLet(self, s, active):
        count = self.threads * (s.count or 1)
        self.active = active
        value = of_all(self.evaluate(s.value, s.format), count)
        self.i.bind_tile(s.name, value.each(np.copy))

    def do_OwnSet(self, s, active):
        self.active = active
        scope = self.i.find(s.name)
        old = scope[s.name].tile
        value = self.evaluate(s.value, old.format.name)
        if s.op != "=":
            value = self.i.binary(s.op[:-1], old, value)
        value = of_all(value, self.threads)  # in registers a product may wait for its addition unrounded
        changed = iv.select(Tile(FORMATS["bool"], active), value, old)
        scope[s.name] = type(scope[s.name]).full(changed)

    def do_ItemSet(self, s, active):
        self.active = active
        count = s.item.count or 1
        old = self.item(s.item) if s.op != "=" else None
        value = self.evaluate(s.value, old.format.name if old else None)
        if old:
            value = self.i.binary(s.op[:-1], old, value)
        value = of_all(value.stored(), self.threads * count)
        store, index, inside = self.place(s.item)
        inside = inside & np.repeat(active, count)
        places = np.ravel_multi_index(tuple(at[inside] for at in index), store.tile.shape)
        if len(np.unique(places)) != len(places):
            raise ProgramError("a race")
        store.put(tuple(at[inside] for at in index), value.each(lambda x: x[inside]))

    def do_AtomicOfThread(self, s, active):
        self.active = active
        store, index, inside = self.place(s.place)
        value = of_all(self.evaluate(s.value, store.tile.format.name).stored(), self.threads)
        inside = inside & active
        value = value.each(lambda x: x[inside])
        atomics.exact(store.tile.format.name, s.kind, value)
        atomics.combine(store, tuple(at[inside] for at in index), value, s.kind)

    def do_SwapOfThread(self, s, active):
        self.active = active
        store, index, inside = self.place(s.place)
        value, expected = swaps.operands(s, lambda e: self.evaluate(e, s.format), self.threads)
        old = swaps.swapped(s, store, index, inside & active, value, expected)
        if s.name:
            self.i.bind_tile(s.name, old)

    def do_OwnIf(self, s, active):
        condition = self.whole(s.condition).astype(bool)
        self.block(s.then, active & condition)
        self.block(s.otherwise, active & ~condition)

    def do_Strided(self, s, active):
        first = self.whole(s.start)
        for at in range(0, s.count, s.threads):
            self.ints[s.variable] = first + at
            running = active & (first + at < s.count)
            self.i.scopes.append({})
            self.i.bind_tile(s.variable, Tile(FORMATS["i32"], (first + at).astype(np.int32)))
            self.block(s.body, running)
            self.i.scopes.pop()

    def do_Counted(self, s, active):
        trips, running = self.whole(s.trips), active.copy()
        for at in range(int(trips.max())):
            self.ints[s.variable] = np.full(self.threads, at)
            running = running & (at < trips)
            now = running
            if s.word:
                jumps = self.whole(s.condition).astype(bool)
                now = running & ~jumps
                running = now if s.word == "break" else running
            self.block(s.body, now)

    def do_Barrier(self, s, active):
        pass

    # --- values

    def evaluate(self, e, format):
        """The nodes of regions, and those of tiles."""
        known = getattr(self, "value_of_" + type(e).__name__, None)
        return fast_math.flushed(known(e, format)) if known else self.i.evaluate(e)

    def value_of_Item(self, e, format):
        return self.item(e)

    def value_of_Cast(self, e, format):
        return iv.convert(FORMATS[e.format], self.evaluate(e.x, format).stored())

    def value_of_Ballot(self, e, format):
        condition = self.whole(e.condition).astype(bool).reshape(-1, 32)
        masks = (condition.astype(np.uint64) << np.arange(32, dtype=np.uint64)).sum(axis=1)
        return Tile(FORMATS["u32"], np.repeat(masks, 32).astype(np.uint32))

    def value_of_OfVector(self, e, format):
        vector = self.i.evaluate(n.Ref(e.vector)).each(lambda x: x.reshape(self.threads, e.count))
        if e.what == "reduce_sum":
            return iv.reduce_sum(vector, 1)
        if e.what.startswith("reduce"):
            return iv.reduce_extreme(e.what, vector, 1)
        at = self.whole(e.what)
        return vector.each(lambda x: x[np.arange(self.threads), at])

    def value_of_OfWarp(self, e, format):
        x = of_all(self.evaluate(e.x, format).stored(), self.threads)
        if not e.lane:
            groups = x.each(lambda x: x.reshape(-1, e.width))
            if e.function.startswith("warp_scan"):
                k = e.keywords
                result = iv.scan(e.function.removeprefix("warp_"), groups, 1, k.get("reverse", False), k.get("exclusive", False))
                return result.each(lambda x: x.reshape(-1))
            name = e.function.replace("warp", "reduce")
            result = iv.reduce_sum(groups, 1) if name == "reduce_sum" else iv.reduce_extreme(name, groups, 1)
            return result.each(lambda x: np.repeat(x, e.width))
        number = np.arange(self.threads)
        lane, by = number % 32, self.whole(e.lane)
        source = {"shuffle": by % 32, "shuffle_xor": lane ^ by, "shuffle_up": lane - by, "shuffle_down": lane + by}[e.function]
        source = np.where((source >= 0) & (source < 32), source, lane)
        return x.each(lambda x: x[number - lane + source])

    def place(self, item):
        """(store, an index for each neighbour of each thread, whether it is inside)."""
        count = item.count or 1
        found = self.i.lookup(item.buffer)
        store = getattr(found, "store", found)
        index = [np.repeat(self.whole(code).astype(np.int64), count) for code in item.subscripts]
        index[-1] = index[-1] + np.tile(np.arange(count), self.threads)
        if item.buffer in self.i.own_arrays:
            index.insert(0, np.repeat(np.arange(self.threads), count))
        inside = np.ones(self.threads * count, bool)
        for at, extent in zip(index, store.tile.shape):
            inside &= (at >= 0) & (at < extent)
        if store is found and not np.all(inside | ~np.repeat(self.active, count)):
            raise ProgramError("an index outside of its buffer")
        return store, [np.where(inside, at, 0) for at in index], inside

    def item(self, item):
        store, index, inside = self.place(item)
        inside = inside & np.repeat(self.active, item.count or 1)
        if 0 in store.tile.shape:
            return Tile(store.tile.format, np.zeros(len(inside), store.tile.format.array))
        if not store.written[tuple(index)][inside].all():
            raise ProgramError("reads what nobody wrote")
        return store.tile.each(lambda x: np.where(inside, x[tuple(index)], np.zeros((), x.dtype)))
