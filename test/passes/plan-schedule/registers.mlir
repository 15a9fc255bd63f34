// Where registers do not hold what a schedule keeps alive, it gives up first the iteration behind, then the order.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-plan-schedule))' -verify-diagnostics -split-input-file | FileCheck %s

#acc = #tgpu.fragment<"64x128 reg 0,1:8,0:0,8:0,16:0,32:0,64 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">
!q = !tgpu.smem<64x128xf16, #tgpu.shared<"64x128 b16 contig 1 panel 64 swizzle 128">>
!k = !tgpu.smem<128x128xf16, #tgpu.shared<"128x128 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<2x128x128xf16, #tgpu.shared<"2x128x128 b16 contig 2 panel 64 swizzle 128">>
!acc = tensor<64x128xf32, #acc>
!p = tensor<64x128xf16, #acc>
!g = !tile.global<?x?xf16>
!t = !tile.global<128x128xf16>
!two = !tgpu.channel<2>
// Scores and probabilities of two iterations, and the sum: the second product stays in its iteration.
// CHECK-LABEL: tgpu.kernel @behind
// CHECK: tgpu.wgmma_wait {{.*}} {tgpu.schedule = #tgpu.stage<0, 4>}
// CHECK: math.exp2 {{.*}} {tgpu.schedule = #tgpu.stage<0, 7>}
// CHECK: tile.convert {{.*}} {tgpu.schedule = #tgpu.stage<0, 8>}
// CHECK: tgpu.wgmma_fence {tgpu.schedule = #tgpu.stage<0, 10>}
// CHECK: tgpu.wgmma_wait {{.*}} {tgpu.schedule = #tgpu.stage<0, 13>}
tgpu.kernel @behind(%a: !g, %b: !g, %n: i32, %out: !tile.global<64x128xf32>) attributes {threads = 128 : i32, target = "sm_90a", max_registers = 184 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant 0.0 : f32
  %z = tile.splat %zero : f32 -> !acc
  %q = tgpu.alloc_shared "Q" : !q
  %ks = tgpu.alloc_shared "K" : !ring
  %vs = tgpu.alloc_shared "V" : !ring
  %ck = tgpu.channel "K" {producers = 1 : i32, consumers = 4 : i32} : !two
  %cv = tgpu.channel "V" {producers = 1 : i32, consumers = 4 : i32} : !two
  // expected-remark @+1 {{products keep more of their order: another would take 186 of 184 registers}}
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%o = %z) -> (!acc) : i32 {
    tgpu.one_thread {
      tgpu.acquire %ck[%i] : !two
      tgpu.expect %ck[%i] bytes 32768 : !two
      %t = tile.slice %a[%i, %c0] sizes [128, 128] : !g, i32, i32 -> !t
      %s = tgpu.slot %ks[%i] : !ring -> !k
      tgpu.tma_load %t to %s on %ck[%i] {map = 0 : i32} : !t, !k, !two
    }
    tgpu.one_thread {
      tgpu.acquire %cv[%i] : !two
      tgpu.expect %cv[%i] bytes 32768 : !two
      %t = tile.slice %b[%i, %c0] sizes [128, 128] : !g, i32, i32 -> !t
      %s = tgpu.slot %vs[%i] : !ring -> !k
      tgpu.tma_load %t to %s on %cv[%i] {map = 1 : i32} : !t, !k, !two
    }
    tgpu.wait %ck[%i] : !two
    %k = tgpu.slot %ks[%i] : !ring -> !k
    tgpu.wgmma_fence
    %sp = tgpu.wgmma %q, %k, %z {transpose_b, accumulate = false, mma = #tgpu.mma<wgmma, 64, 128, 16, warps = 1, 1>} : !q, !k, !acc -> !tgpu.pending<!acc>
    tgpu.wgmma_commit
    %s = tgpu.wgmma_wait 0, %sp : !tgpu.pending<!acc> -> !acc
    tgpu.release %ck[%i] : !two
    %e = math.exp2 %s : !acc
    %p = tile.convert %e : !acc to !p
    tgpu.wait %cv[%i] : !two
    %v = tgpu.slot %vs[%i] : !ring -> !k
    tgpu.wgmma_fence
    %op = tgpu.wgmma %p, %v, %o {mma = #tgpu.mma<wgmma, 64, 128, 16, warps = 1, 1>} : !p, !k, !acc -> !tgpu.pending<!acc>
    tgpu.wgmma_commit
    %o2 = tgpu.wgmma_wait 0, %op : !tgpu.pending<!acc> -> !acc reads %p : !p
    tgpu.release %cv[%i] : !two
    scf.yield %o2 : !acc
  } {tgpu.pipeline = #tgpu.pipeline<tma, stages = 2>}
  tgpu.store %r, %out : !acc, !tile.global<64x128xf32>
  tgpu.return
}

// -----

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
!out = !tile.global<64x64xf32>
!two = !tgpu.channel<2>
// Two products that do not need each other are issued one behind the other where there is room for both sums.
// CHECK-LABEL: tgpu.kernel @both
// CHECK: tgpu.wgmma {{.*}} tgpu.schedule = #tgpu.stage<0, 2>
// CHECK: tgpu.wgmma_wait {{.*}} {tgpu.schedule = #tgpu.stage<0, 7>}
// CHECK: tgpu.store {{.*}} {tgpu.schedule = #tgpu.stage<0, 8>}
// CHECK: tgpu.wgmma {{.*}} tgpu.schedule = #tgpu.stage<0, 5>
// CHECK: tgpu.wgmma_wait {{.*}} {tgpu.schedule = #tgpu.stage<0, 9>}
tgpu.kernel @both(%a: !g, %n: i32, %o: !out, %u: !out) attributes {threads = 128 : i32, target = "sm_90a", max_registers = 90 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant 0.0 : f32
  %z = tile.splat %zero : f32 -> !acc
  %q = tgpu.alloc_shared "Q" : !s
  %as = tgpu.alloc_shared "A" : !ring
  %ch = tgpu.channel "A" {producers = 1 : i32, consumers = 4 : i32} : !two
  scf.for %i = %c0 to %n step %c1 : i32 {
    tgpu.one_thread {
      tgpu.acquire %ch[%i] : !two
      tgpu.expect %ch[%i] bytes 8192 : !two
      %t = tile.slice %a[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
      %s = tgpu.slot %as[%i] : !ring -> !s
      tgpu.tma_load %t to %s on %ch[%i] {map = 0 : i32} : !t, !s, !two
    }
    tgpu.wait %ch[%i] : !two
    %x = tgpu.slot %as[%i] : !ring -> !s
    tgpu.wgmma_fence
    %p = tgpu.wgmma %q, %x, %z {accumulate = false, mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !s, !s, !acc -> !tgpu.pending<!acc>
    tgpu.wgmma_commit
    %d = tgpu.wgmma_wait 0, %p : !tgpu.pending<!acc> -> !acc
    tgpu.store %d, %o : !acc, !out
    tgpu.wgmma_fence
    %r = tgpu.wgmma %x, %q, %z {accumulate = false, mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !s, !s, !acc -> !tgpu.pending<!acc>
    tgpu.wgmma_commit
    %e = tgpu.wgmma_wait 0, %r : !tgpu.pending<!acc> -> !acc
    tgpu.release %ch[%i] : !two
    tgpu.store %e, %u : !acc, !out
  } {tgpu.pipeline = #tgpu.pipeline<tma, stages = 2>}
  tgpu.return
}

// -----

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
!out = !tile.global<64x64xf32>
!two = !tgpu.channel<2>
// Else the first is stored before the second begins, as the program says.
// CHECK-LABEL: tgpu.kernel @one_by_one
// CHECK: tgpu.wgmma {{.*}} tgpu.schedule = #tgpu.stage<0, 2>
// CHECK: tgpu.wgmma_wait {{.*}} {tgpu.schedule = #tgpu.stage<0, 4>}
// CHECK: tgpu.store {{.*}} {tgpu.schedule = #tgpu.stage<0, 5>}
// CHECK: tgpu.wgmma {{.*}} tgpu.schedule = #tgpu.stage<0, 7>
// CHECK: tgpu.wgmma_wait {{.*}} {tgpu.schedule = #tgpu.stage<0, 9>}
tgpu.kernel @one_by_one(%a: !g, %n: i32, %o: !out, %u: !out) attributes {threads = 128 : i32, target = "sm_90a", max_registers = 88 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant 0.0 : f32
  %z = tile.splat %zero : f32 -> !acc
  %q = tgpu.alloc_shared "Q" : !s
  %as = tgpu.alloc_shared "A" : !ring
  %ch = tgpu.channel "A" {producers = 1 : i32, consumers = 4 : i32} : !two
  // expected-remark @+1 {{products keep more of their order: another would take 90 of 88 registers}}
  scf.for %i = %c0 to %n step %c1 : i32 {
    tgpu.one_thread {
      tgpu.acquire %ch[%i] : !two
      tgpu.expect %ch[%i] bytes 8192 : !two
      %t = tile.slice %a[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
      %s = tgpu.slot %as[%i] : !ring -> !s
      tgpu.tma_load %t to %s on %ch[%i] {map = 0 : i32} : !t, !s, !two
    }
    tgpu.wait %ch[%i] : !two
    %x = tgpu.slot %as[%i] : !ring -> !s
    tgpu.wgmma_fence
    %p = tgpu.wgmma %q, %x, %z {accumulate = false, mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !s, !s, !acc -> !tgpu.pending<!acc>
    tgpu.wgmma_commit
    %d = tgpu.wgmma_wait 0, %p : !tgpu.pending<!acc> -> !acc
    tgpu.store %d, %o : !acc, !out
    tgpu.wgmma_fence
    %r = tgpu.wgmma %x, %q, %z {accumulate = false, mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !s, !s, !acc -> !tgpu.pending<!acc>
    tgpu.wgmma_commit
    %e = tgpu.wgmma_wait 0, %r : !tgpu.pending<!acc> -> !acc
    tgpu.release %ch[%i] : !two
    tgpu.store %e, %u : !acc, !out
  } {tgpu.pipeline = #tgpu.pipeline<tma, stages = 2>}
  tgpu.return
}
