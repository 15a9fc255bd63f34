// Roles by operation: the programs of each, with the scalars and loops that they need, on warpgroups of their own.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-slice-roles))' | FileCheck %s

#f0 = #tgpu.fragment<"64 reg 8 lane 0:0:1:2:4 warp 16:32">
#f1 = #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">
#s0 = #tgpu.shared<"1x64x64 b16 contig 2 panel 64 swizzle 128">
#s1 = #tgpu.shared<"2x64 b32 contig 1 panel 64">
#s2 = #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">
#s3 = #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">
#s4 = #tgpu.shared<"64 b32 contig 0 panel 64">
!b0 = !tgpu.smem<1x64x64xf16, #s0>
!b1 = !tgpu.smem<2x64xf32, #s1>
!b2 = !tgpu.smem<2x64x64xf16, #s2>
!b3 = !tgpu.smem<64x64xf16, #s3>
!b4 = !tgpu.smem<64xf32, #s4>
!t0 = tensor<64xf32, #f0>
!t1 = tensor<64x64xf32, #f1>
!t2 = tensor<64x64xf16, #f1>
!p0 = !tgpu.pending<!t1>
!g0 = !tile.global<64x64xf16>
!g1 = !tile.global<?x64xf16>
!g2 = !tile.global<64x64xf32>
!g3 = !tile.global<64xf32>
!c0 = !tgpu.channel<1>
!c1 = !tgpu.channel<2>

// CHECK-LABEL: tgpu.kernel @attention
// CHECK-SAME: block_threads = 256 : i32
// CHECK: tgpu.roles
// CHECK-NEXT: role "work" warps 0, 4 {
// CHECK: tgpu.one_thread {
// CHECK-NEXT: tgpu.acquire %[[Q:[a-z0-9_]+]][
// CHECK: scf.for %[[I:[a-z0-9_]+]] = {{.*}} iter_args(%{{.*}} = %{{.*}}) -> (tensor<64xf32, #tgpu.fragment<"64 reg 8 lane 0:0:1:2:4 warp 16:32">>)
// CHECK-NEXT: tile.splat
// CHECK-NEXT: tgpu.wait %[[K:[a-z0-9_]+]][%[[I]]]
// CHECK: transpose_b
// CHECK: tgpu.release %[[K]][%[[I]]]
// CHECK: tile.reduce
// CHECK: tgpu.publish
// CHECK: tgpu.publish
// CHECK-NOT: tgpu.wait
// CHECK: scf.yield
// CHECK: tgpu.store {{.*}} : tensor<64xf32
// CHECK-NEXT: }
// Its fragments are on the warps from 4 on, and so is the thread that fills.
// CHECK-NEXT: role "sum1" warps 4, 4 {
// CHECK: scf.for %[[J:[a-z0-9_]+]] = {{.*}} -> (tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0 {{.*}}">>)
// CHECK-NEXT: tgpu.one_thread attributes {warp = 4 : i32} {
// CHECK-NEXT: tgpu.acquire %[[K]][%[[J]]]
// CHECK-NOT: tile.reduce
// CHECK: tgpu.wait
// CHECK-NEXT: tgpu.local_load
// CHECK-NEXT: tgpu.release
// CHECK: tgpu.wgmma_fence
// CHECK: tgpu.wgmma_wait
// CHECK-NEXT: tgpu.release
// CHECK-NEXT: tgpu.release %[[K]][%[[J]]]
// CHECK: tgpu.store {{.*}} : tensor<64x64xf32
// CHECK-NOT: tgpu.role =
tgpu.kernel @attention(%arg0: !g0, %arg1: i32 {tgpu.divisible = 64 : i64}, %arg2: !g1, %arg3: !g2, %arg4: !g3) attributes {target = "sm_90a", tensor_maps = [#tgpu.tensor_map<2, extents = [-65, 1], strides = [-2, -65], box = [64, 64], swizzle = 128>, #tgpu.tensor_map<0, extents = [-65, -65], strides = [-2, -65], box = [64, 64], swizzle = 128>], threads = 128 : i32, warp_specialize = "operations"} {
  %c64_i32 = arith.constant 64 : i32
  %cst = arith.constant 0.000000e+00 : f32
  %c1_i32 = arith.constant 1 : i32
  %cst_0 = arith.constant 5.000000e-01 : f32
  %c0_i32 = arith.constant 0 : i32
  %0 = tgpu.channel "Qs" {consumers = 4 : i32, producers = 1 : i32} : !c0
  %1 = tgpu.alloc_shared "Qs" : !b0
  %2 = tgpu.alloc_shared "handed over" : !b0
  %3 = tgpu.channel "handed over" guards(%2 : !b0) {consumers = 4 : i32, producers = 128 : i32} : !c0
  %4 = tgpu.alloc_shared "handed over" : !b1
  %5 = tgpu.channel "handed over" guards(%4 : !b1) {consumers = 4 : i32, producers = 128 : i32} : !c1
  %6 = tgpu.channel "Ks" {consumers = 8 : i32, producers = 1 : i32} : !c1
  %7 = tgpu.alloc_shared "Ks" : !b2
  %8 = tgpu.view %arg2 extents(%arg1, %c64_i32 : i32, i32) strides(%c64_i32 : i32) : !g1 -> !g1
  %9 = tgpu.view %arg3 extents(%c64_i32, %c64_i32 : i32, i32) strides(%c64_i32 : i32) : !g2 -> !g2
  %10 = tgpu.view %arg4 extents(%c64_i32 : i32) strides() : !g3 -> !g3
  tgpu.one_thread attributes {tgpu.role = 0 : i32} {
    tgpu.acquire %0[%c0_i32] : !c0
    tgpu.expect %0[%c0_i32] bytes 8192 : !c0
    %17 = tgpu.view %arg0 extents(%c64_i32, %c64_i32 : i32, i32) strides(%c64_i32 : i32) : !g0 -> !g0
    %18 = tgpu.slot %1[%c0_i32] : !b0 -> !b3
    tgpu.tma_load %17 to %18 on %0[%c0_i32] {map = 1 : i32} : !g0, !b3, !c0
  }
  %11 = arith.divsi %arg1, %c64_i32 : i32
  %12 = tile.splat %cst : f32 -> !t0
  %13 = tile.splat %cst : f32 -> !t1
  %14 = arith.maxsi %11, %c0_i32 : i32
  tgpu.wait %0[%c0_i32] {tgpu.role = 0 : i32} : !c0
  %15 = tgpu.slot %1[%c0_i32] : !b0 -> !b3
  %16:2 = scf.for %arg5 = %c0_i32 to %14 step %c1_i32 iter_args(%arg6 = %12, %arg7 = %13) -> (!t0, !t1)  : i32 {
    tgpu.one_thread attributes {tgpu.role = 1 : i32} {
      tgpu.acquire %6[%arg5] : !c1
      tgpu.expect %6[%arg5] bytes 8192 : !c1
      %33 = arith.muli %arg5, %c64_i32 : i32
      %34 = tile.slice %8[%33, %c0_i32] sizes [64, 64] : !g1, i32, i32 -> !g0
      %35 = tgpu.slot %7[%arg5] : !b2 -> !b3
      tgpu.tma_load %34 to %35 on %6[%arg5] {map = 0 : i32} : !g0, !b3, !c1
    }
    %17 = tile.splat %cst : f32 -> !t1
    tgpu.wait %6[%arg5] {tgpu.role = 0 : i32} : !c1
    %18 = tgpu.slot %7[%arg5] : !b2 -> !b3
    tgpu.wgmma_fence
    %19 = tgpu.wgmma %15, %18, %17 {accumulate = false, mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>, transpose_b} : !b3, !b3, !t1 -> !p0
    tgpu.wgmma_commit
    %20 = tgpu.wgmma_wait 0, %19 : !p0 -> !t1
    tgpu.release %6[%arg5] {tgpu.role = 0 : i32} : !c1
    %21 = tile.reduce <sum> %20 axis 1 {tgpu.role = 0 : i32} : !t1 -> !t0
    %22 = arith.addf %arg6, %21 {tgpu.role = 0 : i32} : !t0
    %23 = tile.splat %cst_0 : f32 -> !t0
    %24 = arith.mulf %22, %23 {tgpu.role = 0 : i32} : !t0
    %25 = tgpu.slot %4[%arg5] : !b1 -> !b4
    tgpu.acquire %5[%arg5] {tgpu.role = 0 : i32} : !c1
    tgpu.local_store %24, %25 {tgpu.role = 0 : i32} : !t0, !b4
    tgpu.publish %5[%arg5] {tgpu.role = 0 : i32} : !c1
    tgpu.wait %5[%arg5] {tgpu.role = 1 : i32} : !c1
    %26 = tgpu.local_load %25 {tgpu.role = 1 : i32} : !b4 -> !t0
    tgpu.release %5[%arg5] {tgpu.role = 1 : i32} : !c1
    %27 = tile.broadcast %26 along [1] {tgpu.role = 1 : i32} : !t0 -> !t1
    %28 = arith.mulf %arg7, %27 {tgpu.role = 1 : i32} : !t1
    %29 = tile.convert %20 {tgpu.role = 0 : i32} : !t1 to !t2
    %30 = tgpu.slot %2[%arg5] : !b0 -> !b3
    tgpu.acquire %3[%arg5] {tgpu.role = 0 : i32} : !c0
    tgpu.local_store %29, %30 {tgpu.role = 0 : i32} : !t2, !b3
    tgpu.publish %3[%arg5] {tgpu.role = 0 : i32} : !c0
    tgpu.wait %6[%arg5] {tgpu.role = 1 : i32} : !c1
    tgpu.wait %3[%arg5] {tgpu.role = 1 : i32} : !c0
    tgpu.wgmma_fence
    %31 = tgpu.wgmma %30, %18, %28 {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !b3, !b3, !t1 -> !p0
    tgpu.wgmma_commit
    %32 = tgpu.wgmma_wait 0, %31 : !p0 -> !t1
    tgpu.release %3[%arg5] {tgpu.role = 1 : i32} : !c0
    tgpu.release %6[%arg5] {tgpu.role = 1 : i32} : !c1
    scf.yield %22, %32 : !t0, !t1
  } {tgpu.pipeline = #tgpu.pipeline<tma, stages = 2>, tile.stages = 2 : i32}
  tgpu.release %0[%c0_i32] {tgpu.role = 0 : i32} : !c0
  tgpu.store %16#1, %9 {bytes = 16 : i32, path = #tgpu.path<vector>, tgpu.role = 1 : i32} : !t1, !g2
  tgpu.store %16#0, %10 {bytes = 16 : i32, path = #tgpu.path<vector>, tgpu.role = 0 : i32} : !t0, !g3
  tgpu.return
}
