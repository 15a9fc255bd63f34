// Two bits of the lane's number change places with two of the slot's: words of two elements, one shuffle for each two words and bit.
// RUN: tile-opt %s --convert-tgpu-to-llvm | FileCheck %s

#acc = #tgpu.fragment<"64x32 reg 0,1:8,0:0,8:0,16 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">
#runs = #tgpu.fragment<"64x32 reg 0,1:0,2:0,4:8,0 lane 0,8:0,16:1,0:2,0:4,0 warp 16,0:32,0">
// CHECK-LABEL: llvm.func @swaps
// CHECK: llvm.bitcast {{.*}} : vector<2xf16> to i32
// CHECK: %[[ODD:.*]] = llvm.icmp "ne"
// CHECK-NEXT: %[[TAKEN:.*]] = nvvm.shfl.sync {{.*}}bfly
// CHECK-NEXT: llvm.select %[[ODD]], %[[TAKEN]], %[[FIRST:.*]] : i1, i32
// CHECK-NEXT: llvm.select %[[ODD]], %{{.*}}, %[[TAKEN]] : i1, i32
// CHECK-COUNT-3: nvvm.shfl.sync {{.*}}bfly
// CHECK-NOT: nvvm.shfl.sync
// CHECK: llvm.icmp "ne"
// CHECK-COUNT-4: nvvm.shfl.sync {{.*}}bfly
// CHECK-NOT: nvvm.shfl.sync
// CHECK-COUNT-8: llvm.bitcast {{.*}} : i32 to vector<2xf16>
// CHECK-NOT: nvvm.barrier
// CHECK: llvm.return
tgpu.kernel @swaps(%p: !tile.global<64x32xf16>, %x: f16) attributes {threads = 128 : i32, target = "sm_90a"} {
  %0 = tile.splat %x : f16 -> tensor<64x32xf16, #acc>
  %1 = tgpu.convert_layout %0 : tensor<64x32xf16, #acc> -> tensor<64x32xf16, #runs>
  tgpu.store %1, %p {bytes = 16 : i32, path = #tgpu.path<vector>} : tensor<64x32xf16, #runs>, !tile.global<64x32xf16>
  tgpu.return
}
