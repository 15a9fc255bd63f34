// In launches what the program promises of overflow is dropped; host code, which is exact, keeps it.
// RUN: tile-opt %s --tile-wrap-integers | FileCheck %s

// CHECK-LABEL: tile.kernel @k
tile.kernel @k(%n: i32 {tile.name = "n", tile.dtype = "i32"}) {
  // CHECK: arith.muli %{{.*}} overflow<nsw>
  %m = arith.muli %n, %n overflow<nsw> : i32
  // CHECK: tile.launch
  tile.launch grid(%m : i32) threads(32) {
  ^bb0(%b: i32):
    // CHECK-NOT: overflow
    %x = arith.addi %b, %n overflow<nsw> : i32
    %y = arith.subi %x, %n overflow<nsw, nuw> : i32
    %z = arith.shli %y, %n overflow<nuw> : i32
    %t = arith.trunci %z overflow<nsw> : i32 to i16
    %c = arith.cmpi sgt, %x, %b : i32
    scf.if %c {
      %w = arith.muli %x, %y overflow<nsw> : i32
    }
    tile.yield
  }
  // CHECK: tile.return
  tile.return
}
