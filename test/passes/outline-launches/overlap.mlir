// Launches of a call that may overlap, and what the earlier ones may write.
// RUN: tile-opt %s --tile-outline-launches -split-input-file | FileCheck %s

// X is read by both, Y and W are written by the first, Z may be Y.
// CHECK-LABEL: tgpu.kernel @two_0(
// CHECK-NOT: tgpu.written_before
// CHECK-SAME: attributes {launch = "two_0", precedes, threads = 32 : i32}
// CHECK-LABEL: tgpu.kernel @two_1(
// CHECK-DAG: {tgpu.align = 16 : i64, tile.direction = "in", tile.dtype = "f32", tile.name = "X"}
// CHECK-DAG: {tgpu.align = 16 : i64, tgpu.written_before, tile.direction = "in", tile.dtype = "f32", tile.may_alias = ["Y"], tile.name = "Z"}
// CHECK-DAG: {tgpu.align = 16 : i64, tgpu.written_before, tile.direction = "inout", tile.dtype = "f32", tile.name = "Y"}
// CHECK-DAG: {tgpu.align = 256 : i64, tgpu.written_before, tile.direction = "inout", tile.dtype = "f32", tile.name = "W"}
// CHECK-DAG: attributes {follows, launch = "two_1", threads = 32 : i32}
tile.kernel @two(%x: !tile.global<4xf32> {tile.name = "X", tile.dtype = "f32", tile.direction = "in"},
                 %y: !tile.global<4xf32> {tile.name = "Y", tile.dtype = "f32", tile.direction = "inout"},
                 %z: !tile.global<4xf32> {tile.name = "Z", tile.dtype = "f32", tile.direction = "in", tile.may_alias = ["Y"]}) {
  %one = arith.constant 1 : i32
  %w = tile.workspace "W", "f32" : !tile.global<4xf32>
  tile.launch grid(%one : i32) threads(32) attributes {overlap} {
  ^bb0(%i: i32):
    %a = tile.load %x[%i : i32] : !tile.global<4xf32> -> f32
    tile.store %a, %y[%i : i32] : f32, !tile.global<4xf32>
    tile.store %a, %w[%i : i32] : f32, !tile.global<4xf32>
  }
  tile.launch grid(%one : i32) threads(32) attributes {overlap} {
  ^bb0(%i: i32):
    %a = tile.load %x[%i : i32] : !tile.global<4xf32> -> f32
    %b = tile.load %y[%i : i32] : !tile.global<4xf32> -> f32
    %c = tile.load %z[%i : i32] : !tile.global<4xf32> -> f32
    %d = tile.load %w[%i : i32] : !tile.global<4xf32> -> f32
    %e = arith.addf %a, %b : f32
    %f = arith.addf %c, %d : f32
    %g = arith.addf %e, %f : f32
    tile.store %g, %y[%i : i32] : f32, !tile.global<4xf32>
  }
  tile.return
}

// -----

// A launch that is not asked to overlap the one before it; the third may overlap both.
// CHECK-LABEL: tgpu.kernel @forbidden_0(
// CHECK-SAME: precedes
// CHECK-LABEL: tgpu.kernel @forbidden_1(
// CHECK-NOT: follows
// CHECK-SAME: precedes
// CHECK-LABEL: tgpu.kernel @forbidden_2(
// CHECK-NOT: precedes
// CHECK-SAME: follows
tile.kernel @forbidden() {
  %one = arith.constant 1 : i32
  tile.launch grid(%one : i32) threads(32) attributes {overlap} {
  ^bb0(%i: i32):
  }
  tile.launch grid(%one : i32) threads(32) {
  ^bb0(%i: i32):
  }
  tile.launch grid(%one : i32) threads(32) attributes {overlap} {
  ^bb0(%i: i32):
  }
  tile.return
}

// -----

// No call has both branches.
// CHECK-LABEL: tgpu.kernel @branches_0(
// CHECK-SAME: attributes {launch = "branches_0", threads = 32 : i32}
// CHECK-LABEL: tgpu.kernel @branches_1(
// CHECK-SAME: attributes {launch = "branches_1", precedes, threads = 32 : i32}
// CHECK-LABEL: tgpu.kernel @branches_2(
// CHECK-SAME: attributes {follows, launch = "branches_2", threads = 32 : i32}
tile.kernel @branches(%c: i1 {tile.name = "c", tile.dtype = "bool"}) {
  %one = arith.constant 1 : i32
  scf.if %c {
    tile.launch grid(%one : i32) threads(32) attributes {overlap} {
    ^bb0(%i: i32):
    }
  } else {
    tile.launch grid(%one : i32) threads(32) attributes {overlap} {
    ^bb0(%i: i32):
    }
    tile.launch grid(%one : i32) threads(32) attributes {overlap} {
    ^bb0(%i: i32):
    }
  }
  tile.return
}
