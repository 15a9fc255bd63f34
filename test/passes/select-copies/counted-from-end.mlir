// Points of the grid counted from the end of their dimension are not negative, so TMA stores at them; one further may be, and so may those of another dimension.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-select-copies))' -verify-diagnostics | FileCheck %s

!g = !tile.global<?x?xf16>
!t = !tile.global<64x32xf16>
!f = tensor<64x32xf16>
// CHECK-LABEL: tgpu.kernel @from_end
// CHECK-COUNT-2: tgpu.store {{.*}}path = #tgpu.path<tma>
// CHECK-COUNT-2: tgpu.store {{.*}}path = #tgpu.path<vector>
tgpu.kernel @from_end(%a: !g {tgpu.align = 16 : i64}, %m: i32, %n: i32 {tgpu.divisible = 8 : i64}, %x: i32 {tgpu.range = array<i64: 0, 16777216>}, %y: i32 {tgpu.range = array<i64: 0, 16777216>}, %f: !f) attributes {threads = 128 : i32, target = "sm_90a"} {
  %v = tgpu.view %a extents(%m, %n : i32, i32) strides(%n : i32) : !g -> !g
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %minus = arith.constant -1 : i32
  %c64 = arith.constant 64 : i32
  %id = tgpu.block_id
  %i, %j = tgpu.grid_point %id in (%x, %y) : i32, i32
  %last = arith.subi %x, %c1 : i32
  %back = arith.subi %last, %i : i32
  %row = arith.muli %back, %c64 : i32
  %t0 = tile.slice %v[%row, %c0] sizes [64, 32] : !g, i32, i32 -> !t
  tgpu.store %f, %t0 : !f, !t
  %also = arith.addi %x, %minus : i32
  %again = arith.subi %also, %i : i32
  %t1 = tile.slice %v[%again, %c0] sizes [64, 32] : !g, i32, i32 -> !t
  tgpu.store %f, %t1 : !f, !t
  %beyond = arith.subi %x, %c2 : i32
  %before = arith.subi %beyond, %i : i32
  %t2 = tile.slice %v[%before, %c0] sizes [64, 32] : !g, i32, i32 -> !t
  // expected-remark@+1 {{copy stores from registers, not by TMA: the region may begin before the tensor}}
  tgpu.store %f, %t2 : !f, !t
  %other = arith.subi %last, %j : i32
  %t3 = tile.slice %v[%other, %c0] sizes [64, 32] : !g, i32, i32 -> !t
  // expected-remark@+1 {{copy stores from registers, not by TMA: the region may begin before the tensor}}
  tgpu.store %f, %t3 : !f, !t
  tgpu.return
}
