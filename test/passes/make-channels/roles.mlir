// Roles by operation: each that reads a slot waits for it and gives it back, and the last of them fills it again; tiles that are handed over
// become rings whose slots one role takes, stores and publishes.
// RUN: tile-opt %s -split-input-file --pass-pipeline='builtin.module(tgpu.kernel(tgpu-make-channels))' | FileCheck %s

#f0 = #tgpu.fragment<"64 reg 8 lane 0:0:1:2:4 warp 16:32">
#f1 = #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">
#s0 = #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">
#s1 = #tgpu.shared<"64 b32 contig 0 panel 64">
!b0 = !tgpu.smem<64x64xf16, #s0>
!b1 = !tgpu.smem<64xf32, #s1>
!t0 = tensor<64xf32, #f0>
!t1 = tensor<64x64xf32, #f1>
!t2 = tensor<64x64xf16, #f1>
!p0 = !tgpu.pending<!t1>
!g0 = !tile.global<64x64xf16>
!g1 = !tile.global<?x64xf16>
!g2 = !tile.global<64x64xf32>
!g3 = !tile.global<64xf32>

// CHECK-LABEL: tgpu.kernel @attention
// CHECK-DAG: %[[PS:[a-z0-9_]+]] = tgpu.alloc_shared "handed over" {tgpu.hand_over} : !tgpu.smem<1x64x64xf16
// CHECK-DAG: %[[P:[a-z0-9_]+]] = tgpu.channel "handed over" guards(%[[PS]] : {{.*}}) {consumers = 4 : i32, producers = 128 : i32} : !tgpu.channel<1>
// CHECK-DAG: %[[ROWS:[a-z0-9_]+]] = tgpu.alloc_shared "handed over" {tgpu.hand_over} : !tgpu.smem<2x64xf32
// CHECK-DAG: %[[ROW:[a-z0-9_]+]] = tgpu.channel "handed over" guards(%[[ROWS]] : {{.*}}) {consumers = 4 : i32, producers = 128 : i32} : !tgpu.channel<2>
// CHECK-DAG: %[[K:[a-z0-9_]+]] = tgpu.channel "Ks" {consumers = 8 : i32, producers = 1 : i32} : !tgpu.channel<2>
// CHECK: scf.for %[[I:[a-z0-9_]+]] =
// CHECK: tgpu.one_thread attributes {tgpu.role = 1 : i32} {
// CHECK-NEXT: tgpu.acquire %[[K]][%[[I]]]
// CHECK: tgpu.wait %[[K]][%[[I]]] {tgpu.role = 0 : i32}
// CHECK: tgpu.wgmma_wait
// CHECK-NEXT: tgpu.release %[[K]][%[[I]]] {tgpu.role = 0 : i32}
// CHECK: tgpu.acquire %[[ROW]][%[[I]]] {tgpu.role = 0 : i32}
// CHECK-NEXT: tgpu.local_store
// CHECK-NEXT: tgpu.publish %[[ROW]][%[[I]]] {tgpu.role = 0 : i32}
// CHECK-NEXT: tgpu.wait %[[ROW]][%[[I]]] {tgpu.role = 1 : i32}
// CHECK-NEXT: tgpu.local_load
// CHECK-NEXT: tgpu.release %[[ROW]][%[[I]]] {tgpu.role = 1 : i32}
// CHECK: tgpu.acquire %[[P]][%[[I]]] {tgpu.role = 0 : i32}
// CHECK-NEXT: tgpu.local_store
// CHECK-NEXT: tgpu.publish %[[P]][%[[I]]] {tgpu.role = 0 : i32}
// CHECK-NEXT: tgpu.wait %[[K]][%[[I]]] {tgpu.role = 1 : i32}
// CHECK-NEXT: tgpu.wait %[[P]][%[[I]]] {tgpu.role = 1 : i32}
// CHECK-NEXT: tgpu.wgmma_fence
// CHECK: tgpu.wgmma_wait
// CHECK-NEXT: tgpu.release %[[P]][%[[I]]] {tgpu.role = 1 : i32}
// CHECK-NEXT: tgpu.release %[[K]][%[[I]]] {tgpu.role = 1 : i32}
tgpu.kernel @attention(%arg0: !g0, %arg1: i32 {tgpu.divisible = 64 : i64}, %arg2: !g1, %arg3: !g2, %arg4: !g3) attributes {target = "sm_90a", threads = 128 : i32, warp_specialize = "operations"} {
  %0 = tgpu.alloc_shared "handed over" {tgpu.hand_over} : !b0
  %1 = tgpu.alloc_shared "handed over" {tgpu.hand_over} : !b1
  %cst = arith.constant 5.000000e-01 : f32
  %c0_i32 = arith.constant 0 : i32
  %c1_i32 = arith.constant 1 : i32
  %cst_0 = arith.constant 0.000000e+00 : f32
  %c64_i32 = arith.constant 64 : i32
  %2 = tgpu.view %arg0 extents(%c64_i32, %c64_i32 : i32, i32) strides(%c64_i32 : i32) : !g0 -> !g0
  %3 = tgpu.view %arg2 extents(%arg1, %c64_i32 : i32, i32) strides(%c64_i32 : i32) : !g1 -> !g1
  %4 = tgpu.view %arg3 extents(%c64_i32, %c64_i32 : i32, i32) strides(%c64_i32 : i32) : !g2 -> !g2
  %5 = tgpu.view %arg4 extents(%c64_i32 : i32) strides() : !g3 -> !g3
  %6 = tgpu.alloc_shared "Qs" : !b0
  %7 = tgpu.alloc_shared "Ks" : !b0
  tgpu.copy %2 to %6 {bytes = 16 : i32, path = #tgpu.path<tma>} : !g0, !b0
  %8 = arith.divsi %arg1, %c64_i32 : i32
  %9 = tile.splat %cst_0 : f32 -> !t0
  %10 = tile.splat %cst_0 : f32 -> !t1
  %11:2 = scf.for %arg5 = %c0_i32 to %8 step %c1_i32 iter_args(%arg6 = %9, %arg7 = %10) -> (!t0, !t1)  : i32 {
    %12 = arith.muli %arg5, %c64_i32 : i32
    %13 = tile.slice %3[%12, %c0_i32] sizes [64, 64] : !g1, i32, i32 -> !g0
    tgpu.copy %13 to %7 {bytes = 16 : i32, path = #tgpu.path<tma>, tgpu.schedule = #tgpu.stage<0, 0>} : !g0, !b0
    %14 = tile.splat %cst_0 : f32 -> !t1
    %cst_1 = arith.constant 0.000000e+00 : f32
    %15 = tile.splat %cst_1 : f32 -> !t1
    tgpu.wgmma_fence {tgpu.schedule = #tgpu.stage<1, 1>}
    %16 = tgpu.wgmma %6, %7, %15 {accumulate = false, mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>, tgpu.schedule = #tgpu.stage<1, 2>, transpose_b} : !b0, !b0, !t1 -> !p0
    tgpu.wgmma_commit {tgpu.schedule = #tgpu.stage<1, 3>}
    %17 = tgpu.wgmma_wait 0, %16 : !p0 -> !t1 {tgpu.schedule = #tgpu.stage<1, 4>}
    %18 = tile.reduce <sum> %17 axis 1 {tgpu.role = 0 : i32} : !t1 -> !t0
    %19 = arith.addf %arg6, %18 {tgpu.role = 0 : i32} : !t0
    %20 = tile.splat %cst : f32 -> !t0
    %21 = arith.mulf %19, %20 {tgpu.role = 0 : i32} : !t0
    tgpu.local_store %21, %1 {tgpu.role = 0 : i32, tgpu.schedule = #tgpu.stage<1, 5>} : !t0, !b1
    %22 = tgpu.local_load %1 {tgpu.role = 1 : i32, tgpu.schedule = #tgpu.stage<1, 6>} : !b1 -> !t0
    %23 = tile.broadcast %22 along [1] {tgpu.role = 1 : i32} : !t0 -> !t1
    %24 = arith.mulf %arg7, %23 {tgpu.role = 1 : i32} : !t1
    %25 = tile.convert %17 {tgpu.role = 0 : i32} : !t1 to !t2
    tgpu.local_store %25, %0 {tgpu.role = 0 : i32, tgpu.schedule = #tgpu.stage<1, 7>} : !t2, !b0
    tgpu.wgmma_fence {tgpu.schedule = #tgpu.stage<1, 8>}
    %26 = tgpu.wgmma %0, %7, %24 {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>, tgpu.schedule = #tgpu.stage<1, 9>} : !b0, !b0, !t1 -> !p0
    tgpu.wgmma_commit {tgpu.schedule = #tgpu.stage<1, 10>}
    %27 = tgpu.wgmma_wait 0, %26 : !p0 -> !t1 {tgpu.schedule = #tgpu.stage<1, 11>}
    scf.yield %19, %27 : !t0, !t1
  } {tgpu.pipeline = #tgpu.pipeline<tma, stages = 2>, tile.stages = 2 : i32}
  tgpu.store %11#1, %4 {bytes = 16 : i32, path = #tgpu.path<vector>, tgpu.role = 1 : i32} : !t1, !g2
  tgpu.store %11#0, %5 {bytes = 16 : i32, path = #tgpu.path<vector>, tgpu.role = 0 : i32} : !t0, !g3
  tgpu.return
}

// -----

#f0 = #tgpu.fragment<"64 reg 8 lane 0:0:1:2:4 warp 16:32">
#f1 = #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">
#s0 = #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">
#s1 = #tgpu.shared<"64 b32 contig 0 panel 64">
!b0 = !tgpu.smem<64x64xf16, #s0>
!b1 = !tgpu.smem<64xf32, #s1>
!t0 = tensor<64xf32, #f0>
!t1 = tensor<64x64xf32, #f1>
!t2 = tensor<64x64xf16, #f1>
!p0 = !tgpu.pending<!t1>
!g0 = !tile.global<64x64xf16>
!g1 = !tile.global<?x64xf16>
!g2 = !tile.global<64x64xf32>
!g3 = !tile.global<64xf32>

// What the first role that reads a slot has set to zero the others wait for, on a channel that nobody gives slots back on: that of TMA guards them.
// CHECK-LABEL: tgpu.kernel @within_bounds
// CHECK-DAG: %[[K:[a-z0-9_]+]] = tgpu.channel "Ks" {consumers = 8 : i32, producers = 1 : i32}
// CHECK-DAG: %[[KS:[a-z0-9_]+]] = tgpu.alloc_shared "Ks"
// CHECK-DAG: %[[ZERO:[a-z0-9_]+]] = tgpu.channel "Ks in bounds" guards(%[[KS]] : {{.*}}) {consumers = 0 : i32, producers = 128 : i32}
// CHECK: scf.for %[[I:[a-z0-9_]+]] =
// CHECK: tgpu.wait %[[K]][%[[I]]] {tgpu.role = 0 : i32}
// CHECK: scf.if
// CHECK-NEXT: tgpu.zero_beyond {{.*}}tgpu.role = 0 : i32
// CHECK: tgpu.publish %[[ZERO]][%[[I]]] {tgpu.role = 0 : i32}
// CHECK: tgpu.wait %[[K]][%[[I]]] {tgpu.role = 1 : i32}
// CHECK-NEXT: tgpu.wait %[[ZERO]][%[[I]]] {tgpu.role = 1 : i32}
// CHECK-NOT: tgpu.release %[[ZERO]]
tgpu.kernel @within_bounds(%arg0: !g0, %arg1: !g1, %arg2: i32 {tgpu.divisible = 64 : i64}, %arg3: i32, %arg4: !g2, %arg5: !g3) attributes {target = "sm_90a", threads = 128 : i32, warp_specialize = "operations"} {
  %0 = tgpu.alloc_shared "handed over" {tgpu.hand_over} : !b0
  %1 = tgpu.alloc_shared "handed over" {tgpu.hand_over} : !b1
  %cst = arith.constant 5.000000e-01 : f32
  %c0_i32 = arith.constant 0 : i32
  %c1_i32 = arith.constant 1 : i32
  %cst_0 = arith.constant 0.000000e+00 : f32
  %c64_i32 = arith.constant 64 : i32
  %2 = tgpu.view %arg0 extents(%c64_i32, %c64_i32 : i32, i32) strides(%c64_i32 : i32) : !g0 -> !g0
  %3 = tgpu.view %arg1 extents(%arg2, %c64_i32 : i32, i32) strides(%c64_i32 : i32) : !g1 -> !g1
  %4 = tgpu.view %arg4 extents(%c64_i32, %c64_i32 : i32, i32) strides(%c64_i32 : i32) : !g2 -> !g2
  %5 = tgpu.view %arg5 extents(%c64_i32 : i32) strides() : !g3 -> !g3
  %6 = tgpu.alloc_shared "Qs" : !b0
  %7 = tgpu.alloc_shared "Ks" : !b0
  tgpu.copy %2 to %6 {bytes = 16 : i32, path = #tgpu.path<tma>} : !g0, !b0
  %8 = tile.slice %3[%c0_i32, %c0_i32] sizes [-9223372036854775808, 64](%arg3 : i32) : !g1, i32, i32 -> !g1
  %9 = arith.divsi %arg2, %c64_i32 : i32
  %10 = tile.splat %cst_0 : f32 -> !t0
  %11 = tile.splat %cst_0 : f32 -> !t1
  %12:2 = scf.for %arg6 = %c0_i32 to %9 step %c1_i32 iter_args(%arg7 = %10, %arg8 = %11) -> (!t0, !t1)  : i32 {
    %13 = arith.muli %arg6, %c64_i32 : i32
    %14 = tile.slice %8[%13, %c0_i32] sizes [64, 64] : !g1, i32, i32 -> !g0
    tgpu.copy %14 to %7 {bytes = 16 : i32, path = #tgpu.path<tma>, tgpu.schedule = #tgpu.stage<0, 0>} : !g0, !b0
    %15 = tile.splat %cst_0 : f32 -> !t1
    %cst_1 = arith.constant 0.000000e+00 : f32
    %16 = tile.splat %cst_1 : f32 -> !t1
    tgpu.wgmma_fence {tgpu.schedule = #tgpu.stage<1, 1>}
    %17 = tgpu.wgmma %6, %7, %16 {accumulate = false, mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>, tgpu.schedule = #tgpu.stage<1, 2>, transpose_b} : !b0, !b0, !t1 -> !p0
    tgpu.wgmma_commit {tgpu.schedule = #tgpu.stage<1, 3>}
    %18 = tgpu.wgmma_wait 0, %17 : !p0 -> !t1 {tgpu.schedule = #tgpu.stage<1, 4>}
    %19 = tile.reduce <sum> %18 axis 1 {tgpu.role = 0 : i32} : !t1 -> !t0
    %20 = arith.addf %arg7, %19 {tgpu.role = 0 : i32} : !t0
    %21 = tile.splat %cst : f32 -> !t0
    %22 = arith.mulf %20, %21 {tgpu.role = 0 : i32} : !t0
    tgpu.local_store %22, %1 {tgpu.role = 0 : i32, tgpu.schedule = #tgpu.stage<1, 5>} : !t0, !b1
    %23 = tgpu.local_load %1 {tgpu.role = 1 : i32, tgpu.schedule = #tgpu.stage<1, 6>} : !b1 -> !t0
    %24 = tile.broadcast %23 along [1] {tgpu.role = 1 : i32} : !t0 -> !t1
    %25 = arith.mulf %arg8, %24 {tgpu.role = 1 : i32} : !t1
    %26 = tile.convert %18 {tgpu.role = 0 : i32} : !t1 to !t2
    tgpu.local_store %26, %0 {tgpu.role = 0 : i32, tgpu.schedule = #tgpu.stage<1, 7>} : !t2, !b0
    tgpu.wgmma_fence {tgpu.schedule = #tgpu.stage<1, 8>}
    %27 = tgpu.wgmma %0, %7, %25 {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>, tgpu.schedule = #tgpu.stage<1, 9>} : !b0, !b0, !t1 -> !p0
    tgpu.wgmma_commit {tgpu.schedule = #tgpu.stage<1, 10>}
    %28 = tgpu.wgmma_wait 0, %27 : !p0 -> !t1 {tgpu.schedule = #tgpu.stage<1, 11>}
    scf.yield %20, %28 : !t0, !t1
  } {tgpu.pipeline = #tgpu.pipeline<tma, stages = 2>, tile.stages = 2 : i32}
  tgpu.store %12#1, %4 {bytes = 16 : i32, path = #tgpu.path<vector>, tgpu.role = 1 : i32} : !t1, !g2
  tgpu.store %12#0, %5 {bytes = 16 : i32, path = #tgpu.path<vector>, tgpu.role = 0 : i32} : !t0, !g3
  tgpu.return
}
