// What a block waits for: a ring that memory fills gives a tile each share of the way from its request to its arrival; of points behind each other, warps
// that load have fetched the next one's first tiles meanwhile; a launch that overlaps with the one before has its blocks in place when that ends; threads
// that copy element by element wait for each other's accesses.
// RUN: tile-opt %s --tgpu-estimate-cost -o /dev/null 2>&1 | FileCheck %s

!g = !tile.global<64x8192xf16>

tile.kernel @host(%a: !g {tile.name = "A", tile.direction = "in", tile.dtype = "f16"}) {
  %c64 = arith.constant 64 : i32
  %c1024 = arith.constant 1024 : i32
  // A step a quarter of the way.
  // CHECK: remark: expected cost: {{.*}}, latency 24.36,
  tgpu.launch "four" grid(%c64 : i32) args(%a : !g)
  // An eighth of it is less than what a step takes by itself.
  // CHECK: remark: expected cost: {{.*}}, latency 19.60,
  tgpu.launch "eight" grid(%c64 : i32) args(%a : !g)
  // CHECK: remark: expected cost: {{.*}} (8 waves of 1 a multiprocessor, {{.*}}, latency 6.42,
  tgpu.launch "points" grid(%c1024 : i32) args(%a : !g)
  // The way of the first tile once, not eight times.
  // CHECK: remark: expected cost: {{.*}} (8 waves of 1 a multiprocessor, {{.*}}, latency 3.19,
  tgpu.launch "loaders" grid(%c1024 : i32) args(%a : !g)
  // 1 us of the launch and its latency: of `four` behind another launch 1.64 us of starting blocks would be added.
  // CHECK: remark: expected cost: 25.62 us, bound by latency (1 wave of 6 a multiprocessor, launch 1.00, {{.*}}, latency 24.36,
  tgpu.launch "overlapping" grid(%c64 : i32) args(%a : !g)
  // CHECK: remark: expected cost: {{.*}}, latency 103.42,
  tgpu.launch "elements" grid(%c64 : i32) args(%a : !g)
  // A quarter of the elements for each thread, four times the threads.
  // CHECK: remark: expected cost: {{.*}}, latency 102.12,
  tgpu.launch "warps" grid(%c64 : i32) args(%a : !g)
  tile.return
}

tgpu.kernel @four(%a: !g {tgpu.align = 16 : i64}) attributes {launch = "four", target = "sm_90a", threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %steps = arith.constant 128 : i32
  %c64 = arith.constant 64 : i32
  %c1024 = arith.constant 1024 : i32
  %c8192 = arith.constant 8192 : i32
  %view = tgpu.view %a extents(%c64, %c8192 : i32, i32) strides(%c8192 : i32) : !g -> !g
  %id = tgpu.block_id
  %p = tgpu.grid_point %id in(%c64) : i32
  %as = tgpu.alloc_shared "As" : !tgpu.smem<64x64xf16>
  scf.for %i = %c0 to %steps step %c1 : i32 {
    %k = arith.muli %i, %c64 : i32
    %tile = tile.slice %view[%c0, %k] sizes [64, 64] : !g, i32, i32 -> !tile.global<64x64xf16>
    tgpu.copy %tile to %as {bytes = 16 : i32, path = #tgpu.path<tma>} : !tile.global<64x64xf16>, !tgpu.smem<64x64xf16>
    %x = tgpu.local_load %as : !tgpu.smem<64x64xf16> -> tensor<64x64xf16>
  } {tile.stages = 4 : i32}
  tgpu.return
}

tgpu.kernel @eight(%a: !g {tgpu.align = 16 : i64}) attributes {launch = "eight", target = "sm_90a", threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %steps = arith.constant 128 : i32
  %c64 = arith.constant 64 : i32
  %c1024 = arith.constant 1024 : i32
  %c8192 = arith.constant 8192 : i32
  %view = tgpu.view %a extents(%c64, %c8192 : i32, i32) strides(%c8192 : i32) : !g -> !g
  %id = tgpu.block_id
  %p = tgpu.grid_point %id in(%c64) : i32
  %as = tgpu.alloc_shared "As" : !tgpu.smem<64x64xf16>
  scf.for %i = %c0 to %steps step %c1 : i32 {
    %k = arith.muli %i, %c64 : i32
    %tile = tile.slice %view[%c0, %k] sizes [64, 64] : !g, i32, i32 -> !tile.global<64x64xf16>
    tgpu.copy %tile to %as {bytes = 16 : i32, path = #tgpu.path<tma>} : !tile.global<64x64xf16>, !tgpu.smem<64x64xf16>
    %x = tgpu.local_load %as : !tgpu.smem<64x64xf16> -> tensor<64x64xf16>
  } {tile.stages = 8 : i32}
  tgpu.return
}

tgpu.kernel @points(%a: !g {tgpu.align = 16 : i64}) attributes {launch = "points", target = "sm_90a", threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %steps = arith.constant 2 : i32
  %c64 = arith.constant 64 : i32
  %c1024 = arith.constant 1024 : i32
  %c8192 = arith.constant 8192 : i32
  %view = tgpu.view %a extents(%c64, %c8192 : i32, i32) strides(%c8192 : i32) : !g -> !g
  %id = tgpu.block_id
  %p = tgpu.grid_point %id in(%c1024) : i32
  %as = tgpu.alloc_shared "As" : !tgpu.smem<64x64xf16>
  scf.for %i = %c0 to %steps step %c1 : i32 {
    %k = arith.muli %i, %c64 : i32
    %tile = tile.slice %view[%c0, %k] sizes [64, 64] : !g, i32, i32 -> !tile.global<64x64xf16>
    tgpu.copy %tile to %as {bytes = 16 : i32, path = #tgpu.path<tma>} : !tile.global<64x64xf16>, !tgpu.smem<64x64xf16>
    %x = tgpu.local_load %as : !tgpu.smem<64x64xf16> -> tensor<64x64xf16>
  } {tile.stages = 24 : i32}
  tgpu.return
}

tgpu.kernel @loaders(%a: !g {tgpu.align = 16 : i64}) attributes {launch = "loaders", target = "sm_90a", threads = 128 : i32, warp_specialize = "producer"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %steps = arith.constant 2 : i32
  %c64 = arith.constant 64 : i32
  %c1024 = arith.constant 1024 : i32
  %c8192 = arith.constant 8192 : i32
  %view = tgpu.view %a extents(%c64, %c8192 : i32, i32) strides(%c8192 : i32) : !g -> !g
  %id = tgpu.block_id
  %p = tgpu.grid_point %id in(%c1024) : i32
  %as = tgpu.alloc_shared "As" : !tgpu.smem<64x64xf16>
  scf.for %i = %c0 to %steps step %c1 : i32 {
    %k = arith.muli %i, %c64 : i32
    %tile = tile.slice %view[%c0, %k] sizes [64, 64] : !g, i32, i32 -> !tile.global<64x64xf16>
    tgpu.copy %tile to %as {bytes = 16 : i32, path = #tgpu.path<tma>} : !tile.global<64x64xf16>, !tgpu.smem<64x64xf16>
    %x = tgpu.local_load %as : !tgpu.smem<64x64xf16> -> tensor<64x64xf16>
  } {tile.stages = 24 : i32}
  tgpu.return
}

tgpu.kernel @overlapping(%a: !g {tgpu.align = 16 : i64}) attributes {launch = "overlapping", target = "sm_90a", threads = 128 : i32, follows} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %steps = arith.constant 128 : i32
  %c64 = arith.constant 64 : i32
  %c1024 = arith.constant 1024 : i32
  %c8192 = arith.constant 8192 : i32
  %view = tgpu.view %a extents(%c64, %c8192 : i32, i32) strides(%c8192 : i32) : !g -> !g
  %id = tgpu.block_id
  %p = tgpu.grid_point %id in(%c64) : i32
  %as = tgpu.alloc_shared "As" : !tgpu.smem<64x64xf16>
  scf.for %i = %c0 to %steps step %c1 : i32 {
    %k = arith.muli %i, %c64 : i32
    %tile = tile.slice %view[%c0, %k] sizes [64, 64] : !g, i32, i32 -> !tile.global<64x64xf16>
    tgpu.copy %tile to %as {bytes = 16 : i32, path = #tgpu.path<tma>} : !tile.global<64x64xf16>, !tgpu.smem<64x64xf16>
    %x = tgpu.local_load %as : !tgpu.smem<64x64xf16> -> tensor<64x64xf16>
  } {tile.stages = 4 : i32}
  tgpu.return
}

tgpu.kernel @elements(%a: !g) attributes {launch = "elements", target = "sm_90a", threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %steps = arith.constant 128 : i32
  %c64 = arith.constant 64 : i32
  %c1024 = arith.constant 1024 : i32
  %c8192 = arith.constant 8192 : i32
  %view = tgpu.view %a extents(%c64, %c8192 : i32, i32) strides(%c8192 : i32) : !g -> !g
  %id = tgpu.block_id
  %p = tgpu.grid_point %id in(%c64) : i32
  %as = tgpu.alloc_shared "As" : !tgpu.smem<64x64xf16>
  scf.for %i = %c0 to %steps step %c1 : i32 {
    %k = arith.muli %i, %c64 : i32
    %tile = tile.slice %view[%c0, %k] sizes [64, 64] : !g, i32, i32 -> !tile.global<64x64xf16>
    tgpu.copy %tile to %as {bytes = 2 : i32, path = #tgpu.path<vector>} : !tile.global<64x64xf16>, !tgpu.smem<64x64xf16>
    %x = tgpu.local_load %as : !tgpu.smem<64x64xf16> -> tensor<64x64xf16>
  } {tile.stages = 4 : i32}
  tgpu.return
}

tgpu.kernel @warps(%a: !g) attributes {launch = "warps", target = "sm_90a", threads = 512 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %steps = arith.constant 128 : i32
  %c64 = arith.constant 64 : i32
  %c1024 = arith.constant 1024 : i32
  %c8192 = arith.constant 8192 : i32
  %view = tgpu.view %a extents(%c64, %c8192 : i32, i32) strides(%c8192 : i32) : !g -> !g
  %id = tgpu.block_id
  %p = tgpu.grid_point %id in(%c64) : i32
  %as = tgpu.alloc_shared "As" : !tgpu.smem<64x64xf16>
  scf.for %i = %c0 to %steps step %c1 : i32 {
    %k = arith.muli %i, %c64 : i32
    %tile = tile.slice %view[%c0, %k] sizes [64, 64] : !g, i32, i32 -> !tile.global<64x64xf16>
    tgpu.copy %tile to %as {bytes = 2 : i32, path = #tgpu.path<vector>} : !tile.global<64x64xf16>, !tgpu.smem<64x64xf16>
    %x = tgpu.local_load %as : !tgpu.smem<64x64xf16> -> tensor<64x64xf16>
  } {tile.stages = 4 : i32}
  tgpu.return
}
