// A schedule that changes what its loop means is refused, whoever wrote it.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-expand-pipeline))' -verify-diagnostics -split-input-file

!a = !tgpu.smem<64x16xf16, #tgpu.shared<"64x16 b16 contig 1 panel 16 swizzle 32">>
!fa = tensor<64x16xf16, #tgpu.fragment<"64x16 reg 0,1:8,0:0,8 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!fb = tensor<16x64xf16, #tgpu.fragment<"16x64 reg 1,0:8,0:0,8:0,16:0,32 lane 2,0:4,0:0,1:0,2:0,4 warp 0,0:0,0">>
!bt = tensor<64x16xf16, #tgpu.fragment<"64x16 reg 0,1:0,8:8,0:16,0:32,0 lane 0,2:0,4:1,0:2,0:4,0 warp 0,0:0,0">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x16xf16>
// The next iteration's operand, read before this iteration stores it.
tgpu.kernel @read_before_store(%v: !g, %n: i32, %z: !acc, %h: !fa) attributes {threads = 128 : i32, target = "sm_80"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %s = tgpu.alloc_shared "S" : !a
  %u = tgpu.alloc_shared "U" : !a
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %z) -> (!acc) : i32 {
    %t = tile.slice %v[%c0, %i] sizes [64, 16] : !g, i32, i32 -> !t
    tgpu.copy %t to %s {path = #tgpu.path<cp_async>, bytes = 16 : i32, tgpu.schedule = #tgpu.stage<0, 0>} : !t, !a
    // expected-note @+1 {{this should keep its order to it}}
    tgpu.local_store %h, %u {tgpu.schedule = #tgpu.stage<2, 1>} : !fa, !a
    %x = tgpu.local_load %s {tgpu.schedule = #tgpu.stage<1, 2>} : !a -> !fa
    // expected-error @+1 {{has a stage that changes what the loop means: the loop also writes what it reads}}
    %y = tgpu.local_load %u {tgpu.schedule = #tgpu.stage<1, 3>} : !a -> !bt
    %b = tile.transpose %y : !bt -> !fb
    %d = tgpu.mma %x, %b, %c {mma = #tgpu.mma<mma_sync, 16, 8, 16, warps = 4, 1>} : !fa, !fb, !acc -> !acc
    scf.yield %d : !acc
  } {tile.stages = 3 : i32, tgpu.pipeline = #tgpu.pipeline<cp_async, stages = 3>}
  tgpu.return
}

// -----

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
// Filled ahead of what uses the data of the iteration before.
tgpu.kernel @used_before(%v: !g, %n: i32) attributes {threads = 128 : i32, target = "sm_80"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %s = tgpu.alloc_shared "S" : !s
  scf.for %i = %c0 to %n step %c1 : i32 {
    %t = tile.slice %v[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
    // expected-note @+1 {{this should keep its order to it}}
    %x = tgpu.local_load %s {tgpu.schedule = #tgpu.stage<2, 0>} : !s -> tensor<64x64xf16>
    // expected-error @+1 {{has a stage that changes what the loop means: the buffer is used before it is filled}}
    tgpu.copy %t to %s {path = #tgpu.path<cp_async>, bytes = 16 : i32, tgpu.schedule = #tgpu.stage<0, 1>} : !t, !s
  } {tile.stages = 3 : i32, tgpu.pipeline = #tgpu.pipeline<cp_async, stages = 3>}
  tgpu.return
}

// -----

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
tgpu.kernel @no_place(%v: !g, %n: i32) attributes {threads = 128 : i32, target = "sm_80"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %s = tgpu.alloc_shared "S" : !s
  scf.for %i = %c0 to %n step %c1 : i32 {
    %t = tile.slice %v[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
    tgpu.copy %t to %s {path = #tgpu.path<cp_async>, bytes = 16 : i32, tgpu.schedule = #tgpu.stage<0, 0>} : !t, !s
    // expected-error @+1 {{cannot run in stage 1 of 3}}
    %x = tgpu.local_load %s {tgpu.schedule = #tgpu.stage<1, 1>} : !s -> tensor<64x64xf16>
  } {tile.stages = 3 : i32, tgpu.pipeline = #tgpu.pipeline<cp_async, stages = 3>}
  tgpu.return
}

// -----

!f = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<?x?xf32>
!t = !tile.global<64x64xf32>
// A load of what the iteration before stores.
tgpu.kernel @load_before_store(%a: !g, %n: i32, %h: !f) attributes {threads = 128 : i32, target = "sm_80"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %v = tgpu.view %a extents(%n, %n : i32, i32) strides(%n : i32) : !g -> !g
  // expected-note @+1 {{this should keep its order to it}}
  scf.for %i = %c0 to %n step %c1 : i32 {
    %t = tile.slice %v[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
    // expected-error @+1 {{has a stage that changes what the loop means: the loop writes to the tensor that it reads}}
    %x = tgpu.load %t {tgpu.schedule = #tgpu.stage<0, 0>} : !t -> !f
    %y = arith.addf %x, %h : !f
    %u = tile.slice %v[%i, %c0] sizes [64, 64] : !g, i32, i32 -> !t
    tgpu.store %y, %u {tgpu.schedule = #tgpu.stage<1, 1>} : !f, !t
  } {tgpu.pipeline = #tgpu.pipeline<vector, stages = 2>}
  tgpu.return
}
