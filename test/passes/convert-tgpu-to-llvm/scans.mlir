// Scans in a warp: totals upwards, what comes before downwards. Order is kept, and where nothing comes before there is no combination.
// RUN: tile-opt %s --convert-tgpu-to-llvm | FileCheck %s

!two = tensor<4xf32, #tgpu.fragment<"4 reg 1 lane 2:0:0:0:0 warp -">>
!g = !tile.global<4xf32>
// CHECK-LABEL: llvm.func @forwards
// CHECK-SAME: %[[X:.*]]: f32
// The thread's pair, the other lane's, and in the second lane the other's before each of its own.
// CHECK: %[[PAIR:.*]] = llvm.fsub %[[X]], %[[X]] : f32
// CHECK: %[[OTHER:.*]] = nvvm.shfl.sync bfly %{{.*}}, %[[PAIR]]
// CHECK: %[[AFTER:.*]] = llvm.icmp "ne"
// CHECK: %[[FIRST:.*]] = llvm.fsub %[[OTHER]], %[[X]] : f32
// CHECK: %[[A:.*]] = llvm.select %[[AFTER]], %[[FIRST]], %[[X]] : i1, f32
// CHECK: llvm.fsub %[[A]], %[[X]] : f32
tgpu.kernel @forwards(%x: f32, %G: !g) attributes {threads = 32 : i32, target = "sm_80"} {
  %c4 = arith.constant 4 : i32
  %o = tgpu.view %G extents(%c4 : i32) strides() : !g -> !g
  %t = tile.splat %x : f32 -> !two
  %s = tile.scan_with %t axis 0 : !two -> !two {
  ^bb0(%a: f32, %b: f32):
    %d = arith.subf %a, %b : f32
    tile.yield %d : f32
  }
  tgpu.store %s, %o {path = #tgpu.path<vector>, bytes = 8 : i32} : !two, !g
  tgpu.return
}

// An exclusive one begins with the identity.
// CHECK-LABEL: llvm.func @exclusive
// CHECK-SAME: %[[X:.*]]: i32
// CHECK: %[[LEAST:.*]] = llvm.mlir.constant(-2147483648 : i32) : i32
// CHECK-NOT: shfl
// CHECK: @$3 st.global.v2.b32 [$0], {$1,$2};{{.*}} %{{.*}}, %[[LEAST]], %[[X]], %
!run = tensor<4xi32, #tgpu.fragment<"4 reg 1:2 lane 0:0:0:0:0 warp -">>
tgpu.kernel @exclusive(%x: i32, %G: !tile.global<4xi32>) attributes {threads = 32 : i32, target = "sm_80"} {
  %c4 = arith.constant 4 : i32
  %o = tgpu.view %G extents(%c4 : i32) strides() : !tile.global<4xi32> -> !tile.global<4xi32>
  %t = tile.splat %x : i32 -> !run
  %s = tile.scan <max> %t axis 0 {exclusive} : !run
  tgpu.store %s, %o {path = #tgpu.path<vector>, bytes = 8 : i32} : !run, !tile.global<4xi32>
  tgpu.return
}
