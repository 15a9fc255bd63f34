// What a stream's event passes on in flight still reads its buffers: their memory is another's only behind the wait that ends it.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-allocate-shared))' | FileCheck %s

#acc = #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">
!b = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!f = tensor<64x64xf32, #acc>
!h = tensor<64x64xf16, #acc>
!pending = !tgpu.pending<!f>

// CHECK-LABEL: tgpu.kernel @passed_on
// CHECK-SAME: shared_bytes = 16384 : i64
// CHECK: tgpu.alloc_shared "a" {offset = 0 : i64}
// CHECK: tgpu.alloc_shared "beside" {offset = 8192 : i64}
// CHECK: tgpu.alloc_shared "behind" {offset = 0 : i64}
tgpu.kernel @passed_on(%x: !h, %zero: !f) attributes {threads = 128 : i32, target = "sm_90a"} {
  %a = tgpu.alloc_shared "a" : !b
  tgpu.local_store %x, %a : !h, !b
  tgpu.wgmma_fence
  %p = tgpu.wgmma %a, %a, %zero {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !b, !b, !f -> !pending
  tgpu.wgmma_commit
  %q = tgpu.stream {
  } at 0 {
    %w = tgpu.wgmma_wait 1, %p : !pending -> !pending
    tgpu.yield %w : !pending
  } : !pending
  %beside = tgpu.alloc_shared "beside" : !b
  tgpu.local_store %x, %beside : !h, !b
  %r = tgpu.wgmma_wait 0, %q : !pending -> !f
  %behind = tgpu.alloc_shared "behind" : !b
  tgpu.local_store %x, %behind : !h, !b
  tgpu.return
}
