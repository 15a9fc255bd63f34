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

// -----

// A tile of indices lies inside its tensor in each iteration that there is; that of the one behind the last, which is loaded ahead, may not.
!s = !tgpu.smem<8x8xf32, #tgpu.shared<"8x8 b32 contig 1 panel 8">>
!index = tensor<8xi32, #tgpu.fragment<"8 reg - lane 0:0:1:2:4 warp -">>
!x = !tile.global<?x?xf32>
!b = !tile.global<24xi32>
// CHECK-LABEL: tgpu.kernel @indices_inside
// CHECK: tgpu.load %{{[^{]*}} {bytes = 16 : i32}
// CHECK: tgpu.cp_async
// CHECK: scf.for
// CHECK: tgpu.load %{{[^{]*}} {bytes = 16 : i32}
// CHECK: tgpu.cp_async
// CHECK: tgpu.load %{{[^{]*}} {bytes = 16 : i32, tgpu.in_bounds = array<i1: true>}
tgpu.kernel @indices_inside(%x: !x, %b: !b, %y: !tile.global<8xi32>, %m: i32) attributes {threads = 32 : i32, target = "sm_80"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c3 = arith.constant 3 : i32
  %c8 = arith.constant 8 : i32
  %v = tgpu.view %x extents(%m, %m : i32, i32) strides(%m : i32) : !x -> !x
  %s = tgpu.alloc_shared "S" : !s
  scf.for %i = %c0 to %c3 step %c1 : i32 {
    %first = arith.muli %i, %c8 : i32
    %part = tile.slice %b[%first] sizes [8] : !b, i32 -> !tile.global<8xi32>
    %k = tgpu.load %part {bytes = 16 : i32, tgpu.in_bounds = array<i1: true>, tgpu.schedule = #tgpu.stage<1, 0>} : !tile.global<8xi32> -> !index
    %t = tile.slice %v[%k, %c0] sizes [8, 8] : !x, !index, i32 -> !tile.global<8x8xf32>
    tgpu.copy %t to %s {path = #tgpu.path<cp_async>, bytes = 4 : i32, tgpu.schedule = #tgpu.stage<0, 1>} : !tile.global<8x8xf32>, !s
    tgpu.store %k, %y {bytes = 16 : i32, path = #tgpu.path<vector>, tgpu.schedule = #tgpu.stage<1, 2>} : !index, !tile.global<8xi32>
  } {tile.stages = 2 : i32, tgpu.pipeline = #tgpu.pipeline<cp_async, stages = 2>}
  tgpu.return
}
