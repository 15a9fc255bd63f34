// Slices of packed elements begin at even ones: tested where the index is not known.
// RUN: tile-opt --tile-insert-checks %s | FileCheck %s

tile.kernel @k(%g: i32 {tile.name = "g"}, %x: !tile.global<?x?xi4> {tile.name = "x"}, %y: !tile.global<?x?xi8> {tile.name = "y"}) {
  tile.launch grid(%g : i32) threads(32) {
  ^bb0(%i: i32):
    %c2 = arith.constant 2 : i32
    // CHECK: tile.launch
    // CHECK: %[[ODD:.*]] = arith.andi %[[I:.*]], %{{.*}} : i32
    // CHECK: %[[EVEN:.*]] = arith.cmpi eq, %[[ODD]], %{{.*}} : i32
    // CHECK: tile.verify %[[EVEN]], 0 "a slice of packed elements starts at an odd index [packed-slice]" : i1
    // CHECK: tile.slice
    %0 = tile.slice %x[%c2, %i] sizes [4, 8] : !tile.global<?x?xi4>, i32, i32 -> !tile.global<4x8xi4>
    // CHECK-NOT: tile.verify
    %1 = tile.slice %x[%i, %c2] sizes [4, 8] : !tile.global<?x?xi4>, i32, i32 -> !tile.global<4x8xi4>
    %2 = tile.slice %x[%i, %i] sizes [4, -1] : !tile.global<?x?xi4>, i32, i32 -> !tile.global<4xi4>
    %3 = tile.slice %y[%i, %i] sizes [4, 8] : !tile.global<?x?xi8>, i32, i32 -> !tile.global<4x8xi8>
    // CHECK: tile.verify %{{.*}}, 1 "a slice of packed elements starts at an odd index [packed-slice]" : i1
    // CHECK-NEXT: tile.load
    %4 = tile.load %x[%i, %i : i32, i32] : !tile.global<?x?xi4> -> vector<4xi4>
    // CHECK-NOT: tile.verify
    %5 = tile.load %x[%i, %i : i32, i32] : !tile.global<?x?xi4> -> i4
  }
  tile.return
}
