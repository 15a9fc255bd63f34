// Slices of tensors whose rows start at multiples of 16 bytes move by TMA, without a remark.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-select-copies))' -verify-diagnostics | FileCheck %s

!h = !tile.global<?x?xf16>
!b = !tile.global<?x?x?xf32>

// CHECK-LABEL: tgpu.kernel @copies
// CHECK: tgpu.copy {{.*}} {bytes = 16 : i32, path = #tgpu.path<tma>} : !tile.global<64x32xf16>, !tgpu.smem
// CHECK: tgpu.copy {{.*}} {bytes = 16 : i32, path = #tgpu.path<tma>} : !tgpu.smem
// CHECK: tgpu.store {{.*}} {bytes = 16 : i32, path = #tgpu.path<tma>}
// CHECK: tgpu.load {{.*}} {bytes = 16 : i32}
tgpu.kernel @copies(%a: !h {tgpu.align = 16 : i64}, %m: i32, %n: i32 {tgpu.divisible = 8 : i64}, %i: i32 {tgpu.range = array<i64: 0, 16777216>}) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c32 = arith.constant 32 : i32
  %v = tgpu.view %a extents(%m, %n : i32, i32) strides(%n : i32) : !h -> !h
  %s = tgpu.alloc_shared "s" : !tgpu.smem<64x32xf16>
  %x = arith.muli %i, %c32 : i32
  %t = tile.slice %v[%m, %x] sizes [64, 32] : !h, i32, i32 -> !tile.global<64x32xf16>
  tgpu.copy %t to %s : !tile.global<64x32xf16>, !tgpu.smem<64x32xf16>
  tgpu.copy %s to %t : !tgpu.smem<64x32xf16>, !tile.global<64x32xf16>
  %f = tgpu.local_load %s : !tgpu.smem<64x32xf16> -> tensor<64x32xf16>
  tgpu.store %f, %t : tensor<64x32xf16>, !tile.global<64x32xf16>
  %g = tgpu.load %t : !tile.global<64x32xf16> -> tensor<64x32xf16>
  tgpu.return
}

// One matrix of a batch, and a part of a part.
// CHECK-LABEL: tgpu.kernel @batch
// CHECK: tgpu.copy {{.*}} path = #tgpu.path<tma>
// CHECK: tgpu.copy {{.*}} path = #tgpu.path<tma>
tgpu.kernel @batch(%a: !b {tgpu.align = 256 : i64}, %m: i32, %n: i32 {tgpu.divisible = 4 : i64}, %s0: i64 {tgpu.divisible = 16 : i64})
    attributes {threads = 128 : i32, target = "sm_90a", require = ["tma"]} {
  %c0 = arith.constant 0 : i32
  %v = tgpu.view %a extents(%m, %m, %n : i32, i32, i32) strides(%s0, %n : i64, i32) : !b -> !b
  %s = tgpu.alloc_shared "s" : !tgpu.smem<64x32xf32>
  %t = tile.slice %v[%m, %m, %n] sizes [-1, 64, 32] : !b, i32, i32, i32 -> !tile.global<64x32xf32>
  tgpu.copy %t to %s : !tile.global<64x32xf32>, !tgpu.smem<64x32xf32>
  %whole = tile.slice %t[%c0, %c0] sizes [64, 32] : !tile.global<64x32xf32>, i32, i32 -> !tile.global<64x32xf32>
  tgpu.copy %t to %s : !tile.global<64x32xf32>, !tgpu.smem<64x32xf32>
  tgpu.return
}

// Views of part of a tensor. What a load brings from beyond their bounds becomes zero later (tgpu-expand-pipeline); a store may not
// go there. A view that takes a dimension whole has no bound of its own, also where the extent is known at run time only.
// CHECK-LABEL: tgpu.kernel @views
// CHECK: tgpu.copy {{.*}} path = #tgpu.path<tma>
// CHECK: tgpu.copy {{.*}} path = #tgpu.path<tma>
// CHECK: tgpu.store {{.*}} path = #tgpu.path<tma>
// CHECK: tgpu.copy {{.*}} path = #tgpu.path<tma>
tgpu.kernel @views(%a: !b {tgpu.align = 256 : i64}, %o: !b {tgpu.align = 256 : i64}, %l: i32, %m: i32, %n: i32 {tgpu.divisible = 4 : i64}, %s0: i64 {tgpu.divisible = 16 : i64}, %i: i32 {tgpu.range = array<i64: 0, 2147483647>}, %k: i32)
    attributes {threads = 128 : i32, target = "sm_90a", require = ["tma"]} {
  %c0 = arith.constant 0 : i32
  %v = tgpu.view %a extents(%l, %m, %n : i32, i32, i32) strides(%s0, %n : i64, i32) : !b -> !b
  %w = tgpu.view %o extents(%l, %m, %n : i32, i32, i32) strides(%s0, %n : i64, i32) : !b -> !b
  %s = tgpu.alloc_shared "s" : !tgpu.smem<64x32xf32>
  %rows = tile.slice %v[%i, %k, %c0] sizes [-1, -9223372036854775808, -9223372036854775808](%i, %n : i32, i32) : !b, i32, i32, i32 -> !tile.global<?x?xf32>
  %t = tile.slice %rows[%k, %c0] sizes [64, 32] : !tile.global<?x?xf32>, i32, i32 -> !tile.global<64x32xf32>
  tgpu.copy %t to %s : !tile.global<64x32xf32>, !tgpu.smem<64x32xf32>
  %matrix = tile.slice %w[%i, %c0, %c0] sizes [-1, -9223372036854775808, -9223372036854775808](%m, %n : i32, i32) : !b, i32, i32, i32 -> !tile.global<?x?xf32>
  %again = tile.slice %matrix[%c0, %c0] sizes [-9223372036854775808, -9223372036854775808](%m, %n : i32, i32) : !tile.global<?x?xf32>, i32, i32 -> !tile.global<?x?xf32>
  %u = tile.slice %again[%i, %c0] sizes [64, 32] : !tile.global<?x?xf32>, i32, i32 -> !tile.global<64x32xf32>
  tgpu.copy %u to %s : !tile.global<64x32xf32>, !tgpu.smem<64x32xf32>
  %f = tgpu.local_load %s : !tgpu.smem<64x32xf32> -> tensor<64x32xf32>
  tgpu.store %f, %u : tensor<64x32xf32>, !tile.global<64x32xf32>
  // The place in a batch may be outside of the view, too.
  %batch = tile.slice %v[%k, %c0, %c0] sizes [10, -9223372036854775808, -9223372036854775808](%m, %n : i32, i32) : !b, i32, i32, i32 -> !tile.global<10x?x?xf32>
  %x = tile.slice %batch[%k, %k, %c0] sizes [-1, 64, 32] : !tile.global<10x?x?xf32>, i32, i32, i32 -> !tile.global<64x32xf32>
  tgpu.copy %x to %s : !tile.global<64x32xf32>, !tgpu.smem<64x32xf32>
  tgpu.return
}
