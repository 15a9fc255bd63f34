// Which copies share a channel: those that are read between the same operations.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-make-channels))' -split-input-file | FileCheck %s

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
// Two operands of one product. The bytes of both are expected.
// CHECK-LABEL: tgpu.kernel @operands
// CHECK: %[[CH:.*]] = tgpu.channel "A+B"
// CHECK-NOT: tgpu.channel "
// CHECK: tgpu.one_thread
// CHECK-NEXT: tgpu.acquire %[[CH]]
// CHECK-NEXT: tgpu.expect %[[CH]][%{{.*}}] bytes 16384
// CHECK-COUNT-2: tgpu.tma_load {{.*}} on %[[CH]]
// CHECK: }
// CHECK-NOT: tgpu.one_thread
// CHECK: tgpu.wait %[[CH]]
// CHECK-NEXT: %[[A:.*]] = tgpu.slot
// CHECK-NEXT: %[[B:.*]] = tgpu.slot
// CHECK-NEXT: tgpu.wgmma_fence
// CHECK-NEXT: tgpu.wgmma %[[A]], %[[B]]
// CHECK: tgpu.release %[[CH]]
// CHECK-NOT: tgpu.release
// CHECK: tgpu.return
tgpu.kernel @operands(%g: !g {tgpu.align = 16 : i64}, %n: i32 {tgpu.divisible = 8 : i64}, %z: !acc) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %v = tgpu.view %g extents(%n, %n : i32, i32) strides(%n : i32) : !g -> !g
  %a = tgpu.alloc_shared "A" : !s
  %b = tgpu.alloc_shared "B" : !s
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %z) -> (!acc) : i32 {
    %t = tile.slice %v[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
    tgpu.copy %t to %a {path = #tgpu.path<tma>, bytes = 16 : i32, tgpu.schedule = #tgpu.stage<0, 0>} : !t, !s
    tgpu.copy %t to %b {path = #tgpu.path<tma>, bytes = 16 : i32, tgpu.schedule = #tgpu.stage<0, 0>} : !t, !s
    tgpu.wgmma_fence {tgpu.schedule = #tgpu.stage<1, 2>}
    %p = tgpu.wgmma %a, %b, %c {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>, tgpu.schedule = #tgpu.stage<1, 3>} : !s, !s, !acc -> !tgpu.pending<!acc>
    tgpu.wgmma_commit {tgpu.schedule = #tgpu.stage<1, 4>}
    %d = tgpu.wgmma_wait 0, %p : !tgpu.pending<!acc> -> !acc {tgpu.schedule = #tgpu.stage<1, 5>}
    scf.yield %d : !acc
  } {tile.stages = 2 : i32, tgpu.pipeline = #tgpu.pipeline<tma, stages = 2>}
  tgpu.return
}

// -----

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
// Keys and values of attention are needed one behind the other: each has a channel, and slots of keys are free as soon as their product is
// complete.
// CHECK-LABEL: tgpu.kernel @keys_and_values
// CHECK-DAG: %[[K:.*]] = tgpu.channel "K"
// CHECK-DAG: %[[V:.*]] = tgpu.channel "V"
// CHECK: tgpu.one_thread
// CHECK: tgpu.expect %[[K]][%{{.*}}] bytes 8192
// CHECK: tgpu.one_thread
// CHECK: tgpu.expect %[[V]][%{{.*}}] bytes 8192
// CHECK: tgpu.wait %[[K]]
// CHECK: tgpu.wgmma_wait
// CHECK-NEXT: tgpu.release %[[K]]
// CHECK: math.exp2
// CHECK: tgpu.wait %[[V]]
// CHECK: tgpu.wgmma_wait
// CHECK-NEXT: tgpu.release %[[V]]
tgpu.kernel @keys_and_values(%g: !g {tgpu.align = 16 : i64}, %n: i32 {tgpu.divisible = 8 : i64}, %z: !acc) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %v = tgpu.view %g extents(%n, %n : i32, i32) strides(%n : i32) : !g -> !g
  %q = tgpu.alloc_shared "Q" : !s
  %k = tgpu.alloc_shared "K" : !s
  %x = tgpu.alloc_shared "V" : !s
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %z) -> (!acc) : i32 {
    %t = tile.slice %v[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
    tgpu.copy %t to %k {path = #tgpu.path<tma>, bytes = 16 : i32, tgpu.schedule = #tgpu.stage<0, 0>} : !t, !s
    tgpu.copy %t to %x {path = #tgpu.path<tma>, bytes = 16 : i32, tgpu.schedule = #tgpu.stage<0, 0>} : !t, !s
    tgpu.wgmma_fence {tgpu.schedule = #tgpu.stage<1, 2>}
    %p = tgpu.wgmma %q, %k, %c {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>, tgpu.schedule = #tgpu.stage<1, 3>} : !s, !s, !acc -> !tgpu.pending<!acc>
    tgpu.wgmma_commit {tgpu.schedule = #tgpu.stage<1, 4>}
    %e = tgpu.wgmma_wait 0, %p : !tgpu.pending<!acc> -> !acc {tgpu.schedule = #tgpu.stage<1, 5>}
    %f = math.exp2 %e : !acc
    tgpu.wgmma_fence {tgpu.schedule = #tgpu.stage<1, 2>}
    %o = tgpu.wgmma %q, %x, %f {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>, tgpu.schedule = #tgpu.stage<1, 3>} : !s, !s, !acc -> !tgpu.pending<!acc>
    tgpu.wgmma_commit {tgpu.schedule = #tgpu.stage<1, 4>}
    %d = tgpu.wgmma_wait 0, %o : !tgpu.pending<!acc> -> !acc {tgpu.schedule = #tgpu.stage<1, 5>}
    scf.yield %d : !acc
  } {tile.stages = 2 : i32, tgpu.pipeline = #tgpu.pipeline<tma, stages = 2>}
  tgpu.return
}
