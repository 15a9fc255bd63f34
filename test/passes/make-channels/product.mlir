// A product reads until it is waited for, and its registers are ready from its fence on.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-make-channels))' -split-input-file | FileCheck %s

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
// The wait stands before the fence, the release behind the wait for the product.
// CHECK-LABEL: tgpu.kernel @one
// CHECK: tgpu.wait
// CHECK-NEXT: tgpu.slot
// CHECK-NEXT: tgpu.wgmma_fence
// CHECK-NEXT: tgpu.wgmma %
// CHECK-NEXT: tgpu.wgmma_commit
// CHECK-NEXT: arith.negf
// CHECK-NEXT: tgpu.wgmma_wait 0
// CHECK-NEXT: tgpu.release
// CHECK-NEXT: arith.addf
tgpu.kernel @one(%g: !g {tgpu.align = 16 : i64}, %n: i32 {tgpu.divisible = 8 : i64}, %z: !acc) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %v = tgpu.view %g extents(%n, %n : i32, i32) strides(%n : i32) : !g -> !g
  %s = tgpu.alloc_shared "S" : !s
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %z) -> (!acc) : i32 {
    %t = tile.slice %v[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
    tgpu.copy %t to %s {path = #tgpu.path<tma>, bytes = 16 : i32, tgpu.schedule = #tgpu.stage<0, 0>} : !t, !s
    tgpu.wgmma_fence {tgpu.schedule = #tgpu.stage<1, 2>}
    %p = tgpu.wgmma %s, %s, %c {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>, tgpu.schedule = #tgpu.stage<1, 3>} : !s, !s, !acc -> !tgpu.pending<!acc>
    tgpu.wgmma_commit {tgpu.schedule = #tgpu.stage<1, 4>}
    %x = arith.negf %z : !acc
    %e = tgpu.wgmma_wait 0, %p : !tgpu.pending<!acc> -> !acc {tgpu.schedule = #tgpu.stage<1, 5>}
    %d = arith.addf %e, %x : !acc
    scf.yield %d : !acc
  } {tile.stages = 2 : i32, tgpu.pipeline = #tgpu.pipeline<tma, stages = 2>}
  tgpu.return
}

// -----

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
// Pieces of one product are waited for together.
// CHECK-LABEL: tgpu.kernel @pieces
// CHECK: tgpu.wait
// CHECK: tgpu.wgmma_fence
// CHECK-COUNT-2: tgpu.wgmma %
// CHECK: tgpu.wgmma_wait 0
// CHECK-NEXT: tgpu.release
tgpu.kernel @pieces(%g: !g {tgpu.align = 16 : i64}, %n: i32 {tgpu.divisible = 8 : i64}, %z: !acc) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %v = tgpu.view %g extents(%n, %n : i32, i32) strides(%n : i32) : !g -> !g
  %s = tgpu.alloc_shared "S" : !s
  %u = tgpu.alloc_shared "U" : !s
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %z) -> (!acc) : i32 {
    %t = tile.slice %v[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
    tgpu.copy %t to %s {path = #tgpu.path<tma>, bytes = 16 : i32, tgpu.schedule = #tgpu.stage<0, 0>} : !t, !s
    tgpu.wgmma_fence {tgpu.schedule = #tgpu.stage<1, 2>}
    %p = tgpu.wgmma %s, %u, %c {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>, tgpu.schedule = #tgpu.stage<1, 3>} : !s, !s, !acc -> !tgpu.pending<!acc>
    %q = tgpu.wgmma %u, %u, %p {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>, tgpu.schedule = #tgpu.stage<1, 4>} : !s, !s, !tgpu.pending<!acc> -> !tgpu.pending<!acc>
    tgpu.wgmma_commit {tgpu.schedule = #tgpu.stage<1, 5>}
    %d = tgpu.wgmma_wait 0, %q : !tgpu.pending<!acc> -> !acc {tgpu.schedule = #tgpu.stage<1, 5>}
    scf.yield %d : !acc
  } {tile.stages = 2 : i32, tgpu.pipeline = #tgpu.pipeline<tma, stages = 2>}
  tgpu.return
}
