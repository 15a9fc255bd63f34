// What cp.async copies from beyond the bounds of a view is zero already.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-expand-pipeline))' | FileCheck %s

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<?x?xf16>
!h = !tile.global<100x100xf16>
!t = !tile.global<64x64xf16>
// CHECK-LABEL: tgpu.kernel @cp_async
// CHECK-NOT: tgpu.zero_beyond
// CHECK: tgpu.return
tgpu.kernel @cp_async(%a: !g {tgpu.align = 16 : i64}, %m: i32, %n: i32 {tgpu.divisible = 8 : i64}, %z: !acc, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %v = tgpu.view %a extents(%m, %n : i32, i32) strides(%n : i32) : !g -> !g
  %part = tile.slice %v[%c0, %c0] sizes [100, 100] : !g, i32, i32 -> !h
  %s = tgpu.alloc_shared "S" : !s
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %z) -> (!acc) : i32 {
    %k = arith.muli %i, %c64 : i32
    %t = tile.slice %part[%k, %c0] sizes [64, 64] : !h, i32, i32 -> !t
    tgpu.copy %t to %s {path = #tgpu.path<cp_async>, bytes = 16 : i32, tgpu.schedule = #tgpu.stage<0, 0>} : !t, !s
    %d = tgpu.fma %s, %s, %c {tgpu.schedule = #tgpu.stage<1, 1>} : !s, !s, !acc -> !acc
    scf.yield %d : !acc
  } {tile.stages = 2 : i32, tgpu.pipeline = #tgpu.pipeline<cp_async, stages = 2>}
  tgpu.store %r, %o : !acc, !tile.global<64x64xf32>
  tgpu.return
}
