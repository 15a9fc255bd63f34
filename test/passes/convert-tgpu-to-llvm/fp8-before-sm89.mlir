// 8-bit floats where no instruction knows them: the words of an instruction's operands become words of f16.
// RUN: tile-opt --convert-tgpu-to-llvm %s | FileCheck %s

#acc = #tgpu.fragment<"16x8 reg 0,1:8,0 lane 0,2:0,4:1,0:2,0:4,0 warp -">
#a8 = #tgpu.fragment<"16x32 reg 0,1:0,2:8,0:0,16 lane 0,4:0,8:1,0:2,0:4,0 warp -">
#b8 = #tgpu.fragment<"32x8 reg 1,0:2,0:16,0 lane 4,0:8,0:0,1:0,2:0,4 warp -">
#sa8 = #tgpu.shared<"16x32 b8 contig 1 panel 32 swizzle 32">
#sb8 = #tgpu.shared<"32x8 b8 contig 0 panel 32 swizzle 32">
!acc = tensor<16x8xf32, #acc>
!g = !tile.global<?x?xf32>

// Six words, still read by ldmatrix. One of e5m2 is two permutations, the codes being upper halves of f16; one of e4m3 has
// three products for each. Then two instructions, each of half the k.
// CHECK-LABEL: llvm.func @product
// CHECK-COUNT-2: nvvm.ldmatrix
// CHECK-COUNT-8: nvvm.prmt
// CHECK-NOT: intr.fma
// CHECK: nvvm.prmt
// CHECK-COUNT-12: llvm.intr.fma
// CHECK-NOT: llvm.intr.fma
// CHECK-COUNT-2: "llvm.nvvm.mma.m16n8k16.row.col.f32.f32"
// CHECK-NOT: llvm.nvvm.mma
// CHECK: llvm.return
tgpu.kernel @product(%C: !g, %n: i32) attributes {threads = 32 : i32, target = "sm_80", shared_bytes = 8192 : i64} {
  %c0 = arith.constant 0 : i32
  %sa = tgpu.alloc_shared {offset = 0 : i64} : !tgpu.smem<16x32xf8E5M2, #sa8>
  %sb = tgpu.alloc_shared {offset = 1024 : i64} : !tgpu.smem<32x8xf8E4M3FN, #sb8>
  %f = arith.constant dense<0.0> : !acc
  %a = tgpu.local_load %sa : !tgpu.smem<16x32xf8E5M2, #sa8> -> tensor<16x32xf8E5M2, #a8>
  %b = tgpu.local_load %sb : !tgpu.smem<32x8xf8E4M3FN, #sb8> -> tensor<32x8xf8E4M3FN, #b8>
  %y = tgpu.mma %a, %b, %f {mma = #tgpu.mma<mma_sync, 16, 8, 32, warps = 1, 1>} : tensor<16x32xf8E5M2, #a8>, tensor<32x8xf8E4M3FN, #b8>, !acc -> !acc
  %v = tgpu.view %C extents(%n, %n : i32, i32) strides(%n : i32) : !g -> !g
  %o = tile.slice %v[%c0, %c0] sizes [16, 8] : !g, i32, i32 -> !tile.global<16x8xf32>
  tgpu.store %y, %o {bytes = 4 : i32} : !acc, !tile.global<16x8xf32>
  tgpu.return
}

// Four codes are decoded at a time, three too. Under @fast_math, which LLVM takes to mean f16 as well, what is a subnormal on
// the way stays one.
// CHECK-LABEL: llvm.func @convert
// CHECK: nvvm.prmt
// CHECK-COUNT-3: "fma.rn.f16x2 $0, $1, $2, $3;", "=r,r,r,r"
// CHECK: nvvm.prmt
// CHECK-COUNT-3: "fma.rn.f16x2 $0, $1, $2, $3;", "=r,r,r,r"
// CHECK-NOT: fma
// CHECK: llvm.return
#l = #tgpu.fragment<"32x4 reg 0,1:0,2 lane 1,0:2,0:4,0:8,0:16,0 warp -">
tgpu.kernel @convert(%X: !tile.global<?x4xf8E4M3FN>, %C: !tile.global<?x4xf16>, %n: i32) attributes {threads = 32 : i32, target = "sm_80", fast_math} {
  %c0 = arith.constant 0 : i32
  %c4 = arith.constant 4 : i32
  %x = tgpu.view %X extents(%n, %c4 : i32, i32) strides(%c4 : i32) : !tile.global<?x4xf8E4M3FN> -> !tile.global<?x4xf8E4M3FN>
  %v = tgpu.view %C extents(%n, %c4 : i32, i32) strides(%c4 : i32) : !tile.global<?x4xf16> -> !tile.global<?x4xf16>
  %i = tile.slice %x[%c0, %c0] sizes [32, 4] : !tile.global<?x4xf8E4M3FN>, i32, i32 -> !tile.global<32x4xf8E4M3FN>
  %o = tile.slice %v[%c0, %c0] sizes [32, 4] : !tile.global<?x4xf16>, i32, i32 -> !tile.global<32x4xf16>
  %a = tgpu.load %i {bytes = 4 : i32} : !tile.global<32x4xf8E4M3FN> -> tensor<32x4xf8E4M3FN, #l>
  %h = tile.convert %a : tensor<32x4xf8E4M3FN, #l> to tensor<32x4xf16, #l>
  tgpu.store %h, %o {bytes = 8 : i32} : tensor<32x4xf16, #l>, !tile.global<32x4xf16>
  tgpu.return
}
