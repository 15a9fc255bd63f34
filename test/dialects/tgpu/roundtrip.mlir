// Operations, types and attributes print as they are read; mla_decode_loop.mlir and attention_loop.mlir have the others.
// RUN: tile-opt %s -o %t
// RUN: tile-opt %t | diff %t -
// RUN: FileCheck %s < %t
// The generic form says the same.
// RUN: tile-opt %s -mlir-print-op-generic | tile-opt | diff %t -

#rows = #tgpu.fragment<"128x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0:64,0">
#part = #tgpu.fragment<"128x32 reg 0,1:8,0:0,8:0,16 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0:64,0">
#coalesced = #tgpu.fragment<"128x64 reg 0,1:0,2:0,4:32,0:64,0 lane 0,8:0,16:0,32:1,0:2,0 warp 4,0:8,0:16,0">
#mma = #tgpu.mma<mma_sync, 16, 8, 16, warps = 4, 2>
!b = !tgpu.smem<128x64xf16, #tgpu.shared<"128x64 b16 contig 1 panel 64 swizzle 128">>
!rows = tensor<128x64xf16, #rows>
!g = !tile.global<?x?xf16>
!tile = !tile.global<128x64xf16>

// CHECK: tgpu.launch "k" grid(%{{.*}}, %{{.*}} : i32, i32) args(%{{.*}} : i32)
func.func @host(%x: i32) {
  tgpu.launch "k" grid(%x, %x : i32, i32) args(%x : i32)
  tgpu.launch "none" grid(%x : i32) args()
  return
}

// CHECK-LABEL: tgpu.kernel @places(%arg0: !tile.global<?x?xf16> {tgpu.align = 16 : i64}, %arg1: i32 {tgpu.divisible = 8 : i64}
// CHECK-SAME: cluster = array<i32: 2, 1>
// CHECK-SAME: guard = [#tgpu.divisible<1, 8>]
// CHECK-SAME: tensor_maps = [#tgpu.tensor_map<0, extents = [1, 2], strides = [-2, 1], box = [64, 128], swizzle = 128>]
tgpu.kernel @places(%a: !g {tgpu.align = 16 : i64}, %m: i32 {tgpu.divisible = 8 : i64}, %n: i32) attributes {
    threads = 256 : i32, block_threads = 384 : i32, target = "sm_90a", launch = "k", variant = "aligned",
    guard = [#tgpu.divisible<1, 8>], persistent = 1 : i32, cluster = array<i32: 2, 1>, shared_bytes = 0 : i64,
    tensor_maps = [#tgpu.tensor_map<0, extents = [1, 2], strides = [-2, 1], box = [64, 128], swizzle = 128>]} {
  // CHECK: tgpu.view %arg0 extents(%arg2, %arg1 : i32, i32) strides(%arg1 : i32)
  %v = tgpu.view %a extents(%n, %m : i32, i32) strides(%m : i32) : !g -> !g
  // CHECK: tgpu.block_id
  %id = tgpu.block_id
  // CHECK: tgpu.num_blocks
  %nb = tgpu.num_blocks
  // CHECK: tgpu.cluster_id
  %cluster = tgpu.cluster_id
  // CHECK: tgpu.num_clusters
  %nc = tgpu.num_clusters
  // CHECK: tgpu.grid_point %{{.*}} in(%{{.*}}, %{{.*}}) {cluster = array<i32: 2, 1>} : i32, i32
  %bx, %by = tgpu.grid_point %cluster in (%m, %n) {cluster = array<i32: 2, 1>} : i32, i32
  // CHECK: tgpu.channel {across = array<i32: 0>, consumers = 8 : i32, producers = 1 : i32}
  %others = tgpu.channel {producers = 1 : i32, consumers = 8 : i32, across = array<i32: 0>} : !tgpu.channel<2>
  // CHECK: tgpu.warp_id
  %w = tgpu.warp_id
  %inverse = arith.constant 3 : i64
  // CHECK: tgpu.grid_point %{{.*}} in(%{{.*}}, %{{.*}}) group(%{{.*}}) inverses(%{{.*}}, %{{.*}}, %{{.*}}) : i32, i32
  %group = arith.constant 8 : i32
  %x, %y = tgpu.grid_point %id in (%m, %n) group(%group) inverses(%inverse, %inverse, %inverse) : i32, i32
  // CHECK: tgpu.alloc_shared "A" {layout_hint = "swizzle"}
  %s = tgpu.alloc_shared "A" {layout_hint = "swizzle"} : !b
  // CHECK: tgpu.alloc_shared : !tgpu.smem<f32>
  %scalar = tgpu.alloc_shared : !tgpu.smem<f32>
  tgpu.return
}

// CHECK-LABEL: tgpu.kernel @moves
tgpu.kernel @moves(%t: !tile, %m: i32) attributes {threads = 256 : i32} {
  %s = tgpu.alloc_shared "A" : !b
  // CHECK: tgpu.copy %{{.*}} to %{{.*}} {bytes = 16 : i32, cache = #tile.cache<evict_first>, no_tma, path = #tgpu.path<cp_async>}
  tgpu.copy %t to %s {path = #tgpu.path<cp_async>, bytes = 16 : i32, no_tma, cache = #tile.cache<evict_first>} : !tile, !b
  // CHECK: tgpu.cp_async %{{.*}} to %{{.*}} {bytes = 16 : i32}
  tgpu.cp_async %t to %s {bytes = 16 : i32} : !tile, !b
  // CHECK: tgpu.cp_async_commit
  tgpu.cp_async_commit
  // CHECK: tgpu.cp_async_wait 2
  tgpu.cp_async_wait 2
  // CHECK: tgpu.load %{{.*}} {bytes = 4 : i32}
  %0 = tgpu.load %t {bytes = 4 : i32} : !tile -> !rows
  // CHECK: tgpu.fragment_slice %{{.*}} at [0, 32]
  %1 = tgpu.fragment_slice %0 at [0, 32] : !rows -> tensor<128x32xf16, #part>
  // CHECK: tgpu.convert_layout %{{.*}} {scratch = 0 : i64}
  %2 = tgpu.convert_layout %0 {scratch = 0 : i64} : !rows -> tensor<128x64xf16, #coalesced>
  // CHECK: tgpu.store %{{.*}}, %{{.*}} {path = #tgpu.path<tma>}
  tgpu.store %2, %t {path = #tgpu.path<tma>} : tensor<128x64xf16, #coalesced>, !tile
  // CHECK: tgpu.barrier {id = 3 : i32, threads = 128 : i32}
  tgpu.barrier {id = 3 : i32, threads = 128 : i32}
  // CHECK: tgpu.barrier
  // CHECK-NOT: id
  tgpu.barrier
  // CHECK: tgpu.barrier_arrive {id = 1 : i32, threads = 256 : i32}
  tgpu.barrier_arrive {id = 1 : i32, threads = 256 : i32}
  // CHECK: tgpu.one_thread attributes {warp = 4 : i32} {
  tgpu.one_thread attributes {warp = 4 : i32} {
    // CHECK: tgpu.tma_store_wait 0 {read}
    tgpu.tma_store_wait 0 {read}
  }
  tgpu.return
}

// CHECK-LABEL: tgpu.kernel @products
tgpu.kernel @products(%acc: tensor<64x64xf32>, %a: tensor<64x16xf16>, %b: tensor<16x64xf16>, %use: i1) attributes {threads = 256 : i32} {
  %s = tgpu.alloc_shared : !tgpu.smem<64x64xf16>
  // CHECK: tgpu.dot %{{.*}} {mma = #tgpu.mma<mma_sync, 16, 8, 16, warps = 4, 2>, transpose_b}
  %0 = tgpu.dot %s, %s, %acc {transpose_b, mma = #mma} : !tgpu.smem<64x64xf16>, !tgpu.smem<64x64xf16>, tensor<64x64xf32> -> tensor<64x64xf32>
  // CHECK: tgpu.mma %
  %1 = tgpu.mma %a, %b, %0 {mma = #mma} : tensor<64x16xf16>, tensor<16x64xf16>, tensor<64x64xf32> -> tensor<64x64xf32>
  // CHECK: tgpu.fma %{{.*}} {transpose_a}
  %2 = tgpu.fma %s, %s, %1 {transpose_a} : !tgpu.smem<64x64xf16>, !tgpu.smem<64x64xf16>, tensor<64x64xf32> -> tensor<64x64xf32>
  tgpu.wgmma_fence
  // CHECK: tgpu.wgmma %{{.*}}, %{{.*}}, %{{.*}} if %arg3 {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>}
  %3 = tgpu.wgmma %s, %s, %2 if %use {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !tgpu.smem<64x64xf16>, !tgpu.smem<64x64xf16>, tensor<64x64xf32> -> !tgpu.pending<tensor<64x64xf32>>
  tgpu.wgmma_commit
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %c1 step %c1 : i32 {
    // CHECK: tgpu.wgmma_wait 1 {tgpu.schedule = #tgpu.stage<2, 5, hold = 37>}
    tgpu.wgmma_wait 1 {tgpu.schedule = #tgpu.stage<2, 5, hold = 37>}
    // CHECK: tgpu.wgmma_fence {tgpu.schedule = #tgpu.stage<-3, 6>}
    tgpu.wgmma_fence {tgpu.schedule = #tgpu.stage<-3, 6>}
    // CHECK: {tgpu.pipeline = #tgpu.pipeline<cp_async, stages = 3>, tile.stages = 4 : i32}
  } {tile.stages = 4 : i32, tgpu.pipeline = #tgpu.pipeline<cp_async, stages = 3>}
  // CHECK: tgpu.wgmma_wait 0, %{{.*}} : !tgpu.pending<tensor<64x64xf32>> -> tensor<64x64xf32>
  %4 = tgpu.wgmma_wait 0, %3 : !tgpu.pending<tensor<64x64xf32>> -> tensor<64x64xf32>
  tgpu.return
}
