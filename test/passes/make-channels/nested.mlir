// The position in the ring runs on across the loops around, and each of them carries it.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-make-channels))' -verify-diagnostics -split-input-file | FileCheck %s

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
// CHECK-LABEL: tgpu.kernel @nested
// CHECK: %[[ZERO:.*]] = arith.constant 0 : i32
// CHECK: scf.for {{.*}} iter_args(%[[P0:.*]] = %[[ZERO]]) -> (i32)
// CHECK: %[[IN:.*]] = scf.for {{.*}} iter_args(%[[P1:.*]] = %[[P0]]) -> (i32)
// CHECK: %[[T:.*]] = arith.maxsi
// CHECK: scf.for %[[J:[a-z0-9]+]] =
// CHECK: %[[POS:.*]] = arith.addi %[[P1]], %[[J]]
// CHECK: tgpu.acquire %{{.*}}[%[[POS]]]
// CHECK: tgpu.wait %{{.*}}[%[[POS]]]
// CHECK: %[[END:.*]] = arith.addi %[[P1]], %[[T]]
// CHECK: scf.yield %[[END]] : i32
// CHECK: scf.yield %[[IN]] : i32
tgpu.kernel @nested(%a: !g {tgpu.align = 16 : i64}, %m: i32, %n: i32 {tgpu.divisible = 8 : i64}, %z: !acc, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %v = tgpu.view %a extents(%m, %n : i32, i32) strides(%n : i32) : !g -> !g
  %s = tgpu.alloc_shared "S" : !s
  scf.for %x = %c0 to %m step %c1 : i32 {
  scf.for %y = %c0 to %m step %c1 : i32 {
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %z) -> (!acc) : i32 {
    %k = arith.muli %i, %c64 : i32
    %t = tile.slice %v[%c0, %k] sizes [64, 64] : !g, i32, i32 -> !t
    tgpu.copy %t to %s {path = #tgpu.path<tma>, bytes = 16 : i32, tgpu.schedule = #tgpu.stage<0, 0>} : !t, !s
    %d = tgpu.fma %s, %s, %c {tgpu.schedule = #tgpu.stage<1, 1>} : !s, !s, !acc -> !acc
    scf.yield %d : !acc
  } {tile.stages = 2 : i32, tgpu.pipeline = #tgpu.pipeline<tma, stages = 2>}
  tgpu.store %r, %o : !acc, !tile.global<64x64xf32>
  }
  }
  tgpu.return
}

// -----

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
// A pipelined loop inside a pipelined loop: each has its ring.
// CHECK-LABEL: tgpu.kernel @both
// CHECK-DAG: tgpu.alloc_shared "S" : !tgpu.smem<2x64x64xf16
// CHECK-DAG: tgpu.alloc_shared "U" : !tgpu.smem<2x64x64xf16
// CHECK-DAG: %[[U:.*]] = tgpu.channel "U"
// CHECK-DAG: %[[S:.*]] = tgpu.channel "S"
// CHECK: scf.for %[[X:[a-z0-9]+]] = {{.*}} iter_args(%[[P:.*]] = %{{.*}}) -> (i32)
// CHECK: tgpu.acquire %[[U]][%[[X]]]
// CHECK: scf.for %[[J:[a-z0-9]+]] =
// CHECK: %[[POS:.*]] = arith.addi %[[P]], %[[J]]
// CHECK: tgpu.acquire %[[S]][%[[POS]]]
// CHECK: tgpu.release %[[S]][%[[POS]]]
// CHECK: tgpu.wait %[[U]][%[[X]]]
// CHECK: tgpu.release %[[U]][%[[X]]]
// CHECK: tgpu.store
tgpu.kernel @both(%a: !g {tgpu.align = 16 : i64}, %m: i32, %n: i32 {tgpu.divisible = 8 : i64}, %z: !acc, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %u = tgpu.alloc_shared "U" : !s
  %v = tgpu.view %a extents(%m, %n : i32, i32) strides(%n : i32) : !g -> !g
  %s = tgpu.alloc_shared "S" : !s
  scf.for %x = %c0 to %m step %c1 : i32 {
    %q = arith.muli %x, %c64 : i32
    %w = tile.slice %v[%q, %c0] sizes [64, 64] : !g, i32, i32 -> !t
    tgpu.copy %w to %u {path = #tgpu.path<tma>, bytes = 16 : i32, tgpu.schedule = #tgpu.stage<0, 0>} : !t, !s
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %z) -> (!acc) : i32 {
    %k = arith.muli %i, %c64 : i32
    %t = tile.slice %v[%c0, %k] sizes [64, 64] : !g, i32, i32 -> !t
    tgpu.copy %t to %s {path = #tgpu.path<tma>, bytes = 16 : i32, tgpu.schedule = #tgpu.stage<0, 0>} : !t, !s
    %d = tgpu.fma %s, %s, %c {tgpu.schedule = #tgpu.stage<1, 1>} : !s, !s, !acc -> !acc
    scf.yield %d : !acc
  } {tile.stages = 2 : i32, tgpu.pipeline = #tgpu.pipeline<tma, stages = 2>}
    %e = tgpu.fma %u, %u, %r {tgpu.schedule = #tgpu.stage<1, 2>} : !s, !s, !acc -> !acc
    tgpu.store %e, %o {tgpu.schedule = #tgpu.stage<1, 3>} : !acc, !tile.global<64x64xf32>
  } {tile.stages = 2 : i32, tgpu.pipeline = #tgpu.pipeline<tma, stages = 2>}
  tgpu.return
}
