// What the host reshapes is another view of the same argument; its extents and strides are computed on the host, and are not negative.
// RUN: tile-opt %s --tile-outline-launches | FileCheck %s

// CHECK-LABEL: tile.kernel @rows
// CHECK-DAG: %[[NH:.*]] = arith.muli %[[N:.*]], %[[H:.*]] overflow<nsw> : i32
// CHECK: tgpu.launch "rows_0"
// CHECK: tgpu.kernel @rows_0(%{{[a-z0-9]+}}: !tile.global<?x?x16xf32>
// CHECK-SAME: %[[PNH:[a-z0-9]+]]: i32 {tgpu.range = array<i64: 0, 2147483647>}
// CHECK: %[[OWN:.*]] = tgpu.view %[[BASE:.*]] extents({{.*}}) strides({{.*}}) : !tile.global<?x?x16xf32>
// CHECK: %[[C16:.*]] = arith.constant 16 : i32
// CHECK: %[[V:.*]] = tgpu.view %[[BASE]] extents(%[[PNH]], %[[C16]] : i32, i32) strides(%{{.*}} : i32) {reshaped} : !tile.global<?x?x16xf32> -> !tile.global<?x16xf32>
// CHECK: %[[D:.*]] = tgpu.view %[[BASE]] extents(%{{.*}}, %[[PNH]] : i32, i32) strides(%[[PNH]] : i32) {reshaped}
// CHECK: tile.slice %[[V]]
// CHECK: tile.slice %[[D]]
tile.kernel @rows(%x: !tile.global<?x?x16xf32> {tile.name = "X", tile.dtype = "f32"}) {
  %n = tile.dim "N" from %x[0] : !tile.global<?x?x16xf32> -> i32
  %h = tile.dim "H" from %x[1] : !tile.global<?x?x16xf32> -> i32
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %nh = arith.muli %n, %h overflow<nsw> : i32
  %v = tile.reshape %x(%nh : i32) : !tile.global<?x?x16xf32> -> !tile.global<?x16xf32>
  %d = tile.reshape %v(%nh : i32) : !tile.global<?x16xf32> -> !tile.global<16x?xf32>
  tile.launch grid(%c1 : i32) threads(128) {
  ^bb0(%i: i32):
    %s = tile.slice %v[%i, %c0] sizes [64, 16] : !tile.global<?x16xf32>, i32, i32 -> !tile.global<64x16xf32>
    %t = tile.slice %d[%c0, %i] sizes [16, 64] : !tile.global<16x?xf32>, i32, i32 -> !tile.global<16x64xf32>
    %a = tile.alloc "a" : !tile.buffer<64x16xf32, shared>
    tile.copy %s to %a : !tile.global<64x16xf32>, !tile.buffer<64x16xf32, shared>
    %b = tile.alloc "b" : !tile.buffer<16x64xf32, shared>
    tile.copy %t to %b : !tile.global<16x64xf32>, !tile.buffer<16x64xf32, shared>
    tile.yield
  }
  tile.return
}
