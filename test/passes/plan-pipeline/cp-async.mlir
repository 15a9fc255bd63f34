// A loop with copies by cp.async, and one by TMA in a branch of a loop.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-plan-pipeline))' -verify-diagnostics -split-input-file | FileCheck %s

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
// CHECK-LABEL: tgpu.kernel @cp_async
// CHECK: tgpu.copy {{.*}} tgpu.schedule = #tgpu.stage<0, 0>
// CHECK: tgpu.fma {{.*}} {tgpu.schedule = #tgpu.stage<2, 1>}
// CHECK: tgpu.pipeline = #tgpu.pipeline<cp_async, stages = 3>, tile.stages = 3 : i32
tgpu.kernel @cp_async(%a: !g {tgpu.align = 16 : i64, tile.name = "A"}, %m: i32, %n: i32 {tgpu.divisible = 8 : i64}, %z: !acc) attributes {threads = 128 : i32, target = "sm_80"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %v = tgpu.view %a extents(%m, %n : i32, i32) strides(%n : i32) : !g -> !g
  %s = tgpu.alloc_shared "S" : !s
  // expected-remark@+1 {{pipelined loop: 3 stages by cp.async}}
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %z) -> (!acc) : i32 {
    %k = arith.muli %i, %c64 : i32
    %t = tile.slice %v[%c0, %k] sizes [64, 64] : !g, i32, i32 -> !t
    tgpu.copy %t to %s {path = #tgpu.path<cp_async>, bytes = 16 : i32} : !t, !s
    %d = tgpu.fma %s, %s, %c : !s, !s, !acc -> !acc
    scf.yield %d : !acc
  } {tile.stages = 3 : i32}
  tgpu.return
}

// -----

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
// CHECK-LABEL: tgpu.kernel @branch
// CHECK: tgpu.pipeline = #tgpu.pipeline<tma,
tgpu.kernel @branch(%a: !g {tgpu.align = 16 : i64, tile.name = "A"}, %m: i32, %n: i32 {tgpu.divisible = 8 : i64}, %z: !acc, %q: i1) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %v = tgpu.view %a extents(%m, %n : i32, i32) strides(%n : i32) : !g -> !g
  %s = tgpu.alloc_shared "S" : !s
  scf.if %q {
  // expected-remark@+1 {{pipelined loop: 3 stages by TMA}}
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %z) -> (!acc) : i32 {
    %k = arith.muli %i, %c64 : i32
    %t = tile.slice %v[%c0, %k] sizes [64, 64] : !g, i32, i32 -> !t
    tgpu.copy %t to %s {path = #tgpu.path<tma>, bytes = 16 : i32} : !t, !s
    %d = tgpu.fma %s, %s, %c : !s, !s, !acc -> !acc
    scf.yield %d : !acc
  } {tile.stages = 3 : i32}
  }
  tgpu.return
}

// -----

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
// A copy that cannot use TMA leaves it to its neighbours.
// CHECK-LABEL: tgpu.kernel @mixed
// CHECK: tgpu.copy {{.*}} path = #tgpu.path<tma>, tgpu.schedule = #tgpu.stage<0, 0>
// CHECK: tgpu.copy {{.*}} path = #tgpu.path<cp_async>, tgpu.schedule = #tgpu.stage<0, 1>
// CHECK: tgpu.pipeline = #tgpu.pipeline<cp_async, stages = 3>
tgpu.kernel @mixed(%a: !g {tgpu.align = 16 : i64, tile.name = "A"}, %m: i32, %n: i32 {tgpu.divisible = 8 : i64}, %z: !acc) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %v = tgpu.view %a extents(%m, %n : i32, i32) strides(%n : i32) : !g -> !g
  %s = tgpu.alloc_shared "S" : !s
  %u = tgpu.alloc_shared "U" : !s
  // expected-remark@+1 {{pipelined loop: 3 stages by TMA and cp.async}}
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %z) -> (!acc) : i32 {
    %t = tile.slice %v[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
    tgpu.copy %t to %s {path = #tgpu.path<tma>, bytes = 16 : i32} : !t, !s
    tgpu.copy %t to %u {path = #tgpu.path<cp_async>, bytes = 16 : i32} : !t, !s
    %d = tgpu.fma %s, %u, %c : !s, !s, !acc -> !acc
    scf.yield %d : !acc
  } {tile.stages = 3 : i32}
  tgpu.return
}
