// A part of a gathered dimension is gathered by the indices that it takes of the index tile, which all threads find in shared
// memory; where the tile has none, by -1.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(convert-tile-to-tgpu))' | FileCheck %s

// CHECK-LABEL: tgpu.kernel @part
// CHECK-SAME: %[[G:[a-z0-9]+]]: !tile.global<8x64xf16>, %[[AT:[a-z0-9]+]]: tensor<16xi32>, %[[I:[a-z0-9]+]]: i32
// CHECK: %[[SHARED:.*]] = tgpu.alloc_shared "exchange" : !tgpu.smem<16xi32>
// CHECK: tgpu.local_store %[[AT]], %[[SHARED]]
// CHECK: %[[N:.*]] = tgpu.coordinate : tensor<4xi64>
// CHECK: %[[PLACE:.*]] = arith.addi %[[N]], %{{.*}} : tensor<4xi64>
// CHECK: arith.cmpi sge, %[[PLACE]]
// CHECK: arith.cmpi slt, %[[PLACE]]
// CHECK: %[[VALID:.*]] = arith.andi
// CHECK: %[[FOUND:.*]] = tgpu.gather %[[SHARED]][%[[PLACE]]] if %[[VALID]]
// CHECK: %[[INDEX:.*]] = arith.select %[[VALID]], %[[FOUND]], %{{.*}} : tensor<4xi1>, tensor<4xi32>
// CHECK: %[[ROWS:.*]] = tile.slice %[[G]][%[[INDEX]], %{{.*}}] sizes [4, 64]
// CHECK: %[[SOME:.*]] = tile.slice %[[ROWS]][%{{.*}}, %[[I]]] sizes [4, 8]
// CHECK: tgpu.load %[[SOME]]
tgpu.kernel @part(%g: !tile.global<8x64xf16>, %at: tensor<16xi32>, %i: i32) attributes {threads = 64 : i32, target = "sm_80"} {
  %c0 = arith.constant 0 : i32
  %f = tile.alloc "f" : !tile.buffer<4x8xf16, fragment>
  %rows = tile.slice %g[%at, %c0] sizes [16, 64] : !tile.global<8x64xf16>, tensor<16xi32>, i32 -> !tile.global<16x64xf16>
  %some = tile.slice %rows[%i, %i] sizes [4, 8] : !tile.global<16x64xf16>, i32, i32 -> !tile.global<4x8xf16>
  tile.copy %some to %f : !tile.global<4x8xf16>, !tile.buffer<4x8xf16, fragment>
  tgpu.return
}

// A dimension that an index drops is dropped where it is gathered, by one element of the tile.
// CHECK-LABEL: tgpu.kernel @index
// CHECK: %[[FOUND:.*]] = tgpu.gather {{.*}} -> i32
// CHECK: %[[INDEX:.*]] = arith.select %{{.*}}, %[[FOUND]]
// CHECK: %[[ROW:.*]] = tile.slice %{{.*}}[%[[INDEX]], %{{.*}}] sizes [-1, 64]
// CHECK: %[[SOME:.*]] = tile.slice %[[ROW]][%{{.*}}] sizes [8]
// CHECK: tgpu.load %[[SOME]]
tgpu.kernel @index(%g: !tile.global<8x64xf16>, %at: tensor<16xi32>, %i: i32) attributes {threads = 64 : i32, target = "sm_80"} {
  %c0 = arith.constant 0 : i32
  %f = tile.alloc "f" : !tile.buffer<8xf16, fragment>
  %rows = tile.slice %g[%at, %c0] sizes [16, 64] : !tile.global<8x64xf16>, tensor<16xi32>, i32 -> !tile.global<16x64xf16>
  %row = tile.slice %rows[%i, %i] sizes [-1, 8] : !tile.global<16x64xf16>, i32, i32 -> !tile.global<8xf16>
  tile.copy %row to %f : !tile.global<8xf16>, !tile.buffer<8xf16, fragment>
  tgpu.return
}
