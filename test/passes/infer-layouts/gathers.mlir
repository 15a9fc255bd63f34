// Each thread has the indices of what it moves: an index tile is laid out as the copy is shared, or as the tile in registers, along the
// dimension that it gathers; what a loop does not change is converted in front of it.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-infer-layouts))' -split-input-file | FileCheck %s

// 16 bytes are 8 columns: 8 lanes have a row, each warp 4 rows at a time, each thread 2 rows in all.
// CHECK-LABEL: tgpu.kernel @computed
// CHECK: %[[I:.*]] = tgpu.coordinate : tensor<32xi32, #tgpu.fragment<"32 reg 16 lane 0:0:0:1:2 warp 4:8">>
// CHECK: %[[AT:.*]] = arith.addi %[[I]]
// CHECK: %[[S:.*]] = tile.slice %{{.*}}[%[[AT]], %{{.*}}] sizes [32, 64]
// CHECK-NEXT: tgpu.copy %[[S]]
// CHECK-NOT: convert_layout
tgpu.kernel @computed(%g: !tile.global<?x?xf16>, %m: i32) attributes {threads = 128 : i32} {
  %v = tgpu.view %g extents(%m, %m : i32, i32) strides(%m : i32) : !tile.global<?x?xf16> -> !tile.global<?x?xf16>
  %s = tgpu.alloc_shared "s" : !tgpu.smem<32x64xf16>
  %i = tgpu.coordinate : tensor<32xi32>
  %c = tile.splat %m : i32 -> tensor<32xi32>
  %at = arith.addi %i, %c : tensor<32xi32>
  %t = tile.slice %v[%at, %m] sizes [32, 64] : !tile.global<?x?xf16>, tensor<32xi32>, i32 -> !tile.global<32x64xf16>
  tgpu.copy %t to %s {bytes = 16 : i32, path = #tgpu.path<cp_async>} : !tile.global<32x64xf16>, !tgpu.smem<32x64xf16>
  tgpu.return
}

// -----

// A second use needs another layout: converted in front of the loop.
// CHECK-LABEL: tgpu.kernel @twice
// CHECK: %[[AT:.*]] = tgpu.load %{{.*}} -> tensor<32xi32, #tgpu.fragment<"32 reg 16 lane 0:0:0:1:2 warp 4:8">>
// CHECK: %[[OTHER:.*]] = tgpu.convert_layout %[[AT]]
// CHECK: scf.for
// CHECK: %[[S:.*]] = tile.slice %{{.*}}[%[[AT]], %{{.*}}]
// CHECK: tgpu.copy %[[S]]
// CHECK: %[[T:.*]] = tile.slice %{{.*}}[%[[OTHER]], %{{.*}}]
// CHECK: tgpu.load %[[T]] {bytes = 2 : i32}
tgpu.kernel @twice(%g: !tile.global<?x?xf16>, %x: !tile.global<32xi32>, %m: i32) attributes {threads = 128 : i32} {
  %v = tgpu.view %g extents(%m, %m : i32, i32) strides(%m : i32) : !tile.global<?x?xf16> -> !tile.global<?x?xf16>
  %s = tgpu.alloc_shared "s" : !tgpu.smem<32x64xf16>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %at = tgpu.load %x {bytes = 4 : i32} : !tile.global<32xi32> -> tensor<32xi32>
  scf.for %k = %c0 to %m step %c1 : i32 {
    %t = tile.slice %v[%at, %k] sizes [32, 64] : !tile.global<?x?xf16>, tensor<32xi32>, i32 -> !tile.global<32x64xf16>
    tgpu.copy %t to %s {bytes = 16 : i32, path = #tgpu.path<cp_async>} : !tile.global<32x64xf16>, !tgpu.smem<32x64xf16>
    %f = tgpu.load %t {bytes = 2 : i32} : !tile.global<32x64xf16> -> tensor<32x64xf16>
    tgpu.store %f, %t {bytes = 2 : i32} : tensor<32x64xf16>, !tile.global<32x64xf16>
  }
  tgpu.return
}
