// Proxy fences before the async proxy uses what threads wrote, and barriers after waits for asynchronous copies.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-insert-sync,tgpu-verify-sync))' | FileCheck %s

#s = #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">
#acc = #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">
!b = !tgpu.smem<64x64xf16, #s>
!two = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!h = tensor<64x64xf16, #acc>
!f = tensor<64x64xf32, #acc>
!pending = !tgpu.pending<!f>
!g = !tile.global<64x64xf16>
!ch = !tgpu.channel<2>

// Staging of stores: the threads wait for the one that waits for the store, write, fence, and meet again.
// CHECK-LABEL: tgpu.kernel @staging
// CHECK: tgpu.one_thread {
// CHECK-NEXT: tgpu.tma_store_wait 1 {read}
// CHECK-NEXT: }
// CHECK: tgpu.barrier
// CHECK-NEXT: tgpu.local_store
// CHECK-NEXT: tgpu.fence_async
// CHECK-NEXT: tgpu.barrier
// CHECK-NEXT: tgpu.one_thread {
// CHECK-NEXT: tgpu.tma_store
tgpu.kernel @staging(%v: !h, %g: !g, %n: i32) attributes {threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %ring = tgpu.alloc_shared "staging" : !two
  scf.for %i = %c0 to %n step %c1 : i32 {
    %point = tgpu.grid_point %i in(%n) : i32
    tgpu.one_thread {
      tgpu.tma_store_wait 1 {read}
    }
    %slot = tgpu.slot %ring[%i] : !two -> !b
    tgpu.local_store %v, %slot : !h, !b
    tgpu.one_thread {
      tgpu.tma_store %slot to %g {map = 0 : i32} : !b, !g
      tgpu.tma_store_commit
    }
  }
  tgpu.one_thread {
    tgpu.tma_store_wait 0 {read}
  }
  tgpu.return
}

// cp.async is a write of its threads: complete after their wait, visible to the others after a barrier, and to wgmma
// after a fence. Both come before wgmma_fence.
// CHECK-LABEL: tgpu.kernel @cp_async
// CHECK: scf.for
// CHECK-NEXT: tgpu.barrier
// CHECK-NEXT: tgpu.cp_async
// CHECK: tgpu.cp_async_wait 0
// CHECK-NEXT: tgpu.fence_async
// CHECK-NEXT: tgpu.barrier
// CHECK-NEXT: tgpu.wgmma_fence
// CHECK-NEXT: tgpu.wgmma
tgpu.kernel @cp_async(%zero: !f, %g: !g, %n: i32) attributes {threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %a = tgpu.alloc_shared "a" : !b
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!f) : i32 {
    tgpu.cp_async %g to %a {bytes = 16 : i32} : !g, !b
    tgpu.cp_async_commit
    tgpu.cp_async_wait 0
    tgpu.wgmma_fence
    %p = tgpu.wgmma %a, %a, %acc {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !b, !b, !f -> !pending
    tgpu.wgmma_commit
    %r = tgpu.wgmma_wait 0, %p : !pending -> !f
    scf.yield %r : !f
  }
  tgpu.return
}

// A fence that is there serves when it comes after the writes and before the barrier.
// CHECK-LABEL: tgpu.kernel @fenced
// CHECK: tgpu.local_store
// CHECK-NEXT: tgpu.fence_async
// CHECK-NEXT: tgpu.barrier
// CHECK-NEXT: tgpu.one_thread
// CHECK-LABEL: tgpu.kernel @fenced_too_late
// CHECK: tgpu.local_store
// CHECK-NEXT: tgpu.barrier
// CHECK-NEXT: tgpu.fence_async
// CHECK-NEXT: tgpu.barrier
// CHECK-NEXT: tgpu.one_thread
tgpu.kernel @fenced(%v: !h, %g: !g) attributes {threads = 128 : i32} {
  %a = tgpu.alloc_shared "a" : !b
  tgpu.local_store %v, %a : !h, !b
  tgpu.fence_async
  tgpu.one_thread {
    tgpu.tma_store %a to %g {map = 0 : i32} : !b, !g
    tgpu.tma_store_commit
    tgpu.tma_store_wait 0
  }
  tgpu.return
}
tgpu.kernel @fenced_too_late(%v: !h, %g: !g) attributes {threads = 128 : i32} {
  %a = tgpu.alloc_shared "a" : !b
  tgpu.local_store %v, %a : !h, !b
  tgpu.barrier
  tgpu.fence_async
  tgpu.one_thread {
    tgpu.tma_store %a to %g {map = 0 : i32} : !b, !g
    tgpu.tma_store_commit
    tgpu.tma_store_wait 0
  }
  tgpu.return
}

// What TMA fills is ordered by its channel, except against what lies in the same place. The threads that read a slot fence
// before they give it back: TMA will write it.
// CHECK-LABEL: tgpu.kernel @channel
// CHECK: tgpu.one_thread
// CHECK: tgpu.wait
// CHECK-NEXT: tgpu.slot
// CHECK-NEXT: tgpu.local_load
// CHECK-NEXT: tgpu.fence_async
// CHECK-NEXT: tgpu.release
// CHECK-NEXT: tgpu.barrier
// CHECK-NEXT: tgpu.local_store
tgpu.kernel @channel(%g: !g, %p: i32) attributes {threads = 128 : i32} {
  %ring = tgpu.alloc_shared "ring" {offset = 0 : i64} : !two
  %over = tgpu.alloc_shared "over" {offset = 8192 : i64} : !b
  %ch = tgpu.channel "ring" {producers = 1 : i32, consumers = 4 : i32} : !ch
  tgpu.one_thread {
    %s = tgpu.slot %ring[%p] : !two -> !b
    tgpu.acquire %ch[%p] : !ch
    tgpu.expect %ch[%p] bytes 8192 : !ch
    tgpu.tma_load %g to %s on %ch[%p] {map = 0 : i32} : !g, !b, !ch
  }
  tgpu.wait %ch[%p] : !ch
  %slot = tgpu.slot %ring[%p] : !two -> !b
  %0 = tgpu.local_load %slot : !b -> !h
  tgpu.release %ch[%p] : !ch
  tgpu.local_store %0, %over : !h, !b
  tgpu.return
}

// A role that publishes what it wrote fences it when the readers are asynchronous.
// CHECK-LABEL: tgpu.kernel @publish
// CHECK: tgpu.local_store
// CHECK-NEXT: tgpu.fence_async
// CHECK-NEXT: tgpu.publish
// CHECK: tgpu.local_store
// CHECK-NEXT: tgpu.publish
// CHECK-NOT: tgpu.barrier
// CHECK: tgpu.return
tgpu.kernel @publish(%p: i32) attributes {threads = 256 : i32} {
  %z = arith.constant 0.0 : f16
  %zf = arith.constant 0.0 : f32
  %a = tgpu.alloc_shared "product" : !b
  %b = tgpu.alloc_shared "plain" : !b
  %ca = tgpu.channel "product" {producers = 128 : i32, consumers = 4 : i32} : !tgpu.channel<1>
  %cb = tgpu.channel "plain" {producers = 128 : i32, consumers = 4 : i32} : !tgpu.channel<1>
  tgpu.roles role "writer" warps 0, 4 {
    %v = tile.splat %z : f16 -> !h
    tgpu.acquire %ca[%p] : !tgpu.channel<1>
    tgpu.local_store %v, %a : !h, !b
    tgpu.publish %ca[%p] : !tgpu.channel<1>
    tgpu.acquire %cb[%p] : !tgpu.channel<1>
    tgpu.local_store %v, %b : !h, !b
    tgpu.publish %cb[%p] : !tgpu.channel<1>
  } role "reader" warps 4, 4 {
    %acc = tile.splat %zf : f32 -> !f
    tgpu.wait %ca[%p] : !tgpu.channel<1>
    tgpu.wgmma_fence
    %0 = tgpu.wgmma %a, %a, %acc {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !b, !b, !f -> !pending
    tgpu.wgmma_commit
    %1 = tgpu.wgmma_wait 0, %0 : !pending -> !f
    tgpu.release %ca[%p] : !tgpu.channel<1>
    tgpu.wait %cb[%p] : !tgpu.channel<1>
    %2 = tgpu.local_load %b : !b -> !h
    tgpu.release %cb[%p] : !tgpu.channel<1>
  }
  tgpu.return
}
