// `@warp_specialize(pingpong)`: one role loads, two teams compute, each every other point. A team waits for its turn before it waits for what is
// loaded, and hands it on behind its last wait; of the other team's points it computes where they leave the ring. Why there are no teams is a
// remark, and an error where roles are required.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-slice-roles))' -verify-diagnostics -split-input-file | FileCheck %s

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
!o = !tile.global<64x64xf32>
!c = !tgpu.channel<2>
// CHECK-LABEL: tgpu.kernel @formed
// CHECK-SAME: block_threads = 384
// CHECK: %[[TURNS:.*]] = tgpu.channel "turns" {consumers = 0 : i32, producers = 128 : i32} : !tgpu.channel<2>
// CHECK: tgpu.roles
// CHECK-NEXT: role "load" warps 8, 4
// CHECK: one_thread attributes {warp = 8 : i32}
// CHECK: role "compute" warps 0, 4 teams 2
// CHECK: %[[TEAM:.*]] = tgpu.team
// CHECK: scf.for %[[ROUND:.*]] = {{.*}} iter_args(%[[BASE:.*]] = {{.*}}) -> (i32)
// CHECK-NEXT: tgpu.grid_point
// CHECK: %[[TURN:.*]] = arith.remui %[[ROUND]], %{{.*}}
// CHECK: %[[OWN:.*]] = arith.cmpi eq, %[[TURN]], %[[TEAM]]
// CHECK: %[[NEXT:.*]] = scf.if %[[OWN]] -> (i32)
// CHECK: arith.cmpi ne, %[[ROUND]]
// CHECK: scf.if
// CHECK-NEXT: tgpu.wait %[[TURNS]]
// CHECK: scf.for
// CHECK: tgpu.wait %{{.*}}[
// CHECK: tgpu.pipeline
// CHECK-NEXT: tgpu.publish %[[TURNS]][%[[ROUND]]]
// CHECK: tgpu.store
// CHECK: } else {
// CHECK-NEXT: %[[SKIPPED:.*]] = arith.addi %[[BASE]]
// CHECK-NEXT: scf.yield %[[SKIPPED]]
// CHECK: scf.yield %[[NEXT]]
// expected-remark @+1 {{roles: 4 warps load, 8 compute in two teams that take turns at points}}
tgpu.kernel @formed(%g: !g, %n: i32, %tiles: i32, %o: !o) attributes {threads = 128 : i32, target = "sm_90a", persistent = 1 : i32, warp_specialize = "pingpong"} {
  %as = tgpu.alloc_shared "A" : !ring
  %ch = tgpu.channel "A" {producers = 1 : i32, consumers = 4 : i32} : !c
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant 0.0 : f32
  %z = tile.splat %zero : f32 -> !acc
  %end = scf.for %tile = %c0 to %tiles step %c1 iter_args(%base = %c0) -> (i32) : i32 {
    %point = tgpu.grid_point %tile in(%tiles) : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %z) -> (!acc) : i32 {
      %pos = arith.addi %base, %i : i32
      tgpu.one_thread {
        tgpu.acquire %ch[%pos] : !c
        tgpu.expect %ch[%pos] bytes 8192 : !c
        %t = tile.slice %g[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
        %f = tgpu.slot %as[%pos] : !ring -> !s
        tgpu.tma_load %t to %f on %ch[%pos] {map = 0 : i32} : !t, !s, !c
      }
      tgpu.wait %ch[%pos] : !c
      %x = tgpu.slot %as[%pos] : !ring -> !s
      %d = tgpu.fma %x, %x, %c : !s, !s, !acc -> !acc
      tgpu.release %ch[%pos] : !c
      scf.yield %d : !acc
    } {tgpu.pipeline = #tgpu.pipeline<tma, stages = 2>}
    tgpu.store %r, %o : !acc, !o
    %after = arith.addi %base, %n : i32
    scf.yield %after : i32
  }
  tgpu.return
}

// -----

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
!o = !tile.global<64x64xf32>
!c = !tgpu.channel<2>
// CHECK-LABEL: tgpu.kernel @no_points
// CHECK-SAME: block_threads = 256
// CHECK-NOT: teams
// expected-remark @+2 {{roles: 4 warps load, 4 compute}}
// expected-remark @+1 {{@warp_specialize(pingpong): warps that compute take no turns: the kernel has no loop over the points of its grid}}
tgpu.kernel @no_points(%g: !g, %n: i32, %tiles: i32, %o: !o) attributes {threads = 128 : i32, target = "sm_90a", persistent = 1 : i32, warp_specialize = "pingpong"} {
  %as = tgpu.alloc_shared "A" : !ring
  %ch = tgpu.channel "A" {producers = 1 : i32, consumers = 4 : i32} : !c
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant 0.0 : f32
  %z = tile.splat %zero : f32 -> !acc
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %z) -> (!acc) : i32 {
    %pos = arith.addi %c0, %i : i32
    tgpu.one_thread {
      tgpu.acquire %ch[%pos] : !c
      tgpu.expect %ch[%pos] bytes 8192 : !c
      %t = tile.slice %g[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
      %f = tgpu.slot %as[%pos] : !ring -> !s
      tgpu.tma_load %t to %f on %ch[%pos] {map = 0 : i32} : !t, !s, !c
    }
    tgpu.wait %ch[%pos] : !c
    %x = tgpu.slot %as[%pos] : !ring -> !s
    %d = tgpu.fma %x, %x, %c : !s, !s, !acc -> !acc
    tgpu.release %ch[%pos] : !c
    scf.yield %d : !acc
  } {tgpu.pipeline = #tgpu.pipeline<tma, stages = 2>}
  tgpu.store %r, %o : !acc, !o
  tgpu.return
}

// -----

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
!o = !tile.global<64x64xf32>
!c = !tgpu.channel<2>
// CHECK-LABEL: tgpu.kernel @outside
// CHECK-SAME: block_threads = 256
// CHECK-NOT: teams
// expected-remark @+2 {{roles: 4 warps load, 4 compute}}
// expected-remark @+1 {{@warp_specialize(pingpong): warps that compute take no turns: the kernel does something outside of the points of its grid}}
tgpu.kernel @outside(%g: !g, %n: i32, %tiles: i32, %o: !o) attributes {threads = 128 : i32, target = "sm_90a", persistent = 1 : i32, warp_specialize = "pingpong"} {
  %as = tgpu.alloc_shared "A" : !ring
  %ch = tgpu.channel "A" {producers = 1 : i32, consumers = 4 : i32} : !c
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant 0.0 : f32
  %z = tile.splat %zero : f32 -> !acc
  %end = scf.for %tile = %c0 to %tiles step %c1 iter_args(%base = %c0) -> (i32) : i32 {
    %point = tgpu.grid_point %tile in(%tiles) : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %z) -> (!acc) : i32 {
      %pos = arith.addi %base, %i : i32
      tgpu.one_thread {
        tgpu.acquire %ch[%pos] : !c
        tgpu.expect %ch[%pos] bytes 8192 : !c
        %t = tile.slice %g[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
        %f = tgpu.slot %as[%pos] : !ring -> !s
        tgpu.tma_load %t to %f on %ch[%pos] {map = 0 : i32} : !t, !s, !c
      }
      tgpu.wait %ch[%pos] : !c
      %x = tgpu.slot %as[%pos] : !ring -> !s
      %d = tgpu.fma %x, %x, %c : !s, !s, !acc -> !acc
      tgpu.release %ch[%pos] : !c
      scf.yield %d : !acc
    } {tgpu.pipeline = #tgpu.pipeline<tma, stages = 2>}
    tgpu.store %r, %o : !acc, !o
    %after = arith.addi %base, %n : i32
    scf.yield %after : i32
  }
  tgpu.store %z, %o : !acc, !o
  tgpu.return
}

// -----

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
!o = !tile.global<64x64xf32>
!c = !tgpu.channel<2>
// CHECK-LABEL: tgpu.kernel @counter
// CHECK-SAME: block_threads = 256
// CHECK-NOT: teams
// expected-remark @+2 {{roles: 4 warps load, 4 compute}}
// expected-remark @+1 {{@warp_specialize(pingpong): warps that compute take no turns: a counter deals the points of its grid}}
tgpu.kernel @counter(%g: !g, %n: i32, %tiles: i32, %o: !o) attributes {threads = 128 : i32, target = "sm_90a", persistent = 1 : i32, warp_specialize = "pingpong"} {
  %as = tgpu.alloc_shared "A" : !ring
  %ch = tgpu.channel "A" {producers = 1 : i32, consumers = 4 : i32} : !c
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant 0.0 : f32
  %z = tile.splat %zero : f32 -> !acc
  %ends:2 = scf.while (%tile = %c0, %base = %c0) : (i32, i32) -> (i32, i32) {
    %more = arith.cmpi slt, %tile, %tiles : i32
    scf.condition(%more) %tile, %base : i32, i32
  } do {
  ^bb0(%tile: i32, %base: i32):
    %point = tgpu.grid_point %tile in(%tiles) : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %z) -> (!acc) : i32 {
      %pos = arith.addi %base, %i : i32
      tgpu.one_thread {
        tgpu.acquire %ch[%pos] : !c
        tgpu.expect %ch[%pos] bytes 8192 : !c
        %t = tile.slice %g[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
        %f = tgpu.slot %as[%pos] : !ring -> !s
        tgpu.tma_load %t to %f on %ch[%pos] {map = 0 : i32} : !t, !s, !c
      }
      tgpu.wait %ch[%pos] : !c
      %x = tgpu.slot %as[%pos] : !ring -> !s
      %d = tgpu.fma %x, %x, %c : !s, !s, !acc -> !acc
      tgpu.release %ch[%pos] : !c
      scf.yield %d : !acc
    } {tgpu.pipeline = #tgpu.pipeline<tma, stages = 2>}
    tgpu.store %r, %o : !acc, !o
    %after = arith.addi %base, %n : i32
    %following = arith.addi %tile, %c1 : i32
    scf.yield %following, %after : i32, i32
  }
  tgpu.return
}

// -----

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
!o = !tile.global<64x64xf32>
!c = !tgpu.channel<2>
// expected-remark @+3 {{roles: 4 warps load, 4 compute}}
// expected-remark @+2 {{@warp_specialize(pingpong): warps that compute take no turns: the kernel does something outside of the points of its grid}}
// expected-error @+1 {{`warp_specialize` is required, but not achieved: the kernel does something outside of the points of its grid}}
tgpu.kernel @required(%g: !g, %n: i32, %tiles: i32, %o: !o) attributes {threads = 128 : i32, target = "sm_90a", persistent = 1 : i32, warp_specialize = "pingpong", require = ["warp_specialize"]} {
  %as = tgpu.alloc_shared "A" : !ring
  %ch = tgpu.channel "A" {producers = 1 : i32, consumers = 4 : i32} : !c
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant 0.0 : f32
  %z = tile.splat %zero : f32 -> !acc
  %end = scf.for %tile = %c0 to %tiles step %c1 iter_args(%base = %c0) -> (i32) : i32 {
    %point = tgpu.grid_point %tile in(%tiles) : i32
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %z) -> (!acc) : i32 {
      %pos = arith.addi %base, %i : i32
      tgpu.one_thread {
        tgpu.acquire %ch[%pos] : !c
        tgpu.expect %ch[%pos] bytes 8192 : !c
        %t = tile.slice %g[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
        %f = tgpu.slot %as[%pos] : !ring -> !s
        tgpu.tma_load %t to %f on %ch[%pos] {map = 0 : i32} : !t, !s, !c
      }
      tgpu.wait %ch[%pos] : !c
      %x = tgpu.slot %as[%pos] : !ring -> !s
      %d = tgpu.fma %x, %x, %c : !s, !s, !acc -> !acc
      tgpu.release %ch[%pos] : !c
      scf.yield %d : !acc
    } {tgpu.pipeline = #tgpu.pipeline<tma, stages = 2>}
    tgpu.store %r, %o : !acc, !o
    %after = arith.addi %base, %n : i32
    scf.yield %after : i32
  }
  tgpu.store %z, %o : !acc, !o
  tgpu.return
}
