// mma.sync by cp.async: the first operands of an iteration are read before the last product of the one before.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-lower-dots,tgpu-plan-pipeline,tgpu-expand-pipeline,canonicalize,cse))' -verify-diagnostics | FileCheck %s

!a = !tgpu.smem<64x32xf16, #tgpu.shared<"64x32 b16 contig 1 panel 32 swizzle 64">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:16,0 lane 0,2:0,4:1,0:2,0:4,0 warp 32,0:0,32">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x32xf16>

// CHECK-LABEL: tgpu.kernel @ahead
// CHECK: %[[RING:.*]] = tgpu.alloc_shared "A" : !tgpu.smem<3x64x32xf16
// CHECK-COUNT-2: tgpu.cp_async_commit
// CHECK: tgpu.cp_async_wait 1
// CHECK-NEXT: tgpu.barrier
// CHECK: %[[A0:.*]] = tgpu.local_load
// CHECK: %[[B0:.*]] = tgpu.local_load
// CHECK: %[[B0T:.*]] = tile.transpose %[[B0]]
// CHECK: scf.for {{.*}} iter_args(%[[C:[a-z0-9]+]] = %{{[a-z0-9]+}}, %[[A:[a-z0-9]+]] = %[[A0]], %[[B:[a-z0-9]+]] = %[[B0T]])
// CHECK: %[[D:.*]] = tgpu.mma %[[A]], %[[B]], %[[C]]
// CHECK: tgpu.cp_async %
// CHECK: tgpu.cp_async_commit
// CHECK: tgpu.cp_async_wait 1
// CHECK: tgpu.barrier
// CHECK: tgpu.local_load
// CHECK: tgpu.local_load
// CHECK: %[[E:.*]] = tgpu.mma {{.*}}, %[[D]]
// CHECK: scf.yield %[[E]]
// CHECK: tgpu.cp_async_wait 0
// CHECK: tgpu.return
tgpu.kernel @ahead(%g: !g {tgpu.align = 16 : i64}, %m: i32, %n: i32 {tgpu.divisible = 8 : i64}, %z: !acc, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_80"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c32 = arith.constant 32 : i32
  %v = tgpu.view %g extents(%m, %n : i32, i32) strides(%n : i32) : !g -> !g
  %a = tgpu.alloc_shared "A" : !a
  // expected-remark@+1 {{pipelined loop: 3 stages by cp.async}}
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %z) -> (!acc) : i32 {
    %k = arith.muli %i, %c32 : i32
    %t = tile.slice %v[%c0, %k] sizes [64, 32] : !g, i32, i32 -> !t
    tgpu.copy %t to %a {path = #tgpu.path<cp_async>, bytes = 16 : i32} : !t, !a
    %d = tgpu.dot %a, %a, %c {transpose_b, mma = #tgpu.mma<mma_sync, 16, 8, 16, warps = 2, 2>} : !a, !a, !acc -> !acc
    scf.yield %d : !acc
  } {tile.stages = 3 : i32}
  tgpu.store %r, %o : !acc, !tile.global<64x64xf32>
  tgpu.return
}
