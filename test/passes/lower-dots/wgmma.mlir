// A product on wgmma: fence, issue, commit, wait for all.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-lower-dots))' -verify-diagnostics -split-input-file | FileCheck %s

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
// CHECK-LABEL: tgpu.kernel @f16
// CHECK-SAME: %[[A:[a-z0-9]+]]: !tgpu.smem{{[^%]*}}%[[C:[a-z0-9]+]]: tensor
// CHECK-NEXT: tgpu.wgmma_fence
// CHECK-NEXT: %[[P:.*]] = tgpu.wgmma %[[A]], %[[A]], %[[C]] {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>, transpose_b}
// CHECK-NEXT: tgpu.wgmma_commit
// CHECK-NEXT: %[[R:.*]] = tgpu.wgmma_wait 0, %[[P]]
// CHECK-NEXT: tgpu.store %[[R]]
tgpu.kernel @f16(%a: !s, %c: !acc, %g: !tile.global<64x64xf32>) attributes {threads = 128 : i32} {
  %d = tgpu.dot %a, %a, %c {transpose_b, mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !s, !s, !acc -> !acc
  tgpu.store %d, %g : !acc, !tile.global<64x64xf32>
  tgpu.return
}

// -----

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
// CHECK-LABEL: tgpu.kernel @fresh
// CHECK: tgpu.wgmma {{.*}} {a_unsigned, accumulate = false, mma
tgpu.kernel @fresh(%a: !s, %c: !acc) attributes {threads = 128 : i32} {
  %d = tgpu.dot %a, %a, %c {accumulate = false, a_unsigned, mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !s, !s, !acc -> !acc
  tgpu.return
}

// -----

// An operand in registers is read until the wait, which uses it.
!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!h = tensor<64x64xf16, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
// CHECK-LABEL: tgpu.kernel @registers
// CHECK-SAME: %{{.*}}: !tgpu.smem{{[^%]*}}%[[X:[a-z0-9]+]]: tensor
// CHECK: %[[P:.*]] = tgpu.wgmma %[[X]]
// CHECK: tgpu.wgmma_wait 0, %[[P]] {{.*}} reads %[[X]] :
tgpu.kernel @registers(%a: !s, %x: !h, %c: !acc) attributes {threads = 128 : i32} {
  %d = tgpu.dot %x, %a, %c {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !h, !s, !acc -> !acc
  tgpu.return
}

// -----

// One that only goes on with the sum of the one before is issued in its group: nothing waits in between.
!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!h = tensor<64x64xf16, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
// CHECK-LABEL: tgpu.kernel @goes_on
// CHECK-SAME: %[[A:[a-z0-9]+]]: !tgpu.smem{{[^%]*}}%[[B:[a-z0-9]+]]: !tgpu.smem{{[^%]*}}%[[X:[a-z0-9]+]]: tensor
// CHECK-NEXT: tgpu.wgmma_fence
// CHECK-NEXT: %[[P:.*]] = tgpu.wgmma %[[X]], %[[A]]
// CHECK-NEXT: %[[Q:.*]] = tgpu.wgmma %[[B]], %[[A]], %[[P]]
// CHECK-NEXT: tgpu.wgmma_commit
// CHECK-NEXT: %[[R:.*]] = tgpu.wgmma_wait 0, %[[Q]] {{.*}} reads %[[X]] :
// CHECK-NEXT: tgpu.store %[[R]]
tgpu.kernel @goes_on(%a: !s, %b: !s, %x: !h, %c: !acc, %g: !tile.global<64x64xf32>) attributes {threads = 128 : i32} {
  %d = tgpu.dot %x, %a, %c {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !h, !s, !acc -> !acc
  %e = tgpu.dot %b, %a, %d {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !s, !s, !acc -> !acc
  tgpu.store %e, %g : !acc, !tile.global<64x64xf32>
  tgpu.return
}

// -----

// Work on the sum in between, another use of it, and a write to shared memory part them.
!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!h = tensor<64x64xf16, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
// CHECK-LABEL: tgpu.kernel @apart
// CHECK-COUNT-4: tgpu.wgmma_commit
tgpu.kernel @apart(%a: !s, %x: !h, %c: !acc, %g: !tile.global<64x64xf32>) attributes {threads = 128 : i32} {
  %d = tgpu.dot %a, %a, %c {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !s, !s, !acc -> !acc
  %m = arith.mulf %d, %d : !acc
  %e = tgpu.dot %a, %a, %m {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !s, !s, !acc -> !acc
  tgpu.store %e, %g : !acc, !tile.global<64x64xf32>
  %f = tgpu.dot %a, %a, %e {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !s, !s, !acc -> !acc
  tgpu.local_store %x, %a : !h, !s
  %i = tgpu.dot %a, %a, %f {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !s, !s, !acc -> !acc
  tgpu.store %i, %g : !acc, !tile.global<64x64xf32>
  tgpu.return
}
