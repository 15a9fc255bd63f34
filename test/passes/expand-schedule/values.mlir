// Values that are used in a later step than their own.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-expand-schedule))' -split-input-file | FileCheck %s

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
!c = !tgpu.channel<2>
// What stage 0 computes is carried to stage 1. Without an iteration the loop gives what it began with.
// CHECK-LABEL: tgpu.kernel @to_next_stage
// CHECK-SAME: %[[N:[a-z0-9]+]]: i32, %[[Z:[a-z0-9]+]]: tensor
// CHECK: %[[R:.*]] = scf.if
// CHECK: %[[X0:.*]] = tgpu.fma {{.*}}, %[[Z]]
// CHECK: %[[L:.*]]:2 = scf.for {{.*}} = %c1{{.*}} to %[[N]] {{.*}} iter_args(%[[C:.*]] = %[[Z]], %[[X:.*]] = %[[X0]])
// CHECK: %[[NEXT:.*]] = tgpu.fma {{.*}}, %[[Z]]
// CHECK: %[[D:.*]] = arith.addf %[[C]], %[[X]]
// CHECK: scf.yield %[[D]], %[[NEXT]]
// CHECK: %[[LAST:.*]] = arith.addf %[[L]]#0, %[[L]]#1
// CHECK-NEXT: scf.yield %[[LAST]]
// CHECK-NEXT: } else {
// CHECK-NEXT: scf.yield %[[Z]]
// CHECK: tgpu.store %[[R]]
tgpu.kernel @to_next_stage(%g: !g, %n: i32, %z: !acc, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
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
    %x = tgpu.fma %s, %s, %z {tgpu.schedule = #tgpu.stage<0, 1>} : !s, !s, !acc -> !acc
    tgpu.release %cs[%i] {tgpu.schedule = #tgpu.stage<0, 2>} : !c
    %d = arith.addf %c, %x {tgpu.schedule = #tgpu.stage<1, 4>} : !acc
    scf.yield %d : !acc
  } {tgpu.pipeline = #tgpu.pipeline<tma, stages = 2>}
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
// What an iteration takes from the one before is two steps back for stage 1 where stage 0 computes it.
// CHECK-LABEL: tgpu.kernel @two_steps_back
// CHECK-SAME: %[[N:[a-z0-9]+]]: i32, %[[Z:[a-z0-9]+]]: tensor
// CHECK: %[[X0:.*]] = tgpu.fma {{.*}}, %[[Z]]
// CHECK: %[[L:.*]]:2 = scf.for {{.*}} iter_args(%[[X:.*]] = %[[X0]], %[[B:.*]] = %[[Z]])
// CHECK: %[[NEXT:.*]] = tgpu.fma {{.*}}, %[[X]]
// CHECK: tgpu.store %[[B]]
// CHECK: scf.yield %[[NEXT]], %[[X]]
// CHECK: tgpu.store %[[L]]#1
// CHECK-NEXT: scf.yield %[[L]]#0
tgpu.kernel @two_steps_back(%g: !g, %n: i32, %z: !acc, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
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
    %d = tgpu.fma %s, %s, %c {tgpu.schedule = #tgpu.stage<0, 1>} : !s, !s, !acc -> !acc
    tgpu.release %cs[%i] {tgpu.schedule = #tgpu.stage<0, 2>} : !c
    tgpu.store %c, %o {tgpu.schedule = #tgpu.stage<1, 4>} : !acc, !tile.global<64x64xf32>
    scf.yield %d : !acc
  } {tgpu.pipeline = #tgpu.pipeline<tma, stages = 2>}
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
// Scalars are computed anew for the iteration of each stage; what the loop carries of them is carried.
// CHECK-LABEL: tgpu.kernel @scalars
// CHECK-SAME: %[[N:[a-z0-9]+]]: i32
// CHECK: %[[L:.*]]:3 = scf.for %[[J:[a-z0-9]+]] = {{.*}} iter_args(%[[D:.*]] = %{{.*}}, %[[K:.*]] = %{{.*}}, %[[B:.*]] = %c0
// CHECK: tgpu.fma
// CHECK: %[[BEFORE:.*]] = arith.addi %[[J]], %c-1
// CHECK: %[[ROW:.*]] = arith.muli %[[BEFORE]], %[[N]]
// CHECK: tile.slice %{{.*}}[%[[ROW]], %[[B]]]
// CHECK: tgpu.store %[[D]]
// CHECK: %[[NEXT:.*]] = arith.addi %[[K]], %[[J]]
// CHECK: scf.yield %{{.*}}, %[[NEXT]], %[[K]]
tgpu.kernel @scalars(%g: !g, %n: i32, %z: !acc, %h: !tile.global<?x?xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %ss = tgpu.alloc_shared "S" : !ring
  %cs = tgpu.channel "S" {producers = 1 : i32, consumers = 4 : i32} : !c
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%k = %c0) -> (i32) : i32 {
    tgpu.one_thread attributes {tgpu.schedule = #tgpu.stage<-2, 3>} {
      tgpu.acquire %cs[%i] : !c
      tgpu.expect %cs[%i] bytes 8192 : !c
      %t = tile.slice %g[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
      %f = tgpu.slot %ss[%i] : !ring -> !s
      tgpu.tma_load %t to %f on %cs[%i] {map = 0 : i32} : !t, !s, !c
    }
    tgpu.wait %cs[%i] {tgpu.schedule = #tgpu.stage<0, 0>} : !c
    %s = tgpu.slot %ss[%i] : !ring -> !s
    %d = tgpu.fma %s, %s, %z {tgpu.schedule = #tgpu.stage<0, 1>} : !s, !s, !acc -> !acc
    tgpu.release %cs[%i] {tgpu.schedule = #tgpu.stage<0, 2>} : !c
    %row = arith.muli %i, %n : i32
    %u = tile.slice %h[%row, %k] sizes [64, 64] : !tile.global<?x?xf32>, i32, i32 -> !tile.global<64x64xf32>
    tgpu.store %d, %u {tgpu.schedule = #tgpu.stage<1, 4>} : !acc, !tile.global<64x64xf32>
    %next = arith.addi %k, %i {tgpu.schedule = #tgpu.stage<0, 5>} : i32
    scf.yield %next : i32
  } {tgpu.pipeline = #tgpu.pipeline<tma, stages = 2>}
  tgpu.return
}
