// A product that runs an iteration behind, and waits inside of element-wise work: where there are iterations, a first step without the product,
// steps of both, and a last one of the product alone.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-expand-schedule))' | FileCheck %s

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
#acc = #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">
!acc = tensor<64x64xf32, #acc>
!p = tensor<64x64xf16, #acc>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
!c = !tgpu.channel<2>
// CHECK-LABEL: tgpu.kernel @attention
// CHECK-SAME: %[[N:[a-z0-9]+]]: i32, %[[Z:[a-z0-9]+]]: tensor
// CHECK: %[[Q:.*]] = tgpu.alloc_shared "Q"
// CHECK: %[[K:.*]] = tgpu.channel "K"
// CHECK: %[[V:.*]] = tgpu.channel "V"
// Slots of K are filled two iterations ahead, slots of V one.
// CHECK: tgpu.acquire %[[K]]
// CHECK: tgpu.acquire %[[V]]
// CHECK: tgpu.acquire %[[K]]
// CHECK-NOT: tgpu.acquire
// CHECK: %[[ANY:.*]] = arith.cmpi sgt, %[[N]], %c0
// CHECK: %[[RESULT:.*]] = scf.if %[[ANY]]
// The first step: its product is the only one in flight, and the stream is interrupted by the wait for a slot alone.
// CHECK: tgpu.wait %[[K]]
// CHECK: tgpu.wgmma_fence
// CHECK: %[[P0:.*]] = tgpu.wgmma %[[Q]]
// CHECK: tgpu.wgmma_commit
// CHECK-NEXT: %[[S0:.*]] = tgpu.wgmma_wait 0, %[[P0]]
// CHECK: tgpu.release %[[K]]
// CHECK: %[[E0:.*]] = tgpu.stream {
// CHECK-NEXT: %[[X0:.*]] = math.exp2 %[[S0]]
// CHECK-NEXT: tgpu.yield %[[X0]]
// CHECK-NEXT: } at 37 {
// CHECK-NEXT: tgpu.wait %[[V]]
// CHECK-NEXT: }
// CHECK: %[[F0:.*]] = tile.convert %[[E0]]
// CHECK: %[[O0:.*]] = arith.negf %[[Z]]
// CHECK: %[[L:.*]]:2 = scf.for %[[J:[a-z0-9]+]] = %c1{{.*}} to %[[N]] {{.*}} iter_args(%[[F:.*]] = %[[F0]], %[[O:.*]] = %[[O0]])
// One fence is enough for both products. The wait for the older one leaves the other in flight, whose sum passes through.
// CHECK: tgpu.wait %[[K]][%[[J]]]
// CHECK: tgpu.wgmma_fence
// CHECK-NEXT: %[[P:.*]] = tgpu.wgmma %[[Q]]
// CHECK-NEXT: tgpu.wgmma_commit
// CHECK: %[[VS:.*]] = tgpu.slot %{{.*}}[%[[BEFORE:.*]]]
// CHECK-NOT: tgpu.wgmma_fence
// CHECK: %[[OP:.*]] = tgpu.wgmma %[[F]], %[[VS]], %[[O]]
// CHECK-NEXT: tgpu.wgmma_commit
// CHECK-NEXT: %[[S:.*]]:2 = tgpu.wgmma_wait 1, %[[P]], %[[OP]]
// CHECK: tgpu.release %[[K]][%[[J]]]
// CHECK: tgpu.acquire %[[K]]
// CHECK: %[[E:.*]]:2 = tgpu.stream {
// CHECK-NEXT: %[[X:.*]] = math.exp2 %[[S]]#0
// CHECK-NEXT: tgpu.yield %[[X]]
// CHECK-NEXT: } at 37 {
// CHECK-NEXT: tgpu.wait %[[V]][%[[J]]]
// CHECK-NEXT: %[[D:.*]] = tgpu.wgmma_wait 0, %[[S]]#1 {{.*}} reads %[[F]]
// CHECK-NEXT: tgpu.release %[[V]][%{{.*}}]
// CHECK-NEXT: tgpu.yield %[[D]]
// CHECK: tgpu.acquire %[[V]]
// CHECK: %[[FN:.*]] = tile.convert %[[E]]#0
// CHECK: %[[ON:.*]] = arith.negf %[[E]]#1
// CHECK: scf.yield %[[FN]], %[[ON]]
// The last one, without a stream.
// CHECK-NOT: math.exp2
// CHECK: tgpu.wgmma_fence
// CHECK-NEXT: %[[PL:.*]] = tgpu.wgmma %[[L]]#0, %{{.*}}, %[[L]]#1
// CHECK-NEXT: tgpu.wgmma_commit
// CHECK-NEXT: %[[DL:.*]] = tgpu.wgmma_wait 0, %[[PL]] {{.*}} reads %[[L]]#0
// CHECK: tgpu.release %[[V]]
// CHECK-NEXT: scf.yield %[[DL]]
// CHECK-NEXT: } else {
// CHECK-NEXT: scf.yield %[[Z]]
// CHECK: tgpu.store %[[RESULT]]
tgpu.kernel @attention(%g: !g, %n: i32, %z: !acc, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %q = tgpu.alloc_shared "Q" : !s
  %ks = tgpu.alloc_shared "K" : !ring
  %vs = tgpu.alloc_shared "V" : !ring
  %ck = tgpu.channel "K" {producers = 1 : i32, consumers = 4 : i32} : !c
  %cv = tgpu.channel "V" {producers = 1 : i32, consumers = 4 : i32} : !c
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%o0 = %z) -> (!acc) : i32 {
    tgpu.one_thread attributes {tgpu.schedule = #tgpu.stage<-2, 9>} {
      tgpu.acquire %ck[%i] : !c
      tgpu.expect %ck[%i] bytes 8192 : !c
      %t = tile.slice %g[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
      %f = tgpu.slot %ks[%i] : !ring -> !s
      tgpu.tma_load %t to %f on %ck[%i] {map = 0 : i32} : !t, !s, !c
    }
    tgpu.one_thread attributes {tgpu.schedule = #tgpu.stage<-1, 11>} {
      tgpu.acquire %cv[%i] : !c
      tgpu.expect %cv[%i] bytes 8192 : !c
      %t = tile.slice %g[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
      %f = tgpu.slot %vs[%i] : !ring -> !s
      tgpu.tma_load %t to %f on %cv[%i] {map = 1 : i32} : !t, !s, !c
    }
    tgpu.wait %ck[%i] {tgpu.schedule = #tgpu.stage<0, 0>} : !c
    %k = tgpu.slot %ks[%i] : !ring -> !s
    tgpu.wgmma_fence {tgpu.schedule = #tgpu.stage<0, 1>}
    %sp = tgpu.wgmma %q, %k, %z {transpose_b, accumulate = false, mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>, tgpu.schedule = #tgpu.stage<0, 2>} : !s, !s, !acc -> !tgpu.pending<!acc>
    tgpu.wgmma_commit {tgpu.schedule = #tgpu.stage<0, 3>}
    %s = tgpu.wgmma_wait 0, %sp : !tgpu.pending<!acc> -> !acc {tgpu.schedule = #tgpu.stage<0, 7>}
    tgpu.release %ck[%i] {tgpu.schedule = #tgpu.stage<0, 8>} : !c
    %e = math.exp2 %s {tgpu.schedule = #tgpu.stage<0, 10>} : !acc
    %p = tile.convert %e {tgpu.schedule = #tgpu.stage<0, 12>} : !acc to !p
    %o1 = arith.negf %o0 {tgpu.schedule = #tgpu.stage<0, 13>} : !acc
    tgpu.wait %cv[%i] {tgpu.schedule = #tgpu.stage<0, 10, hold = 37>} : !c
    %v = tgpu.slot %vs[%i] : !ring -> !s
    tgpu.wgmma_fence {tgpu.schedule = #tgpu.stage<1, 4>}
    %op = tgpu.wgmma %p, %v, %o1 {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>, tgpu.schedule = #tgpu.stage<1, 5>} : !p, !s, !acc -> !tgpu.pending<!acc>
    tgpu.wgmma_commit {tgpu.schedule = #tgpu.stage<1, 6>}
    %d = tgpu.wgmma_wait 0, %op : !tgpu.pending<!acc> -> !acc reads %p : !p {tgpu.schedule = #tgpu.stage<1, 10, hold = 37>}
    tgpu.release %cv[%i] {tgpu.schedule = #tgpu.stage<1, 10, hold = 37>} : !c
    scf.yield %d : !acc
  } {tgpu.pipeline = #tgpu.pipeline<tma, stages = 2>}
  tgpu.store %r, %o : !acc, !tile.global<64x64xf32>
  tgpu.return
}
