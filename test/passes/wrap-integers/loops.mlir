// Constant bounds further apart than their type counts with sign: the loop runs without sign, from zero, and its variable is
// computed. Canonicalisation would take the wrapped distance for no trips.
// RUN: tile-opt %s --tile-wrap-integers --canonicalize | FileCheck %s

// CHECK-LABEL: tile.kernel @k
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : i8
// CHECK-DAG: %[[DISTANCE:.*]] = arith.constant -1 : i8
// CHECK-DAG: %[[FIRST:.*]] = arith.constant -128 : i8
// CHECK-DAG: %[[STEP:.*]] = arith.constant 100 : i8
tile.kernel @k(%a: !tile.global<256xi32> {tile.name = "a", tile.dtype = "i32", tile.direction = "out"}) {
  %one = arith.constant 1 : i32
  tile.launch grid(%one : i32) threads(32) {
  ^bb0(%b: i32):
    %first = arith.constant -128 : i8
    %last = arith.constant 127 : i8
    %step = arith.constant 100 : i8
    // CHECK: scf.for unsigned %[[T:.*]] = %[[ZERO]] to %[[DISTANCE]] step %[[STEP]] : i8
    // CHECK: %[[I:.*]] = arith.addi %[[T]], %[[FIRST]] : i8
    // CHECK: arith.extsi %[[I]]
    scf.for %i = %first to %last step %step : i8 {
      %x = arith.extsi %i : i8 to i32
      tile.store %x, %a[%x : i32] : i32, !tile.global<256xi32>
    }
    // What fits stays as it is.
    // CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %{{.*}} : i8
    %near = arith.constant 26 : i8
    scf.for %i = %near to %last step %step : i8 {
      %x = arith.extsi %i : i8 to i32
      tile.store %x, %a[%x : i32] : i32, !tile.global<256xi32>
    }
    tile.yield
  }
  tile.return
}
