// When a product is in flight across iterations, and when it is waited for in its own.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-plan-schedule))' -verify-diagnostics -split-input-file | FileCheck %s

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<3x64x64xf16, #tgpu.shared<"3x64x64 b16 contig 2 panel 64 swizzle 128">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
!c = !tgpu.channel<3>
// With three slots one is being read, one is full, and one is being filled.
// CHECK-LABEL: tgpu.kernel @three_slots
// CHECK: tgpu.one_thread attributes {tgpu.schedule = #tgpu.stage<-2, 6>}
// CHECK: tgpu.wgmma_wait {{.*}} {tgpu.schedule = #tgpu.stage<1, 4>}
// CHECK: tgpu.release {{.*}} {tgpu.schedule = #tgpu.stage<1, 5>}
tgpu.kernel @three_slots(%a: !g, %n: i32, %z: !acc, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %as = tgpu.alloc_shared "A" : !ring
  %ch = tgpu.channel "A" {producers = 1 : i32, consumers = 4 : i32} : !c
  // expected-remark @+1 {{one product in flight across iterations}}
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
    tgpu.wgmma_fence
    %p = tgpu.wgmma %x, %x, %c {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !s, !s, !acc -> !tgpu.pending<!acc>
    tgpu.wgmma_commit
    %d = tgpu.wgmma_wait 0, %p : !tgpu.pending<!acc> -> !acc
    tgpu.release %ch[%i] : !c
    scf.yield %d : !acc
  } {tgpu.pipeline = #tgpu.pipeline<tma, stages = 3>}
  tgpu.store %r, %o : !acc, !tile.global<64x64xf32>
  tgpu.return
}

// -----

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
!c = !tgpu.channel<2>
// With two the next one could be filled only when the product that reads this one is done.
// CHECK-LABEL: tgpu.kernel @two_slots
// CHECK: tgpu.one_thread attributes {tgpu.schedule = #tgpu.stage<-2, 6>}
// CHECK: tgpu.wgmma_wait {{.*}} {tgpu.schedule = #tgpu.stage<0, 4>}
// CHECK: tgpu.release {{.*}} {tgpu.schedule = #tgpu.stage<0, 5>}
tgpu.kernel @two_slots(%a: !g, %n: i32, %z: !acc, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
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
    tgpu.wgmma_fence
    %p = tgpu.wgmma %x, %x, %c {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !s, !s, !acc -> !tgpu.pending<!acc>
    tgpu.wgmma_commit
    %d = tgpu.wgmma_wait 0, %p : !tgpu.pending<!acc> -> !acc
    tgpu.release %ch[%i] : !c
    scf.yield %d : !acc
  } {tgpu.pipeline = #tgpu.pipeline<tma, stages = 2>}
  tgpu.store %r, %o : !acc, !tile.global<64x64xf32>
  tgpu.return
}

// -----

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<3x64x64xf16, #tgpu.shared<"3x64x64 b16 contig 2 panel 64 swizzle 128">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
!c = !tgpu.channel<3>
// The sum is used in the iteration.
// CHECK-LABEL: tgpu.kernel @sum_used
// CHECK: tgpu.wgmma_wait {{.*}} {tgpu.schedule = #tgpu.stage<0, 4>}
tgpu.kernel @sum_used(%a: !g, %n: i32, %z: !acc, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
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
    tgpu.wgmma_fence
    %p = tgpu.wgmma %x, %x, %c {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !s, !s, !acc -> !tgpu.pending<!acc>
    tgpu.wgmma_commit
    %d = tgpu.wgmma_wait 0, %p : !tgpu.pending<!acc> -> !acc
    tgpu.release %ch[%i] : !c
    %e = arith.addf %d, %d : !acc
    scf.yield %e : !acc
  } {tgpu.pipeline = #tgpu.pipeline<tma, stages = 3>}
  tgpu.store %r, %o : !acc, !tile.global<64x64xf32>
  tgpu.return
}

// -----

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<3x64x64xf16, #tgpu.shared<"3x64x64 b16 contig 2 panel 64 swizzle 128">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
!c = !tgpu.channel<3>
// Threads write what the product reads, in the next iteration too.
// CHECK-LABEL: tgpu.kernel @written
// CHECK: tgpu.local_store {{.*}} {tgpu.schedule = #tgpu.stage<0, 0>}
// CHECK: tgpu.wgmma_wait {{.*}} {tgpu.schedule = #tgpu.stage<0, 5>}
tgpu.kernel @written(%a: !g, %n: i32, %z: !acc, %h: tensor<64x64xf16>, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %as = tgpu.alloc_shared "A" : !ring
  %u = tgpu.alloc_shared "U" : !s
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
    tgpu.local_store %h, %u : tensor<64x64xf16>, !s
    tgpu.wgmma_fence
    %p = tgpu.wgmma %x, %u, %c {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !s, !s, !acc -> !tgpu.pending<!acc>
    tgpu.wgmma_commit
    // expected-remark @+1 {{product is not in flight across iterations: the loop also writes what it reads}}
    %d = tgpu.wgmma_wait 0, %p : !tgpu.pending<!acc> -> !acc
    tgpu.release %ch[%i] : !c
    scf.yield %d : !acc
  } {tgpu.pipeline = #tgpu.pipeline<tma, stages = 3>}
  tgpu.store %r, %o : !acc, !tile.global<64x64xf32>
  tgpu.return
}

// -----

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<3x64x64xf16, #tgpu.shared<"3x64x64 b16 contig 2 panel 64 swizzle 128">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!h = tensor<64x64xf16, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
!c = !tgpu.channel<3>
// Registers of an operand are those of the next iteration's operand.
// CHECK-LABEL: tgpu.kernel @registers
// CHECK: tgpu.wgmma_wait {{.*}} {tgpu.schedule = #tgpu.stage<0, 4>}
tgpu.kernel @registers(%a: !g, %n: i32, %z: !acc, %h: !h, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
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
    tgpu.wgmma_fence
    %p = tgpu.wgmma %h, %x, %c {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !h, !s, !acc -> !tgpu.pending<!acc>
    tgpu.wgmma_commit
    %d = tgpu.wgmma_wait 0, %p : !tgpu.pending<!acc> -> !acc reads %h : !h
    tgpu.release %ch[%i] : !c
    scf.yield %d : !acc
  } {tgpu.pipeline = #tgpu.pipeline<tma, stages = 3>}
  tgpu.store %r, %o : !acc, !tile.global<64x64xf32>
  tgpu.return
}
