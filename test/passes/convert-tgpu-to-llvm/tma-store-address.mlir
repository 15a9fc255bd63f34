// Stores by TMA take their address from a register: a zero that only run time knows is added to it, once for each store. Loads take it as it is.
// RUN: tile-opt --convert-tgpu-to-llvm %s | FileCheck %s

!b = !tgpu.smem<128x64xf16, #tgpu.shared<"128x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<2x128x64xf16, #tgpu.shared<"2x128x64 b16 contig 2 panel 64 swizzle 128">>
!g = !tile.global<?x?xf16>
!t = !tile.global<128x64xf16>
!c = !tgpu.channel<1>
// CHECK-LABEL: llvm.func @store(
// CHECK: %[[ZERO:.*]] = llvm.inline_asm has_side_effects asm_dialect = att "mov.u32 $0, %ctaid.z;", "=r"
// CHECK-NOT: %ctaid.z
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %[[BASE:[0-9]+]], %arg
// CHECK: %[[HIDDEN:.*]] = llvm.getelementptr %[[BASE]][%[[ZERO]]] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
// CHECK: nvvm.cp.async.bulk.tensor.global.shared.cta %{{.*}}, %[[HIDDEN]], box[
// In a ring: slot * 16384 + 0, 16384 bytes on.
// CHECK: %[[SLOT:.*]] = llvm.mul
// CHECK: %[[SUM:.*]] = llvm.add %[[SLOT]], %[[ZERO]]
// CHECK: %[[AT:.*]] = llvm.getelementptr %[[BASE]][%[[SUM]]]
// CHECK: %[[IN:.*]] = llvm.getelementptr %[[AT]][16384]
// CHECK: nvvm.cp.async.bulk.tensor.global.shared.cta %{{.*}}, %[[IN]], box[
tgpu.kernel @store(%A: !g, %m: i32, %n: i32, %p: i32 {tgpu.range = array<i64: 0, 1>}) attributes {threads = 128 : i32, target = "sm_90a", shared_bytes = 49168 : i64,
    tensor_maps = [#tgpu.tensor_map<0, extents = [2, 1], strides = [-2, 2], box = [64, 128], swizzle = 128>]} {
  %c0 = arith.constant 0 : i32
  %s = tgpu.alloc_shared {offset = 0 : i64} : !b
  %r = tgpu.alloc_shared {offset = 16384 : i64} : !ring
  %ch = tgpu.channel "s" {producers = 1 : i32, consumers = 4 : i32, offset = 49152 : i64} : !c
  %v = tgpu.view %A extents(%m, %n : i32, i32) strides(%n : i32) : !g -> !g
  %t = tile.slice %v[%c0, %c0] sizes [128, 64] : !g, i32, i32 -> !t
  %slot = tgpu.slot %r[%p] : !ring -> !b
  tgpu.one_thread {
    tgpu.tma_load %t to %s on %ch[%c0] {map = 0 : i32} : !t, !b, !c
    tgpu.tma_store %s to %t {map = 0 : i32} : !b, !t
    tgpu.tma_store %slot to %t {map = 0 : i32} : !b, !t
    tgpu.tma_store_commit
  }
  tgpu.return
}
