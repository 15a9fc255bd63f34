// A loop whose copies all go by TMA: copies in stage 0, work in the last one. What is in flight across iterations is for tgpu-plan-schedule.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-plan-pipeline))' -verify-diagnostics -split-input-file | FileCheck %s

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
// CHECK-LABEL: tgpu.kernel @three
// CHECK: tgpu.copy {{.*}} tgpu.schedule = #tgpu.stage<0, 0>
// CHECK: tgpu.wgmma_fence {tgpu.schedule = #tgpu.stage<2, 1>}
// CHECK: tgpu.wgmma {{.*}} tgpu.schedule = #tgpu.stage<2, 2>
// CHECK: tgpu.wgmma_commit {tgpu.schedule = #tgpu.stage<2, 3>}
// CHECK: tgpu.wgmma_wait {{.*}} {tgpu.schedule = #tgpu.stage<2, 4>}
// CHECK: } {tgpu.pipeline = #tgpu.pipeline<tma, stages = 3>, tile.stages = 3 : i32}
tgpu.kernel @three(%a: !g {tgpu.align = 16 : i64, tile.name = "A"}, %m: i32, %n: i32 {tgpu.divisible = 8 : i64}, %z: !acc) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %v = tgpu.view %a extents(%m, %n : i32, i32) strides(%n : i32) : !g -> !g
  %s = tgpu.alloc_shared "S" : !s
  // expected-remark@+1 {{pipelined loop: 3 stages by TMA}}
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %z) -> (!acc) : i32 {
    %k = arith.muli %i, %c64 : i32
    %t = tile.slice %v[%c0, %k] sizes [64, 64] : !g, i32, i32 -> !t
    tgpu.copy %t to %s {path = #tgpu.path<tma>, bytes = 16 : i32} : !t, !s
    tgpu.wgmma_fence
    %p = tgpu.wgmma %s, %s, %c {transpose_b, mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !s, !s, !acc -> !tgpu.pending<!acc>
    tgpu.wgmma_commit
    %d = tgpu.wgmma_wait 0, %p : !tgpu.pending<!acc> -> !acc
    scf.yield %d : !acc
  } {tile.stages = 3 : i32}
  tgpu.return
}

// -----

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
// CHECK-LABEL: tgpu.kernel @two
// CHECK: tgpu.wgmma_wait {{.*}} {tgpu.schedule = #tgpu.stage<1, 4>}
// CHECK: #tgpu.pipeline<tma, stages = 2>
tgpu.kernel @two(%a: !g {tgpu.align = 16 : i64, tile.name = "A"}, %m: i32, %n: i32 {tgpu.divisible = 8 : i64}, %z: !acc) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %v = tgpu.view %a extents(%m, %n : i32, i32) strides(%n : i32) : !g -> !g
  %s = tgpu.alloc_shared "S" : !s
  // expected-remark@+1 {{pipelined loop: 2 stages by TMA}}
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %z) -> (!acc) : i32 {
    %k = arith.muli %i, %c64 : i32
    %t = tile.slice %v[%c0, %k] sizes [64, 64] : !g, i32, i32 -> !t
    tgpu.copy %t to %s {path = #tgpu.path<tma>, bytes = 16 : i32} : !t, !s
    tgpu.wgmma_fence
    %p = tgpu.wgmma %s, %s, %c {transpose_b, mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !s, !s, !acc -> !tgpu.pending<!acc>
    tgpu.wgmma_commit
    %d = tgpu.wgmma_wait 0, %p : !tgpu.pending<!acc> -> !acc
    scf.yield %d : !acc
  } {tile.stages = 2 : i32}
  tgpu.return
}

// -----

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
// CHECK-LABEL: tgpu.kernel @one
// CHECK: tgpu.copy {{.*}} tgpu.schedule = #tgpu.stage<0, 0>
// CHECK: tgpu.pipeline = #tgpu.pipeline<tma, stages = 1>, tile.stages = 1 : i32
tgpu.kernel @one(%a: !g {tgpu.align = 16 : i64, tile.name = "A"}, %m: i32, %n: i32 {tgpu.divisible = 8 : i64}, %z: !acc) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %v = tgpu.view %a extents(%m, %n : i32, i32) strides(%n : i32) : !g -> !g
  %s = tgpu.alloc_shared "S" : !s
  // expected-remark@+1 {{pipelined loop: 1 stage by TMA}}
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %z) -> (!acc) : i32 {
    %k = arith.muli %i, %c64 : i32
    %t = tile.slice %v[%c0, %k] sizes [64, 64] : !g, i32, i32 -> !t
    tgpu.copy %t to %s {path = #tgpu.path<tma>, bytes = 16 : i32} : !t, !s
    tgpu.wgmma_fence
    %p = tgpu.wgmma %s, %s, %c {transpose_b, mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !s, !s, !acc -> !tgpu.pending<!acc>
    tgpu.wgmma_commit
    %d = tgpu.wgmma_wait 0, %p : !tgpu.pending<!acc> -> !acc
    scf.yield %d : !acc
  } {tile.stages = 1 : i32}
  tgpu.return
}
