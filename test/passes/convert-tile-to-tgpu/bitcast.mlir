// A tensor under another element type is a view of the same argument: extents and strides count its elements, and slices of it take
// the same bytes.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(convert-tile-to-tgpu))' | FileCheck %s

// CHECK-LABEL: tgpu.kernel @smaller
// CHECK-SAME: %[[G:[a-z0-9]+]]: !tile.global<?x?xf32>, %[[M:[a-z0-9]+]]: i32, %[[N:[a-z0-9]+]]: i32, %[[S:[a-z0-9]+]]: i64
// CHECK: %[[WIDE:.*]] = arith.extsi %[[N]] : i32 to i64
// CHECK: %[[N2:.*]] = arith.muli %[[WIDE]], %{{.*}} : i64
// CHECK: %[[S2:.*]] = arith.muli %[[S]], %{{.*}} : i64
// CHECK: %[[V:.*]] = tgpu.view %[[G]] extents(%[[M]], %[[N2]] : i32, i64) strides(%[[S2]] : i64) {reshaped} : !tile.global<?x?xf32> -> !tile.global<?x?xf16>
// CHECK: %[[FROM:.*]] = arith.muli %{{.*}}, %{{.*}} : i64
// CHECK: tile.slice %[[V]][%[[M]], %[[FROM]]] sizes [-1, 16]
tgpu.kernel @smaller(%g: !tile.global<?x?xf32>, %m: i32, %n: i32, %s: i64) attributes {threads = 64 : i32, target = "sm_80"} {
  %v = tgpu.view %g extents(%m, %n : i32, i32) strides(%s : i64) : !tile.global<?x?xf32> -> !tile.global<?x?xf32>
  %part = tile.slice %v[%m, %n] sizes [-1, 8] : !tile.global<?x?xf32>, i32, i32 -> !tile.global<8xf32>
  %r = tile.bitcast_view %part : !tile.global<8xf32> -> !tile.global<16xf16>
  %f = tile.alloc "f" : !tile.buffer<16xf16, fragment>
  tile.copy %r to %f : !tile.global<16xf16>, !tile.buffer<16xf16, fragment>
  tile.copy %f to %r : !tile.buffer<16xf16, fragment>, !tile.global<16xf16>
  tgpu.return
}

// CHECK-LABEL: tgpu.kernel @larger
// CHECK: %[[N2:.*]] = arith.divsi %{{.*}}, %c2{{.*}} : i32
// CHECK: tgpu.view %{{.*}} extents(%[[N2]] : i32) strides() {reshaped} : !tile.global<?xf16> -> !tile.global<?xi32>
tgpu.kernel @larger(%g: !tile.global<?xf16> {tgpu.align = 16 : i64}, %n: i32) attributes {threads = 64 : i32, target = "sm_80"} {
  %v = tgpu.view %g extents(%n : i32) strides() : !tile.global<?xf16> -> !tile.global<?xf16>
  %r = tile.bitcast_view %v : !tile.global<?xf16> -> !tile.global<?xi32>
  tile.store %n, %r[%n : i32] : i32, !tile.global<?xi32>
  tgpu.return
}
