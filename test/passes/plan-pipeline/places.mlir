// Where a copy reads may stand in global memory (a block table): it is read for another iteration like any value that is computed
// from the loop's variable, unless the loop writes it.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-plan-pipeline))' -verify-diagnostics -split-input-file | FileCheck %s

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
// CHECK-LABEL: tgpu.kernel @read
// CHECK: tgpu.pipeline = #tgpu.pipeline<tma,
tgpu.kernel @read(%a: !g {tgpu.align = 16 : i64, tile.name = "A"}, %m: i32, %n: i32 {tgpu.divisible = 8 : i64}, %z: !acc, %p: !tile.global<?xi32> {tile.name = "P"}) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %v = tgpu.view %a extents(%m, %n : i32, i32) strides(%n : i32) : !g -> !g
  %w = tgpu.view %p extents(%m : i32) strides() : !tile.global<?xi32> -> !tile.global<?xi32>
  %s = tgpu.alloc_shared "S" : !s
  // expected-remark@+1 {{pipelined loop: 3 stages by TMA}}
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %z) -> (!acc) : i32 {
    %k = tile.load %w[%i : i32] : !tile.global<?xi32> -> i32
    %t = tile.slice %v[%k, %c0] sizes [64, 64] : !g, i32, i32 -> !t
    tgpu.copy %t to %s {path = #tgpu.path<tma>, bytes = 16 : i32} : !t, !s
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
// CHECK-LABEL: tgpu.kernel @written
// CHECK-NOT: tgpu.pipeline
tgpu.kernel @written(%a: !g {tgpu.align = 16 : i64, tile.name = "A"}, %m: i32, %n: i32 {tgpu.divisible = 8 : i64}, %z: !acc, %p: !tile.global<?xi32> {tile.name = "P"}) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %v = tgpu.view %a extents(%m, %n : i32, i32) strides(%n : i32) : !g -> !g
  %w = tgpu.view %p extents(%m : i32) strides() : !tile.global<?xi32> -> !tile.global<?xi32>
  %s = tgpu.alloc_shared "S" : !s
  // expected-remark@+1 {{pipelined loop stays serial: the loop writes to the tensor that it reads}}
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %z) -> (!acc) : i32 {
    %k = tile.load %w[%i : i32] : !tile.global<?xi32> -> i32
    %t = tile.slice %v[%k, %c0] sizes [64, 64] : !g, i32, i32 -> !t
    tgpu.copy %t to %s {path = #tgpu.path<cp_async>, bytes = 16 : i32} : !t, !s
    tile.store %c1, %w[%k : i32] : i32, !tile.global<?xi32>
    %d = tgpu.fma %s, %s, %c : !s, !s, !acc -> !acc
    scf.yield %d : !acc
  } {tile.stages = 3 : i32}
  tgpu.return
}
