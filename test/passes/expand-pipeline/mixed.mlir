// Copies by cp.async beside copies by TMA: groups of the one and a channel of the other, both two iterations ahead.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-expand-pipeline))' | FileCheck %s

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>

// CHECK-LABEL: tgpu.kernel @mixed
// CHECK-DAG: %[[S:.*]] = tgpu.alloc_shared "S" : !tgpu.smem<3x64x64xf16
// CHECK-DAG: %[[U:.*]] = tgpu.alloc_shared "U" : !tgpu.smem<3x64x64xf16
// CHECK-DAG: %[[CH:.*]] = tgpu.channel "S" {{.*}} : !tgpu.channel<3>
// CHECK: scf.for {{.*}} iter_args(%[[BASE:.*]] = %c0_i32
// CHECK: tgpu.cp_async %
// CHECK-NEXT: tgpu.cp_async_commit
// CHECK: tgpu.acquire %[[CH]]
// CHECK-NEXT: tgpu.expect %[[CH]]{{.*}} bytes 8192
// CHECK: tgpu.tma_load
// CHECK: scf.for %[[J:.*]] = %c0_i32
// CHECK: %[[POSITION:.*]] = arith.addi %[[BASE]], %[[J]]
// CHECK: tgpu.cp_async_wait 1
// CHECK: tgpu.barrier
// CHECK: tgpu.cp_async %
// CHECK: tgpu.cp_async_commit
// CHECK: tgpu.tma_load
// CHECK: tgpu.wait %[[CH]][%[[POSITION]]]
// CHECK: %[[A:.*]] = tgpu.slot %[[S]]
// CHECK: %[[B:.*]] = tgpu.slot %[[U]][%[[J]]]
// CHECK: tgpu.fma %[[A]], %[[B]]
// CHECK: tgpu.release %[[CH]][%[[POSITION]]]
// CHECK: scf.yield
// CHECK: tgpu.cp_async_wait 0
tgpu.kernel @mixed(%a: !g {tgpu.align = 16 : i64}, %m: i32, %n: i32 {tgpu.divisible = 8 : i64}, %z: !acc, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %v = tgpu.view %a extents(%m, %n : i32, i32) strides(%n : i32) : !g -> !g
  %s = tgpu.alloc_shared "S" : !s
  %u = tgpu.alloc_shared "U" : !s
  scf.for %j = %c0 to %m step %c1 : i32 {
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %z) -> (!acc) : i32 {
      %t = tile.slice %v[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
      tgpu.copy %t to %s {path = #tgpu.path<tma>, bytes = 16 : i32, tgpu.schedule = #tgpu.stage<0, 0>} : !t, !s
      tgpu.copy %t to %u {path = #tgpu.path<cp_async>, bytes = 16 : i32, tgpu.schedule = #tgpu.stage<0, 1>} : !t, !s
      %d = tgpu.fma %s, %u, %c {tgpu.schedule = #tgpu.stage<2, 2>} : !s, !s, !acc -> !acc
      scf.yield %d : !acc
    } {tile.stages = 3 : i32, tgpu.pipeline = #tgpu.pipeline<cp_async, stages = 3>}
    tgpu.store %r, %o : !acc, !tile.global<64x64xf32>
  }
  tgpu.return
}
