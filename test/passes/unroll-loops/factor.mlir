// Unrolled loops with a factor: n bodies at a time, what is left behind them, loads together at the begin.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-unroll-loops),canonicalize)' -verify-diagnostics | FileCheck %s

// CHECK-LABEL: tgpu.kernel @loads
// CHECK: %[[END:.*]] = arith.subi %[[N:.*]], %c6_i32
// CHECK: %[[R:.*]]:2 = scf.for %[[K:.*]] = %c0_i32 to %[[END]] step %c9_i32 iter_args(%[[A:.*]] = %{{.*}}, %{{.*}} = %c0_i32) -> (f32, i32)
// CHECK: %[[X:.*]] = tile.load
// CHECK: %[[K1:.*]] = arith.addi %[[K]], %c3_i32
// CHECK: tile.load %{{.*}}[%[[K1]] : i32]
// CHECK: %[[K2:.*]] = arith.addi %[[K]], %c6_i32
// CHECK: tile.load %{{.*}}[%[[K2]] : i32]
// CHECK: arith.addf %[[A]], %[[X]]
// CHECK: arith.addf
// CHECK: arith.addf
// CHECK: %[[NEXT:.*]] = arith.addi %[[K]], %c9_i32
// CHECK: scf.yield %{{.*}}, %[[NEXT]]
// CHECK: %[[REST:.*]] = scf.for %{{.*}} = %[[R]]#1 to %[[N]] step %c3_i32 iter_args(%{{.*}} = %[[R]]#0)
// CHECK-NOT: tile.unroll
// CHECK: tile.store %[[REST]]
tgpu.kernel @loads(%x: !tile.global<?xf32>, %y: !tile.global<64xf32>, %n: i32 {tgpu.range = array<i64: 0, 1000>}, %zero: f32) attributes {threads = 64 : i32} {
  %c0 = arith.constant 0 : i32
  %c3 = arith.constant 3 : i32
  tile.threads [64] {
  ^bb0(%t: i32):
    %r = scf.for %k = %c0 to %n step %c3 iter_args(%a = %zero) -> (f32) : i32 {
      %v = tile.load %x[%k : i32] : !tile.global<?xf32> -> f32
      %s = arith.addf %a, %v : f32
      scf.yield %s : f32
    } {tile.unroll = 3 : i32}
    tile.store %r, %y[%t : i32] : f32, !tile.global<64xf32>
  }
  tgpu.return
}

// Nothing is known of the end: it is not taken below the least number. What a store may write is not loaded before it.
// CHECK-LABEL: tgpu.kernel @order
// CHECK: %[[MOST:.*]] = arith.maxsi %{{.*}}, %c-2147483647_i32
// CHECK: arith.subi %[[MOST]], %c1_i32
// CHECK: tile.load
// CHECK: tile.store
// CHECK: tile.load
// CHECK: tile.store
tgpu.kernel @order(%x: !tile.global<?xf32>, %m: i32, %n: i32) attributes {threads = 64 : i32} {
  %c1 = arith.constant 1 : i32
  scf.for %k = %m to %n step %c1 : i32 {
    %v = tile.load %x[%k : i32] : !tile.global<?xf32> -> f32
    %next = arith.addi %k, %c1 : i32
    tile.store %v, %x[%next : i32] : f32, !tile.global<?xf32>
  } {tile.unroll = 2 : i32}
  tgpu.return
}

// A factor of 1, a step that is not known, a stride that the type does not hold: one loop, as it is.
// CHECK-LABEL: tgpu.kernel @once
// CHECK-COUNT-3: scf.for
// CHECK-NOT: scf.for
tgpu.kernel @once(%x: !tile.global<?xf32>, %n: i32, %v: f32) attributes {threads = 64 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %most = arith.constant 1000000000 : i32
  scf.for %k = %c0 to %n step %c1 : i32 {
    tile.store %v, %x[%k : i32] : f32, !tile.global<?xf32>
  } {tile.unroll = 1 : i32}
  scf.for %k = %c0 to %n step %n : i32 {
    tile.store %v, %x[%k : i32] : f32, !tile.global<?xf32>
  } {tile.unroll = 4 : i32}
  scf.for %k = %c0 to %n step %most : i32 {
    tile.store %v, %x[%k : i32] : f32, !tile.global<?xf32>
  } {tile.unroll = 4 : i32}
  tgpu.return
}

!g = !tile.global<?xf32>
!t = tensor<16384xf32>

// A body of three operations on 256 elements a thread is not repeated 6 times and for the rest, but could be 4 times: 3 leave no
// rest that 6 would not.
// CHECK-LABEL: tgpu.kernel @fewer
// CHECK: scf.for {{.*}} step %c3_i32
// CHECK-COUNT-3: tgpu.store
// CHECK-NOT: tgpu.store
// CHECK: scf.for {{.*}} step %c1_i32
tgpu.kernel @fewer(%x: !g, %y: !g, %n: i32) attributes {threads = 64 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  // expected-remark @+1 {{loop is unrolled 3 times, not 6: more copies of its body would be too long}}
  scf.for %k = %c0 to %n step %c1 : i32 {
    %u = tile.slice %x[%k] sizes [16384] : !g, i32 -> !tile.global<16384xf32>
    %v = tgpu.load %u : !tile.global<16384xf32> -> !t
    %w = tile.slice %y[%k] sizes [16384] : !g, i32 -> !tile.global<16384xf32>
    %d = arith.addf %v, %v : !t
    tgpu.store %d, %w : !t, !tile.global<16384xf32>
  } {tile.unroll = 6 : i32}
  tgpu.return
}

// What runs for each element counts for each.
// CHECK-LABEL: tgpu.kernel @map
// CHECK-COUNT-1: scf.for
// CHECK-NOT: scf.for
tgpu.kernel @map(%x: !tile.global<16384xf32>, %n: i32) attributes {threads = 64 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  // expected-remark @+1 {{loop is unrolled 1 time, not 2: more copies of its body would be too long}}
  scf.for %k = %c0 to %n step %c1 : i32 {
    %v = tgpu.load %x : !tile.global<16384xf32> -> !t
    %m = tile.map %v : !t -> !t {
    ^bb0(%e: f32):
      %a = arith.addf %e, %e : f32
      %b = arith.mulf %a, %e : f32
      %c = arith.addf %b, %a : f32
      %d = arith.mulf %c, %b : f32
      tile.yield %d : f32
    }
    tgpu.store %m, %x : !t, !tile.global<16384xf32>
  } {tile.unroll = 2 : i32}
  tgpu.return
}

// Copies and products are what they move and multiply. No number of copies is too large to ask for.
// CHECK-LABEL: tgpu.kernel @buffers
// CHECK: scf.for {{.*}} step %c11_i32
// CHECK-COUNT-11: tgpu.dot
// CHECK: scf.for {{.*}} step %c1_i32
tgpu.kernel @buffers(%x: !tile.global<128x64xf16>, %z: tensor<128x128xf32>, %n: i32) attributes {threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %s = tgpu.alloc_shared "S" : !tgpu.smem<128x64xf16>
  // expected-remark @+1 {{loop is unrolled 11 times, not 2147483646: more copies of its body would be too long}}
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%a = %z) -> (tensor<128x128xf32>) : i32 {
    tgpu.copy %x to %s : !tile.global<128x64xf16>, !tgpu.smem<128x64xf16>
    %d = tgpu.dot %s, %s, %a {transpose_b} : !tgpu.smem<128x64xf16>, !tgpu.smem<128x64xf16>, tensor<128x128xf32> -> tensor<128x128xf32>
    scf.yield %d : tensor<128x128xf32>
  } {tile.unroll = 2147483646 : i32}
  tgpu.return
}
