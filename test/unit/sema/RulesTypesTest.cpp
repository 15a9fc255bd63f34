// Types, constants, conversions, constant expressions: each rule broken once.
#include "test/unit/sema/Analyzed.h"

namespace {

const char *const before =
    "kernel k(A: tensor<f16>[M, K], C: inout tensor<f32>[M, K], n: i32, big: i64, scale: f32, "
    "flag: bool) { launch (i, j) in grid(M, K) threads(128) { shared s: f16[32, 64] = 0; fragment "
    "f: f32[32, 64] = 0; fragment g: f32[64, 32] = 0; shared e: e4m3[32, 64] = 0; var v: i32 = 0; "
    "var x: f32 = 0;\n";
const char *const after = "\n} }";

TEST(Rules, Types) {
  expectRules(
      {{"v = v + 1; x = x * 2; x = 1e30;", ""},
       {"let a = e + e;", "2: `e4m3` only stores: it cannot be an operand of `+` [storage-type]"},
       {"let a = e * 2.0;", "2: `e4m3` only stores: it cannot be an operand of `*` [storage-type]"},
       {"let a = f32(e) * 2.0;", ""},
       {"let a = exp(e);",
        "2: `e4m3` only stores: it cannot be an operand of `exp` [storage-type]"},
       {"let a = reduce_sum(e);",
        "2: `e4m3` only stores: it cannot be an operand of `reduce_sum` [storage-type]"},
       {"let a = v + x;", "2: the operands of `+` are `i32` and `f32` [type-mismatch]"},
       {"let a = v + big;", "2: the operands of `+` are `i32` and `i64` [type-mismatch]"},
       {"v = x;", "2: `i32` is expected here, but this is `f32` [type-mismatch]"},
       {"v = 1.5;", "2: `i32` is expected here, but this is `float constant` [type-mismatch]"},
       {"v = true;", "2: `i32` is expected here, but this is `bool` [type-mismatch]"},
       {"let a = flag ? v : x;", "2: the operands of `?:` are `i32` and `f32` [type-mismatch]"},
       {"let a: f32 = v;", "2: `f32` is expected here, but this is `i32` [type-mismatch]"},
       {"let a = s + f;",
        "2: the operands of `+` are `f16[32, 64]` and `f32[32, 64]` [type-mismatch]"},
       {"let a = \"text\";", "2: a value is expected here, but this is string [type-mismatch]"},
       {"let a = f32;", "2: a value is expected here, but this is type [type-mismatch]"},
       {"let (a, b) = 1;",
        "2: 2 values is expected here, but this is integer constant [type-mismatch]"},
       {"var a = f;", "2: a scalar is expected here, but this is f32[32, 64] [type-mismatch]"},
       {"if v { }", "2: a condition is `bool`, but this is `i32` [not-bool]"},
       {"while x { }", "2: a condition is `bool`, but this is `f32` [not-bool]"},
       {"let a = v ? 1 : 2;", "2: a condition is `bool`, but this is `i32` [not-bool]"},
       {"let a = flag && v;", "2: a condition is `bool`, but this is `i32` [not-bool]"},
       {"let a = flag + flag;", "2: `+` takes numbers, not `bool` [operator-type]"},
       {"let a = x & x;", "2: `&` takes integers, not `f32` [operator-type]"},
       {"let a = x % 2.0;", "2: `%` takes integers, not `f32` [operator-type]"},
       {"let a = !v;", "2: `!` takes bools, not `i32` [operator-type]"},
       {"let a = ~x;", "2: `~` takes integers, not `f32` [operator-type]"},
       {"let a = -flag;", "2: `-` takes numbers, not `bool` [operator-type]"},
       {"let a = flag < flag;", "2: `<` takes numbers, not `bool` [operator-type]"},
       {"let a = sqrt(v);", "2: `sqrt` takes floats, not `i32` [operator-type]"},
       {"let a = ceildiv(x, 2.0);", "2: `ceildiv` takes integers, not `f32` [operator-type]"},
       {"let a = reduce_any(f);", "2: `reduce_any` takes bools, not `f32[32, 64]` [operator-type]"},
       {"let a = reduce_xor(f);",
        "2: `reduce_xor` takes integers, not `f32[32, 64]` [operator-type]"},
       {"x <<= 1;", "2: `<<` takes integers, not `f32` [operator-type]"},
       {"let a = bool(v);", "2: `i32` does not convert to `bool` [conversion]"},
       {"let a = f32(flag);", "2: `bool` does not convert to `f32` [conversion]"},
       {"let a = e8m0(x);", "2: `f32` does not convert to `e8m0` [conversion]"},
       {"let a = bitcast(i64, x);",
        "2: `bitcast` from `f32` to `i64` changes the size [conversion]"},
       {"let a = i32(flag) + i32(x) + bitcast(i32, x);", ""},
       {"let a = f + g;", "2: shapes [32, 64] and [64, 32] differ [shape-mismatch]"},
       {"f = g;", "2: shapes [32, 64] and [64, 32] differ [shape-mismatch]"},
       {"let a = max(f, g);", "2: shapes [32, 64] and [64, 32] differ [shape-mismatch]"}},
      before, after);
}

// `before` has f: f32[32, 64], g: f32[64, 32], s: f16[32, 64].
TEST(Rules, OpenDimensions) {
  expectRules(
      {{"f = f - r[:, _];", ""},
       {"f = r[:, _];", ""},
       {"f -= r[:, _];", ""},
       {"fragment a: f32[32, 8] = r[:, _];", ""},
       {"let a: f32[32, 8] = r[:, _];", ""},
       {"copy(r[:, _], f);", ""},
       {"f = r[:, _] * c[_, :] + 1;", ""},
       {"let a = max(0, exp2(r)[:, _], -c[_, :]);", ""},
       {"f = r[:, _] > c[_, :] ? f : r[:, _];", ""},
       {"f = r[:, _] > 0 ? 1 : -r[:, _];", ""},
       {"f = clamp(f, -1, r[:, _]);", ""},
       {"f = f32(f16(r[:, _]));", ""},
       {"let a = f[0 :+ 8, :] * r[8 :+ 8][:, _];", ""},
       {"let a = f[0 :+ 8, :] * r[8 :+ 8, _];", ""},
       {"f = f + f[3, :, _][0, _];", "2: nothing here says how often this tile of shape [64, _] is "
                                     "repeated along dimension 1 [open-extent]"},
       {"f = f + f[3, _, :];", ""},
       {"f = f + f[3, 5, _];", ""},
       {"let a = r[:, _, _] + c[_, :, _] + r[_, _, :];", ""},
       {"let a = r[:, _];", "2: nothing here says how often this tile of shape [32, _] is repeated "
                            "along dimension 1 [open-extent]"},
       {"let a = c[_, :] + 1;", "2: nothing here says how often this tile of shape [_, 64] is "
                                "repeated along dimension 0 [open-extent]"},
       {"let a = r[:, _, _] + c[_, :, _];",
        "2: nothing here says how often this tile of shape [32, 64, _] is repeated along dimension "
        "2 [open-extent]"},
       {"let a = r[:, _] > 0 ? 1 : 2;",
        "2: nothing here says how often this tile of shape [32, _] is "
        "repeated along dimension 1 [open-extent]"},
       {"f = (r[:, _] > 0 ? 1 : 2);", ""},
       {"let a = r[:, _] > 0 ? (c[_, :] > 0 ? 1 : 2) : 3;", ""},
       {"v = reduce_sum(f > 0 ? 1 : 2);", ""},
       {"let a = reduce_sum(r[:, _], axis = 0);",
        "2: nothing here says how often this tile of shape [32, _] is repeated along dimension 1 "
        "[open-extent]"},
       {"let a = transpose(r[:, _]);", "2: nothing here says how often this tile of shape [32, _] "
                                       "is repeated along dimension 1 [open-extent]"},
       {"parallel (y, z) in r[:, _] { }", "2: nothing here says how often this tile of shape [32, "
                                          "_] is repeated along dimension 1 [open-extent]"},
       {"print(\"{}\", r[:, _]);", "2: nothing here says how often this tile of shape [32, _] is "
                                   "repeated along dimension 1 [open-extent]"},
       {"gemm(r[:, _], g, f);", "2: nothing here says how often this tile of shape [32, _] is "
                                "repeated along dimension 1 [open-extent]"},
       {"copy(r[:, _], C[0, 0]);",
        "2: neither side of `copy` says how much is copied [copy-extent]"},
       {"f = r[_, :];", "2: shapes [32, 64] and [_, 32] differ [shape-mismatch]"},
       {"f = f + r[_, :];", "2: shapes [32, 64] and [_, 32] differ [shape-mismatch]"},
       {"f = f + r;", "2: shapes [32, 64] and [32] differ [shape-mismatch]"},
       {"f[:, _] = r;", "2: this expression cannot be assigned [assign-let]"},
       {"copy(r, r[_, :]);", "2: argument `dst` of `copy` must be a region of memory [arguments]"},
       {"let a = f + r[:, :, _];", "2: `r` has 1 dimensions, but 2 subscripts [subscript-count]"},
       {"let a = f + v[_];", "2: `v` is a scalar and has no subscripts [subscript-count]"},
       {"let a = C[_, :, 0] + f;", "2: tensor `C` is not a tile [tensor-operand]"},
       {"let _ = 1;", "2: expected a name, or names in `(...)`, found `_` [syntax]"}},
      std::string(before) + "let r = reduce_max(f, axis = 1); let c = reduce_max(f, axis = 0);",
      after);
}

TEST(Rules, DifferentRanksLeadToOpenDimensions) {
  Analyzed a(std::string(before) + "let r = reduce_max(f, axis = 1); f = f - r;" + after);
  EXPECT_NE(a.messages().find("`_` names a dimension along which a tile is repeated: `x[:, _]`"),
            std::string::npos);
}

TEST(Rules, Constants) {
  expectRules(
      {{"v = 2147483648;", "2: constant 2147483648 does not fit `i32` [constant-fit]"},
       {"let a: u8 = 256;", "2: constant 256 does not fit `u8` [constant-fit]"},
       {"let a: u8 = -1;", "2: constant -1 does not fit `u8` [constant-fit]"},
       {"let a: f16 = 2049;", "2: constant 2049 does not fit `f16` [constant-fit]"},
       {"let a: f16 = 1e10;", "2: constant 1.0E+10 does not fit `f16` [constant-fit]"},
       {"let a: f16 = inf;", ""},
       {"let a = 18446744073709551615 + 1;",
        "2: constant 18446744073709551616 is outside -2^63 to 2^64 - 1 [constant-fit]"},
       {"let a = 1 / 0;", "2: constant division by zero [constant-fit]"},
       {"let a = v / 0;", "2: constant division by zero [constant-fit]"},
       {"let a = 1 << 64;", "2: constant shift by 64 [constant-fit]"},
       {"let a: u64 = 18446744073709551615;", ""},
       {"const a = n;", "2: the value of `a` must be a constant [not-constant]"},
       {"fragment a: f32[n];", "2: an extent of fragment must be a constant [not-constant]"},
       {"let a = reduce_sum(f, axis = n);", "2: `axis` must be a constant [not-constant]"},
       {"for a in pipelined(0..4, stages = n) { }",
        "2: `stages` must be a constant [not-constant]"},
       {"for a in unrolled(0..4, factor = n) { }", "2: `factor` must be a constant [not-constant]"},
       {"for a in unrolled(0..n) { }",
        "2: a bound of a fully unrolled loop must be a constant [not-constant]"},
       {"@no_tma copy(C[0 :+ n, 0], f);",
        "2: the count after `:+` must be a constant [not-constant]"},
       {"threads(t: n) { }", "2: the extent of a thread axis must be a constant [not-constant]"},
       {"fragment a: f32[0];", "2: extent 0 of `fragment` is 0 [shape-empty]"},
       {"shared a: f32[4, -1];", "2: extent 1 of `shared` is -1 [shape-empty]"},
       {"fragment a: f32[1000000000];",
        "2: `f32[1000000000]` is larger than the memory of any block [fragment-too-large]"},
       {"fragment a: f32[1, 1, 1, 1, 1, 1];", "2: a tile of rank 6 [rank]"},
       {"let a = reduce_sum(f, axis = 2);", "2: axis 2 does not exist: the tile has rank 2 [rank]"},
       {"let a = transpose(reduce_sum(f, axis = 0));",
        "2: `reduce_sum(f, axis = 0)` has rank 1, but rank 2 is expected [rank]"},
       {"shared a: u4[4, 3];",
        "2: the last extent of a `u4` buffer is 3, which is odd [packed-extent]"},
       {"shared a: u4[4, 8] = 0; copy(a[:, 1 :+ 4], C[0, 0]);",
        "2: a slice of `u4` starts at odd index 1 [packed-slice]"},
       {"shared a: u4[4, 8] = 0; a[0, 0] = 1;",
        "2: single `u4` elements cannot be written, two share a byte [packed-write]"},
       {"shared a: u4[4, 8] = 0; parallel (y, z) in a { a[y, z] = 1; }", ""},
       {"shared a: u4[4, 8] = 0; parallel (y, z) in [8, 4] { a[z, y] = 1; }",
        "2: single `u4` elements cannot be written, two share a byte [packed-write]"},
       {"const L: f32[2] = [1, 2]; let a = L[v];", ""},
       {"const L: f32[2] = [1, 2, 3];", "2: shapes [2] and [3] differ [shape-mismatch]"},
       {"const L: f32[2] = [1, 2]; let a = L[2];",
        "2: index 2 is outside dimension 0 of `L`, which has 2 elements [out-of-range]"},
       {"const L: f32[2] = [1, 2]; L[0] = 1;",
        "2: `L` cannot be assigned: it is a constant [assign-let]"},
       {"if 1 > 2 { let a = v + x; }", ""},
       {"let a = 1 > 2 ? v + x : 3;", ""},
       {"if ARCH >= 80 && bits(f16) == 16 { let a = v + x; }",
        "2: the operands of `+` are `i32` and `f32` [type-mismatch]"}},
      before, after);
}

} // namespace
