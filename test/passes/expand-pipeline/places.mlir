// Where copies read stands in global memory: all threads read it, ahead of the one that issues TMA, and no iteration past the
// last one is made where the kernel writes it.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-expand-pipeline,tgpu-make-channels,tgpu-plan-schedule,tgpu-expand-schedule))' -split-input-file | FileCheck %s

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
!p = !tile.global<?xi32>

// CHECK-LABEL: tgpu.kernel @tma
// CHECK: scf.if
// CHECK: %[[PLACE:.*]] = tile.load %[[P:.*]][%{{.*}} : i32]
// CHECK: tgpu.one_thread
// CHECK-NOT: tile.load
// CHECK: tile.slice %{{.*}}[%[[PLACE]],
// CHECK: tgpu.tma_load
tgpu.kernel @tma(%a: !g {tgpu.align = 16 : i64}, %m: i32, %n: i32 {tgpu.divisible = 8 : i64}, %z: !acc, %p: !p, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %v = tgpu.view %a extents(%m, %n : i32, i32) strides(%n : i32) : !g -> !g
  %w = tgpu.view %p extents(%m : i32) strides() : !p -> !p
  %s = tgpu.alloc_shared "S" : !s
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %z) -> (!acc) : i32 {
    %k = tile.load %w[%i : i32] {tgpu.schedule = #tgpu.stage<2, 0>} : !p -> i32
    %t = tile.slice %v[%k, %c0] sizes [64, 64] : !g, i32, i32 -> !t
    tgpu.copy %t to %s {path = #tgpu.path<tma>, bytes = 16 : i32, tgpu.schedule = #tgpu.stage<0, 1>} : !t, !s
    %d = tgpu.fma %s, %s, %c {tgpu.schedule = #tgpu.stage<2, 2>} : !s, !s, !acc -> !acc
    scf.yield %d : !acc
  } {tile.stages = 3 : i32, tgpu.pipeline = #tgpu.pipeline<tma, stages = 3>}
  tgpu.store %r, %o : !acc, !tile.global<64x64xf32>
  tgpu.return
}

// -----

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
!p = !tile.global<?xi32>

// CHECK-LABEL: tgpu.kernel @written_later
// CHECK: scf.if
// CHECK: tile.load
// CHECK: tgpu.cp_async %
tgpu.kernel @written_later(%a: !g {tgpu.align = 16 : i64}, %m: i32, %n: i32 {tgpu.divisible = 8 : i64}, %z: !acc, %p: !p, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_80"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %v = tgpu.view %a extents(%m, %n : i32, i32) strides(%n : i32) : !g -> !g
  %w = tgpu.view %p extents(%m : i32) strides() : !p -> !p
  %s = tgpu.alloc_shared "S" : !s
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %z) -> (!acc) : i32 {
    %k = tile.load %w[%i : i32] {tgpu.schedule = #tgpu.stage<2, 0>} : !p -> i32
    %t = tile.slice %v[%k, %c0] sizes [64, 64] : !g, i32, i32 -> !t
    tgpu.copy %t to %s {path = #tgpu.path<cp_async>, bytes = 16 : i32, tgpu.schedule = #tgpu.stage<0, 1>} : !t, !s
    %d = tgpu.fma %s, %s, %c {tgpu.schedule = #tgpu.stage<2, 2>} : !s, !s, !acc -> !acc
    scf.yield %d : !acc
  } {tile.stages = 3 : i32, tgpu.pipeline = #tgpu.pipeline<cp_async, stages = 3>}
  tile.store %c1, %w[%c0 : i32] : i32, !p
  tgpu.store %r, %o : !acc, !tile.global<64x64xf32>
  tgpu.return
}
