// Without TMA copies are cp.async, without a remark, or loads and stores.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-select-copies))' -verify-diagnostics -split-input-file | FileCheck %s

// CHECK-LABEL: tgpu.kernel @wide
// CHECK: tgpu.copy {{.*}}bytes = 16 : i32, path = #tgpu.path<cp_async>
tgpu.kernel @wide(%a: !tile.global<?x?xf16> {tgpu.align = 16 : i64}, %m: i32, %n: i32 {tgpu.divisible = 8 : i64}, %i: i32) attributes {threads = 128 : i32, target = "sm_80"} {
  %v = tgpu.view %a extents(%m, %n : i32, i32) strides(%n : i32) : !tile.global<?x?xf16> -> !tile.global<?x?xf16>
  %s = tgpu.alloc_shared "s" : !tgpu.smem<64x32xf16>
  %o = arith.constant 0 : i32
  %t = tile.slice %v[%i, %o] sizes [64, 32] : !tile.global<?x?xf16>, i32, i32 -> !tile.global<64x32xf16>
  // Nothing to remark.
  tgpu.copy %t to %s : !tile.global<64x32xf16>, !tgpu.smem<64x32xf16>
  tgpu.return
}

// -----

// CHECK-LABEL: tgpu.kernel @narrow
// CHECK: tgpu.copy {{.*}}bytes = 2 : i32, path = #tgpu.path<vector>
tgpu.kernel @narrow(%a: !tile.global<?x?xf16> {tgpu.align = 16 : i64}, %m: i32, %n: i32 {tgpu.divisible = 1 : i64}, %i: i32) attributes {threads = 128 : i32, target = "sm_80"} {
  %v = tgpu.view %a extents(%m, %n : i32, i32) strides(%n : i32) : !tile.global<?x?xf16> -> !tile.global<?x?xf16>
  %s = tgpu.alloc_shared "s" : !tgpu.smem<64x32xf16>
  %o = arith.constant 0 : i32
  %t = tile.slice %v[%i, %o] sizes [64, 32] : !tile.global<?x?xf16>, i32, i32 -> !tile.global<64x32xf16>
  // expected-remark@+1 {{copy moves by loads and stores of 2 bytes, not cp.async: rows are not known to start and end at multiples of 4 bytes}}
  tgpu.copy %t to %s : !tile.global<64x32xf16>, !tgpu.smem<64x32xf16>
  tgpu.return
}

// -----

// Stores from registers are what there is: no remark.
// CHECK-LABEL: tgpu.kernel @stores
// CHECK: tgpu.store {{.*}} {bytes = 16 : i32, path = #tgpu.path<vector>}
// CHECK: tgpu.copy {{.*}} {bytes = 16 : i32, path = #tgpu.path<vector>}
tgpu.kernel @stores(%a: !tile.global<?x?xf16> {tgpu.align = 16 : i64}, %m: i32, %n: i32 {tgpu.divisible = 8 : i64}, %f: tensor<64x32xf16>) attributes {threads = 128 : i32, target = "sm_80"} {
  %v = tgpu.view %a extents(%m, %n : i32, i32) strides(%n : i32) : !tile.global<?x?xf16> -> !tile.global<?x?xf16>
  %s = tgpu.alloc_shared "s" : !tgpu.smem<64x32xf16>
  %t = tile.slice %v[%m, %n] sizes [64, 32] : !tile.global<?x?xf16>, i32, i32 -> !tile.global<64x32xf16>
  tgpu.store %f, %t : tensor<64x32xf16>, !tile.global<64x32xf16>
  // expected-remark@+1 {{copy moves by loads and stores of 16 bytes, not TMA: `sm_80` has no TMA}}
  tgpu.copy %s to %t : !tgpu.smem<64x32xf16>, !tile.global<64x32xf16>
  tgpu.return
}

// Parts of a view that has bounds of its own: a slice begins at the sum of both places.
// CHECK-LABEL: tgpu.kernel @parts
// CHECK: tgpu.copy {{.*}}bytes = 16
// CHECK: tgpu.copy {{.*}}bytes = 8
tgpu.kernel @parts(%a: !tile.global<?x?xf16> {tgpu.align = 16 : i64}, %m: i32, %n: i32 {tgpu.divisible = 8 : i64}, %first: i32, %rows: i32)
    attributes {threads = 128 : i32, target = "sm_80"} {
  %c0 = arith.constant 0 : i32
  %c4 = arith.constant 4 : i32
  %c64 = arith.constant 64 : i32
  %v = tgpu.view %a extents(%m, %n : i32, i32) strides(%n : i32) : !tile.global<?x?xf16> -> !tile.global<?x?xf16>
  %s = tgpu.alloc_shared "s" : !tgpu.smem<64x64xf16>
  %p = tile.slice %v[%first, %c64] sizes [-9223372036854775808, -9223372036854775808](%rows, %n : i32, i32) : !tile.global<?x?xf16>, i32, i32 -> !tile.global<?x?xf16>
  %t = tile.slice %p[%m, %c64] sizes [64, 64] : !tile.global<?x?xf16>, i32, i32 -> !tile.global<64x64xf16>
  tgpu.copy %t to %s : !tile.global<64x64xf16>, !tgpu.smem<64x64xf16>
  %u = tile.slice %p[%m, %c4] sizes [64, 64] : !tile.global<?x?xf16>, i32, i32 -> !tile.global<64x64xf16>
  tgpu.copy %u to %s : !tile.global<64x64xf16>, !tgpu.smem<64x64xf16>
  tgpu.return
}
