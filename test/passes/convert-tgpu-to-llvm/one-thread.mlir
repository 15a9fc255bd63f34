// What one thread waits for its whole warp waits for: a lane that spins alone would let the others run on and overwrite the
// uniform registers that it passes to TMA. The rest is straight code of the elected lane, in loops of the whole warp too.
// RUN: tile-opt --convert-tgpu-to-llvm %s | FileCheck %s

#s = #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">
!ring = !tgpu.smem<2x64x64xf16, #s>
!b = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
!ch = !tgpu.channel<2>

// CHECK-LABEL: llvm.func @straight
// CHECK: %[[ONE:.*]] = nvvm.elect.sync
// CHECK: ^[[WAIT:.*]]:
// CHECK: %[[DONE:.*]] = nvvm.mbarrier.try_wait
// CHECK: llvm.cond_br %{{.*}}, ^{{.*}}, ^[[AFTER:.*]]
// CHECK: llvm.cond_br %[[ONE]], ^[[MINE:bb[0-9]+]], ^[[OTHERS:bb[0-9]+]]
// CHECK: ^[[MINE]]:
// CHECK: nvvm.mbarrier.arrive.expect_tx
// CHECK-NOT: llvm.cond_br
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global
// CHECK: ^[[OTHERS]]:
// CHECK: nvvm.bar.warp.sync
tgpu.kernel @straight(%A: !g, %M: i32, %N: i32, %p: i32) attributes {
    threads = 128 : i32, target = "sm_90a", shared_bytes = 16416 : i64,
    tensor_maps = [#tgpu.tensor_map<0, extents = [2, 1], strides = [-2, 2], box = [64, 64], swizzle = 128>]} {
  %c0 = arith.constant 0 : i32
  %a = tgpu.view %A extents(%M, %N : i32, i32) strides(%N : i32) : !g -> !g
  %t = tile.slice %a[%c0, %c0] sizes [64, 64] : !g, i32, i32 -> !t
  %ring = tgpu.alloc_shared "ring" {offset = 0 : i64} : !ring
  %ch = tgpu.channel "ring" {producers = 1 : i32, consumers = 4 : i32, offset = 16384 : i64} : !ch
  tgpu.one_thread {
    %s = tgpu.slot %ring[%p] : !ring -> !b
    tgpu.acquire %ch[%p] : !ch
    tgpu.expect %ch[%p] bytes 8192 : !ch
    tgpu.tma_load %t to %s on %ch[%p] {map = 0 : i32} : !t, !b, !ch
  }
  tgpu.return
}

// CHECK-LABEL: llvm.func @loop
// CHECK: %[[ONE:.*]] = nvvm.elect.sync
// CHECK: nvvm.mbarrier.try_wait
// CHECK: llvm.cond_br %[[ONE]]
// CHECK: nvvm.mbarrier.arrive.expect_tx
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global
// CHECK: nvvm.bar.warp.sync
tgpu.kernel @loop(%A: !g, %M: i32, %N: i32, %n: i32) attributes {
    threads = 128 : i32, target = "sm_90a", shared_bytes = 16416 : i64,
    tensor_maps = [#tgpu.tensor_map<0, extents = [2, 1], strides = [-2, 2], box = [64, 64], swizzle = 128>]} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %a = tgpu.view %A extents(%M, %N : i32, i32) strides(%N : i32) : !g -> !g
  %ring = tgpu.alloc_shared "ring" {offset = 0 : i64} : !ring
  %ch = tgpu.channel "ring" {producers = 1 : i32, consumers = 4 : i32, offset = 16384 : i64} : !ch
  tgpu.one_thread {
    scf.for %i = %c0 to %n step %c1 : i32 {
      %t = tile.slice %a[%i, %c0] sizes [64, 64] : !g, i32, i32 -> !t
      %s = tgpu.slot %ring[%i] : !ring -> !b
      tgpu.acquire %ch[%i] : !ch
      tgpu.expect %ch[%i] bytes 8192 : !ch
      tgpu.tma_load %t to %s on %ch[%i] {map = 0 : i32} : !t, !b, !ch
    }
  }
  tgpu.return
}
