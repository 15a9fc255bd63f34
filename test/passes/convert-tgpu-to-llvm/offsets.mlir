// Offsets of elements are computed in 64 bits. A coordinate below 0 of which nothing is accessed is extended without sign, where the
// stride has 64 bits: of elements, gathered rows and dimensions that a slice fixes. From the coordinate of a thread's first slot others
// count, so that it keeps its sign.
// RUN: tile-opt --convert-tgpu-to-llvm %s | FileCheck %s

!g = !tile.global<?x?xf32>
// CHECK-LABEL: llvm.func @element
// CHECK-SAME: %[[X:[a-z0-9]+]]: !llvm.ptr<1>
// CHECK-SAME: %[[I:[a-z0-9]+]]: i32 {{[^,]*}}, %[[N:[a-z0-9]+]]: i32 {{[^,]*}}, %[[S:[a-z0-9]+]]: i64
// CHECK: %[[WIDE:.*]] = llvm.zext %[[I]] : i32 to i64
// CHECK: llvm.mul %[[WIDE]], %[[S]] : i64
// CHECK: llvm.return
tgpu.kernel @element(%x: !g {tile.name = "X"}, %i: i32, %n: i32 {tgpu.range = array<i64: 0, 2147483647>}, %stride: i64)
    attributes {threads = 32 : i32, target = "sm_80"} {
  %view = tgpu.view %x extents(%n, %n : i32, i32) strides(%stride : i64) : !g -> !g
  %value = tile.load %view[%i, %i : i32, i32] : !g -> f32
  tile.store %value, %view[%i, %n : i32, i32] : f32, !g
  tgpu.return
}

// By an extent it is one multiplication with sign.
// CHECK-LABEL: llvm.func @narrow
// CHECK-SAME: %{{[a-z0-9]+}}: !llvm.ptr<1>
// CHECK-SAME: %[[I:[a-z0-9]+]]: i32 {{[^,]*}}, %[[N:[a-z0-9]+]]: i32
// CHECK-NOT: llvm.zext %[[I]]
// CHECK: %[[A:.*]] = llvm.sext %[[I]] : i32 to i64
// CHECK: llvm.mul %[[A]], %{{.*}} : i64
// CHECK: llvm.return
tgpu.kernel @narrow(%x: !g {tile.name = "X"}, %i: i32, %n: i32 {tgpu.range = array<i64: 0, 2147483647>})
    attributes {threads = 32 : i32, target = "sm_80"} {
  %view = tgpu.view %x extents(%n, %n : i32, i32) strides(%n : i32) : !g -> !g
  %value = tile.load %view[%i, %i : i32, i32] : !g -> f32
  tile.store %value, %view[%i, %n : i32, i32] : f32, !g
  tgpu.return
}

!three = !tile.global<?x?x64xf32>
!rows = !tile.global<4x64xf32>
!f = tensor<4x64xf32, #tgpu.fragment<"4x64 reg 0,1:1,0 lane 0,2:0,4:0,8:0,16:0,32 warp 2,0">>
// CHECK-LABEL: llvm.func @slice
// CHECK-SAME: %{{[a-z0-9]+}}: !llvm.ptr<1>
// CHECK-SAME: %[[P:[a-z0-9]+]]: i32 {{[^,]*}}, %[[I:[a-z0-9]+]]: i32
// CHECK: %[[ROW:.*]] = llvm.add %[[I]], %{{.*}} : i32
// CHECK-DAG: llvm.zext %[[P]] : i32 to i64
// CHECK-DAG: llvm.sext %[[ROW]] : i32 to i64
// CHECK: llvm.return
tgpu.kernel @slice(%x: !three {tile.name = "X"}, %p: i32, %i: i32, %n: i32 {tgpu.range = array<i64: 0, 2147483647>}, %s: i64, %t: i64)
    attributes {threads = 64 : i32, target = "sm_80"} {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %view = tgpu.view %x extents(%n, %n, %c64 : i32, i32, i32) strides(%s, %t : i64, i64) : !three -> !three
  %part = tile.slice %view[%p, %i, %c0] sizes [-1, 4, 64] : !three, i32, i32, i32 -> !rows
  %value = tgpu.load %part {bytes = 8 : i32} : !rows -> !f
  tgpu.store %value, %part {bytes = 8 : i32} : !f, !rows
  tgpu.return
}
