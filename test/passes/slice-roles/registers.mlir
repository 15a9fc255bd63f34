// With four more warps each thread has fewer registers at entry. What those that compute need in addition is taken from those that load.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-slice-roles))' -verify-diagnostics -split-input-file | FileCheck %s

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!acc = tensor<128x32xf32, #tgpu.fragment<"128x32 reg 0,1:8,0:0,8:0,16 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0:64,0">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
!o = !tile.global<128x32xf32>
!c = !tgpu.channel<2>
// With two sums of 16 a second block has room: nothing is moved.
// CHECK-LABEL: tgpu.kernel @enough
// CHECK: role "load" warps 8, 4 {
// CHECK: role "compute" warps 0, 8 {
// expected-remark @+1 {{roles: 4 warps load, 8 compute}}
tgpu.kernel @enough(%g: !g, %n: i32, %o: !o) attributes {threads = 256 : i32, target = "sm_90a", warp_specialize = "producer"} {
  %as = tgpu.alloc_shared "A" : !ring
  %ch = tgpu.channel "A" {producers = 1 : i32, consumers = 8 : i32} : !c
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant 0.0 : f32
  %z = tile.splat %zero : f32 -> !acc
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%p0 = %z, %q0 = %z) -> (!acc, !acc) : i32 {
    tgpu.one_thread {
      tgpu.acquire %ch[%i] : !c
      tgpu.expect %ch[%i] bytes 8192 : !c
      %t = tile.slice %g[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
      %f = tgpu.slot %as[%i] : !ring -> !s
      tgpu.tma_load %t to %f on %ch[%i] {map = 0 : i32} : !t, !s, !c
    }
    tgpu.wait %ch[%i] : !c
    tgpu.release %ch[%i] : !c
    %p = arith.negf %p0 : !acc
    %q = arith.negf %q0 : !acc
    scf.yield %p, %q : !acc, !acc
  } {tgpu.pipeline = #tgpu.pipeline<tma, stages = 2>}
  tgpu.store %r#0, %o : !acc, !o
  tgpu.store %r#1, %o : !acc, !o
  tgpu.return
}

// -----

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!acc = tensor<128x128xf32, #tgpu.fragment<"128x128 reg 0,1:8,0:0,8:0,16:0,32:0,64 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0:64,0">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
!o = !tile.global<128x128xf32>
!c = !tgpu.channel<2>
// Not for three.
// CHECK-LABEL: tgpu.kernel @moved
// CHECK: role "load" warps 8, 4 registers 40 {
// CHECK: role "compute" warps 0, 8 registers 232 {
// expected-remark @+1 {{roles: 4 warps load, 8 compute, with 232 registers a thread}}
tgpu.kernel @moved(%g: !g, %n: i32, %o: !o) attributes {threads = 256 : i32, target = "sm_90a", warp_specialize = "producer"} {
  %as = tgpu.alloc_shared "A" : !ring
  %ch = tgpu.channel "A" {producers = 1 : i32, consumers = 8 : i32} : !c
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant 0.0 : f32
  %z = tile.splat %zero : f32 -> !acc
  %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%p0 = %z, %q0 = %z, %r0 = %z) -> (!acc, !acc, !acc) : i32 {
    tgpu.one_thread {
      tgpu.acquire %ch[%i] : !c
      tgpu.expect %ch[%i] bytes 8192 : !c
      %t = tile.slice %g[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
      %f = tgpu.slot %as[%i] : !ring -> !s
      tgpu.tma_load %t to %f on %ch[%i] {map = 0 : i32} : !t, !s, !c
    }
    tgpu.wait %ch[%i] : !c
    tgpu.release %ch[%i] : !c
    %p = arith.negf %p0 : !acc
    %q = arith.negf %q0 : !acc
    %r = arith.negf %r0 : !acc
    scf.yield %p, %q, %r : !acc, !acc, !acc
  } {tgpu.pipeline = #tgpu.pipeline<tma, stages = 2>}
  tgpu.store %r#0, %o : !acc, !o
  tgpu.store %r#1, %o : !acc, !o
  tgpu.store %r#2, %o : !acc, !o
  tgpu.return
}

// -----

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!acc = tensor<128x128xf32, #tgpu.fragment<"128x128 reg 0,1:8,0:0,8:0,16:0,32:0,64 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0:64,0">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
!o = !tile.global<128x128xf32>
!c = !tgpu.channel<2>
// Four are more than can be moved.
// CHECK-LABEL: tgpu.kernel @too_many
// CHECK-NOT: tgpu.roles
// CHECK: tgpu.return
// expected-remark @+1 {{all warps have one role: 128 threads that load would leave too few registers to the others}}
tgpu.kernel @too_many(%g: !g, %n: i32, %o: !o) attributes {threads = 256 : i32, target = "sm_90a", warp_specialize = "producer"} {
  %as = tgpu.alloc_shared "A" : !ring
  %ch = tgpu.channel "A" {producers = 1 : i32, consumers = 8 : i32} : !c
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant 0.0 : f32
  %z = tile.splat %zero : f32 -> !acc
  %r:4 = scf.for %i = %c0 to %n step %c1 iter_args(%p0 = %z, %q0 = %z, %r0 = %z, %s0 = %z) -> (!acc, !acc, !acc, !acc) : i32 {
    tgpu.one_thread {
      tgpu.acquire %ch[%i] : !c
      tgpu.expect %ch[%i] bytes 8192 : !c
      %t = tile.slice %g[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
      %f = tgpu.slot %as[%i] : !ring -> !s
      tgpu.tma_load %t to %f on %ch[%i] {map = 0 : i32} : !t, !s, !c
    }
    tgpu.wait %ch[%i] : !c
    tgpu.release %ch[%i] : !c
    %p = arith.negf %p0 : !acc
    %q = arith.negf %q0 : !acc
    %r = arith.negf %r0 : !acc
    %s = arith.negf %s0 : !acc
    scf.yield %p, %q, %r, %s : !acc, !acc, !acc, !acc
  } {tgpu.pipeline = #tgpu.pipeline<tma, stages = 2>}
  tgpu.store %r#0, %o : !acc, !o
  tgpu.store %r#1, %o : !acc, !o
  tgpu.store %r#2, %o : !acc, !o
  tgpu.store %r#3, %o : !acc, !o
  tgpu.return
}

// -----

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!acc = tensor<128x128xf32, #tgpu.fragment<"128x128 reg 0,1:8,0:0,8:0,16:0,32:0,64 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0:64,0">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
!o = !tile.global<128x128xf32>
!c = !tgpu.channel<2>
// Blocks that share a multiprocessor have what they have at entry.
// CHECK-LABEL: tgpu.kernel @shared_multiprocessor
// CHECK-NOT: tgpu.roles
// CHECK: tgpu.return
// expected-remark @+1 {{all warps have one role: 128 threads that load would leave too few registers to the others}}
tgpu.kernel @shared_multiprocessor(%g: !g, %n: i32, %o: !o) attributes {threads = 256 : i32, target = "sm_90a", warp_specialize = "producer", min_blocks = 2 : i32} {
  %as = tgpu.alloc_shared "A" : !ring
  %ch = tgpu.channel "A" {producers = 1 : i32, consumers = 8 : i32} : !c
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant 0.0 : f32
  %z = tile.splat %zero : f32 -> !acc
  %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%p0 = %z, %q0 = %z, %r0 = %z) -> (!acc, !acc, !acc) : i32 {
    tgpu.one_thread {
      tgpu.acquire %ch[%i] : !c
      tgpu.expect %ch[%i] bytes 8192 : !c
      %t = tile.slice %g[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
      %f = tgpu.slot %as[%i] : !ring -> !s
      tgpu.tma_load %t to %f on %ch[%i] {map = 0 : i32} : !t, !s, !c
    }
    tgpu.wait %ch[%i] : !c
    tgpu.release %ch[%i] : !c
    %p = arith.negf %p0 : !acc
    %q = arith.negf %q0 : !acc
    %r = arith.negf %r0 : !acc
    scf.yield %p, %q, %r : !acc, !acc, !acc
  } {tgpu.pipeline = #tgpu.pipeline<tma, stages = 2>}
  tgpu.store %r#0, %o : !acc, !o
  tgpu.store %r#1, %o : !acc, !o
  tgpu.store %r#2, %o : !acc, !o
  tgpu.return
}

// -----

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!acc = tensor<128x128xf32, #tgpu.fragment<"128x128 reg 0,1:8,0:0,8:0,16:0,32:0,64 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0:64,0">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
!o = !tile.global<128x128xf32>
!c = !tgpu.channel<2>
// What only the compiler aims at gives way: with the threads that load there is no room for two.
// CHECK-LABEL: tgpu.kernel @aimed
// CHECK-SAME: aimed_blocks = 1
// CHECK: tgpu.roles
// expected-remark @+1 {{roles: 4 warps load, 8 compute, with 232 registers a thread}}
tgpu.kernel @aimed(%g: !g, %n: i32, %o: !o) attributes {threads = 256 : i32, target = "sm_90a", warp_specialize = "producer", aimed_blocks = 2 : i32} {
  %as = tgpu.alloc_shared "A" : !ring
  %ch = tgpu.channel "A" {producers = 1 : i32, consumers = 8 : i32} : !c
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant 0.0 : f32
  %z = tile.splat %zero : f32 -> !acc
  %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%p0 = %z, %q0 = %z, %r0 = %z) -> (!acc, !acc, !acc) : i32 {
    tgpu.one_thread {
      tgpu.acquire %ch[%i] : !c
      tgpu.expect %ch[%i] bytes 8192 : !c
      %t = tile.slice %g[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
      %f = tgpu.slot %as[%i] : !ring -> !s
      tgpu.tma_load %t to %f on %ch[%i] {map = 0 : i32} : !t, !s, !c
    }
    tgpu.wait %ch[%i] : !c
    tgpu.release %ch[%i] : !c
    %p = arith.negf %p0 : !acc
    %q = arith.negf %q0 : !acc
    %r = arith.negf %r0 : !acc
    scf.yield %p, %q, %r : !acc, !acc, !acc
  } {tgpu.pipeline = #tgpu.pipeline<tma, stages = 2>}
  tgpu.store %r#0, %o : !acc, !o
  tgpu.store %r#1, %o : !acc, !o
  tgpu.store %r#2, %o : !acc, !o
  tgpu.return
}
