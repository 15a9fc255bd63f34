// A copy by TMA becomes a fill by one thread, a wait before the first reader and a release behind the last. The loop stays serial, over the
// numbers of its iterations; of the plan for its order nothing is left.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-make-channels))' | FileCheck %s

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
// CHECK-LABEL: tgpu.kernel @copy
// CHECK-SAME: tensor_maps = [#tgpu.tensor_map<0, extents = [1, 1], strides = [-2, 1], box = [64, 64], swizzle = 128>]
// CHECK-DAG: %[[RING:.*]] = tgpu.alloc_shared "S" : !tgpu.smem<3x64x64xf16, #tgpu.shared<"3x64x64 b16 contig 2 panel 64 swizzle 128">>
// CHECK-DAG: %[[CH:.*]] = tgpu.channel "S" {consumers = 4 : i32, producers = 1 : i32} : !tgpu.channel<3>
// CHECK-NOT: tgpu.alloc_shared
// CHECK: %[[TRIPS:.*]] = arith.maxsi
// CHECK: scf.for %[[J:[a-z0-9]+]] = %{{.*}} to %[[TRIPS]] step
// CHECK: tgpu.one_thread {
// CHECK-NEXT: tgpu.acquire %[[CH]][%[[J]]]
// CHECK-NEXT: tgpu.expect %[[CH]][%[[J]]] bytes 8192
// CHECK-NEXT: %[[TILE:.*]] = tile.slice %{{.*}}[%{{.*}}, %[[J]]]
// CHECK-NEXT: %[[INTO:.*]] = tgpu.slot %[[RING]][%[[J]]]
// CHECK-NEXT: tgpu.tma_load %[[TILE]] to %[[INTO]] on %[[CH]][%[[J]]] {map = 0 : i32}
// CHECK-NEXT: }
// CHECK-NEXT: arith.negf
// CHECK-NEXT: tgpu.wait %[[CH]][%[[J]]]
// CHECK-NEXT: %[[SLOT:.*]] = tgpu.slot %[[RING]][%[[J]]]
// CHECK-NEXT: tgpu.fma %[[SLOT]], %[[SLOT]]
// CHECK-NEXT: tgpu.fma %[[SLOT]], %[[SLOT]]
// CHECK-NEXT: tgpu.release %[[CH]][%[[J]]]
// CHECK-NEXT: arith.negf
// CHECK: } {tgpu.pipeline = #tgpu.pipeline<tma, stages = 3>, tile.stages = 3 : i32}
tgpu.kernel @copy(%g: !g {tgpu.align = 16 : i64}, %n: i32 {tgpu.divisible = 8 : i64}, %z: !acc) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %v = tgpu.view %g extents(%n, %n : i32, i32) strides(%n : i32) : !g -> !g
  %s = tgpu.alloc_shared "S" : !s
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %z) -> (!acc) : i32 {
    %t = tile.slice %v[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
    tgpu.copy %t to %s {path = #tgpu.path<tma>, bytes = 16 : i32, tgpu.schedule = #tgpu.stage<0, 0>} : !t, !s
    %x = arith.negf %c : !acc
    %y = tgpu.fma %s, %s, %x {tgpu.schedule = #tgpu.stage<2, 1>} : !s, !s, !acc -> !acc
    %e = tgpu.fma %s, %s, %y {tgpu.schedule = #tgpu.stage<2, 2>} : !s, !s, !acc -> !acc
    %d = arith.negf %e : !acc
    scf.yield %d : !acc
  } {tile.stages = 3 : i32, tgpu.pipeline = #tgpu.pipeline<tma, stages = 3>}
  tgpu.return
}
