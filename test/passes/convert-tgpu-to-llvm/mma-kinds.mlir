// mma.sync on other types: their fragments come from shared memory by ldmatrix where rows of 16 bytes allow it.
// RUN: tile-opt --convert-tgpu-to-llvm %s | FileCheck %s

#acc = #tgpu.fragment<"16x8 reg 0,1:8,0 lane 0,2:0,4:1,0:2,0:4,0 warp -">
#a8 = #tgpu.fragment<"16x32 reg 0,1:0,2:8,0:0,16 lane 0,4:0,8:1,0:2,0:4,0 warp -">
#b8 = #tgpu.fragment<"32x8 reg 1,0:2,0:16,0 lane 4,0:8,0:0,1:0,2:0,4 warp -">
#a32 = #tgpu.fragment<"16x8 reg 8,0:0,4 lane 0,1:0,2:1,0:2,0:4,0 warp -">
#b32 = #tgpu.fragment<"8x8 reg 4,0 lane 1,0:2,0:0,1:0,2:0,4 warp -">
#sa8 = #tgpu.shared<"16x32 b8 contig 1 panel 32 swizzle 32">
#sb8 = #tgpu.shared<"32x8 b8 contig 0 panel 32 swizzle 32">
#sa32 = #tgpu.shared<"16x8 b32 contig 1 panel 8 swizzle 32">
#sb32 = #tgpu.shared<"8x8 b32 contig 0 panel 8 swizzle 32">
!g = !tile.global<?x?xf32>

// CHECK-LABEL: llvm.func @kinds
// CHECK: nvvm.ldmatrix
// CHECK: llvm.nvvm.mma.m16n8k32.row.col.s8"
// CHECK: llvm.nvvm.mma.m16n8k32.row.col.f32.e4m3.e4m3.f32"
// CHECK: llvm.nvvm.mma.m16n8k8.row.col.tf32"
// CHECK: llvm.return
tgpu.kernel @kinds(%C: !g, %n: i32) attributes {threads = 32 : i32, target = "sm_89", shared_bytes = 8192 : i64} {
  %c0 = arith.constant 0 : i32
  %sa = tgpu.alloc_shared {offset = 0 : i64} : !tgpu.smem<16x32xi8, #sa8>
  %sb = tgpu.alloc_shared {offset = 1024 : i64} : !tgpu.smem<32x8xi8, #sb8>
  %sc = tgpu.alloc_shared {offset = 2048 : i64} : !tgpu.smem<16x32xf8E4M3FN, #sa8>
  %sd = tgpu.alloc_shared {offset = 3072 : i64} : !tgpu.smem<32x8xf8E4M3FN, #sb8>
  %se = tgpu.alloc_shared {offset = 4096 : i64} : !tgpu.smem<16x8xf32, #sa32>
  %sf = tgpu.alloc_shared {offset = 5120 : i64} : !tgpu.smem<8x8xf32, #sb32>
  %i = arith.constant dense<0> : tensor<16x8xi32, #acc>
  %f = arith.constant dense<0.0> : tensor<16x8xf32, #acc>
  %a = tgpu.local_load %sa : !tgpu.smem<16x32xi8, #sa8> -> tensor<16x32xi8, #a8>
  %b = tgpu.local_load %sb : !tgpu.smem<32x8xi8, #sb8> -> tensor<32x8xi8, #b8>
  %x = tgpu.mma %a, %b, %i {mma = #tgpu.mma<mma_sync, 16, 8, 32, warps = 1, 1>} : tensor<16x32xi8, #a8>, tensor<32x8xi8, #b8>, tensor<16x8xi32, #acc> -> tensor<16x8xi32, #acc>
  %c = tgpu.local_load %sc : !tgpu.smem<16x32xf8E4M3FN, #sa8> -> tensor<16x32xf8E4M3FN, #a8>
  %d = tgpu.local_load %sd : !tgpu.smem<32x8xf8E4M3FN, #sb8> -> tensor<32x8xf8E4M3FN, #b8>
  %y = tgpu.mma %c, %d, %f {mma = #tgpu.mma<mma_sync, 16, 8, 32, warps = 1, 1>} : tensor<16x32xf8E4M3FN, #a8>, tensor<32x8xf8E4M3FN, #b8>, tensor<16x8xf32, #acc> -> tensor<16x8xf32, #acc>
  %e = tgpu.local_load %se : !tgpu.smem<16x8xf32, #sa32> -> tensor<16x8xf32, #a32>
  %g = tgpu.local_load %sf : !tgpu.smem<8x8xf32, #sb32> -> tensor<8x8xf32, #b32>
  %z = tgpu.mma %e, %g, %y {mma = #tgpu.mma<mma_sync, 16, 8, 8, warps = 1, 1>} : tensor<16x8xf32, #a32>, tensor<8x8xf32, #b32>, tensor<16x8xf32, #acc> -> tensor<16x8xf32, #acc>
  %xf = tile.convert %x : tensor<16x8xi32, #acc> to tensor<16x8xf32, #acc>
  %sum = arith.addf %xf, %z : tensor<16x8xf32, #acc>
  %v = tgpu.view %C extents(%n, %n : i32, i32) strides(%n : i32) : !g -> !g
  %o = tile.slice %v[%c0, %c0] sizes [16, 8] : !g, i32, i32 -> !tile.global<16x8xf32>
  tgpu.store %sum, %o {bytes = 4 : i32} : tensor<16x8xf32, #acc>, !tile.global<16x8xf32>
  tgpu.return
}
