"""What a program means, computed with numpy: an implementation of docs/language.md that shares nothing with the compiler."""
import itertools

import numpy as np

from . import atomics, bits, fast_math, float_functions, interpret_threads, prints, swaps
from . import intervals as iv
from . import nodes as n
from .formats import FORMATS
from .gathers import Indices, Renumbered
from .interpret_elements import Elements
from .intervals import ProgramError, Tile
from .parts import Reinterpreted
from .scalars import scalar_integer, value_of
from .windows import Window

STEPS = 20000  # statements of one run


class Store:
    """A tensor, workspace or buffer: its tile, and which elements hold something."""

    def __init__(self, tile, written):
        self.tile, self.written = tile, written

    @classmethod
    def empty(cls, format, shape):
        zeros = np.zeros(shape, format.array)
        return cls(Tile(format, zeros, zeros.copy(), None), np.zeros(shape, bool))

    @classmethod
    def full(cls, tile):
        return cls(tile, np.ones(tile.shape, bool))

    def put(self, index, tile, waits=False):
        """Writes a tile at an index of numpy; in registers (`waits`) a product may wait for its addition unrounded."""
        self._own()
        tile = tile if waits else tile.stored()
        parts = [(self.tile.lo, tile.lo), (self.tile.hi, tile.hi)]
        wild = self.tile.wild
        if tile.wild is not None or wild is not None:
            wild = np.zeros(self.tile.shape, bool) if wild is None else wild.copy()
            parts.append((wild, np.zeros(tile.shape, bool) if tile.wild is None else tile.wild))
        parts.append((self.written, np.ones(tile.shape, bool)))
        for target, source in parts:
            target[index] = source
        self.tile = Tile(self.tile.format, self.tile.lo, self.tile.hi, wild)

    def _own(self):
        """Both ends in arrays of their own that can be written."""
        t = self.tile
        hi = t.hi.copy() if t.hi is t.lo else t.hi
        self.tile = Tile(t.format, t.lo if t.lo.flags.writeable else t.lo.copy(), hi if hi.flags.writeable else hi.copy(), t.wild)


class Jumped(Exception):
    """A `break` or `continue` on its way out; `args` holds the word."""


def _pieces(tiles, axis, piece):
    return [t.each(lambda x: x[(slice(None),) * axis + (piece,)]) for t in tiles]


class Interpreter(Elements):
    def __init__(self, program, dims, inputs, multiprocessors=None, unwritten=None):
        """`inputs` maps tensors to tiles (None for one that holds nothing) and scalars to numbers. Of a device that has so many
        multiprocessors, those of the program without a word. What nobody wrote in a buffer or workspace is an error to read, or is
        `unwritten`, a number or "ones" in all bits."""
        self.program, self.steps, self.unwritten = program, 0, unwritten
        count = multiprocessors or program.multiprocessors
        self.names = {**program.params, **dims, "sm_count": lambda: count, "num_threads": lambda: self.launch.threads}
        self.scopes = [{}]
        self.own_arrays = set()
        self.printed = {}  # (name, block) -> messages
        self.tensors = {}
        for argument in program.arguments:
            if isinstance(argument, n.ScalarArgument):
                self.names[argument.name] = inputs[argument.name]
                continue
            shape = tuple(int(value_of(e, self.names)) for e in argument.extents)
            self.names[argument.name] = not argument.absent
            if argument.same:
                store = self.tensors[argument.same].store
            elif inputs[argument.name] is None:
                store = Store.empty(FORMATS[argument.format], shape)
            else:
                t = inputs[argument.name]
                store = Store.full(Tile(t.format, t.lo.copy()))
            self.tensors[argument.name] = Window.whole(store)

    def run(self):
        with fast_math.within(self.program):
            return self._run()

    def _run(self):
        for s in self.program.host:
            self.names[s.name] = int(value_of(s.code, self.names))
        for w in self.program.workspaces:
            shape = tuple(int(value_of(e, self.names)) for e in w.extents)
            store = self._declared(w.format, shape)
            if w.init is not None:
                store = Store.full(Tile(FORMATS[w.format], np.full(shape, self.evaluate(w.init).lo)))
            self.tensors[w.name] = Window.whole(store)
        for launch in self.program.launches:
            self.launch = launch
            grid = [int(value_of(e, self.names)) for e in launch.grid]
            for point in itertools.product(*(range(e) for e in reversed(grid))):
                self.scopes.append(dict(zip(launch.indices, reversed(point))))
                self._refresh()
                self.block(launch.body)
                self.scopes.pop()
                self._refresh()
        return {t.name: self.tensors[t.name].store for t in self.program.tensors()}

    # --- scopes

    def _refresh(self):
        self.scalars = dict(self.names)
        for scope in self.scopes:
            self.scalars.update((k, v) for k, v in scope.items() if isinstance(v, (int, list)))

    def find(self, name):
        for scope in reversed(self.scopes):
            if name in scope:
                return scope
        raise ProgramError(f"`{name}` is not declared")

    def lookup(self, name):
        for scope in reversed(self.scopes):
            if name in scope:
                return scope[name]
        if name in self.tensors:
            return self.tensors[name]
        raise ProgramError(f"`{name}` is not declared")

    def bind(self, name, value):
        self.scopes[-1][name] = value
        if isinstance(value, (int, list)):
            self.scalars[name] = value

    def bind_tile(self, name, tile):
        self.scopes[-1][name] = Store.full(tile)

    def number(self, code):
        try:
            return value_of(code, self.scalars)
        except (NameError, ZeroDivisionError) as error:
            raise ProgramError(str(error))

    # --- statements

    def block(self, body, bindings=None):
        self.scopes.append(dict(bindings or {}))
        self._refresh()
        for statement in body:
            self.count()
            getattr(self, "do_" + type(statement).__name__)(statement)
        self.scopes.pop()
        self._refresh()

    def count(self):
        self.steps += 1
        if self.steps > STEPS:
            raise ProgramError("too long")

    def _declared(self, format, shape):
        if self.unwritten is None:
            return Store.empty(FORMATS[format], shape)
        value = FORMATS[format].all_ones if self.unwritten == "ones" else self.unwritten
        return Store.full(Tile(FORMATS[format], np.full(shape, value, FORMATS[format].array)))

    def do_Declare(self, s):
        shape = tuple(int(self.number(e)) for e in s.shape)
        store = self._declared(s.format, shape)
        if s.init is not None:
            value = self.evaluate(s.init)
            store.put(..., value.each(lambda x: np.broadcast_to(x, shape)), waits=True)
        self.bind(s.name, store)

    def do_Let(self, s):
        # A value: what is written to a buffer later does not change it.
        self.bind(s.name, Store.full(self.evaluate(s.value).each(np.copy)))

    def do_LetSeveral(self, s):
        for name, value in zip(s.names, self.by_function(s.value)):
            self.bind(name, Store.full(value.each(np.copy)))

    def do_LetScalar(self, s):
        value = int(self.number(s.code))
        if not -(2**31) <= value < 2**31:
            raise ProgramError("signed overflow of a scalar")
        self.bind(s.name, value)

    def do_LetVec(self, s):
        self.bind(s.name, [scalar_integer(self.number(s.code))] * s.count)

    def do_SetScalar(self, s):
        name, _, place = s.name.partition("[")
        scope = self.find(name)
        value = int(self.number(s.code if s.op == "=" else f"{s.name} {s.op[:-1]} ({s.code})"))
        if not -(2**31) <= value < 2**31:
            raise ProgramError("signed overflow of a scalar")
        if place:
            at = int(place[:-1])
            scope[name] = [*scope[name][:at], scalar_integer(value), *scope[name][at + 1:]]
        else:
            scope[name] = value
        self._refresh()

    def do_ReadScalar(self, s):
        window, starts = self.place(s.place)
        tile = window.read(starts, ())
        if not tile.format.is_int or not np.all(tile.known()):
            raise ProgramError("a scalar that is not known")
        self.bind(s.name, int(tile.lo))

    def do_View(self, s):
        ends = lambda x: tuple(int(self.number(end)) for end in x)  # noqa: E731
        subscripts = [None if x is None else self.start(x) if isinstance(x, str) else ends(x) for x in s.subscripts]
        self.bind(s.name, self.lookup(s.of).narrowed(subscripts))

    def do_Copy(self, s):
        if isinstance(s.source, n.Region):
            window, starts = self.place(s.source)
            value = window.read(starts, self.span_of(s.source, starts) or self.shape_of(s.target))
            value = fast_math.flushed(value.each(lambda x: x.reshape(self.shape_of(s.target))))
        else:
            value = self.evaluate(s.source)
        if isinstance(s.target, n.Region):
            window, starts = self.place(s.target)
            shape = self.span_of(s.target, starts) or value.shape
            window.write(starts, fast_math.flushed(iv.convert(window.store.tile.format, value.stored().each(lambda x: x.reshape(shape)))))
        else:
            self.assign(s.target, iv.convert(self.format_of(s.target), value.stored()))

    def do_Atomic(self, s):
        value = self.evaluate(s.value).stored()
        if isinstance(s.place, n.Region):
            window, starts = self.place(s.place)
            store, (index, inside, full) = window.store, window.region(starts, value.shape)
            value = value.each(lambda x: x.reshape(full)[inside].reshape(-1))
            shape = np.broadcast_shapes(*(x.shape for x in index))
            index = tuple(np.broadcast_to(x, shape).reshape(-1) for x in index)
        else:
            store = self.lookup(s.place.name)
            index = tuple(x.reshape(-1) for x in np.indices(store.tile.shape))
            value = value.each(lambda x: x.reshape(-1))
        atomics.exact(store.tile.format.name, s.kind, value)
        atomics.combine(store, index, value, s.kind)

    def do_Swap(self, s):
        if isinstance(s.place, n.Region):
            window, starts = self.place(s.place)
            store, index = window.store, window.region(starts, ())[0]
            good = all(at.size for at in index)  # inside
            index = tuple(np.full(1, at.flat[0] if good else 0) for at in index)
        else:
            store, good = self.lookup(s.place.name), True
            index = tuple(np.full(1, part.start) for part in self._slices(s.place))
        value, expected = swaps.operands(s, self.evaluate, 1)
        old = swaps.swapped(s, store, index, np.full(1, good), value, expected)
        if s.name:
            if not np.all(old.known()):
                raise ProgramError("a scalar that is not known")
            self.bind(s.name, int(old.lo[0]))

    def do_Assign(self, s):
        value = self.evaluate(s.value)
        if s.op != "=":
            value = self.binary(s.op[:-1], self.evaluate(s.target), value)
        shape = self.shape_of(s.target)
        self.assign(s.target, value.each(lambda x: np.broadcast_to(x, shape)))

    def do_Gemm(self, s):
        a, b = self.evaluate(s.a), self.evaluate(s.b)
        flipped = lambda tile, key: tile.each(np.transpose) if s.options.get(key) == "true" else tile  # noqa: E731
        a, b = flipped(a, "transpose_a"), flipped(b, "transpose_b")
        store = self.lookup(s.acc)
        if s.options.get("accumulate") == "false":
            acc = Tile(store.tile.format, np.zeros(store.tile.shape))
        else:
            acc = self.evaluate(n.Ref(s.acc))
        result = iv.gemm(a, b, acc, s.options.get("precision", "full"), int(s.options.get("promote", 128)))
        store.tile, store.written = result, np.ones(result.shape, bool)

    def do_For(self, s):
        for i in range(int(self.number(s.start)), int(self.number(s.end)), s.step):
            if not self.iteration(s.body, {s.variable: i}):
                break

    def do_While(self, s):
        while self.number(s.condition):
            if not self.iteration(s.body, {}):
                break

    def iteration(self, body, bindings):
        """False if it ended in `break`."""
        depth = len(self.scopes)
        try:
            self.block(body, bindings)
        except Jumped as jump:
            del self.scopes[depth:]
            self._refresh()
            return jump.args[0] == "continue"
        return True

    def do_Jump(self, s):
        if self.number(s.condition):
            raise Jumped(s.word)

    def do_SetElement(self, s):
        window, starts = self.place(s.place)
        window.write(starts, self.evaluate(s.value))

    def do_OwnArray(self, s):
        """A number or an array of each thread, as a tile that begins with a dimension of them."""
        shape = (self.launch.threads, *(int(self.number(e)) for e in s.shape))
        value = self.evaluate(s.init)
        self.bind_tile(s.name, value.each(lambda x: np.broadcast_to(x, shape).copy()))
        (self.own_arrays.add if s.shape else self.own_arrays.discard)(s.name)

    def do_Threads(self, s):
        self.scopes.append({})
        interpret_threads.Region(self, s).run()
        self.scopes.pop()
        self._refresh()

    def do_Outlined(self, s):
        self.block(s.body)

    def do_Assert(self, s):
        if not self.number(s.condition):
            raise ProgramError("an assertion that does not hold")

    do_Assume = do_Assert

    def do_Print(self, s):
        prints.interpret(self, s)

    def do_If(self, s):
        self.block(s.then if self.number(s.condition) else s.otherwise)

    # --- places

    def place(self, region):
        window = self.lookup(region.name)
        return window, [self.start(x) for x in region.subscripts]

    def span_of(self, region, starts):
        """The shape of a slice; that of an origin is empty."""
        if all(isinstance(x, str) for x in region.subscripts):
            return ()
        return tuple(len(at) if np.ndim(at) else int(self.number(x[1])) for x, at in zip(region.subscripts, starts) if np.ndim(at) or not isinstance(x, str))

    def start(self, subscript):
        """Of a dimension, or all of its indices."""
        if not isinstance(subscript, Indices):
            return int(self.number(subscript if isinstance(subscript, str) else subscript[0]))
        tile = self.evaluate(n.Ref(subscript)).stored()
        if not np.all(tile.known()):
            raise ProgramError("indices that are not known")
        return tile.lo.astype(np.int64)  # a copy: a view keeps the indices that it was made of

    def do_Reshape(self, s):
        whole = self.lookup(s.of)
        shape = tuple(int(self.number(x)) for x in s.extents)
        self.bind(s.name, Window.whole(Renumbered(whole.store, shape)))

    def do_BufferView(self, s):
        store, shape = self.lookup(s.of), tuple(int(self.number(x)) for x in s.shape)
        self.bind(s.name, Reinterpreted(store, FORMATS[s.format]) if s.format else Renumbered(store, shape))

    def shape_of(self, target):
        if isinstance(target, n.Part):
            return tuple(int(self.number(count)) for _, count in target.spans)
        return self.lookup(target.name).tile.shape

    def format_of(self, target):
        return self.lookup(target.name).tile.format

    def assign(self, target, tile):
        store = self.lookup(target.name)
        if isinstance(target, n.Part):
            store.put(self._slices(target), tile, waits=True)
        elif isinstance(store, (Reinterpreted, Renumbered)):
            store.put(..., tile)
        elif isinstance(store, Store):
            # Fragments may hold a product that is not rounded yet.
            own = Tile(tile.format, tile.lo.copy(), tile.hi.copy(), tile.wild, tile.terms)
            store.tile, store.written = own, np.ones(tile.shape, bool)

    def _slices(self, part):
        spans = [(int(self.number(start)), int(self.number(count))) for start, count in part.spans]
        extents = self.lookup(part.name).tile.shape
        if any(start < 0 or start + count > extent for (start, count), extent in zip(spans, extents)):
            raise ProgramError("a slice outside of its buffer")
        return tuple(slice(start, start + count) for start, count in spans)

    # --- expressions

    def evaluate(self, e):
        return fast_math.flushed(getattr(self, "value_of_" + type(e).__name__)(e))

    def value_of_Lit(self, e):
        return Tile(FORMATS[e.format], np.asarray(iv.round_to(FORMATS[e.format], e.value) if FORMATS[e.format].is_float else e.value))

    def value_of_Limit(self, e):
        fmt = FORMATS[e.format]
        least, greatest = (-fmt.largest, fmt.largest) if fmt.is_float else fmt.range
        return Tile(fmt, np.asarray(least if e.word == "min_value" else greatest, fmt.array))

    def value_of_ThreadCount(self, e):
        return iv.convert(FORMATS[e.format], Tile(FORMATS["i32"], np.asarray(self.launch.threads, np.int32)))

    def value_of_Ref(self, e):
        store = self.lookup(e.name)
        if not store.written.all():
            raise ProgramError(f"reads `{e.name}`, which nobody wrote")
        return store.tile

    def value_of_Repeated(self, e):
        new = tuple(i for i in range(len(e.shape)) if i not in e.axes)  # of extent 1, as the language has them: what is beside gives theirs
        return self.evaluate(e.x).each(lambda x: np.expand_dims(x, new))

    def value_of_Part(self, e):
        store, index = self.lookup(e.name), self._slices(e)
        if not store.written[index].all():
            raise ProgramError(f"reads `{e.name}`, which nobody wrote")
        return store.tile.each(lambda x: x[index])

    def value_of_At(self, e):
        return self.value_of_Part(e).each(lambda x: x.reshape(()))

    def value_of_Scalar(self, e):
        value = self.number(e.code)
        if not e.cast:
            return Tile(FORMATS[e.format], np.asarray(float(value) if FORMATS[e.format].is_float else int(value), FORMATS[e.format].array))
        return iv.convert(FORMATS[e.format], Tile(FORMATS["i32"], np.asarray(int(value), np.int32)))

    def value_of_Unary(self, e):
        x = self.evaluate(e.x)
        if e.op == "-":
            return iv.negate(x)
        if e.op == "!":
            return Tile(x.format, ~x.lo, wild=x.wild)
        return Tile(x.format, ~x.lo, wild=x.wild)

    def value_of_Binary(self, e):
        return self.binary(e.op, self.evaluate(e.x), self.evaluate(e.y))

    @staticmethod
    def binary(op, x, y):
        if op in ("==", "!=", "<", "<=", ">", ">="):
            return iv.compare(op, x, y)
        if op in ("&&", "||"):
            return Tile(x.format, x.lo & y.lo if op == "&&" else x.lo | y.lo, wild=iv.join_wild(x, y))
        if not x.format.is_float:
            return iv.integer_binary(op, x, y)
        result = iv.float_binary(op, x, y)
        return fast_math.flushed(fast_math.quotient(result, x, y) if op == "/" else result)

    def value_of_Cast(self, e):
        return iv.convert(FORMATS[e.format], self.evaluate(e.x))

    def value_of_Bitcast(self, e):
        return iv.bitcast(FORMATS[e.format], self.evaluate(e.x).stored())

    def value_of_Select(self, e):
        return iv.select(self.evaluate(e.condition), self.evaluate(e.x), self.evaluate(e.y))

    def value_of_FromTable(self, e):
        index = self.evaluate(e.x)
        values = np.asarray(e.values)
        found = values[index.lo.astype(np.int64) & (len(values) - 1)]
        known = index.known()
        return iv.Tile(FORMATS[e.format], np.where(known, found, values.min()), np.where(known, found, values.max()))

    def value_of_Applied(self, e):
        return self.evaluate(e.value)

    def value_of_ByFunction(self, e):
        return self.by_function(e)[0]

    def by_function(self, e):
        """What a user's function makes of tiles: a tile for each."""
        args, axis = [self.evaluate(a).stored() for a in e.args], e.keywords.get("axis")
        if axis is None:
            args, axis = [a.each(np.ravel) for a in args], 0
        unsure = np.zeros(args[0].shape, bool)
        for a in args:
            unsure = unsure | iv.unordered(a, axis)
        if e.word == "scan":
            results = self._scanned(e.combine, args, axis, e.keywords.get("reverse", False))
            rows = np.broadcast_to(unsure.any(axis=axis, keepdims=True), args[0].shape)
            return [Tile(r.format, r.lo, r.hi, iv.join_wild(r, Tile(r.format, r.lo, wild=rows))) for r in results]
        results = self._reduced(e.combine, args, axis)
        return [Tile(r.format, r.lo, r.hi, iv.join_wild(r, Tile(r.format, r.lo, wild=unsure.any(axis=axis)))) for r in results]

    def _scanned(self, combine, args, axis, reverse):
        """One element after the other."""
        order = range(args[0].shape[axis])
        order = order[::-1] if reverse else order
        steps = [_pieces(args, axis, slice(order[0], order[0] + 1))]
        for i in order[1:]:
            steps.append(self._combined(combine, steps[-1], _pieces(args, axis, slice(i, i + 1))))
        if reverse:
            steps.reverse()
        return [iv.concatenated(list(parts), axis) for parts in zip(*steps)]

    def _reduced(self, combine, parts, axis):
        """In halves: the function commutes."""
        take = lambda parts, piece: _pieces(parts, axis, piece)  # noqa: E731
        while (count := parts[0].shape[axis]) > 1:
            half = count // 2
            both = self._combined(combine, take(parts, slice(0, half)), take(parts, slice(half, 2 * half)))
            rest = take(parts, slice(2 * half, count))
            parts = [iv.concatenated([x, y], axis) for x, y in zip(both, rest)]
        return take(parts, 0)

    def _combined(self, combine, first, second):
        names = [name for name, _ in combine.parameters()]
        self.scopes.append({name: Store.full(tile) for name, tile in zip(names, [*first, *second])})
        results = [self.evaluate(r).stored() for r in combine.results]
        self.scopes.pop()
        return results

    def value_of_Call(self, e):
        args = [self.evaluate(a) for a in e.args]
        x, name = args[0], e.function
        if name.startswith("reduce_"):
            axis = e.keywords.get("axis")
            if name in iv.BITS:
                return iv.reduce_bits(name, x, axis)
            return iv.reduce_sum(x, axis) if name == "reduce_sum" else iv.reduce_extreme(name, x, axis)
        if name.startswith("scan_"):
            return iv.scan(name, x.stored(), e.keywords["axis"], e.keywords.get("reverse", False), e.keywords.get("exclusive", False))
        if name == "transpose":
            return x.each(np.transpose)
        if name in ("min", "max"):
            for y in args[1:]:
                x = (iv.minimum if name == "min" else iv.maximum)(x, y)
            return x
        if name == "clamp":
            return iv.minimum(iv.maximum(x, args[1]), args[2])
        if name == "abs":
            return iv.absolute(x)
        if name == "fma":
            return iv.fma(*args)
        if name in ("ceildiv", "floordiv", "floormod"):
            return iv.integer_binary(name, *args)
        if name in ("isnan", "isinf", "isfinite"):
            return self._classify(name, x)
        if name in ("popcount", "clz", "mulhi"):
            return getattr(bits, name)(*args)
        return float_functions.power(*args) if name == "pow" else float_functions.function(name, x)

    @staticmethod
    def _classify(name, x):
        test = {"isnan": np.isnan, "isinf": np.isinf, "isfinite": np.isfinite}[name]
        x = x.stored()
        return Tile(FORMATS["bool"], test(x.lo), wild=(test(x.lo) != test(x.hi)) | (~x.known() & iv._is_wild(x)))
