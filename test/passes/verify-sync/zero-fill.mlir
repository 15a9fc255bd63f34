// Threads set to zero what TMA has read beyond the end of a view; products read the slot, then threads do.
// RUN: %python %S/Inputs/remove_each.py %s | FileCheck %s
// CHECK: ok: {{.*}} tgpu.fence_async {{.*}} lets the async proxy use `a` without tgpu.fence_async and a barrier after threads wrote it
// CHECK: ok: {{.*}} tgpu.barrier {{.*}} reads `a` without a barrier after another thread's access
// CHECK: ok: {{.*}} tgpu.fence_async {{.*}} lets TMA overwrite a slot of `a` without tgpu.fence_async after threads read it
// CHECK: all 21 removals noticed

#acc = #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">
!b = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!f = tensor<64x64xf32, #acc>
!h = tensor<64x64xf16, #acc>
!pending = !tgpu.pending<!f>
!g = !tile.global<64x64xf16>
!ch = !tgpu.channel<2>
tgpu.kernel @zero_fill(%zero: !f, %g: !g, %n: i32, %h: i32, %any: i1) attributes {threads = 128 : i32, target = "sm_90a"} {
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
      tgpu.fence_async
      tgpu.barrier
    }
    tgpu.wgmma_fence
    %q = tgpu.wgmma %s, %s, %acc {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !b, !b, !f -> !pending
    tgpu.wgmma_commit
    %r = tgpu.wgmma_wait 0, %q : !pending -> !f
    %again = tgpu.local_load %s : !b -> !h
    tgpu.fence_async
    tgpu.release %ch[%p] : !ch
    %wide = tile.convert %again : !h to !f
    %next = arith.addf %r, %wide : !f
    scf.yield %next : !f
  }
  tgpu.return
}
