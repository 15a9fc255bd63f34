// Where the two sides of a copy are decides the operation: copy, load, store, local_load, local_store.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(convert-tile-to-tgpu))' | FileCheck %s

// CHECK-LABEL: tgpu.kernel @copies
// CHECK: %[[S:.*]] = tgpu.alloc_shared "s" : !tgpu.smem<64x32xf16>
// CHECK: %[[L:.*]] = tgpu.alloc_shared "l" {layout_hint = "padded(8)"} : !tgpu.smem<64x32xf32>
// CHECK: tgpu.copy %[[G:.*]] to %[[S]] {cache = #tile.cache<evict_first>, no_tma, require = ["tma"]} : !tile.global<64x32xf16>, !tgpu.smem<64x32xf16>
// CHECK: tgpu.copy %[[S]] to %[[G]]
// Types differ: through registers.
// CHECK: %[[T0:.*]] = tgpu.load %[[G]] {{.*}}-> tensor<64x32xf16>
// CHECK: %[[T1:.*]] = tile.convert %[[T0]] : tensor<64x32xf16> to tensor<64x32xf32>
// CHECK: tgpu.local_store %[[T1]], %[[L]]
// CHECK: %[[T2:.*]] = tgpu.local_load %[[L]] {{.*}}-> tensor<64x32xf32>
// CHECK: %[[T3:.*]] = tile.convert %[[T2]]
// CHECK: tgpu.store %[[T3]], %[[G]] {no_tma, require = ["tma"]}
// A fragment is its last value.
// CHECK: %[[F:.*]] = tgpu.load %[[G]]
// CHECK: tgpu.local_store %[[F]], %[[S]]
// CHECK: %[[R:.*]] = tgpu.local_load %[[S]]
// CHECK: tgpu.store %[[R]], %[[G]]
// CHECK-NOT: tile.alloc
tgpu.kernel @copies(%g: !tile.global<64x32xf16>) attributes {threads = 128 : i32} {
  %s = tile.alloc "s" : !tile.buffer<64x32xf16, shared>
  %l = tile.alloc "l" {layout = "padded(8)"} : !tile.buffer<64x32xf32, shared>
  %f = tile.alloc "f" : !tile.buffer<64x32xf16, fragment>
  tile.copy %g to %s {no_tma, cache = #tile.cache<evict_first>, require = ["tma"]} : !tile.global<64x32xf16>, !tile.buffer<64x32xf16, shared>
  tile.copy %s to %g : !tile.buffer<64x32xf16, shared>, !tile.global<64x32xf16>
  tile.copy %g to %l : !tile.global<64x32xf16>, !tile.buffer<64x32xf32, shared>
  tile.copy %l to %g {no_tma, require = ["tma"]} : !tile.buffer<64x32xf32, shared>, !tile.global<64x32xf16>
  tile.copy %g to %f : !tile.global<64x32xf16>, !tile.buffer<64x32xf16, fragment>
  tile.copy %f to %s : !tile.buffer<64x32xf16, fragment>, !tile.buffer<64x32xf16, shared>
  tile.copy %s to %f : !tile.buffer<64x32xf16, shared>, !tile.buffer<64x32xf16, fragment>
  tile.copy %f to %g : !tile.buffer<64x32xf16, fragment>, !tile.global<64x32xf16>
  tgpu.return
}

// Signs of integers reach the conversion.
// CHECK-LABEL: tgpu.kernel @unsigned
// CHECK: tile.convert %{{.*}} {dst_unsigned, src_unsigned} : tensor<64xi8> to tensor<64xi32>
tgpu.kernel @unsigned(%g: !tile.global<64xi8>, %h: !tile.global<64xi32>) attributes {threads = 128 : i32} {
  %f = tile.alloc "f" : !tile.buffer<64xi8, fragment>
  tile.copy %g to %f : !tile.global<64xi8>, !tile.buffer<64xi8, fragment>
  tile.copy %f to %h {src_unsigned, dst_unsigned} : !tile.buffer<64xi8, fragment>, !tile.global<64xi32>
  tgpu.return
}

// A part of a shared buffer at constant offsets is a subview.
// CHECK-LABEL: tgpu.kernel @part
// CHECK: %[[P:.*]] = tgpu.subview %{{.*}} at [32, 0] : !tgpu.smem<64x32xf16> -> !tgpu.smem<32x32xf16>
// CHECK: tgpu.copy %{{.*}} to %[[P]]
tgpu.kernel @part(%g: !tile.global<32x32xf16>) attributes {threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %s = tile.alloc "s" : !tile.buffer<64x32xf16, shared>
  %p = tile.slice %s[%c32, %c0] sizes [32, 32] : !tile.buffer<64x32xf16, shared>, i32, i32 -> !tile.buffer<32x32xf16, shared>
  tile.copy %g to %p : !tile.global<32x32xf16>, !tile.buffer<32x32xf16, shared>
  tgpu.return
}
