// A workspace is a tensor of the kernel: aligned to 256 bytes, contiguous, its extents the host's values.
// RUN: tile-opt %s --tile-outline-launches | FileCheck %s

// CHECK-LABEL: tile.kernel @partial
// CHECK: %[[W:.*]] = tile.workspace "W", "f32"(%[[M:.*]] : i32)
// An extent below 0 counts as 0.
// CHECK: %[[M0:.*]] = arith.maxsi %[[M]], %{{.*}} : i32
// CHECK: tgpu.launch "partial_0" grid({{.*}}) args(%[[W]], %[[M0]] :
// CHECK: %[[M1:.*]] = arith.maxsi %[[M]], %{{.*}} : i32
// CHECK: tgpu.launch "partial_1" grid({{.*}}) args(%[[W]], %[[M1]] :
// CHECK: tgpu.kernel @partial_0(%[[P:.*]]: !tile.global<4x?x32xf32> {tgpu.align = 256 : i64, tgpu.may_be_empty, tile.direction = "inout", tile.dtype = "f32", tile.name = "W"}, %[[E:.*]]: i32)
// CHECK-DAG: %[[C4:.*]] = arith.constant 4 : i32
// CHECK-DAG: %[[C32:.*]] = arith.constant 32 : i32
// CHECK-DAG: %[[A:.*]] = arith.constant 32 : i64
// CHECK-DAG: %[[B:.*]] = arith.extsi %[[E]] : i32 to i64
// CHECK: %[[S:.*]] = arith.muli %[[B]], %[[A]] : i64
// CHECK: tgpu.view %[[P]] extents(%[[C4]], %[[E]], %[[C32]] : i32, i32, i32) strides(%[[S]], %[[C32]] : i64, i32)
// CHECK: tgpu.kernel @partial_1
tile.kernel @partial(%m: i32 {tile.name = "m", tile.dtype = "i32"}) {
  %w = tile.workspace "W", "f32" (%m : i32) : !tile.global<4x?x32xf32>
  %one = arith.constant 1 : i32
  tile.launch grid(%one : i32) threads(32) {
  ^bb0(%i: i32):
    %z = arith.constant 0.0 : f32
    tile.store %z, %w[%i, %i, %i : i32, i32, i32] : f32, !tile.global<4x?x32xf32>
  }
  tile.launch grid(%one : i32) threads(32) {
  ^bb0(%i: i32):
    %x = tile.load %w[%i, %i, %i : i32, i32, i32] : !tile.global<4x?x32xf32> -> f32
  }
  tile.return
}
