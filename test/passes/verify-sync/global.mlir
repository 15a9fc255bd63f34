// One tensor, used by threads and by TMA in turn: nothing that orders these accesses of global memory may be missing.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-verify-sync))' -o %t
// RUN: %python %S/Inputs/remove_each.py %s | FileCheck %s
// CHECK: ok: line {{.*}}: tgpu.barrier {{.*}} reads `Y` without a barrier after another thread's access
// CHECK: ok: line {{.*}}: tgpu.fence_async {global} {{.*}} lets the async proxy use `Y` without tgpu.fence_async {global} and a barrier
// CHECK: ok: line {{.*}}: tgpu.barrier {{.*}} writes `Y` without a barrier after another thread's access
// CHECK: ok: line {{.*}}: tgpu.tma_store_commit {{.*}} uses `Y` while an asynchronous access of it is in flight
// CHECK: ok: line {{.*}}: tgpu.tma_store_wait 0 {{.*}} uses `Y` while an asynchronous access of it is in flight
// CHECK: ok: line {{.*}}: tgpu.tma_store_commit {{.*}} uses `Y` while an asynchronous access of it is in flight
// CHECK: ok: line {{.*}}: tgpu.tma_store_wait 0 {{.*}} uses `Y` while an asynchronous access of it is in flight
// CHECK: ok: line {{.*}}: tgpu.barrier {{.*}} reads `Y` without a barrier after another thread's access
// CHECK: ok: line {{.*}}: tgpu.fence_async {global} {{.*}} lets the async proxy use `Y` {{.*}} after threads read it
// CHECK: ok: line {{.*}}: tgpu.barrier
// CHECK: ok: line {{.*}}: tgpu.tma_store_wait 0 {{.*}} uses `Y` while an asynchronous access of it is in flight
// CHECK: ok: line {{.*}}: tgpu.wait {{.*}} uses `Y` while an asynchronous access of it is in flight
// CHECK: all 39 removals noticed

!f = tensor<64x64xf16>
!b = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!v = !tile.global<?x?xf16>
!g = !tile.global<64x64xf16>
!ch = !tgpu.channel<1>

tgpu.kernel @mixed(%y: !v {tile.name = "Y"}, %m: i32, %n: i32, %x: !f) attributes {threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %a = tgpu.alloc_shared "a" : !b
  %l = tgpu.alloc_shared "loaded" : !b
  %ch = tgpu.channel "loaded" {producers = 1 : i32, consumers = 4 : i32} : !ch
  %view = tgpu.view %y extents(%m, %n : i32, i32) strides(%n : i32) : !v -> !v
  %here = tile.slice %view[%c0, %c0] sizes [64, 64] : !v, i32, i32 -> !g
  %below = tile.slice %view[%c1, %c0] sizes [64, 64] : !v, i32, i32 -> !g
  // Threads, then threads.
  tgpu.store %x, %here : !f, !g
  tgpu.barrier
  %0 = tgpu.load %below : !g -> !f
  // Threads, then TMA.
  tgpu.fence_async {global}
  tgpu.barrier
  tgpu.one_thread {
    tgpu.tma_store %a to %here {map = 0 : i32} : !b, !g
    tgpu.tma_store_commit
    // TMA, then TMA.
    tgpu.tma_store_wait 0
    tgpu.tma_store %a to %below {map = 0 : i32} : !b, !g
    tgpu.tma_store_commit
    // TMA, then threads.
    tgpu.tma_store_wait 0
  }
  tgpu.barrier
  %1 = tgpu.load %below : !g -> !f
  tgpu.fence_async {global}
  tgpu.barrier
  tgpu.one_thread {
    tgpu.tma_store %a to %here {map = 0 : i32} : !b, !g
    tgpu.tma_store_commit
    // A load by TMA, then a store.
    tgpu.tma_store_wait 0
    tgpu.acquire %ch[%c0] : !ch
    tgpu.expect %ch[%c0] bytes 8192 : !ch
    tgpu.tma_load %here to %l on %ch[%c0] {map = 0 : i32} : !g, !b, !ch
  }
  tgpu.wait %ch[%c0] : !ch
  tgpu.one_thread {
    tgpu.tma_store %a to %here {map = 0 : i32} : !b, !g
    tgpu.tma_store_commit
    tgpu.tma_store_wait 0 {read}
  }
  tgpu.release %ch[%c0] : !ch
  tgpu.return
}
