// Host values that a kernel cannot take are errors; a module without launches stays as it is.
// RUN: tile-opt %s --tile-outline-launches -split-input-file -verify-diagnostics | FileCheck %s

tile.kernel @table(%a: !tile.global<?xf32> {tile.name = "A", tile.dtype = "f32", tile.direction = "out"}) {
  %t = tile.constant_array dense<[1.0, 2.0]> : tensor<2xf32> : tensor<2xf32>
  %one = arith.constant 1 : i32
  // expected-error@+1 {{this kind of host value in a launch is not supported yet [not-supported]}}
  tile.launch grid(%one : i32) threads(32) {
  ^bb0(%i: i32):
    %x = tile.load %t[%i : i32] : tensor<2xf32> -> f32
    tile.store %x, %a[%i : i32] : f32, !tile.global<?xf32>
  }
  tile.return
}

// -----

// CHECK-LABEL: tile.kernel @nothing
// CHECK-NEXT: arith.constant
// CHECK-NEXT: tile.return
// CHECK-NOT: tgpu
tile.kernel @nothing() {
  %one = arith.constant 1 : i32
  tile.return
}
