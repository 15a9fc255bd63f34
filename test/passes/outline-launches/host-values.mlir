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

// Extents of a grid as i64 are cut to i32 in the kernel, not on the host, which computes what the kernel multiplies by in place of
// dividing by them.
// CHECK-LABEL: tile.kernel @wide
// CHECK: %[[MOST:.*]] = arith.minsi %arg0, %{{.*}} : i64
// CHECK: %[[D:.*]] = arith.maxsi %[[MOST]], %{{.*}} : i64
// CHECK: %[[Q:.*]] = arith.divsi %c4611686018427387904_i64, %[[D]]
// CHECK: %[[INVERSE:.*]] = arith.addi %[[Q]], %c1_i64
// CHECK: tgpu.launch "wide_0" grid(%[[N:.*]], %{{.*}} : i64, i32) args(%[[N]], %[[INVERSE]], %{{.*}} : i64, i64, !tile.global<1xi32>)
// CHECK: tgpu.kernel @wide_0(%[[P:[a-z0-9]+]]: i64{{.*}}, %[[I:[a-z0-9]+]]: i64
// CHECK: %[[T:.*]] = arith.trunci %[[P]] : i64 to i32
// CHECK: tgpu.grid_point %{{.*}} in(%[[T]], %{{.*}}) inverses(%[[I]]) : i32, i32
tile.kernel @wide(%n: i64) {
  %two = arith.constant 2 : i32
  tile.launch grid(%n, %two : i64, i32) threads(32) attributes {persistent = "dynamic"} {
  ^bb0(%i: i32, %j: i32):
  }
  tile.return
}

// -----

// A panel's height is the host's, too; of constants there is nothing to compute.
// CHECK-LABEL: tile.kernel @panels
// CHECK: %[[HEIGHT:.*]] = arith.minsi %{{.*}}, %c6_i64{{.*}} : i64
// CHECK: %[[OVER:.*]] = arith.remsi %c5_i64{{.*}}, %[[HEIGHT]]
// CHECK: %[[LAST:.*]] = arith.addi %[[OVER]], %c1_i64
// CHECK: %[[PANEL:.*]] = arith.muli %[[HEIGHT]], %c3_i64
// CHECK: arith.divsi %c4611686018427387904_i64, %[[PANEL]]
// CHECK: arith.divsi %c4611686018427387904_i64, %[[HEIGHT]]
// CHECK: arith.divsi %c4611686018427387904_i64, %[[LAST]]
// CHECK: tgpu.kernel @panels_0(
// CHECK: tgpu.grid_point %{{.*}} in(%c3_i32, %c6_i32, %c2_i32) group(%{{.*}}) inverses(%c256204778801521551_i64, %{{.*}}, %{{.*}}, %{{.*}}) : i32, i32, i32
tile.kernel @panels(%g: i32) {
  %two = arith.constant 2 : i32
  %three = arith.constant 3 : i32
  %six = arith.constant 6 : i32
  tile.launch grid(%three, %six, %two : i32, i32, i32) threads(32) rasterize(%g) attributes {persistent = "dynamic"} {
  ^bb0(%i: i32, %j: i32, %k: i32):
  }
  tile.return
}
