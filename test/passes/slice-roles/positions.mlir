// What loops and branches around the fills carry goes to the load role as far as positions need it.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-slice-roles))' -verify-diagnostics -split-input-file | FileCheck %s

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
!o = !tile.global<64x64xf32>
!c = !tgpu.channel<2>
// CHECK-LABEL: tgpu.kernel @tiles
// CHECK-SAME: %[[N:[a-z0-9]+]]: i32
// CHECK: role "load"
// CHECK: scf.for %{{.*}} iter_args(%[[BASE:.*]] = %c0{{.*}}) -> (i32) : i32 {
// CHECK: scf.for %[[I:[a-z0-9]+]] =
// CHECK-NEXT: %[[P:.*]] = arith.addi %[[BASE]], %[[I]]
// CHECK-NEXT: tgpu.one_thread
// CHECK-NEXT: tgpu.acquire %{{.*}}[%[[P]]]
// CHECK: %[[NEXT:.*]] = arith.addi %[[BASE]], %[[N]]
// CHECK-NEXT: scf.yield %[[NEXT]] : i32
// CHECK: role "compute"
// CHECK: scf.for %{{.*}} iter_args(%[[B:.*]] = %{{.*}}, %{{.*}} = %{{.*}}) -> (i32, tensor
// CHECK: arith.addi %[[B]]
// expected-remark @+1 {{roles: 4 warps load, 4 compute}}
tgpu.kernel @tiles(%g: !g, %n: i32, %o: !o) attributes {threads = 128 : i32, target = "sm_90a", warp_specialize = "producer"} {
  %as = tgpu.alloc_shared "A" : !ring
  %ch = tgpu.channel "A" {producers = 1 : i32, consumers = 4 : i32} : !c
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant 0.0 : f32
  %z = tile.splat %zero : f32 -> !acc
  %q:2 = scf.for %y = %c0 to %n step %c1 iter_args(%base = %c0, %s = %z) -> (i32, !acc) : i32 {
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %z) -> (!acc) : i32 {
      %p = arith.addi %base, %i : i32
      tgpu.one_thread {
        tgpu.acquire %ch[%p] : !c
        tgpu.expect %ch[%p] bytes 8192 : !c
        %t = tile.slice %g[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
        %f = tgpu.slot %as[%p] : !ring -> !s
        tgpu.tma_load %t to %f on %ch[%p] {map = 0 : i32} : !t, !s, !c
      }
      tgpu.wait %ch[%p] : !c
      %x = tgpu.slot %as[%p] : !ring -> !s
      %d = tgpu.fma %x, %x, %c : !s, !s, !acc -> !acc
      tgpu.release %ch[%p] : !c
      scf.yield %d : !acc
    } {tgpu.pipeline = #tgpu.pipeline<tma, stages = 2>}
    %next = arith.addi %base, %n : i32
    %sum = arith.addf %s, %r : !acc
    scf.yield %next, %sum : i32, !acc
  }
  tgpu.store %q#1, %o : !acc, !o
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
// A branch around a loop is there in both.
// CHECK-LABEL: tgpu.kernel @branch
// CHECK-SAME: %[[YES:[a-z0-9]+]]: i1)
// CHECK: role "load"
// CHECK: scf.for %{{.*}} iter_args(%[[BASE:.*]] = %{{.*}}) -> (i32)
// CHECK-NEXT: %[[NEXT:.*]] = scf.if %[[YES]] -> (i32) {
// CHECK-NEXT: scf.for
// CHECK: tgpu.tma_load
// CHECK: %[[END:.*]] = arith.addi %[[BASE]]
// CHECK-NEXT: scf.yield %[[END]] : i32
// CHECK-NEXT: } else {
// CHECK-NEXT: scf.yield %[[BASE]] : i32
// CHECK-NEXT: }
// CHECK-NEXT: scf.yield %[[NEXT]] : i32
// CHECK: role "compute"
// CHECK: scf.if %[[YES]] -> (i32, tensor
// CHECK: tgpu.wait
// expected-remark @+1 {{roles: 4 warps load, 4 compute}}
tgpu.kernel @branch(%g: !g, %n: i32, %o: !o, %yes: i1) attributes {threads = 128 : i32, target = "sm_90a", warp_specialize = "producer"} {
  %as = tgpu.alloc_shared "A" : !ring
  %ch = tgpu.channel "A" {producers = 1 : i32, consumers = 4 : i32} : !c
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant 0.0 : f32
  %z = tile.splat %zero : f32 -> !acc
  %q = scf.for %y = %c0 to %n step %c1 iter_args(%base = %c0) -> (i32) : i32 {
    %w:2 = scf.if %yes -> (i32, !acc) {
      %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %z) -> (!acc) : i32 {
        %p = arith.addi %base, %i : i32
        tgpu.one_thread {
          tgpu.acquire %ch[%p] : !c
          tgpu.expect %ch[%p] bytes 8192 : !c
          %t = tile.slice %g[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
          %f = tgpu.slot %as[%p] : !ring -> !s
          tgpu.tma_load %t to %f on %ch[%p] {map = 0 : i32} : !t, !s, !c
        }
        tgpu.wait %ch[%p] : !c
        %x = tgpu.slot %as[%p] : !ring -> !s
        %d = tgpu.fma %x, %x, %c : !s, !s, !acc -> !acc
        tgpu.release %ch[%p] : !c
        scf.yield %d : !acc
      } {tgpu.pipeline = #tgpu.pipeline<tma, stages = 2>}
      %next = arith.addi %base, %n : i32
      scf.yield %next, %r : i32, !acc
    } else {
      scf.yield %base, %z : i32, !acc
    }
    tgpu.store %w#1, %o : !acc, !o
    scf.yield %w#0 : i32
  }
  tgpu.return
}
