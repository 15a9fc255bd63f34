// Operations stand in the order of the schedule; scalars, slots and the like in front of what uses them.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-expand-schedule))' | FileCheck %s

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
!c = !tgpu.channel<2>
// CHECK-LABEL: tgpu.kernel @reversed
// CHECK: %[[X:.*]] = tgpu.channel "X"
// CHECK: %[[Y:.*]] = tgpu.channel "Y"
// Before the loop all of the first iteration comes before the second one.
// CHECK: tgpu.acquire %[[Y]][%c0
// CHECK: tgpu.acquire %[[X]][%c0
// CHECK: tgpu.acquire %[[Y]][%c1
// CHECK: tgpu.acquire %[[X]][%c1
// CHECK: scf.for %[[J:[a-z0-9]+]] =
// CHECK-NEXT: tgpu.wait %[[Y]][%[[J]]]
// CHECK-NEXT: tgpu.slot
// CHECK-NEXT: tgpu.local_load
// CHECK-NEXT: tgpu.release %[[Y]]
// CHECK: tgpu.acquire %[[Y]]
// CHECK: tgpu.wait %[[X]][%[[J]]]
// CHECK-NEXT: tgpu.slot
// CHECK-NEXT: tgpu.local_load
// CHECK-NEXT: tgpu.release %[[X]]
// CHECK: tgpu.acquire %[[X]]
// CHECK: tgpu.store
// CHECK: tgpu.store
tgpu.kernel @reversed(%g: !g, %n: i32, %u: !t) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %xs = tgpu.alloc_shared "X" : !ring
  %ys = tgpu.alloc_shared "Y" : !ring
  %cx = tgpu.channel "X" {producers = 1 : i32, consumers = 4 : i32} : !c
  %cy = tgpu.channel "Y" {producers = 1 : i32, consumers = 4 : i32} : !c
  scf.for %i = %c0 to %n step %c1 : i32 {
    tgpu.one_thread attributes {tgpu.schedule = #tgpu.stage<-2, 7>} {
      tgpu.acquire %cx[%i] : !c
      tgpu.expect %cx[%i] bytes 8192 : !c
      %t = tile.slice %g[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
      %f = tgpu.slot %xs[%i] : !ring -> !s
      tgpu.tma_load %t to %f on %cx[%i] {map = 0 : i32} : !t, !s, !c
    }
    tgpu.one_thread attributes {tgpu.schedule = #tgpu.stage<-2, 3>} {
      tgpu.acquire %cy[%i] : !c
      tgpu.expect %cy[%i] bytes 8192 : !c
      %t = tile.slice %g[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
      %f = tgpu.slot %ys[%i] : !ring -> !s
      tgpu.tma_load %t to %f on %cy[%i] {map = 1 : i32} : !t, !s, !c
    }
    tgpu.wait %cx[%i] {tgpu.schedule = #tgpu.stage<0, 4>} : !c
    %x = tgpu.slot %xs[%i] : !ring -> !s
    %a = tgpu.local_load %x {tgpu.schedule = #tgpu.stage<0, 5>} : !s -> tensor<64x64xf16>
    tgpu.release %cx[%i] {tgpu.schedule = #tgpu.stage<0, 6>} : !c
    tgpu.wait %cy[%i] {tgpu.schedule = #tgpu.stage<0, 0>} : !c
    %y = tgpu.slot %ys[%i] : !ring -> !s
    %b = tgpu.local_load %y {tgpu.schedule = #tgpu.stage<0, 1>} : !s -> tensor<64x64xf16>
    tgpu.release %cy[%i] {tgpu.schedule = #tgpu.stage<0, 2>} : !c
    tgpu.store %a, %u {bytes = 2 : i32, tgpu.schedule = #tgpu.stage<0, 8>} : tensor<64x64xf16>, !t
    tgpu.store %b, %u {bytes = 2 : i32, tgpu.schedule = #tgpu.stage<0, 9>} : tensor<64x64xf16>, !t
  } {tgpu.pipeline = #tgpu.pipeline<tma, stages = 2>}
  tgpu.return
}
