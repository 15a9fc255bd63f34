// A kernel with a cluster gets a variant of such before all others, for grids of whole ones; the others have none. Why there is none is a remark.
// RUN: tile-opt %s --tgpu-make-variants -split-input-file -verify-diagnostics | FileCheck %s

// What is known of the grid is not asked for again: the second extent is a multiple of 2.
// CHECK-LABEL: tgpu.kernel @k_clustered(
// CHECK-SAME: %[[N:[a-z0-9]+]]: i32 {tgpu.divisible = 8 : i64}
// CHECK-SAME: %[[X:[a-z0-9]+]]: i32 {tgpu.divisible = 4 : i64}, %[[Y:[a-z0-9]+]]: i32 {tgpu.divisible = 6 : i64}
// CHECK-SAME: cluster = array<i32: 4, 2>
// CHECK-SAME: guard = [#tgpu.divisible<1, 8>, #tgpu.divisible<2, 4>]
// CHECK-SAME: variant = "clustered"
// CHECK: %[[CLUSTER:.*]] = tgpu.cluster_id
// CHECK: tgpu.grid_point %[[CLUSTER]] in(%[[X]], %[[Y]]) {cluster = array<i32: 4, 2>}
// CHECK-LABEL: tgpu.kernel @k_aligned(
// CHECK-NOT: cluster
// CHECK-SAME: guard = [#tgpu.divisible<1, 8>]
// CHECK-NOT: cluster
// CHECK: %[[BLOCK:.*]] = tgpu.block_id
// CHECK-NOT: cluster
// CHECK: tgpu.grid_point %[[BLOCK]]
// CHECK-LABEL: tgpu.kernel @k_any(
// CHECK-NOT: cluster
// CHECK-SAME: variant = "any"
// expected-remark@+1 {{two variants}}
tgpu.kernel @k(%a: !tile.global<?x?xf16>, %n: i32, %x: i32, %y: i32 {tgpu.divisible = 6 : i64})
    attributes {threads = 128 : i32, launch = "k", target = "sm_90a", cluster = array<i32: 4, 2>} {
  %id = tgpu.block_id
  %p, %q = tgpu.grid_point %id in (%x, %y) : i32, i32
  %v = tgpu.view %a extents(%n, %n : i32, i32) strides(%n : i32) : !tile.global<?x?xf16> -> !tile.global<?x?xf16>
  %s = tgpu.alloc_shared "s" : !tgpu.smem<64x64xf16>
  %t = tile.slice %v[%p, %q] sizes [64, 64] : !tile.global<?x?xf16>, i32, i32 -> !tile.global<64x64xf16>
  tgpu.copy %t to %s : !tile.global<64x64xf16>, !tgpu.smem<64x64xf16>
  tgpu.return
}

// -----

// Without anything to assume both are for any call.
// CHECK-LABEL: tgpu.kernel @whole_clustered(
// CHECK-NOT: guard
// CHECK-LABEL: tgpu.kernel @whole(
// CHECK-NOT: cluster
// CHECK: tgpu.return
tgpu.kernel @whole() attributes {threads = 32 : i32, launch = "k", target = "sm_90a", cluster = array<i32: 2>} {
  %id = tgpu.block_id
  %c6 = arith.constant 6 : i32
  %p = tgpu.grid_point %id in (%c6) : i32
  tgpu.return
}

// -----

// CHECK-LABEL: tgpu.kernel @odd(
// CHECK-NOT: cluster
// expected-remark@+1 {{@cluster: no clusters are formed: extent 0 of the grid is 5, not a multiple of 2}}
tgpu.kernel @odd() attributes {threads = 32 : i32, launch = "k", target = "sm_90a", cluster = array<i32: 2>} {
  %id = tgpu.block_id
  %c5 = arith.constant 5 : i32
  %p = tgpu.grid_point %id in (%c5) : i32
  tgpu.return
}
// expected-remark@+1 {{@cluster: no clusters are formed: extent 1 of the grid is not known to be a multiple of 2}}
tgpu.kernel @computed(%n: i32) attributes {threads = 32 : i32, launch = "k", target = "sm_90a", cluster = array<i32: 1, 2>} {
  %id = tgpu.block_id
  %m = arith.addi %n, %n : i32
  %o = arith.subi %m, %n : i32
  %p, %q = tgpu.grid_point %id in (%n, %o) : i32, i32
  tgpu.return
}
// expected-remark@+1 {{@cluster: no clusters are formed: the grid has fewer dimensions}}
tgpu.kernel @flat(%n: i32) attributes {threads = 32 : i32, launch = "k", target = "sm_90a", cluster = array<i32: 2, 2>} {
  %id = tgpu.block_id
  %p = tgpu.grid_point %id in (%n) : i32
  tgpu.return
}
// expected-remark@+1 {{@cluster: no clusters are formed: the architecture has none}}
tgpu.kernel @old(%n: i32) attributes {threads = 32 : i32, launch = "k", target = "sm_80", cluster = array<i32: 2>} {
  %id = tgpu.block_id
  %p = tgpu.grid_point %id in (%n) : i32
  tgpu.return
}
// expected-remark@+1 {{@cluster: no clusters are formed: a counter deals the points of its grid to single blocks}}
tgpu.kernel @dynamic(%n: i32, %w: !tile.global<1xi32> {tgpu.point_counter})
    attributes {threads = 32 : i32, launch = "k", target = "sm_90a", persistent = 1 : i32, cluster = array<i32: 2>} {
  %id = tgpu.block_id
  %p = tgpu.grid_point %id in (%n) : i32
  tgpu.return
}
// One block is none, and nobody needs to hear of it.
// CHECK-LABEL: tgpu.kernel @alone(
// CHECK-NOT: cluster
tgpu.kernel @alone(%n: i32) attributes {threads = 32 : i32, launch = "k", target = "sm_90a", cluster = array<i32: 1, 1>} {
  %id = tgpu.block_id
  %p = tgpu.grid_point %id in (%n) : i32
  tgpu.return
}
