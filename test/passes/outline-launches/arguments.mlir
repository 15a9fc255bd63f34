// A launch becomes tgpu.launch and a kernel that takes addresses, extents and scalars; constants are repeated inside.
// RUN: tile-opt %s --tile-outline-launches | FileCheck %s

// CHECK-LABEL: tile.kernel @scale
// CHECK: %[[N:.*]] = tile.dim "N" from %[[X:.*]][0]
// CHECK: %[[G:.*]] = arith.ceildivsi %[[N]]
// CHECK: tgpu.launch "scale_0" grid(%[[G]] : i32) args(%[[G]], %[[X]], %[[N]], %[[F:.*]] : i32, !tile.global<?xf32>, i32, f32)
// CHECK-NOT: tile.launch
// The grid's extent is at most the largest dimension over 128.
// CHECK: tgpu.kernel @scale_0(%[[PG:[a-z0-9]+]]: i32 {tgpu.range = array<i64: 0, 16777216>},
// CHECK-SAME: %[[PX:[a-z0-9]+]]: !tile.global<?xf32> {tgpu.align = 16 : i64, tile.direction = "inout", tile.dtype = "f32", tile.name = "X"},
// CHECK-SAME: %[[PN:.*]]: i32, %[[PF:.*]]: f32)
// CHECK-SAME: launch = "scale_0", threads = 128 : i32
// CHECK-DAG: %[[C128:.*]] = arith.constant 128 : i32
// CHECK-DAG: %[[V:.*]] = tgpu.view %[[PX]] extents(%[[PN]] : i32) strides()
// CHECK-DAG: %[[ID:.*]] = tgpu.block_id
// CHECK: %[[I:.*]] = tgpu.grid_point %[[ID]] in(%[[PG]]) : i32
// CHECK: %[[O:.*]] = arith.muli %[[I]], %[[C128]]
// CHECK: tile.slice %[[V]][%[[O]]] sizes [128]
// CHECK: tile.splat %[[PF]]
// CHECK: tgpu.return
tile.kernel @scale(%x: !tile.global<?xf32> {tile.name = "X", tile.dtype = "f32", tile.direction = "inout"},
                   %f: f32 {tile.name = "f", tile.dtype = "f32"}) {
  %n = tile.dim "N" from %x[0] : !tile.global<?xf32> -> i32
  %c128 = arith.constant 128 : i32
  %g = arith.ceildivsi %n, %c128 : i32
  tile.launch grid(%g : i32) threads(128) {
  ^bb0(%i: i32):
    %o = arith.muli %i, %c128 : i32
    %s = tile.slice %x[%o] sizes [128] : !tile.global<?xf32>, i32 -> !tile.global<128xf32>
    %t = tile.splat %f : f32 -> tensor<128xf32>
    tile.copy %t to %s : tensor<128xf32>, !tile.global<128xf32>
  }
  tile.return
}
