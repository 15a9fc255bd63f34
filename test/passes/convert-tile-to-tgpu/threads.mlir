// Regions of single threads stay regions: their variables become values, arrays stay memory of each thread's own, and
// elements of shared memory are accessed one by one.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(convert-tile-to-tgpu))' | FileCheck %s

// CHECK-LABEL: tgpu.kernel @variables
// CHECK: tile.threads [32, 2] {
// CHECK-NEXT: ^bb0(%[[X:.*]]: i32, %[[Y:.*]]: i32):
// CHECK-NOT: tile.alloc
// CHECK: %[[R:.*]] = scf.for {{.*}} iter_args(%[[V:.*]] = %[[Y]]) -> (i32)
// CHECK: %[[N:.*]] = arith.addi %[[V]], %[[X]]
// CHECK: scf.yield %[[N]]
// CHECK: tile.unroll = 4
// CHECK: tile.store %[[R]]
tgpu.kernel @variables(%g: !tile.global<64xi32>, %n: i32) attributes {threads = 64 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  tile.threads [32, 2] {
  ^bb0(%x: i32, %y: i32):
    %v = tile.alloc "v" : !tile.buffer<i32, local>
    tile.write %y, %v : i32, !tile.buffer<i32, local>
    scf.for %i = %c0 to %n step %c1 : i32 {
      %old = tile.read %v : !tile.buffer<i32, local> -> i32
      %sum = arith.addi %old, %x : i32
      tile.write %sum, %v : i32, !tile.buffer<i32, local>
    } {tile.unroll = 4 : i32}
    %r = tile.read %v : !tile.buffer<i32, local> -> i32
    tile.store %r, %g[%x : i32] : i32, !tile.global<64xi32>
  }
  tgpu.return
}

// Parts of a buffer that begin at computed indices are found in the buffer.
// CHECK-LABEL: tgpu.kernel @elements
// CHECK: %[[S:.*]] = tgpu.alloc_shared "s"
// CHECK: %[[L:.*]] = tile.alloc "l" : !tile.buffer<4xf32, local>
// CHECK: tile.threads
// CHECK: ^bb0(%[[T:.*]]: i32):
// CHECK: %[[A:.*]] = tgpu.load_element %[[S]][%{{.*}}, %[[T]] : i32, i32]
// CHECK: tile.store %[[A]], %[[L]][%[[T]] : i32]
// CHECK: %[[J:.*]] = arith.addi %[[T]], %{{.*}} : i32
// CHECK: tgpu.store_element %{{.*}}, %[[S]][%[[T]], %[[J]] : i32, i32] : vector<2xf32>
// CHECK: tile.sync_threads
tgpu.kernel @elements(%n: i32) attributes {threads = 64 : i32} {
  %c1 = arith.constant 1 : i32
  %s = tile.alloc "s" : !tile.buffer<64x64xf32, shared>
  %l = tile.alloc "l" : !tile.buffer<4xf32, local>
  tile.threads [64] {
  ^bb0(%t: i32):
    %a = tile.load %s[%n, %t : i32, i32] : !tile.buffer<64x64xf32, shared> -> f32
    tile.store %a, %l[%t : i32] : f32, !tile.buffer<4xf32, local>
    %v = tile.load %l[%c1 : i32] : !tile.buffer<4xf32, local> -> vector<2xf32>
    %row = tile.slice %s[%t, %t] sizes [-1, 2] : !tile.buffer<64x64xf32, shared>, i32, i32 -> !tile.buffer<2xf32, shared>
    tile.store %v, %row[%n : i32] : vector<2xf32>, !tile.buffer<2xf32, shared>
    tile.sync_threads
  }
  tgpu.return
}

// In block code elements of shared memory are scalars of the block; a local array is filled by each thread, and read as a
// tile through shared memory.
// CHECK-LABEL: tgpu.kernel @block
// CHECK: %[[L:.*]] = tile.alloc "l" : !tile.buffer<2xf32, local>
// CHECK: scf.for %[[I:.*]] =
// CHECK-NEXT: tile.store %{{.*}}, %[[L]][%[[I]] : i32]
// CHECK: %[[ALL:.*]] = tgpu.alloc_shared "l" : !tgpu.smem<64x2xf32>
// CHECK-NEXT: tile.threads [64] {
// CHECK-NEXT: ^bb0(%[[T:.*]]: i32):
// CHECK: scf.for %[[J:.*]] =
// CHECK-NEXT: %[[E:.*]] = tile.load %[[L]][%[[J]] : i32]
// CHECK-NEXT: tgpu.store_element %[[E]], %[[ALL]][%[[T]], %[[J]] : i32, i32]
// CHECK: tgpu.local_load %[[ALL]] : !tgpu.smem<64x2xf32> -> tensor<64x2xf32>
// CHECK: tgpu.load_element
// CHECK: tgpu.store_element
tgpu.kernel @block(%n: i32, %x: f32) attributes {threads = 64 : i32} {
  %l = tile.alloc "l" : !tile.buffer<2xf32, local>
  %zeros = tile.splat %x : f32 -> tensor<2xf32>
  tile.write %zeros, %l : tensor<2xf32>, !tile.buffer<2xf32, local>
  %all = tile.read %l : !tile.buffer<2xf32, local> -> tensor<64x2xf32>
  %s = tile.alloc "s" : !tile.buffer<64x2xf32, shared>
  tile.write %all, %s : tensor<64x2xf32>, !tile.buffer<64x2xf32, shared>
  %e = tile.load %s[%n, %n : i32, i32] : !tile.buffer<64x2xf32, shared> -> f32
  tile.store %e, %s[%n, %n : i32, i32] : f32, !tile.buffer<64x2xf32, shared>
  tgpu.return
}
