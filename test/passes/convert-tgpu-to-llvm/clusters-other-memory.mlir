// Blocks of a cluster that load for each other where something else has the memory of their slots before, or where they compute elements: who loads waits for its own slot, tells all eight
// blocks with one fence, and waits for them. The warps that compute give slots back to their own block.
// RUN: tile-opt %s --convert-tgpu-to-llvm --canonicalize --cse -split-input-file | FileCheck %s

// CHECK-LABEL: llvm.func @k(
// CHECK-DAG: %[[C4:.*]] = llvm.mlir.constant(4 : i32)
// CHECK-DAG: %[[C8:.*]] = llvm.mlir.constant(8 : i32)
// CHECK: llvm.getelementptr %{{.*}}[32784]
// CHECK-NEXT: nvvm.mbarrier.init %{{.*}}, %[[C4]]
// CHECK: llvm.getelementptr %{{.*}}[32800]
// CHECK-NEXT: nvvm.mbarrier.init %{{.*}}, %[[C8]]
// CHECK: nvvm.fence.mbarrier.init
// CHECK: %[[ELECTED:.*]] = nvvm.elect.sync
// CHECK: %[[EMPTY:.*]] = llvm.getelementptr %{{.*}}[32784]
// CHECK: nvvm.mbarrier.try_wait %[[EMPTY]], %{{.*}} : !llvm.ptr<3>, i32 -> i1
// CHECK: %[[PEERS:.*]] = llvm.getelementptr %{{.*}}[32800]
// CHECK: llvm.cond_br %[[ELECTED]]
// CHECK: nvvm.fence.sync_restrict {order = #nvvm.mem_order<release>}
// CHECK-COUNT-8: nvvm.mbarrier.arrive %{{.*}} {relaxed = true, scope = #nvvm.mem_scope<cluster>} : !llvm.ptr<7>
// CHECK: nvvm.mbarrier.try_wait %[[PEERS]], %{{.*}} {relaxed = true, scope = #nvvm.mem_scope<cluster>}
// CHECK: nvvm.fence.sync_restrict {order = #nvvm.mem_order<acquire>}
// CHECK: nvvm.mbarrier.arrive.expect_tx
// CHECK: nvvm.mbarrier.try_wait %{{.*}} : !llvm.ptr<3>, i32 -> i1
// CHECK-NOT: relaxed
// CHECK: nvvm.mbarrier.arrive %{{.*}} : !llvm.ptr<3> -> i64
// CHECK: nvvm.cluster.arrive{{$}}

!g = !tile.global<?x?xf16>
!a = !tile.global<64x64xf16>
!ring = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!slot = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!c = !tgpu.channel<2>
!other = !tgpu.smem<64xf32, #tgpu.shared<"64 b32 contig 0 panel 64">>
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
  %other = tgpu.alloc_shared "other" {offset = 32512 : i64} : !other
  %zero = arith.constant 0.0 : f32
  tgpu.store_element %zero, %other[%c0 : i32] : f32, !other
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

// -----

// Warps that compute elements in the loop give back to their own block, too: a fence would hold them up.
// CHECK-LABEL: llvm.func @computes(
// CHECK: nvvm.fence.sync_restrict {order = #nvvm.mem_order<release>}
// CHECK-COUNT-8: nvvm.mbarrier.arrive %{{.*}} {relaxed = true, scope = #nvvm.mem_scope<cluster>} : !llvm.ptr<7>
// CHECK: nvvm.mbarrier.arrive.expect_tx
// CHECK-NOT: relaxed
// CHECK: nvvm.mbarrier.arrive %{{.*}} : !llvm.ptr<3> -> i64
// CHECK: nvvm.cluster.arrive{{$}}

!g = !tile.global<?x?xf16>
!a = !tile.global<64x64xf16>
!ring = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!slot = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!c = !tgpu.channel<2>
#v = #tgpu.fragment<"256 reg 1 lane 2:4:8:16:32 warp 64:128">
#rows = #tgpu.tensor_map<0, extents = [1, 1], strides = [-2, 1], box = [64, 16], swizzle = 128>
#columns = #tgpu.tensor_map<0, extents = [1, 1], strides = [-2, 1], box = [64, 32], swizzle = 128>
tgpu.kernel @computes(%g: !g, %n: i32, %x: i32, %y: i32) attributes {threads = 128 : i32, block_threads = 256 : i32, target = "sm_90a", launch = "k",
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
      %e = arith.constant dense<1.0> : tensor<256xf32, #v>
      %twice = arith.addf %e, %e : tensor<256xf32, #v>
      tgpu.release %ch[%k] : !c
    }
  }
  tgpu.return
}
