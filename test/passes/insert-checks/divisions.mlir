// Divisions and shifts that are defined for all operands are errors of scalar code all the same, not of elements of tiles.
// RUN: tile-opt --tile-insert-checks %s | FileCheck %s

tile.kernel @k(%a: i32 {tile.name = "a", tile.dtype = "i32"}, %g: i32 {tile.name = "g", tile.dtype = "i32"}) {
  // CHECK: tile.launch
  tile.launch grid(%g : i32) threads(32) {
  ^bb0(%i: i32):
    // CHECK: %[[NOTZERO:.*]] = arith.cmpi ne, %arg0, %{{.*}} : i32
    // CHECK: tile.verify %[[NOTZERO]], 0 "integer division by zero" : i1
    // CHECK: tile.verify %{{.*}}, 1 "signed integer overflow in a division" : i1
    // CHECK: tile.div
    %0 = tile.div %i, %a : i32
    // CHECK: tile.verify %{{.*}}, 2 "integer division by zero" : i1
    // CHECK-NOT: overflow
    // CHECK: tile.rem
    %1 = tile.rem %i, %a {is_unsigned} : i32
    // CHECK: tile.verify %{{.*}}, 3 "shift by the width of the type or more" : i1
    // CHECK: tile.shl
    %2 = tile.shl %i, %a : i32
    // CHECK: tile.verify %{{.*}}, 4 "shift by the width of the type or more" : i1
    // CHECK: tile.shr
    %3 = tile.shr %i, %a {is_unsigned} : i32
    // CHECK-NOT: tile.verify
    %t = tile.splat %a : i32 -> tensor<64xi32>
    %4 = tile.div %t, %t : tensor<64xi32>
    %5 = tile.shl %t, %t : tensor<64xi32>
    %6 = tile.map %t : tensor<64xi32> -> tensor<64xi32> {
    ^bb0(%e: i32):
      %s = tile.rem %e, %e : i32
      tile.yield %s : i32
    }
    tile.yield
  }
  tile.return
}
