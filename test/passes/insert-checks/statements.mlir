// Assertions, assumptions, steps and indices.
// RUN: tile-opt --tile-insert-checks %s | FileCheck %s

!s = !tile.buffer<8x16xf32, shared>
tile.kernel @k(%a: i32 {tile.name = "a"}, %c: i1 {tile.name = "c"}, %x: f32 {tile.name = "x"}) {
  // CHECK: tile.launch
  tile.launch grid(%a : i32) threads(32) {
  ^bb0(%i: i32):
    // CHECK: tile.verify %arg1, 0 "what `assume` says is not true [assume]" : i1
    tile.assume %c
    // Tiles are not in the record, nor is a ninth scalar; what has no sign is noted.
    // CHECK: tile.verify %arg1, 1 "assertion failed: c: {} [...] {} {} {} {} {} {} {} ... [assert]", %arg3, %arg0, {{.*}} {unsigned_values = array<i32: 1>} : i1
    %t = tile.splat %x : f32 -> tensor<4xf32>
    tile.assert %c, "c: {} {} {} {} {} {} {} {} {} {}", %i, %t, %a, %i, %i, %i, %i, %i, %i, %i : i32, tensor<4xf32>, i32, i32, i32, i32, i32, i32, i32, i32 {unsigned_values = array<i32: 2>}
    // An assertion over a tile needs no reduction: each thread tests its own elements.
    // CHECK: %[[ALL:.*]] = arith.cmpf
    // CHECK: tile.verify %[[ALL]], 2 "assertion failed: t [assert]" : tensor<4xi1>
    %less = arith.cmpf olt, %t, %t : tensor<4xf32>
    %every = tile.reduce <and> %less : tensor<4xi1> -> i1
    tile.assert %every, "t"
    // A step that is not positive is 1, so that the loop ends.
    // CHECK: tile.verify %{{.*}}, 3 "the step of the loop is not positive [loop-step]" : i1
    // CHECK: %[[STEP:.*]] = arith.maxsi %arg0, %{{.*}}
    // CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %[[STEP]]
    scf.for %k = %i to %a step %a : i32 {
    }
    // CHECK: tile.alloc "s"
    %s = tile.alloc "s" : !s
    // CHECK: tile.verify %{{.*}}, 4 "index {} of `s` is out of range: dimension 0 has extent 8 [out-of-range]", %{{.*}} : i64 : i1
    // CHECK-NOT: tile.verify
    // CHECK: tile.load
    %c3 = arith.constant 3 : i32
    %v = tile.load %s[%i, %c3 : i32, i32] : !s -> f32
    // CHECK: tile.verify %{{.*}}, 5 "index {} of `s` is out of range: dimension 1 has extent 16 [out-of-range]"
    // CHECK: tile.store
    tile.store %v, %s[%c3, %a : i32, i32] : f32, !s
    tile.yield
  }
  tile.return
}
