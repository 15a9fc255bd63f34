// A tensor under another element type, wherever the program says so, is another view of its argument; the host computes extents and
// strides, each once.
// RUN: tile-opt %s --tile-outline-launches | FileCheck %s

// CHECK-LABEL: tile.kernel @pairs
// CHECK-DAG: %[[N:.*]] = tile.dim "N"
// CHECK: %[[WIDE:.*]] = arith.extsi %[[N]] : i32 to i64
// CHECK: %[[HALF:.*]] = arith.divsi %[[WIDE]], %{{.*}} : i64
// CHECK-NOT: arith.divsi
// CHECK: tgpu.launch "pairs_0" grid({{.*}}) args(%{{.*}}, %{{.*}}, %{{.*}}, %[[HALF]] :
// CHECK: tgpu.kernel @pairs_0(%{{.*}}: !tile.global<?x?xf16> {{.*}}, %[[M:[a-z0-9]+]]: i32{{.*}}, %{{.*}}: i32{{.*}}, %[[H:[a-z0-9]+]]: i64
// CHECK: tgpu.view %{{.*}} extents(%[[M]], %[[H]] : i32, i64) strides(%[[H]] : i64) {reshaped} : !tile.global<?x?xf16> -> !tile.global<?x?xi32>
// CHECK: tgpu.view %{{.*}} extents(%[[M]], %[[H]] : i32, i64) strides(%[[H]] : i64) {reshaped} : !tile.global<?x?xf16> -> !tile.global<?x?xf32>
tile.kernel @pairs(%x: !tile.global<?x?xf16> {tile.name = "X", tile.dtype = "f16"}) {
  %m = tile.dim "M" from %x[0] : !tile.global<?x?xf16> -> i32
  %n = tile.dim "N" from %x[1] : !tile.global<?x?xf16> -> i32
  %e = tile.extent %x[1] : !tile.global<?x?xf16> -> i32
  %same = arith.cmpi eq, %e, %n : i32
  tile.check %same, "dim-mismatch", "extent 1 of `X` is `N`"
  %c1 = arith.constant 1 : i32
  %v = tile.bitcast_view %x : !tile.global<?x?xf16> -> !tile.global<?x?xi32>
  tile.launch grid(%c1 : i32) threads(128) {
  ^bb0(%i: i32):
    %a = tile.load %v[%i, %i : i32, i32] : !tile.global<?x?xi32> -> i32
    %w = tile.bitcast_view %x : !tile.global<?x?xf16> -> !tile.global<?x?xf32>
    %b = tile.load %w[%i, %a : i32, i32] : !tile.global<?x?xf32> -> f32
    tile.print "{}", %b : f32
    tile.yield
  }
  tile.return
}
