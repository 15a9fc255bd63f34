// The loop of a product whose sum only the next product takes: it is waited for an iteration later, and what its wait gives back is filled again
// at once, for three iterations ahead.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-plan-schedule))' -verify-diagnostics | FileCheck %s

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<4x64x64xf16, #tgpu.shared<"4x64x64 b16 contig 2 panel 64 swizzle 128">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
!four = !tgpu.channel<4>
// CHECK-LABEL: tgpu.kernel @gemm
// CHECK: tgpu.one_thread attributes {tgpu.schedule = #tgpu.stage<-3, 6>}
// CHECK: tgpu.wait {{.*}} {tgpu.schedule = #tgpu.stage<0, 0>}
// CHECK: tgpu.wgmma_fence {tgpu.schedule = #tgpu.stage<0, 1>}
// CHECK: tgpu.wgmma {{.*}} tgpu.schedule = #tgpu.stage<0, 2>
// CHECK: tgpu.wgmma_commit {tgpu.schedule = #tgpu.stage<0, 3>}
// CHECK: tgpu.wgmma_wait {{.*}} {tgpu.schedule = #tgpu.stage<1, 4>}
// CHECK: tgpu.release {{.*}} {tgpu.schedule = #tgpu.stage<1, 5>}
tgpu.kernel @gemm(%a: !g, %b: !g, %n: i32, %z: !acc, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %as = tgpu.alloc_shared "A" : !ring
  %bs = tgpu.alloc_shared "B" : !ring
  %ch = tgpu.channel "A+B" {producers = 1 : i32, consumers = 4 : i32} : !four
  // expected-remark @+1 {{one product in flight across iterations}}
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %z) -> (!acc) : i32 {
    tgpu.one_thread {
      tgpu.acquire %ch[%i] : !four
      tgpu.expect %ch[%i] bytes 16384 : !four
      %ta = tile.slice %a[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
      %sa = tgpu.slot %as[%i] : !ring -> !s
      tgpu.tma_load %ta to %sa on %ch[%i] {map = 0 : i32} : !t, !s, !four
      %tb = tile.slice %b[%i, %c0] sizes [64, 64] : !g, i32, i32 -> !t
      %sb = tgpu.slot %bs[%i] : !ring -> !s
      tgpu.tma_load %tb to %sb on %ch[%i] {map = 1 : i32} : !t, !s, !four
    }
    tgpu.wait %ch[%i] : !four
    %x = tgpu.slot %as[%i] : !ring -> !s
    %y = tgpu.slot %bs[%i] : !ring -> !s
    tgpu.wgmma_fence
    %p = tgpu.wgmma %x, %y, %c {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !s, !s, !acc -> !tgpu.pending<!acc>
    tgpu.wgmma_commit
    %d = tgpu.wgmma_wait 0, %p : !tgpu.pending<!acc> -> !acc
    tgpu.release %ch[%i] : !four
    scf.yield %d : !acc
  } {tgpu.pipeline = #tgpu.pipeline<tma, stages = 4>}
  tgpu.store %r, %o : !acc, !tile.global<64x64xf32>
  tgpu.return
}
