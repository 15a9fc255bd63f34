// A copy by TMA outside of pipelined loops, in a kernel with warps that load: a channel of its own, and a slot for each
// execution of its block, by turns of two where a loop goes round and there is room.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-make-channels))' | FileCheck %s

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!w = !tgpu.smem<256x256xf16, #tgpu.shared<"256x256 b16 contig 1 panel 64 swizzle 128">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
!u = !tile.global<256x256xf16>
!e = !tile.global<64x64xf32>

// CHECK-LABEL: tgpu.kernel @once
// CHECK: %[[C:.*]] = tgpu.channel "S" {consumers = 4 : i32, producers = 1 : i32} : !tgpu.channel<1>
// CHECK: %[[RING:.*]] = tgpu.alloc_shared "S" : !tgpu.smem<1x64x64xf16
// CHECK: tgpu.one_thread
// CHECK-NEXT: tgpu.acquire %[[C]][%[[ZERO:.*]]]
// CHECK-NEXT: tgpu.expect %[[C]][%[[ZERO]]] bytes 8192
// CHECK: tgpu.tma_load
// CHECK: tgpu.wait %[[C]][%[[ZERO]]]
// CHECK: scf.for
// CHECK: tgpu.fma
// CHECK: }
// CHECK: tgpu.release %[[C]][%[[ZERO]]]
tgpu.kernel @once(%g: !g {tgpu.align = 16 : i64}, %n: i32 {tgpu.divisible = 8 : i64}, %z: !acc, %o: !e) attributes {threads = 128 : i32, target = "sm_90a", warp_specialize = "producer"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %v = tgpu.view %g extents(%n, %n : i32, i32) strides(%n : i32) : !g -> !g
  %s = tgpu.alloc_shared "S" : !s
  %u = tile.slice %v[%c0, %c0] sizes [64, 64] : !g, i32, i32 -> !t
  tgpu.copy %u to %s {path = #tgpu.path<tma>, bytes = 16 : i32} : !t, !s
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %z) -> (!acc) : i32 {
    %d = tgpu.fma %s, %s, %c : !s, !s, !acc -> !acc
    scf.yield %d : !acc
  }
  tgpu.store %r, %o : !acc, !e
  tgpu.return
}

// CHECK-LABEL: tgpu.kernel @each_point
// CHECK: %[[C:.*]] = tgpu.channel "S" {{.*}} : !tgpu.channel<2>
// CHECK: tgpu.alloc_shared "S" : !tgpu.smem<2x64x64xf16
// CHECK: scf.for {{.*}} iter_args(%[[P:.*]] = %{{.*}}) -> (i32)
// CHECK: %[[NEXT:.*]] = arith.addi %[[P]]
// CHECK: tgpu.acquire %[[C]][%[[P]]]
// CHECK: scf.if
// CHECK: }
// CHECK: scf.yield %[[NEXT]] : i32
tgpu.kernel @each_point(%g: !g {tgpu.align = 16 : i64}, %n: i32 {tgpu.divisible = 8 : i64}, %p: i1, %z: !acc, %o: !e) attributes {threads = 128 : i32, target = "sm_90a", warp_specialize = "producer"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %v = tgpu.view %g extents(%n, %n : i32, i32) strides(%n : i32) : !g -> !g
  %other = tgpu.alloc_shared "other" : !w // a multiprocessor holds one block in any case
  scf.for %i = %c0 to %n step %c1 : i32 {
    %s = tgpu.alloc_shared "S" : !s
    %u = tile.slice %v[%i, %c0] sizes [64, 64] : !g, i32, i32 -> !t
    tgpu.copy %u to %s {path = #tgpu.path<tma>, bytes = 16 : i32} : !t, !s
    scf.if %p {
      %d = tgpu.fma %s, %s, %z : !s, !s, !acc -> !acc
      tgpu.store %d, %o : !acc, !e
    }
  }
  tgpu.return
}

// No room for two.
// CHECK-LABEL: tgpu.kernel @large
// CHECK: tgpu.alloc_shared "W" : !tgpu.smem<1x256x256xf16
tgpu.kernel @large(%g: !g {tgpu.align = 16 : i64}, %n: i32 {tgpu.divisible = 8 : i64}) attributes {threads = 128 : i32, target = "sm_90a", warp_specialize = "producer"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %v = tgpu.view %g extents(%n, %n : i32, i32) strides(%n : i32) : !g -> !g
  scf.for %i = %c0 to %n step %c1 : i32 {
    %s = tgpu.alloc_shared "W" : !w
    %u = tile.slice %v[%i, %c0] sizes [256, 256] : !g, i32, i32 -> !u
    tgpu.copy %u to %s {path = #tgpu.path<tma>, bytes = 16 : i32} : !u, !w
  }
  tgpu.return
}
