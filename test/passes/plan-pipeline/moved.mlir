// What leaves its place in a loop, decided from all accesses of the loop: copies one by one, reads of the next iteration, buffers that
// are declared in the loop.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-plan-pipeline))' -verify-diagnostics -split-input-file | FileCheck %s

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
// A copy that cannot run ahead leaves the others alone. By TMA it waits for itself only.
// CHECK-LABEL: tgpu.kernel @beside_tma
// CHECK: tgpu.copy {{.*}} {bytes = 16 : i32, path = #tgpu.path<tma>, tgpu.schedule = #tgpu.stage<0, 0>}
// CHECK: tgpu.cp_async %
// CHECK: tgpu.cp_async_wait 0
// CHECK: tgpu.pipeline = #tgpu.pipeline<tma, stages = 3>
tgpu.kernel @beside_tma(%a: !g {tgpu.align = 16 : i64}, %n: i32 {tgpu.divisible = 8 : i64}, %z: !acc) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %v = tgpu.view %a extents(%n, %n : i32, i32) strides(%n : i32) : !g -> !g
  %s = tgpu.alloc_shared "S" : !s
  %u = tgpu.alloc_shared "U" : !s
  // expected-remark @+1 {{pipelined loop: 3 stages by TMA}}
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %z) -> (!acc) : i32 {
    %t = tile.slice %v[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
    tgpu.copy %t to %s {path = #tgpu.path<tma>, bytes = 16 : i32} : !t, !s
    // expected-remark @+2 {{copy overlaps nothing: the buffer is also used outside the loop}}
    // expected-remark @+1 {{copy uses no TMA: the buffer is also used outside the loop}}
    tgpu.copy %t to %u {path = #tgpu.path<tma>, bytes = 16 : i32} : !t, !s
    %d = tgpu.fma %s, %u, %c : !s, !s, !acc -> !acc
    scf.yield %d : !acc
  } {tile.stages = 3 : i32}
  %e = tgpu.fma %u, %u, %r : !s, !s, !acc -> !acc
  tgpu.return
}

// -----

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
// By cp.async it moves by loads and stores, so that nothing waits for the groups that run ahead.
// CHECK-LABEL: tgpu.kernel @beside_cp_async
// CHECK: tgpu.copy {{.*}} path = #tgpu.path<cp_async>, tgpu.schedule = #tgpu.stage<0, 0>}
// CHECK: tgpu.copy {{.*}} path = #tgpu.path<vector>, tgpu.schedule = #tgpu.stage<2, 1>}
// CHECK: tgpu.pipeline = #tgpu.pipeline<cp_async, stages = 3>
tgpu.kernel @beside_cp_async(%a: !g {tgpu.align = 16 : i64}, %n: i32 {tgpu.divisible = 8 : i64}, %z: !acc, %h: tensor<64x64xf16>) attributes {threads = 128 : i32, target = "sm_80"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %v = tgpu.view %a extents(%n, %n : i32, i32) strides(%n : i32) : !g -> !g
  %s = tgpu.alloc_shared "S" : !s
  %u = tgpu.alloc_shared "U" : !s
  // expected-remark @+1 {{pipelined loop: 3 stages by cp.async}}
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %z) -> (!acc) : i32 {
    %t = tile.slice %v[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
    tgpu.copy %t to %s {path = #tgpu.path<cp_async>, bytes = 16 : i32} : !t, !s
    // expected-remark @+1 {{copy overlaps nothing: the buffer is written twice in an iteration}}
    tgpu.copy %t to %u {path = #tgpu.path<cp_async>, bytes = 16 : i32} : !t, !s
    tgpu.local_store %h, %u : tensor<64x64xf16>, !s
    %d = tgpu.fma %s, %u, %c : !s, !s, !acc -> !acc
    scf.yield %d : !acc
  } {tile.stages = 3 : i32}
  tgpu.return
}

// -----

!a = !tgpu.smem<64x16xf16, #tgpu.shared<"64x16 b16 contig 1 panel 16 swizzle 32">>
!fa = tensor<64x16xf16, #tgpu.fragment<"64x16 reg 0,1:8,0:0,8 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!fb = tensor<16x64xf16, #tgpu.fragment<"16x64 reg 1,0:8,0:0,8:0,16:0,32 lane 2,0:4,0:0,1:0,2:0,4 warp 0,0:0,0">>
!bt = tensor<64x16xf16, #tgpu.fragment<"64x16 reg 0,1:0,8:8,0:16,0:32,0 lane 0,2:0,4:1,0:2,0:4,0 warp 0,0:0,0">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x16xf16>
// The operands of the first mma.sync are read early, one from a ring, one from a buffer that the loop does not write.
// CHECK-LABEL: tgpu.kernel @early
// CHECK: tgpu.local_load {{.*}} {tgpu.schedule = #tgpu.stage<1, 1>}
// CHECK: tgpu.local_load {{.*}} {tgpu.schedule = #tgpu.stage<1, 2>}
tgpu.kernel @early(%a: !g {tgpu.align = 16 : i64}, %n: i32 {tgpu.divisible = 8 : i64}, %z: !acc) attributes {threads = 128 : i32, target = "sm_80"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %v = tgpu.view %a extents(%n, %n : i32, i32) strides(%n : i32) : !g -> !g
  %s = tgpu.alloc_shared "S" : !a
  %u = tgpu.alloc_shared "U" : !a
  // expected-remark @+1 {{pipelined loop: 3 stages by cp.async}}
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %z) -> (!acc) : i32 {
    %t = tile.slice %v[%c0, %i] sizes [64, 16] : !g, i32, i32 -> !t
    tgpu.copy %t to %s {path = #tgpu.path<cp_async>, bytes = 16 : i32} : !t, !a
    %x = tgpu.local_load %s : !a -> !fa
    %y = tgpu.local_load %u : !a -> !bt
    %b = tile.transpose %y : !bt -> !fb
    %d = tgpu.mma %x, %b, %c {mma = #tgpu.mma<mma_sync, 16, 8, 16, warps = 4, 1>} : !fa, !fb, !acc -> !acc
    scf.yield %d : !acc
  } {tile.stages = 3 : i32}
  tgpu.return
}

// -----

!a = !tgpu.smem<64x16xf16, #tgpu.shared<"64x16 b16 contig 1 panel 16 swizzle 32">>
!fa = tensor<64x16xf16, #tgpu.fragment<"64x16 reg 0,1:8,0:0,8 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!fb = tensor<16x64xf16, #tgpu.fragment<"16x64 reg 1,0:8,0:0,8:0,16:0,32 lane 2,0:4,0:0,1:0,2:0,4 warp 0,0:0,0">>
!bt = tensor<64x16xf16, #tgpu.fragment<"64x16 reg 0,1:0,8:8,0:16,0:32,0 lane 0,2:0,4:1,0:2,0:4,0 warp 0,0:0,0">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x16xf16>
// Not where the loop stores what they read, before or after the product. A ring's buffer may be declared in the loop.
// CHECK-LABEL: tgpu.kernel @stored
// CHECK: %[[S:.*]] = tgpu.alloc_shared "S"
// CHECK: scf.for
// CHECK: tgpu.copy %{{.*}} to %[[S]]
// CHECK: tgpu.local_load {{.*}} {tgpu.schedule = #tgpu.stage<2, 1>}
// CHECK: tgpu.local_load {{.*}} {tgpu.schedule = #tgpu.stage<2, 2>}
tgpu.kernel @stored(%a: !g {tgpu.align = 16 : i64}, %n: i32 {tgpu.divisible = 8 : i64}, %z: !acc, %h: !fa) attributes {threads = 128 : i32, target = "sm_80"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %v = tgpu.view %a extents(%n, %n : i32, i32) strides(%n : i32) : !g -> !g
  %u = tgpu.alloc_shared "U" : !a
  // expected-remark @+1 {{pipelined loop: 3 stages by cp.async}}
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %z) -> (!acc) : i32 {
    %s = tgpu.alloc_shared "S" : !a
    %t = tile.slice %v[%c0, %i] sizes [64, 16] : !g, i32, i32 -> !t
    tgpu.copy %t to %s {path = #tgpu.path<cp_async>, bytes = 16 : i32} : !t, !a
    // expected-remark @+1 {{operands are not read one iteration early: the loop also writes what it reads}}
    %x = tgpu.local_load %s : !a -> !fa
    %y = tgpu.local_load %u : !a -> !bt
    %b = tile.transpose %y : !bt -> !fb
    %d = tgpu.mma %x, %b, %c {mma = #tgpu.mma<mma_sync, 16, 8, 16, warps = 4, 1>} : !fa, !fb, !acc -> !acc
    tgpu.local_store %h, %u : !fa, !a
    scf.yield %d : !acc
  } {tile.stages = 3 : i32}
  tgpu.return
}
