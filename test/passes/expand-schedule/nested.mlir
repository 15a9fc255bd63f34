// A loop with a schedule inside of another one: its fills start anew in each step, at the position that the outer loop carries.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-expand-schedule))' | FileCheck %s

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
!c = !tgpu.channel<2>
// CHECK-LABEL: tgpu.kernel @nested
// CHECK-SAME: %[[N:[a-z0-9]+]]: i32
// CHECK: %[[U:.*]] = tgpu.channel "U"
// CHECK: %[[S:.*]] = tgpu.channel "S"
// CHECK-COUNT-2: tgpu.acquire %[[U]]
// CHECK: scf.for %[[X:[a-z0-9]+]] = {{.*}} iter_args(%[[P:.*]] = %{{.*}}) -> (i32)
// CHECK: scf.if
// CHECK: %[[FIRST:.*]] = arith.addi %[[P]], %c0
// CHECK: tgpu.acquire %[[S]][%[[FIRST]]]
// CHECK: scf.for %[[J:[a-z0-9]+]] =
// CHECK: %[[POS:.*]] = arith.addi %[[P]], %[[J]]
// CHECK-NEXT: tgpu.wait %[[S]][%[[POS]]]
// CHECK-NEXT: tgpu.release %[[S]][%[[POS]]]
// CHECK: tgpu.acquire %[[S]]
// CHECK: tgpu.wait %[[U]][%[[X]]]
// CHECK-NEXT: tgpu.release %[[U]][%[[X]]]
// CHECK: tgpu.acquire %[[U]]
// CHECK: %[[END:.*]] = arith.addi %[[P]], %[[N]]
// CHECK: scf.yield %[[END]]
// CHECK-NOT: tgpu.pipeline
tgpu.kernel @nested(%g: !g, %n: i32, %z: i32) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %us = tgpu.alloc_shared "U" : !ring
  %ss = tgpu.alloc_shared "S" : !ring
  %cu = tgpu.channel "U" {producers = 1 : i32, consumers = 4 : i32} : !c
  %cs = tgpu.channel "S" {producers = 1 : i32, consumers = 4 : i32} : !c
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%p = %z) -> (i32) : i32 {
    tgpu.one_thread attributes {tgpu.schedule = #tgpu.stage<-2, 4>} {
      tgpu.acquire %cu[%i] : !c
      tgpu.expect %cu[%i] bytes 8192 : !c
      %t = tile.slice %g[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
      %f = tgpu.slot %us[%i] : !ring -> !s
      tgpu.tma_load %t to %f on %cu[%i] {map = 0 : i32} : !t, !s, !c
    }
    scf.for %j = %c0 to %n step %c1 : i32 {
      %q = arith.addi %p, %j : i32
      tgpu.one_thread attributes {tgpu.schedule = #tgpu.stage<-2, 2>} {
        tgpu.acquire %cs[%q] : !c
        tgpu.expect %cs[%q] bytes 8192 : !c
        %t = tile.slice %g[%c0, %j] sizes [64, 64] : !g, i32, i32 -> !t
        %f = tgpu.slot %ss[%q] : !ring -> !s
        tgpu.tma_load %t to %f on %cs[%q] {map = 0 : i32} : !t, !s, !c
      }
      tgpu.wait %cs[%q] {tgpu.schedule = #tgpu.stage<0, 0>} : !c
      tgpu.release %cs[%q] {tgpu.schedule = #tgpu.stage<0, 1>} : !c
    } {tgpu.pipeline = #tgpu.pipeline<tma, stages = 2>, tgpu.schedule = #tgpu.stage<0, 0>}
    tgpu.wait %cu[%i] {tgpu.schedule = #tgpu.stage<0, 1>} : !c
    tgpu.release %cu[%i] {tgpu.schedule = #tgpu.stage<0, 2>} : !c
    %end = arith.addi %p, %n {tgpu.schedule = #tgpu.stage<0, 5>} : i32
    scf.yield %end : i32
  } {tgpu.pipeline = #tgpu.pipeline<tma, stages = 2>}
  tgpu.return
}
