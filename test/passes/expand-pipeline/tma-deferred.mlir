// By TMA with the wait one iteration later: two products in flight, slots released behind the wait, refilled at the end.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-expand-pipeline))' -verify-diagnostics -split-input-file | FileCheck %s

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
// CHECK-LABEL: tgpu.kernel @deferred
// CHECK-SAME: %[[N:[a-z0-9]+]]: i32 {tgpu.divisible = 8 : i64}
// CHECK-SAME: tensor_maps = [#tgpu.tensor_map<0, extents = [2, 1], strides = [-2, 2], box = [64, 64], swizzle = 128>]
// CHECK-DAG: %[[RING:.*]] = tgpu.alloc_shared "S" : !tgpu.smem<3x64x64xf16, #tgpu.shared<"3x64x64 b16 contig 2 panel 64 swizzle 128">>
// CHECK-DAG: %[[CH:.*]] = tgpu.channel "S" {consumers = 4 : i32, producers = 1 : i32} : !tgpu.channel<3>
// Two fills ahead.
// CHECK-COUNT-2: tgpu.tma_load
// CHECK: %[[BEGIN:.*]] = tgpu.wgmma_begin
// CHECK: %[[R:.*]] = scf.for %[[J:[a-z0-9]+]] = %{{.*}} iter_args(%[[C:.*]] = %[[BEGIN]])
// CHECK: tgpu.wait %[[CH]][%[[POS:.*]]]
// CHECK: %[[SLOT:.*]] = tgpu.slot %[[RING]][%[[POS]]]
// CHECK: tgpu.wgmma_fence
// CHECK: %[[P:.*]] = tgpu.wgmma %[[SLOT]], %[[SLOT]], %[[C]]
// CHECK: tgpu.wgmma_commit
// CHECK: %[[W:.*]] = tgpu.wgmma_wait 1, %[[P]]
// CHECK: scf.if
// CHECK: tgpu.release %[[CH]]
// CHECK: scf.if
// CHECK: tgpu.one_thread {
// CHECK: tgpu.acquire %[[CH]]
// CHECK-NEXT: tgpu.expect %[[CH]][%{{.*}}] bytes 8192
// CHECK: tgpu.tma_load {{.*}} on %[[CH]]
// CHECK: scf.yield %[[W]]
// CHECK: %[[DONE:.*]] = tgpu.wgmma_wait 0, %[[R]]
// CHECK: scf.if
// CHECK: tgpu.release %[[CH]]
// CHECK: tgpu.store %[[DONE]]
// CHECK-NOT: tgpu.schedule
// CHECK-NOT: tile.stages
tgpu.kernel @deferred(%a: !g {tgpu.align = 16 : i64}, %m: i32, %n: i32 {tgpu.divisible = 8 : i64}, %z: !acc, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %v = tgpu.view %a extents(%m, %n : i32, i32) strides(%n : i32) : !g -> !g
  %s = tgpu.alloc_shared "S" : !s
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %z) -> (!acc) : i32 {
    %k = arith.muli %i, %c64 : i32
    %t = tile.slice %v[%c0, %k] sizes [64, 64] : !g, i32, i32 -> !t
    tgpu.copy %t to %s {path = #tgpu.path<tma>, bytes = 16 : i32, tgpu.schedule = #tgpu.stage<0, 0>} : !t, !s
    tgpu.wgmma_fence {tgpu.schedule = #tgpu.stage<2, 1>}
    %p = tgpu.wgmma %s, %s, %c {transpose_b, mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>, tgpu.schedule = #tgpu.stage<2, 2>} : !s, !s, !acc -> !tgpu.pending<!acc>
    tgpu.wgmma_commit {tgpu.schedule = #tgpu.stage<2, 3>}
    %d = tgpu.wgmma_wait 0, %p : !tgpu.pending<!acc> -> !acc {tgpu.schedule = #tgpu.stage<3, 4>}
    scf.yield %d : !acc
  } {tile.stages = 3 : i32, tgpu.pipeline = #tgpu.pipeline<tma, stages = 3>}
  tgpu.store %r, %o : !acc, !tile.global<64x64xf32>
  tgpu.return
}
