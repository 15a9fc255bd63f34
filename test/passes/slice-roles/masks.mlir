// Registers of an attention loop of 192 queries, 128 keys and heads of 64, by 384 threads.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-slice-roles))' -verify-diagnostics | FileCheck %s

#acc = #tgpu.fragment<"192x128 reg 0,1:8,0:0,8:0,16:0,32:0,64 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0 rep warp*3@0+64">
#sum = #tgpu.fragment<"192x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0 rep warp*3@0+64">
#row = #tgpu.fragment<"192 reg 8 lane 0:0:1:2:4 warp 16:32 rep warp*3@0+64">
#column = #tgpu.fragment<"128 reg 1:8:16:32:64 lane 2:4:0:0:0 warp 0:0 rep warp*3">
!q = !tgpu.smem<192x64xf16, #tgpu.shared<"192x64 b16 contig 1 panel 64 swizzle 128">>
!k = !tgpu.smem<128x64xf16, #tgpu.shared<"128x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<2x128x64xf16, #tgpu.shared<"2x128x64 b16 contig 2 panel 64 swizzle 128">>
!s = tensor<192x128xf32, #acc>
!b = tensor<192x128xi1, #acc>
!i = tensor<192x128xi32, #acc>
!p = tensor<192x128xf16, #acc>
!o = tensor<192x64xf32, #sum>
!row = tensor<192xf32, #row>
!g = !tile.global<?x?xf16>
!t = !tile.global<128x64xf16>
!out = !tile.global<192x64xf32>
!two = !tgpu.channel<2>
!kb = !tgpu.smem<192x128xf32, #tgpu.shared<"192x128 b32 contig 1 panel 32 swizzle 128">>

// Positions and masks are made where they are used, and scores die in the branch, behind which the masked ones live: 160 registers are enough.
// CHECK-LABEL: tgpu.kernel @masked(
// CHECK: role "load" warps 12, 4 registers 32 {
// CHECK: role "compute" warps 0, 12 registers 160 {
// expected-remark @+1 {{roles: 4 warps load, 12 compute, with 160 registers a thread}}
tgpu.kernel @masked(%a: !g, %b: !g, %n: i32, %diagonal: i32, %out: !out) attributes {threads = 384 : i32, target = "sm_90a", warp_specialize = "producer"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c128 = arith.constant 128 : i32
  %q = tgpu.alloc_shared "Q" : !q
  %ks = tgpu.alloc_shared "K" : !ring
  %vs = tgpu.alloc_shared "V" : !ring
  %ck = tgpu.channel "K" {producers = 1 : i32, consumers = 12 : i32} : !two
  %cv = tgpu.channel "V" {producers = 1 : i32, consumers = 12 : i32} : !two
  %zero = arith.constant 0.0 : f32
  %inf = arith.constant 0xFF800000 : f32
  %none = tile.splat %inf : f32 -> !row
  %l0 = tile.splat %zero : f32 -> !row
  %o0 = tile.splat %zero : f32 -> !o
  %s00 = tile.splat %zero : f32 -> !s
  %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%m = %none, %l = %l0, %o = %o0) -> (!row, !row, !o) : i32 {
    tgpu.one_thread {
      tgpu.acquire %ck[%i] : !two
      tgpu.expect %ck[%i] bytes 16384 : !two
      %t = tile.slice %a[%i, %c0] sizes [128, 64] : !g, i32, i32 -> !t
      %f = tgpu.slot %ks[%i] : !ring -> !k
      tgpu.tma_load %t to %f on %ck[%i] {map = 0 : i32} : !t, !k, !two
    }
    tgpu.one_thread {
      tgpu.acquire %cv[%i] : !two
      tgpu.expect %cv[%i] bytes 16384 : !two
      %t = tile.slice %b[%i, %c0] sizes [128, 64] : !g, i32, i32 -> !t
      %f = tgpu.slot %vs[%i] : !ring -> !k
      tgpu.tma_load %t to %f on %cv[%i] {map = 1 : i32} : !t, !k, !two
    }
    tgpu.wait %ck[%i] : !two
    %k = tgpu.slot %ks[%i] : !ring -> !k
    tgpu.wgmma_fence
    %sp = tgpu.wgmma %q, %k, %s00 {transpose_b, accumulate = false, mma = #tgpu.mma<wgmma, 64, 128, 16, warps = 3, 1>} : !q, !k, !s -> !tgpu.pending<!s>
    tgpu.wgmma_commit
    %s0 = tgpu.wgmma_wait 0, %sp : !tgpu.pending<!s> -> !s
    tgpu.release %ck[%i] : !two
    %at = arith.muli %i, %c128 : i32
    %edge = arith.cmpi sgt, %at, %diagonal : i32
    %s = scf.if %edge -> (!s) {
      %first = tile.splat %at : i32 -> tensor<128xi32, #column>
      %place = tgpu.coordinate : tensor<128xi32, #column>
      %key = arith.addi %first, %place : tensor<128xi32, #column>
      %start = tile.splat %diagonal : i32 -> tensor<192xi32, #row>
      %line = tgpu.coordinate : tensor<192xi32, #row>
      %query = arith.addi %start, %line : tensor<192xi32, #row>
      %keys = tile.broadcast %key along [0] : tensor<128xi32, #column> -> !i
      %queries = tile.broadcast %query along [1] : tensor<192xi32, #row> -> !i
      %hidden = arith.cmpi sgt, %keys, %queries : !i
      %low = tile.splat %inf : f32 -> !s
      %masked = arith.select %hidden, %low, %s0 : !b, !s
      scf.yield %masked : !s
    } else {
      scf.yield %s0 : !s
    }
    %max = tile.reduce <max> %s axis 1 : !s -> !row
    %m1 = arith.maxnumf %m, %max : !row
    %by = arith.subf %m, %m1 : !row
    %factor = math.exp2 %by : !row
    %base = tile.broadcast %m1 along [1] : !row -> !s
    %x = arith.subf %s, %base : !s
    %e = math.exp2 %x : !s
    %sum = tile.reduce <sum> %e axis 1 : !s -> !row
    %l1 = arith.mulf %l, %factor : !row
    %l2 = arith.addf %l1, %sum : !row
    %p = tile.convert %e : !s to !p
    %f = tile.broadcast %factor along [1] : !row -> !o
    %o1 = arith.mulf %o, %f : !o
    tgpu.wait %cv[%i] : !two
    %v = tgpu.slot %vs[%i] : !ring -> !k
    tgpu.wgmma_fence
    %op = tgpu.wgmma %p, %v, %o1 {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 3, 1>} : !p, !k, !o -> !tgpu.pending<!o>
    tgpu.wgmma_commit
    %o2 = tgpu.wgmma_wait 0, %op : !tgpu.pending<!o> -> !o reads %p : !p
    tgpu.release %cv[%i] : !two
    scf.yield %m1, %l2, %o2 : !row, !row, !o
  } {tgpu.pipeline = #tgpu.pipeline<tma, stages = 2>}
  tgpu.store %r#2, %out : !o, !out
  tgpu.return
}

// As many as without a mask.
// CHECK-LABEL: tgpu.kernel @unmasked(
// CHECK: role "load" warps 12, 4 registers 32 {
// CHECK: role "compute" warps 0, 12 registers 160 {
// expected-remark @+1 {{roles: 4 warps load, 12 compute, with 160 registers a thread}}
tgpu.kernel @unmasked(%a: !g, %b: !g, %n: i32, %diagonal: i32, %out: !out) attributes {threads = 384 : i32, target = "sm_90a", warp_specialize = "producer"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c128 = arith.constant 128 : i32
  %q = tgpu.alloc_shared "Q" : !q
  %ks = tgpu.alloc_shared "K" : !ring
  %vs = tgpu.alloc_shared "V" : !ring
  %ck = tgpu.channel "K" {producers = 1 : i32, consumers = 12 : i32} : !two
  %cv = tgpu.channel "V" {producers = 1 : i32, consumers = 12 : i32} : !two
  %zero = arith.constant 0.0 : f32
  %inf = arith.constant 0xFF800000 : f32
  %none = tile.splat %inf : f32 -> !row
  %l0 = tile.splat %zero : f32 -> !row
  %o0 = tile.splat %zero : f32 -> !o
  %s00 = tile.splat %zero : f32 -> !s
  %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%m = %none, %l = %l0, %o = %o0) -> (!row, !row, !o) : i32 {
    tgpu.one_thread {
      tgpu.acquire %ck[%i] : !two
      tgpu.expect %ck[%i] bytes 16384 : !two
      %t = tile.slice %a[%i, %c0] sizes [128, 64] : !g, i32, i32 -> !t
      %f = tgpu.slot %ks[%i] : !ring -> !k
      tgpu.tma_load %t to %f on %ck[%i] {map = 0 : i32} : !t, !k, !two
    }
    tgpu.one_thread {
      tgpu.acquire %cv[%i] : !two
      tgpu.expect %cv[%i] bytes 16384 : !two
      %t = tile.slice %b[%i, %c0] sizes [128, 64] : !g, i32, i32 -> !t
      %f = tgpu.slot %vs[%i] : !ring -> !k
      tgpu.tma_load %t to %f on %cv[%i] {map = 1 : i32} : !t, !k, !two
    }
    tgpu.wait %ck[%i] : !two
    %k = tgpu.slot %ks[%i] : !ring -> !k
    tgpu.wgmma_fence
    %sp = tgpu.wgmma %q, %k, %s00 {transpose_b, accumulate = false, mma = #tgpu.mma<wgmma, 64, 128, 16, warps = 3, 1>} : !q, !k, !s -> !tgpu.pending<!s>
    tgpu.wgmma_commit
    %s0 = tgpu.wgmma_wait 0, %sp : !tgpu.pending<!s> -> !s
    tgpu.release %ck[%i] : !two
    %s = arith.negf %s0 : !s
    %max = tile.reduce <max> %s axis 1 : !s -> !row
    %m1 = arith.maxnumf %m, %max : !row
    %by = arith.subf %m, %m1 : !row
    %factor = math.exp2 %by : !row
    %base = tile.broadcast %m1 along [1] : !row -> !s
    %x = arith.subf %s, %base : !s
    %e = math.exp2 %x : !s
    %sum = tile.reduce <sum> %e axis 1 : !s -> !row
    %l1 = arith.mulf %l, %factor : !row
    %l2 = arith.addf %l1, %sum : !row
    %p = tile.convert %e : !s to !p
    %f = tile.broadcast %factor along [1] : !row -> !o
    %o1 = arith.mulf %o, %f : !o
    tgpu.wait %cv[%i] : !two
    %v = tgpu.slot %vs[%i] : !ring -> !k
    tgpu.wgmma_fence
    %op = tgpu.wgmma %p, %v, %o1 {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 3, 1>} : !p, !k, !o -> !tgpu.pending<!o>
    tgpu.wgmma_commit
    %o2 = tgpu.wgmma_wait 0, %op : !tgpu.pending<!o> -> !o reads %p : !p
    tgpu.release %cv[%i] : !two
    scf.yield %m1, %l2, %o2 : !row, !row, !o
  } {tgpu.pipeline = #tgpu.pipeline<tma, stages = 2>}
  tgpu.store %r#2, %out : !o, !out
  tgpu.return
}

// What the branch takes from outside of the loop lives in all iterations: 64 more.
// CHECK-LABEL: tgpu.kernel @kept(
// CHECK-NOT: tgpu.roles
// CHECK: tgpu.return
// expected-remark @+1 {{all warps have one role: 128 threads that load would leave too few registers to the others}}
tgpu.kernel @kept(%a: !g, %b: !g, %n: i32, %diagonal: i32, %kb: !kb, %out: !out) attributes {threads = 384 : i32, target = "sm_90a", warp_specialize = "producer"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c128 = arith.constant 128 : i32
  %q = tgpu.alloc_shared "Q" : !q
  %ks = tgpu.alloc_shared "K" : !ring
  %vs = tgpu.alloc_shared "V" : !ring
  %ck = tgpu.channel "K" {producers = 1 : i32, consumers = 12 : i32} : !two
  %cv = tgpu.channel "V" {producers = 1 : i32, consumers = 12 : i32} : !two
  %zero = arith.constant 0.0 : f32
  %inf = arith.constant 0xFF800000 : f32
  %none = tile.splat %inf : f32 -> !row
  %l0 = tile.splat %zero : f32 -> !row
  %o0 = tile.splat %zero : f32 -> !o
  %s00 = tile.splat %zero : f32 -> !s
  %kept = tgpu.local_load %kb : !kb -> !s
  %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%m = %none, %l = %l0, %o = %o0) -> (!row, !row, !o) : i32 {
    tgpu.one_thread {
      tgpu.acquire %ck[%i] : !two
      tgpu.expect %ck[%i] bytes 16384 : !two
      %t = tile.slice %a[%i, %c0] sizes [128, 64] : !g, i32, i32 -> !t
      %f = tgpu.slot %ks[%i] : !ring -> !k
      tgpu.tma_load %t to %f on %ck[%i] {map = 0 : i32} : !t, !k, !two
    }
    tgpu.one_thread {
      tgpu.acquire %cv[%i] : !two
      tgpu.expect %cv[%i] bytes 16384 : !two
      %t = tile.slice %b[%i, %c0] sizes [128, 64] : !g, i32, i32 -> !t
      %f = tgpu.slot %vs[%i] : !ring -> !k
      tgpu.tma_load %t to %f on %cv[%i] {map = 1 : i32} : !t, !k, !two
    }
    tgpu.wait %ck[%i] : !two
    %k = tgpu.slot %ks[%i] : !ring -> !k
    tgpu.wgmma_fence
    %sp = tgpu.wgmma %q, %k, %s00 {transpose_b, accumulate = false, mma = #tgpu.mma<wgmma, 64, 128, 16, warps = 3, 1>} : !q, !k, !s -> !tgpu.pending<!s>
    tgpu.wgmma_commit
    %s0 = tgpu.wgmma_wait 0, %sp : !tgpu.pending<!s> -> !s
    tgpu.release %ck[%i] : !two
    %at = arith.muli %i, %c128 : i32
    %edge = arith.cmpi sgt, %at, %diagonal : i32
    %s = scf.if %edge -> (!s) {
      %masked = arith.addf %s0, %kept : !s
      scf.yield %masked : !s
    } else {
      scf.yield %s0 : !s
    }
    %max = tile.reduce <max> %s axis 1 : !s -> !row
    %m1 = arith.maxnumf %m, %max : !row
    %by = arith.subf %m, %m1 : !row
    %factor = math.exp2 %by : !row
    %base = tile.broadcast %m1 along [1] : !row -> !s
    %x = arith.subf %s, %base : !s
    %e = math.exp2 %x : !s
    %sum = tile.reduce <sum> %e axis 1 : !s -> !row
    %l1 = arith.mulf %l, %factor : !row
    %l2 = arith.addf %l1, %sum : !row
    %p = tile.convert %e : !s to !p
    %f = tile.broadcast %factor along [1] : !row -> !o
    %o1 = arith.mulf %o, %f : !o
    tgpu.wait %cv[%i] : !two
    %v = tgpu.slot %vs[%i] : !ring -> !k
    tgpu.wgmma_fence
    %op = tgpu.wgmma %p, %v, %o1 {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 3, 1>} : !p, !k, !o -> !tgpu.pending<!o>
    tgpu.wgmma_commit
    %o2 = tgpu.wgmma_wait 0, %op : !tgpu.pending<!o> -> !o reads %p : !p
    tgpu.release %cv[%i] : !two
    scf.yield %m1, %l2, %o2 : !row, !row, !o
  } {tgpu.pipeline = #tgpu.pipeline<tma, stages = 2>}
  tgpu.store %r#2, %out : !o, !out
  tgpu.return
}
