// What belongs together (a product from its fence to its commit, element-wise work that uses each other) has an order of its own, too.
// RUN: not tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-expand-schedule))' -split-input-file 2>&1 | FileCheck %s
// CHECK-COUNT-4: error:

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<3x64x64xf16, #tgpu.shared<"3x64x64 b16 contig 2 panel 64 swizzle 128">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
!c = !tgpu.channel<3>
// A group is closed before its product.
tgpu.kernel @commit_first(%g: !g, %n: i32, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %ss = tgpu.alloc_shared "S" : !ring
  %cs = tgpu.channel "S" {producers = 1 : i32, consumers = 4 : i32} : !c
  %f0 = arith.constant 0.0 : f32
  %z1 = tile.splat %f0 : f32 -> !acc
  %z2 = tile.splat %f0 : f32 -> !acc
  scf.for %i = %c0 to %n step %c1 : i32 {
    tgpu.one_thread attributes {tgpu.schedule = #tgpu.stage<-3, 20>} {
      tgpu.acquire %cs[%i] : !c
      tgpu.expect %cs[%i] bytes 8192 : !c
      %t = tile.slice %g[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
      %f = tgpu.slot %ss[%i] : !ring -> !s
      tgpu.tma_load %t to %f on %cs[%i] {map = 0 : i32} : !t, !s, !c
    }
    tgpu.wait %cs[%i] {tgpu.schedule = #tgpu.stage<0, 0>} : !c
    %s = tgpu.slot %ss[%i] : !ring -> !s
    tgpu.wgmma_fence {tgpu.schedule = #tgpu.stage<0, 1>}
    %p = tgpu.wgmma %s, %s, %z1 {accumulate = false, mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>, tgpu.schedule = #tgpu.stage<0, 3>} : !s, !s, !acc -> !tgpu.pending<!acc>
    tgpu.wgmma_commit {tgpu.schedule = #tgpu.stage<0, 2>}
    %d = tgpu.wgmma_wait 0, %p : !tgpu.pending<!acc> -> !acc {tgpu.schedule = #tgpu.stage<0, 9>}
    tgpu.release %cs[%i] {tgpu.schedule = #tgpu.stage<0, 11>} : !c
    tgpu.store %d, %o {tgpu.schedule = #tgpu.stage<0, 30>} : !acc, !tile.global<64x64xf32>
  } {tgpu.pipeline = #tgpu.pipeline<tma, stages = 3>}
  tgpu.return
}

// -----

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<3x64x64xf16, #tgpu.shared<"3x64x64 b16 contig 2 panel 64 swizzle 128">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
!c = !tgpu.channel<3>
// Two products in one group.
tgpu.kernel @interleaved(%g: !g, %n: i32, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %ss = tgpu.alloc_shared "S" : !ring
  %cs = tgpu.channel "S" {producers = 1 : i32, consumers = 4 : i32} : !c
  %f0 = arith.constant 0.0 : f32
  %z1 = tile.splat %f0 : f32 -> !acc
  %z2 = tile.splat %f0 : f32 -> !acc
  scf.for %i = %c0 to %n step %c1 : i32 {
    tgpu.one_thread attributes {tgpu.schedule = #tgpu.stage<-3, 20>} {
      tgpu.acquire %cs[%i] : !c
      tgpu.expect %cs[%i] bytes 8192 : !c
      %t = tile.slice %g[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
      %f = tgpu.slot %ss[%i] : !ring -> !s
      tgpu.tma_load %t to %f on %cs[%i] {map = 0 : i32} : !t, !s, !c
    }
    tgpu.wait %cs[%i] {tgpu.schedule = #tgpu.stage<0, 0>} : !c
    %s = tgpu.slot %ss[%i] : !ring -> !s
    tgpu.wgmma_fence {tgpu.schedule = #tgpu.stage<0, 1>}
    %p = tgpu.wgmma %s, %s, %z1 {accumulate = false, mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>, tgpu.schedule = #tgpu.stage<0, 4>} : !s, !s, !acc -> !tgpu.pending<!acc>
    tgpu.wgmma_commit {tgpu.schedule = #tgpu.stage<0, 7>}
    tgpu.wgmma_fence {tgpu.schedule = #tgpu.stage<0, 2>}
    %q = tgpu.wgmma %s, %s, %z2 {accumulate = false, mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>, tgpu.schedule = #tgpu.stage<0, 3>} : !s, !s, !acc -> !tgpu.pending<!acc>
    tgpu.wgmma_commit {tgpu.schedule = #tgpu.stage<0, 5>}
    %d = tgpu.wgmma_wait 0, %p : !tgpu.pending<!acc> -> !acc {tgpu.schedule = #tgpu.stage<0, 9>}
    %e = tgpu.wgmma_wait 0, %q : !tgpu.pending<!acc> -> !acc {tgpu.schedule = #tgpu.stage<0, 10>}
    tgpu.release %cs[%i] {tgpu.schedule = #tgpu.stage<0, 11>} : !c
    tgpu.store %d, %o {tgpu.schedule = #tgpu.stage<0, 30>} : !acc, !tile.global<64x64xf32>
  } {tgpu.pipeline = #tgpu.pipeline<tma, stages = 3>}
  tgpu.return
}

// -----

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<3x64x64xf16, #tgpu.shared<"3x64x64 b16 contig 2 panel 64 swizzle 128">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
!c = !tgpu.channel<3>
// A branch between a fence and its product.
tgpu.kernel @branch(%g: !g, %n: i32, %yes: i1, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %ss = tgpu.alloc_shared "S" : !ring
  %cs = tgpu.channel "S" {producers = 1 : i32, consumers = 4 : i32} : !c
  %f0 = arith.constant 0.0 : f32
  %z1 = tile.splat %f0 : f32 -> !acc
  %z2 = tile.splat %f0 : f32 -> !acc
  scf.for %i = %c0 to %n step %c1 : i32 {
    tgpu.one_thread attributes {tgpu.schedule = #tgpu.stage<-3, 20>} {
      tgpu.acquire %cs[%i] : !c
      tgpu.expect %cs[%i] bytes 8192 : !c
      %t = tile.slice %g[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
      %f = tgpu.slot %ss[%i] : !ring -> !s
      tgpu.tma_load %t to %f on %cs[%i] {map = 0 : i32} : !t, !s, !c
    }
    tgpu.wait %cs[%i] {tgpu.schedule = #tgpu.stage<0, 0>} : !c
    %s = tgpu.slot %ss[%i] : !ring -> !s
    scf.if %yes {
      tgpu.store %z1, %o : !acc, !tile.global<64x64xf32>
    } {tgpu.schedule = #tgpu.stage<0, 2>}
    tgpu.wgmma_fence {tgpu.schedule = #tgpu.stage<0, 1>}
    %p = tgpu.wgmma %s, %s, %z1 {accumulate = false, mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>, tgpu.schedule = #tgpu.stage<0, 3>} : !s, !s, !acc -> !tgpu.pending<!acc>
    tgpu.wgmma_commit {tgpu.schedule = #tgpu.stage<0, 4>}
    %d = tgpu.wgmma_wait 0, %p : !tgpu.pending<!acc> -> !acc {tgpu.schedule = #tgpu.stage<0, 9>}
    tgpu.release %cs[%i] {tgpu.schedule = #tgpu.stage<0, 11>} : !c
  } {tgpu.pipeline = #tgpu.pipeline<tma, stages = 3>}
  tgpu.return
}

// -----

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<3x64x64xf16, #tgpu.shared<"3x64x64 b16 contig 2 panel 64 swizzle 128">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
!c = !tgpu.channel<3>
// Element-wise work in another order than its own.
tgpu.kernel @stream(%g: !g, %n: i32, %z: !acc, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %ss = tgpu.alloc_shared "S" : !ring
  %cs = tgpu.channel "S" {producers = 1 : i32, consumers = 4 : i32} : !c
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %z) -> (!acc) : i32 {
    tgpu.one_thread attributes {tgpu.schedule = #tgpu.stage<-3, 9>} {
      tgpu.acquire %cs[%i] : !c
      tgpu.expect %cs[%i] bytes 8192 : !c
      %t = tile.slice %g[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
      %f = tgpu.slot %ss[%i] : !ring -> !s
      tgpu.tma_load %t to %f on %cs[%i] {map = 0 : i32} : !t, !s, !c
    }
    tgpu.wait %cs[%i] {tgpu.schedule = #tgpu.stage<0, 0>} : !c
    %s = tgpu.slot %ss[%i] : !ring -> !s
    %l = tgpu.fma %s, %s, %c {tgpu.schedule = #tgpu.stage<0, 1>} : !s, !s, !acc -> !acc
    tgpu.release %cs[%i] {tgpu.schedule = #tgpu.stage<0, 2>} : !c
    %x = arith.negf %l {tgpu.schedule = #tgpu.stage<0, 6>} : !acc
    %d = arith.addf %x, %l {tgpu.schedule = #tgpu.stage<0, 5>} : !acc
    scf.yield %d : !acc
  } {tgpu.pipeline = #tgpu.pipeline<tma, stages = 3>}
  tgpu.store %r, %o : !acc, !tile.global<64x64xf32>
  tgpu.return
}
