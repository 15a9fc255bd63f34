// What threads write to a slot that TMA has filled: ordered between the wait for the slot and its release.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-insert-sync,tgpu-verify-sync))' | FileCheck %s

#s = #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">
#acc = #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">
!b = !tgpu.smem<64x64xf16, #s>
!ring = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!h = tensor<64x64xf16, #acc>
!f = tensor<64x64xf32, #acc>
!pending = !tgpu.pending<!f>
!g = !tile.global<64x64xf16>
!o = !tile.global<64x64xf16>
!ch = !tgpu.channel<2>

// The tiles that do not take the branch pay nothing: fence and barrier stand in it.
// CHECK-LABEL: tgpu.kernel @product
// CHECK: tgpu.wait
// CHECK-NEXT: scf.if
// CHECK-NEXT: tgpu.zero_beyond
// CHECK-NEXT: tgpu.fence_async
// CHECK-NEXT: tgpu.barrier
// CHECK-NEXT: }
// CHECK-NEXT: tgpu.wgmma_fence
// CHECK-NOT: {{tgpu.barrier|tgpu.fence_async}}
// CHECK: tgpu.return
tgpu.kernel @product(%zero: !f, %g: !g, %n: i32, %h: i32, %any: i1) attributes {threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %ring = tgpu.alloc_shared "a" : !ring
  %ch = tgpu.channel "a" {producers = 1 : i32, consumers = 4 : i32} : !ch
  %sum = scf.for %p = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!f) : i32 {
    %s = tgpu.slot %ring[%p] : !ring -> !b
    tgpu.one_thread {
      tgpu.acquire %ch[%p] : !ch
      tgpu.expect %ch[%p] bytes 8192 : !ch
      tgpu.tma_load %g to %s on %ch[%p] {map = 0 : i32} : !g, !b, !ch
    }
    tgpu.wait %ch[%p] : !ch
    scf.if %any {
      tgpu.zero_beyond %s from (%c0, %c0) to (%h, %c64) : !b
    }
    tgpu.wgmma_fence
    %q = tgpu.wgmma %s, %s, %acc {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !b, !b, !f -> !pending
    tgpu.wgmma_commit
    %r = tgpu.wgmma_wait 0, %q : !pending -> !f
    tgpu.release %ch[%p] : !ch
    scf.yield %r : !f
  }
  tgpu.return
}

// Of readers that are threads the release fences, as without the branch.
// CHECK-LABEL: tgpu.kernel @threads
// CHECK: tgpu.wait
// CHECK-NEXT: scf.if
// CHECK-NEXT: tgpu.zero_beyond
// CHECK-NEXT: tgpu.fence_async
// CHECK-NEXT: tgpu.barrier
// CHECK-NEXT: }
// CHECK-NEXT: tgpu.local_load
// CHECK-NEXT: tgpu.fence_async
// CHECK-NEXT: tgpu.release
// CHECK-NOT: tgpu.barrier
// CHECK: tgpu.return
tgpu.kernel @threads(%zero: !h, %g: !g, %n: i32, %h: i32, %any: i1) attributes {threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %ring = tgpu.alloc_shared "a" : !ring
  %ch = tgpu.channel "a" {producers = 1 : i32, consumers = 4 : i32} : !ch
  %sum = scf.for %p = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!h) : i32 {
    %s = tgpu.slot %ring[%p] : !ring -> !b
    tgpu.one_thread {
      tgpu.acquire %ch[%p] : !ch
      tgpu.expect %ch[%p] bytes 8192 : !ch
      tgpu.tma_load %g to %s on %ch[%p] {map = 0 : i32} : !g, !b, !ch
    }
    tgpu.wait %ch[%p] : !ch
    scf.if %any {
      tgpu.zero_beyond %s from (%c0, %c0) to (%h, %c64) : !b
    }
    %r = tgpu.local_load %s : !b -> !h
    tgpu.release %ch[%p] : !ch
    scf.yield %r : !h
  }
  tgpu.return
}

// No branch: where the next access needs it.
// CHECK-LABEL: tgpu.kernel @always
// CHECK: tgpu.wait
// CHECK-NEXT: tgpu.zero_beyond
// CHECK-NEXT: tgpu.fence_async
// CHECK-NEXT: tgpu.barrier
// CHECK-NEXT: tgpu.wgmma_fence
// CHECK-NOT: {{tgpu.barrier|tgpu.fence_async}}
// CHECK: tgpu.return
tgpu.kernel @always(%zero: !f, %g: !g, %n: i32, %h: i32, %any: i1) attributes {threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %ring = tgpu.alloc_shared "a" : !ring
  %ch = tgpu.channel "a" {producers = 1 : i32, consumers = 4 : i32} : !ch
  %sum = scf.for %p = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!f) : i32 {
    %s = tgpu.slot %ring[%p] : !ring -> !b
    tgpu.one_thread {
      tgpu.acquire %ch[%p] : !ch
      tgpu.expect %ch[%p] bytes 8192 : !ch
      tgpu.tma_load %g to %s on %ch[%p] {map = 0 : i32} : !g, !b, !ch
    }
    tgpu.wait %ch[%p] : !ch
    tgpu.zero_beyond %s from (%c0, %c0) to (%h, %c64) : !b
    tgpu.wgmma_fence
    %q = tgpu.wgmma %s, %s, %acc {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !b, !b, !f -> !pending
    tgpu.wgmma_commit
    %r = tgpu.wgmma_wait 0, %q : !pending -> !f
    tgpu.release %ch[%p] : !ch
    scf.yield %r : !f
  }
  tgpu.return
}

// Nobody reads it: TMA writes there next.
// CHECK-LABEL: tgpu.kernel @unread
// CHECK: tgpu.zero_beyond
// CHECK-NEXT: tgpu.fence_async
// CHECK-NEXT: tgpu.release
// CHECK: tgpu.return
tgpu.kernel @unread(%zero: !f, %g: !g, %n: i32, %h: i32, %any: i1) attributes {threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %ring = tgpu.alloc_shared "a" : !ring
  %ch = tgpu.channel "a" {producers = 1 : i32, consumers = 4 : i32} : !ch
  %sum = scf.for %p = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!f) : i32 {
    %s = tgpu.slot %ring[%p] : !ring -> !b
    tgpu.one_thread {
      tgpu.acquire %ch[%p] : !ch
      tgpu.expect %ch[%p] bytes 8192 : !ch
      tgpu.tma_load %g to %s on %ch[%p] {map = 0 : i32} : !g, !b, !ch
    }
    tgpu.wait %ch[%p] : !ch
    tgpu.zero_beyond %s from (%c0, %c0) to (%h, %c64) : !b
    tgpu.release %ch[%p] : !ch
    scf.yield %acc : !f
  }
  tgpu.return
}

// What was read of the slot before, other threads may still be reading.
// CHECK-LABEL: tgpu.kernel @read_before
// CHECK: tgpu.wait
// CHECK-NEXT: tgpu.local_load
// CHECK-NEXT: tgpu.barrier
// CHECK-NEXT: scf.if
// CHECK-NEXT: tgpu.zero_beyond
// CHECK-NEXT: tgpu.fence_async
// CHECK-NEXT: tgpu.barrier
// CHECK: tgpu.release
tgpu.kernel @read_before(%zero: !h, %g: !g, %n: i32, %h: i32, %any: i1) attributes {threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %ring = tgpu.alloc_shared "a" : !ring
  %ch = tgpu.channel "a" {producers = 1 : i32, consumers = 4 : i32} : !ch
  %sum = scf.for %p = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!h) : i32 {
    %s = tgpu.slot %ring[%p] : !ring -> !b
    tgpu.one_thread {
      tgpu.acquire %ch[%p] : !ch
      tgpu.expect %ch[%p] bytes 8192 : !ch
      tgpu.tma_load %g to %s on %ch[%p] {map = 0 : i32} : !g, !b, !ch
    }
    tgpu.wait %ch[%p] : !ch
    %r = tgpu.local_load %s : !b -> !h
    scf.if %any {
      tgpu.zero_beyond %s from (%c0, %c0) to (%h, %c64) : !b
    }
    tgpu.release %ch[%p] : !ch
    scf.yield %r : !h
  }
  tgpu.return
}
