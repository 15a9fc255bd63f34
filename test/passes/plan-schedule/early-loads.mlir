// Loads into fragments for which an earlier pass wants to run ahead.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-plan-schedule))' -verify-diagnostics -split-input-file | FileCheck %s

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<3x64x64xf16, #tgpu.shared<"3x64x64 b16 contig 2 panel 64 swizzle 128">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!h = tensor<64xf32, #tgpu.fragment<"64 reg 8 lane 0:0:1:2:4 warp 16:32">>
!w = !tile.global<?xf32>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
!c = !tgpu.channel<3>
// They come behind the proxy fence of a release of what threads have read, which would wait for them.
// CHECK-LABEL: tgpu.kernel @ahead
// CHECK: tgpu.one_thread attributes {tgpu.schedule = #tgpu.stage<-3, 4>}
// CHECK: tgpu.wait {{.*}} {tgpu.schedule = #tgpu.stage<0, 0>}
// CHECK: tgpu.fma {{.*}} {tgpu.schedule = #tgpu.stage<0, 1>}
// CHECK: tgpu.release {{.*}} {tgpu.schedule = #tgpu.stage<0, 2>}
// CHECK: tgpu.load {{.*}} {tgpu.schedule = #tgpu.stage<-1, 3>}
// CHECK: arith.addf {{.*}} {tgpu.schedule = #tgpu.stage<0, 5>}
tgpu.kernel @ahead(%a: !g, %w: !w, %n: i32, %z: !acc, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %as = tgpu.alloc_shared "A" : !ring
  %ch = tgpu.channel "A" {producers = 1 : i32, consumers = 4 : i32} : !c
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
    %l = tgpu.fma %x, %x, %c : !s, !s, !acc -> !acc
    tgpu.release %ch[%i] : !c
    %u = tile.slice %w[%i] sizes [64] : !w, i32 -> !tile.global<64xf32>
    %v = tgpu.load %u {tgpu.schedule = #tgpu.stage<-1, 1>} : !tile.global<64xf32> -> !h
    %b = tile.broadcast %v along [1] : !h -> !acc
    %d = arith.addf %l, %b : !acc
    scf.yield %d : !acc
  } {tgpu.pipeline = #tgpu.pipeline<tma, stages = 3>}
  tgpu.store %r, %o : !acc, !tile.global<64x64xf32>
  tgpu.return
}

// -----

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<3x64x64xf16, #tgpu.shared<"3x64x64 b16 contig 2 panel 64 swizzle 128">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!h = tensor<64xf32, #tgpu.fragment<"64 reg 8 lane 0:0:1:2:4 warp 16:32">>
!w = !tile.global<?xf32>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
!c = !tgpu.channel<3>
// Where that is not possible they stay in their iteration.
// CHECK-LABEL: tgpu.kernel @carried_place
// CHECK: tgpu.wait {{.*}} {tgpu.schedule = #tgpu.stage<0, 0>}
// CHECK: tgpu.load {{.*}} {tgpu.schedule = #tgpu.stage<0, 4>}
tgpu.kernel @carried_place(%a: !g, %w: !w, %n: i32, %z: !acc, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %as = tgpu.alloc_shared "A" : !ring
  %ch = tgpu.channel "A" {producers = 1 : i32, consumers = 4 : i32} : !c
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%c = %z, %k = %c0) -> (!acc, i32) : i32 {
    tgpu.one_thread {
      tgpu.acquire %ch[%i] : !c
      tgpu.expect %ch[%i] bytes 8192 : !c
      %t = tile.slice %a[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
      %f = tgpu.slot %as[%i] : !ring -> !s
      tgpu.tma_load %t to %f on %ch[%i] {map = 0 : i32} : !t, !s, !c
    }
    tgpu.wait %ch[%i] : !c
    %x = tgpu.slot %as[%i] : !ring -> !s
    %l = tgpu.fma %x, %x, %c : !s, !s, !acc -> !acc
    tgpu.release %ch[%i] : !c
    %u = tile.slice %w[%k] sizes [64] : !w, i32 -> !tile.global<64xf32>
    // expected-remark @+1 {{load stays in its iteration: it needs what comes before it there}}
    %v = tgpu.load %u {tgpu.schedule = #tgpu.stage<-1, 1>} : !tile.global<64xf32> -> !h
    %b = tile.broadcast %v along [1] : !h -> !acc
    %d = arith.addf %l, %b : !acc
    %next = arith.addi %k, %n : i32
    scf.yield %d, %next : !acc, i32
  } {tgpu.pipeline = #tgpu.pipeline<tma, stages = 3>}
  tgpu.store %r#0, %o : !acc, !tile.global<64x64xf32>
  tgpu.return
}

// -----

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<3x64x64xf16, #tgpu.shared<"3x64x64 b16 contig 2 panel 64 swizzle 128">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!h = tensor<64xf32, #tgpu.fragment<"64 reg 8 lane 0:0:1:2:4 warp 16:32">>
!w = !tile.global<?xf32>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
!c = !tgpu.channel<3>
// What the tensor cores have read is given back without a fence: the loads come first in a step.
// CHECK-LABEL: tgpu.kernel @without_fence
// CHECK: tgpu.load {{.*}} {tgpu.schedule = #tgpu.stage<-1, 0>}
// CHECK: tgpu.wait {{.*}} {tgpu.schedule = #tgpu.stage<0, 1>}
tgpu.kernel @without_fence(%a: !g, %w: !w, %n: i32, %z: !acc, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %as = tgpu.alloc_shared "A" : !ring
  %ch = tgpu.channel "A" {producers = 1 : i32, consumers = 4 : i32} : !c
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %z) -> (!acc) : i32 {
    tgpu.one_thread {
      tgpu.acquire %ch[%i] : !c
      tgpu.expect %ch[%i] bytes 8192 : !c
      %t = tile.slice %a[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
      %f = tgpu.slot %as[%i] : !ring -> !s
      tgpu.tma_load %t to %f on %ch[%i] {map = 0 : i32} : !t, !s, !c
    }
    %u = tile.slice %w[%i] sizes [64] : !w, i32 -> !tile.global<64xf32>
    %v = tgpu.load %u {tgpu.schedule = #tgpu.stage<-1, 1>} : !tile.global<64xf32> -> !h
    tgpu.wait %ch[%i] : !c
    %x = tgpu.slot %as[%i] : !ring -> !s
    tgpu.wgmma_fence
    %p = tgpu.wgmma %x, %x, %c {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !s, !s, !acc -> !tgpu.pending<!acc>
    tgpu.wgmma_commit
    %l = tgpu.wgmma_wait 0, %p : !tgpu.pending<!acc> -> !acc
    tgpu.release %ch[%i] : !c
    %b = tile.broadcast %v along [1] : !h -> !acc
    %d = arith.addf %l, %b : !acc
    scf.yield %d : !acc
  } {tgpu.pipeline = #tgpu.pipeline<tma, stages = 3>}
  tgpu.store %r, %o : !acc, !tile.global<64x64xf32>
  tgpu.return
}
