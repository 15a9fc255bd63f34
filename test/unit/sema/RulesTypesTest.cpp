// Types, constants, conversions, constant expressions: each rule broken once.
#include "test/unit/sema/Analyzed.h"

namespace {

const std::string before =
    "kernel k(A: tensor<f16>[M, K], C: inout tensor<f32>[M, K], n: i32, big: i64, scale: f32, "
    "flag: bool) { launch (i, j) in grid(M, K) threads(128) { shared s: f16[32, 64] = 0; fragment "
    "f: f32[32, 64] = 0; fragment g: f32[64, 32] = 0; shared e: e4m3[32, 64] = 0; var v: i32 = 0; "
    "var x: f32 = 0;\n";
const std::string after = "\n} }";

TEST(Rules, Types) {
  expectRules({{"v = v + 1; x = x * 2; x = 1e30;", ""},
               {"let a = e + e;", "2 [storage-type]"},
               {"let a = e * 2.0;", "2 [storage-type]"},
               {"let a = f32(e) * 2.0;", ""},
               {"let a = exp(e);", "2 [storage-type]"},
               {"let a = reduce_sum(e);", "2 [storage-type]"},
               {"let a = v + x;", "2 [type-mismatch]"},
               {"let a = v + big;", "2 [type-mismatch]"},
               {"v = x;", "2 [type-mismatch]"},
               {"v = 1.5;", "2 [type-mismatch]"},
               {"v = true;", "2 [type-mismatch]"},
               {"let a = flag ? v : x;", "2 [type-mismatch]"},
               {"let a: f32 = v;", "2 [type-mismatch]"},
               {"let a = s + f;", "2 [type-mismatch]"},
               {"let a = \"text\";", "2 [type-mismatch]"},
               {"let a = f32;", "2 [type-mismatch]"},
               {"let (a, b) = 1;", "2 [type-mismatch]"},
               {"var a = f;", "2 [type-mismatch]"},
               {"if v { }", "2 [not-bool]"},
               {"while x { }", "2 [not-bool]"},
               {"let a = v ? 1 : 2;", "2 [not-bool]"},
               {"let a = flag && v;", "2 [not-bool]"},
               {"let a = flag + flag;", "2 [operator-type]"},
               {"let a = x & x;", "2 [operator-type]"},
               {"let a = x % 2.0;", "2 [operator-type]"},
               {"let a = !v;", "2 [operator-type]"},
               {"let a = ~x;", "2 [operator-type]"},
               {"let a = -flag;", "2 [operator-type]"},
               {"let a = flag < flag;", "2 [operator-type]"},
               {"let a = sqrt(v);", "2 [operator-type]"},
               {"let a = ceildiv(x, 2.0);", "2 [operator-type]"},
               {"let a = reduce_any(f);", "2 [operator-type]"},
               {"let a = reduce_xor(f);", "2 [operator-type]"},
               {"x <<= 1;", "2 [operator-type]"},
               {"let a = bool(v);", "2 [conversion]"},
               {"let a = f32(flag);", "2 [conversion]"},
               {"let a = e8m0(x);", "2 [conversion]"},
               {"let a = bitcast(i64, x);", "2 [conversion]"},
               {"let a = i32(flag) + i32(x) + bitcast(i32, x);", ""},
               {"let a = f + g;", "2 [shape-mismatch]"},
               {"f = g;", "2 [shape-mismatch]"},
               {"let a = max(f, g);", "2 [shape-mismatch]"}},
              before, after);
}

TEST(Rules, Constants) {
  expectRules(
      {{"v = 2147483648;", "2 [constant-fit]"},
       {"let a: u8 = 256;", "2 [constant-fit]"},
       {"let a: u8 = -1;", "2 [constant-fit]"},
       {"let a: f16 = 2049;", "2 [constant-fit]"},
       {"let a: f16 = 1e10;", "2 [constant-fit]"},
       {"let a: f16 = inf;", ""},
       {"let a = 18446744073709551615 + 1;", "2 [constant-fit]"},
       {"let a = 1 / 0;", "2 [constant-fit]"},
       {"let a = v / 0;", "2 [constant-fit]"},
       {"let a = 1 << 64;", "2 [constant-fit]"},
       {"let a: u64 = 18446744073709551615;", ""},
       {"const a = n;", "2 [not-constant]"},
       {"fragment a: f32[n];", "2 [not-constant]"},
       {"let a = reduce_sum(f, axis = n);", "2 [not-constant]"},
       {"for a in pipelined(0..4, stages = n) { }", "2 [not-constant]"},
       {"for a in unrolled(0..4, factor = n) { }", "2 [not-constant]"},
       {"for a in unrolled(0..n) { }", "2 [not-constant]"},
       {"@no_tma copy(C[0 :+ n, 0], f);", "2 [not-constant]"},
       {"threads(t: n) { }", "2 [not-constant]"},
       {"fragment a: f32[0];", "2 [shape-empty]"},
       {"shared a: f32[4, -1];", "2 [shape-empty]"},
       {"fragment a: f32[1000000000];", "2 [fragment-too-large]"},
       {"fragment a: f32[1, 1, 1, 1, 1, 1];", "2 [rank]"},
       {"let a = reduce_sum(f, axis = 2);", "2 [rank]"},
       {"let a = transpose(reduce_sum(f, axis = 0));", "2 [rank]"},
       {"shared a: u4[4, 3];", "2 [packed-extent]"},
       {"shared a: u4[4, 8] = 0; copy(a[:, 1 :+ 4], C[0, 0]);", "2 [packed-slice]"},
       {"shared a: u4[4, 8] = 0; a[0, 0] = 1;", "2 [packed-write]"},
       {"shared a: u4[4, 8] = 0; parallel (y, z) in a { a[y, z] = 1; }", ""},
       {"shared a: u4[4, 8] = 0; parallel (y, z) in [8, 4] { a[z, y] = 1; }", "2 [packed-write]"},
       {"const L: f32[2] = [1, 2]; let a = L[v];", ""},
       {"const L: f32[2] = [1, 2, 3];", "2 [shape-mismatch]"},
       {"const L: f32[2] = [1, 2]; let a = L[2];", "2 [out-of-range]"},
       {"const L: f32[2] = [1, 2]; L[0] = 1;", "2 [assign-let]"},
       {"if 1 > 2 { let a = v + x; }", ""},
       {"let a = 1 > 2 ? v + x : 3;", ""},
       {"if ARCH >= 80 && bits(f16) == 16 { let a = v + x; }", "2 [type-mismatch]"}},
      before, after);
}

} // namespace
