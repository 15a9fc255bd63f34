// A tensor reshaped in a launch is a view of its argument in which nothing is in range if the numbers of elements differ.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(convert-tile-to-tgpu))' | FileCheck %s

// CHECK-LABEL: tgpu.kernel @reshape
// CHECK-SAME: %[[G:[a-z0-9]+]]: !tile.global<?x64xf16>, %[[M:[a-z0-9]+]]: i32, %[[N:[a-z0-9]+]]: i32
// CHECK: %[[SAME:.*]] = arith.cmpi eq
// CHECK: %[[SIZE:.*]] = arith.cmpi sge, %[[N]]
// CHECK: %[[FITS:.*]] = arith.andi %[[SAME]], %[[SIZE]]
// CHECK: %[[FIRST:.*]] = arith.select %[[FITS]], %[[N]]
// CHECK: %[[V:.*]] = tgpu.view %[[G]] extents(%[[FIRST]], %[[C:.*]] : i32, i32) strides(%[[C]] : i32) {reshaped} : !tile.global<?x64xf16> -> !tile.global<?x32xf16>
// CHECK: tile.slice %[[V]]
tgpu.kernel @reshape(%g: !tile.global<?x64xf16>, %m: i32, %n: i32) attributes {threads = 64 : i32, target = "sm_80"} {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %v = tgpu.view %g extents(%m, %c64 : i32, i32) strides(%c64 : i32) : !tile.global<?x64xf16> -> !tile.global<?x64xf16>
  %r = tile.reshape %v(%n : i32) : !tile.global<?x64xf16> -> !tile.global<?x32xf16>
  %f = tile.alloc "f" : !tile.buffer<8x32xf16, fragment>
  %t = tile.slice %r[%c0, %c0] sizes [8, 32] : !tile.global<?x32xf16>, i32, i32 -> !tile.global<8x32xf16>
  tile.copy %t to %f : !tile.global<8x32xf16>, !tile.buffer<8x32xf16, fragment>
  tile.copy %f to %t : !tile.buffer<8x32xf16, fragment>, !tile.global<8x32xf16>
  tgpu.return
}
