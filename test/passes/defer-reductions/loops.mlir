// What a loop only accumulates it carries in parts; the threads' parts meet behind it.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-defer-reductions))' -verify-diagnostics -split-input-file | FileCheck %s

// The online softmax's row sums, which begin at zero: each thread scales its part.
!acc = tensor<64x16xf32, #tgpu.fragment<"64x16 reg 0,1:8,0:0,8 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!row = tensor<64xf32, #tgpu.fragment<"64 reg 8 lane 0:0:1:2:4 warp 16:32">>
// CHECK-LABEL: tgpu.kernel @scaled
// CHECK: %[[N:.*]] = tgpu.begin_partial -> [[SUM:tensor<64xf32, .*"64 reg 8 lane 0:0:1:2:4 warp 16:32 partial sum lanes 3 warps 1">>]]
// CHECK: %[[L:.*]] = scf.for {{.*}} iter_args(%[[S:.*]] = %[[N]]) -> ([[SUM]])
// CHECK-NOT: tile.reduce
// CHECK:   %[[T:.*]] = tgpu.scale_partial %[[S]] by %{{.*}} : [[SUM]], tensor<64xf32, {{.*}}> -> [[SUM]]
// CHECK:   %[[A:.*]] = tgpu.accumulate_partial %{{.*}} axes [1] into %[[T]]
// CHECK:   scf.yield %[[A]] : [[SUM]]
// CHECK: %[[P:.*]] = tgpu.partial_parts %[[L]] axes [1] : [[SUM]] -> tensor<64x4xf32, #tgpu.fragment<"64x4 reg 8,0 lane 0,1:0,2:1,0:2,0:4,0 warp 16,0:32,0">>
// CHECK: %[[R:.*]] = tile.reduce <sum> %[[P]] axis 1
// CHECK: arith.addf %{{.*}}, %[[R]]
tgpu.kernel @scaled(%n: i32, %x: !acc, %f: !row) attributes {threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %z = arith.constant 0.0 : f32
  %start = tile.splat %z : f32 -> !row
  %l = scf.for %i = %c0 to %n step %c1 iter_args(%s = %start) -> (!row) : i32 {
    // expected-remark@+1 {{the loop carries partial values of this reduction, which are combined behind it: each iteration saves 4 shuffles}}
    %r = tile.reduce <sum> %x axis 1 : !acc -> !row
    %t = arith.mulf %s, %f : !row
    %u = arith.addf %t, %r : !row
    scf.yield %u : !row
  }
  %y = arith.mulf %l, %f : !row
  tgpu.return
}

// -----

// What else they begin with is scaled too: it is one of the parts.
!acc = tensor<64x16xf32, #tgpu.fragment<"64x16 reg 0,1:8,0:0,8 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!row = tensor<64xf32, #tgpu.fragment<"64 reg 8 lane 0:0:1:2:4 warp 16:32">>
// CHECK-LABEL: tgpu.kernel @scaled_start
// CHECK: tgpu.begin_partial %[[S:.*]] : tensor<64xf32, {{.*}}> -> tensor<64xf32, {{.*}} partial sum
// CHECK: tgpu.partial_parts
// CHECK-NOT: arith.addf
tgpu.kernel @scaled_start(%n: i32, %x: !acc, %f: !row, %start: !row) attributes {threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %l = scf.for %i = %c0 to %n step %c1 iter_args(%s = %start) -> (!row) : i32 {
    %t = arith.mulf %f, %s : !row
    // expected-remark@+1 {{each iteration saves 4 shuffles}}
    %r = tile.reduce <sum> %x axis 1 : !acc -> !row
    %u = arith.addf %r, %t : !row
    scf.yield %u : !row
  }
  %y = arith.mulf %l, %f : !row
  tgpu.return
}

// -----

// A scalar, of all elements, in a `while` loop; integers, without sign; the parts of 4 warps of 32 lanes.
!x = tensor<8x64xi32, #tgpu.fragment<"8x64 reg 0,32:4,0 lane 0,1:0,2:0,4:0,8:0,16 warp 1,0:2,0">>
// CHECK-LABEL: tgpu.kernel @scalar
// CHECK: %[[N:.*]] = tgpu.begin_partial {is_unsigned} -> [[MAX:tensor<i32, #tgpu.fragment<"scalar .* partial max lanes 31 warps 15">>]]
// CHECK: scf.while ({{.*}} = %{{.*}}, %[[B:.*]] = %[[N]]) : (i32, [[MAX]]) -> (i32, [[MAX]])
// CHECK: scf.condition(%{{.*}}) %{{.*}}, %[[B]] : i32, [[MAX]]
// CHECK: tgpu.accumulate_partial %{{.*}} axes [0, 1] into %{{.*}} {is_unsigned}
// CHECK: %[[P:.*]] = tgpu.partial_parts %{{.*}} axes [0, 1] : [[MAX]] -> tensor<4x32xi32, #tgpu.fragment<"4x32 reg - lane 0,1:0,2:0,4:0,8:0,16 warp 1,0:2,0">>
// CHECK: %[[R:.*]] = tile.reduce <max> %[[P]] {is_unsigned}
// CHECK: arith.maxui %{{.*}}, %[[R]] : i32
tgpu.kernel @scalar(%n: i32, %x: !x, %start: i32) attributes {threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %w:2 = scf.while (%i = %c0, %s = %start) : (i32, i32) -> (i32, i32) {
    %more = arith.cmpi slt, %i, %n : i32
    scf.condition(%more) %i, %s : i32, i32
  } do {
  ^bb0(%i: i32, %s: i32):
    // expected-remark@+1 {{each iteration saves 5 shuffles and an exchange between warps through shared memory}}
    %r = tile.reduce <max> %x {is_unsigned} : !x -> i32
    %u = arith.maxui %s, %r : i32
    %next = arith.addi %i, %c1 : i32
    scf.yield %next, %u : i32, i32
  }
  %y = arith.addi %w#1, %c1 : i32
  tgpu.return
}

// -----

// Out of both loops: what is combined behind the inner one is what the outer one accumulates. Two reductions in one iteration.
!x = tensor<64xf32, #tgpu.fragment<"64 reg 32 lane 1:2:4:8:16 warp 0">>
!y = tensor<32xf32, #tgpu.fragment<"32 reg - lane 1:2:4:8:16 warp 0">>
// CHECK-LABEL: tgpu.kernel @nested
// CHECK: scf.for {{.*}} -> (tensor<f32, {{.*}} partial sum lanes 31 warps 1
// CHECK:   scf.for {{.*}} -> (tensor<f32, {{.*}} partial sum lanes 31 warps 1
// CHECK:     tgpu.accumulate_partial
// CHECK:     tgpu.accumulate_partial
// CHECK:   }
// CHECK:   %[[P:.*]] = tgpu.partial_parts
// CHECK:   tgpu.accumulate_partial %[[P]] axes [0] into
// CHECK: }
// CHECK: tgpu.partial_parts
// CHECK: tile.reduce <sum>
tgpu.kernel @nested(%n: i32, %x: !x, %y: !y, %start: f32) attributes {threads = 64 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %l = scf.for %i = %c0 to %n step %c1 iter_args(%o = %start) -> (f32) : i32 {
    %k = scf.for %j = %c0 to %i step %c1 iter_args(%s = %o) -> (f32) : i32 {
      // expected-remark@+2 {{each iteration saves 5 shuffles}}
      // expected-remark@+1 {{each iteration saves 10 shuffles}}
      %r = tile.reduce <sum> %x : !x -> f32
      %u = arith.addf %s, %r : f32
      %q = tile.reduce <sum> %y : !y -> f32
      %v = arith.addf %u, %q : f32
      scf.yield %v : f32
    }
    scf.yield %k : f32
  }
  %z = arith.mulf %l, %start : f32
  tgpu.return
}
