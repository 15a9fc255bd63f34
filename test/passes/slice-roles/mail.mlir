// Loops that end on a condition are cloned, with what the fills need of what they carry. What an atomic operation gives is posted in a mailbox
// by the role that loads, not by the warp that fills unless it is the next grid point: all warps of both roles, 8 here, read it and give it back.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-slice-roles, tgpu-insert-sync, tgpu-verify-sync))' -verify-diagnostics -split-input-file | FileCheck %s

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!box = !tgpu.smem<1xi32, #tgpu.shared<"1 b32 contig 0 panel 1">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
!o = !tile.global<64x64xf32>
!w = !tile.global<1xi32>
!c = !tgpu.channel<2>
// CHECK-LABEL: tgpu.kernel @while
// CHECK: role "load"
// CHECK: scf.while (%{{.*}}, %[[P:.*]] = %c0{{.*}}) : (i32, i32) -> (i32, i32)
// CHECK: scf.condition
// CHECK: scf.for
// CHECK: tgpu.tma_load
// CHECK: scf.yield %{{.*}}, %{{.*}} : i32, i32
// CHECK: role "compute"
// CHECK: scf.while {{.*}} (i32, i32, tensor
// expected-remark @+1 {{roles: 4 warps load, 4 compute}}
tgpu.kernel @while(%g: !g, %n: i32, %o: !o, %w: !w) attributes {threads = 128 : i32, target = "sm_90a", warp_specialize = "producer"} {
  %as = tgpu.alloc_shared "A" : !ring
  %ch = tgpu.channel "A" {producers = 1 : i32, consumers = 4 : i32} : !c
  %box = tgpu.alloc_shared "next" : !box
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %counter = tgpu.view %w extents(%c1 : i32) strides() : !w -> !w
  %zero = arith.constant 0.0 : f32
  %z = tile.splat %zero : f32 -> !acc
  %q:3 = scf.while (%k = %c0, %base = %c0, %sum = %z) : (i32, i32, !acc) -> (i32, i32, !acc) {
    %more = arith.cmpi slt, %k, %n : i32
    scf.condition(%more) %k, %base, %sum : i32, i32, !acc
  } do {
  ^bb0(%k: i32, %base: i32, %sum: !acc):
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %sum) -> (!acc) : i32 {
      %p = arith.addi %base, %i : i32
      tgpu.one_thread {
        tgpu.acquire %ch[%p] : !c
        tgpu.expect %ch[%p] bytes 8192 : !c
        %t = tile.slice %g[%k, %i] sizes [64, 64] : !g, i32, i32 -> !t
        %f = tgpu.slot %as[%p] : !ring -> !s
        tgpu.tma_load %t to %f on %ch[%p] {map = 0 : i32} : !t, !s, !c
      }
      tgpu.wait %ch[%p] : !c
      %x = tgpu.slot %as[%p] : !ring -> !s
      %d = tgpu.fma %x, %x, %c : !s, !s, !acc -> !acc
      tgpu.release %ch[%p] : !c
      scf.yield %d : !acc
    } {tgpu.pipeline = #tgpu.pipeline<tma, stages = 2>}
    %following = arith.addi %base, %n : i32
    %next = arith.addi %k, %c1 : i32
    scf.yield %next, %following, %r : i32, i32, !acc
  }
  tgpu.store %q#2, %o : !acc, !o
  tgpu.return
}

// -----

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!box = !tgpu.smem<1xi32, #tgpu.shared<"1 b32 contig 0 panel 1">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
!o = !tile.global<64x64xf32>
!w = !tile.global<1xi32>
!c = !tgpu.channel<2>
// CHECK-LABEL: tgpu.kernel @counter
// CHECK: %[[RING:.*]] = tgpu.alloc_shared "next" : !tgpu.smem<1x1xi32
// CHECK: %[[MAIL:.*]] = tgpu.channel "next" guards({{.*}}) {consumers = 8 : i32, producers = 1 : i32}
// CHECK-NOT: tgpu.alloc_shared "next"
// CHECK: role "load"
// CHECK: scf.while
// CHECK: ^bb0(%{{.*}}: i32, %{{.*}}: i32, %[[M:.*]]: i32):
// CHECK: arith.addi %[[M]]
// CHECK-NEXT: tgpu.one_thread attributes {warp = 5 : i32} {
// CHECK-NEXT: tgpu.acquire %[[MAIL]][%[[M]]]
// CHECK-NEXT: %[[OLD:.*]] = tgpu.atomic <add>
// CHECK-NEXT: %[[BOX:.*]] = tgpu.slot %[[RING]][%[[M]]]
// CHECK: tgpu.store_element %[[OLD]], %[[BOX]]
// CHECK-NEXT: tgpu.publish %[[MAIL]][%[[M]]]
// CHECK: scf.for
// CHECK: tgpu.tma_load
// CHECK: tgpu.wait %[[MAIL]][%[[M]]]
// CHECK-NEXT: tgpu.slot %[[RING]][%[[M]]]
// CHECK-NEXT: tgpu.load_element
// CHECK-NEXT: tgpu.release %[[MAIL]][%[[M]]]
// CHECK: role "compute"
// CHECK-NOT: tgpu.atomic
// CHECK: tgpu.wait %[[MAIL]]
// CHECK-NEXT: tgpu.slot %[[RING]]
// CHECK-NEXT: tgpu.load_element
// CHECK-NEXT: tgpu.release %[[MAIL]]
// CHECK-NOT: tgpu.atomic
// expected-remark @+1 {{roles: 4 warps load, 4 compute}}
tgpu.kernel @counter(%g: !g, %n: i32, %o: !o, %w: !w) attributes {threads = 128 : i32, target = "sm_90a", warp_specialize = "producer"} {
  %as = tgpu.alloc_shared "A" : !ring
  %ch = tgpu.channel "A" {producers = 1 : i32, consumers = 4 : i32} : !c
  %box = tgpu.alloc_shared "next" : !box
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %counter = tgpu.view %w extents(%c1 : i32) strides() : !w -> !w
  %zero = arith.constant 0.0 : f32
  %z = tile.splat %zero : f32 -> !acc
  %q:3 = scf.while (%k = %c0, %base = %c0, %sum = %z) : (i32, i32, !acc) -> (i32, i32, !acc) {
    %more = arith.cmpi slt, %k, %n : i32
    scf.condition(%more) %k, %base, %sum : i32, i32, !acc
  } do {
  ^bb0(%k: i32, %base: i32, %sum: !acc):
    tgpu.atomic <add> %c1, %counter[%c0] old %box : i32, !w[i32] old !box
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %sum) -> (!acc) : i32 {
      %p = arith.addi %base, %i : i32
      tgpu.one_thread {
        tgpu.acquire %ch[%p] : !c
        tgpu.expect %ch[%p] bytes 8192 : !c
        %t = tile.slice %g[%k, %i] sizes [64, 64] : !g, i32, i32 -> !t
        %f = tgpu.slot %as[%p] : !ring -> !s
        tgpu.tma_load %t to %f on %ch[%p] {map = 0 : i32} : !t, !s, !c
      }
      tgpu.wait %ch[%p] : !c
      %x = tgpu.slot %as[%p] : !ring -> !s
      %d = tgpu.fma %x, %x, %c : !s, !s, !acc -> !acc
      tgpu.release %ch[%p] : !c
      scf.yield %d : !acc
    } {tgpu.pipeline = #tgpu.pipeline<tma, stages = 2>}
    %following = arith.addi %base, %n : i32
    %taken = tgpu.load_element %box[%c0 : i32] : !box -> i32
    %next = arith.addi %taken, %c1 : i32
    scf.yield %next, %following, %r : i32, i32, !acc
  }
  tgpu.store %q#2, %o : !acc, !o
  tgpu.return
}

// -----

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!box = !tgpu.smem<1xi32, #tgpu.shared<"1 b32 contig 0 panel 1">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
!o = !tile.global<64x64xf32>
!w = !tile.global<1xi32>
!c = !tgpu.channel<2>
// Of the number of the next point no block is to know before it needs it: the warp that fills asks, behind the fills.
// CHECK-LABEL: tgpu.kernel @points
// CHECK: role "load"
// CHECK: scf.for
// CHECK: tgpu.one_thread attributes {warp = 4 : i32} {
// CHECK: tgpu.tma_load
// CHECK: tgpu.one_thread attributes {warp = 4 : i32} {
// CHECK-NEXT: tgpu.acquire
// CHECK-NEXT: tgpu.atomic <add>
// CHECK: tgpu.publish
// CHECK: role "compute"
// expected-remark @+1 {{roles: 4 warps load, 4 compute}}
tgpu.kernel @points(%g: !g, %n: i32, %o: !o, %w: !w {tgpu.point_counter}) attributes {threads = 128 : i32, target = "sm_90a", warp_specialize = "producer"} {
  %as = tgpu.alloc_shared "A" : !ring
  %ch = tgpu.channel "A" {producers = 1 : i32, consumers = 4 : i32} : !c
  %box = tgpu.alloc_shared "next" : !box
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %counter = tgpu.view %w extents(%c1 : i32) strides() : !w -> !w
  %zero = arith.constant 0.0 : f32
  %z = tile.splat %zero : f32 -> !acc
  %q:3 = scf.while (%k = %c0, %base = %c0, %sum = %z) : (i32, i32, !acc) -> (i32, i32, !acc) {
    %more = arith.cmpi slt, %k, %n : i32
    scf.condition(%more) %k, %base, %sum : i32, i32, !acc
  } do {
  ^bb0(%k: i32, %base: i32, %sum: !acc):
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %sum) -> (!acc) : i32 {
      %p = arith.addi %base, %i : i32
      tgpu.one_thread {
        tgpu.acquire %ch[%p] : !c
        tgpu.expect %ch[%p] bytes 8192 : !c
        %t = tile.slice %g[%k, %i] sizes [64, 64] : !g, i32, i32 -> !t
        %f = tgpu.slot %as[%p] : !ring -> !s
        tgpu.tma_load %t to %f on %ch[%p] {map = 0 : i32} : !t, !s, !c
      }
      tgpu.wait %ch[%p] : !c
      %x = tgpu.slot %as[%p] : !ring -> !s
      %d = tgpu.fma %x, %x, %c : !s, !s, !acc -> !acc
      tgpu.release %ch[%p] : !c
      scf.yield %d : !acc
    } {tgpu.pipeline = #tgpu.pipeline<tma, stages = 2>}
    tgpu.atomic <add> %c1, %counter[%c0] old %box : i32, !w[i32] old !box
    %following = arith.addi %base, %n : i32
    %taken = tgpu.load_element %box[%c0 : i32] : !box -> i32
    %next = arith.addi %taken, %c1 : i32
    scf.yield %next, %following, %r : i32, i32, !acc
  }
  tgpu.store %q#2, %o : !acc, !o
  tgpu.return
}

// -----

// What only the others need stays theirs.
!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!box = !tgpu.smem<1xi32, #tgpu.shared<"1 b32 contig 0 panel 1">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
!o = !tile.global<64x64xf32>
!w = !tile.global<1xi32>
!c = !tgpu.channel<2>
// CHECK-LABEL: tgpu.kernel @of_compute
// CHECK: role "load"
// CHECK-NOT: tgpu.atomic
// CHECK: role "compute"
// CHECK: tgpu.atomic
// expected-remark @+1 {{roles: 4 warps load, 4 compute}}
tgpu.kernel @of_compute(%g: !g, %n: i32, %o: !o, %w: !w) attributes {threads = 128 : i32, target = "sm_90a", warp_specialize = "producer"} {
  %as = tgpu.alloc_shared "A" : !ring
  %ch = tgpu.channel "A" {producers = 1 : i32, consumers = 4 : i32} : !c
  %box = tgpu.alloc_shared "next" : !box
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %counter = tgpu.view %w extents(%c1 : i32) strides() : !w -> !w
  %zero = arith.constant 0.0 : f32
  %z = tile.splat %zero : f32 -> !acc
  %q:3 = scf.while (%k = %c0, %base = %c0, %sum = %z) : (i32, i32, !acc) -> (i32, i32, !acc) {
    %more = arith.cmpi slt, %k, %n : i32
    scf.condition(%more) %k, %base, %sum : i32, i32, !acc
  } do {
  ^bb0(%k: i32, %base: i32, %sum: !acc):
    tgpu.atomic <add> %c1, %counter[%c0] old %box : i32, !w[i32] old !box
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %sum) -> (!acc) : i32 {
      %p = arith.addi %base, %i : i32
      tgpu.one_thread {
        tgpu.acquire %ch[%p] : !c
        tgpu.expect %ch[%p] bytes 8192 : !c
        %t = tile.slice %g[%k, %i] sizes [64, 64] : !g, i32, i32 -> !t
        %f = tgpu.slot %as[%p] : !ring -> !s
        tgpu.tma_load %t to %f on %ch[%p] {map = 0 : i32} : !t, !s, !c
      }
      tgpu.wait %ch[%p] : !c
      %x = tgpu.slot %as[%p] : !ring -> !s
      %d = tgpu.fma %x, %x, %c : !s, !s, !acc -> !acc
      tgpu.release %ch[%p] : !c
      scf.yield %d : !acc
    } {tgpu.pipeline = #tgpu.pipeline<tma, stages = 2>}
    %following = arith.addi %base, %n : i32
    %taken = tgpu.load_element %box[%c0 : i32] : !box -> i32
    %odd = arith.cmpi eq, %taken, %c0 : i32
    scf.if %odd {
      tgpu.store %r, %o : !acc, !o
    }
    %next = arith.addi %k, %c1 : i32
    scf.yield %next, %following, %r : i32, i32, !acc
  }
  tgpu.store %q#2, %o : !acc, !o
  tgpu.return
}
