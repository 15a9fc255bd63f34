// Copies by cp.async that run one iteration ahead: no channel, but groups, fences and barriers.
// RUN: %python %S/Inputs/remove_each.py %s | FileCheck %s
// CHECK: ok: {{.*}} tgpu.cp_async_wait 0 {{.*}} uses `a` while an asynchronous access of it is in flight
// CHECK: all 11 removals noticed

#acc = #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">
!b = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!f = tensor<64x64xf32, #acc>
!pending = !tgpu.pending<!f>
!g = !tile.global<64x64xf16>
tgpu.kernel @ahead(%zero: !f, %g: !g, %n: i32) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %ring = tgpu.alloc_shared "a" : !ring
  %first = tgpu.slot %ring[%c0] : !ring -> !b
  tgpu.cp_async %g to %first {bytes = 16 : i32} : !g, !b
  tgpu.cp_async_commit
  %sum = scf.for %p = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!f) : i32 {
    tgpu.cp_async_wait 0
    tgpu.fence_async
    tgpu.barrier
    %s = tgpu.slot %ring[%p] : !ring -> !b
    %next = arith.addi %p, %c1 : i32
    %t = tgpu.slot %ring[%next] : !ring -> !b
    tgpu.cp_async %g to %t {bytes = 16 : i32} : !g, !b
    tgpu.cp_async_commit
    tgpu.wgmma_fence
    %q = tgpu.wgmma %s, %s, %acc {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !b, !b, !f -> !pending
    tgpu.wgmma_commit
    %r = tgpu.wgmma_wait 0, %q : !pending -> !f
    scf.yield %r : !f
  }
  tgpu.return
}
