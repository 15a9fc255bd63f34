// Running results along lanes: a step for each doubling, of which PTX says whether it has found a lane of the group.
// RUN: tile-opt --convert-tgpu-to-llvm %s | FileCheck %s

!f = !tile.global<?xf32>
!h = !tile.global<?xf16>
!l = !tile.global<?xi64>

// Steps of 1, 2, 4, 8 and 16 lanes, each added where the lane lies in the warp.
// CHECK-LABEL: llvm.func @sum
// CHECK: %[[C1:.*]] = llvm.mlir.constant(1 : i32) : i32
// CHECK: %[[S:.*]] = nvvm.shfl.sync up %{{.*}}, %[[X:.*]], %{{.*}}, %{{.*}} {return_value_and_is_valid} : f32 -> !llvm.struct<(f32, i1)>
// CHECK-DAG: %[[IN:.*]] = llvm.extractvalue %[[S]][1]
// CHECK-DAG: %[[Y:.*]] = llvm.extractvalue %[[S]][0]
// CHECK: %[[T:.*]] = llvm.fadd %[[Y]], %[[X]]
// CHECK: llvm.select %[[IN]], %[[T]], %[[X]]
// CHECK-COUNT-4: nvvm.shfl.sync up
// CHECK-NOT: nvvm.shfl.sync
// CHECK: llvm.return
tgpu.kernel @sum(%g: !f, %n: i32) attributes {threads = 32 : i32, target = "sm_80"} {
  %view = tgpu.view %g extents(%n : i32) strides() : !f -> !f
  tile.threads [32] {
  ^bb0(%x: i32):
    %v = tile.load %view[%x : i32] : !f -> f32
    %s = tile.warp_scan <sum> %v : f32
    tile.store %s, %view[%x : i32] : f32, !f
  }
  tgpu.return
}

// The greatest of a number and itself is the number: nobody asks. Groups of 8 from the last lane down, whose operand is 24 * 256 + 31.
// CHECK-LABEL: llvm.func @max
// CHECK: %[[REACH:.*]] = llvm.mlir.constant(6175 : i32) : i32
// CHECK-COUNT-3: nvvm.shfl.sync down %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : f32 -> f32
// CHECK-NOT: nvvm.shfl.sync
// CHECK: llvm.return
tgpu.kernel @max(%g: !f, %n: i32) attributes {threads = 32 : i32, target = "sm_80"} {
  %view = tgpu.view %g extents(%n : i32) strides() : !f -> !f
  tile.threads [32] {
  ^bb0(%x: i32):
    %v = tile.load %view[%x : i32] : !f -> f32
    %s = tile.warp_scan <max> %v {reverse, width = 8 : i32} : f32
    tile.store %s, %view[%x : i32] : f32, !f
  }
  tgpu.return
}

// Exclusive: what the lane before has, and the identity in the first lane, go through the steps. f16 runs on in f32.
// CHECK-LABEL: llvm.func @half
// CHECK: llvm.fpext
// CHECK: nvvm.shfl.sync up %{{.*}} {return_value_and_is_valid} : f32
// CHECK-NOT: llvm.fmul
// CHECK: llvm.select
// CHECK-COUNT-2: llvm.fmul
// CHECK-NOT: nvvm.shfl.sync
// CHECK: llvm.fptrunc
tgpu.kernel @half(%g: !h, %n: i32) attributes {threads = 32 : i32, target = "sm_80"} {
  %view = tgpu.view %g extents(%n : i32) strides() : !h -> !h
  tile.threads [32] {
  ^bb0(%x: i32):
    %v = tile.load %view[%x : i32] : !h -> f16
    %s = tile.warp_scan <prod> %v {exclusive, width = 4 : i32} : f16
    tile.store %s, %view[%x : i32] : f16, !h
  }
  tgpu.return
}

// 64 bits are two words; a group of one lane has nothing to add.
// CHECK-LABEL: llvm.func @wide
// CHECK-COUNT-2: nvvm.shfl.sync up
// CHECK-NOT: nvvm.shfl.sync
// CHECK: llvm.return
tgpu.kernel @wide(%g: !l, %n: i32) attributes {threads = 32 : i32, target = "sm_80"} {
  %view = tgpu.view %g extents(%n : i32) strides() : !l -> !l
  tile.threads [32] {
  ^bb0(%x: i32):
    %v = tile.load %view[%x : i32] : !l -> i64
    %s = tile.warp_scan <sum> %v {width = 2 : i32} : i64
    %t = tile.warp_scan <sum> %s {width = 1 : i32} : i64
    tile.store %t, %view[%x : i32] : i64, !l
  }
  tgpu.return
}
