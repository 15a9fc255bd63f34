// Zeros beyond the bounds of views, of which the products of an attention loop need both: each stands in the step of the product that
// reads its slot, right in front of it, so that neither keeps that product from being issued nor its slot from being awaited late.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-plan-schedule))' | FileCheck %s

#acc = #tgpu.fragment<"64x128 reg 0,1:8,0:0,8:0,16:0,32:0,64 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">
#row = #tgpu.fragment<"64 reg 8 lane 0:0:1:2:4 warp 16:32">
!q = !tgpu.smem<64x128xf16, #tgpu.shared<"64x128 b16 contig 1 panel 64 swizzle 128">>
!k = !tgpu.smem<128x128xf16, #tgpu.shared<"128x128 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<2x128x128xf16, #tgpu.shared<"2x128x128 b16 contig 2 panel 64 swizzle 128">>
!acc = tensor<64x128xf32, #acc>
!p = tensor<64x128xf16, #acc>
!row = tensor<64xf32, #row>
!g = !tile.global<?x?xf16>
!t = !tile.global<128x128xf16>
!two = !tgpu.channel<2>
// CHECK-LABEL: tgpu.kernel @attention
// CHECK: role "compute"
// CHECK: tgpu.wait %[[K:.*]][%{{.*}}] {tgpu.schedule = #tgpu.stage<0, [[#KWAIT:]]>}
// CHECK: tgpu.zero_beyond
// CHECK: } {tgpu.schedule = #tgpu.stage<0, [[#KZERO:KWAIT + 1]]>}
// CHECK: tgpu.wgmma_fence {tgpu.schedule = #tgpu.stage<0, [[#KZERO + 1]]>}
// CHECK: tgpu.wgmma {{.*}} tgpu.schedule = #tgpu.stage<0, [[#KZERO + 2]]>
// CHECK: math.exp2 {{.*}} tensor<64xf32
// CHECK: math.exp2 {{.*}} {tgpu.schedule = #tgpu.stage<0, [[#STREAM:]]>}
// CHECK: tgpu.wait %[[V:.*]][%{{.*}}] {tgpu.schedule = #tgpu.stage<0, [[#STREAM]], hold = 37>}
// CHECK: tgpu.zero_beyond
// CHECK: } {tgpu.schedule = #tgpu.stage<1, [[#VZERO:KZERO + 4]]>}
// CHECK: tgpu.wgmma_fence {tgpu.schedule = #tgpu.stage<1, [[#VZERO + 1]]>}
// CHECK: tgpu.wgmma {{.*}} tgpu.schedule = #tgpu.stage<1, [[#VZERO + 2]]>
// CHECK: tgpu.wgmma_wait {{.*}} {tgpu.schedule = #tgpu.stage<1, [[#STREAM]], hold = 37>}
tgpu.kernel @attention(%a: !g, %b: !g, %n: i32, %edge: i32, %rest: i32, %out: !tile.global<64x128xf32>) attributes {
    threads = 128 : i32, block_threads = 256 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %all = arith.constant 128 : i32
  %q = tgpu.alloc_shared "Q" : !q
  %ks = tgpu.alloc_shared "K" : !ring
  %vs = tgpu.alloc_shared "V" : !ring
  %ck = tgpu.channel "K" {producers = 1 : i32, consumers = 4 : i32} : !two
  %cv = tgpu.channel "V" {producers = 1 : i32, consumers = 4 : i32} : !two
  tgpu.roles role "load" warps 4, 4 registers 0 {
    scf.for %i = %c0 to %n step %c1 : i32 {
      tgpu.one_thread attributes {warp = 4 : i32} {
        tgpu.acquire %ck[%i] : !two
        tgpu.expect %ck[%i] bytes 32768 : !two
        %t = tile.slice %a[%i, %c0] sizes [128, 128] : !g, i32, i32 -> !t
        %s = tgpu.slot %ks[%i] : !ring -> !k
        tgpu.tma_load %t to %s on %ck[%i] {map = 0 : i32} : !t, !k, !two
      }
      tgpu.one_thread attributes {warp = 4 : i32} {
        tgpu.acquire %cv[%i] : !two
        tgpu.expect %cv[%i] bytes 32768 : !two
        %t = tile.slice %b[%i, %c0] sizes [128, 128] : !g, i32, i32 -> !t
        %s = tgpu.slot %vs[%i] : !ring -> !k
        tgpu.tma_load %t to %s on %cv[%i] {map = 1 : i32} : !t, !k, !two
      }
    } {tgpu.pipeline = #tgpu.pipeline<tma, stages = 2>}
  } role "compute" warps 0, 4 registers 0 {
    %zero = arith.constant 0.0 : f32
    %none = tile.splat %zero : f32 -> !row
    %o0 = tile.splat %zero : f32 -> !acc
    %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%m = %none, %l = %none, %o = %o0) -> (!row, !row, !acc) : i32 {
      tgpu.wait %ck[%i] : !two
      %k = tgpu.slot %ks[%i] : !ring -> !k
      %part_k = arith.cmpi sge, %i, %edge : i32
      scf.if %part_k {
        tgpu.zero_beyond %k from(%c0, %c0) to(%rest, %all) : !k
      }
      tgpu.wgmma_fence
      %sp = tgpu.wgmma %q, %k, %o0 {transpose_b, accumulate = false, mma = #tgpu.mma<wgmma, 64, 128, 16, warps = 1, 1>} : !q, !k, !acc -> !tgpu.pending<!acc>
      tgpu.wgmma_commit
      %s0 = tgpu.wgmma_wait 0, %sp : !tgpu.pending<!acc> -> !acc
      tgpu.release %ck[%i] : !two
      %max = tile.reduce <max> %s0 axis 1 : !acc -> !row
      %m1 = arith.maxnumf %m, %max : !row
      %by = arith.subf %m, %m1 : !row
      %factor = math.exp2 %by : !row
      %base = tile.broadcast %m1 along [1] : !row -> !acc
      %x = arith.subf %s0, %base : !acc
      %e = math.exp2 %x : !acc
      %sum = tile.reduce <sum> %e axis 1 : !acc -> !row
      %l1 = arith.mulf %l, %factor : !row
      %l2 = arith.addf %l1, %sum : !row
      %p = tile.convert %e : !acc to !p
      %f = tile.broadcast %factor along [1] : !row -> !acc
      %o1 = arith.mulf %o, %f : !acc
      tgpu.wait %cv[%i] : !two
      %v = tgpu.slot %vs[%i] : !ring -> !k
      %part_v = arith.cmpi sge, %i, %edge : i32
      scf.if %part_v {
        tgpu.zero_beyond %v from(%c0, %c0) to(%rest, %all) : !k
      }
      tgpu.wgmma_fence
      %op = tgpu.wgmma %p, %v, %o1 {mma = #tgpu.mma<wgmma, 64, 128, 16, warps = 1, 1>} : !p, !k, !acc -> !tgpu.pending<!acc>
      tgpu.wgmma_commit
      %o2 = tgpu.wgmma_wait 0, %op : !tgpu.pending<!acc> -> !acc reads %p : !p
      tgpu.release %cv[%i] : !two
      scf.yield %m1, %l2, %o2 : !row, !row, !acc
    } {tgpu.pipeline = #tgpu.pipeline<tma, stages = 2>}
    tgpu.store %r#2, %out : !acc, !tile.global<64x128xf32>
  }
  tgpu.return
}
