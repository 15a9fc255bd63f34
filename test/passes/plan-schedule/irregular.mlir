// Loops that the graph of units does not cover keep the order of their body; fills run ahead all the same.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-plan-schedule))' -verify-diagnostics -split-input-file | FileCheck %s

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<3x64x64xf16, #tgpu.shared<"3x64x64 b16 contig 2 panel 64 swizzle 128">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
!c = !tgpu.channel<3>
// Products of a branch.
// CHECK-LABEL: tgpu.kernel @branch
// CHECK: tgpu.one_thread attributes {tgpu.schedule = #tgpu.stage<-3, 8>}
// CHECK: tgpu.store {{.*}} {tgpu.schedule = #tgpu.stage<0, 0>}
// CHECK: tgpu.wait {{.*}} {tgpu.schedule = #tgpu.stage<0, 1>}
// CHECK: } {tgpu.schedule = #tgpu.stage<0, 2>}
// CHECK: tgpu.wgmma {{.*}} tgpu.schedule = #tgpu.stage<0, 4>
// CHECK: tgpu.release {{.*}} {tgpu.schedule = #tgpu.stage<0, 7>}
tgpu.kernel @branch(%a: !g, %n: i32, %yes: i1, %z: !acc, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %as = tgpu.alloc_shared "A" : !ring
  %ch = tgpu.channel "A" {producers = 1 : i32, consumers = 4 : i32} : !c
  // expected-remark @+1 {{products keep their order: a loop or branch inside of it has products of its own}}
  scf.for %i = %c0 to %n step %c1 : i32 {
    tgpu.one_thread {
      tgpu.acquire %ch[%i] : !c
      tgpu.expect %ch[%i] bytes 8192 : !c
      %t = tile.slice %a[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
      %f = tgpu.slot %as[%i] : !ring -> !s
      tgpu.tma_load %t to %f on %ch[%i] {map = 0 : i32} : !t, !s, !c
    }
    tgpu.store %z, %o : !acc, !tile.global<64x64xf32>
    tgpu.wait %ch[%i] : !c
    %x = tgpu.slot %as[%i] : !ring -> !s
    scf.if %yes {
      tgpu.wgmma_fence
      %p = tgpu.wgmma %x, %x, %z {accumulate = false, mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !s, !s, !acc -> !tgpu.pending<!acc>
      tgpu.wgmma_commit
      %d = tgpu.wgmma_wait 0, %p : !tgpu.pending<!acc> -> !acc
      tgpu.store %d, %o : !acc, !tile.global<64x64xf32>
    }
    tgpu.wgmma_fence
    %q = tgpu.wgmma %x, %x, %z {accumulate = false, mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !s, !s, !acc -> !tgpu.pending<!acc>
    tgpu.wgmma_commit
    %e = tgpu.wgmma_wait 0, %q : !tgpu.pending<!acc> -> !acc
    tgpu.release %ch[%i] : !c
    tgpu.store %e, %o : !acc, !tile.global<64x64xf32>
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
// A loop inside that waits for slots of another ring. The wait for this one's still stands before its reader.
// CHECK-LABEL: tgpu.kernel @inside
// CHECK: tgpu.one_thread attributes {tgpu.schedule = #tgpu.stage<-3, 4>}
// CHECK: tgpu.wait {{.*}} {tgpu.schedule = #tgpu.stage<0, 1>}
// CHECK: } {tgpu.schedule = #tgpu.stage<0, 0>}
// CHECK: tgpu.local_load {{.*}} {tgpu.schedule = #tgpu.stage<0, 2>}
// CHECK: tgpu.release {{.*}} {tgpu.schedule = #tgpu.stage<0, 3>}
tgpu.kernel @inside(%a: !g, %n: i32, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %as = tgpu.alloc_shared "A" : !ring
  %dh = tgpu.channel "B" {producers = 1 : i32, consumers = 4 : i32} : !c
  %ch = tgpu.channel "A" {producers = 1 : i32, consumers = 4 : i32} : !c
  // expected-remark @+1 {{products keep their order: a loop or branch inside of it waits for slots}}
  scf.for %i = %c0 to %n step %c1 : i32 {
    tgpu.one_thread {
      tgpu.acquire %ch[%i] : !c
      tgpu.expect %ch[%i] bytes 8192 : !c
      %t = tile.slice %a[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
      %f = tgpu.slot %as[%i] : !ring -> !s
      tgpu.tma_load %t to %f on %ch[%i] {map = 0 : i32} : !t, !s, !c
    }
    tgpu.wait %ch[%i] : !c
    %x = tgpu.slot %as[%i] : !ring -> !s
    scf.for %j = %c0 to %n step %c1 : i32 {
      tgpu.wait %dh[%j] : !c
      tgpu.release %dh[%j] : !c
    }
    %v = tgpu.local_load %x : !s -> tensor<64x64xf16>
    %w = tile.convert %v : tensor<64x64xf16> to tensor<64x64xf32>
    tgpu.store %w, %o {bytes = 4 : i32} : tensor<64x64xf32>, !tile.global<64x64xf32>
    tgpu.release %ch[%i] : !c
  } {tgpu.pipeline = #tgpu.pipeline<tma, stages = 3>}
  tgpu.return
}

// -----

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
!c = !tgpu.channel<2>
// A slot that is awaited twice: nothing is known of when it may be filled, and nothing runs ahead.
// CHECK-LABEL: tgpu.kernel @twice
// CHECK: tgpu.one_thread attributes {tgpu.schedule = #tgpu.stage<0, 0>}
// CHECK: tgpu.wait {{.*}} {tgpu.schedule = #tgpu.stage<0, 1>}
// CHECK: tgpu.local_load {{.*}} {tgpu.schedule = #tgpu.stage<0, 2>}
// CHECK: tgpu.wait {{.*}} {tgpu.schedule = #tgpu.stage<0, 3>}
// CHECK: tgpu.release {{.*}} {tgpu.schedule = #tgpu.stage<0, 6>}
tgpu.kernel @twice(%a: !g, %n: i32, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %as = tgpu.alloc_shared "A" : !ring
  %ch = tgpu.channel "A" {producers = 1 : i32, consumers = 4 : i32} : !c
  // expected-remark @+1 {{products keep their order: a slot is filled, awaited or released twice in an iteration}}
  scf.for %i = %c0 to %n step %c1 : i32 {
    tgpu.one_thread {
      tgpu.acquire %ch[%i] : !c
      tgpu.expect %ch[%i] bytes 8192 : !c
      %t = tile.slice %a[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
      %f = tgpu.slot %as[%i] : !ring -> !s
      tgpu.tma_load %t to %f on %ch[%i] {map = 0 : i32} : !t, !s, !c
    }
    tgpu.wait %ch[%i] : !c
    %x = tgpu.slot %as[%i] : !ring -> !s
    %v = tgpu.local_load %x : !s -> tensor<64x64xf16>
    tgpu.wait %ch[%i] : !c
    %w = tile.convert %v : tensor<64x64xf16> to tensor<64x64xf32>
    tgpu.store %w, %o {bytes = 4 : i32} : tensor<64x64xf32>, !tile.global<64x64xf32>
    tgpu.release %ch[%i] : !c
  } {tgpu.pipeline = #tgpu.pipeline<tma, stages = 2>}
  tgpu.return
}

// -----

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<3x64x64xf16, #tgpu.shared<"3x64x64 b16 contig 2 panel 64 swizzle 128">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
!c = !tgpu.channel<3>
// The first fill of a ring that a loop inside takes turns at stays before that loop: no release of this body makes room for it.
// CHECK-LABEL: tgpu.kernel @filled_outside
// CHECK: tgpu.one_thread attributes {tgpu.schedule = #tgpu.stage<-3, 4>}
// CHECK: tgpu.wait {{.*}} {tgpu.schedule = #tgpu.stage<0, 2>}
// CHECK: tgpu.release {{.*}} {tgpu.schedule = #tgpu.stage<0, 3>}
// CHECK: tgpu.one_thread attributes {tgpu.schedule = #tgpu.stage<0, 0>}
// CHECK: } {tgpu.schedule = #tgpu.stage<0, 1>}
tgpu.kernel @filled_outside(%a: !g, %n: i32) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %as = tgpu.alloc_shared "A" : !ring
  %bs = tgpu.alloc_shared "B" : !ring
  %ch = tgpu.channel "A" {producers = 1 : i32, consumers = 4 : i32} : !c
  %dh = tgpu.channel "B" {producers = 1 : i32, consumers = 4 : i32} : !c
  // expected-remark @+1 {{products keep their order: a loop or branch inside of it waits for slots}}
  scf.for %i = %c0 to %n step %c1 : i32 {
    tgpu.one_thread {
      tgpu.acquire %ch[%i] : !c
      tgpu.expect %ch[%i] bytes 8192 : !c
      %t = tile.slice %a[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
      %f = tgpu.slot %as[%i] : !ring -> !s
      tgpu.tma_load %t to %f on %ch[%i] {map = 0 : i32} : !t, !s, !c
    }
    tgpu.wait %ch[%i] : !c
    tgpu.release %ch[%i] : !c
    tgpu.one_thread {
      tgpu.acquire %dh[%i] : !c
      tgpu.expect %dh[%i] bytes 8192 : !c
      %t = tile.slice %a[%i, %c0] sizes [64, 64] : !g, i32, i32 -> !t
      %f = tgpu.slot %bs[%i] : !ring -> !s
      tgpu.tma_load %t to %f on %dh[%i] {map = 0 : i32} : !t, !s, !c
    }
    scf.for %j = %c0 to %c1 step %c1 : i32 {
      tgpu.wait %dh[%i] : !c
      tgpu.release %dh[%i] : !c
    }
  } {tgpu.pipeline = #tgpu.pipeline<tma, stages = 3>}
  tgpu.return
}
