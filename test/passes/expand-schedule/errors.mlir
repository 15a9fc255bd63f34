// Schedules that are none: without a place for each operation, with stages that there are not, with what cannot run ahead.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-expand-schedule))' -verify-diagnostics -split-input-file

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
!c = !tgpu.channel<2>
tgpu.kernel @no_place(%g: !g, %n: i32, %z: !acc, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %ss = tgpu.alloc_shared "S" : !ring
  %cs = tgpu.channel "S" {producers = 1 : i32, consumers = 4 : i32} : !c
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %z) -> (!acc) : i32 {
    tgpu.one_thread attributes {tgpu.schedule = #tgpu.stage<-2, 4>} {
      tgpu.acquire %cs[%i] : !c
      tgpu.expect %cs[%i] bytes 8192 : !c
      %t = tile.slice %g[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
      %f = tgpu.slot %ss[%i] : !ring -> !s
      tgpu.tma_load %t to %f on %cs[%i] {map = 0 : i32} : !t, !s, !c
    }
    tgpu.wait %cs[%i] {tgpu.schedule = #tgpu.stage<0, 0>} : !c
    %s = tgpu.slot %ss[%i] : !ring -> !s
    // expected-error @+1 {{has no place in the schedule of its loop}}
    %d = tgpu.fma %s, %s, %c : !s, !s, !acc -> !acc
    tgpu.release %cs[%i] {tgpu.schedule = #tgpu.stage<0, 2>} : !c
    scf.yield %d : !acc
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
// The parts of a product stay together.
tgpu.kernel @other_stage(%g: !g, %n: i32, %z: !acc, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %ss = tgpu.alloc_shared "S" : !ring
  %cs = tgpu.channel "S" {producers = 1 : i32, consumers = 4 : i32} : !c
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %z) -> (!acc) : i32 {
    tgpu.one_thread attributes {tgpu.schedule = #tgpu.stage<-3, 6>} {
      tgpu.acquire %cs[%i] : !c
      tgpu.expect %cs[%i] bytes 8192 : !c
      %t = tile.slice %g[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
      %f = tgpu.slot %ss[%i] : !ring -> !s
      tgpu.tma_load %t to %f on %cs[%i] {map = 0 : i32} : !t, !s, !c
    }
    tgpu.wait %cs[%i] {tgpu.schedule = #tgpu.stage<0, 0>} : !c
    %s = tgpu.slot %ss[%i] : !ring -> !s
    tgpu.wgmma_fence {tgpu.schedule = #tgpu.stage<0, 1>}
    // expected-error @+1 {{has another stage than what it belongs to}}
    %p = tgpu.wgmma %s, %s, %c {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>, tgpu.schedule = #tgpu.stage<1, 2>} : !s, !s, !acc -> !tgpu.pending<!acc>
    tgpu.wgmma_commit {tgpu.schedule = #tgpu.stage<0, 3>}
    %d = tgpu.wgmma_wait 0, %p : !tgpu.pending<!acc> -> !acc {tgpu.schedule = #tgpu.stage<0, 4>}
    tgpu.release %cs[%i] {tgpu.schedule = #tgpu.stage<0, 5>} : !c
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
tgpu.kernel @too_late(%g: !g, %n: i32, %z: !acc, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %ss = tgpu.alloc_shared "S" : !ring
  %cs = tgpu.channel "S" {producers = 1 : i32, consumers = 4 : i32} : !c
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %z) -> (!acc) : i32 {
    tgpu.one_thread attributes {tgpu.schedule = #tgpu.stage<-2, 4>} {
      tgpu.acquire %cs[%i] : !c
      tgpu.expect %cs[%i] bytes 8192 : !c
      %t = tile.slice %g[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
      %f = tgpu.slot %ss[%i] : !ring -> !s
      tgpu.tma_load %t to %f on %cs[%i] {map = 0 : i32} : !t, !s, !c
    }
    tgpu.wait %cs[%i] {tgpu.schedule = #tgpu.stage<0, 0>} : !c
    %s = tgpu.slot %ss[%i] : !ring -> !s
    %x = tgpu.fma %s, %s, %c {tgpu.schedule = #tgpu.stage<0, 1>} : !s, !s, !acc -> !acc
    tgpu.release %cs[%i] {tgpu.schedule = #tgpu.stage<0, 2>} : !c
    // expected-error @+1 {{runs more than one iteration behind}}
    %d = arith.negf %x {tgpu.schedule = #tgpu.stage<2, 3>} : !acc
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
// A wait that runs ahead.
tgpu.kernel @wait_ahead(%g: !g, %n: i32, %z: !acc, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %ss = tgpu.alloc_shared "S" : !ring
  %cs = tgpu.channel "S" {producers = 1 : i32, consumers = 4 : i32} : !c
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %z) -> (!acc) : i32 {
    tgpu.one_thread attributes {tgpu.schedule = #tgpu.stage<-2, 4>} {
      tgpu.acquire %cs[%i] : !c
      tgpu.expect %cs[%i] bytes 8192 : !c
      %t = tile.slice %g[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
      %f = tgpu.slot %ss[%i] : !ring -> !s
      tgpu.tma_load %t to %f on %cs[%i] {map = 0 : i32} : !t, !s, !c
    }
    // expected-error @+1 {{runs ahead, which only loads of global memory may}}
    tgpu.wait %cs[%i] {tgpu.schedule = #tgpu.stage<-1, 0>} : !c
    %s = tgpu.slot %ss[%i] : !ring -> !s
    %d = tgpu.fma %s, %s, %c {tgpu.schedule = #tgpu.stage<0, 1>} : !s, !s, !acc -> !acc
    tgpu.release %cs[%i] {tgpu.schedule = #tgpu.stage<0, 2>} : !c
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
// The next tile would be loaded before this one is stored.
tgpu.kernel @source_written(%g: !g, %n: i32, %z: !acc, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %ss = tgpu.alloc_shared "S" : !ring
  %cs = tgpu.channel "S" {producers = 1 : i32, consumers = 4 : i32} : !c
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %z) -> (!acc) : i32 {
    // expected-error @+1 {{cannot run ahead: the loop writes to the tensor that it reads}}
    tgpu.one_thread attributes {tgpu.schedule = #tgpu.stage<-2, 4>} {
      tgpu.acquire %cs[%i] : !c
      tgpu.expect %cs[%i] bytes 8192 : !c
      %t = tile.slice %g[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
      %f = tgpu.slot %ss[%i] : !ring -> !s
      tgpu.tma_load %t to %f on %cs[%i] {map = 0 : i32} : !t, !s, !c
    }
    tgpu.wait %cs[%i] {tgpu.schedule = #tgpu.stage<0, 0>} : !c
    %s = tgpu.slot %ss[%i] : !ring -> !s
    %d = tgpu.fma %s, %s, %c {tgpu.schedule = #tgpu.stage<0, 1>} : !s, !s, !acc -> !acc
    tgpu.release %cs[%i] {tgpu.schedule = #tgpu.stage<0, 2>} : !c
    %u = tile.slice %g[%i, %c0] sizes [64, 64] : !g, i32, i32 -> !t
    %h = tgpu.local_load %s {tgpu.schedule = #tgpu.stage<0, 1>} : !s -> tensor<64x64xf16>
    tgpu.store %h, %u {bytes = 2 : i32, tgpu.schedule = #tgpu.stage<0, 5>} : tensor<64x64xf16>, !t
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
// Where it reads is known an iteration before.
tgpu.kernel @carried_place(%g: !g, %n: i32, %z: !acc, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %ss = tgpu.alloc_shared "S" : !ring
  %cs = tgpu.channel "S" {producers = 1 : i32, consumers = 4 : i32} : !c
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%c = %z, %k = %c0) -> (!acc, i32) : i32 {
    // expected-error @+1 {{cannot run ahead: where it reads from depends on what the loop computes}}
    tgpu.one_thread attributes {tgpu.schedule = #tgpu.stage<-2, 4>} {
      tgpu.acquire %cs[%i] : !c
      tgpu.expect %cs[%i] bytes 8192 : !c
      %t = tile.slice %g[%c0, %k] sizes [64, 64] : !g, i32, i32 -> !t
      %f = tgpu.slot %ss[%i] : !ring -> !s
      tgpu.tma_load %t to %f on %cs[%i] {map = 0 : i32} : !t, !s, !c
    }
    tgpu.wait %cs[%i] {tgpu.schedule = #tgpu.stage<0, 0>} : !c
    %s = tgpu.slot %ss[%i] : !ring -> !s
    %d = tgpu.fma %s, %s, %c {tgpu.schedule = #tgpu.stage<0, 1>} : !s, !s, !acc -> !acc
    tgpu.release %cs[%i] {tgpu.schedule = #tgpu.stage<0, 2>} : !c
    %next = arith.addi %k, %n {tgpu.schedule = #tgpu.stage<0, 5>} : i32
    scf.yield %d, %next : !acc, i32
  } {tgpu.pipeline = #tgpu.pipeline<tma, stages = 3>}
  tgpu.store %r#0, %o : !acc, !tile.global<64x64xf32>
  tgpu.return
}

// -----

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
!c = !tgpu.channel<2>
tgpu.kernel @steps(%g: !g, %n: i32, %z: !acc, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %ss = tgpu.alloc_shared "S" : !ring
  %cs = tgpu.channel "S" {producers = 1 : i32, consumers = 4 : i32} : !c
  // expected-error @+1 {{has a schedule, but does not count its iterations from 0}}
  %r = scf.for %i = %c1 to %n step %c1 iter_args(%c = %z) -> (!acc) : i32 {
    tgpu.one_thread attributes {tgpu.schedule = #tgpu.stage<-2, 3>} {
      tgpu.acquire %cs[%i] : !c
      tgpu.expect %cs[%i] bytes 8192 : !c
      %t = tile.slice %g[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
      %f = tgpu.slot %ss[%i] : !ring -> !s
      tgpu.tma_load %t to %f on %cs[%i] {map = 0 : i32} : !t, !s, !c
    }
    tgpu.wait %cs[%i] {tgpu.schedule = #tgpu.stage<0, 0>} : !c
    %s = tgpu.slot %ss[%i] : !ring -> !s
    %d = tgpu.fma %s, %s, %c {tgpu.schedule = #tgpu.stage<0, 1>} : !s, !s, !acc -> !acc
    tgpu.release %cs[%i] {tgpu.schedule = #tgpu.stage<0, 2>} : !c
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
// What nobody has taken apart into units stays in its iteration.
tgpu.kernel @irregular(%g: !g, %n: i32, %z: !acc, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %ss = tgpu.alloc_shared "S" : !ring
  %cs = tgpu.channel "S" {producers = 1 : i32, consumers = 4 : i32} : !c
  // expected-error @+1 {{cannot be taken apart: a slot is filled, awaited or released twice in an iteration}}
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %z) -> (!acc) : i32 {
    tgpu.one_thread attributes {tgpu.schedule = #tgpu.stage<-2, 5>} {
      tgpu.acquire %cs[%i] : !c
      tgpu.expect %cs[%i] bytes 8192 : !c
      %t = tile.slice %g[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
      %f = tgpu.slot %ss[%i] : !ring -> !s
      tgpu.tma_load %t to %f on %cs[%i] {map = 0 : i32} : !t, !s, !c
    }
    tgpu.wait %cs[%i] {tgpu.schedule = #tgpu.stage<0, 0>} : !c
    %s = tgpu.slot %ss[%i] : !ring -> !s
    tgpu.wait %cs[%i] {tgpu.schedule = #tgpu.stage<0, 1>} : !c
    %d = tgpu.fma %s, %s, %z {tgpu.schedule = #tgpu.stage<0, 2>} : !s, !s, !acc -> !acc
    tgpu.release %cs[%i] {tgpu.schedule = #tgpu.stage<0, 3>} : !c
    %e = arith.negf %d {tgpu.schedule = #tgpu.stage<1, 4>} : !acc
    scf.yield %e : !acc
  } {tgpu.pipeline = #tgpu.pipeline<tma, stages = 3>}
  tgpu.store %r, %o : !acc, !tile.global<64x64xf32>
  tgpu.return
}
