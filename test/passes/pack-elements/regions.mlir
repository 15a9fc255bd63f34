// Memory of elements of four bits is memory of bytes; elements are values.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-pack-elements))' -split-input-file | FileCheck %s

!bytes = !tile.global<?x?xi8>
!packed = !tile.global<?x?xi4>
// The last dimension counts bytes; sums and products of even numbers stay such.
// CHECK-LABEL: tgpu.kernel @copies
// CHECK: %[[VIEW:.*]] = tgpu.view %{{.*}} : !tile.global<?x?xi4> -> !tile.global<?x?xi8>
// CHECK-NOT: bitcast_view
// CHECK: %[[SMEM:.*]] = tgpu.alloc_shared "s" {layout_hint = "swizzle(32)"} : !tgpu.smem<16x32xi8>
// CHECK: %[[C32:.*]] = arith.constant 32 : i32
// CHECK-NEXT: %[[COLUMN:.*]] = arith.muli %{{.*}}, %[[C32]] : i32
// CHECK: %[[SLICE:.*]] = tile.slice %[[VIEW]][%{{.*}}, %[[COLUMN]]] sizes [16, 32]{{.*}} -> !tile.global<16x32xi8>
// CHECK: tgpu.copy %[[SLICE]] to %[[SMEM]] {no_tma} : !tile.global<16x32xi8>, !tgpu.smem<16x32xi8>
// CHECK: %[[LOADED:.*]] = tgpu.local_load %[[SMEM]] : !tgpu.smem<16x32xi8> -> tensor<16x32xi8>
// CHECK: %[[ELEMENTS:.*]] = tgpu.unpack %[[LOADED]] : tensor<16x32xi8> -> tensor<16x64xi4>
// CHECK: %[[PACKED:.*]] = tgpu.pack %[[ELEMENTS]] : tensor<16x64xi4> -> tensor<16x32xi8>
// CHECK: tgpu.store %[[PACKED]], %[[SLICE]] : tensor<16x32xi8>, !tile.global<16x32xi8>
tgpu.kernel @copies(%g: !packed, %m: i32, %n: i32, %i: i32, %k: i32) attributes {threads = 128 : i32} {
  %b = tgpu.view %g extents(%m, %n : i32, i32) strides(%n : i32) : !packed -> !bytes
  %x = tile.bitcast_view %b : !bytes -> !packed
  %s = tgpu.alloc_shared "s" {layout_hint = "swizzle(32)"} : !tgpu.smem<16x64xi4>
  %c64 = arith.constant 64 : i32
  %j = arith.muli %k, %c64 : i32
  %part = tile.slice %x[%i, %j] sizes [16, 64] : !packed, i32, i32 -> !tile.global<16x64xi4>
  tgpu.copy %part to %s {no_tma} : !tile.global<16x64xi4>, !tgpu.smem<16x64xi4>
  %e = tgpu.local_load %s : !tgpu.smem<16x64xi4> -> tensor<16x64xi4>
  tgpu.store %e, %part : tensor<16x64xi4>, !tile.global<16x64xi4>
  tgpu.return
}

// -----

!bytes = !tile.global<?xi8>
!packed = !tile.global<?xf4E2M1FN>
// A view that may end inside a byte: half of its last one is cleared. One that ends at an even element is as its bytes are.
// CHECK-LABEL: tgpu.kernel @ends
// CHECK: %[[FLOOR:.*]] = arith.shrsi %[[SIZE:.*]], %{{.*}} : i32
// CHECK: %[[CEIL:.*]] = arith.subi %[[SIZE]], %[[FLOOR]] : i32
// CHECK: %[[END:.*]] = arith.extsi %[[SIZE]] : i32 to i64
// CHECK: %[[ODD:.*]] = tile.slice {{.*}} sizes [-9223372036854775808](%[[CEIL]] : i32)
// CHECK: %[[BYTES:.*]] = tgpu.load {{.*}} -> tensor<16xi8>
// CHECK: %[[AT:.*]] = tgpu.coordinate : tensor<16xi64>
// CHECK: %[[HIGH:.*]] = arith.addi
// CHECK: %[[INSIDE:.*]] = arith.cmpi slt, %{{.*}}, %{{.*}} : tensor<16xi64>
// CHECK: %[[LOW:.*]] = arith.andi %[[BYTES]], %{{.*}} : tensor<16xi8>
// CHECK: %[[CLEARED:.*]] = arith.select %[[INSIDE]], %[[BYTES]], %[[LOW]]
// CHECK: tgpu.unpack %[[CLEARED]] : tensor<16xi8> -> tensor<32xf4E2M1FN>
// CHECK: %[[PLAIN:.*]] = tgpu.load {{.*}} -> tensor<16xi8>
// CHECK-NEXT: tgpu.unpack %[[PLAIN]]
tgpu.kernel @ends(%g: !packed, %n: i32, %size: i32, %half: i32) attributes {threads = 32 : i32} {
  %b = tgpu.view %g extents(%n : i32) strides() : !packed -> !bytes
  %x = tile.bitcast_view %b : !bytes -> !packed
  %c0 = arith.constant 0 : i32
  %c2 = arith.constant 2 : i32
  %v = tile.slice %x[%c0] sizes [-9223372036854775808](%size : i32) : !packed, i32 -> !packed
  %part = tile.slice %v[%c2] sizes [32] : !packed, i32 -> !tile.global<32xf4E2M1FN>
  %e = tgpu.load %part : !tile.global<32xf4E2M1FN> -> tensor<32xf4E2M1FN>
  %even = arith.muli %half, %c2 : i32
  %w = tile.slice %x[%c0] sizes [-9223372036854775808](%even : i32) : !packed, i32 -> !packed
  %other = tile.slice %w[%c2] sizes [32] : !packed, i32 -> !tile.global<32xf4E2M1FN>
  %f = tgpu.load %other : !tile.global<32xf4E2M1FN> -> tensor<32xf4E2M1FN>
  tgpu.return
}

// -----

!bytes = !tile.global<?x?xi8>
!packed = !tile.global<?x?xi4>
// A column, and elements at computed indices: the byte, and which half of it.
// CHECK-LABEL: tgpu.kernel @halves
// CHECK: %[[BYTE:.*]] = arith.shrsi %[[J:.*]], %{{.*}} : i32
// CHECK: %[[COLUMN:.*]] = tile.slice %{{.*}}[%{{.*}}, %[[BYTE]]] sizes [8, -1]{{.*}} -> !tile.global<8xi8>
// CHECK: %[[BYTES:.*]] = tgpu.load %[[COLUMN]] : {{.*}} -> tensor<8xi8>
// CHECK: %[[SHIFTED:.*]] = arith.shrui %[[BYTES]], %{{.*}} : tensor<8xi8>
// CHECK: arith.trunci %[[SHIFTED]] : tensor<8xi8> to tensor<8xi4>
// CHECK: %[[AT:.*]] = arith.shrsi %[[INDEX:.*]], %{{.*}} : tensor<8xi32>
// CHECK: %[[GATHERED:.*]] = tgpu.gather %{{.*}}[%{{.*}}, %[[AT]]] {{.*}} -> tensor<8xi8>
// CHECK: %[[ODD:.*]] = arith.andi %[[INDEX]], %{{.*}} : tensor<8xi32>
// CHECK: arith.shrui %[[GATHERED]]
// CHECK: tile.load %{{.*}} : !tile.global<?x?xi8> -> i8
// CHECK: tile.load %{{.*}} -> vector<4xi8>
// CHECK-NEXT: tgpu.unpack %{{.*}} : vector<4xi8> -> vector<8xi4>
tgpu.kernel @halves(%g: !packed, %m: i32, %n: i32, %j: i32) attributes {threads = 32 : i32} {
  %b = tgpu.view %g extents(%m, %n : i32, i32) strides(%n : i32) : !packed -> !bytes
  %x = tile.bitcast_view %b : !bytes -> !packed
  %c0 = arith.constant 0 : i32
  %column = tile.slice %x[%c0, %j] sizes [8, -1] : !packed, i32, i32 -> !tile.global<8xi4>
  %e = tgpu.load %column : !tile.global<8xi4> -> tensor<8xi4>
  %at = tgpu.coordinate : tensor<8xi32>
  %f = tgpu.gather %x[%c0, %at] : !packed[i32, tensor<8xi32>] -> tensor<8xi4>
  %h = tile.load %x[%c0, %j : i32, i32] : !packed -> i4
  %v = tile.load %x[%c0, %j : i32, i32] : !packed -> vector<8xi4>
  tgpu.return
}

// -----

!bytes = !tile.global<?xi8>
!packed = !tile.global<?xi4>
// The size of `2..n`, n even, as the front end computes it: cut to the largest number, which is behind every end.
// CHECK-LABEL: tgpu.kernel @between
// CHECK: %[[SIZE:.*]] = arith.select
// CHECK: %[[FLOOR:.*]] = arith.shrsi %[[SIZE]], %{{.*}} : i32
// CHECK: %[[CEIL:.*]] = arith.subi %[[SIZE]], %[[FLOOR]] : i32
// CHECK: tile.slice {{.*}}(%[[CEIL]] : i32)
// CHECK: tgpu.pack
// CHECK: tgpu.store
tgpu.kernel @between(%g: !packed, %bytes: i32, %n: i32 {tgpu.divisible = 2 : i64}, %v: tensor<32xi4>) attributes {threads = 32 : i32} {
  %b = tgpu.view %g extents(%bytes : i32) strides() : !packed -> !bytes
  %x = tile.bitcast_view %b : !bytes -> !packed
  %c0 = arith.constant 0 : i32
  %c2 = arith.constant 2 : i32
  %most = arith.constant 2147483647 : i32
  %left = arith.subi %n, %c2 : i32
  %some = arith.cmpi sgt, %n, %c2 : i32
  %cut = arith.minui %left, %most : i32
  %size = arith.select %some, %cut, %c0 : i32
  %w = tile.slice %x[%c2] sizes [-9223372036854775808](%size : i32) : !packed, i32 -> !packed
  %part = tile.slice %w[%c0] sizes [32] : !packed, i32 -> !tile.global<32xi4>
  tgpu.store %v, %part : tensor<32xi4>, !tile.global<32xi4>
  tgpu.return
}
