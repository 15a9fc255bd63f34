// A product that is waited for an iteration later: two are in flight, the second goes on with the first one's sum. Nothing is taken out of
// the loop, so that the sum stays in its registers; what the wait lets go is guarded, and so is what runs ahead.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-expand-schedule))' | FileCheck %s

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<3x64x64xf16, #tgpu.shared<"3x64x64 b16 contig 2 panel 64 swizzle 128">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
!c = !tgpu.channel<3>
// CHECK-LABEL: tgpu.kernel @in_flight
// CHECK-SAME: %[[N:[a-z0-9]+]]: i32, %[[Z:[a-z0-9]+]]: tensor
// CHECK: %[[RING:.*]] = tgpu.alloc_shared
// CHECK: %[[CH:.*]] = tgpu.channel
// Two fills ahead.
// CHECK: %[[ANY:.*]] = arith.cmpi slt, %[[FIRST:.*]], %[[N]]
// CHECK: scf.if %[[ANY]] {
// CHECK: tgpu.acquire %[[CH]][%[[FIRST]]]
// CHECK: tgpu.tma_load
// CHECK: %[[TWO:.*]] = arith.cmpi slt, %[[SECOND:.*]], %[[N]]
// CHECK: scf.if %[[TWO]] {
// CHECK: tgpu.acquire %[[CH]][%[[SECOND]]]
// CHECK: tgpu.tma_load
// CHECK: %[[BEGIN:.*]] = tgpu.wgmma_begin %[[Z]]
// CHECK: %[[R:.*]] = scf.for %[[J:[a-z0-9]+]] = %c0{{.*}} to %[[N]] {{.*}} iter_args(%[[C:.*]] = %[[BEGIN]])
// CHECK-NEXT: tgpu.wait %[[CH]][%[[J]]]
// CHECK-NEXT: %[[SLOT:.*]] = tgpu.slot %[[RING]][%[[J]]]
// CHECK-NEXT: tgpu.wgmma_fence
// CHECK-NEXT: %[[P:.*]] = tgpu.wgmma %[[SLOT]], %[[SLOT]], %[[C]]
// CHECK-NEXT: tgpu.wgmma_commit
// CHECK-NEXT: %[[W:.*]] = tgpu.wgmma_wait 1, %[[P]]
// CHECK: %[[BEFORE:.*]] = arith.cmpi sgt, %[[J]], %c0
// CHECK: scf.if %[[BEFORE]] {
// CHECK: %[[LAST:.*]] = arith.addi %[[J]], %c-1
// CHECK: tgpu.release %[[CH]][%[[LAST]]]
// CHECK: %[[NEXT:.*]] = arith.addi %[[J]], %c2
// CHECK: %[[MORE:.*]] = arith.cmpi slt, %[[NEXT]], %[[N]]
// CHECK: scf.if %[[MORE]] {
// CHECK: tgpu.acquire %[[CH]][%[[NEXT]]]
// CHECK: scf.yield %[[W]]
// CHECK: %[[DONE:.*]] = tgpu.wgmma_wait 0, %[[R]]
// CHECK: %[[SOME:.*]] = arith.cmpi sgt, %[[N]], %c0
// CHECK: scf.if %[[SOME]] {
// CHECK: %[[END:.*]] = arith.addi %[[N]], %c-1
// CHECK: tgpu.release %[[CH]][%[[END]]]
// CHECK: tgpu.store %[[DONE]]
// CHECK-NOT: tgpu.schedule
tgpu.kernel @in_flight(%g: !g, %n: i32, %z: !acc, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
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
    %d = tgpu.wgmma_wait 0, %p : !tgpu.pending<!acc> -> !acc {tgpu.schedule = #tgpu.stage<1, 4>}
    tgpu.release %cs[%i] {tgpu.schedule = #tgpu.stage<1, 5>} : !c
    scf.yield %d : !acc
  } {tgpu.pipeline = #tgpu.pipeline<tma, stages = 3>}
  tgpu.store %r, %o : !acc, !tile.global<64x64xf32>
  tgpu.return
}
