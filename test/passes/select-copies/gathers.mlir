// A gather of whole rows moves by the widest access that rows and columns admit, one of columns by elements.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-bounds,tgpu-select-copies))' | FileCheck %s

// CHECK-LABEL: tgpu.kernel @rows
// CHECK: tgpu.copy {{.*}} {bytes = 16 : i32, path = #tgpu.path<cp_async>, tgpu.in_bounds = array<i1: false, true>}
// CHECK: tgpu.copy {{.*}} {bytes = 8 : i32, path = #tgpu.path<cp_async>}
// CHECK: tgpu.copy {{.*}} {bytes = 4 : i32, path = #tgpu.path<cp_async>}
// CHECK: tgpu.store {{.*}} {bytes = 16 : i32, path = #tgpu.path<vector>
tgpu.kernel @rows(%a: !tile.global<64x64xf32> {tgpu.align = 16 : i64}, %i: i32 {tgpu.divisible = 2 : i64}, %at: tensor<64xi32>)
    attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %v = tgpu.view %a extents(%c64, %c64 : i32, i32) strides(%c64 : i32) : !tile.global<64x64xf32> -> !tile.global<64x64xf32>
  %s = tgpu.alloc_shared "s" : !tgpu.smem<64x64xf32>
  %t = tile.slice %v[%at, %c0] sizes [64, 64] : !tile.global<64x64xf32>, tensor<64xi32>, i32 -> !tile.global<64x64xf32>
  tgpu.copy %t to %s : !tile.global<64x64xf32>, !tgpu.smem<64x64xf32>
  %u = tile.slice %v[%at, %i] sizes [64, 64] : !tile.global<64x64xf32>, tensor<64xi32>, i32 -> !tile.global<64x64xf32>
  tgpu.copy %u to %s : !tile.global<64x64xf32>, !tgpu.smem<64x64xf32>
  %w = tile.slice %v[%i, %at] sizes [64, 64] : !tile.global<64x64xf32>, i32, tensor<64xi32> -> !tile.global<64x64xf32>
  tgpu.copy %w to %s : !tile.global<64x64xf32>, !tgpu.smem<64x64xf32>
  %f = tgpu.local_load %s : !tgpu.smem<64x64xf32> -> tensor<64x64xf32>
  tgpu.store %f, %t : tensor<64x64xf32>, !tile.global<64x64xf32>
  tgpu.return
}
