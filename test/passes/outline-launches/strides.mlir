// Strides: the last extents of a contiguous tensor, host values where the tensor is strided or of rank 3.
// RUN: tile-opt %s --tile-outline-launches -split-input-file | FileCheck %s

// CHECK-LABEL: tile.kernel @strided
// CHECK: %[[S:.*]] = tile.stride %[[A:.*]][0]
// CHECK: tgpu.launch "strided_0" grid({{.*}}) args(%[[A]], %{{.*}}, %{{.*}}, %[[S]] : !tile.global<?x?xf16>, i32, i32, i64)
// CHECK: tgpu.kernel @strided_0(%[[P:.*]]: !tile.global<?x?xf16> {{{.*}}}, %[[M:.*]]: i32, %[[N:.*]]: i32, %[[T:.*]]: i64)
// CHECK: tgpu.view %[[P]] extents(%[[M]], %[[N]] : i32, i32) strides(%[[T]] : i64)
tile.kernel @strided(%a: !tile.global<?x?xf16> {tile.name = "A", tile.dtype = "f16", tile.direction = "in", tile.strided}) {
  %one = arith.constant 1 : i32
  tile.launch grid(%one : i32) threads(32) {
  ^bb0(%i: i32):
    %x = tile.load %a[%i, %i : i32, i32] : !tile.global<?x?xf16> -> f16
  }
  tile.return
}

// -----

// What a check says of a stride is known of the argument that brings it.
// CHECK-LABEL: tgpu.kernel @checked_0(
// CHECK-SAME: %[[T:[a-z0-9]+]]: i64 {tgpu.divisible = 8 : i64})
// CHECK: tgpu.view %{{.*}} strides(%[[T]] : i64)
tile.kernel @checked(%a: !tile.global<?x?xf16> {tile.name = "A", tile.dtype = "f16", tile.direction = "in", tile.strided}) {
  %s = tile.stride %a[0] : !tile.global<?x?xf16>
  %zero = arith.constant 0 : i64
  %eight = arith.constant 8 : i64
  %r = arith.remsi %s, %eight : i64
  %d = arith.cmpi eq, %r, %zero : i64
  tile.check %d, "where-failed", "stride(A, 0) % 8 == 0"
  %one = arith.constant 1 : i32
  tile.launch grid(%one : i32) threads(32) {
  ^bb0(%i: i32):
    %x = tile.load %a[%i, %i : i32, i32] : !tile.global<?x?xf16> -> f16
  }
  tile.return
}

// -----

// CHECK-LABEL: tile.kernel @batched
// CHECK: %[[S:.*]] = tile.stride %{{.*}}[0]
// CHECK: tgpu.kernel @batched_0(
// CHECK: tgpu.view %{{.*}} extents(%{{.*}}, %{{.*}}, %[[N:.*]] : i32, i32, i32) strides(%{{.*}}, %[[N]] : i64, i32)
tile.kernel @batched(%a: !tile.global<?x?x?xf16> {tile.name = "A", tile.dtype = "f16", tile.direction = "in"}) {
  %one = arith.constant 1 : i32
  tile.launch grid(%one : i32) threads(32) {
  ^bb0(%i: i32):
    %x = tile.load %a[%i, %i, %i : i32, i32, i32] : !tile.global<?x?x?xf16> -> f16
  }
  tile.return
}
