// Sums that are added to others in their iteration, as those of fp8 are: both products are issued first, none is in flight across
// iterations.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-plan-schedule))' -verify-diagnostics | FileCheck %s

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<3x64x64xf16, #tgpu.shared<"3x64x64 b16 contig 2 panel 64 swizzle 128">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!half = !tgpu.smem<64x32xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
!c = !tgpu.channel<3>
// CHECK-LABEL: tgpu.kernel @promoted
// CHECK: tgpu.one_thread attributes {tgpu.schedule = #tgpu.stage<-3, 11>}
// CHECK: tgpu.wait {{.*}} {tgpu.schedule = #tgpu.stage<0, 0>}
// CHECK: tgpu.wgmma {{.*}} tgpu.schedule = #tgpu.stage<0, 2>
// CHECK: tgpu.wgmma_wait {{.*}} {tgpu.schedule = #tgpu.stage<0, 7>}
// CHECK: arith.addf {{.*}} {tgpu.schedule = #tgpu.stage<0, 8>}
// CHECK: tgpu.wgmma {{.*}} tgpu.schedule = #tgpu.stage<0, 5>
// CHECK: tgpu.wgmma_wait {{.*}} {tgpu.schedule = #tgpu.stage<0, 9>}
// CHECK: arith.addf {{.*}} {tgpu.schedule = #tgpu.stage<0, 12>}
// CHECK: tgpu.release {{.*}} {tgpu.schedule = #tgpu.stage<0, 10>}
tgpu.kernel @promoted(%a: !g, %n: i32, %z: !acc, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %as = tgpu.alloc_shared "A" : !ring
  %ch = tgpu.channel "A" {producers = 1 : i32, consumers = 4 : i32} : !c
  %zero = arith.constant 0.0 : f32
  %none = tile.splat %zero : f32 -> !acc
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %z) -> (!acc) : i32 {
    tgpu.one_thread {
      tgpu.acquire %ch[%i] : !c
      tgpu.expect %ch[%i] bytes 8192 : !c
      %t = tile.slice %a[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
      %f = tgpu.slot %as[%i] : !ring -> !s
      tgpu.tma_load %t to %f on %ch[%i] {map = 0 : i32} : !t, !s, !c
    }
    tgpu.wait %ch[%i] : !c
    %x = tgpu.slot %as[%i] : !ring -> !s
    %left = tgpu.subview %x at [0, 0] : !s -> !half
    tgpu.wgmma_fence
    %p = tgpu.wgmma %left, %left, %none {transpose_b, accumulate = false, mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !half, !half, !acc -> !tgpu.pending<!acc>
    tgpu.wgmma_commit
    %d = tgpu.wgmma_wait 0, %p : !tgpu.pending<!acc> -> !acc
    %s = arith.addf %c, %d : !acc
    %right = tgpu.subview %x at [0, 32] : !s -> !half
    tgpu.wgmma_fence
    %q = tgpu.wgmma %right, %right, %none {transpose_b, accumulate = false, mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !half, !half, !acc -> !tgpu.pending<!acc>
    tgpu.wgmma_commit
    %e = tgpu.wgmma_wait 0, %q : !tgpu.pending<!acc> -> !acc
    %t = arith.addf %s, %e : !acc
    tgpu.release %ch[%i] : !c
    scf.yield %t : !acc
  } {tgpu.pipeline = #tgpu.pipeline<tma, stages = 3>}
  tgpu.store %r, %o : !acc, !tile.global<64x64xf32>
  tgpu.return
}

// A sum that goes on in its own registers takes them all the time: with both products beside it there are too few.
// CHECK-LABEL: tgpu.kernel @crowded
// CHECK: tgpu.wgmma {{.*}} tgpu.schedule = #tgpu.stage<0, 2>
// CHECK: tgpu.wgmma_wait {{.*}} {tgpu.schedule = #tgpu.stage<0, 4>}
// CHECK: arith.addf {{.*}} {tgpu.schedule = #tgpu.stage<0, 5>}
// CHECK: tgpu.wgmma {{.*}} tgpu.schedule = #tgpu.stage<0, 7>
tgpu.kernel @crowded(%a: !g, %n: i32, %z: !acc, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a", max_registers = 112 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %as = tgpu.alloc_shared "A" : !ring
  %ch = tgpu.channel "A" {producers = 1 : i32, consumers = 4 : i32} : !c
  %zero = arith.constant 0.0 : f32
  %none = tile.splat %zero : f32 -> !acc
  // expected-remark@+1 {{products keep more of their order: another would take 122 of 112 registers}}
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %z) -> (!acc) : i32 {
    tgpu.one_thread {
      tgpu.acquire %ch[%i] : !c
      tgpu.expect %ch[%i] bytes 8192 : !c
      %t = tile.slice %a[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
      %f = tgpu.slot %as[%i] : !ring -> !s
      tgpu.tma_load %t to %f on %ch[%i] {map = 0 : i32} : !t, !s, !c
    }
    tgpu.wait %ch[%i] : !c
    %x = tgpu.slot %as[%i] : !ring -> !s
    %left = tgpu.subview %x at [0, 0] : !s -> !half
    tgpu.wgmma_fence
    %p = tgpu.wgmma %left, %left, %none {transpose_b, accumulate = false, mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !half, !half, !acc -> !tgpu.pending<!acc>
    tgpu.wgmma_commit
    %d = tgpu.wgmma_wait 0, %p : !tgpu.pending<!acc> -> !acc
    %s = arith.addf %c, %d : !acc
    %right = tgpu.subview %x at [0, 32] : !s -> !half
    tgpu.wgmma_fence
    %q = tgpu.wgmma %right, %right, %none {transpose_b, accumulate = false, mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !half, !half, !acc -> !tgpu.pending<!acc>
    tgpu.wgmma_commit
    %e = tgpu.wgmma_wait 0, %q : !tgpu.pending<!acc> -> !acc
    %t = arith.addf %s, %e : !acc
    tgpu.release %ch[%i] : !c
    scf.yield %t : !acc
  } {tgpu.pipeline = #tgpu.pipeline<tma, stages = 3>}
  tgpu.store %r, %o : !acc, !tile.global<64x64xf32>
  tgpu.return
}
