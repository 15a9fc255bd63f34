// Elements of a shared buffer under another shape or element type are found in the buffer: by their number in row-major order, and by
// the bits of the elements there. What is written outside of the view goes nowhere.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(convert-tile-to-tgpu))' --split-input-file 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t

// CHECK-LABEL: tgpu.kernel @reshape
// CHECK-SAME: %[[I:[a-z0-9]+]]: i32, %[[J:[a-z0-9]+]]: i64
// CHECK: %[[S:.*]] = tgpu.alloc_shared "s"
// CHECK: %[[X:.*]] = arith.cmpi ult, %[[I]], %c4{{.*}} : i32
// CHECK: %[[Y:.*]] = arith.cmpi ult, %[[J]], %c16{{.*}} : i64
// CHECK: %[[JN:.*]] = arith.trunci %[[J]] : i64 to i32
// CHECK: %[[IN:.*]] = arith.andi %[[X]], %[[Y]] : i1
// CHECK: %[[ROW:.*]] = arith.muli %[[I]], %c16{{.*}} : i32
// CHECK: %[[SUM:.*]] = arith.addi %[[ROW]], %[[JN]] : i32
// CHECK: %[[NUMBER:.*]] = arith.select %[[IN]], %[[SUM]], %c-1{{.*}} : i32
// CHECK: %[[COLUMN:.*]] = arith.remui %[[NUMBER]], %c8{{.*}} : i32
// CHECK: %[[LINE:.*]] = arith.divui %[[NUMBER]], %c8{{.*}} : i32
// CHECK: tgpu.store_element %{{.*}}, %[[S]][%[[LINE]], %[[COLUMN]] : i32, i32]
// REMARK: remark: `reshape` of a shared buffer: its elements are accessed one by one
tgpu.kernel @reshape(%i: i32, %j: i64, %x: f32) attributes {threads = 64 : i32, target = "sm_80"} {
  %s = tile.alloc "s" : !tile.buffer<8x8xf32, shared>
  %r = tile.reshape %s : !tile.buffer<8x8xf32, shared> -> !tile.buffer<4x16xf32, shared>
  tile.store %x, %r[%i, %j : i32, i64] : f32, !tile.buffer<4x16xf32, shared>
  tgpu.return
}

// -----

// CHECK-LABEL: tgpu.kernel @smaller
// CHECK: %[[WHOLE:.*]] = tgpu.gather %{{.*}} -> tensor<16xf32>
// CHECK: %[[BITS:.*]] = arith.bitcast %[[WHOLE]] : tensor<16xf32> to tensor<16xi32>
// CHECK: %[[LOW:.*]] = arith.shrui %[[BITS]], %{{.*}} : tensor<16xi32>
// CHECK: %[[PART:.*]] = arith.trunci %[[LOW]] : tensor<16xi32> to tensor<16xi16>
// CHECK: arith.bitcast %[[PART]] : tensor<16xi16> to tensor<16xf16>
tgpu.kernel @smaller(%g: !tile.global<16xf16>) attributes {threads = 64 : i32, target = "sm_80"} {
  %s = tile.alloc "s" : !tile.buffer<8xf32, shared>
  %r = tile.bitcast_view %s : !tile.buffer<8xf32, shared> -> !tile.buffer<16xf16, shared>
  %t = tile.read %r : !tile.buffer<16xf16, shared> -> tensor<16xf16>
  %f = tile.alloc "f" : !tile.buffer<16xf16, fragment>
  tile.write %t, %f : tensor<16xf16>, !tile.buffer<16xf16, fragment>
  tile.copy %f to %g : !tile.buffer<16xf16, fragment>, !tile.global<16xf16>
  tgpu.return
}

// -----

// CHECK-LABEL: tgpu.kernel @larger
// CHECK: %[[IN:.*]] = arith.cmpi ult
// CHECK: arith.select %[[IN]]
// CHECK: tgpu.store_element %{{.*}} : f16
// CHECK: arith.select %[[IN]]
// CHECK: tgpu.store_element %{{.*}} : f16
// CHECK-NOT: tgpu.store_element
tgpu.kernel @larger(%n: i32) attributes {threads = 64 : i32, target = "sm_80"} {
  %s = tile.alloc "s" : !tile.buffer<8xf16, shared>
  %r = tile.bitcast_view %s : !tile.buffer<8xf16, shared> -> !tile.buffer<4xi32, shared>
  tile.store %n, %r[%n : i32] : i32, !tile.buffer<4xi32, shared>
  tgpu.return
}

// -----

// A gather from a part at computed indices.
// CHECK-LABEL: tgpu.kernel @gather
// CHECK: %[[S:.*]] = tgpu.alloc_shared "s"
// CHECK: %[[AT:.*]] = arith.addi %{{.*}}, %{{.*}} : tensor<4xi32>
// CHECK: tgpu.gather %[[S]][%[[AT]]] if
// CHECK: %[[TO:.*]] = arith.addi %{{.*}}, %{{.*}} : tensor<4xi32>
// CHECK: tgpu.scatter %{{.*}}, %[[S]][%[[TO]]] if
tgpu.kernel @gather(%n: i32, %at: tensor<4xi32>, %mask: tensor<4xi1>) attributes {threads = 64 : i32, target = "sm_80"} {
  %s = tile.alloc "s" : !tile.buffer<16xf32, shared>
  %p = tile.slice %s[%n] sizes [8] : !tile.buffer<16xf32, shared>, i32 -> !tile.buffer<8xf32, shared>
  %x = tgpu.gather %p[%at] if %mask : !tile.buffer<8xf32, shared>[tensor<4xi32>] if tensor<4xi1> -> tensor<4xf32>
  tgpu.scatter %x, %p[%at] if %mask : tensor<4xf32>, !tile.buffer<8xf32, shared>[tensor<4xi32>] if tensor<4xi1>
  tgpu.return
}
