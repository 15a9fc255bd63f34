// Block code: assignment, subscripts, views, copies, products, parallel loops, loops, annotations.
#include "test/unit/sema/Analyzed.h"

namespace {

const std::string before =
    "fn first(a: f32, b: f32) -> f32 { return a; } kernel k(A: tensor<f16>[M, K], B: out "
    "tensor<f32>[M, K], C: inout tensor<f32>[M, K], D: inout tensor<i32>[M], O: optional "
    "tensor<f32>[M], P: tensor<u4>[M, 64], n: i32) { workspace w: f32[M, K]; launch (i, j) in "
    "grid(M, K) threads(128) { shared s: f16[32, 64] = 0; shared t: f16[64, 32] = 0; fragment f: "
    "f32[32, 32] = 0; fragment r: f32[32] = 0; fragment q: i32[32] = 0; var v: i32 = 0;\n";
const std::string after = "\n} }";

TEST(Rules, DataAndSubscripts) {
  expectRules({{"let a = 1; a = 2;", "2 [assign-let]"},
               {"i = 2;", "2 [assign-let]"},
               {"n = 2;", "2 [assign-let]"},
               {"M = 2;", "2 [assign-let]"},
               {"max(1, 2) = 2;", "2 [assign-let]"},
               {"let a = f + 1; a[0, 0] = 2;", "2 [assign-let]"},
               {"A[0, 0] = 1;", "2 [write-to-in]"},
               {"let a = B[0, 0];", "2 [read-of-out]"},
               {"B[0, 0] += 1;", "2 [read-of-out]"},
               {"let a = O[0];", "2 [optional-unguarded]"},
               {"if present(O) && n > 1 { let a = O[0]; }", ""},
               {"let a = present(O) ? O[0] : 0.0;", ""},
               {"if !present(O) { } else { let a = O[0]; }", ""},
               {"if present(O) || n > 1 { let a = O[0]; }", "2 [optional-unguarded]"},
               {"fragment z: f32[4]; let a = z + 1;", "2 [uninitialised]"},
               {"fragment z: f32[4]; if n > 1 { z = 1; } let a = z + 1;", ""},
               {"shared z: f32[4]; for u in 0..n { let a = z[0]; }", "2 [uninitialised]"},
               {"fragment z: f32[32, 32]; gemm(s, t, z);", "2 [uninitialised]"},
               {"let a = s[0];", "2 [subscript-count]"},
               {"let a = v[0];", "2 [subscript-count]"},
               {"let a = s[1.0, 0];", "2 [subscript-type]"},
               {"let a = D[i16(3)];", "2 [subscript-type]"},
               {"view z = f[n :+ 4, 0 :+ 4];", "2 [slice-bounds]"},
               {"view z = s[n..n + 4, :];", "2 [slice-bounds]"},
               {"view z = s[n :+ 4, :];", ""},
               {"view z = C[n..n + 4, :]; copy(z[0, 0], f);", ""},
               {"let a = s[32, 0];", "2 [out-of-range]"},
               {"let a = s[-1, 0];", "2 [out-of-range]"},
               {"view z = s[30 :+ 4, :];", "2 [out-of-range]"},
               {"copy(s[8, 0], f);", "2 [out-of-range]"},
               {"view z = reshape(s, [5, 5]);", "2 [reshape]"},
               {"view z = reshape(s, [64, 32]);", ""},
               {"view z = reshape(f, [1024]);", "2 [reshape]"},
               {"shared z: f16[2, 3] = 0; view y = bitcast(f32, z);", "2 [bitcast-extent]"},
               {"view z = bitcast(u32, s); let a = z[0, 31];", ""},
               {"C = 1;", "2 [tensor-operand]"},
               {"let a = C + 1;", "2 [tensor-operand]"},
               {"gemm(A, t, f);", "2 [tensor-operand]"},
               {"C[0 :+ 4, :] = 1;", "2 [tensor-operand]"}},
              before, after);
}

TEST(Rules, Copies) {
  expectRules({{"copy(A[i, j], s); copy(f, C[i, j]); copy(s, C[i :+ 32, j :+ 64]);", ""},
               {"copy(C[q, 0], f);", ""},
               {"copy(A[0, 0], C[0, 0]);", "2 [copy-global]"},
               {"copy(w[0, 0], C[0, 0]);", "2 [copy-global]"},
               {"copy(s[0, 0], C[0, 0]);", "2 [copy-extent]"},
               {"copy(C[0 :+ 8, 0 :+ 8], f);", "2 [copy-shape]"},
               {"copy(C[0..n, 0 :+ 32], f);", "2 [copy-shape]"},
               {"copy(s, t);", "2 [copy-shape]"},
               {"copy(s, s);", "2 [copy-overlap]"},
               {"copy(s[0 :+ 8, :], s[4 :+ 8, :]);", "2 [copy-overlap]"},
               {"copy(s[0 :+ 8, :], s[8 :+ 8, :]);", ""},
               {"view z = s[:, 0 :+ 32]; copy(z, s[:, 32 :+ 32]);", ""},
               {"copy(A[q, 0], t);", "2 [gather-length]"},
               {"copy(f, A[0, 0]);", "2 [write-to-in]"},
               {"copy(B[0, 0], f);", "2 [read-of-out]"},
               {"copy(f, f + 1);", "2 [arguments]"},
               {"copy(f > 0.0, C[0, 0]);", "2 [conversion]"},
               {"copy(P[i, 0], s);", ""},
               {"copy(P[i, 1], s);", "2 [packed-slice]"}},
              before, after);
}

TEST(Rules, Products) {
  expectRules({{"gemm(s, t, f); gemm(t, s, f, transpose_a = true, transpose_b = true);", ""},
               {"gemm(s, s, f, transpose_b = true, accumulate = false, policy = full_row);", ""},
               {"gemm(s, s, f);", "2 [gemm-shape]"},
               {"gemm(t, s, f);", "2 [gemm-shape]"},
               {"gemm(r, s, f);", "2 [gemm-shape]"},
               {"gemm(s, bf16(t), f);", "2 [gemm-type]"},
               {"gemm(f32(s), f32(t), f); gemm(f32(s), f32(t), f, precision = tf32);", ""},
               {"gemm(s, t, f, precision = tf32);", "2 [gemm-option]"},
               {"gemm(s, t, f, promote = 64);", "2 [gemm-option]"},
               {"gemm(s, t, f, policy = wide);", "2 [gemm-option]"},
               {"gemm(e4m3(s), e4m3(t), f, promote = 64);", ""},
               {"gemm(s, t, f, accumulate = n > 1);", "2 [not-constant]"},
               {"gemm(s, t, s);", "2 [gemm-operand]"},
               {"gemm(f, f, f);", "2 [gemm-operand]"},
               {"let a = gemm(s, t, f);", "2 [type-mismatch]"},
               {"gemm(s, t);", "2 [arguments]"},
               {"gemm(s, t, f, transpose = true);", "2 [arguments]"}},
              before, after);
}

TEST(Rules, Operations) {
  expectRules(
      {{"let a = reduce(first, f, axis = 0); let b = scan_sum(f, axis = 1);", ""},
       {"let a = reduce(nothing, f);", "2 [undeclared]"},
       {"let a = reduce(first, f, f);", "2 [arguments]"},
       {"let a = scan_sum(f);", "2 [arguments]"},
       {"let a = reduce_sum(v);", "2 [type-mismatch]"},
       {"let a = atomic_add(D[0], 1); atomic_add(C[i, j], f); atomic_add(w[0, 0], 1.0);", ""},
       {"atomic_add(B[0, 0], 1.0);", "2 [atomic-place]"},
       {"atomic_add(A[0, 0], 1.0);", "2 [atomic-place]"},
       {"atomic_add(f[0, 0], 1.0);", "2 [atomic-place]"},
       {"atomic_add(s[0, 0], 1.0); atomic_and(C[0, 0], 1.0);", "2 [atomic-type]"},
       {"shared z: i16[4] = 0; atomic_add(z[0], 1);", "2 [atomic-type]"},
       {"atomic_add(D[0], 1, order = strong);", "2 [arguments]"},
       {"print(\"{} {}\", v, f);", ""},
       {"print(\"{} {}\", v);", "2 [format]"},
       {"print(v);", "2 [format]"},
       {"assert(v > 0, \"v is {}\", v); assume(v < 9);", ""},
       {"sync_threads();", "2 [call-place]"},
       {"let a = warp_sum(v);", "2 [call-place]"}},
      before, after);
}

TEST(Rules, Parallel) {
  expectRules({{"parallel (a, b) in f { f[a, b] = f[a, b] * r[a]; }", ""},
               {"parallel (a, b) in f { r[a] = 1; }", "2 [parallel-race]"},
               {"parallel a in r { r[0] = 1; }", "2 [parallel-race]"},
               {"parallel (a, b) in f { if b == 0 { r[a] = f[a, 0]; } }", ""},
               {"parallel a in [31] { r[a] = r[a + 1]; }", "2 [parallel-race]"},
               {"parallel (a, b) in f { f[a, b] = f[b, a]; }", "2 [parallel-race]"},
               {"parallel a in r { f = 1; }", "2 [parallel-body]"},
               {"parallel a in r { let b = f + 1; }", "2 [parallel-body]"},
               {"parallel a in r { v = 1; }", "2 [parallel-body]"},
               {"parallel a in r { parallel b in r { } }", "2 [parallel-body]"},
               {"parallel a in r { copy(A[0, 0], s); }", "2 [parallel-body]"},
               {"parallel a in r { break; }", "2 [parallel-body]"},
               {"parallel a in r { return; }", "2 [parallel-body]"},
               {"parallel a in r { for b in 0..4 { if b == 2 { break; } } }", ""},
               {"parallel a in r { r[a + 1] = 1; }", "2 [fragment-write]"},
               {"parallel a in r { f[a, a] = 1; }", "2 [fragment-write]"},
               {"parallel a in [64] { r[a] = 1; }", "2 [out-of-range]"},
               {"parallel a in [n] { r[a] = 1; }", "2 [not-constant]"},
               {"parallel a in [n] { C[a, 0] = 1; }", ""},
               {"parallel a in f { }", "2 [rank]"},
               {"parallel a in v { }", "2 [type-mismatch]"}},
              before, after);
}

TEST(Rules, Loops) {
  expectRules(
      {{"for a in 0..n step 0 { }", "2 [loop-step]"},
       {"for a in 0..n step -1 { }", "2 [loop-step]"},
       {"for a in 0..1.5 { }", "2 [type-mismatch]"},
       {"break;", "2 [jump-place]"},
       {"for a in unrolled(0..4) { continue; }", "2 [jump-place]"},
       {"while v < 4 { v += 1; if v == 2 { continue; } }", ""},
       {"for a in unrolled(0..n, factor = 0) { }", "2 [factor]"},
       {"for a in pipelined(0..n, stages = 0) { }", "2 [stages]"},
       {"for a in pipelined(0..n) { }", "2 [arguments]"},
       {"for a in pipelined(0..n, stages = 2, depth = 1) { }", "2 [arguments]"},
       {"for a in pipelined(0..n, stages = 2) { break; }", "2 [pipelined-jump]"},
       {"for a in pipelined(0..n, stages = 2) { if a > 1 { return; } }", "2 [pipelined-jump]"},
       {"for a in pipelined(0..n, stages = 2) { for b in 0..4 { break; } }", ""},
       {"return 1;", "2 [return-place]"},
       {"if i > 1 { return; }", ""},
       {"while w[0, 0] > 0.0 { }", "2 [spin-wait]"},
       {"while atomic_add(D[0], 0) == 0 { }", "2 [spin-wait]"},
       {"for a in unrolled(0..4) { view z = f[a :+ 1, :]; let b = z[0, a]; }", ""}},
      before, after);
}

TEST(Rules, Annotations) {
  expectRules({{"@no_tma @cache(evict_first) copy(A[0, 0], s);", ""},
               {"@fast copy(A[0, 0], s);", "2 [annotation]"},
               {"@persistent copy(A[0, 0], s);", "2 [annotation]"},
               {"@cache(evict_first) gemm(s, t, f);", "2 [annotation]"},
               {"@cache(never) copy(A[0, 0], s);", "2 [annotation]"},
               {"@no_tma @no_tma copy(A[0, 0], s);", "2 [annotation]"},
               {"@no_tma(1) copy(A[0, 0], s);", "2 [annotation]"},
               {"@layout(swizzle(128)) shared z: f16[8, 64] = 0;", ""},
               {"@layout(swizzle(100)) shared z: f16[8, 64] = 0;", "2 [annotation]"},
               {"@layout(row_major) fragment z: f16[8, 64] = 0;", "2 [annotation]"},
               {"@require(tma, vector(16), from = 90) copy(A[0, 0], s);", ""},
               {"@require(magic) copy(A[0, 0], s);", "2 [annotation]"},
               {"@require(vector) copy(A[0, 0], s);", "2 [annotation]"},
               {"} @persistent(fast) launch a in grid(1) threads(32) {", "2 [annotation]"},
               {"} @warp_specialize(pingpong) launch a in grid(1) threads(32) {", "2 [annotation]"},
               {"} @rasterize(0) launch a in grid(1) threads(32) {", "2 [annotation]"},
               {"} @rasterize(group = n) launch a in grid(1) threads(32) {", "2 [not-constant]"},
               {"} @cluster(2, 1) @min_blocks(2) launch a in grid(1) threads(32) {", ""},
               {"} @cluster(8) @max_registers(24) launch a in grid(1) threads(32) {", ""},
               {"} @cluster(64) launch a in grid(1) threads(32) {", "2 [annotation]"},
               {"} @cluster(4, 4) launch a in grid(1) threads(32) {", "2 [annotation]"},
               {"} @max_registers(1) launch a in grid(1) threads(32) {", "2 [annotation]"},
               {"} @max_registers(256) launch a in grid(1) threads(32) {", "2 [annotation]"},
               {"} @min_blocks(1000000000) launch a in grid(1) threads(32) {", "2 [annotation]"}},
              before, after);
  expectRules({{"@persistent kernel k(X: tensor<f32>[N]) { launch b in grid(N) threads(32) { } }",
                "1 [annotation]"}},
              "", "");
}

} // namespace
