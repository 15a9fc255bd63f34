// What only the host can compute moves in front of the launch; slices taken by the host are repeated in the kernel.
// RUN: tile-opt %s --tile-outline-launches -split-input-file | FileCheck %s

// CHECK-LABEL: tile.kernel @hoisted
// CHECK-DAG: %[[E:.*]] = tile.extent %[[A:.*]][0]
// CHECK-DAG: %[[P:.*]] = tile.present %{{.*}}
// CHECK-DAG: %[[S:.*]] = tile.stride %[[A]][0]
// CHECK-DAG: %[[C:.*]] = tile.sm_count
// CHECK: tgpu.launch "hoisted_0" grid({{.*}}) args({{.*}})
// CHECK: tgpu.kernel @hoisted_0
// CHECK-NOT: tile.extent
// CHECK-NOT: tile.present
// CHECK-NOT: tile.stride
// CHECK-NOT: tile.sm_count
// CHECK: tgpu.return
tile.kernel @hoisted(%a: !tile.global<?x?xf32> {tile.name = "A", tile.dtype = "f32", tile.direction = "out"},
                     %b: !tile.global<?xf32> {tile.name = "B", tile.dtype = "f32", tile.direction = "in", tile.optional}) {
  %one = arith.constant 1 : i32
  tile.launch grid(%one : i32) threads(32) {
  ^bb0(%i: i32):
    %e = tile.extent %a[0] : !tile.global<?x?xf32> -> i32
    %p = tile.present %b : !tile.global<?xf32>
    %s = tile.stride %a[0] : !tile.global<?x?xf32>
    %n = tile.sm_count
    %t = arith.trunci %s : i64 to i32
    %u = arith.addi %e, %t : i32
    %v = arith.addi %u, %n : i32
    %w = arith.select %p, %v, %i : i32
    %f = arith.sitofp %w : i32 to f32
    tile.store %f, %a[%i, %i : i32, i32] : f32, !tile.global<?x?xf32>
  }
  tile.return
}

// -----

// CHECK-LABEL: tgpu.kernel @sliced_0(
// CHECK-SAME: %{{[a-z0-9]+}}: i32, %[[OFF:[a-z0-9]+]]: i32)
// CHECK: %[[V:.*]] = tgpu.view
// CHECK: %[[S:.*]] = tile.slice %[[V]][%[[OFF]]] sizes [64]
// CHECK: tile.load %[[S]]
tile.kernel @sliced(%a: !tile.global<?xf32> {tile.name = "A", tile.dtype = "f32", tile.direction = "in"}, %off: i32) {
  %s = tile.slice %a[%off] sizes [64] : !tile.global<?xf32>, i32 -> !tile.global<64xf32>
  %one = arith.constant 1 : i32
  tile.launch grid(%one : i32) threads(32) {
  ^bb0(%i: i32):
    %x = tile.load %s[%i : i32] : !tile.global<64xf32> -> f32
  }
  tile.return
}

// -----

// Launches in branches and loops of the host stay there; the loop's variable is an operand.
// CHECK-LABEL: tile.kernel @looped
// CHECK: scf.for %[[I:.*]] =
// CHECK: tgpu.launch "looped_0" grid({{.*}}) args({{.*}}%[[I]]{{.*}})
// CHECK: scf.if
// CHECK: tgpu.launch "looped_1"
// CHECK: tgpu.kernel @looped_0
// CHECK: tgpu.kernel @looped_1
tile.kernel @looped(%a: !tile.global<?xi32> {tile.name = "A", tile.dtype = "i32", tile.direction = "out"}, %n: i32, %p: i1) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  scf.for %k = %zero to %n step %one : i32 {
    tile.launch grid(%one : i32) threads(32) {
    ^bb0(%i: i32):
      tile.store %k, %a[%i : i32] : i32, !tile.global<?xi32>
    }
  }
  scf.if %p {
    tile.launch grid(%one : i32) threads(32) {
    ^bb0(%i: i32):
      tile.store %i, %a[%i : i32] : i32, !tile.global<?xi32>
    }
  }
  tile.return
}

// -----

// Extents of a grid as i64 are cut to i32 in the kernel, not on the host.
// CHECK-LABEL: tile.kernel @wide
// CHECK: tgpu.launch "wide_0" grid(%[[N:.*]], %{{.*}} : i64, i32)
// CHECK: tgpu.kernel @wide_0(%[[P:.*]]: i64)
// CHECK: %[[T:.*]] = arith.trunci %[[P]] : i64 to i32
// CHECK: tgpu.grid_point %{{.*}} in(%[[T]], %{{.*}}) : i32, i32
tile.kernel @wide(%n: i64) {
  %two = arith.constant 2 : i32
  tile.launch grid(%n, %two : i64, i32) threads(32) {
  ^bb0(%i: i32, %j: i32):
  }
  tile.return
}
