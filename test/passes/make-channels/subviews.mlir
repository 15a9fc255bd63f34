// Views of the buffer stand before the fence of the product that reads them, and so does its slot.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-make-channels))' | FileCheck %s

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!half = !tgpu.smem<64x32xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
// CHECK-LABEL: tgpu.kernel @views
// CHECK: tgpu.tma_load
// CHECK: %[[SLOT:.*]] = tgpu.slot
// CHECK: %[[LEFT:.*]] = tgpu.subview %[[SLOT]]
// CHECK: tgpu.wait
// CHECK-NEXT: tgpu.wgmma_fence
// CHECK-NEXT: tgpu.wgmma %[[LEFT]], %[[LEFT]]
// CHECK: tgpu.wgmma_wait
// CHECK-NEXT: tgpu.release
tgpu.kernel @views(%g: !g {tgpu.align = 16 : i64}, %n: i32 {tgpu.divisible = 8 : i64}, %z: !acc) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %v = tgpu.view %g extents(%n, %n : i32, i32) strides(%n : i32) : !g -> !g
  %s = tgpu.alloc_shared "S" : !s
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %z) -> (!acc) : i32 {
    %t = tile.slice %v[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
    tgpu.copy %t to %s {path = #tgpu.path<tma>, bytes = 16 : i32, tgpu.schedule = #tgpu.stage<0, 0>} : !t, !s
    %left = tgpu.subview %s at [0, 0] : !s -> !half
    tgpu.wgmma_fence {tgpu.schedule = #tgpu.stage<1, 2>}
    %p = tgpu.wgmma %left, %left, %c {transpose_b, mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>, tgpu.schedule = #tgpu.stage<1, 3>} : !half, !half, !acc -> !tgpu.pending<!acc>
    tgpu.wgmma_commit {tgpu.schedule = #tgpu.stage<1, 4>}
    %d = tgpu.wgmma_wait 0, %p : !tgpu.pending<!acc> -> !acc {tgpu.schedule = #tgpu.stage<1, 5>}
    scf.yield %d : !acc
  } {tile.stages = 2 : i32, tgpu.pipeline = #tgpu.pipeline<tma, stages = 2>}
  tgpu.return
}
