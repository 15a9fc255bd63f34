// Buffers that are never live at the same time share memory; what loops use stays for all of the loop.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-allocate-shared))' | FileCheck %s

!b = !tgpu.smem<128x64xf16, #tgpu.shared<"128x64 b16 contig 1 panel 64 swizzle 128">>
!wide = !tgpu.smem<128x128xf16, #tgpu.shared<"128x128 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<3x128x64xf16, #tgpu.shared<"3x128x64 b16 contig 2 panel 64 swizzle 128">>
!t = tensor<128x64xf16>

// One after the other: the larger one at 0, the others on top of it.
// CHECK-LABEL: tgpu.kernel @in_turn
// CHECK-SAME: shared_bytes = 32768 : i64
// CHECK: alloc_shared "first" {offset = 0 : i64}
// CHECK: alloc_shared "second" {offset = 0 : i64}
// CHECK: alloc_shared "third" {offset = 0 : i64}
tgpu.kernel @in_turn(%x: i32) attributes {threads = 128 : i32, target = "sm_80"} {
  %a = tgpu.alloc_shared "first" : !b
  %b = tgpu.alloc_shared "second" : !wide
  %c = tgpu.alloc_shared "third" : !b
  %0 = tgpu.local_load %a : !b -> !t
  %1 = tgpu.local_load %b : !wide -> tensor<128x128xf16>
  tgpu.local_store %0, %c : !t, !b
  tgpu.return
}

// CHECK-LABEL: tgpu.kernel @together
// CHECK-SAME: shared_bytes = 49152 : i64
// CHECK: alloc_shared "first" {offset = 32768 : i64}
// CHECK: alloc_shared "second" {offset = 0 : i64}
tgpu.kernel @together(%x: i32) attributes {threads = 128 : i32, target = "sm_80"} {
  %a = tgpu.alloc_shared "first" : !b
  %b = tgpu.alloc_shared "second" : !wide
  %0 = tgpu.local_load %a : !b -> !t
  %1 = tgpu.local_load %b : !wide -> tensor<128x128xf16>
  tgpu.local_store %0, %a : !t, !b
  tgpu.return
}

// In a loop the first use of the next iteration follows the last use of this one, unless the buffer belongs to
// the iteration.
// CHECK-LABEL: tgpu.kernel @loop
// CHECK-SAME: shared_bytes = 32768 : i64
// CHECK: alloc_shared "outside" {offset = 0 : i64}
// CHECK: alloc_shared "after" {offset = 0 : i64}
// CHECK: alloc_shared "one" {offset = 16384 : i64}
// CHECK: alloc_shared "two" {offset = 16384 : i64}
tgpu.kernel @loop(%n: i32) attributes {threads = 128 : i32, target = "sm_80"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %a = tgpu.alloc_shared "outside" : !b
  %d = tgpu.alloc_shared "after" : !b
  scf.for %i = %c0 to %n step %c1 : i32 {
    %0 = tgpu.local_load %a : !b -> !t
    %b = tgpu.alloc_shared "one" : !b
    tgpu.local_store %0, %b : !t, !b
    %c = tgpu.alloc_shared "two" : !b
    tgpu.local_store %0, %c : !t, !b
  }
  %1 = tgpu.local_load %d : !b -> !t
  tgpu.return
}

// Barriers come last: 8 bytes each, two for a slot.
// CHECK-LABEL: tgpu.kernel @channel
// CHECK-SAME: shared_bytes = 49216 : i64
// CHECK: tgpu.channel "small" {consumers = 4 : i32, offset = 49152 : i64, producers = 1 : i32}
// CHECK: alloc_shared "ring" {offset = 0 : i64}
// CHECK: tgpu.channel "ring" {consumers = 4 : i32, offset = 49168 : i64, producers = 1 : i32}
tgpu.kernel @channel(%p: i32) attributes {threads = 128 : i32, target = "sm_90a"} {
  %small = tgpu.channel "small" {producers = 1 : i32, consumers = 4 : i32} : !tgpu.channel<1>
  %ring = tgpu.alloc_shared "ring" : !ring
  %ch = tgpu.channel "ring" {producers = 1 : i32, consumers = 4 : i32} : !tgpu.channel<3>
  %s = tgpu.slot %ring[%p] : !ring -> !b
  %0 = tgpu.local_load %s : !b -> !t
  tgpu.return
}

// Roles run at the same time: what one uses first and another last meets everything between.
// CHECK-LABEL: tgpu.kernel @roles
// CHECK-SAME: shared_bytes = 32768 : i64
// CHECK: alloc_shared "left" {offset = 0 : i64}
// CHECK: alloc_shared "right" {offset = 16384 : i64}
tgpu.kernel @roles(%p: i32) attributes {threads = 256 : i32, target = "sm_90a"} {
  %a = tgpu.alloc_shared "left" : !b
  %b = tgpu.alloc_shared "right" : !b
  tgpu.roles role "a" warps 0, 4 {
    %0 = tgpu.local_load %a : !b -> !t
  } role "b" warps 4, 4 {
    %1 = tgpu.local_load %b : !b -> !t
  }
  tgpu.return
}

// A product reads its operands until the wait, which may come after the loop.
#acc = #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">
!k = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!pending = !tgpu.pending<tensor<64x64xf32, #acc>>
// CHECK-LABEL: tgpu.kernel @in_flight
// CHECK-SAME: shared_bytes = 16384 : i64
// CHECK: alloc_shared "operands" {offset = 0 : i64}
// CHECK: alloc_shared "early" {offset = 8192 : i64}
// CHECK: alloc_shared "late" {offset = 0 : i64}
tgpu.kernel @in_flight(%n: i32) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %z = arith.constant 0.0 : f32
  %a = tgpu.alloc_shared "operands" : !k
  %early = tgpu.alloc_shared "early" : !k
  %late = tgpu.alloc_shared "late" : !k
  %zero = tile.splat %z : f32 -> tensor<64x64xf32, #acc>
  %init = tgpu.wgmma_begin %zero : tensor<64x64xf32, #acc> -> !pending
  %p = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init) -> (!pending) : i32 {
    tgpu.wgmma_fence
    %0 = tgpu.wgmma %a, %a, %acc {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !k, !k, !pending -> !pending
    tgpu.wgmma_commit
    scf.yield %0 : !pending
  }
  %1 = tgpu.local_load %early : !k -> tensor<64x64xf16>
  %2 = tgpu.wgmma_wait 0, %p : !pending -> tensor<64x64xf32, #acc>
  tgpu.local_store %1, %late : tensor<64x64xf16>, !k
  tgpu.return
}

!g = !tile.global<128x64xf16>
// What cp.async fills is in use until the first wait for all groups behind it, in its block or around it: not until those of others.
// CHECK-LABEL: tgpu.kernel @cp_async
// CHECK-SAME: shared_bytes = 49152 : i64
// CHECK: alloc_shared "one" {offset = 0 : i64}
// CHECK: alloc_shared "two" {offset = 0 : i64}
tgpu.kernel @cp_async(%g: !g, %n: i32, %i: i1) attributes {threads = 128 : i32, target = "sm_80"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %a = tgpu.alloc_shared "one" : !ring
  %b = tgpu.alloc_shared "two" : !ring
  %a0 = tgpu.slot %a[%c0] : !ring -> !b
  %b0 = tgpu.slot %b[%c0] : !ring -> !b
  scf.if %i {
    tgpu.cp_async %g to %a0 {bytes = 16 : i32} : !g, !b
  }
  tgpu.cp_async_commit
  scf.for %j = %c0 to %n step %c1 : i32 {
    tgpu.cp_async_wait 1
    tgpu.cp_async %g to %a0 {bytes = 16 : i32} : !g, !b
    tgpu.cp_async_commit
  }
  tgpu.cp_async_wait 0
  tgpu.cp_async %g to %b0 {bytes = 16 : i32} : !g, !b
  tgpu.cp_async_commit
  tgpu.cp_async_wait 0
  tgpu.return
}

// A wait for some groups ends nothing, and one in a branch may not be met.
// CHECK-LABEL: tgpu.kernel @cp_async_in_flight
// CHECK-SAME: shared_bytes = 98304 : i64
tgpu.kernel @cp_async_in_flight(%g: !g, %i: i1) attributes {threads = 128 : i32, target = "sm_80"} {
  %c0 = arith.constant 0 : i32
  %a = tgpu.alloc_shared "one" : !ring
  %b = tgpu.alloc_shared "two" : !ring
  %a0 = tgpu.slot %a[%c0] : !ring -> !b
  %b0 = tgpu.slot %b[%c0] : !ring -> !b
  tgpu.cp_async %g to %a0 {bytes = 16 : i32} : !g, !b
  tgpu.cp_async_commit
  tgpu.cp_async_wait 1
  scf.if %i {
    tgpu.cp_async_wait 0
  }
  %0 = tgpu.local_load %b0 : !b -> !t
  tgpu.cp_async_wait 0
  tgpu.return
}
