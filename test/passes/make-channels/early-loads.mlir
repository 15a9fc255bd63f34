// Loads into fragments that run ahead keep their distance, now counted from their own iteration.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-make-channels))' | FileCheck %s

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!h = tensor<64xf32, #tgpu.fragment<"64 reg 8 lane 0:0:1:2:4 warp 16:32">>
!w = !tile.global<?xf32>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
// CHECK-LABEL: tgpu.kernel @ahead
// CHECK: scf.for
// CHECK-NOT: tgpu.schedule
// CHECK: tgpu.load {{.*}} {tgpu.schedule = #tgpu.stage<-1, 1>}
// CHECK-NOT: tgpu.schedule
// CHECK: tgpu.return
tgpu.kernel @ahead(%g: !g {tgpu.align = 16 : i64}, %n: i32 {tgpu.divisible = 8 : i64}, %z: !acc, %w: !w) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %v = tgpu.view %g extents(%n, %n : i32, i32) strides(%n : i32) : !g -> !g
  %s = tgpu.alloc_shared "S" : !s
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %z) -> (!acc) : i32 {
    %t = tile.slice %v[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
    tgpu.copy %t to %s {path = #tgpu.path<tma>, bytes = 16 : i32, tgpu.schedule = #tgpu.stage<0, 0>} : !t, !s
    %u = tile.slice %w[%i] sizes [64] : !w, i32 -> !tile.global<64xf32>
    %x = tgpu.load %u {tgpu.schedule = #tgpu.stage<1, 1>} : !tile.global<64xf32> -> !h
    %b = tile.broadcast %x along [1] : !h -> !acc
    %y = arith.addf %c, %b : !acc
    %d = tgpu.fma %s, %s, %y {tgpu.schedule = #tgpu.stage<2, 2>} : !s, !s, !acc -> !acc
    scf.yield %d : !acc
  } {tile.stages = 3 : i32, tgpu.pipeline = #tgpu.pipeline<tma, stages = 3>}
  tgpu.return
}
