// Divisions and shifts: with harmless constants they become operations of arith, else they stay.
// RUN: tile-opt %s --canonicalize --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: tgpu.kernel @constants
tgpu.kernel @constants(%x: i32, %t: tensor<64xi8>, %a: !tile.global<?xi32>, %n: i32) attributes {threads = 32 : i32} {
  %v = tgpu.view %a extents(%n : i32) strides() : !tile.global<?xi32> -> !tile.global<?xi32>
  %c0 = arith.constant 0 : i32
  %c3 = arith.constant 3 : i32
  %m1 = arith.constant -1 : i32
  %c32 = arith.constant 32 : i32
  // CHECK-DAG: %[[Q:.*]] = arith.divsi
  %q = tile.div %x, %c3 : i32
  // CHECK-DAG: %[[C:.*]] = arith.ceildivui
  %c = tile.div %x, %c3 {rounding = #tile.rounding<up>, is_unsigned} : i32
  // CHECK-DAG: %[[F:.*]] = arith.floordivsi
  %f = tile.div %x, %c3 {rounding = #tile.rounding<down>} : i32
  // Without sign -1 is a large number, by which nothing overflows.
  // CHECK-DAG: %[[U:.*]] = arith.divui
  %u = tile.div %x, %m1 {is_unsigned} : i32
  // CHECK-DAG: %[[R:.*]] = arith.remsi
  %r = tile.rem %x, %c3 : i32
  // CHECK-DAG: %[[S:.*]] = arith.shrsi
  %s = tile.shr %x, %c3 : i32
  // CHECK-DAG: %[[Z:.*]] = tile.div %{{.*}}, %c0_i32 : i32
  %z = tile.div %x, %c0 : i32
  // CHECK-DAG: %[[M:.*]] = tile.div %{{.*}}, %c-1_i32 : i32
  %m = tile.div %x, %m1 : i32
  // CHECK-DAG: %[[D:.*]] = tile.rem %{{.*}}, %c3_i32 {rounding = #tile.rounding<down>} : i32
  %d = tile.rem %x, %c3 {rounding = #tile.rounding<down>} : i32
  // CHECK-DAG: %[[W:.*]] = tile.shl %{{.*}}, %c32_i32 : i32
  %w = tile.shl %x, %c32 : i32
  tile.store %q, %v[%c0 : i32] : i32, !tile.global<?xi32>
  tile.store %c, %v[%c0 : i32] : i32, !tile.global<?xi32>
  tile.store %f, %v[%c0 : i32] : i32, !tile.global<?xi32>
  tile.store %u, %v[%c0 : i32] : i32, !tile.global<?xi32>
  tile.store %r, %v[%c0 : i32] : i32, !tile.global<?xi32>
  tile.store %s, %v[%c0 : i32] : i32, !tile.global<?xi32>
  tile.store %z, %v[%c0 : i32] : i32, !tile.global<?xi32>
  tile.store %m, %v[%c0 : i32] : i32, !tile.global<?xi32>
  tile.store %d, %v[%c0 : i32] : i32, !tile.global<?xi32>
  tile.store %w, %v[%c0 : i32] : i32, !tile.global<?xi32>
  tgpu.return
}

// -----

tgpu.kernel @ceil_remainder(%x: i32) attributes {threads = 32 : i32} {
  // expected-error@+1 {{rounds to zero or down}}
  %r = tile.rem %x, %x {rounding = #tile.rounding<up>} : i32
  tgpu.return
}
