// Clusters go through boxes of points: so many as there are points of one cluster each, by the number of the cluster.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-make-persistent))' | FileCheck %s

// CHECK-LABEL: tgpu.kernel @persistent(
// CHECK-SAME: %[[X:[a-z0-9]+]]: i32, %[[Y:[a-z0-9]+]]: i32
// CHECK: %[[ID:.*]] = tgpu.cluster_id
// CHECK: %[[POINTS:.*]] = arith.muli %[[X]], %[[Y]]
// CHECK: %[[BLOCKS:.*]] = arith.constant 4
// CHECK: %[[BOXES:.*]] = arith.divui %[[POINTS]], %[[BLOCKS]]
// CHECK: %[[N:.*]] = tgpu.num_clusters
// CHECK: %[[LAST:.*]] = arith.subi %[[N]]
// CHECK: arith.subi %[[LAST]], %[[ID]]
// CHECK: arith.divui %[[BOXES]], %[[N]]
// CHECK: scf.for
// CHECK: %[[BOX:.*]] = arith.addi
// CHECK: tgpu.grid_point %[[BOX]] in(%[[X]], %[[Y]]) {cluster = array<i32: 2, 2>}
tgpu.kernel @persistent(%x: i32, %y: i32, %g: !tile.global<?xi32>)
    attributes {threads = 128 : i32, persistent = 1 : i32, cluster = array<i32: 2, 2>} {
  %id = tgpu.cluster_id
  %i, %j = tgpu.grid_point %id in (%x, %y) {cluster = array<i32: 2, 2>} : i32, i32
  tile.store %i, %g[%j : i32] : i32, !tile.global<?xi32>
  tgpu.return
}
