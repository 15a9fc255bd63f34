// Prints are numbered in each kernel, in the order of the program.
// RUN: tile-opt %s --tile-outline-launches | FileCheck %s

// CHECK-LABEL: tgpu.kernel @k_0
// CHECK: tile.print "one" {place = 0 : i32}
// CHECK: scf.if
// CHECK: tile.print "two" {place = 1 : i32}
// CHECK: tile.print "three {}", %{{.*}} : i32 {place = 2 : i32}
// CHECK-LABEL: tgpu.kernel @k_1
// CHECK: tile.print "four" {place = 0 : i32}
tile.kernel @k(%c: i1 {tile.name = "c", tile.dtype = "bool"}) {
  %c4 = arith.constant 4 : i32
  tile.launch grid(%c4 : i32) threads(128) {
  ^bb0(%i: i32):
    tile.print "one"
    scf.if %c {
      tile.print "two"
    }
    tile.print "three {}", %i : i32
  }
  tile.launch grid(%c4 : i32) threads(128) {
  ^bb0(%i: i32):
    tile.print "four"
  }
  tile.return
}
