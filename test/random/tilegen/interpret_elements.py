"""What `parallel` loops mean: all iterations at once, each value an array over them. Iterations are independent, so that their order
is free."""
import functools

import numpy as np

from . import atomics, swaps
from . import intervals as iv
from .formats import FORMATS
from .intervals import ProgramError, Tile


@functools.lru_cache(maxsize=10000)
def _compiled(code):
    return compile(code.replace("&&", "&").replace("||", "|").replace("/", "//").strip(), "<index>", "eval")


def merged(mask, x, y):
    """x where the mask holds, else y."""
    if x.hi is x.lo and y.hi is y.lo and x.wild is None and y.wild is None:
        return Tile(x.format, np.where(mask, x.lo, y.lo))
    wild = None
    if x.wild is not None or y.wild is not None:
        none = np.zeros(mask.shape, bool)
        wild = np.where(mask, none if x.wild is None else x.wild, none if y.wild is None else y.wild)
    return Tile(x.format, np.where(mask, x.lo, y.lo), np.where(mask, x.hi, y.hi), wild)


class Elements:
    """The part of the interpreter for these nodes: `par` holds the iterations' shape, who takes part, who has left, and names."""

    def do_Parallel(self, s):
        shape = tuple(int(self.number(e)) for e in s.extents)
        self.iterations, self.active, self.left = shape, np.ones(shape, bool), np.zeros(shape, bool)
        self.indices = dict(zip(s.variables, np.indices(shape).astype(np.int64)))
        self.locals = {}
        self.element_block(s.body)

    def element_block(self, body):
        outer = dict(self.locals)
        for statement in body:
            getattr(self, "do_" + type(statement).__name__)(statement)
        self.locals = {name: self.locals[name] for name in outer}

    def whole(self, value):
        """A tile over all iterations."""
        return value.each(lambda x: np.broadcast_to(x, self.iterations))

    def index(self, code):
        """An array of integers, one for each iteration."""
        value = eval(_compiled(code), {"__builtins__": {}}, {**self.scalars, **self.indices})
        value = np.broadcast_to(np.asarray(value, np.int64), self.iterations)
        if np.any(self.active & ((value < -(2**31)) | (value >= 2**31))):
            raise ProgramError("signed overflow of an index")
        return value

    def value_of_Number(self, e):
        return iv.convert(FORMATS[e.format], Tile(FORMATS["i32"], self.index(e.code).astype(np.int32)))

    def value_of_Holds(self, e):
        return Tile(FORMATS["bool"], np.asarray(self.index(f"({e.code}) * 1") != 0))

    def value_of_Local(self, e):
        return self.locals[e.name]

    def _element(self, place):
        """The store, an index of numpy, and in which iterations it is in range."""
        found = self.lookup(place.name)
        store = getattr(found, "store", found)
        at = [self.index(code) for code in place.subscripts]
        inside = np.ones(self.iterations, bool)
        for index, extent in zip(at, store.tile.shape):
            inside &= (index >= 0) & (index < extent)
        if store is found and np.any(self.active & ~inside):
            raise ProgramError("an index outside of a buffer")
        return store, tuple(at), inside

    def value_of_ElementOf(self, e):
        store, at, inside = self._element(e)
        safe = tuple(np.where(inside, index, 0) for index in at)
        if 0 in store.tile.shape:
            raise ProgramError("nothing to read")
        if np.any(self.active & inside & ~store.written[safe]):
            raise ProgramError(f"reads `{e.name}`, which nobody wrote")
        none = np.zeros((), store.tile.lo.dtype)
        return store.tile.each(lambda x: np.where(inside, x[safe], none if x.dtype == none.dtype else False))

    def do_LetLocal(self, s):
        self.locals[s.name] = self.whole(self.evaluate(s.value))

    def do_SetLocal(self, s):
        value = self.whole(self.evaluate(s.value))
        self.locals[s.name] = merged(self.active, value, self.locals[s.name])

    def do_Put(self, s):
        value = self.whole(self.evaluate(s.value))
        store, at, inside = self._element(s.place)
        chosen, is_tile = self.active & inside, self.lookup(s.place.name) is store
        store.put(tuple(index[chosen] for index in at), value.each(lambda x: x[chosen]), waits=is_tile)

    def do_AtomicOfIteration(self, s):
        value = self.whole(self.evaluate(s.value)).stored()
        store, at, inside = self._element(s.place)
        chosen = self.active & inside
        value = value.each(lambda x: x[chosen])
        atomics.exact(store.tile.format.name, s.kind, value)
        atomics.combine(store, tuple(index[chosen] for index in at), value, s.kind)

    def do_SwapOfIteration(self, s):
        store, at, inside = self._element(s.place)
        value, expected = swaps.operands(s, self.evaluate, self.iterations)
        chosen = (self.active & inside).reshape(-1)
        old = swaps.swapped(s, store, tuple(index.reshape(-1) for index in at), chosen, value, expected)
        if s.name:
            self.locals[s.name] = old.each(lambda x: x.reshape(self.iterations))

    def _known(self, condition):
        value = self.whole(self.evaluate(condition))
        if value.wild is not None and np.any(self.active & value.wild):
            raise ProgramError("a condition that is not known")
        return value.lo

    def do_Where(self, s):
        outer, condition = self.active, self._known(s.condition)
        self.active = outer & condition
        self.element_block(s.then)
        self.active = outer & ~condition & ~self.left
        self.element_block(s.otherwise)
        self.active = outer & ~self.left

    def do_Leave(self, s):
        goes = self.active & self._known(s.condition)
        self.left = self.left | goes
        if s.word == "break":
            self.gone = self.gone | goes
        self.active = self.active & ~goes

    def do_Times(self, s):
        outer, start, end = self.active, self.index(s.start), self.index(s.end)
        saved, self.gone = (getattr(self, "gone", None), self.left), np.zeros(self.iterations, bool)
        most = int(np.max(np.where(outer, end - start, 0), initial=0))
        for step in range(most):
            self.active = outer & ~self.gone & (start + step < end)
            self.left = np.zeros(self.iterations, bool)
            self.indices[s.variable] = start + step
            self.element_block(s.body)
        self.indices.pop(s.variable, None)
        (self.gone, self.left), self.active = saved, outer
