// Block code: assignment, subscripts, views, copies, products, parallel loops, loops, annotations.
#include "test/unit/sema/Analyzed.h"

namespace {

const char *const before =
    "fn first(a: f32, b: f32) -> f32 { return a; } kernel k(A: tensor<f16>[M, K], B: out "
    "tensor<f32>[M, K], C: inout tensor<f32>[M, K], D: inout tensor<i32>[M], O: optional "
    "tensor<f32>[M], P: tensor<u4>[M, 64], n: i32) { workspace w: f32[M, K]; launch (i, j) in "
    "grid(M, K) threads(128) { shared s: f16[32, 64] = 0; shared t: f16[64, 32] = 0; fragment f: "
    "f32[32, 32] = 0; fragment r: f32[32] = 0; fragment q: i32[32] = 0; var v: i32 = 0;\n";
const char *const after = "\n} }";

TEST(Rules, DataAndSubscripts) {
  expectRules(
      {{"let a = 1; a = 2;", "2: `a` cannot be assigned: it is a `let` [assign-let]"},
       {"i = 2;", "2: `i` cannot be assigned: it is an index [assign-let]"},
       {"n = 2;", "2: `n` cannot be assigned: it is a parameter [assign-let]"},
       {"M = 2;", "2: `M` cannot be assigned: it is a dimension [assign-let]"},
       {"max(1, 2) = 2;", "2: this expression cannot be assigned [assign-let]"},
       {"let a = f + 1; a[0, 0] = 2;", "2: `a` cannot be assigned: it is a `let` [assign-let]"},
       {"A[0, 0] = 1;", "2: `A` is written, but has no direction `out` or `inout` [write-to-in]"},
       {"let a = B[0, 0];", "2: `B` is read, but declared `out` [read-of-out]"},
       {"B[0, 0] += 1;", "2: `B` is read, but declared `out` [read-of-out]"},
       {"let a = O[0];", "2: optional tensor `O` may be null here [optional-unguarded]"},
       {"if present(O) && n > 1 { let a = O[0]; }", ""},
       {"let a = present(O) ? O[0] : 0.0;", ""},
       {"if !present(O) { } else { let a = O[0]; }", ""},
       {"if present(O) || n > 1 { let a = O[0]; }",
        "2: optional tensor `O` may be null here [optional-unguarded]"},
       {"fragment z: f32[4]; let a = z + 1;",
        "2: `z` is read before it has a value [uninitialised]"},
       {"fragment z: f32[4]; if n > 1 { z = 1; } let a = z + 1;", ""},
       {"shared z: f32[4]; for u in 0..n { let a = z[0]; }",
        "2: `z` is read before it has a value [uninitialised]"},
       {"let a = s[0];", "2: `s` has 2 dimensions, but 1 subscripts [subscript-count]"},
       {"let a = v[0];", "2: `v` is a scalar and has no subscripts [subscript-count]"},
       {"let a = s[1.0, 0];", "2: a subscript is `float constant` [subscript-type]"},
       {"let a = D[i16(3)];", "2: a subscript is `i16` [subscript-type]"},
       {"view z = f[n :+ 4, 0 :+ 4];",
        "2: slices of fragments have constant subscripts [slice-bounds]"},
       {"view z = s[n..n + 4, :];",
        "2: slices of shared buffers have constant extents [slice-bounds]"},
       {"view z = s[n :+ 4, :];", ""},
       {"fragment at: i32[4] = 0; view z = s[at, :];",
        "2: `s` is no tensor or workspace, of which alone an index tile gathers [subscript-type]"},
       {"view z = C[n..n + 4, :]; copy(z[0, 0], f);", ""},
       {"let a = s[32, 0];",
        "2: index 32 is outside dimension 0 of `s`, which has 32 elements [out-of-range]"},
       {"let a = s[-1, 0];",
        "2: index -1 is outside dimension 0 of `s`, which has 32 elements [out-of-range]"},
       {"view z = s[30 :+ 4, :];",
        "2: index 33 is outside dimension 0 of `s`, which has 32 elements [out-of-range]"},
       {"copy(s[8, 0], f);",
        "2: index 39 is outside dimension 0 of `s`, which has 32 elements [out-of-range]"},
       {"view z = reshape(s, [5, 5]);",
        "2: `reshape` changes the number of elements from 2048 to 25 [reshape]"},
       {"view z = reshape(s, [64, 32]);", ""},
       {"view z = reshape(f, [1024]);",
        "2: `reshape` applies to tensors, workspaces and shared buffers [reshape]"},
       {"shared z: f16[2, 3] = 0; view y = bitcast(f32, z);",
        "2: the last extent 3 of `z` is not a whole number of `f32` elements [bitcast-extent]"},
       {"view z = bitcast(u32, s); let a = z[0, 31];", ""},
       {"C = 1;", "2: tensor `C` is not a tile [tensor-operand]"},
       {"let a = C + 1;", "2: tensor `C` is not a tile [tensor-operand]"},
       {"gemm(A, t, f);", "2: tensor `A` is not a tile [tensor-operand]"},
       {"const L: i32[2] = [1, 2]; let a = L + 1;",
        "2: constant array `L` is not a tile [tensor-operand]"},
       {"const L: i32[2] = [1, 2]; copy(A[L, 0], f);",
        "2: constant array `L` is not a tile [tensor-operand]"},
       {"C[0 :+ 4, :] = 1;", "2: tensor `C` is not a tile [tensor-operand]"}},
      before, after);
}

// A read that no path reaches after a write.
TEST(Rules, Uninitialised) {
  const char *z = "2: `z` is read before it has a value [uninitialised]";
  expectRules(
      {{"fragment z: f32[32, 32]; gemm(s, t, z);", z},
       {"fragment z: f32[32, 32]; gemm(s, t, z, accumulate = false); gemm(s, t, z);", ""},
       {"fragment z: f32[32, 32]; for u in 0..n { gemm(s, t, z); }", z},
       {"fragment z: f32[32, 32]; for u in pipelined(0..n, stages = 2) { gemm(s, t, z); }", z},
       {"fragment z: f32[32, 32]; for u in 0..n { for x in 0..u { gemm(s, t, z); } }", z},
       {"fragment z: f32[32, 32]; for u in 0..n { gemm(s, t, z, accumulate = false); } r = "
        "reduce_sum(z, axis = 1);",
        ""},
       {"fragment z: f32[32, 32]; for u in 0..n { if u == 0 { z = 0; } gemm(s, t, z); }", ""},
       {"fragment z: f32[32, 32]; for u in 0..n { for x in 0..u { gemm(s, t, z); } z = 0; }", ""},
       {"fragment z: f32[32]; for u in 0..n { z += 1; }", z},
       {"fragment z: f32[32]; for u in 0..n { let x = z + 1; z = x; }", z},
       {"fragment z: f32[32]; for u in 0..n { if u > 0 { r = z; } z = r; }", ""},
       {"fragment z: f32[32]; for u in 0..n { if u > 0 { r = z; } else { z = 1; } }", ""},
       {"fragment z: f32[32]; if n > 1 { r = z; } z = 1;", z},
       {"fragment z: f32[32]; if n > 1 { z = 1; } else { r = z; }", z},
       {"fragment z: f32[32]; let a = n > 1 && z[0] > 0; z = 1;", z},
       {"fragment z: f32[32]; if n > 1 { z = 1; } if n > 2 { r = z; }", ""},
       {"fragment z: f32[32]; if n > 1 { return; } r = z; z = 1;", z},
       {"for u in 0..n { fragment z: f32[32]; if u > 1 { r = z; } z = 1; }", z},
       {"fragment z: f32[32]; for u in 0..n { if u == 2 { continue; } r = z; z = 1; }", z},
       {"fragment z: f32[32]; for u in 0..n { if u < 2 { z = 1; continue; } r = z; }", ""},
       {"fragment z: f32[32]; for u in 0..n { for x in 0..n { if x == u { break; } r = z; } z = 1; "
        "}",
        ""},
       {"fragment z: f32[32]; for u in 0..n { if u == 1 { break; } z = 1; } r = z;", ""},
       {"fragment z: f32[32]; while v < n { v += 1; if v == 1 { z = 1; break; } } r = z;", ""},
       {"fragment z: f32[32]; while z[0] < 1 { z = 1; }", z},
       {"fragment z: f32[32]; parallel (x) in z { z[x] = 1; } r = z;", ""},
       {"fragment z: f32[32]; parallel (x) in z { let a = z[x]; z[x] = a + 1; }", z},
       {"shared z: f32[4]; view y = z[0 :+ 2]; let a = y[0];",
        "2: `y` is read before it has a value [uninitialised]"},
       {"shared z: f32[4]; view y = z[0 :+ 2]; y[0] = 1; let a = z[0];", ""},
       {"shared z: f32[4]; parallel x in z { r[x] = 1; } z = 1;", ""},
       {"shared z: i32[4]; threads(x: 128) { atomic_add(z[x], 1); }", z},
       {"shared z: i32[128]; threads(x: 128) { if x < 3 { z[x] = 1; } sync_threads(); let a = "
        "z[127 - x]; }",
        ""},
       {"local z: i32; threads(x: 128) { for u in 0..n { z += 1; } }", z},
       {"local z: i32; threads(x: 128) { z = 1; } let a = reduce_sum(z);", ""}},
      before, after);
}

TEST(Rules, UninitialisedArguments) {
  const std::string functions =
      "tile fn put(x: out fragment f32[N]) { x = 1; } tile fn sum(x: fragment f32[N]) -> f32 { "
      "return reduce_sum(x); } tile fn add(x: inout fragment f32[N]) { x += 1; } tile fn fill(x: "
      "inout fragment f32[N], n: i32) { if n > 1 { x = 1; } } tile fn drop(x: inout fragment "
      "f32[N], n: i32) { if n > 1 { x += 1; } } ";
  const char *x = "1: `x` is read before it has a value [uninitialised]";
  expectRules({{"fragment z: f32[4]; put(z); add(z); let a = sum(z);", ""},
               {"fragment z: f32[4]; let a = sum(z);", x},
               {"fragment z: f32[4]; add(z);", x},
               {"fragment z: f32[4]; for u in 0..n { add(z); }", x},
               {"fragment z: f32[4]; drop(z, n);", x},
               {"fragment z: f32[4]; fill(z, n); drop(z, n); let a = sum(z);", ""}},
              functions + before, after);
}

TEST(Rules, Copies) {
  expectRules(
      {{"copy(A[i, j], s); copy(f, C[i, j]); copy(s, C[i :+ 32, j :+ 64]);", ""},
       {"copy(C[q, 0], f);", ""},
       {"copy(A[0, 0], C[0, 0]);", "2: both sides of `copy` are global memory [copy-global]"},
       {"copy(w[0, 0], C[0, 0]);", "2: both sides of `copy` are global memory [copy-global]"},
       {"copy(s[0, 0], C[0, 0]);",
        "2: neither side of `copy` says how much is copied [copy-extent]"},
       {"copy(C[0 :+ 8, 0 :+ 8], f);",
        "2: the sides of `copy` have shapes [8, 8] and [32, 32] [copy-shape]"},
       {"copy(C[0..n, 0 :+ 32], f);",
        "2: the sides of `copy` have shapes [?, 32] and [32, 32] [copy-shape]"},
       {"copy(s, t);", "2: the sides of `copy` have shapes [32, 64] and [64, 32] [copy-shape]"},
       {"copy(s, s);", "2: source and destination of `copy` overlap [copy-overlap]"},
       {"copy(s[0 :+ 8, :], s[4 :+ 8, :]);",
        "2: source and destination of `copy` overlap [copy-overlap]"},
       {"copy(s[0 :+ 8, :], s[8 :+ 8, :]);", ""},
       {"view z = s[:, 0 :+ 32]; copy(z, s[:, 32 :+ 32]);", ""},
       {"copy(A[q, 0], t);",
        "2: index tile `q` has 32 elements, but the other side has 64 [gather-length]"},
       {"copy(f, A[0, 0]);",
        "2: `A` is written, but has no direction `out` or `inout` [write-to-in]"},
       {"copy(B[0, 0], f);", "2: `B` is read, but declared `out` [read-of-out]"},
       {"copy(f, f + 1);", "2: argument `dst` of `copy` must be a region of memory [arguments]"},
       {"copy(f > 0.0, C[0, 0]);", "2: `bool` does not convert to `f32` [conversion]"},
       {"copy(P[i, 0], s);", ""},
       {"copy(P[i, 1], s);", "2: a slice of `u4` starts at odd index 1 [packed-slice]"}},
      before, after);
}

TEST(Rules, Products) {
  expectRules(
      {{"gemm(s, t, f); gemm(t, s, f, transpose_a = true, transpose_b = true);", ""},
       {"gemm(s, s, f, transpose_b = true, accumulate = false, policy = full_row);", ""},
       {"gemm(s, s, f);",
        "2: `gemm` of [32, 64] and [32, 64] into [32, 32]: A sums over 64, B over 32 [gemm-shape]"},
       {"gemm(t, s, f);",
        "2: `gemm` of [64, 32] and [32, 64] into [32, 32]: the product is [64, 64] [gemm-shape]"},
       {"gemm(r, s, f);", "2: `gemm` of f32[32] and f16[32, 64] into f32[32, 32]: they must be "
                          "matrices [gemm-shape]"},
       {"gemm(s, bf16(t), f);", "2: there is no `gemm` of `f16` and `bf16` into `f32` [gemm-type]"},
       {"gemm(f32(s), f32(t), f); gemm(f32(s), f32(t), f, precision = tf32);", ""},
       {"gemm(s, t, f, precision = tf32);", "2: option `precision` of `gemm` does not apply: it "
                                            "concerns products of `f32` [gemm-option]"},
       {"gemm(s, t, f, promote = 64);", "2: option `promote` of `gemm` does not apply: it concerns "
                                        "products of `e4m3` and `e5m2` [gemm-option]"},
       {"gemm(s, t, f, policy = wide);", "2: option `policy` of `gemm` does not apply: it is "
                                         "`square`, `full_row` or `full_col` [gemm-option]"},
       {"gemm(e4m3(s), e4m3(t), f, promote = 64);", ""},
       {"gemm(s, t, f, accumulate = n > 1);", "2: `accumulate` must be a constant [not-constant]"},
       {"gemm(s, t, s);", "2: A of `gemm` is also the accumulator [gemm-operand]"},
       {"gemm(f, f, f);", "2: A of `gemm` is also the accumulator [gemm-operand]"},
       {"let a = gemm(s, t, f);",
        "2: one value is expected here, but this is no value [type-mismatch]"},
       {"gemm(s, t);", "2: `gemm` is called without its argument `acc` [arguments]"},
       {"gemm(s, t, f, transpose = true);",
        "2: `gemm` has no parameter named `transpose` [arguments]"}},
      before, after);
}

TEST(Rules, Operations) {
  expectRules(
      {{"let a = reduce(first, f, axis = 0); let b = scan_sum(f, axis = 1);", ""},
       {"let a = reduce(nothing, f);", "2: there is no function `nothing` [undeclared]"},
       {"let a = reduce(first, f, f);",
        "2: argument `f` of `reduce` must be a function of 4 scalars with 2 results [arguments]"},
       {"let a = scan_sum(f);", "2: `scan_sum` is called without its argument `axis` [arguments]"},
       {"let a = reduce_sum(v);",
        "2: a tile for `reduce_sum` is expected here, but this is i32 [type-mismatch]"},
       {"let a = atomic_add(D[0], 1); atomic_add(C[i, j], f); atomic_add(w[0, 0], 1.0);", ""},
       {"atomic_add(B[0, 0], 1.0);", "2: an atomic on `B`, which is not `inout` [atomic-place]"},
       {"atomic_add(s, transpose(s));",
        "2: the sides of `atomic_add` have shapes [32, 64] and [64, 32] [copy-shape]"},
       {"atomic_add(A[0, 0], 1.0);", "2: an atomic on `A`, which is not `inout` [atomic-place]"},
       {"atomic_add(f[0, 0], 1.0);",
        "2: an atomic on `f`, which is not shared or global [atomic-place]"},
       {"atomic_add(s[0, 0], 1.0); atomic_and(C[0, 0], 1.0);",
        "2: `atomic_and` does not exist for `f32` [atomic-type]"},
       {"shared z: i16[4] = 0; atomic_add(z[0], 1);",
        "2: `atomic_add` does not exist for `i16` [atomic-type]"},
       {"atomic_add(D[0], 1, order = strong);",
        "2: argument `order` of `atomic_add` must be `relaxed` or `acq_rel` [arguments]"},
       {"print(\"{} {}\", v, f);", ""},
       {"print(\"{} {}\", v);", "2: the text has 2 `{}`, but there are 1 values [format]"},
       {"print(v);", "2: the format is a string literal [format]"},
       {"assert(v > 0, \"v is {}\", v); assume(v < 9);", ""},
       {"sync_threads();", "2: `sync_threads` cannot be called from block code [call-place]"},
       {"let a = warp_scan_sum(v);",
        "2: `warp_scan_sum` cannot be called from block code [call-place]"},
       {"let a = warp_sum(v);", "2: `warp_sum` cannot be called from block code [call-place]"}},
      before, after);
}

TEST(Rules, Parallel) {
  expectRules(
      {{"parallel (a, b) in f { f[a, b] = f[a, b] * r[a]; }", ""},
       {"parallel (a, b) in f { r[a] = 1; }",
        "2: iterations of this loop write the same element of `r` [parallel-race]"},
       {"parallel a in r { r[0] = 1; }",
        "2: iterations of this loop write the same element of `r` [parallel-race]"},
       {"parallel (a, b) in f { if b == 0 { r[a] = f[a, 0]; } }", ""},
       {"parallel a in [31] { r[a] = r[a + 1]; }",
        "2: iterations of this loop write and read the same element of `r` [parallel-race]"},
       {"parallel (a, b) in f { f[a, b] = f[b, a]; }",
        "2: iterations of this loop write and read the same element of `f` [parallel-race]"},
       {"parallel a in r { f = 1; }",
        "2: assignment of a whole tile cannot stand inside `parallel` [parallel-body]"},
       {"parallel a in r { let b = f + 1; }",
        "2: a whole tile cannot stand inside `parallel` [parallel-body]"},
       {"parallel a in r { v = 1; }",
        "2: assignment to the outer variable `v` cannot stand inside `parallel` [parallel-body]"},
       {"parallel a in r { parallel b in r { } }",
        "2: `parallel` cannot stand inside `parallel` [parallel-body]"},
       {"parallel a in r { copy(A[0, 0], s); }",
        "2: `copy` cannot stand inside `parallel` [parallel-body]"},
       {"parallel a in r { break; }",
        "2: a `break` out of it cannot stand inside `parallel` [parallel-body]"},
       {"parallel a in r { return; }",
        "2: `return` cannot stand inside `parallel` [parallel-body]"},
       {"parallel a in r { for b in 0..4 { if b == 2 { break; } } }", ""},
       {"parallel a in r { r[a + 1] = 1; }",
        "2: subscript 0 of the written fragment `r` is neither a variable of the loop nor uniform "
        "[fragment-write]"},
       {"parallel a in r { f[a, a] = 1; }", "2: subscript 1 of the written fragment `f` is neither "
                                            "a variable of the loop nor uniform [fragment-write]"},
       {"parallel a in [64] { r[a] = 1; }",
        "2: index 63 is outside dimension 0 of `r`, which has 32 elements [out-of-range]"},
       {"parallel a in [n] { r[a] = 1; }",
        "2: the extent of a `parallel` loop whose variable subscripts a fragment must be a "
        "constant [not-constant]"},
       {"parallel a in [n] { C[a, 0] = 1; }", ""},
       {"parallel a in f { }", "2: `f` has rank 2, but the names before it are of rank 1 [rank]"},
       {"parallel a in v { }",
        "2: a tile, tensor or list `[..]` is expected here, but this is i32 [type-mismatch]"}},
      before, after);
}

TEST(Rules, Loops) {
  expectRules(
      {{"for a in 0..n step 0 { }", "2: the step is 0 [loop-step]"},
       {"for a in 0..n step -1 { }", "2: the step is -1 [loop-step]"},
       {"for a in 0..1.5 { }",
        "2: an integer is expected here, but this is float constant [type-mismatch]"},
       {"break;", "2: `break` outside a serial loop or `while` [jump-place]"},
       {"for a in unrolled(0..4) { continue; }",
        "2: `continue` outside a serial loop or `while` [jump-place]"},
       {"while v < 4 { v += 1; if v == 2 { continue; } }", ""},
       {"for a in unrolled(0..n, factor = 0) { }", "2: `factor` is 0 [factor]"},
       {"for a in pipelined(0..n, stages = 0) { }", "2: `stages` is 0 [stages]"},
       {"for a in pipelined(0..n, stages = 2, hold = 37) { }", ""},
       {"for a in pipelined(0..n, hold = 101, stages = 2) { }", "2: `hold` is 101 [hold]"},
       {"for a in pipelined(0..n, stages = 2, hold = 0) { }", "2: `hold` is 0 [hold]"},
       {"for a in pipelined(0..n, stages = 2, hold = 1, hold = 2) { }",
        "2: argument `hold` of `pipelined` is given twice [arguments]"},
       {"for a in pipelined(0..n, stages = 2, turns = true) { }", ""},
       {"for a in pipelined(0..n, turns = 1 > 2, stages = 2, hold = 5) { }", ""},
       {"for a in pipelined(0..n, stages = 2, turns = n > 2) { }",
        "2: `turns` must be a constant [not-constant]"},
       {"for a in pipelined(0..n, stages = 2, turns = true, turns = true) { }",
        "2: argument `turns` of `pipelined` is given twice [arguments]"},
       {"for a in unrolled(0..n, turns = true) { }",
        "2: `unrolled` has no parameter named `turns` [arguments]"},
       {"for a in unrolled(0..n, hold = 2) { }",
        "2: `unrolled` has no parameter named `hold` [arguments]"},
       {"for a in pipelined(0..n) { }",
        "2: `pipelined` is called without its argument `stages` [arguments]"},
       {"for a in pipelined(0..n, stages = 2, depth = 1) { }",
        "2: `pipelined` has no parameter named `depth` [arguments]"},
       {"for a in pipelined(0..n, stages = 2) { break; }",
        "2: `break` leaves a pipelined loop [pipelined-jump]"},
       {"for a in pipelined(0..n, stages = 2) { if a > 1 { return; } }",
        "2: `return` leaves a pipelined loop [pipelined-jump]"},
       {"for a in pipelined(0..n, stages = 2) { for b in 0..4 { break; } }", ""},
       {"return 1;", "2: `return` cannot stand here: a launch returns no value [return-place]"},
       {"if i > 1 { return; }", ""},
       {"while w[0, 0] > 0.0 { }",
        "2: this loop waits for another block, which may never run [spin-wait]"},
       {"while atomic_add(D[0], 0) == 0 { }",
        "2: this loop waits for another block, which may never run [spin-wait]"},
       {"for a in unrolled(0..4) { view z = f[a :+ 1, :]; let b = z[0, a]; }", ""}},
      before, after);
}

TEST(Rules, Annotations) {
  expectRules(
      {{"@no_tma @cache(evict_first) copy(A[0, 0], s);", ""},
       {"@fast copy(A[0, 0], s);", "2: there is no annotation `@fast` [annotation]"},
       {"@persistent copy(A[0, 0], s);",
        "2: `@persistent` cannot stand before this statement [annotation]"},
       {"@cache(evict_first) gemm(s, t, f);",
        "2: `@cache` cannot stand before this statement [annotation]"},
       {"@cache(evict_first) print(\"x\");",
        "2: `@cache` cannot stand before this statement [annotation]"},
       {"@cache(evict_first) let x = A[0, 0]; @cache(evict_last) if x > 0.0 { @cache(no_allocate) "
        "v = 1; }",
        ""},
       {"@cache(evict_last) parallel a in [8] { @cache(no_allocate) s[a, 0] = A[a, 0]; }", ""},
       {"@cache(evict_first) threads(tx: 128) { @cache(evict_last) let x = A[tx, 0]; }", ""},
       {"@cache(never) copy(A[0, 0], s);",
        "2: `@cache` takes `evict_first`, `evict_last` or `no_allocate` [annotation]"},
       {"@no_tma @no_tma copy(A[0, 0], s);", "2: `@no_tma` stands here twice [annotation]"},
       {"@no_tma(1) copy(A[0, 0], s);", "2: `@no_tma` takes no arguments [annotation]"},
       {"@layout(swizzle(128)) shared z: f16[8, 64] = 0;", ""},
       {"@layout(swizzle(100)) shared z: f16[8, 64] = 0;",
        "2: `@layout` does not know `swizzle(100)` [annotation]"},
       {"@layout(row_major) fragment z: f16[8, 64] = 0;",
        "2: `@layout` cannot stand before this statement [annotation]"},
       {"@require(tma, vector(16), from = 90) copy(A[0, 0], s);", ""},
       {"@require(ARCH >= 90 ? tma : vector(16)) copy(A[0, 0], s);", ""},
       {"@layout(ARCH == 1 ? magic : ARCH == 2 ? row_major : swizzle(64)) shared z: f16[8, 64] = "
        "0;",
        ""},
       {"@cache(ARCH == 1 ? evict_last : magic) copy(A[0, 0], s);",
        "2: `@cache` takes `evict_first`, `evict_last` or `no_allocate` [annotation]"},
       {"@cache(n == 1 ? evict_last : evict_first) copy(A[0, 0], s);",
        "2: the condition that chooses a word must be a constant [not-constant]"},
       {"@require(magic) copy(A[0, 0], s);", "2: `@require` does not know `magic` [annotation]"},
       {"@require(vector) copy(A[0, 0], s);", "2: `@require` does not know `vector` [annotation]"},
       {"} @persistent(fast) launch a in grid(1) threads(32) {",
        "2: `@persistent` takes `static`, `dynamic` or nothing [annotation]"},
       {"} @warp_specialize(pingpong) launch a in grid(1) threads(32) {",
        "2: `@warp_specialize` with `pingpong` needs `@persistent` [annotation]"},
       {"} @rasterize(0) launch a in grid(1) threads(32) {", ""},
       {"} @rasterize(group = n) launch a in grid(1) threads(32) {", ""},
       {"} @rasterize(group = n / 8 + sm_count()) launch a in grid(1) threads(32) {", ""},
       {"} @rasterize(2.5) launch a in grid(1) threads(32) {",
        "2: an integer as height of a panel is expected here, but this is f32 [type-mismatch]"},
       {"} @rasterize(group = nobody) launch a in grid(1) threads(32) {",
        "2: `nobody` is not declared [undeclared]"},
       {"} @overlap @no_tma launch a in grid(1) threads(32) {", ""},
       {"} @overlap(1) launch a in grid(1) threads(32) {",
        "2: `@overlap` takes no arguments [annotation]"},
       {"@overlap copy(A[0, 0], s);",
        "2: `@overlap` cannot stand before this statement [annotation]"},
       {"} @cluster(2, 1) @min_blocks(2) launch a in grid(1) threads(32) {", ""},
       {"} @cluster(8) @max_registers(24) launch a in grid(1) threads(32) {", ""},
       {"} @cluster(64) launch a in grid(1) threads(32) {",
        "2: `@cluster` needs a number from 1 to 8 [annotation]"},
       {"} @cluster(4, 4) launch a in grid(1) threads(32) {",
        "2: `@cluster` has 16 blocks, a cluster has at most 8 [annotation]"},
       {"} @max_registers(1) launch a in grid(1) threads(32) {",
        "2: `@max_registers` needs a number from 24 to 255 [annotation]"},
       {"} @max_registers(256) launch a in grid(1) threads(32) {",
        "2: `@max_registers` needs a number from 24 to 255 [annotation]"},
       {"} @min_blocks(1000000000) launch a in grid(1) threads(32) {",
        "2: `@min_blocks` needs a number from 1 to 32 [annotation]"}},
      before, after);
  expectRules({{"@persistent kernel k(X: tensor<f32>[N]) { launch b in grid(N) threads(32) { } }",
                "1: `@persistent` cannot stand before a kernel [annotation]"}},
              "", "");
}

} // namespace
