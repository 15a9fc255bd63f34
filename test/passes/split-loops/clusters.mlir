// Where blocks of a cluster fill each other's slots in a loop it is cut for conditions that are the same in these blocks.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-split-loops))' --verify-diagnostics | FileCheck %s

!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>

// Slots are filled along dimension 0, in which the first condition differs; the second differs along dimension 1 alone.
// CHECK-LABEL: tgpu.kernel @shared
// CHECK: scf.for
// CHECK: scf.if
// CHECK-NOT: scf.if
// CHECK: scf.yield %{{.*}} : tensor
// CHECK: scf.for
// CHECK: scf.if
// CHECK: scf.if
tgpu.kernel @shared(%points: i32, %hi: i32, %e: i32, %a: !s, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a", cluster = array<i32: 2, 2>} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant 0.0 : f32
  %z = tile.splat %zero : f32 -> !acc
  %ring = tgpu.channel "B" {producers = 1 : i32, consumers = 4 : i32, across = array<i32: 0>} : !tgpu.channel<2>
  %of_cluster = tgpu.cluster_id
  %x, %y = tgpu.grid_point %of_cluster in(%points, %points) {cluster = array<i32: 2, 2>} : i32, i32
  %r = scf.for %i = %c0 to %hi step %c1 iter_args(%acc = %z) -> (!acc) : i32 {
    tgpu.wait %ring[%i] : !tgpu.channel<2>
    tgpu.wgmma_fence
    %p = tgpu.wgmma %a, %a, %acc {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !s, !s, !acc -> !tgpu.pending<!acc>
    tgpu.wgmma_commit
    %d = tgpu.wgmma_wait 0, %p : !tgpu.pending<!acc> -> !acc
    tgpu.release %ring[%i] : !tgpu.channel<2>
    %v = arith.addi %i, %x : i32
    %is = arith.cmpi sgt, %v, %e : i32
    // expected-remark @+1 {{the loop is not cut for this condition: blocks of the cluster fill each other's slots in it, and the condition differs between them}}
    %n = scf.if %is -> (!acc) {
      %m = arith.negf %d : !acc
      scf.yield %m : !acc
    } else {
      scf.yield %d : !acc
    }
    %w = arith.addi %i, %y : i32
    %also = arith.cmpi sgt, %w, %e : i32
    // expected-remark @+1 {{the loop is cut where this condition turns: no test and no branch before}}
    %t = scf.if %also -> (!acc) {
      %m = arith.negf %n : !acc
      scf.yield %m : !acc
    } else {
      scf.yield %n : !acc
    }
    scf.yield %t : !acc
  }
  tgpu.store %r, %o : !acc, !tile.global<64x64xf32>
  tgpu.return
}
