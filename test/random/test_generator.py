#!/usr/bin/python3
"""Tests of the generator itself: those that run programs need build/bin."""
import math
import os
import subprocess
import sys
import tempfile
import unittest

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

from tilegen import data, elements, float_functions, gathers, intervals, kept, mutate, nodes as n, prints, threads  # noqa: E402
from tilegen.draw import draw_program  # noqa: E402
from tilegen.features import TABLE  # noqa: E402
from tilegen.formats import FORMATS, decode, encode, round_to  # noqa: E402
from tilegen.interpret import Interpreter  # noqa: E402
from tilegen.intervals import ProgramError, Tile  # noqa: E402
from tilegen.run import Outcome, Tools, compare, extents_of, prepare, run_on_cpu, run_program  # noqa: E402
from tilegen.shrink import options as shrink_options, shrink  # noqa: E402

TOOLS = Tools(os.path.join(HERE, "..", ".."))


def program(body, threads=32, extents=("M", "N")):
    """X -> Y through a body that uses the fragment x."""
    region = n.Region("X", ["0", "0"])
    first = [n.Declare("fragment", "x", "f32", ["16", "16"]), n.Copy(region, n.Ref("x"))]
    last = [n.Copy(n.Ref("x"), n.Region("Y", ["0", "0"]))]
    arguments = [n.Tensor("X", "f32", list(extents)), n.Tensor("Y", "f32", list(extents), "out")]
    launch = n.Launch(["b"], ["1"], threads, first + body + last)
    return n.Program({}, arguments, [], [launch], [{"M": 16, "N": 16}, {"M": 13, "N": 17}])


def add(value):
    return n.Assign(n.Ref("x"), "=", n.Binary("+", n.Ref("x"), n.Lit(value, "f32")))


class Draws(unittest.TestCase):
    def test_a_seed_gives_one_program(self):
        code = "from tilegen.draw import draw_program; print(''.join(draw_program(s).text() for s in range(20)))"
        texts = set()
        for hash_seed in ("1", "2"):
            environment = {**os.environ, "PYTHONPATH": HERE, "PYTHONHASHSEED": hash_seed}
            texts.add(subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, check=True).stdout)
        self.assertEqual(len(texts), 1)

    def test_seeds_differ(self):
        self.assertEqual(len({draw_program(s).text() for s in range(30)}), 30)

    def test_tensors_fit_the_memory_of_many_interpreters(self):
        drawn = draw_program(550000590)  # four dimensions, each reached from a loop: 1,873,213,440 elements once
        for call in drawn.calls:
            self.assertLess(max(map(math.prod, extents_of(drawn, call).values())), 1 << 25)

    def test_each_feature_is_drawn(self):
        drawn = {f for s in range(400) for f in draw_program(s).features}
        self.assertEqual((set(TABLE) | {"fn", "tile fn", "align", "auto", "--check"}) - drawn, set())

    def test_most_programs_mean_something(self):
        wrong = 0
        for seed in range(40):
            drawn = draw_program(seed)
            wrong += isinstance(mutate.meanings(drawn, seed), str)
        self.assertLess(wrong, 10)


class Numbers(unittest.TestCase):
    def test_eight_bit_floats(self):
        for name, codes in (("e4m3", 0x7F), ("e5m2", 0x7C)):
            fmt = FORMATS[name]
            bits = np.arange(codes, dtype=np.uint8)
            values = decode(fmt, bits)
            self.assertTrue(np.array_equal(encode(fmt, values), bits))
            self.assertTrue(np.array_equal(round_to(fmt, values * 1.001), values))
        self.assertEqual(round_to(FORMATS["e4m3"], np.array([1e9]))[0], 448)

    def test_bf16_rounds_to_even(self):
        self.assertEqual(round_to(FORMATS["bf16"], np.array([1 + 2**-8, 1 + 3 * 2**-8])).tolist(), [1.0, 1 + 2**-6])

    def test_large_divisors_keep_their_type(self):
        # Beside a single u64 NumPy makes f64 of an int: 2^64 - 2 was 2^64 then, and 0 as a u64 again.
        u64 = FORMATS["u64"]
        divisor, dividends = 2**64 - 2, [0, 1, 2**64 - 2, 2**64 - 1]
        exact = {"floordiv": lambda x: x // divisor, "floormod": lambda x: x % divisor, "ceildiv": lambda x: -(-x // divisor)}
        exact |= {"/": exact["floordiv"], "%": exact["floormod"]}
        for op, function in exact.items():
            for x in dividends:  # single values, and a tile of them
                quotient = intervals.integer_binary(op, Tile(u64, np.array(x, np.uint64)), Tile(u64, np.array(divisor, np.uint64)))
                self.assertEqual(int(quotient.lo), function(x), (op, x))
            tile = intervals.integer_binary(op, Tile(u64, np.array(dividends, np.uint64)), Tile(u64, np.array(divisor, np.uint64)))
            self.assertEqual([int(x) for x in tile.lo], [function(x) for x in dividends], op)
        zero = intervals.integer_binary("/", Tile(u64, np.array(2**64 - 1, np.uint64)), Tile(u64, np.array(0, np.uint64)))
        self.assertEqual(int(zero.lo), 0)

    def test_exact_sums_are_points(self):
        ones = Tile(FORMATS["f16"], np.ones((4, 8)))
        zero = Tile(FORMATS["f32"], np.zeros((4, 4)))
        result = intervals.gemm(ones, ones.each(np.transpose), zero, "full", 128)
        self.assertTrue(np.all(result.lo == 8) and np.all(result.known()))

    def test_inexact_sums_are_intervals_that_hold_the_f32_sum(self):
        x = np.random.default_rng(1).standard_normal((1, 4096)).astype(np.float32)
        result = intervals.reduce_sum(Tile(FORMATS["f32"], x), 1)
        self.assertLess(result.lo[0], result.hi[0])
        for total in (np.cumsum(x[0])[-1], np.sum(x)):
            self.assertTrue(result.lo[0] <= total <= result.hi[0])

    def test_a_sum_that_goes_on_holds_every_order_of_its_terms(self):
        f32, rng = FORMATS["f32"], np.random.default_rng(2)
        trips = rng.standard_normal((50, 4)).astype(np.float32) * np.float32(100)
        factor = np.float32(0.9)
        running = Tile(f32, np.float32(0.1))
        parts = np.zeros(4, np.float32)
        for x in trips:
            running = intervals.float_binary("*", running.stored(), Tile(f32, factor))
            running = intervals.float_binary("+", running, intervals.reduce_sum(Tile(f32, x), 0))
            parts = parts * factor + x
        start = np.float32(0.1) * factor ** np.float32(50)
        self.assertTrue(running.lo <= start + np.sum(parts) <= running.hi)
        self.assertLess(running.hi - running.lo, 1.0)

    def test_a_sum_that_goes_on_is_a_point_while_it_is_exact(self):
        f32 = FORMATS["f32"]
        ones = intervals.reduce_sum(Tile(f32, np.ones((3, 8))), 1)
        running = intervals.float_binary("+", Tile(f32, np.full(3, 0.5)), ones)
        running = intervals.float_binary("+", intervals.float_binary("*", running, Tile(f32, np.full(3, 0.5))), ones)
        self.assertTrue(np.all(running.known()) and np.all(running.lo == 12.25))
        tenth = intervals.float_binary("+", Tile(f32, np.full(3, round_to(f32, 0.1))), ones)
        self.assertFalse(np.any(tenth.known()))
        infinite = intervals.float_binary("*", running, Tile(f32, np.full(3, np.inf)))
        self.assertTrue(np.all(infinite.wild))

    def test_infinite_or_not_and_an_infinite_term_is_anything(self):
        f16 = FORMATS["f16"]
        acc = Tile(f16, np.array([[-np.inf]]), np.array([[-65504.0]]))
        result = intervals.gemm(Tile(f16, np.array([[1.0]])), Tile(f16, np.array([[np.inf]])), acc, "full", 128)
        self.assertTrue(result.wild[0, 0])

    def test_an_operand_that_may_be_infinite_makes_anything(self):
        f16, f32 = FORMATS["f16"], FORMATS["f32"]
        a = Tile(f16, np.array([[65504.0]]), np.array([[np.inf]]))
        result = intervals.gemm(a, Tile(f16, np.array([[-1.0]])), Tile(f32, np.array([[np.inf]])), "full", 128)
        self.assertTrue(result.wild[0, 0])

    def test_a_sum_that_is_exact_may_exceed_its_format(self):
        far = Tile(FORMATS["bf16"], np.array([[-3.3895313892515355e38] * 2]))
        result = intervals.gemm(far, Tile(FORMATS["bf16"], np.array([[1.0], [1.0]])), Tile(FORMATS["f32"], np.zeros((1, 1))), "full", 128)
        self.assertTrue(result.wild[0, 0])

    def test_a_product_that_overflows_may_meet_an_infinity_unrounded(self):
        for name in ("f16", "bf16", "f32", "f64"):
            fmt = FORMATS[name]
            far, infinite = Tile(fmt, np.array([-fmt.largest])), Tile(fmt, np.array([np.inf]))
            product = intervals.float_binary("*", far, Tile(fmt, np.array([3.0])))
            self.assertFalse(intervals.float_binary("+", product, infinite).known()[0], name)  # NaN, or fused infinity
            same = intervals.float_binary("+", product, Tile(fmt, np.array([-np.inf])))
            self.assertLessEqual(same.hi[0], -fmt.largest, name)
            self.assertLessEqual(product.stored().hi[0], -fmt.largest, name)

    def test_an_extreme_of_zeros_of_both_signs_is_either(self):
        mixed = Tile(FORMATS["f32"], np.array([[0.0, -0.0, 1.0], [0.0, 0.0, 1.0]]))
        least = intervals.reduce_extreme("reduce_min", mixed, 1)
        self.assertEqual(least.known().tolist(), [False, True])
        self.assertTrue(np.signbit(least.lo[0]) and not np.signbit(least.hi[0]))

    def test_subnormal_operands_cost_places(self):
        """Terms are lined up as if a subnormal number were the smallest normal one; what lies below is cut."""
        a = Tile(FORMATS["f16"], np.array([[4.5234375, 0.11468505859375, -1.595703125]]))
        bits = np.array([[2.0], [1.0], [1.0]]) * 2.0**-24
        result = intervals.gemm(a, Tile(FORMATS["f16"], bits), Tile(FORMATS["f32"], np.zeros((1, 1))), "full", 128)
        cut = 4.5095657696947455e-07  # by wgmma
        self.assertTrue(result.lo[0, 0] <= cut <= result.hi[0, 0])
        normal = intervals.gemm(a, Tile(FORMATS["f16"], bits * 2.0**10), Tile(FORMATS["f32"], np.zeros((1, 1))), "full", 128)
        self.assertTrue(np.all(normal.known()))

    def test_an_f64_product_fused_into_a_sum_may_tip_its_rounding(self):
        from fractions import Fraction

        f64, rng = FORMATS["f64"], np.random.default_rng(3)
        x, y, z = (rng.standard_normal(2000) for _ in range(3))
        result = intervals.fma(Tile(f64, x), Tile(f64, y), Tile(f64, z * 4))
        exact = [float(Fraction(a) * Fraction(b) + Fraction(c)) for a, b, c in zip(x, y, z * 4)]  # rounded once
        self.assertTrue(np.all((result.lo <= exact) & (exact <= result.hi)))
        self.assertTrue(np.any(exact != x * y + z * 4))

    def test_what_tf32_cannot_hold_may_be_zero_beside_an_infinity(self):
        f32 = FORMATS["f32"]
        small, infinite = Tile(f32, np.array([[2.0**-140]])), Tile(f32, np.array([[-np.inf]]))
        acc = Tile(f32, np.array([[0.0]]))
        for a, b in ((small, infinite), (infinite, small)):
            self.assertTrue(intervals.gemm(a, b, acc, "tf32", 128).wild[0, 0])
            self.assertEqual(intervals.gemm(a, b, acc, "full", 128).lo[0, 0], -np.inf)

    def test_division_of_integers(self):
        x, y = Tile(FORMATS["i32"], np.array([7, -7, 5])), Tile(FORMATS["i32"], np.array([2, 2, 0]))
        self.assertEqual(intervals.integer_binary("/", x, y).lo.tolist(), [3, -3, 0])
        self.assertEqual(intervals.integer_binary("floormod", x, y).lo.tolist(), [1, 1, 0])

    def test_overflow_is_an_error_of_the_program(self):
        with self.assertRaises(ProgramError):
            intervals.integer_binary("+", Tile(FORMATS["i8"], np.array([127])), Tile(FORMATS["i8"], np.array([1])))


    def test_a_zero_of_either_sign_is_no_point(self):
        f32 = FORMATS["f32"]
        near, zero = Tile(f32, np.array([-1.0]), np.array([1.0])), Tile(f32, np.array([0.0]))
        product = intervals.float_binary("*", near, zero)
        self.assertFalse(product.known()[0])
        self.assertTrue(float_functions.function("rsqrt", product).wild[0])
        self.assertEqual(float_functions.function("rsqrt", zero).lo[0], np.inf)


class Values(unittest.TestCase):
    def test_a_let_keeps_its_value_when_part_of_the_buffer_is_written(self):
        part = n.Part("s", [("0", "8"), ("0", "16")])
        body = [
            n.Declare("shared", "s", "f32", ["16", "16"], n.Lit(1.0, "f32")),
            n.Let("t", n.Ref("s")),
            n.Assign(part, "=", n.Lit(2.0, "f32")),
            n.Assign(n.Ref("x"), "=", n.Ref("t")),
        ]
        store = mutate.meanings(program(body), 0)[0]["Y"]
        self.assertTrue(np.all(store.tile.lo[:16, :16] == 1.0))

    def test_index_tiles_and_reshaped_tensors(self):
        at = [n.Declare("fragment", "at", "i32", ["16"]), elements.Parallel(["p"], "", ["16"], [elements.Put(elements.ElementOf("at", ["p"]), elements.Number("p * 2 - 1", "i32"))])]
        read = [gathers.Reshape("w", "X", ["N", "M"]), n.Copy(n.Region("w", ["0", gathers.Indices("at")]), n.Ref("x"))]
        drawn = program(at + read)
        x = data.inputs(drawn, 0, 1, drawn.calls[1], extents_of(drawn, drawn.calls[1]))["X"].lo.reshape(17, 13)
        expected = np.zeros((16, 16))
        expected[:, 1:7] = x[:16, 1:13:2]
        self.assertTrue(np.array_equal(mutate.meanings(drawn, 0)[1]["Y"].tile.lo[:13, :16], expected[:13]))
        drawn = program(at)
        drawn.launches[0].body[-1].target.subscripts = [gathers.Indices("at"), "0"]
        store = mutate.meanings(drawn, 0)[0]["Y"]
        self.assertEqual([i for i in range(16) if store.written[i].all()], [1, 3, 5, 7, 9, 11, 13, 15])

    def test_parts_of_gathered_dimensions(self):
        """Each view has bounds of its own, an index tile those of its length, and a view keeps the indices that it was made of."""

        def filled(name, extent, code):
            put = elements.Put(elements.ElementOf(name, ["p"]), elements.Number(code, "i32"))
            return [n.Declare("fragment", name, "i32", [extent]), elements.Parallel(["p"], "", [extent], [put])]

        body = [
            *filled("at", "16", "p * 2 - 1"),
            *filled("some", "16", "6 - p"),
            n.View("v", "X", [gathers.Indices("at"), None]),
            n.View("w", "v", [("2", "7"), ("0", "9")]),
            n.Assign(n.Ref("at"), "=", n.Lit(0, "i32")),
            n.Copy(n.Region("w", [gathers.Indices("some"), "1"]), n.Ref("x")),
        ]
        drawn = program(body)
        x = data.inputs(drawn, 0, 1, drawn.calls[1], extents_of(drawn, drawn.calls[1]))["X"].lo
        expected = np.zeros((13, 16))
        for i in range(13):
            if 0 <= 6 - i < 5:
                expected[i, :8] = x[(6 - i + 2) * 2 - 1, 1:9]
        self.assertTrue(np.array_equal(mutate.meanings(drawn, 0)[1]["Y"].tile.lo[:13, :16], expected))

    def in_region(self, *statements):
        """s after a region over zeros."""
        body = [
            n.Declare("shared", "s", "f32", ["16", "16"], n.Lit(0.0, "f32")),
            threads.Threads([("a", 8), ("c", 4)], "t", list(statements)),
            n.Assign(n.Ref("x"), "=", n.Ref("s")),
        ]
        return mutate.meanings(program(body), 0)[0]["Y"].tile.lo[:16, :16]

    def test_threads_of_a_region_write_where_their_conditions_hold(self):
        own = threads.Item("s", ["t / 16", "t % 16"])
        total = threads.OwnLet("p", "i32", threads.OfWarp("warp_sum", n.Ref("t"), 4))
        even = threads.OwnIf("t % 2 == 0", [threads.ItemSet(own, "=", n.Cast("f32", n.Ref("p")))])
        t = np.arange(256)
        expected = np.where((t < 32) & (t % 2 == 0), t // 4 * 16 + 6, 0)
        self.assertTrue(np.array_equal(self.in_region(total, even), expected.reshape(16, 16)))

    def test_lanes_of_a_region_scan_in_groups(self):
        own = threads.Item("s", ["t / 16", "t % 16"])
        words = {"reverse": True, "exclusive": True}
        total = threads.OwnLet("p", "i32", threads.OfWarp("warp_scan_sum", n.Ref("t"), 8, keywords=words))
        self.assertEqual(total.value.text(), "warp_scan_sum(t, width = 8, reverse = true, exclusive = true)")
        t = np.arange(256)
        expected = np.where(t < 32, [sum(range(x + 1, x // 8 * 8 + 8)) for x in t], 0)
        found = self.in_region(total, threads.ItemSet(own, "=", n.Cast("f32", n.Ref("p"))))
        self.assertTrue(np.array_equal(found, expected.reshape(16, 16)))

    def test_threads_of_a_region_leave_loops_one_by_one(self):
        count = threads.OwnLet("v", "f32", n.Lit(0.0, "f32"), 0, "var")
        loop = threads.Counted("k", "5", [threads.OwnSet("v", "+=", n.Lit(1.0, "f32"))], 0, "break", "k == a")
        own = threads.ItemSet(threads.Item("s", ["c", "a"]), "=", n.Ref("v"))
        expected = np.zeros((16, 16))
        expected[:4, :8] = np.minimum(np.arange(8), 5)
        self.assertTrue(np.array_equal(self.in_region(count, loop, own), expected))

    def test_two_threads_at_one_element_are_an_error(self):
        both = threads.ItemSet(threads.Item("s", ["0", "t / 2"]), "=", n.Lit(1.0, "f32"))
        self.assertIsInstance(self.meaning_of(both), str)

    def meaning_of(self, statement):
        body = [n.Declare("shared", "s", "f32", ["16", "16"], n.Lit(0.0, "f32")), threads.Threads([("a", 32)], "t", [statement])]
        return mutate.meanings(program(body), 0)


class Functions(unittest.TestCase):
    def setUp(self):
        self.text = ""

    def outlined(self, body, symbols):
        whole = program([n.Outlined("h", body, symbols)])
        self.text = whole.text()
        return mutate.meanings(whole, 0), mutate.meanings(program(body), 0)

    def test_a_tile_function_means_its_statements(self):
        inside, plain = self.outlined([add(1.0)], {"x": "inout fragment f32[A, B]"})
        self.assertTrue(mutate.means_the_same(inside, plain))
        self.assertIn("tile fn h(x: inout fragment f32[A, B]) {", self.text)
        self.assertIn("h(x);", self.text)

    def test_only_what_is_still_named_is_passed(self):
        self.outlined([add(1.0)], {"x": "inout fragment f32[A, B]", "y": "shared f32[A]", "A": "const int", "E": "const int"})
        self.assertIn("h(x);", self.text)

    def test_a_function_of_scalars_means_its_expression(self):
        value = n.Binary("+", n.Ref("x"), n.Lit(1.0, "f32"))
        whole = program([n.Assign(n.Ref("x"), "=", n.Applied("g", value, "f32", {"x": "f32"}))])
        self.assertTrue(mutate.means_the_same(mutate.meanings(whole, 0), mutate.meanings(program([add(1.0)]), 0)))
        self.assertIn("fn g(x: f32) -> f32 {", whole.text())

    def test_a_constant_array_is_the_numbers_that_it_holds(self):
        def whole(values):
            value = n.Binary("+", n.Ref("x"), n.FromTable("T", "f32", values, n.Cast("i32", n.Ref("x"))))
            return program([n.Assign(n.Ref("x"), "=", n.Applied("g", value, "f32", {"x": "f32"}))])

        ones = whole([1.0, 1.0])
        self.assertTrue(mutate.means_the_same(mutate.meanings(ones, 0), mutate.meanings(program([add(1.0)]), 0)))
        self.assertFalse(mutate.means_the_same(mutate.meanings(ones, 0), mutate.meanings(whole([1.0, 2.0]), 0)))
        self.assertTrue(ones.text().startswith("const T: f32[2] = [1.0, 1.0];\nfn g(x: f32)"))

    def test_a_reduction_by_a_function_is_that_of_its_elements(self):
        greatest = n.Combine("c", ["f32"], [n.Call("max", [n.Ref("p0"), n.Ref("q0")])])
        last = [n.Copy(n.Ref("t"), n.Region("Y", ["0", "0"]))]

        def rows(value):
            whole = program([n.Let("r", value), n.Declare("fragment", "t", "f32", ["16", "16"], n.Repeated(n.Ref("r"), [0], ["16", "16"]))] + last)
            whole.launches[0].body.pop()
            return whole

        own = rows(n.ByFunction("reduce", greatest, [n.Ref("x")], {"axis": 1}))
        built_in = rows(n.Call("reduce_max", [n.Ref("x")], {"axis": 1}))
        self.assertTrue(mutate.means_the_same(mutate.meanings(own, 0), mutate.meanings(built_in, 0)))
        self.assertIn("fn c(p0: f32, q0: f32) -> f32 {", own.text())

    def test_a_scan_by_a_function_is_that_of_its_elements(self):
        least = n.Combine("c", ["f32"], [n.Call("min", [n.Ref("p0"), n.Ref("q0")])])
        for reverse in (False, True):
            keywords = {"axis": 0, "reverse": reverse}
            own = program([n.Assign(n.Ref("x"), "=", n.ByFunction("scan", least, [n.Ref("x")], keywords))])
            built_in = program([n.Assign(n.Ref("x"), "=", n.Call("scan_min", [n.Ref("x")], keywords))])
            self.assertTrue(mutate.means_the_same(mutate.meanings(own, 0), mutate.meanings(built_in, 0)))
            self.assertIn(f"scan(c, x, axis = 0, reverse = {str(reverse).lower()})", own.text())

    def test_an_exclusive_scan_begins_with_the_identity(self):
        x = Tile(FORMATS["i8"], np.array([[1, 2, 3], [4, 5, 6]]))
        self.assertEqual(intervals.scan("scan_sum", x, 1, True, True).lo.tolist(), [[5, 3, 0], [11, 6, 0]])
        self.assertEqual(intervals.scan("scan_max", x, 0, False, True).lo.tolist(), [[-128] * 3, [1, 2, 3]])
        nans = Tile(FORMATS["f32"], np.array([np.nan, np.nan]))
        self.assertEqual(intervals.scan("scan_min", nans, 0, False, True).lo.tolist(), [np.inf, np.inf])

    def test_what_compares_a_nan_has_no_order(self):
        nan = Tile(FORMATS["f32"], np.array([[1.0, np.nan], [1.0, 2.0], [0.0, -0.0]]))
        self.assertEqual(intervals.unordered(nan, 1)[:, 0].tolist(), [True, False, True])

    def test_what_is_used_behind_is_not_moved_away(self):
        drawn = [draw_program(seed) for seed in range(400)]
        moved = [p for p in drawn if "tile fn" in p.features]
        self.assertGreater(len(moved), 10)
        self.assertFalse([p.text() for p in moved if isinstance(mutate.meanings(p, 0), str) and "not declared" in mutate.meanings(p, 0)])


class Judging(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()

    def test_what_is_read_before_it_is_written_is_an_error(self):
        wrong = program([])
        del wrong.launches[0].body[1]
        self.assertRegex(mutate.meanings(wrong, 0), "nobody wrote")
        self.assertIsInstance(mutate.meanings(wrong, 0, 77), list)

    def test_what_nobody_wrote_and_nobody_sees_is_no_fault(self):
        meaning = mutate.meanings(program([add(1.0)]), 0)
        unseen = program([n.Declare("fragment", "z", "f32", ["16", "16"]), n.Let("unused", n.Ref("z")), add(1.0)])
        self.assertTrue(mutate.can_mean_the_same(meaning, unseen, 0))
        seen = program([add(1.0)])
        del seen.launches[0].body[1]
        self.assertFalse(mutate.can_mean_the_same(meaning, seen, 0))

    def test_a_right_program_passes(self):
        outcome = run_program(TOOLS, program([add(1.0)]), 0, self.folder)
        self.assertEqual((outcome.failures, outcome.refusals, outcome.error), ([], [], ""))

    def test_a_program_with_choices_of_the_compiler_passes(self):
        tuned = program([add(1.0)])
        tuned.launches[0].tuned = "P0"
        tuned.tuned = {"P0": [32, 64]}
        self.assertIn("tune k { P0 in [32, 64]; }\ninstantiate k<auto> as k;", tuned.text())
        outcome = run_program(TOOLS, tuned, 0, self.folder)
        self.assertEqual((outcome.failures, outcome.refusals, outcome.error), ([], [], ""))
        self.assertFalse(next(p for p in shrink_options(tuned)).tuned)

    def test_another_meaning_is_found_everywhere(self):
        outcome = Outcome()
        calls = prepare(program([add(1.0)]), 0, self.folder, outcome)
        other = program([add(2.0)])
        with open(os.path.join(self.folder, "k.tile"), "w") as file:
            file.write(other.text())
        run_on_cpu(TOOLS, other, calls, self.folder, outcome)
        self.assertEqual([f.kind for f in outcome.failures], ["cpu wrong"] * 2)
        self.assertEqual(mutate.noticed_by(TOOLS, program([add(1.0)]), other, 0, self.folder), "emulator")

    def test_a_refusal_that_is_not_allowed_is_a_failure(self):
        outcome = run_program(TOOLS, program([n.Gemm(n.Ref("x"), n.Ref("x"), "x")]), 0, self.folder, cpu=False)
        self.assertTrue(any("gemm-operand" in f.kind for f in outcome.failures))

    def test_a_fragment_declared_as_a_product_may_wait_for_its_addition(self):
        """57 * 57 + 1 in f16: 3248, or 3250 where the product is not rounded before."""
        def half(value):
            return n.Lit(value, "f16")

        square = n.Declare("fragment", "y", "f16", ["16", "16"], n.Binary("*", half(57.0), half(57.0)))
        sum = n.Declare("fragment", "z", "f16", ["16", "16"], n.Binary("+", n.Ref("y"), half(1.0)))
        p = program([square, sum, n.Assign(n.Ref("x"), "=", n.Cast("f32", n.Ref("z")))])
        inputs = data.inputs(p, 0, 0, p.calls[0], extents_of(p, p.calls[0]))
        tile = Interpreter(p, p.calls[0], inputs).run()["Y"].tile
        self.assertEqual((tile.lo[0, 0], tile.hi[0, 0]), (3248, 3250))

    def test_elements_that_are_not_written_keep_their_bytes(self):
        p = program([])
        inputs = data.inputs(p, 0, 1, p.calls[1], extents_of(p, p.calls[1]))
        store = Interpreter(p, p.calls[1], inputs).run()["Y"]
        self.assertEqual(store.written.sum(), 13 * 16)
        got = np.full(store.tile.shape, np.nan, np.float32)
        got.view(np.uint32)[...] = 0xFFFFFFFF
        got[:, :16] = store.tile.lo[:, :16]
        self.assertIsNone(compare(store, got)[0])
        got[0, 16] = 0
        self.assertIn("nothing to be written", compare(store, got)[0])


class Shrinking(unittest.TestCase):
    def test_a_program_shrinks_to_what_matters(self):
        large = next(p for p in map(draw_program, range(100)) if len(p.text().splitlines()) > 40 and "gemm(" in p.text())
        small, found = shrink(large, lambda p: "gemm(" in p.text(), seconds=30)
        self.assertTrue(found)
        self.assertLess(len(small.text().splitlines()), 8)

    def test_a_kept_file_runs_as_it_was(self):
        p, folder = program([add(1.0)]), tempfile.mkdtemp()
        path = os.path.join(folder, "p.tile")
        outcome = Outcome()
        outcome.fail("sm_90a wrong", "as an example")
        kept.write_case(path, p, 7, [extents_of(p, c) for c in p.calls], outcome.failures[0])
        self.assertEqual(len(kept.read_case(path).runs), 2)
        self.assertEqual(kept.replay(TOOLS, path, folder).failures, [])


class Prints(unittest.TestCase):
    def test_text_is_held_against_what_is_known(self):
        expected = {
            ("p0", (1,)): [[(3, 3, False), (0.5, 0.75, True), None], [(-4, -4, False)]],
            ("p1", (0, 2)): [[(math.nan, math.nan, True), (1, 1, False)]],
        }
        right = "p0 1: 3 [0.625, 1e-30]\nsomething else\np1 0 2: nan true\np0 1: -4\n"
        self.assertIsNone(prints.wrong_text(expected, right))
        for old, new in (("0.625", "0.8"), ("-4", "4"), ("nan", "1"), ("true", "false"), ("p1 0 2", "p1 0 1"), ("p0 1: -4\n", ""), (", 1e-30", ""),
                         ("p0 1: -4", "p0 1: -4\np0 1: -4"), ("nan true", "nan true inf")):
            self.assertIsNotNone(prints.wrong_text(expected, right.replace(old, new)), new)
        swapped = "p0 1: -4\np0 1: 3 [0.625, 1e-30]\np1 0 2: nan true\n"
        self.assertIsNotNone(prints.wrong_text(expected, swapped))

    def test_floats_are_the_shortest_text_that_reads_back(self):
        exact = 0.98486328125  # an f16 value, of which f32 needs seven digits
        for short, text, right in ((True, "0.9848633", True), (True, "0.9848632", False), (False, "0.9848633", False), (False, "0.98486328125", True)):
            expected = {("p0", (0,)): [[(exact, exact, short)]]}
            self.assertEqual(prints.wrong_text(expected, f"p0 0: {text}\n") is None, right, text)


if __name__ == "__main__":
    unittest.main()
