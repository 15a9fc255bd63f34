// Blocks of a cluster that load for each other: rows of blocks along the second dimension, columns of those along the first. The point of a block is
// its place in the cluster's box. All threads meet at the start and the end. Four warps of each of eight blocks give a slot back, to all blocks: lane i to
// block i. Who loads waits for them, and does its share of each load, into the blocks that need it.
// RUN: tile-opt %s --convert-tgpu-to-llvm --canonicalize --cse | FileCheck %s

// CHECK-LABEL: llvm.func @k(
// CHECK-SAME: nvvm.cluster_dim = array<i32: 8, 1, 1>
// CHECK-DAG: %[[C2:.*]] = llvm.mlir.constant(2 : i32)
// CHECK-DAG: %[[C4:.*]] = llvm.mlir.constant(4 : i32)
// CHECK-DAG: %[[C8:.*]] = llvm.mlir.constant(8 : i32)
// CHECK-DAG: %[[C32:.*]] = llvm.mlir.constant(32 : i32)
// CHECK-DAG: %[[MASK_A:.*]] = llvm.mlir.constant(85 : i32)
// CHECK-DAG: %[[MASK_B:.*]] = llvm.mlir.constant(3 : i32)
// CHECK: %[[RANK:.*]] = nvvm.read.ptx.sreg.cluster.ctarank range <i32, 0, 8>
// CHECK: llvm.getelementptr %{{.*}}[32784]
// CHECK-NEXT: nvvm.mbarrier.init %{{.*}}, %[[C32]]
// CHECK-NOT: [32800]
// CHECK: nvvm.fence.mbarrier.init
// CHECK: nvvm.cluster.arrive.relaxed
// CHECK-NEXT: nvvm.cluster.wait
// CHECK: %[[BOX:.*]] = nvvm.read.ptx.sreg.clusterid.x
// CHECK: %[[BOXES:.*]] = llvm.udiv %{{.*}}, %[[C2]]
// CHECK: %[[COLUMN:.*]] = llvm.udiv %[[BOX]], %[[BOXES]]
// CHECK: %[[BEFORE:.*]] = llvm.mul %[[COLUMN]], %[[BOXES]]
// CHECK: %[[ROW:.*]] = llvm.sub %[[BOX]], %[[BEFORE]]
// CHECK: %[[FIRST:.*]] = llvm.mul %[[ROW]], %[[C2]]
// CHECK: %[[X:.*]] = llvm.urem %[[RANK]], %[[C2]]
// CHECK: llvm.add %[[FIRST]], %[[X]]
// CHECK: %[[ABOVE:.*]] = llvm.udiv %[[RANK]], %[[C2]]
// CHECK: %[[Y:.*]] = llvm.urem %[[ABOVE]]
// CHECK: nvvm.elect.sync
// CHECK: %[[EMPTY:.*]] = llvm.getelementptr %{{.*}}[32784]
// CHECK: nvvm.mbarrier.try_wait %[[EMPTY]], %{{.*}} {relaxed = true, scope = #nvvm.mem_scope<cluster>}
// CHECK: nvvm.fence.sync_restrict {order = #nvvm.mem_order<acquire>}
// CHECK: nvvm.mbarrier.arrive.expect_tx
// CHECK: %[[WIDE:.*]] = llvm.shl %[[MASK_A]], %[[X]]
// CHECK: %[[A:.*]] = llvm.trunc %[[WIDE]] : i32 to i16
// CHECK: llvm.icmp "eq" %[[Y]]
// CHECK-COUNT-4: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}} multicast_mask = %[[A]] : !llvm.ptr<7>
// CHECK: %[[FROM:.*]] = llvm.mul %[[Y]], %[[C2]]
// CHECK: %[[WIDE_B:.*]] = llvm.shl %[[MASK_B]], %[[FROM]]
// CHECK: %[[B:.*]] = llvm.trunc %[[WIDE_B]]
// CHECK: llvm.icmp "eq" %[[X]]
// CHECK-COUNT-2: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}} multicast_mask = %[[B]] : !llvm.ptr<7>
// CHECK-NOT: nvvm.cp.async
// CHECK: %[[GIVEN:.*]] = llvm.getelementptr %{{.*}}[32784]
// CHECK: llvm.icmp "ult" %[[LANE:.*]], %[[C8]]
// CHECK: %[[LANE_X:.*]] = llvm.urem %[[LANE]], %[[C2]]
// CHECK: %[[LANE_ABOVE:.*]] = llvm.udiv %[[LANE]], %[[C2]]
// CHECK: %[[LANE_Y:.*]] = llvm.urem %[[LANE_ABOVE]], %[[C4]]
// CHECK: %[[FROM_Y:.*]] = llvm.mul %[[LANE_Y]], %[[C2]]
// CHECK: %[[TO:.*]] = llvm.add %[[LANE_X]], %[[FROM_Y]]
// CHECK: nvvm.fence.sync_restrict {order = #nvvm.mem_order<release>}
// CHECK: %[[REMOTE:.*]] = nvvm.mapa %[[GIVEN]], %[[TO]]
// CHECK: nvvm.mbarrier.arrive %[[REMOTE]] {relaxed = true, scope = #nvvm.mem_scope<cluster>}
// CHECK: nvvm.cluster.arrive{{$}}
// CHECK-NEXT: nvvm.cluster.wait
// CHECK-NEXT: llvm.return

!g = !tile.global<?x?xf16>
!a = !tile.global<64x64xf16>
!ring = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!slot = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!c = !tgpu.channel<2>
#rows = #tgpu.tensor_map<0, extents = [1, 1], strides = [-2, 1], box = [64, 16], swizzle = 128>
#columns = #tgpu.tensor_map<0, extents = [1, 1], strides = [-2, 1], box = [64, 32], swizzle = 128>
tgpu.kernel @k(%g: !g, %n: i32, %x: i32, %y: i32) attributes {threads = 128 : i32, block_threads = 256 : i32, target = "sm_90a", launch = "k",
    cluster = array<i32: 2, 4>, tensor_maps = [#rows, #columns], shared_bytes = 32816 : i64} {
  %v = tgpu.view %g extents(%n, %n : i32, i32) strides(%n : i32) : !g -> !g
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %id = tgpu.cluster_id
  %i, %j = tgpu.grid_point %id in (%x, %y) {cluster = array<i32: 2, 4>} : i32, i32
  %as = tgpu.alloc_shared "A" {offset = 0 : i64} : !ring
  %bs = tgpu.alloc_shared "B" {offset = 16384 : i64} : !ring
  %ch = tgpu.channel "AB" {producers = 1 : i32, consumers = 4 : i32, across = array<i32: 0, 1>, offset = 32768 : i64} : !c
  tgpu.roles role "load" warps 4, 4 {
    scf.for %k = %c0 to %n step %c1 : i32 {
      tgpu.one_thread attributes {warp = 4 : i32} {
        tgpu.acquire %ch[%k] : !c
        tgpu.expect %ch[%k] bytes 16384 : !c
        %a = tile.slice %v[%i, %k] sizes [64, 64] : !g, i32, i32 -> !a
        %sa = tgpu.slot %as[%k] : !ring -> !slot
        tgpu.tma_load %a to %sa on %ch[%k] {map = 0 : i32, across = array<i32: 1>} : !a, !slot, !c
        %b = tile.slice %v[%k, %j] sizes [64, 64] : !g, i32, i32 -> !a
        %sb = tgpu.slot %bs[%k] : !ring -> !slot
        tgpu.tma_load %b to %sb on %ch[%k] {map = 1 : i32, across = array<i32: 0>} : !a, !slot, !c
      }
    }
  } role "compute" warps 0, 4 {
    scf.for %k = %c0 to %n step %c1 : i32 {
      tgpu.wait %ch[%k] : !c
      tgpu.release %ch[%k] : !c
    }
  }
  tgpu.return
}
