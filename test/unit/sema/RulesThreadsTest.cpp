// Regions: what may stand in them, and what must be the same for all threads.
#include "test/unit/sema/Analyzed.h"

namespace {

const char *const before =
    "tile fn block() { } kernel k(A: tensor<f32>[M, K], C: inout tensor<f32>[M, K], n: i32) { "
    "launch (i, j) in grid(M, K) threads(64) { shared s: f32[64] = 0; local l: f32 = 0; local m: "
    "f32[4] = 0; fragment f: f32[64] = 0; var v: i32 = 0; threads(x: 32, y: 2) {\n";
const char *const after = "\n} } }";

TEST(Rules, Regions) {
  expectRules(
      {{"l = 1; m[v] = l; s[x + 32 * y] = l; let a = A[i, x :+ 4]; let b = a * a; l += b[1];", ""},
       {"C[i, 4 * x :+ 4] = A[i, 4 * x :+ 4];", ""},
       {"v = 1;",
        "2: `v` is declared outside the region and cannot be assigned in it [region-write]"},
       {"var a = 1; a = 2;", ""},
       {"let a = f[0];", "2: fragment `f` cannot stand inside a `threads` region [thread-body]"},
       {"f = 1;", "2: fragment `f` cannot stand inside a `threads` region [thread-body]"},
       {"s = 1;",
        "2: assignment of a whole tile cannot stand inside a `threads` region [thread-body]"},
       {"m = 1;",
        "2: assignment of a whole tile cannot stand inside a `threads` region [thread-body]"},
       {"copy(A[0, 0 :+ 64], s);",
        "2: `copy` cannot stand inside a `threads` region [thread-body]"},
       {"parallel a in s { }",
        "2: `parallel` cannot stand inside a `threads` region [thread-body]"},
       {"for a in pipelined(0..4, stages = 2) { }",
        "2: a pipelined loop cannot stand inside a `threads` region [thread-body]"},
       {"shared a: f32[4];", "2: `shared` cannot stand inside a `threads` region [thread-body]"},
       {"threads(z: 64) { }",
        "2: a `threads` region cannot stand inside a `threads` region [thread-body]"},
       {"return;", "2: `return` cannot stand here: a region ends at its brace [return-place]"},
       {"break;", "2: `break` outside a serial loop or `while` [jump-place]"},
       {"block();", "2: `block` cannot be called from a `threads` region [call-place]"},
       {"let a = reduce_sum(A[i, x :+ 4]);", ""},
       {"let a = reduce_sum(s);",
        "2: a whole tile cannot stand inside a `threads` region [thread-body]"},
       {"let a = A[i, x :+ 4]; let b = a[4];",
        "2: index 4 is outside dimension 0 of `a`, which has 4 elements [out-of-range]"},
       {"let a = A[i, x :+ 4]; let b = a + A[i, x :+ 8];",
        "2: `vec<f32>[4]` is expected here, but this is `vec<f32>[8]` [type-mismatch]"},
       {"let a = warp_sum(l, width = 3);",
        "2: argument `width` of `warp_sum` must be a power of two up to 32 [arguments]"},
       {"let a = warp_any(l);", "2: a condition is `bool`, but this is `f32` [not-bool]"},
       {"let a = warp_scan_sum(l) + warp_scan_prod(l, width = 8, reverse = true);", ""},
       {"let a = warp_scan_max(v, exclusive = 32 > 1) + warp_scan_min(i32(y), reverse = false);",
        ""},
       {"let a = warp_scan_sum(l, width = 64);",
        "2: argument `width` of `warp_scan_sum` must be a power of two up to 32 [arguments]"},
       {"let a = warp_scan_max(l, reverse = v > 0);",
        "2: `reverse` must be a constant [not-constant]"},
       {"let a = warp_scan_max(l, exclusive = 1);",
        "2: a condition is `bool`, but this is `integer constant` [not-bool]"},
       {"let a = warp_scan_min(x == 0);",
        "2: `warp_scan_min` takes numbers, not `bool` [operator-type]"},
       {"let a = warp_min(x == 0);", "2: `warp_min` takes numbers, not `bool` [operator-type]"},
       {"let b = A[i, x :+ 4]; let a = warp_scan_prod(b);",
        "2: `warp_scan_prod` takes numbers, not `vec<f32>[4]` [operator-type]"},
       {"let a = warp_scan_sum(l, axis = 0);",
        "2: `warp_scan_sum` has no parameter named `axis` [arguments]"},
       {"let a = warp_sum(l, reverse = true);",
        "2: `warp_sum` has no parameter named `reverse` [arguments]"},
       {"let a = shuffle_xor(l, 1) + f32(lane());", ""},
       {"} threads(z: 32) {",
        "2: the axes make 32 threads, but the launch has 64 [threads-extent]"},
       {"} threads(z: 0) {", "2: extent 0 of `threads` is 0 [shape-empty]"}},
      before, after);
}

TEST(Rules, Divergence) {
  expectRules({{"sync_threads(); if n > 3 { sync_threads(); }", ""},
               {"if x == 0 { sync_threads(); }",
                "2: not all threads may reach this `sync_threads()` [divergent-sync]"},
               {"let a = x * 2; if a > 3 { sync_threads(); }",
                "2: not all threads may reach this `sync_threads()` [divergent-sync]"},
               {"if A[0, 0] > 0.0 { sync_threads(); }",
                "2: not all threads may reach this `sync_threads()` [divergent-sync]"},
               {"for a in x..n { sync_threads(); }",
                "2: not all threads may reach this `sync_threads()` [divergent-sync]"},
               {"for a in 0..n { sync_threads(); }", ""},
               {"var a = 0; while a < n { sync_threads(); a += 1; }", ""},
               {"var a = 0; while a < n { sync_threads(); a += x; }",
                "2: not all threads may reach this `sync_threads()` [divergent-sync]"},
               {"if x == 0 { let a = warp_sum(l); }",
                "2: not all lanes of a warp may reach this `operation of a warp` [divergent-warp]"},
               {"if x < 16 { let a = warp_scan_max(l); }",
                "2: not all lanes of a warp may reach this `operation of a warp` [divergent-warp]"},
               {"if y == 1 { let a = warp_scan_max(l); }", ""},
               {"let a = warp_scan_sum(1); if a > 3 { sync_threads(); }",
                "2: not all threads may reach this `sync_threads()` [divergent-sync]"},
               {"if x < 16 { sync_warp(); }",
                "2: not all lanes of a warp may reach this `sync_warp` [divergent-warp]"},
               {"if y == 0 { let a = warp_sum(l); sync_warp(); }", ""},
               {"if x < 32 { sync_warp(); }", ""},
               {"s[0] = l;", "2: `s` is written here and accessed by the other threads without "
                             "anything between that orders them [race]"},
               {"C[i, j] = l;", "2: `C` is written here and accessed by the other threads without "
                                "anything between that orders them [race]"},
               {"if x == 0 { s[y] = l; }", ""},
               {"atomic_add(s[0], l);", ""}},
              before, after);
}

TEST(Rules, LocalsInBlockCode) {
  const std::string open =
      "kernel k(n: i32, A: tensor<f32>[M]) { launch i in grid(M) threads(64) { "
      "local l: f32; local m: f32[4]; threads(t: 64) { l = 1; m[0] = 1; }\n";
  expectRules({{"let a: f32[64] = l; let b: f32[64, 4] = m * 2.0; let c = reduce_sum(l);", ""},
               {"l = 2;", "2: `l` cannot be assigned: it is written by threads only [assign-let]"},
               {"let a: f32[32] = l;", "2: shapes [32] and [64] differ [shape-mismatch]"}},
              open, " } }");
}

} // namespace
