// The lanes of a warp may leave a wait apart: they meet behind it, whether or not some warp reads shared memory, since what
// follows may be `.aligned` (wgmma here). One thread's part is not for its warp.
// RUN: tile-opt --convert-tgpu-to-llvm %s | FileCheck %s

!ch = !tgpu.channel<2>

// CHECK-LABEL: llvm.func @meets
// CHECK: nvvm.mbarrier.try_wait
// CHECK: llvm.cond_br %{{.*}}, ^{{.*}}, ^[[AFTER:.*]]
// CHECK-NEXT: ^[[AFTER]]:
// CHECK-NEXT: nvvm.bar.warp.sync
// CHECK: nvvm.mbarrier.try_wait
// CHECK: llvm.cond_br %{{.*}}, ^{{.*}}, ^[[FREE:.*]]
// CHECK-NEXT: ^[[FREE]]:
// CHECK-NEXT: nvvm.bar.warp.sync
// CHECK-NEXT: nvvm.wgmma.commit.group.sync.aligned
tgpu.kernel @meets(%p: i32) attributes {threads = 128 : i32, target = "sm_90a", shared_bytes = 16416 : i64} {
  %ch = tgpu.channel "ring" {producers = 1 : i32, consumers = 4 : i32, offset = 16384 : i64} : !ch
  tgpu.wait %ch[%p] : !ch
  tgpu.acquire %ch[%p] : !ch
  tgpu.wgmma_commit
  tgpu.return
}
