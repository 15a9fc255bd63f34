// A value that branches combine with reductions, or leave as it is, stays in parts as well.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-defer-reductions))' -verify-diagnostics -split-input-file | FileCheck %s

// Under a condition; behind it in any case, too.
!acc = tensor<64x16xf32, #tgpu.fragment<"64x16 reg 0,1:8,0:0,8 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!row = tensor<64xf32, #tgpu.fragment<"64 reg 8 lane 0:0:1:2:4 warp 16:32">>
// CHECK-LABEL: tgpu.kernel @sometimes
// CHECK: %[[N:.*]] = tgpu.begin_partial -> [[SUM:tensor<64xf32, .*partial sum lanes 3 warps 1">>]]
// CHECK: %[[L:.*]] = scf.for {{.*}} iter_args(%[[S:.*]] = %[[N]]) -> ([[SUM]])
// CHECK:   %[[B:.*]] = scf.if %{{.*}} -> ([[SUM]]) {
// CHECK:     %[[T:.*]] = tgpu.scale_partial %[[S]]
// CHECK:     %[[A:.*]] = tgpu.accumulate_partial %{{.*}} axes [1] into %[[T]]
// CHECK:     scf.yield %[[A]] : [[SUM]]
// CHECK:   } else {
// CHECK:     scf.yield %[[S]] : [[SUM]]
// CHECK:   %[[C:.*]] = tgpu.accumulate_partial %{{.*}} axes [1] into %[[B]]
// CHECK:   scf.yield %[[C]] : [[SUM]]
// CHECK: tgpu.partial_parts %[[L]] axes [1]
// CHECK: tile.reduce <sum>
// CHECK-NOT: tile.reduce
tgpu.kernel @sometimes(%n: i32, %x: !acc, %f: !row, %start: !row, %c: i1) attributes {threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %z = arith.constant 0.0 : f32
  %zero = tile.splat %z : f32 -> !row
  %l = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> (!row) : i32 {
    %b = scf.if %c -> (!row) {
      // expected-remark@+1 {{each iteration saves up to 8 shuffles}}
      %r = tile.reduce <sum> %x axis 1 : !acc -> !row
      %t = arith.mulf %s, %f : !row
      %u = arith.addf %t, %r : !row
      scf.yield %u : !row
    } else {
      scf.yield %s : !row
    }
    %q = tile.reduce <sum> %x axis 1 : !acc -> !row
    %v = arith.addf %q, %b : !row
    scf.yield %v : !row
  }
  tgpu.return
}

// -----

// One of several results, other tiles in each branch, a branch in a branch, and a loop inside, whose parts are not complete before the outer loop's end.
!x = tensor<8x64xi32, #tgpu.fragment<"8x64 reg 0,32:4,0 lane 0,1:0,2:0,4:0,8:0,16 warp 1,0:2,0">>
// CHECK-LABEL: tgpu.kernel @either
// CHECK: scf.for {{.*}} -> (i32, [[ANY:tensor<i32, .*partial or lanes 31 warps 15">>]])
// CHECK:   scf.if %{{.*}} -> (i32, [[ANY]])
// CHECK:     scf.for {{.*}} -> ([[ANY]])
// CHECK:       tgpu.accumulate_partial
// CHECK:   else
// CHECK:     scf.if %{{.*}} -> ([[ANY]])
// CHECK:       tgpu.accumulate_partial
// CHECK:     else
// CHECK-NOT:   tgpu.accumulate_partial
// CHECK: tgpu.partial_parts
// CHECK: tile.reduce <or>
// CHECK-NOT: tile.reduce
tgpu.kernel @either(%n: i32, %x: !x, %y: !x, %c: i1, %d: i1) attributes {threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %l:2 = scf.for %i = %c0 to %n step %c1 iter_args(%k = %c0, %s = %c0) -> (i32, i32) : i32 {
    %b:2 = scf.if %c -> (i32, i32) {
      %m = scf.for %j = %c0 to %n step %c1 iter_args(%p = %s) -> (i32) : i32 {
        // expected-remark@+2 {{each iteration saves 5 shuffles and}}
        // expected-remark@+1 {{each iteration saves up to 5 shuffles and}}
        %r = tile.reduce <or> %x : !x -> i32
        %u = arith.ori %p, %r : i32
        scf.yield %u : i32
      }
      scf.yield %n, %m : i32, i32
    } else {
      %e = scf.if %d -> (i32) {
        %r = tile.reduce <or> %y : !x -> i32
        %u = arith.ori %r, %s : i32
        scf.yield %u : i32
      } else {
        scf.yield %s : i32
      }
      scf.yield %k, %e : i32, i32
    }
    scf.yield %b#0, %b#1 : i32, i32
  }
  tgpu.return
}
