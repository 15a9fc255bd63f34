// What may not overflow is tested before it is computed, on tiles for each element; host code, which is exact, is not.
// RUN: tile-opt --tile-insert-checks %s | FileCheck %s

tile.kernel @k(%a: i32 {tile.name = "a"}, %w: i64 {tile.name = "w"}, %g: i32 {tile.name = "g"}) {
  // CHECK-NOT: tile.verify
  %h = arith.addi %g, %a overflow<nsw> : i32
  // CHECK: tile.launch
  tile.launch grid(%h : i32) threads(32) {
  ^bb0(%i: i32):
    // CHECK: %[[SUM:.*]] = arith.addi %arg3, %arg0 : i32
    // CHECK: %[[X:.*]] = arith.xori %arg3, %[[SUM]]
    // CHECK: %[[Y:.*]] = arith.xori %arg0, %[[SUM]]
    // CHECK: %[[SIGNS:.*]] = arith.andi %[[X]], %[[Y]]
    // CHECK: %[[FITS:.*]] = arith.cmpi sge, %[[SIGNS]], %{{.*}} : i32
    // CHECK: tile.verify %[[FITS]], 0 "signed integer overflow" : i1
    // CHECK: arith.addi %arg3, %arg0 overflow<nsw>
    %0 = arith.addi %i, %a overflow<nsw> : i32
    // CHECK: %[[WIDE:.*]] = arith.muli %{{.*}}, %{{.*}} : i64
    // CHECK: arith.trunci %[[WIDE]] : i64 to i32
    // CHECK: tile.verify %{{.*}}, 1 "signed integer overflow" : i1
    %1 = arith.muli %i, %a overflow<nsw> : i32
    // CHECK: %[[LOW:.*]], %[[HIGH:.*]] = arith.mulsi_extended %arg1, %arg1 : i64
    // CHECK: arith.shrsi %[[LOW]]
    // CHECK: tile.verify %{{.*}}, 2 "signed integer overflow" : i1
    %2 = arith.muli %w, %w overflow<nsw> : i64
    // Unsigned arithmetic wraps.
    // CHECK-NOT: tile.verify
    %3 = arith.addi %i, %a : i32
    // CHECK: %[[T:.*]] = tile.splat
    %t = tile.splat %a : i32 -> tensor<64xi32>
    // CHECK: tile.verify %{{.*}}, 3 "signed integer overflow" : tensor<64xi1>
    %4 = arith.subi %t, %t overflow<nsw> : tensor<64xi32>
    // CHECK: tile.map
    // CHECK: ^bb0(%[[E:.*]]: i32)
    // CHECK: tile.verify %{{.*}}, 4 "signed integer overflow" : i1
    %5 = tile.map %t : tensor<64xi32> -> tensor<64xi32> {
    ^bb0(%e: i32):
      %s = arith.addi %e, %e overflow<nsw> : i32
      tile.yield %s : i32
    }
    tile.yield
  }
  tile.return
}
