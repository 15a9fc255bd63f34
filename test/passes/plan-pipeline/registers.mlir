// Loads of global memory into fragments run ahead in registers: how far, and what stays in its place.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-plan-pipeline))' -verify-diagnostics -split-input-file | FileCheck %s

!f = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<?x?xf32>
!t = !tile.global<64x64xf32>
// CHECK-LABEL: tgpu.kernel @ahead
// CHECK: tgpu.load {{.*}} {tgpu.schedule = #tgpu.stage<0, 0>}
// CHECK: tgpu.store {{.*}} {tgpu.schedule = #tgpu.stage<2, 1>}
// CHECK: tgpu.pipeline = #tgpu.pipeline<vector, stages = 3>
tgpu.kernel @ahead(%a: !g, %b: !g, %n: i32) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %v = tgpu.view %a extents(%n, %n : i32, i32) strides(%n : i32) : !g -> !g
  %w = tgpu.view %b extents(%n, %n : i32, i32) strides(%n : i32) : !g -> !g
  // expected-remark @+1 {{pipelined loop: 3 stages in registers}}
  scf.for %i = %c0 to %n step %c1 : i32 {
    %t = tile.slice %v[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
    %x = tgpu.load %t : !t -> !f
    %u = tile.slice %w[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
    tgpu.store %x, %u : !f, !t
  } {tile.stages = 3 : i32}
  tgpu.return
}

// -----

!f = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<?x?xf32>
!t = !tile.global<64x64xf32>
// Each load is judged by itself: the one of what the loop stores stays, the one of memory that is not it runs ahead.
// CHECK-LABEL: tgpu.kernel @stored
// CHECK: tgpu.load {{.*}} {tgpu.schedule = #tgpu.stage<1, 0>}
// CHECK: tgpu.load {{.*}} {tgpu.schedule = #tgpu.stage<0, 1>}
tgpu.kernel @stored(%a: !g, %b: !g, %n: i32) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %v = tgpu.view %a extents(%n, %n : i32, i32) strides(%n : i32) : !g -> !g
  %w = tgpu.view %b extents(%n, %n : i32, i32) strides(%n : i32) : !g -> !g
  // expected-remark @+1 {{pipelined loop: 2 stages in registers}}
  scf.for %i = %c0 to %n step %c1 : i32 {
    %u = tile.slice %w[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
    // expected-remark @+1 {{copy overlaps nothing: the loop writes to the tensor that it reads}}
    %y = tgpu.load %u : !t -> !f
    %t = tile.slice %v[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
    %x = tgpu.load %t : !t -> !f
    %z = arith.addf %x, %y : !f
    tgpu.store %z, %u : !f, !t
  } {tile.stages = 2 : i32}
  tgpu.return
}

// -----

!f = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<?x?xf32>
!t = !tile.global<64x64xf32>
// Two arguments that may be one memory are.
// CHECK-LABEL: tgpu.kernel @aliasing
// CHECK-NOT: tgpu.pipeline
tgpu.kernel @aliasing(%a: !g {tile.name = "A"}, %b: !g {tile.name = "B", tile.may_alias = ["A"]}, %n: i32) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %v = tgpu.view %a extents(%n, %n : i32, i32) strides(%n : i32) : !g -> !g
  %w = tgpu.view %b extents(%n, %n : i32, i32) strides(%n : i32) : !g -> !g
  // expected-remark @+1 {{pipelined loop stays serial: the loop writes to the tensor that it reads}}
  scf.for %i = %c0 to %n step %c1 : i32 {
    %t = tile.slice %v[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
    // expected-remark @+1 {{copy overlaps nothing: the loop writes to the tensor that it reads}}
    %x = tgpu.load %t : !t -> !f
    %u = tile.slice %w[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
    tgpu.store %x, %u : !f, !t
  } {tile.stages = 3 : i32}
  tgpu.return
}

// -----

!f = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<?x?xf32>
!t = !tile.global<64x64xf32>
// Where a load reads from may be what the loop goes on with.
// CHECK-LABEL: tgpu.kernel @late
// CHECK-NOT: tgpu.pipeline
tgpu.kernel @late(%a: !g, %n: i32, %z: !f) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %v = tgpu.view %a extents(%n, %n : i32, i32) strides(%n : i32) : !g -> !g
  // expected-remark @+1 {{pipelined loop stays serial: where it reads from depends on what the loop computes}}
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%p = %c0, %s = %z) -> (i32, !f) : i32 {
    %t = tile.slice %v[%c0, %p] sizes [64, 64] : !g, i32, i32 -> !t
    // expected-remark @+1 {{copy overlaps nothing: where it reads from depends on what the loop computes}}
    %x = tgpu.load %t : !t -> !f
    %d = arith.addf %s, %x : !f
    %q = arith.addi %p, %i : i32
    scf.yield %q, %d : i32, !f
  } {tile.stages = 3 : i32}
  tgpu.return
}

// -----

!f = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<?x?xf32>
!t = !tile.global<64x64xf32>
// An atomic operation that orders what blocks do may show what another one has written.
// CHECK-LABEL: tgpu.kernel @ordering
// CHECK-NOT: tgpu.pipeline
tgpu.kernel @ordering(%a: !g, %b: !tile.global<?xi32>, %n: i32, %z: !f) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %v = tgpu.view %a extents(%n, %n : i32, i32) strides(%n : i32) : !g -> !g
  %w = tgpu.view %b extents(%n : i32) strides() : !tile.global<?xi32> -> !tile.global<?xi32>
  %old = tgpu.alloc_shared "old" : !tgpu.smem<1xi32>
  // expected-remark @+1 {{pipelined loop stays serial: the loop writes to the tensor that it reads}}
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (!f) : i32 {
    tgpu.atomic <add> %n, %w[%c0] old %old {order = #tile.order<acq_rel>} : i32, !tile.global<?xi32>[i32] old !tgpu.smem<1xi32>
    %t = tile.slice %v[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
    // expected-remark @+1 {{copy overlaps nothing: the loop writes to the tensor that it reads}}
    %x = tgpu.load %t : !t -> !f
    %d = arith.addf %s, %x : !f
    scf.yield %d : !f
  } {tile.stages = 3 : i32}
  tgpu.return
}

// -----

!f = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<?x?xf32>
!t = !tile.global<64x64xf32>
// As far ahead as registers allow.
// CHECK-LABEL: tgpu.kernel @fewer
// CHECK: #tgpu.pipeline<vector, stages = 2>
tgpu.kernel @fewer(%a: !g, %n: i32, %z: !f) attributes {threads = 128 : i32, max_registers = 160 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %v = tgpu.view %a extents(%n, %n : i32, i32) strides(%n : i32) : !g -> !g
  // expected-remark @+2 {{loads into registers run 1 iteration ahead, not 4: those of one take 32 registers, 112 of 160 registers of a thread are taken by other values}}
  // expected-remark @+1 {{pipelined loop: 2 stages in registers}}
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (!f) : i32 {
    %t = tile.slice %v[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
    %x = tgpu.load %t : !t -> !f
    %d = arith.addf %s, %x : !f
    scf.yield %d : !f
  } {tile.stages = 5 : i32}
  tgpu.return
}

// -----

!f = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!h = tensor<64xf32, #tgpu.fragment<"64 reg 8 lane 0:0:1:2:4 warp 16:32">>
!g = !tile.global<?x?xf32>
!t = !tile.global<64x64xf32>
!c = !tile.global<64xf32>
// The largest stays, if it does not fit.
// CHECK-LABEL: tgpu.kernel @largest
// CHECK: tgpu.load {{.*}} {tgpu.schedule = #tgpu.stage<2, 0>}
// CHECK: tgpu.load {{.*}} {tgpu.schedule = #tgpu.stage<0, 1>}
tgpu.kernel @largest(%a: !g, %n: i32, %z: !f) attributes {threads = 128 : i32, max_registers = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %v = tgpu.view %a extents(%n, %n : i32, i32) strides(%n : i32) : !g -> !g
  // expected-remark @+1 {{pipelined loop: 3 stages in registers}}
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (!f) : i32 {
    %t = tile.slice %v[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
    // expected-remark @+1 {{copy overlaps nothing: it takes 32 registers, 114 of 128 registers of a thread are taken by other values}}
    %x = tgpu.load %t : !t -> !f
    %u = tile.slice %v[%i, %c0] sizes [64, -1] : !g, i32, i32 -> !c
    %y = tgpu.load %u : !c -> !h
    %b = tile.broadcast %y along [1] : !h -> !f
    %d = arith.addf %s, %x : !f
    %e = arith.addf %d, %b : !f
    scf.yield %e : !f
  } {tile.stages = 3 : i32}
  tgpu.return
}

// -----

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!h = tensor<64xf32, #tgpu.fragment<"64 reg 8 lane 0:0:1:2:4 warp 16:32">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
!w = !tile.global<?xf32>
// Beside rings one iteration ahead: there each value moves to the next register at the end.
// CHECK-LABEL: tgpu.kernel @beside_rings
// CHECK: tgpu.copy {{.*}} tgpu.schedule = #tgpu.stage<0, 0>}
// CHECK: tgpu.load {{.*}} {tgpu.schedule = #tgpu.stage<2, 1>}
// CHECK: #tgpu.pipeline<tma, stages = 4>
tgpu.kernel @beside_rings(%a: !g {tgpu.align = 16 : i64}, %b: !w, %n: i32 {tgpu.divisible = 8 : i64}, %z: !acc) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %v = tgpu.view %a extents(%n, %n : i32, i32) strides(%n : i32) : !g -> !g
  %w = tgpu.view %b extents(%n : i32) strides() : !w -> !w
  %s = tgpu.alloc_shared "S" : !s
  // expected-remark @+2 {{loads into registers run 1 iteration ahead, not 3: a loop with rings is not repeated}}
  // expected-remark @+1 {{pipelined loop: 4 stages by TMA, loads into registers one iteration ahead}}
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %z) -> (!acc) : i32 {
    %t = tile.slice %v[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
    tgpu.copy %t to %s {path = #tgpu.path<tma>, bytes = 16 : i32} : !t, !s
    %u = tile.slice %w[%i] sizes [64] : !w, i32 -> !tile.global<64xf32>
    %x = tgpu.load %u : !tile.global<64xf32> -> !h
    %b1 = tile.broadcast %x along [1] : !h -> !acc
    %y = arith.addf %c, %b1 : !acc
    %d = tgpu.fma %s, %s, %y : !s, !s, !acc -> !acc
    scf.yield %d : !acc
  } {tile.stages = 4 : i32}
  tgpu.return
}

// -----

!h = tensor<128xf32, #tgpu.fragment<"128 reg - lane 1:2:4:8:16 warp 32:64">>
!w = !tile.global<?xf32>
// A loop is not repeated any number of times.
// CHECK-LABEL: tgpu.kernel @many
// CHECK: #tgpu.pipeline<vector, stages = 16>
tgpu.kernel @many(%a: !w, %n: i32, %z: !h) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %v = tgpu.view %a extents(%n : i32) strides() : !w -> !w
  // expected-remark @+2 {{loads into registers run 15 iterations ahead, not 39: more copies of the loop's body would be too long}}
  // expected-remark @+1 {{pipelined loop: 16 stages in registers}}
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (!h) : i32 {
    %t = tile.slice %v[%i] sizes [128] : !w, i32 -> !tile.global<128xf32>
    %x = tgpu.load %t : !tile.global<128xf32> -> !h
    %d = arith.addf %s, %x : !h
    scf.yield %d : !h
  } {tile.stages = 40 : i32}
  tgpu.return
}

// -----

!n = tensor<64x64xi8, #tgpu.fragment<"64x64 reg 1,0:2,0:4,0:8,0:16,0:32,0 lane 0,1:0,2:0,4:0,8:0,16 warp 0,32">>
!w = tensor<64x64xi8, #tgpu.fragment<"64x64 reg 0,1:0,2:0,4:0,8:16,0:32,0 lane 0,16:0,32:1,0:2,0:4,0 warp 8,0">>
!g = !tile.global<?x?xi8>
!t = !tile.global<64x64xi8>
// Bytes that are read one by one have a register each until they are used; those of wide accesses share one.
// CHECK-LABEL: tgpu.kernel @narrow
// CHECK: tgpu.load {{.*}} {bytes = 1 : i32, tgpu.schedule = #tgpu.stage<1, 0>}
// CHECK: tgpu.load {{.*}} {bytes = 1 : i32, tgpu.schedule = #tgpu.stage<1, 1>}
// CHECK: tgpu.load {{.*}} {bytes = 16 : i32, tgpu.schedule = #tgpu.stage<0, 2>}
tgpu.kernel @narrow(%a: !g, %n: i32) attributes {threads = 64 : i32, max_registers = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %v = tgpu.view %a extents(%n, %n : i32, i32) strides(%n : i32) : !g -> !g
  // expected-remark @+1 {{pipelined loop: 2 stages in registers}}
  scf.for %i = %c0 to %n step %c1 : i32 {
    %t = tile.slice %v[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
    // expected-remark @+1 {{copy overlaps nothing: it takes 64 registers, 96 of 128 registers of a thread are taken by other values}}
    %x = tgpu.load %t {bytes = 1 : i32} : !t -> !n
    // expected-remark @+1 {{copy overlaps nothing: it takes 64 registers, 96 of 128 registers of a thread are taken by other values}}
    %y = tgpu.load %t {bytes = 1 : i32} : !t -> !w
    %z = tgpu.load %t {bytes = 16 : i32} : !t -> !w
    %p = arith.addi %x, %x : !n
    %q = arith.addi %y, %z : !w
    %r = tgpu.alloc_shared "R" : !tgpu.smem<64x64xi8, #tgpu.shared<"64x64 b8 contig 1 panel 64">>
    tgpu.local_store %p, %r : !n, !tgpu.smem<64x64xi8, #tgpu.shared<"64x64 b8 contig 1 panel 64">>
    tgpu.local_store %q, %r : !w, !tgpu.smem<64x64xi8, #tgpu.shared<"64x64 b8 contig 1 panel 64">>
  } {tile.stages = 2 : i32}
  tgpu.return
}
