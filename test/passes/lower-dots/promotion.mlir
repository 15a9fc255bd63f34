// fp8: sums over `promote` elements of k are added to the accumulator in f32.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-lower-dots))' -verify-diagnostics -split-input-file | FileCheck %s

!s = !tgpu.smem<64x128xf8E4M3FN, #tgpu.shared<"64x128 b8 contig 1 panel 128 swizzle 128">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
// CHECK-LABEL: tgpu.kernel @chunks
// CHECK-SAME: %[[A:[a-z0-9]+]]: !tgpu.smem{{[^%]*}}%[[C:[a-z0-9]+]]: tensor
// CHECK: %[[A0:.*]] = tgpu.subview %[[A]] at [0, 0] {{.*}} -> !tgpu.smem<64x64xf8E4M3FN
// CHECK: %[[B0:.*]] = tgpu.subview %[[A]] at [0, 0]
// CHECK: %[[P0:.*]] = tgpu.wgmma %[[A0]], %[[B0]], {{.*}} {accumulate = false
// CHECK: %[[S0:.*]] = tgpu.wgmma_wait 0, %[[P0]]
// CHECK: %[[R0:.*]] = arith.addf %[[C]], %[[S0]]
// CHECK: %[[A1:.*]] = tgpu.subview %[[A]] at [0, 64]
// CHECK: tgpu.wgmma %[[A1]]
// CHECK: %[[S1:.*]] = tgpu.wgmma_wait 0
// CHECK: %[[R1:.*]] = arith.addf %[[R0]], %[[S1]]
// CHECK: tgpu.store %[[R1]]
tgpu.kernel @chunks(%a: !s, %c: !acc, %g: !tile.global<64x64xf32>) attributes {threads = 128 : i32} {
  %d = tgpu.dot %a, %a, %c {transpose_b, promote = 64 : i32, mma = #tgpu.mma<wgmma, 64, 64, 32, warps = 1, 1>} : !s, !s, !acc -> !acc
  tgpu.store %d, %g : !acc, !tile.global<64x64xf32>
  tgpu.return
}

// -----

!s = !tgpu.smem<64x128xf8E4M3FN, #tgpu.shared<"64x128 b8 contig 1 panel 128 swizzle 128">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
// One chunk: the whole tile; a product that starts at zero is not added to anything.
// CHECK-LABEL: tgpu.kernel @whole
// CHECK-NOT: tgpu.subview
// CHECK-COUNT-1: tgpu.wgmma_commit
// CHECK-NOT: tgpu.wgmma_commit
// CHECK-NOT: arith.addf
// CHECK: tgpu.return
tgpu.kernel @whole(%a: !s, %c: !acc) attributes {threads = 128 : i32} {
  %d = tgpu.dot %a, %a, %c {transpose_b, accumulate = false, mma = #tgpu.mma<wgmma, 64, 64, 32, warps = 1, 1>} : !s, !s, !acc -> !acc
  tgpu.return
}

// -----

!s = !tgpu.smem<64x128xf8E4M3FN, #tgpu.shared<"64x128 b8 contig 1 panel 128 swizzle 128">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
// The last chunk takes what is left of k; less than an instruction is one instruction; 0 asks for none.
// CHECK-LABEL: tgpu.kernel @odd
// CHECK: tgpu.subview {{.*}} at [0, 0] {{.*}} -> !tgpu.smem<64x96xf8E4M3FN
// CHECK: arith.addf
// CHECK: tgpu.subview {{.*}} at [0, 96] {{.*}} -> !tgpu.smem<64x32xf8E4M3FN
// CHECK: arith.addf
// CHECK-NOT: arith.addf
// CHECK-LABEL: tgpu.kernel @tiny
// CHECK-COUNT-4: arith.addf
// CHECK-NOT: arith.addf
// CHECK-LABEL: tgpu.kernel @none
// CHECK-NOT: arith.addf
tgpu.kernel @odd(%a: !s, %c: !acc) attributes {threads = 128 : i32} {
  %d = tgpu.dot %a, %a, %c {transpose_b, promote = 96 : i32, mma = #tgpu.mma<wgmma, 64, 64, 32, warps = 1, 1>} : !s, !s, !acc -> !acc
  tgpu.return
}
tgpu.kernel @tiny(%a: !s, %c: !acc) attributes {threads = 128 : i32} {
  %d = tgpu.dot %a, %a, %c {transpose_b, promote = 8 : i32, mma = #tgpu.mma<wgmma, 64, 64, 32, warps = 1, 1>} : !s, !s, !acc -> !acc
  tgpu.return
}
tgpu.kernel @none(%a: !s, %c: !acc) attributes {threads = 128 : i32} {
  %d = tgpu.dot %a, %a, %c {transpose_b, promote = 0 : i32, mma = #tgpu.mma<wgmma, 64, 64, 32, warps = 1, 1>} : !s, !s, !acc -> !acc
  tgpu.return
}

// -----

// A in registers is cut as well.
!a = tensor<64x128xf8E4M3FN, #tgpu.fragment<"64x128 reg 0,1:0,2:8,0:0,16:0,32:0,64 lane 0,4:0,8:1,0:2,0:4,0 warp 16,0:32,0">>
!b = !tgpu.smem<64x128xf8E4M3FN, #tgpu.shared<"64x128 b8 contig 1 panel 128 swizzle 128">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
// CHECK-LABEL: tgpu.kernel @registers
// CHECK: tgpu.fragment_slice {{.*}} at [0, 0]
// CHECK: arith.addf
// CHECK: tgpu.fragment_slice {{.*}} at [0, 64]
// CHECK: arith.addf
tgpu.kernel @registers(%a: !a, %b: !b, %c: !acc) attributes {threads = 128 : i32} {
  %d = tgpu.dot %a, %b, %c {transpose_b, promote = 64 : i32, mma = #tgpu.mma<wgmma, 64, 64, 32, warps = 1, 1>} : !a, !b, !acc -> !acc
  tgpu.return
}

// -----

// By mma.sync the same: after `promote` elements of k a fresh sum begins, and the sums are added in f32.
!a = !tgpu.smem<16x96xf8E4M3FN, #tgpu.shared<"16x96 b8 contig 1 panel 96">>
!b = !tgpu.smem<8x96xf8E4M3FN, #tgpu.shared<"8x96 b8 contig 1 panel 96">>
!acc = tensor<16x8xf32, #tgpu.fragment<"16x8 reg 0,1:8,0 lane 0,2:0,4:1,0:2,0:4,0 warp -">>
// CHECK-LABEL: tgpu.kernel @mma_sync
// CHECK-SAME: %[[C:[a-z0-9]+]]: tensor
// CHECK: %[[S0:.*]] = tgpu.mma %{{.*}}, %{{.*}}, %{{.*}} {
// CHECK: %[[S1:.*]] = tgpu.mma %{{.*}}, %{{.*}}, %[[S0]] {
// CHECK: %[[R0:.*]] = arith.addf %[[C]], %[[S1]]
// CHECK: %[[ZERO:.*]] = tile.splat
// CHECK: %[[S2:.*]] = tgpu.mma %{{.*}}, %{{.*}}, %[[ZERO]] {
// CHECK: %[[R1:.*]] = arith.addf %[[R0]], %[[S2]]
// CHECK: tgpu.store %[[R1]]
tgpu.kernel @mma_sync(%a: !a, %b: !b, %c: !acc, %g: !tile.global<16x8xf32>) attributes {threads = 32 : i32} {
  %d = tgpu.dot %a, %b, %c {transpose_b, promote = 64 : i32, mma = #tgpu.mma<mma_sync, 16, 8, 32, warps = 1, 1>} : !a, !b, !acc -> !acc
  tgpu.store %d, %g : !acc, !tile.global<16x8xf32>
  tgpu.return
}
// Nothing to promote where they are decoded to f16, of which the sums are f32's.
// CHECK-LABEL: tgpu.kernel @mma_sync_decoded
// CHECK-NOT: arith.addf
tgpu.kernel @mma_sync_decoded(%a: !a, %b: !b, %c: !acc) attributes {threads = 32 : i32, target = "sm_80"} {
  %d = tgpu.dot %a, %b, %c {transpose_b, promote = 64 : i32, mma = #tgpu.mma<mma_sync, 16, 8, 32, warps = 1, 1>} : !a, !b, !acc -> !acc
  tgpu.return
}
// CHECK-LABEL: tgpu.kernel @mma_sync_never
// CHECK-NOT: arith.addf
tgpu.kernel @mma_sync_never(%a: !a, %b: !b, %c: !acc) attributes {threads = 32 : i32} {
  %d = tgpu.dot %a, %b, %c {transpose_b, promote = 0 : i32, mma = #tgpu.mma<mma_sync, 16, 8, 32, warps = 1, 1>} : !a, !b, !acc -> !acc
  tgpu.return
}
