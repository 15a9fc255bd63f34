// What depends on how much of the machine is busy: tiles of 64x128 and 8192 terms, 8 blocks of them and 132.
// RUN: tile-opt %s --tgpu-estimate-cost -o /dev/null 2>&1 | FileCheck %s

!a = !tile.global<8448x8192xf16>
!b = !tile.global<8192x128xf16>

tile.kernel @host(%a: !a {tile.name = "A", tile.direction = "in", tile.dtype = "f16"}, %b: !b {tile.name = "B", tile.direction = "in", tile.dtype = "f16"}) {
  %c8 = arith.constant 8 : i32
  %c132 = arith.constant 132 : i32
  // Where few blocks run, the clock is the highest for as long as they run, lines come from L2 faster, and what arrives takes nothing from what wgmma reads.
  // CHECK: remark: expected cost: {{.*}}, tensor cores 18.20, loads 16.83, shared memory 13.13,
  tgpu.launch "eight" grid(%c8 : i32) args(%a, %b : !a, !b)
  // CHECK: remark: expected cost: {{.*}}, tensor cores 20.01, loads 27.05, shared memory 28.53,
  tgpu.launch "eight" grid(%c132 : i32) args(%a, %b : !a, !b)
  // A ring of three slots takes longer where memory has more to do meanwhile: 140 MB, not 3.
  // CHECK: remark: expected cost: 58.32 us,
  tgpu.launch "same" grid(%c132 : i32) args(%a, %b : !a, !b)
  // CHECK: remark: expected cost: 72.31 us,
  tgpu.launch "own" grid(%c132 : i32) args(%a, %b : !a, !b)
  // Few blocks begin sooner, and load faster.
  // CHECK: remark: expected cost: 52.49 us,
  tgpu.launch "same" grid(%c8 : i32) args(%a, %b : !a, !b)
  // Two products that read the same tiles do not wait for each other.
  // CHECK: remark: expected cost: {{.*}}, latency 37.08, tensor cores 36.45,
  tgpu.launch "twice" grid(%c8 : i32) args(%a, %b : !a, !b)
  // Blocks of a cluster meet, and wait for each other.
  // CHECK: remark: expected cost: 53.16 us,
  tgpu.launch "met" grid(%c8 : i32) args(%a, %b : !a, !b)
  // Few blocks whose threads load elements begin sooner still.
  // CHECK: remark: expected cost: 205.34 us,
  tgpu.launch "elements" grid(%c8 : i32) args(%a, %b : !a, !b)
  tile.return
}

tgpu.kernel @eight(%a: !a {tgpu.align = 16 : i64}, %b: !b {tgpu.align = 16 : i64}) attributes {launch = "eight", target = "sm_90a", threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %steps = arith.constant 128 : i32
  %c64 = arith.constant 64 : i32
  %c128 = arith.constant 128 : i32
  %c132 = arith.constant 132 : i32
  %c8192 = arith.constant 8192 : i32
  %c8448 = arith.constant 8448 : i32
  %va = tgpu.view %a extents(%c8448, %c8192 : i32, i32) strides(%c8192 : i32) : !a -> !a
  %vb = tgpu.view %b extents(%c8192, %c128 : i32, i32) strides(%c128 : i32) : !b -> !b
  %zero = arith.constant 0.0 : f32
  %id = tgpu.block_id
  %p = tgpu.grid_point %id in(%c132) : i32
  %row = arith.muli %p, %c64 : i32
  %as = tgpu.alloc_shared "As" : !tgpu.smem<64x64xf16>
  %bs = tgpu.alloc_shared "Bs" : !tgpu.smem<64x128xf16>
  %init = tile.splat %zero : f32 -> tensor<64x128xf32>
  %sum = scf.for %i = %c0 to %steps step %c1 iter_args(%acc = %init) -> (tensor<64x128xf32>) : i32 {
    %k = arith.muli %i, %c64 : i32
    %ta = tile.slice %va[%row, %k] sizes [64, 64] : !a, i32, i32 -> !tile.global<64x64xf16>
    tgpu.copy %ta to %as {bytes = 16 : i32, path = #tgpu.path<tma>} : !tile.global<64x64xf16>, !tgpu.smem<64x64xf16>
    %tb = tile.slice %vb[%k, %c0] sizes [64, 128] : !b, i32, i32 -> !tile.global<64x128xf16>
    tgpu.copy %tb to %bs {bytes = 16 : i32, path = #tgpu.path<tma>} : !tile.global<64x128xf16>, !tgpu.smem<64x128xf16>
    %d = tgpu.dot %as, %bs, %acc {mma = #tgpu.mma<wgmma, 64, 128, 16, warps = 1, 1>} : !tgpu.smem<64x64xf16>, !tgpu.smem<64x128xf16>, tensor<64x128xf32> -> tensor<64x128xf32>
    scf.yield %d : tensor<64x128xf32>
  } {tile.stages = 8 : i32}
  tgpu.return
}

tgpu.kernel @same(%a: !a {tgpu.align = 16 : i64}, %b: !b {tgpu.align = 16 : i64}) attributes {launch = "same", target = "sm_90a", threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %steps = arith.constant 128 : i32
  %c64 = arith.constant 64 : i32
  %c128 = arith.constant 128 : i32
  %c132 = arith.constant 132 : i32
  %c8192 = arith.constant 8192 : i32
  %va = tgpu.view %a extents(%c64, %c8192 : i32, i32) strides(%c8192 : i32) : !a -> !a
  %vb = tgpu.view %b extents(%c8192, %c128 : i32, i32) strides(%c128 : i32) : !b -> !b
  %zero = arith.constant 0.0 : f32
  %id = tgpu.block_id
  %p = tgpu.grid_point %id in(%c132) : i32
  %as = tgpu.alloc_shared "As" : !tgpu.smem<64x64xf16>
  %bs = tgpu.alloc_shared "Bs" : !tgpu.smem<64x128xf16>
  %init = tile.splat %zero : f32 -> tensor<64x128xf32>
  %sum = scf.for %i = %c0 to %steps step %c1 iter_args(%acc = %init) -> (tensor<64x128xf32>) : i32 {
    %k = arith.muli %i, %c64 : i32
    %ta = tile.slice %va[%c0, %k] sizes [64, 64] : !a, i32, i32 -> !tile.global<64x64xf16>
    tgpu.copy %ta to %as {bytes = 16 : i32, path = #tgpu.path<tma>} : !tile.global<64x64xf16>, !tgpu.smem<64x64xf16>
    %tb = tile.slice %vb[%k, %c0] sizes [64, 128] : !b, i32, i32 -> !tile.global<64x128xf16>
    tgpu.copy %tb to %bs {bytes = 16 : i32, path = #tgpu.path<tma>} : !tile.global<64x128xf16>, !tgpu.smem<64x128xf16>
    %d = tgpu.dot %as, %bs, %acc {mma = #tgpu.mma<wgmma, 64, 128, 16, warps = 1, 1>} : !tgpu.smem<64x64xf16>, !tgpu.smem<64x128xf16>, tensor<64x128xf32> -> tensor<64x128xf32>
    scf.yield %d : tensor<64x128xf32>
  } {tile.stages = 3 : i32}
  tgpu.return
}

tgpu.kernel @own(%a: !a {tgpu.align = 16 : i64}, %b: !b {tgpu.align = 16 : i64}) attributes {launch = "own", target = "sm_90a", threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %steps = arith.constant 128 : i32
  %c64 = arith.constant 64 : i32
  %c128 = arith.constant 128 : i32
  %c132 = arith.constant 132 : i32
  %c8192 = arith.constant 8192 : i32
  %c8448 = arith.constant 8448 : i32
  %va = tgpu.view %a extents(%c8448, %c8192 : i32, i32) strides(%c8192 : i32) : !a -> !a
  %vb = tgpu.view %b extents(%c8192, %c128 : i32, i32) strides(%c128 : i32) : !b -> !b
  %zero = arith.constant 0.0 : f32
  %id = tgpu.block_id
  %p = tgpu.grid_point %id in(%c132) : i32
  %row = arith.muli %p, %c64 : i32
  %as = tgpu.alloc_shared "As" : !tgpu.smem<64x64xf16>
  %bs = tgpu.alloc_shared "Bs" : !tgpu.smem<64x128xf16>
  %init = tile.splat %zero : f32 -> tensor<64x128xf32>
  %sum = scf.for %i = %c0 to %steps step %c1 iter_args(%acc = %init) -> (tensor<64x128xf32>) : i32 {
    %k = arith.muli %i, %c64 : i32
    %ta = tile.slice %va[%row, %k] sizes [64, 64] : !a, i32, i32 -> !tile.global<64x64xf16>
    tgpu.copy %ta to %as {bytes = 16 : i32, path = #tgpu.path<tma>} : !tile.global<64x64xf16>, !tgpu.smem<64x64xf16>
    %tb = tile.slice %vb[%k, %c0] sizes [64, 128] : !b, i32, i32 -> !tile.global<64x128xf16>
    tgpu.copy %tb to %bs {bytes = 16 : i32, path = #tgpu.path<tma>} : !tile.global<64x128xf16>, !tgpu.smem<64x128xf16>
    %d = tgpu.dot %as, %bs, %acc {mma = #tgpu.mma<wgmma, 64, 128, 16, warps = 1, 1>} : !tgpu.smem<64x64xf16>, !tgpu.smem<64x128xf16>, tensor<64x128xf32> -> tensor<64x128xf32>
    scf.yield %d : tensor<64x128xf32>
  } {tile.stages = 3 : i32}
  tgpu.return
}

tgpu.kernel @twice(%a: !a {tgpu.align = 16 : i64}, %b: !b {tgpu.align = 16 : i64}) attributes {launch = "twice", target = "sm_90a", threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %steps = arith.constant 128 : i32
  %c64 = arith.constant 64 : i32
  %c128 = arith.constant 128 : i32
  %c132 = arith.constant 132 : i32
  %c8192 = arith.constant 8192 : i32
  %c8448 = arith.constant 8448 : i32
  %va = tgpu.view %a extents(%c8448, %c8192 : i32, i32) strides(%c8192 : i32) : !a -> !a
  %vb = tgpu.view %b extents(%c8192, %c128 : i32, i32) strides(%c128 : i32) : !b -> !b
  %zero = arith.constant 0.0 : f32
  %id = tgpu.block_id
  %p = tgpu.grid_point %id in(%c132) : i32
  %row = arith.muli %p, %c64 : i32
  %as = tgpu.alloc_shared "As" : !tgpu.smem<64x64xf16>
  %bs = tgpu.alloc_shared "Bs" : !tgpu.smem<64x128xf16>
  %init = tile.splat %zero : f32 -> tensor<64x128xf32>
  %sum:2 = scf.for %i = %c0 to %steps step %c1 iter_args(%acc = %init, %other = %init) -> (tensor<64x128xf32>, tensor<64x128xf32>) : i32 {
    %k = arith.muli %i, %c64 : i32
    %ta = tile.slice %va[%row, %k] sizes [64, 64] : !a, i32, i32 -> !tile.global<64x64xf16>
    tgpu.copy %ta to %as {bytes = 16 : i32, path = #tgpu.path<tma>} : !tile.global<64x64xf16>, !tgpu.smem<64x64xf16>
    %tb = tile.slice %vb[%k, %c0] sizes [64, 128] : !b, i32, i32 -> !tile.global<64x128xf16>
    tgpu.copy %tb to %bs {bytes = 16 : i32, path = #tgpu.path<tma>} : !tile.global<64x128xf16>, !tgpu.smem<64x128xf16>
    %d = tgpu.dot %as, %bs, %acc {mma = #tgpu.mma<wgmma, 64, 128, 16, warps = 1, 1>} : !tgpu.smem<64x64xf16>, !tgpu.smem<64x128xf16>, tensor<64x128xf32> -> tensor<64x128xf32>
    %e = tgpu.dot %as, %bs, %other {mma = #tgpu.mma<wgmma, 64, 128, 16, warps = 1, 1>} : !tgpu.smem<64x64xf16>, !tgpu.smem<64x128xf16>, tensor<64x128xf32> -> tensor<64x128xf32>
    scf.yield %d, %e : tensor<64x128xf32>, tensor<64x128xf32>
  } {tile.stages = 8 : i32}
  tgpu.return
}

tgpu.kernel @met(%a: !a {tgpu.align = 16 : i64}, %b: !b {tgpu.align = 16 : i64}) attributes {cluster = array<i32: 2>, launch = "met", target = "sm_90a", threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %steps = arith.constant 128 : i32
  %c64 = arith.constant 64 : i32
  %c128 = arith.constant 128 : i32
  %c132 = arith.constant 132 : i32
  %c8192 = arith.constant 8192 : i32
  %va = tgpu.view %a extents(%c64, %c8192 : i32, i32) strides(%c8192 : i32) : !a -> !a
  %vb = tgpu.view %b extents(%c8192, %c128 : i32, i32) strides(%c128 : i32) : !b -> !b
  %zero = arith.constant 0.0 : f32
  %id = tgpu.block_id
  %p = tgpu.grid_point %id in(%c132) : i32
  %as = tgpu.alloc_shared "As" : !tgpu.smem<64x64xf16>
  %bs = tgpu.alloc_shared "Bs" : !tgpu.smem<64x128xf16>
  %init = tile.splat %zero : f32 -> tensor<64x128xf32>
  %sum = scf.for %i = %c0 to %steps step %c1 iter_args(%acc = %init) -> (tensor<64x128xf32>) : i32 {
    %k = arith.muli %i, %c64 : i32
    %ta = tile.slice %va[%c0, %k] sizes [64, 64] : !a, i32, i32 -> !tile.global<64x64xf16>
    tgpu.copy %ta to %as {bytes = 16 : i32, path = #tgpu.path<tma>} : !tile.global<64x64xf16>, !tgpu.smem<64x64xf16>
    %tb = tile.slice %vb[%k, %c0] sizes [64, 128] : !b, i32, i32 -> !tile.global<64x128xf16>
    tgpu.copy %tb to %bs {bytes = 16 : i32, path = #tgpu.path<tma>} : !tile.global<64x128xf16>, !tgpu.smem<64x128xf16>
    %d = tgpu.dot %as, %bs, %acc {mma = #tgpu.mma<wgmma, 64, 128, 16, warps = 1, 1>} : !tgpu.smem<64x64xf16>, !tgpu.smem<64x128xf16>, tensor<64x128xf32> -> tensor<64x128xf32>
    scf.yield %d : tensor<64x128xf32>
  } {tile.stages = 3 : i32}
  tgpu.return
}

tgpu.kernel @elements(%a: !a {tgpu.align = 16 : i64}, %b: !b {tgpu.align = 16 : i64}) attributes {launch = "elements", target = "sm_90a", threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %steps = arith.constant 128 : i32
  %c64 = arith.constant 64 : i32
  %c128 = arith.constant 128 : i32
  %c132 = arith.constant 132 : i32
  %c8192 = arith.constant 8192 : i32
  %va = tgpu.view %a extents(%c64, %c8192 : i32, i32) strides(%c8192 : i32) : !a -> !a
  %vb = tgpu.view %b extents(%c8192, %c128 : i32, i32) strides(%c128 : i32) : !b -> !b
  %zero = arith.constant 0.0 : f32
  %id = tgpu.block_id
  %p = tgpu.grid_point %id in(%c132) : i32
  %as = tgpu.alloc_shared "As" : !tgpu.smem<64x64xf16>
  %bs = tgpu.alloc_shared "Bs" : !tgpu.smem<64x128xf16>
  %init = tile.splat %zero : f32 -> tensor<64x128xf32>
  %sum = scf.for %i = %c0 to %steps step %c1 iter_args(%acc = %init) -> (tensor<64x128xf32>) : i32 {
    %k = arith.muli %i, %c64 : i32
    %ta = tile.slice %va[%c0, %k] sizes [64, 64] : !a, i32, i32 -> !tile.global<64x64xf16>
    tgpu.copy %ta to %as {bytes = 2 : i32, path = #tgpu.path<vector>} : !tile.global<64x64xf16>, !tgpu.smem<64x64xf16>
    %tb = tile.slice %vb[%k, %c0] sizes [64, 128] : !b, i32, i32 -> !tile.global<64x128xf16>
    tgpu.copy %tb to %bs {bytes = 2 : i32, path = #tgpu.path<vector>} : !tile.global<64x128xf16>, !tgpu.smem<64x128xf16>
    %d = tgpu.dot %as, %bs, %acc {mma = #tgpu.mma<wgmma, 64, 128, 16, warps = 1, 1>} : !tgpu.smem<64x64xf16>, !tgpu.smem<64x128xf16>, tensor<64x128xf32> -> tensor<64x128xf32>
    scf.yield %d : tensor<64x128xf32>
  } {tile.stages = 3 : i32}
  tgpu.return
}
