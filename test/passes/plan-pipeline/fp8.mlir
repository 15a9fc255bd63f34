// Promoted sums of fp8 are used in their iteration: by TMA, but without a product in flight across iterations.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-lower-dots,tgpu-plan-pipeline,tgpu-expand-pipeline))' -verify-diagnostics | FileCheck %s

!s = !tgpu.smem<64x128xf8E4M3FN, #tgpu.shared<"64x128 b8 contig 1 panel 128 swizzle 128">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<?x?xf8E4M3FN>
!t = !tile.global<64x128xf8E4M3FN>

// CHECK-LABEL: tgpu.kernel @fp8
// CHECK-COUNT-2: tgpu.tma_load
// CHECK-NOT: wgmma_begin
// CHECK: scf.for
// CHECK: tgpu.tma_load
// CHECK: tgpu.wait
// CHECK: tgpu.wgmma_wait 0
// CHECK: arith.addf
// CHECK: tgpu.wgmma_wait 0
// CHECK: %[[SUM:.*]] = arith.addf
// CHECK: tgpu.release
// CHECK: scf.yield %[[SUM]]
tgpu.kernel @fp8(%g: !g {tgpu.align = 16 : i64}, %m: i32, %n: i32 {tgpu.divisible = 16 : i64}, %z: !acc, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c128 = arith.constant 128 : i32
  %v = tgpu.view %g extents(%m, %n : i32, i32) strides(%n : i32) : !g -> !g
  %a = tgpu.alloc_shared "A" : !s
  // expected-remark@+1 {{pipelined loop: 3 stages by TMA}}
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %z) -> (!acc) : i32 {
    %k = arith.muli %i, %c128 : i32
    %t = tile.slice %v[%c0, %k] sizes [64, 128] : !g, i32, i32 -> !t
    tgpu.copy %t to %a {path = #tgpu.path<tma>, bytes = 16 : i32} : !t, !s
    %d = tgpu.dot %a, %a, %c {transpose_b, promote = 64 : i32, mma = #tgpu.mma<wgmma, 64, 64, 32, warps = 1, 1>} : !s, !s, !acc -> !acc
    scf.yield %d : !acc
  } {tile.stages = 3 : i32}
  tgpu.store %r, %o : !acc, !tile.global<64x64xf32>
  tgpu.return
}
