// The work of a grid point goes into a loop over one point of each `num_blocks` that follow each other, counted from their start and from
// their end in turn. The last of these are not whole: a block has one of them if its number there is below their number.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-make-persistent))' | FileCheck %s

// CHECK-LABEL: tgpu.kernel @persistent(
// CHECK-SAME: %[[X:[a-z0-9]+]]: i32, %[[Y:[a-z0-9]+]]: i32
// CHECK: %[[ID:.*]] = tgpu.block_id
// CHECK: %[[T:.*]] = arith.muli %[[X]], %[[Y]]
// CHECK: %[[B:.*]] = tgpu.num_blocks
// CHECK: %[[LAST:.*]] = arith.subi %[[B]]
// CHECK: %[[FROM_END:.*]] = arith.subi %[[LAST]], %[[ID]]
// CHECK: %[[FULL:.*]] = arith.divui %[[T]], %[[B]]
// CHECK: %[[WHOLE:.*]] = arith.muli %[[FULL]], %[[B]]
// CHECK: %[[REST:.*]] = arith.subi %[[T]], %[[WHOLE]]
// CHECK: %[[NUMBER:.*]] = arith.select %{{.*}}, %[[ID]], %[[FROM_END]]
// CHECK: %[[MORE:.*]] = arith.cmpi ult, %[[NUMBER]], %[[REST]]
// CHECK: %[[ONE:.*]] = arith.extui %[[MORE]]
// CHECK: %[[ROUNDS:.*]] = arith.addi %[[FULL]], %[[ONE]]
// CHECK: scf.for %[[I:.*]] = %{{.*}} to %[[ROUNDS]] step
// CHECK: %[[BEFORE:.*]] = arith.muli %[[I]], %[[B]]
// CHECK: %[[ODD:.*]] = arith.andi %[[I]]
// CHECK: %[[EVEN:.*]] = arith.cmpi eq, %[[ODD]]
// CHECK: %[[AT:.*]] = arith.select %[[EVEN]], %[[ID]], %[[FROM_END]]
// CHECK: %[[L:.*]] = arith.addi %[[BEFORE]], %[[AT]]
// CHECK-NEXT: %[[P:.*]]:2 = tgpu.grid_point %[[L]] in(%[[X]], %[[Y]]) group(%{{.*}})
// CHECK-NEXT: tile.store %[[P]]#0, %{{.*}}[%[[P]]#1 : i32]
// CHECK-NEXT: }
// CHECK-NEXT: tgpu.return
tgpu.kernel @persistent(%x: i32, %y: i32, %g: !tile.global<?xi32>) attributes {threads = 128 : i32, persistent = 1 : i32} {
  %id = tgpu.block_id
  %group = arith.constant 8 : i32
  %i, %j = tgpu.grid_point %id in (%x, %y) group(%group) : i32, i32
  tile.store %i, %g[%j : i32] : i32, !tile.global<?xi32>
  tgpu.return
}

// What stands before the grid point stays outside; a grid of one extent needs no product.
// CHECK-LABEL: tgpu.kernel @one_extent(
// CHECK-SAME: %[[X:[a-z0-9]+]]: i32
// CHECK: tgpu.alloc_shared
// CHECK: arith.divui %[[X]]
// CHECK: scf.for
// CHECK: tgpu.grid_point
// CHECK: scf.if
tgpu.kernel @one_extent(%x: i32, %p: i1, %g: !tile.global<?xi32>) attributes {threads = 128 : i32, persistent = 1 : i32} {
  %s = tgpu.alloc_shared "s" : !tgpu.smem<64xf32>
  %id = tgpu.block_id
  %i = tgpu.grid_point %id in (%x) : i32
  scf.if %p {
    tile.store %i, %g[%i : i32] : i32, !tile.global<?xi32>
  }
  tgpu.return
}
