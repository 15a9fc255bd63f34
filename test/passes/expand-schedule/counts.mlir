// How many groups a wait leaves in flight follows from the order: those that were committed behind its own.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-expand-schedule))' -split-input-file | FileCheck %s

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
!c = !tgpu.channel<2>
// The older product first: the younger one's sum passes through.
// CHECK-LABEL: tgpu.kernel @older_first
// CHECK: scf.for
// CHECK: %[[P:.*]] = tgpu.wgmma %
// CHECK: %[[Q:.*]] = tgpu.wgmma %
// CHECK: %[[W:.*]]:2 = tgpu.wgmma_wait 1, %[[P]], %[[Q]] : {{.*}} -> tensor<{{.*}}>, !tgpu.pending<
// CHECK: %[[E:.*]] = tgpu.wgmma_wait 0, %[[W]]#1
// CHECK: tgpu.store %[[W]]#0
// CHECK: tgpu.store %[[E]]
tgpu.kernel @older_first(%g: !g, %n: i32, %z: !acc, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %ss = tgpu.alloc_shared "S" : !ring
  %cs = tgpu.channel "S" {producers = 1 : i32, consumers = 4 : i32} : !c
  scf.for %i = %c0 to %n step %c1 : i32 {
    tgpu.one_thread attributes {tgpu.schedule = #tgpu.stage<-2, 20>} {
      tgpu.acquire %cs[%i] : !c
      tgpu.expect %cs[%i] bytes 8192 : !c
      %t = tile.slice %g[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
      %f = tgpu.slot %ss[%i] : !ring -> !s
      tgpu.tma_load %t to %f on %cs[%i] {map = 0 : i32} : !t, !s, !c
    }
    tgpu.wait %cs[%i] {tgpu.schedule = #tgpu.stage<0, 0>} : !c
    %s = tgpu.slot %ss[%i] : !ring -> !s
    tgpu.wgmma_fence {tgpu.schedule = #tgpu.stage<0, 1>}
    %p = tgpu.wgmma %s, %s, %z {accumulate = false, mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>, tgpu.schedule = #tgpu.stage<0, 2>} : !s, !s, !acc -> !tgpu.pending<!acc>
    tgpu.wgmma_commit {tgpu.schedule = #tgpu.stage<0, 3>}
    tgpu.wgmma_fence {tgpu.schedule = #tgpu.stage<0, 4>}
    %q = tgpu.wgmma %s, %s, %z {transpose_b, accumulate = false, mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>, tgpu.schedule = #tgpu.stage<0, 5>} : !s, !s, !acc -> !tgpu.pending<!acc>
    tgpu.wgmma_commit {tgpu.schedule = #tgpu.stage<0, 6>}
    %d = tgpu.wgmma_wait 0, %p : !tgpu.pending<!acc> -> !acc {tgpu.schedule = #tgpu.stage<0, 8>}
    %e = tgpu.wgmma_wait 0, %q : !tgpu.pending<!acc> -> !acc {tgpu.schedule = #tgpu.stage<0, 9>}
    tgpu.release %cs[%i] {tgpu.schedule = #tgpu.stage<0, 12>} : !c
    tgpu.store %d, %o {tgpu.schedule = #tgpu.stage<0, 13>} : !acc, !tile.global<64x64xf32>
    tgpu.store %e, %o {tgpu.schedule = #tgpu.stage<0, 14>} : !acc, !tile.global<64x64xf32>
  } {tgpu.pipeline = #tgpu.pipeline<tma, stages = 2>}
  tgpu.return
}

// -----

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
!c = !tgpu.channel<2>
// The younger one first: nothing is in flight behind it.
// CHECK-LABEL: tgpu.kernel @younger_first
// CHECK: scf.for
// CHECK: %[[P:.*]] = tgpu.wgmma %
// CHECK: %[[Q:.*]] = tgpu.wgmma %
// CHECK: %[[E:.*]] = tgpu.wgmma_wait 0, %[[Q]]
// CHECK: %[[D:.*]] = tgpu.wgmma_wait 0, %[[P]]
// CHECK: tgpu.store %[[D]]
// CHECK: tgpu.store %[[E]]
tgpu.kernel @younger_first(%g: !g, %n: i32, %z: !acc, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %ss = tgpu.alloc_shared "S" : !ring
  %cs = tgpu.channel "S" {producers = 1 : i32, consumers = 4 : i32} : !c
  scf.for %i = %c0 to %n step %c1 : i32 {
    tgpu.one_thread attributes {tgpu.schedule = #tgpu.stage<-2, 20>} {
      tgpu.acquire %cs[%i] : !c
      tgpu.expect %cs[%i] bytes 8192 : !c
      %t = tile.slice %g[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
      %f = tgpu.slot %ss[%i] : !ring -> !s
      tgpu.tma_load %t to %f on %cs[%i] {map = 0 : i32} : !t, !s, !c
    }
    tgpu.wait %cs[%i] {tgpu.schedule = #tgpu.stage<0, 0>} : !c
    %s = tgpu.slot %ss[%i] : !ring -> !s
    tgpu.wgmma_fence {tgpu.schedule = #tgpu.stage<0, 1>}
    %p = tgpu.wgmma %s, %s, %z {accumulate = false, mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>, tgpu.schedule = #tgpu.stage<0, 2>} : !s, !s, !acc -> !tgpu.pending<!acc>
    tgpu.wgmma_commit {tgpu.schedule = #tgpu.stage<0, 3>}
    tgpu.wgmma_fence {tgpu.schedule = #tgpu.stage<0, 4>}
    %q = tgpu.wgmma %s, %s, %z {transpose_b, accumulate = false, mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>, tgpu.schedule = #tgpu.stage<0, 5>} : !s, !s, !acc -> !tgpu.pending<!acc>
    tgpu.wgmma_commit {tgpu.schedule = #tgpu.stage<0, 6>}
    %d = tgpu.wgmma_wait 0, %p : !tgpu.pending<!acc> -> !acc {tgpu.schedule = #tgpu.stage<0, 9>}
    %e = tgpu.wgmma_wait 0, %q : !tgpu.pending<!acc> -> !acc {tgpu.schedule = #tgpu.stage<0, 8>}
    tgpu.release %cs[%i] {tgpu.schedule = #tgpu.stage<0, 12>} : !c
    tgpu.store %d, %o {tgpu.schedule = #tgpu.stage<0, 13>} : !acc, !tile.global<64x64xf32>
    tgpu.store %e, %o {tgpu.schedule = #tgpu.stage<0, 14>} : !acc, !tile.global<64x64xf32>
  } {tgpu.pipeline = #tgpu.pipeline<tma, stages = 2>}
  tgpu.return
}
