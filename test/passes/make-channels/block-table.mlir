// Where a copy reads stands in global memory: all threads read it, ahead of the one that issues TMA.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-make-channels))' | FileCheck %s

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
// CHECK-LABEL: tgpu.kernel @table
// CHECK: scf.for %[[J:[a-z0-9]+]] =
// CHECK: %[[PLACE:.*]] = tile.load %{{.*}}[%[[J]] : i32]
// CHECK: tgpu.one_thread
// CHECK-NOT: tile.load
// CHECK: %[[ROW:.*]] = arith.addi %[[PLACE]], %[[J]]
// CHECK-NEXT: tile.slice %{{.*}}[%[[ROW]],
// CHECK: tgpu.tma_load
tgpu.kernel @table(%g: !g {tgpu.align = 16 : i64}, %n: i32 {tgpu.divisible = 8 : i64}, %z: !acc, %p: !tile.global<?xi32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %v = tgpu.view %g extents(%n, %n : i32, i32) strides(%n : i32) : !g -> !g
  %s = tgpu.alloc_shared "S" : !s
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %z) -> (!acc) : i32 {
    %k = tile.load %p[%i : i32] : !tile.global<?xi32> -> i32
    %row = arith.addi %k, %i : i32
    %u = tile.slice %v[%row, %c0] sizes [64, 64] : !g, i32, i32 -> !t
    tgpu.copy %u to %s {path = #tgpu.path<tma>, bytes = 16 : i32, tgpu.schedule = #tgpu.stage<0, 0>} : !t, !s
    %d = tgpu.fma %s, %s, %c {tgpu.schedule = #tgpu.stage<1, 1>} : !s, !s, !acc -> !acc
    scf.yield %d : !acc
  } {tile.stages = 2 : i32, tgpu.pipeline = #tgpu.pipeline<tma, stages = 2>}
  tgpu.return
}
