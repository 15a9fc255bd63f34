// A loop that only loads, in a role of its own.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-plan-schedule))' -split-input-file | FileCheck %s

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
!c = !tgpu.channel<2>
// It fills slots in the order in which they are given back, not in that of the program: X comes second.
// CHECK-LABEL: tgpu.kernel @mirrored
// CHECK: %[[X:.*]] = tgpu.channel "X"
// CHECK: tgpu.one_thread attributes {tgpu.schedule = #tgpu.stage<0, 1>, warp = 4 : i32} {
// CHECK-NEXT: tgpu.acquire %[[X]]
// CHECK: tgpu.one_thread attributes {tgpu.schedule = #tgpu.stage<0, 0>, warp = 4 : i32} {
tgpu.kernel @mirrored(%a: !g, %n: i32, %o: !t) attributes {threads = 128 : i32, block_threads = 256 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %xs = tgpu.alloc_shared "X" : !ring
  %ys = tgpu.alloc_shared "Y" : !ring
  %cx = tgpu.channel "X" {producers = 1 : i32, consumers = 4 : i32} : !c
  %cy = tgpu.channel "Y" {producers = 1 : i32, consumers = 4 : i32} : !c
  tgpu.roles role "load" warps 4, 4 registers 0 {
    scf.for %i = %c0 to %n step %c1 : i32 {
      tgpu.one_thread attributes {warp = 4 : i32} {
        tgpu.acquire %cx[%i] : !c
        tgpu.expect %cx[%i] bytes 8192 : !c
        %t = tile.slice %a[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
        %f = tgpu.slot %xs[%i] : !ring -> !s
        tgpu.tma_load %t to %f on %cx[%i] {map = 0 : i32} : !t, !s, !c
      }
      tgpu.one_thread attributes {warp = 4 : i32} {
        tgpu.acquire %cy[%i] : !c
        tgpu.expect %cy[%i] bytes 8192 : !c
        %t = tile.slice %a[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
        %f = tgpu.slot %ys[%i] : !ring -> !s
        tgpu.tma_load %t to %f on %cy[%i] {map = 0 : i32} : !t, !s, !c
      }
    } {tgpu.pipeline = #tgpu.pipeline<tma, stages = 2>}
  } role "compute" warps 0, 4 registers 0 {
    scf.for %i = %c0 to %n step %c1 : i32 {
      tgpu.wait %cy[%i] : !c
      %y = tgpu.slot %ys[%i] : !ring -> !s
      %yv = tgpu.local_load %y : !s -> tensor<64x64xf16>
      tgpu.release %cy[%i] : !c
      tgpu.store %yv, %o {bytes = 2 : i32} : tensor<64x64xf16>, !t
      tgpu.wait %cx[%i] : !c
      %x = tgpu.slot %xs[%i] : !ring -> !s
      %xv = tgpu.local_load %x : !s -> tensor<64x64xf16>
      tgpu.release %cx[%i] : !c
      tgpu.store %xv, %o {bytes = 2 : i32} : tensor<64x64xf16>, !t
    } {tgpu.pipeline = #tgpu.pipeline<tma, stages = 2>}
  }
  tgpu.return
}

// -----

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
!c = !tgpu.channel<2>
// Where nothing says when slots are given back, it keeps its own.
// CHECK-LABEL: tgpu.kernel @own_order
// CHECK: %[[X:.*]] = tgpu.channel "X"
// CHECK: tgpu.one_thread attributes {tgpu.schedule = #tgpu.stage<0, 0>, warp = 4 : i32} {
// CHECK-NEXT: tgpu.acquire %[[X]]
// CHECK: tgpu.one_thread attributes {tgpu.schedule = #tgpu.stage<0, 1>, warp = 4 : i32} {
tgpu.kernel @own_order(%a: !g, %n: i32, %o: !t) attributes {threads = 128 : i32, block_threads = 256 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %xs = tgpu.alloc_shared "X" : !ring
  %ys = tgpu.alloc_shared "Y" : !ring
  %cx = tgpu.channel "X" {producers = 1 : i32, consumers = 4 : i32} : !c
  %cy = tgpu.channel "Y" {producers = 1 : i32, consumers = 4 : i32} : !c
  tgpu.roles role "load" warps 4, 4 registers 0 {
    scf.for %i = %c0 to %n step %c1 : i32 {
      tgpu.one_thread attributes {warp = 4 : i32} {
        tgpu.acquire %cx[%i] : !c
        tgpu.expect %cx[%i] bytes 8192 : !c
        %t = tile.slice %a[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
        %f = tgpu.slot %xs[%i] : !ring -> !s
        tgpu.tma_load %t to %f on %cx[%i] {map = 0 : i32} : !t, !s, !c
      }
      tgpu.one_thread attributes {warp = 4 : i32} {
        tgpu.acquire %cy[%i] : !c
        tgpu.expect %cy[%i] bytes 8192 : !c
        %t = tile.slice %a[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
        %f = tgpu.slot %ys[%i] : !ring -> !s
        tgpu.tma_load %t to %f on %cy[%i] {map = 0 : i32} : !t, !s, !c
      }
    } {tgpu.pipeline = #tgpu.pipeline<tma, stages = 2>}
  } role "compute" warps 0, 4 registers 0 {
    scf.for %i = %c0 to %n step %c1 : i32 {
      tgpu.wait %cy[%i] : !c
      %y = tgpu.slot %ys[%i] : !ring -> !s
      %yv = tgpu.local_load %y : !s -> tensor<64x64xf16>
      tgpu.release %cy[%i] : !c
      tgpu.store %yv, %o {bytes = 2 : i32} : tensor<64x64xf16>, !t
      tgpu.wait %cx[%i] : !c
      %x = tgpu.slot %xs[%i] : !ring -> !s
      %xv = tgpu.local_load %x : !s -> tensor<64x64xf16>
      tgpu.release %cx[%i] : !c
      tgpu.store %xv, %o {bytes = 2 : i32} : tensor<64x64xf16>, !t
    }
  }
  tgpu.return
}
