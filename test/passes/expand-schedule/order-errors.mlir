// Schedules that change what their loop means: each breaks one edge of the graph of what must stay in order.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-expand-schedule))' -verify-diagnostics -split-input-file

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
!c = !tgpu.channel<2>
// Its operand comes later.
tgpu.kernel @data(%g: !g, %n: i32, %z: !acc, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %ss = tgpu.alloc_shared "S" : !ring
  %cs = tgpu.channel "S" {producers = 1 : i32, consumers = 4 : i32} : !c
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
    // expected-note @+1 {{it should stay behind this}}
    %x = tgpu.fma %s, %s, %c {tgpu.schedule = #tgpu.stage<0, 3>} : !s, !s, !acc -> !acc
    tgpu.release %cs[%i] {tgpu.schedule = #tgpu.stage<0, 4>} : !c
    // expected-error @+1 {{has a place in the schedule that changes what the loop means: it uses its result}}
    %d = arith.negf %x {tgpu.schedule = #tgpu.stage<0, 1>} : !acc
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
// An iteration too late for the next one.
tgpu.kernel @carried(%g: !g, %n: i32, %z: !acc, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %ss = tgpu.alloc_shared "S" : !ring
  %cs = tgpu.channel "S" {producers = 1 : i32, consumers = 4 : i32} : !c
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
    // expected-error @+1 {{has a place in the schedule that changes what the loop means: it uses what the iteration before has computed}}
    %x = tgpu.fma %s, %s, %c {tgpu.schedule = #tgpu.stage<0, 1>} : !s, !s, !acc -> !acc
    tgpu.release %cs[%i] {tgpu.schedule = #tgpu.stage<0, 2>} : !c
    // expected-note @+1 {{it should stay behind this}}
    %d = arith.negf %x {tgpu.schedule = #tgpu.stage<1, 3>} : !acc
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
tgpu.kernel @read_before_wait(%g: !g, %n: i32, %z: !acc, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %ss = tgpu.alloc_shared "S" : !ring
  %cs = tgpu.channel "S" {producers = 1 : i32, consumers = 4 : i32} : !c
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %z) -> (!acc) : i32 {
    tgpu.one_thread attributes {tgpu.schedule = #tgpu.stage<-2, 3>} {
      tgpu.acquire %cs[%i] : !c
      tgpu.expect %cs[%i] bytes 8192 : !c
      %t = tile.slice %g[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
      %f = tgpu.slot %ss[%i] : !ring -> !s
      tgpu.tma_load %t to %f on %cs[%i] {map = 0 : i32} : !t, !s, !c
    }
    // expected-note @+1 {{it should stay behind this}}
    tgpu.wait %cs[%i] {tgpu.schedule = #tgpu.stage<0, 1>} : !c
    %s = tgpu.slot %ss[%i] : !ring -> !s
    // expected-error @+1 {{has a place in the schedule that changes what the loop means: it reads a slot that has to be full}}
    %d = tgpu.fma %s, %s, %c {tgpu.schedule = #tgpu.stage<0, 0>} : !s, !s, !acc -> !acc
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
tgpu.kernel @release_before_read(%g: !g, %n: i32, %z: !acc, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %ss = tgpu.alloc_shared "S" : !ring
  %cs = tgpu.channel "S" {producers = 1 : i32, consumers = 4 : i32} : !c
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %z) -> (!acc) : i32 {
    tgpu.one_thread attributes {tgpu.schedule = #tgpu.stage<-2, 3>} {
      tgpu.acquire %cs[%i] : !c
      tgpu.expect %cs[%i] bytes 8192 : !c
      %t = tile.slice %g[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
      %f = tgpu.slot %ss[%i] : !ring -> !s
      tgpu.tma_load %t to %f on %cs[%i] {map = 0 : i32} : !t, !s, !c
    }
    tgpu.wait %cs[%i] {tgpu.schedule = #tgpu.stage<0, 0>} : !c
    %s = tgpu.slot %ss[%i] : !ring -> !s
    // expected-note @+1 {{it should stay behind this}}
    %d = tgpu.fma %s, %s, %c {tgpu.schedule = #tgpu.stage<0, 2>} : !s, !s, !acc -> !acc
    // expected-error @+1 {{has a place in the schedule that changes what the loop means: it gives back a slot that is still read}}
    tgpu.release %cs[%i] {tgpu.schedule = #tgpu.stage<0, 1>} : !c
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
// A product reads until it is waited for.
tgpu.kernel @release_before_retire(%g: !g, %n: i32, %z: !acc, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %ss = tgpu.alloc_shared "S" : !ring
  %cs = tgpu.channel "S" {producers = 1 : i32, consumers = 4 : i32} : !c
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %z) -> (!acc) : i32 {
    tgpu.one_thread attributes {tgpu.schedule = #tgpu.stage<-2, 6>} {
      tgpu.acquire %cs[%i] : !c
      tgpu.expect %cs[%i] bytes 8192 : !c
      %t = tile.slice %g[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
      %f = tgpu.slot %ss[%i] : !ring -> !s
      tgpu.tma_load %t to %f on %cs[%i] {map = 0 : i32} : !t, !s, !c
    }
    tgpu.wait %cs[%i] {tgpu.schedule = #tgpu.stage<0, 0>} : !c
    %s = tgpu.slot %ss[%i] : !ring -> !s
    tgpu.wgmma_fence {tgpu.schedule = #tgpu.stage<0, 1>}
    %p = tgpu.wgmma %s, %s, %c {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>, tgpu.schedule = #tgpu.stage<0, 2>} : !s, !s, !acc -> !tgpu.pending<!acc>
    tgpu.wgmma_commit {tgpu.schedule = #tgpu.stage<0, 3>}
    // expected-note @+1 {{it should stay behind this}}
    %d = tgpu.wgmma_wait 0, %p : !tgpu.pending<!acc> -> !acc {tgpu.schedule = #tgpu.stage<0, 5>}
    // expected-error @+1 {{has a place in the schedule that changes what the loop means: it gives back a slot that is still read}}
    tgpu.release %cs[%i] {tgpu.schedule = #tgpu.stage<0, 4>} : !c
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
// Two slots, three iterations ahead.
tgpu.kernel @fill_before_release(%g: !g, %n: i32, %z: !acc, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %ss = tgpu.alloc_shared "S" : !ring
  %cs = tgpu.channel "S" {producers = 1 : i32, consumers = 4 : i32} : !c
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %z) -> (!acc) : i32 {
    // expected-error @+1 {{has a place in the schedule that changes what the loop means: it fills a slot that has to be given back}}
    tgpu.one_thread attributes {tgpu.schedule = #tgpu.stage<-3, 3>} {
      tgpu.acquire %cs[%i] : !c
      tgpu.expect %cs[%i] bytes 8192 : !c
      %t = tile.slice %g[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
      %f = tgpu.slot %ss[%i] : !ring -> !s
      tgpu.tma_load %t to %f on %cs[%i] {map = 0 : i32} : !t, !s, !c
    }
    tgpu.wait %cs[%i] {tgpu.schedule = #tgpu.stage<0, 0>} : !c
    %s = tgpu.slot %ss[%i] : !ring -> !s
    %d = tgpu.fma %s, %s, %c {tgpu.schedule = #tgpu.stage<0, 1>} : !s, !s, !acc -> !acc
    // expected-note @+1 {{it should stay behind this}}
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
// Two iterations ahead of the release, but in front of it.
tgpu.kernel @fill_in_front(%g: !g, %n: i32, %z: !acc, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %ss = tgpu.alloc_shared "S" : !ring
  %cs = tgpu.channel "S" {producers = 1 : i32, consumers = 4 : i32} : !c
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %z) -> (!acc) : i32 {
    // expected-error @+1 {{has a place in the schedule that changes what the loop means: it fills a slot that has to be given back}}
    tgpu.one_thread attributes {tgpu.schedule = #tgpu.stage<-2, 2>} {
      tgpu.acquire %cs[%i] : !c
      tgpu.expect %cs[%i] bytes 8192 : !c
      %t = tile.slice %g[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
      %f = tgpu.slot %ss[%i] : !ring -> !s
      tgpu.tma_load %t to %f on %cs[%i] {map = 0 : i32} : !t, !s, !c
    }
    tgpu.wait %cs[%i] {tgpu.schedule = #tgpu.stage<0, 0>} : !c
    %s = tgpu.slot %ss[%i] : !ring -> !s
    %d = tgpu.fma %s, %s, %c {tgpu.schedule = #tgpu.stage<0, 1>} : !s, !s, !acc -> !acc
    // expected-note @+1 {{it should stay behind this}}
    tgpu.release %cs[%i] {tgpu.schedule = #tgpu.stage<0, 3>} : !c
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
tgpu.kernel @wait_before_fill(%g: !g, %n: i32, %z: !acc, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %ss = tgpu.alloc_shared "S" : !ring
  %cs = tgpu.channel "S" {producers = 1 : i32, consumers = 4 : i32} : !c
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %z) -> (!acc) : i32 {
    // expected-note @+1 {{it should stay behind this}}
    tgpu.one_thread attributes {tgpu.schedule = #tgpu.stage<0, 1>} {
      tgpu.acquire %cs[%i] : !c
      tgpu.expect %cs[%i] bytes 8192 : !c
      %t = tile.slice %g[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
      %f = tgpu.slot %ss[%i] : !ring -> !s
      tgpu.tma_load %t to %f on %cs[%i] {map = 0 : i32} : !t, !s, !c
    }
    // expected-error @+1 {{has a place in the schedule that changes what the loop means: it waits for a slot that has to be filled}}
    tgpu.wait %cs[%i] {tgpu.schedule = #tgpu.stage<0, 0>} : !c
    %s = tgpu.slot %ss[%i] : !ring -> !s
    %d = tgpu.fma %s, %s, %c {tgpu.schedule = #tgpu.stage<0, 2>} : !s, !s, !acc -> !acc
    tgpu.release %cs[%i] {tgpu.schedule = #tgpu.stage<0, 3>} : !c
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
// Threads write what a product in flight reads.
tgpu.kernel @written(%g: !g, %n: i32, %z: !acc, %h: tensor<64x64xf16>, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %ss = tgpu.alloc_shared "S" : !ring
  %cs = tgpu.channel "S" {producers = 1 : i32, consumers = 4 : i32} : !c
  %u = tgpu.alloc_shared "U" : !s
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %z) -> (!acc) : i32 {
    tgpu.one_thread attributes {tgpu.schedule = #tgpu.stage<-2, 7>} {
      tgpu.acquire %cs[%i] : !c
      tgpu.expect %cs[%i] bytes 8192 : !c
      %t = tile.slice %g[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
      %f = tgpu.slot %ss[%i] : !ring -> !s
      tgpu.tma_load %t to %f on %cs[%i] {map = 0 : i32} : !t, !s, !c
    }
    tgpu.wait %cs[%i] {tgpu.schedule = #tgpu.stage<0, 0>} : !c
    %s = tgpu.slot %ss[%i] : !ring -> !s
    // expected-error @+1 {{has a place in the schedule that changes what the loop means: they access the same memory}}
    tgpu.local_store %h, %u {tgpu.schedule = #tgpu.stage<0, 1>} : tensor<64x64xf16>, !s
    tgpu.wgmma_fence {tgpu.schedule = #tgpu.stage<0, 2>}
    %p = tgpu.wgmma %s, %u, %c {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>, tgpu.schedule = #tgpu.stage<0, 3>} : !s, !s, !acc -> !tgpu.pending<!acc>
    tgpu.wgmma_commit {tgpu.schedule = #tgpu.stage<0, 4>}
    // expected-note @+1 {{it should stay behind this}}
    %d = tgpu.wgmma_wait 0, %p : !tgpu.pending<!acc> -> !acc {tgpu.schedule = #tgpu.stage<1, 5>}
    tgpu.release %cs[%i] {tgpu.schedule = #tgpu.stage<1, 6>} : !c
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
// The store of this iteration and the load of the next one.
tgpu.kernel @stored(%g: !g, %n: i32, %z: !acc, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %ss = tgpu.alloc_shared "S" : !ring
  %cs = tgpu.channel "S" {producers = 1 : i32, consumers = 4 : i32} : !c
  %u = tgpu.alloc_shared "U" : !s
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %z) -> (!acc) : i32 {
    tgpu.one_thread attributes {tgpu.schedule = #tgpu.stage<-2, 7>} {
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
    // expected-error @+1 {{has a place in the schedule that changes what the loop means: they access the same memory}}
    %h = tgpu.local_load %u {tgpu.schedule = #tgpu.stage<0, 3>} : !s -> tensor<64x64xf16>
    // expected-note @+1 {{it should stay behind this}}
    tgpu.local_store %h, %u {tgpu.schedule = #tgpu.stage<1, 4>} : tensor<64x64xf16>, !s
    scf.yield %d : !acc
  } {tgpu.pipeline = #tgpu.pipeline<tma, stages = 3>}
  tgpu.store %r, %o : !acc, !tile.global<64x64xf32>
  tgpu.return
}

// -----

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<3x64x64xf16, #tgpu.shared<"3x64x64 b16 contig 2 panel 64 swizzle 128">>
#acc = #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">
!acc = tensor<64x64xf32, #acc>
!p = tensor<64x64xf16, #acc>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
!c = !tgpu.channel<3>
// The operand of a product in flight is written.
tgpu.kernel @operand(%g: !g, %n: i32, %z: !acc, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %ss = tgpu.alloc_shared "S" : !ring
  %cs = tgpu.channel "S" {producers = 1 : i32, consumers = 4 : i32} : !c
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %z) -> (!acc) : i32 {
    tgpu.one_thread attributes {tgpu.schedule = #tgpu.stage<-3, 8>} {
      tgpu.acquire %cs[%i] : !c
      tgpu.expect %cs[%i] bytes 8192 : !c
      %t = tile.slice %g[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
      %f = tgpu.slot %ss[%i] : !ring -> !s
      tgpu.tma_load %t to %f on %cs[%i] {map = 0 : i32} : !t, !s, !c
    }
    tgpu.wait %cs[%i] {tgpu.schedule = #tgpu.stage<0, 0>} : !c
    %s = tgpu.slot %ss[%i] : !ring -> !s
    %e = arith.negf %z {tgpu.schedule = #tgpu.stage<0, 0>} : !acc
    // expected-error @+1 {{has a place in the schedule that changes what the loop means: it writes registers that a product in flight reads}}
    %p = tile.convert %e {tgpu.schedule = #tgpu.stage<0, 1>} : !acc to !p
    tgpu.wgmma_fence {tgpu.schedule = #tgpu.stage<1, 2>}
    %q = tgpu.wgmma %p, %s, %x {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>, tgpu.schedule = #tgpu.stage<1, 3>} : !p, !s, !acc -> !tgpu.pending<!acc>
    tgpu.wgmma_commit {tgpu.schedule = #tgpu.stage<1, 4>}
    // expected-note @+1 {{it should stay behind this}}
    %d = tgpu.wgmma_wait 0, %q : !tgpu.pending<!acc> -> !acc reads %p : !p {tgpu.schedule = #tgpu.stage<1, 5>}
    tgpu.release %cs[%i] {tgpu.schedule = #tgpu.stage<1, 6>} : !c
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
// One product would need two places for its sum.
tgpu.kernel @twice_in_flight(%g: !g, %n: i32, %z: !acc, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %ss = tgpu.alloc_shared "S" : !ring
  %cs = tgpu.channel "S" {producers = 1 : i32, consumers = 4 : i32} : !c
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %z) -> (!acc) : i32 {
    tgpu.one_thread attributes {tgpu.schedule = #tgpu.stage<-3, 8>} {
      tgpu.acquire %cs[%i] : !c
      tgpu.expect %cs[%i] bytes 8192 : !c
      %t = tile.slice %g[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
      %f = tgpu.slot %ss[%i] : !ring -> !s
      tgpu.tma_load %t to %f on %cs[%i] {map = 0 : i32} : !t, !s, !c
    }
    tgpu.wait %cs[%i] {tgpu.schedule = #tgpu.stage<0, 0>} : !c
    %s = tgpu.slot %ss[%i] : !ring -> !s
    // expected-error @+1 {{has a place in the schedule that changes what the loop means: one product of each kind is in flight}}
    tgpu.wgmma_fence {tgpu.schedule = #tgpu.stage<0, 1>}
    %p = tgpu.wgmma %s, %s, %z {accumulate = false, mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>, tgpu.schedule = #tgpu.stage<0, 2>} : !s, !s, !acc -> !tgpu.pending<!acc>
    tgpu.wgmma_commit {tgpu.schedule = #tgpu.stage<0, 3>}
    // expected-note @+1 {{it should stay behind this}}
    %e = tgpu.wgmma_wait 0, %p : !tgpu.pending<!acc> -> !acc {tgpu.schedule = #tgpu.stage<1, 5>}
    tgpu.release %cs[%i] {tgpu.schedule = #tgpu.stage<1, 6>} : !c
    %d = arith.negf %e {tgpu.schedule = #tgpu.stage<1, 7>} : !acc
    scf.yield %d : !acc
  } {tgpu.pipeline = #tgpu.pipeline<tma, stages = 3>}
  tgpu.store %r, %o : !acc, !tile.global<64x64xf32>
  tgpu.return
}

// -----

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<3x64x64xf16, #tgpu.shared<"3x64x64 b16 contig 2 panel 64 swizzle 128">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
!c = !tgpu.channel<3>
// The loop inside would wait for a slot that is filled only behind it.
tgpu.kernel @filled_behind(%g: !g, %n: i32) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %ss = tgpu.alloc_shared "S" : !ring
  %cs = tgpu.channel "S" {producers = 1 : i32, consumers = 4 : i32} : !c
  scf.for %i = %c0 to %n step %c1 : i32 {
    // expected-note @+1 {{it should stay behind this}}
    tgpu.one_thread attributes {tgpu.schedule = #tgpu.stage<0, 1>} {
      tgpu.acquire %cs[%i] : !c
      tgpu.expect %cs[%i] bytes 8192 : !c
      %t = tile.slice %g[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
      %f = tgpu.slot %ss[%i] : !ring -> !s
      tgpu.tma_load %t to %f on %cs[%i] {map = 0 : i32} : !t, !s, !c
    }
    // expected-error @+1 {{has a place in the schedule that changes what the loop means: a loop or branch inside takes turns at the same ring}}
    scf.for %j = %c0 to %c1 step %c1 : i32 {
      tgpu.wait %cs[%i] : !c
      tgpu.release %cs[%i] : !c
    } {tgpu.schedule = #tgpu.stage<0, 0>}
  } {tgpu.pipeline = #tgpu.pipeline<tma, stages = 3>}
  tgpu.return
}
