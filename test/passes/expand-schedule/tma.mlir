// From copies by TMA to loops that run ahead: a slot is awaited before its first reader, given back behind its last, and filled again at once.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-make-channels,tgpu-plan-schedule,tgpu-expand-schedule))' -verify-diagnostics -split-input-file | FileCheck %s

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
// Two slots: both are filled before the loop.
// CHECK-LABEL: tgpu.kernel @two
// CHECK-DAG: tgpu.alloc_shared "S" : !tgpu.smem<2x64x64xf16
// CHECK-DAG: %[[CH:.*]] = tgpu.channel "S" {{.*}} : !tgpu.channel<2>
// CHECK-COUNT-2: tgpu.tma_load
// CHECK: scf.for %[[J:[a-z0-9]+]] = %{{.*}} to %[[T:.*]] step
// CHECK-NEXT: tgpu.wait %[[CH]][%[[J]]]
// CHECK: tgpu.wgmma_wait 0
// CHECK-NEXT: tgpu.release %[[CH]][%[[J]]]
// CHECK: %[[NEXT:.*]] = arith.addi %[[J]], %c2
// CHECK: %[[MORE:.*]] = arith.cmpi slt, %[[NEXT]], %[[T]]
// CHECK: scf.if %[[MORE]]
// CHECK: tgpu.acquire %[[CH]][%[[NEXT]]]
// CHECK: tgpu.tma_load
// CHECK: scf.yield
// CHECK-NOT: tgpu.release
// CHECK: tgpu.return
tgpu.kernel @two(%a: !g {tgpu.align = 16 : i64}, %m: i32, %n: i32 {tgpu.divisible = 8 : i64}, %z: !acc, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %v = tgpu.view %a extents(%m, %n : i32, i32) strides(%n : i32) : !g -> !g
  %s = tgpu.alloc_shared "S" : !s
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %z) -> (!acc) : i32 {
    %k = arith.muli %i, %c64 : i32
    %t = tile.slice %v[%c0, %k] sizes [64, 64] : !g, i32, i32 -> !t
    tgpu.copy %t to %s {path = #tgpu.path<tma>, bytes = 16 : i32, tgpu.schedule = #tgpu.stage<0, 0>} : !t, !s
    tgpu.wgmma_fence {tgpu.schedule = #tgpu.stage<1, 1>}
    %p = tgpu.wgmma %s, %s, %c {transpose_b, mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>, tgpu.schedule = #tgpu.stage<1, 2>} : !s, !s, !acc -> !tgpu.pending<!acc>
    tgpu.wgmma_commit {tgpu.schedule = #tgpu.stage<1, 3>}
    %d = tgpu.wgmma_wait 0, %p : !tgpu.pending<!acc> -> !acc {tgpu.schedule = #tgpu.stage<1, 4>}
    scf.yield %d : !acc
  } {tile.stages = 2 : i32, tgpu.pipeline = #tgpu.pipeline<tma, stages = 2>}
  tgpu.store %r, %o : !acc, !tile.global<64x64xf32>
  tgpu.return
}

// -----

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
// One slot: each iteration fills it for the next one, behind its last use.
// CHECK-LABEL: tgpu.kernel @one
// CHECK-DAG: %[[CH:.*]] = tgpu.channel "S" {{.*}} : !tgpu.channel<1>
// CHECK: tgpu.tma_load
// CHECK: scf.for %[[J:[a-z0-9]+]] = %{{.*}} to %[[T:.*]] step
// CHECK: tgpu.wait %[[CH]][%[[J]]]
// CHECK: tgpu.fma
// CHECK: tgpu.release %[[CH]][%[[J]]]
// CHECK: %[[NEXT:.*]] = arith.addi %[[J]], %{{.*}} : i32
// CHECK: arith.cmpi slt, %[[NEXT]], %[[T]]
// CHECK: tgpu.acquire %[[CH]][%[[NEXT]]]
// CHECK: tgpu.tma_load
tgpu.kernel @one(%a: !g {tgpu.align = 16 : i64}, %m: i32, %n: i32 {tgpu.divisible = 8 : i64}, %z: !acc, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %v = tgpu.view %a extents(%m, %n : i32, i32) strides(%n : i32) : !g -> !g
  %s = tgpu.alloc_shared "S" : !s
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %z) -> (!acc) : i32 {
    %k = arith.muli %i, %c64 : i32
    %t = tile.slice %v[%c0, %k] sizes [64, 64] : !g, i32, i32 -> !t
    tgpu.copy %t to %s {path = #tgpu.path<tma>, bytes = 16 : i32, tgpu.schedule = #tgpu.stage<0, 0>} : !t, !s
    %d = tgpu.fma %s, %s, %c {tgpu.schedule = #tgpu.stage<1, 1>} : !s, !s, !acc -> !acc
    scf.yield %d : !acc
  } {tile.stages = 1 : i32, tgpu.pipeline = #tgpu.pipeline<tma, stages = 1>}
  tgpu.store %r, %o : !acc, !tile.global<64x64xf32>
  tgpu.return
}

// -----

!s = !tgpu.smem<64xf32, #tgpu.shared<"64 b32 contig 0 panel 64">>
!f = tensor<64xf32>
!g = !tile.global<?x?xf32>
!t = !tile.global<64xf32>
// One slot and buffers that are used at different places: a channel for each place. S is filled again before T is read, U, which
// nothing reads, at the end; two buffers that are used alike have one channel.
// CHECK-LABEL: tgpu.kernel @places
// CHECK-DAG: %[[S:.*]] = tgpu.channel "S+V"
// CHECK-DAG: %[[T:.*]] = tgpu.channel "T"
// CHECK-DAG: %[[U:.*]] = tgpu.channel "U"
// CHECK-COUNT-4: tgpu.tma_load
// CHECK: scf.for %[[J:[a-z0-9]+]] =
// CHECK-NOT: tgpu.wait %[[T]]
// CHECK: tgpu.wait %[[S]][%[[J]]]
// CHECK: scf.if
// CHECK: tgpu.store
// CHECK: tgpu.release %[[S]][%[[J]]]
// CHECK: tgpu.acquire %[[S]]
// CHECK-COUNT-2: tgpu.tma_load
// CHECK: tgpu.wait %[[T]][%[[J]]]
// CHECK: scf.if
// CHECK: tgpu.local_load
// CHECK: tgpu.release %[[T]][%[[J]]]
// CHECK: tgpu.acquire %[[T]]
// CHECK: tgpu.store
// CHECK: tgpu.wait %[[U]][%[[J]]]
// CHECK: tgpu.release %[[U]][%[[J]]]
// CHECK: tgpu.acquire %[[U]]
tgpu.kernel @places(%a: !g {tgpu.align = 16 : i64}, %m: i32, %n: i32 {tgpu.divisible = 4 : i64}, %yes: i1, %o: !t) attributes {threads = 64 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %x = tgpu.view %a extents(%m, %n : i32, i32) strides(%n : i32) : !g -> !g
  %s = tgpu.alloc_shared "S" : !s
  %v = tgpu.alloc_shared "V" : !s
  %t = tgpu.alloc_shared "T" : !s
  %u = tgpu.alloc_shared "U" : !s
  scf.for %i = %c0 to %m step %c1 : i32 {
    %r = tile.slice %x[%i, %c0] sizes [-1, 64] : !g, i32, i32 -> !t
    tgpu.copy %r to %s {path = #tgpu.path<tma>, bytes = 16 : i32, tgpu.schedule = #tgpu.stage<0, 0>} : !t, !s
    tgpu.copy %r to %v {path = #tgpu.path<tma>, bytes = 16 : i32, tgpu.schedule = #tgpu.stage<0, 1>} : !t, !s
    tgpu.copy %r to %t {path = #tgpu.path<tma>, bytes = 16 : i32, tgpu.schedule = #tgpu.stage<0, 2>} : !t, !s
    tgpu.copy %r to %u {path = #tgpu.path<tma>, bytes = 16 : i32, tgpu.schedule = #tgpu.stage<0, 3>} : !t, !s
    scf.if %yes {
      %y = tgpu.local_load %s : !s -> !f
      %w = tgpu.local_load %v : !s -> !f
      %p = arith.addf %y, %w : !f
      tgpu.store %p, %o {bytes = 4 : i32} : !f, !t
    } {tgpu.schedule = #tgpu.stage<1, 4>}
    %z = scf.if %yes -> (!f) {
      %w = tgpu.local_load %t : !s -> !f
      scf.yield %w : !f
    } else {
      %w = tgpu.local_load %t : !s -> !f
      scf.yield %w : !f
    } {tgpu.schedule = #tgpu.stage<1, 5>}
    tgpu.store %z, %o {bytes = 4 : i32, tgpu.schedule = #tgpu.stage<1, 6>} : !f, !t
  } {tile.stages = 1 : i32, tgpu.pipeline = #tgpu.pipeline<tma, stages = 1>}
  tgpu.return
}
