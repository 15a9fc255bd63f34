// What may not be one access stays as it is.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-join-neighbours))' -split-input-file | FileCheck %s --implicit-check-not=vector

// The first is at no known multiple; rows differ; block code, where all threads read the same.
// CHECK-LABEL: tgpu.kernel @places
tgpu.kernel @places(%g: !tile.global<?x?xf32>, %o: !tile.global<?xf32>, %n: i32) attributes {threads = 64 : i32, target = "sm_80"} {
  %a = tgpu.view %g extents(%n, %n : i32, i32) strides(%n : i32) : !tile.global<?x?xf32> -> !tile.global<?x?xf32>
  %b = tgpu.view %o extents(%n : i32) strides() : !tile.global<?xf32> -> !tile.global<?xf32>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %u = tile.load %a[%c0, %c0 : i32, i32] : !tile.global<?x?xf32> -> f32
  %v = tile.load %a[%c0, %c1 : i32, i32] : !tile.global<?x?xf32> -> f32
  %w = arith.addf %u, %v : f32
  tile.threads [64] {
  ^bb0(%t: i32):
    %i1 = arith.addi %t, %c1 : i32
    %x0 = tile.load %a[%n, %t : i32, i32] : !tile.global<?x?xf32> -> f32
    %x1 = tile.load %a[%n, %i1 : i32, i32] : !tile.global<?x?xf32> -> f32
    %j0 = arith.muli %t, %c2 : i32
    %j1 = arith.addi %j0, %c1 : i32
    %y0 = tile.load %a[%t, %j0 : i32, i32] : !tile.global<?x?xf32> -> f32
    %y1 = tile.load %a[%i1, %j1 : i32, i32] : !tile.global<?x?xf32> -> f32
    %s0 = arith.addf %x0, %x1 : f32
    %s1 = arith.addf %y0, %y1 : f32
    %s2 = arith.addf %s0, %s1 : f32
    %s3 = arith.addf %s2, %w : f32
    tile.store %s3, %b[%t : i32] : f32, !tile.global<?xf32>
  }
  tgpu.return
}

// -----

// Written between two reads, and read between two writes, by another index that may be the same.
// CHECK-LABEL: tgpu.kernel @between
tgpu.kernel @between(%g: !tile.global<?xf32>, %o: !tile.global<?xf32>, %n: i32, %m: i32) attributes {threads = 64 : i32, target = "sm_80"} {
  %a = tgpu.view %g extents(%n : i32) strides() : !tile.global<?xf32> -> !tile.global<?xf32>
  %b = tgpu.view %o extents(%n : i32) strides() : !tile.global<?xf32> -> !tile.global<?xf32>
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  tile.threads [64] {
  ^bb0(%t: i32):
    %i0 = arith.muli %t, %c2 : i32
    %i1 = arith.addi %i0, %c1 : i32
    %x0 = tile.load %a[%i0 : i32] : !tile.global<?xf32> -> f32
    tile.store %x0, %a[%m : i32] : f32, !tile.global<?xf32>
    %x1 = tile.load %a[%i1 : i32] : !tile.global<?xf32> -> f32
    tile.store %x0, %b[%i0 : i32] : f32, !tile.global<?xf32>
    %y = tile.load %b[%m : i32] : !tile.global<?xf32> -> f32
    %s = arith.addf %x1, %y : f32
    tile.store %s, %b[%i1 : i32] : f32, !tile.global<?xf32>
  }
  tgpu.return
}

// -----

// The element itself is written before it is read, or twice; a barrier, and an atomic operation, come between.
// CHECK-LABEL: tgpu.kernel @order
tgpu.kernel @order(%g: !tile.global<?xi32>, %o: !tile.global<?xi32>, %n: i32) attributes {threads = 64 : i32, target = "sm_80"} {
  %a = tgpu.view %g extents(%n : i32) strides() : !tile.global<?xi32> -> !tile.global<?xi32>
  %b = tgpu.view %o extents(%n : i32) strides() : !tile.global<?xi32> -> !tile.global<?xi32>
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  tile.threads [64] {
  ^bb0(%t: i32):
    %i0 = arith.muli %t, %c2 : i32
    %i1 = arith.addi %i0, %c1 : i32
    %x0 = tile.load %a[%i0 : i32] : !tile.global<?xi32> -> i32
    tile.store %x0, %a[%i1 : i32] : i32, !tile.global<?xi32>
    %x1 = tile.load %a[%i1 : i32] : !tile.global<?xi32> -> i32
    tile.store %x1, %b[%i0 : i32] : i32, !tile.global<?xi32>
    tile.store %t, %b[%i0 : i32] : i32, !tile.global<?xi32>
    tile.sync_threads
    tile.store %t, %b[%i1 : i32] : i32, !tile.global<?xi32>
    %old = tile.atomic <add> %t, %b[%i1 : i32] : i32, !tile.global<?xi32> -> i32
    tile.store %old, %b[%i0 : i32] : i32, !tile.global<?xi32>
  }
  tgpu.return
}
