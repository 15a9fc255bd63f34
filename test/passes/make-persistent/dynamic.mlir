// With a counter a block begins with the point of its number, asks for the next one, without loops before its work, and looks at the answer behind it.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-make-persistent))' | FileCheck %s

// CHECK-LABEL: tgpu.kernel @dynamic(
// CHECK-SAME: %[[X:[a-z0-9]+]]: i32, %[[Y:[a-z0-9]+]]: i32, {{.*}}, %[[W:[a-z0-9]+]]: !tile.global<1xi32>
// CHECK: %[[ID:.*]] = tgpu.block_id
// CHECK: %[[T:.*]] = arith.muli %[[X]], %[[Y]]
// CHECK: %[[B:.*]] = tgpu.num_blocks
// CHECK: %[[BOX:.*]] = tgpu.alloc_shared "next point" : !tgpu.smem<1xi32>
// CHECK: %[[COUNTER:.*]] = tgpu.view %[[W]]
// CHECK: scf.while (%[[N:.*]] = %[[ID]]) : (i32) -> i32 {
// CHECK-NEXT: %[[MORE:.*]] = arith.cmpi ult, %[[N]], %[[T]]
// CHECK-NEXT: scf.condition(%[[MORE]]) %[[N]]
// CHECK-NEXT: } do {
// CHECK-NEXT: ^bb0(%[[L:.*]]: i32):
// CHECK-NEXT: tgpu.atomic <add> %{{.*}}, %[[COUNTER]][%{{.*}}] old %[[BOX]]
// CHECK-NEXT: %[[P:.*]]:2 = tgpu.grid_point %[[L]] in(%[[X]], %[[Y]])
// CHECK-NEXT: tile.store %[[P]]#0
// CHECK-NEXT: %[[TAKEN:.*]] = tgpu.load_element %[[BOX]]
// CHECK-NEXT: %[[NEXT:.*]] = arith.addi %[[B]], %[[TAKEN]]
// CHECK-NEXT: scf.yield %[[NEXT]]
// CHECK-NEXT: }
// CHECK-NEXT: tgpu.return
tgpu.kernel @dynamic(%x: i32, %y: i32, %g: !tile.global<?xi32>, %w: !tile.global<1xi32> {tgpu.point_counter})
    attributes {threads = 128 : i32, persistent = 1 : i32} {
  %id = tgpu.block_id
  %group = arith.constant 8 : i32
  %i, %j = tgpu.grid_point %id in (%x, %y) group(%group) : i32, i32
  tile.store %i, %g[%j : i32] : i32, !tile.global<?xi32>
  tgpu.return
}

// It asks behind its last loop, also where that stands in a branch: a block with a long point keeps none from others.
// CHECK-LABEL: tgpu.kernel @behind_loops(
// CHECK: scf.while
// CHECK: tgpu.grid_point
// CHECK-NOT: tgpu.atomic
// CHECK: scf.for
// CHECK-NOT: tgpu.atomic
// CHECK: scf.if
// CHECK: scf.for
// CHECK: }
// CHECK-NEXT: }
// CHECK-NEXT: tgpu.atomic <add>
// CHECK-NEXT: tile.store
// CHECK-NEXT: tgpu.load_element
tgpu.kernel @behind_loops(%x: i32, %p: i1, %g: !tile.global<?xi32>, %w: !tile.global<1xi32> {tgpu.point_counter})
    attributes {threads = 128 : i32, persistent = 1 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %id = tgpu.block_id
  %i = tgpu.grid_point %id in (%x) : i32
  scf.for %k = %c0 to %x step %c1 : i32 {
    tile.store %k, %g[%k : i32] : i32, !tile.global<?xi32>
  }
  scf.if %p {
    scf.for %k = %c0 to %i step %c1 : i32 {
      tile.store %i, %g[%k : i32] : i32, !tile.global<?xi32>
    }
  }
  tile.store %x, %g[%i : i32] : i32, !tile.global<?xi32>
  tgpu.return
}
