// The fills of a loop become the program of four more warps, with the loop around them; all else is that of the warps that there were.
// Buffers and channels stand before both.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-slice-roles))' -verify-diagnostics | FileCheck %s

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
!o = !tile.global<64x64xf32>
!c = !tgpu.channel<2>
// CHECK-LABEL: tgpu.kernel @producer
// CHECK-SAME: %[[N:[a-z0-9]+]]: i32
// CHECK-SAME: block_threads = 256 : i32
// CHECK-SAME: threads = 128 : i32
// CHECK-NEXT: %[[RING:.*]] = tgpu.alloc_shared
// CHECK-NEXT: %[[CH:.*]] = tgpu.channel "A" {consumers = 4 : i32, producers = 1 : i32}
// CHECK-NEXT: tgpu.roles
// CHECK-NEXT: role "load" warps 4, 4 {
// CHECK-NOT: tensor
// CHECK: scf.for %[[I:[a-z0-9]+]] = %{{.*}} to %[[N]] step %{{.*}} : i32 {
// CHECK-NEXT: tgpu.one_thread attributes {warp = 4 : i32} {
// CHECK-NEXT: tgpu.acquire %[[CH]][%[[I]]]
// CHECK-NEXT: tgpu.expect %[[CH]][%[[I]]] bytes 8192
// CHECK-NEXT: tile.slice
// CHECK-NEXT: tgpu.slot %[[RING]][%[[I]]]
// CHECK-NEXT: tgpu.tma_load {{.*}} : !tile.global<64x64xf16>, {{.*}}, !tgpu.channel<2>
// CHECK-NEXT: }
// CHECK-NEXT: } {tgpu.pipeline = #tgpu.pipeline<tma, stages = 2>}
// CHECK-NEXT: }
// CHECK-NEXT: role "compute" warps 0, 4 {
// CHECK-NOT: tgpu.acquire
// CHECK: %[[R:.*]] = scf.for %[[J:[a-z0-9]+]] = {{.*}} iter_args(%[[C:.*]] = %{{.*}})
// CHECK-NEXT: tgpu.wait %[[CH]][%[[J]]]
// CHECK-NEXT: tgpu.slot %[[RING]][%[[J]]]
// CHECK-NEXT: tgpu.fma
// CHECK-NEXT: tgpu.release %[[CH]][%[[J]]]
// CHECK-NEXT: scf.yield
// CHECK-NEXT: } {tgpu.pipeline = #tgpu.pipeline<tma, stages = 2>}
// CHECK-NEXT: tgpu.store %[[R]]
// CHECK-NEXT: }
// CHECK-NEXT: tgpu.return
// expected-remark @+1 {{roles: 4 warps load, 4 compute}}
tgpu.kernel @producer(%g: !g, %n: i32, %o: !o) attributes {threads = 128 : i32, target = "sm_90a", warp_specialize = "producer"} {
  %as = tgpu.alloc_shared "A" : !ring
  %ch = tgpu.channel "A" {producers = 1 : i32, consumers = 4 : i32} : !c
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant 0.0 : f32
  %z = tile.splat %zero : f32 -> !acc
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %z) -> (!acc) : i32 {
    tgpu.one_thread {
      tgpu.acquire %ch[%i] : !c
      tgpu.expect %ch[%i] bytes 8192 : !c
      %t = tile.slice %g[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
      %f = tgpu.slot %as[%i] : !ring -> !s
      tgpu.tma_load %t to %f on %ch[%i] {map = 0 : i32} : !t, !s, !c
    }
    tgpu.wait %ch[%i] : !c
    %x = tgpu.slot %as[%i] : !ring -> !s
    %d = tgpu.fma %x, %x, %c : !s, !s, !acc -> !acc
    tgpu.release %ch[%i] : !c
    scf.yield %d : !acc
  } {tgpu.pipeline = #tgpu.pipeline<tma, stages = 2>}
  tgpu.store %r, %o : !acc, !o
  tgpu.return
}
