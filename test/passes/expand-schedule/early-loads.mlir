// Loads into fragments that run ahead: their values are carried from step to step; past the last iteration nothing is read.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-expand-schedule))' | FileCheck %s

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!h = tensor<64xf32, #tgpu.fragment<"64 reg 8 lane 0:0:1:2:4 warp 16:32">>
!w = !tile.global<?xf32>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
!c = !tgpu.channel<2>
// CHECK-LABEL: tgpu.kernel @two_ahead
// CHECK-SAME: %[[N:[a-z0-9]+]]: i32
// CHECK: %[[H0:.*]] = scf.if
// CHECK: tgpu.load
// CHECK: } else {
// CHECK: %[[ZERO:.*]] = tile.splat
// CHECK-NEXT: scf.yield %[[ZERO]]
// CHECK: %[[H1:.*]] = scf.if
// CHECK: scf.for %[[J:[a-z0-9]+]] = {{.*}} iter_args(%{{.*}} = %{{.*}}, %[[B:.*]] = %[[H1]], %[[A:.*]] = %[[H0]])
// CHECK: %[[LATER:.*]] = arith.addi %[[J]], %c2
// CHECK: %[[MORE:.*]] = arith.cmpi slt, %[[LATER]], %[[N]]
// CHECK: %[[H2:.*]] = scf.if %[[MORE]]
// CHECK: tile.slice %{{.*}}[%[[LATER]]]
// CHECK: tgpu.load
// CHECK: tile.broadcast %[[A]]
// CHECK: %[[D:.*]] = arith.addf
// CHECK: scf.yield %[[D]], %[[H2]], %[[B]]
tgpu.kernel @two_ahead(%g: !g, %n: i32, %z: !acc, %w: !w, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
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
    tgpu.wait %cs[%i] {tgpu.schedule = #tgpu.stage<0, 1>} : !c
    %s = tgpu.slot %ss[%i] : !ring -> !s
    %l = tgpu.fma %s, %s, %c {tgpu.schedule = #tgpu.stage<0, 2>} : !s, !s, !acc -> !acc
    tgpu.release %cs[%i] {tgpu.schedule = #tgpu.stage<0, 3>} : !c
    %u = tile.slice %w[%i] sizes [64] : !w, i32 -> !tile.global<64xf32>
    %v = tgpu.load %u {tgpu.schedule = #tgpu.stage<-2, 0>} : !tile.global<64xf32> -> !h
    %b = tile.broadcast %v along [1] {tgpu.schedule = #tgpu.stage<0, 5>} : !h -> !acc
    %d = arith.addf %l, %b {tgpu.schedule = #tgpu.stage<0, 5>} : !acc
    scf.yield %d : !acc
  } {tgpu.pipeline = #tgpu.pipeline<tma, stages = 2>}
  tgpu.store %r, %o : !acc, !tile.global<64x64xf32>
  tgpu.return
}

// The tile of indices of a gather is computed again where the gather runs ahead; the place that it had alone is not copied.
!index = tensor<8xi32, #tgpu.fragment<"8 reg - lane 0:0:1:2:4 warp -">>
!rows = tensor<8x8xf32, #tgpu.fragment<"8x8 reg 0,1 lane 0,2:0,4:1,0:2,0:4,0 warp -">>
// CHECK-LABEL: tgpu.kernel @indices
// CHECK-NOT: tgpu.schedule
// CHECK: tgpu.return
tgpu.kernel @indices(%g: !g, %n: i32, %b: !tile.global<?xi32>, %x: !tile.global<?x?xf32>, %y: !tile.global<8x8xf32>) attributes {threads = 32 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %ss = tgpu.alloc_shared "S" : !ring
  %cs = tgpu.channel "S" {producers = 1 : i32, consumers = 1 : i32} : !c
  scf.for %i = %c0 to %n step %c1 : i32 {
    tgpu.one_thread attributes {tgpu.schedule = #tgpu.stage<-2, 4>} {
      tgpu.acquire %cs[%i] : !c
      tgpu.expect %cs[%i] bytes 8192 : !c
      %t = tile.slice %g[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
      %f = tgpu.slot %ss[%i] : !ring -> !s
      tgpu.tma_load %t to %f on %cs[%i] {map = 0 : i32} : !t, !s, !c
    }
    tgpu.wait %cs[%i] {tgpu.schedule = #tgpu.stage<0, 2>} : !c
    tgpu.release %cs[%i] {tgpu.schedule = #tgpu.stage<0, 3>} : !c
    %bs = tile.slice %b[%c0] sizes [8] : !tile.global<?xi32>, i32 -> !tile.global<8xi32>
    %k = tgpu.load %bs {bytes = 16 : i32, tgpu.schedule = #tgpu.stage<-1, 1>} : !tile.global<8xi32> -> !index
    %xs = tile.slice %x[%k, %c0] sizes [8, 8] : !tile.global<?x?xf32>, !index, i32 -> !tile.global<8x8xf32>
    %v = tgpu.load %xs {bytes = 16 : i32, tgpu.schedule = #tgpu.stage<-1, 0>} : !tile.global<8x8xf32> -> !rows
    tgpu.store %v, %y {bytes = 16 : i32, path = #tgpu.path<vector>, tgpu.schedule = #tgpu.stage<0, 1>} : !rows, !tile.global<8x8xf32>
  } {tgpu.pipeline = #tgpu.pipeline<tma, stages = 2>, tile.stages = 2 : i32}
  tgpu.return
}
