// Reductions in a warp. Two lanes combine the same two values in the same order, that of the lane without the bit first, so that a
// function that does not commute to the last bit gives them the same; what may be padding is the second of two and is left out.
// RUN: tile-opt %s --convert-tgpu-to-llvm | FileCheck %s

!row = tensor<4xf32, #tgpu.fragment<"4 reg - lane 1:2:0:0:0 warp -">>
// CHECK-LABEL: llvm.func @sum
// CHECK: %[[OTHER:.*]] = nvvm.shfl.sync bfly %{{.*}}, %[[X:.*]], %{{.*}}, %{{.*}} : f32 -> f32
// CHECK-NEXT: %[[S:.*]] = llvm.fadd %[[X]], %[[OTHER]] : f32
// CHECK: %[[OTHER:.*]] = nvvm.shfl.sync bfly %{{.*}}, %[[S]]
// CHECK-NOT: llvm.select
// CHECK: llvm.return
tgpu.kernel @sum(%x: f32, %G: !tile.global<1xf32>) attributes {threads = 32 : i32, target = "sm_80"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %g = tgpu.view %G extents(%c1 : i32) strides() : !tile.global<1xf32> -> !tile.global<1xf32>
  %t = tile.splat %x : f32 -> !row
  %s = tile.reduce <sum> %t axis 0 : !row -> f32
  tile.store %s, %g[%c0 : i32] : f32, !tile.global<1xf32>
  tgpu.return
}

// CHECK-LABEL: llvm.func @in_order
// CHECK: %[[OTHER:.*]] = nvvm.shfl.sync bfly %{{.*}}, %[[X:.*]], %{{.*}}, %{{.*}} : f32 -> f32
// CHECK: %[[HIGH:.*]] = llvm.icmp "ne"
// CHECK: %[[A:.*]] = llvm.select %[[HIGH]], %[[OTHER]], %[[X]] : i1, f32
// CHECK: %[[B:.*]] = llvm.select %[[HIGH]], %[[X]], %[[OTHER]] : i1, f32
// CHECK: llvm.fsub %[[A]], %[[B]] : f32
tgpu.kernel @in_order(%x: f32, %G: !tile.global<1xf32>) attributes {threads = 32 : i32, target = "sm_80"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %g = tgpu.view %G extents(%c1 : i32) strides() : !tile.global<1xf32> -> !tile.global<1xf32>
  %t = tile.splat %x : f32 -> !row
  %s = tile.reduce_with %t axis 0 : !row -> f32 {
  ^bb0(%a: f32, %b: f32):
    %d = arith.subf %a, %b : f32
    tile.yield %d : f32
  }
  tile.store %s, %g[%c0 : i32] : f32, !tile.global<1xf32>
  tgpu.return
}

// Elements 0 to 5 in two slots of four lanes, of which the last two of the second slot are none: no select for the first slot.
// CHECK-LABEL: llvm.func @padded
// CHECK: %[[IN:.*]] = llvm.icmp "ult" %{{.*}}, %{{.*}} : i32
// CHECK: %[[BOTH:.*]] = llvm.fmul %[[X:.*]], %[[X]] : f32
// CHECK: llvm.select %[[IN]], %[[BOTH]], %[[X]] : i1, f32
tgpu.kernel @padded(%x: f32, %G: !tile.global<1xf32>) attributes {threads = 32 : i32, target = "sm_80"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %g = tgpu.view %G extents(%c1 : i32) strides() : !tile.global<1xf32> -> !tile.global<1xf32>
  %t = tile.splat %x : f32 -> tensor<6xf32, #tgpu.fragment<"6 reg 4 lane 1:2:0:0:0 warp -">>
  %s = tile.reduce_with %t axis 0 : tensor<6xf32, #tgpu.fragment<"6 reg 4 lane 1:2:0:0:0 warp -">> -> f32 {
  ^bb0(%a: f32, %b: f32):
    %d = arith.mulf %a, %b : f32
    tile.yield %d : f32
  }
  tile.store %s, %g[%c0 : i32] : f32, !tile.global<1xf32>
  tgpu.return
}
