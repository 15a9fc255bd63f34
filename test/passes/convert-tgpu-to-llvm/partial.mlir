// What each thread contributes: its own slots without padding, nothing from others; what the loop began with in one lane, or in one lane of
// one warp; the neutral element elsewhere, which keeps the sign of a zero and a NaN.
// RUN: tile-opt %s --convert-tgpu-to-llvm -split-input-file | FileCheck %s --implicit-check-not='shfl.sync bfly'

!x = tensor<4x6xf32, #tgpu.fragment<"4x6 reg 0,4 lane 0,1:0,2:1,0:2,0:0,0 warp -">>
!row = tensor<4xf32, #tgpu.fragment<"4 reg - lane 0:0:1:2:0 warp -">>
!sum = tensor<4xf32, #tgpu.fragment<"4 reg - lane 0:0:1:2:0 warp - partial sum lanes 3 warps 1">>
// CHECK-LABEL: llvm.func @sum
// CHECK: %[[ZERO:.*]] = llvm.mlir.constant(-0.000000e+00 : f32)
// CHECK: %[[FIRST:.*]] = llvm.icmp "eq" %{{.*}}, %{{.*}} : i32
// CHECK-NEXT: %[[P:.*]] = llvm.select %[[FIRST]], %{{.*}}, %[[ZERO]] : i1, f32
// CHECK-NEXT: %[[S:.*]] = llvm.fmul %[[P]], %{{.*}} {fastmathFlags = #llvm.fastmath<contract>}
// CHECK-NEXT: %[[HIGH:.*]] = llvm.select %{{.*}}, %{{.*}}, %[[ZERO]] : i1, f32
// CHECK-NEXT: %[[OWN:.*]] = llvm.fadd %{{.*}}, %[[HIGH]]
// CHECK-NEXT: llvm.fadd %[[S]], %[[OWN]] {fastmathFlags = #llvm.fastmath<contract>}
tgpu.kernel @sum(%A: !tile.global<4x6xf32>, %P: !tile.global<4x4xf32>, %f: f32) attributes {threads = 32 : i32, target = "sm_80", shared_bytes = 0 : i64} {
  %c4 = arith.constant 4 : i32
  %c6 = arith.constant 6 : i32
  %a = tgpu.view %A extents(%c4, %c6 : i32, i32) strides(%c6 : i32) : !tile.global<4x6xf32> -> !tile.global<4x6xf32>
  %o = tgpu.view %P extents(%c4, %c4 : i32, i32) strides(%c4 : i32) : !tile.global<4x4xf32> -> !tile.global<4x4xf32>
  %x = tgpu.load %a {bytes = 4 : i32} : !tile.global<4x6xf32> -> !x
  %r = tile.splat %f : f32 -> !row
  %p = tgpu.begin_partial %r : !row -> !sum
  %s = tgpu.scale_partial %p by %r : !sum, !row -> !sum
  %q = tgpu.accumulate_partial %x axes [1] into %s : !x, !sum -> !sum
  %t = tgpu.partial_parts %q axes [1] : !sum -> tensor<4x4xf32, #tgpu.fragment<"4x4 reg - lane 0,1:0,2:1,0:2,0:0,0 warp -">>
  tgpu.store %t, %o {path = #tgpu.path<vector>, bytes = 4 : i32} : tensor<4x4xf32, #tgpu.fragment<"4x4 reg - lane 0,1:0,2:1,0:2,0:0,0 warp -">>, !tile.global<4x4xf32>
  tgpu.return
}

// -----

// A maximum over 4 warps, two of which hold copies of what the others hold: of warps 0 and 2, and of 1 and 3. All threads choose alike.
!row = tensor<32xf32, #tgpu.fragment<"32 reg 16 lane 1:2:4:8:0 warp 0:0">>
!max = tensor<32xf32, #tgpu.fragment<"32 reg 16 lane 1:2:4:8:0 warp 0:0 partial max lanes 0 warps 5">>
!parts = tensor<2x32xf32, #tgpu.fragment<"2x32 reg 0,16 lane 0,1:0,2:0,4:0,8:0,0 warp 0,0:1,0">>
// CHECK-LABEL: llvm.func @warps
// CHECK-DAG: %[[NAN:.*]] = llvm.mlir.constant(0x7FC00000 : f32)
// CHECK-DAG: %[[LEADERS:.*]] = llvm.mlir.constant(3 : i32)
// CHECK: %[[SHIFTED:.*]] = llvm.lshr %[[LEADERS]], %{{.*}} : i32
// CHECK: %[[BIT:.*]] = llvm.and %[[SHIFTED]]
// CHECK: %[[FIRST:.*]] = llvm.icmp "ne" %[[BIT]]
// CHECK: llvm.select %[[FIRST]], %{{.*}}, %[[NAN]] : i1, f32
// CHECK: llvm.select %{{.*}}, %{{.*}}, %[[NAN]] : i1, f32
tgpu.kernel @warps(%P: !tile.global<2x32xf32>, %f: f32, %c: i1) attributes {threads = 128 : i32, target = "sm_80", shared_bytes = 0 : i64} {
  %c2 = arith.constant 2 : i32
  %c32 = arith.constant 32 : i32
  %o = tgpu.view %P extents(%c2, %c32 : i32, i32) strides(%c32 : i32) : !tile.global<2x32xf32> -> !tile.global<2x32xf32>
  %r = tile.splat %f : f32 -> !row
  %p = tgpu.begin_partial %r : !row -> !max
  %n = tgpu.begin_partial -> !max
  %e = arith.select %c, %p, %n : !max
  %t = tgpu.partial_parts %e axes [0] : !max -> !parts
  tgpu.store %t, %o {path = #tgpu.path<vector>, bytes = 4 : i32} : !parts, !tile.global<2x32xf32>
  tgpu.return
}
