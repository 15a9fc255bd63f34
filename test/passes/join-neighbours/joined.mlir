// Elements of a thread that lie side by side are one access: the widest that begins at a multiple of its length.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-join-neighbours))' -split-input-file | FileCheck %s

// Loads move up to the first, stores down to the last, past what accesses other tensors; in any order of the elements.
// CHECK-LABEL: tgpu.kernel @rows
// CHECK: %[[AT:.*]] = arith.muli
// CHECK: %[[X:.*]] = tile.load %{{.*}}[%{{.*}}, %[[AT]] : i32, i32] : {{.*}} -> vector<4xf32>
// CHECK-DAG: %[[D:.*]] = vector.extract %[[X]][3]
// CHECK-DAG: %[[A:.*]] = vector.extract %[[X]][0]
// CHECK: %[[Y:.*]] = vector.from_elements %[[D]], %{{.*}}, %{{.*}}, %[[A]] : vector<4xf32>
// CHECK: tile.store %[[Y]], %{{.*}}[%{{.*}}, %[[AT]] : i32, i32] : vector<4xf32>
// CHECK-NOT: tile.{{(load|store)}}
tgpu.kernel @rows(%g: !tile.global<?x?xf32>, %o: !tile.global<?x?xf32>, %n: i32) attributes {threads = 64 : i32, target = "sm_80"} {
  %a = tgpu.view %g extents(%n, %n : i32, i32) strides(%n : i32) : !tile.global<?x?xf32> -> !tile.global<?x?xf32>
  %b = tgpu.view %o extents(%n, %n : i32, i32) strides(%n : i32) : !tile.global<?x?xf32> -> !tile.global<?x?xf32>
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c3 = arith.constant 3 : i32
  %c4 = arith.constant 4 : i32
  tile.threads [64] {
  ^bb0(%t: i32):
    %i0 = arith.muli %t, %c4 : i32
    %i3 = arith.addi %i0, %c3 : i32
    %i2 = arith.addi %i0, %c2 : i32
    %x3 = tile.load %a[%n, %i3 : i32, i32] : !tile.global<?x?xf32> -> f32
    tile.store %x3, %b[%n, %i0 : i32, i32] : f32, !tile.global<?x?xf32>
    %i1 = arith.addi %i0, %c1 : i32
    %x0 = tile.load %a[%n, %i0 : i32, i32] : !tile.global<?x?xf32> -> f32
    tile.store %x0, %b[%n, %i3 : i32, i32] : f32, !tile.global<?x?xf32>
    %x1 = tile.load %a[%n, %i1 : i32, i32] : !tile.global<?x?xf32> -> f32
    tile.store %x1, %b[%n, %i2 : i32, i32] : f32, !tile.global<?x?xf32>
    %x2 = tile.load %a[%n, %i2 : i32, i32] : !tile.global<?x?xf32> -> f32
    tile.store %x2, %b[%n, %i1 : i32, i32] : f32, !tile.global<?x?xf32>
  }
  tgpu.return
}

// -----

// Of five elements from -6 on: two, at a multiple of two, and two, at a multiple of four; the last one is alone.
// CHECK-LABEL: tgpu.kernel @parts
// CHECK: tile.load {{.*}} -> vector<2xf64>
// CHECK: tile.load {{.*}} -> vector<2xf64>
// CHECK: tile.load {{.*}} -> f64
// CHECK-NOT: tile.load
tgpu.kernel @parts(%g: !tile.global<?xf64>, %s: !tile.global<?xf64>, %n: i32) attributes {threads = 64 : i32, target = "sm_80"} {
  %a = tgpu.view %g extents(%n : i32) strides() : !tile.global<?xf64> -> !tile.global<?xf64>
  %b = tgpu.view %s extents(%n : i32) strides() : !tile.global<?xf64> -> !tile.global<?xf64>
  %c1 = arith.constant 1 : i32
  %c3 = arith.constant 3 : i32
  %c4 = arith.constant 4 : i32
  %c5 = arith.constant 5 : i32
  %c6 = arith.constant 6 : i32
  tile.threads [64] {
  ^bb0(%t: i32):
    %four = arith.muli %t, %c4 : i32
    %i0 = arith.subi %four, %c6 : i32
    %i1 = arith.subi %four, %c5 : i32
    %i2 = arith.subi %four, %c4 : i32
    %i3 = arith.subi %four, %c3 : i32
    %i4 = arith.addi %i3, %c1 : i32
    %x0 = tile.load %a[%i0 : i32] : !tile.global<?xf64> -> f64
    %x1 = tile.load %a[%i1 : i32] : !tile.global<?xf64> -> f64
    %x2 = tile.load %a[%i2 : i32] : !tile.global<?xf64> -> f64
    %x3 = tile.load %a[%i3 : i32] : !tile.global<?xf64> -> f64
    %x4 = tile.load %a[%i4 : i32] : !tile.global<?xf64> -> f64
    %s0 = arith.addf %x0, %x1 : f64
    %s1 = arith.addf %s0, %x2 : f64
    %s2 = arith.addf %s1, %x3 : f64
    %s3 = arith.addf %s2, %x4 : f64
    tile.store %s3, %b[%t : i32] : f64, !tile.global<?xf64>
  }
  tgpu.return
}

// -----

// Indices of 64 bits, and shared memory, whose rows end where an access of four may.
// CHECK-LABEL: tgpu.kernel @shared
// CHECK: %[[X:.*]] = tile.load {{.*}} : !tile.global<?xf16> -> vector<2xf16>
// CHECK: tgpu.store_element {{.*}} : f16, !tgpu.smem<127xf16>
// CHECK: %[[V:.*]] = vector.from_elements
// CHECK: tgpu.store_element %[[V]], %{{.*}} : vector<2xf16>, !tgpu.smem<128xf16>
// CHECK: tgpu.store_element {{.*}} : f16, !tgpu.smem<127xf16>
tgpu.kernel @shared(%g: !tile.global<?xf16>, %n: i32) attributes {threads = 64 : i32, target = "sm_80"} {
  %a = tgpu.view %g extents(%n : i32) strides() : !tile.global<?xf16> -> !tile.global<?xf16>
  %even = tgpu.alloc_shared "even" : !tgpu.smem<128xf16>
  %odd = tgpu.alloc_shared "odd" : !tgpu.smem<127xf16>
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  tile.threads [64] {
  ^bb0(%t: i32):
    %i0 = arith.muli %t, %c2 : i32
    %i1 = arith.addi %i0, %c1 : i32
    %w0 = arith.extsi %i0 : i32 to i64
    %w1 = arith.extsi %i1 : i32 to i64
    %x0 = tile.load %a[%w0 : i64] : !tile.global<?xf16> -> f16
    tgpu.store_element %x0, %even[%i0 : i32] : f16, !tgpu.smem<128xf16>
    tgpu.store_element %x0, %odd[%i0 : i32] : f16, !tgpu.smem<127xf16>
    %x1 = tile.load %a[%w1 : i64] : !tile.global<?xf16> -> f16
    tgpu.store_element %x1, %even[%i1 : i32] : f16, !tgpu.smem<128xf16>
    tgpu.store_element %x1, %odd[%i1 : i32] : f16, !tgpu.smem<127xf16>
  }
  tgpu.return
}
