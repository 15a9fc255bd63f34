// What bounds a launch: one small kernel for each resource. All sizes are constants, so that the remark has one line for each.
// RUN: tile-opt %s --tgpu-estimate-cost -o /dev/null 2>&1 | FileCheck %s

!f16 = !tile.global<8192x8192xf16>
!f32 = !tile.global<8192x8192xf32>

tile.kernel @host(%a: !f16 {tile.name = "A", tile.direction = "in", tile.dtype = "f16"}, %b: !f16 {tile.name = "B", tile.direction = "in", tile.dtype = "f16"},
                  %c: !f16 {tile.name = "C", tile.direction = "out", tile.dtype = "f16"}, %x: !f32 {tile.name = "X", tile.direction = "in", tile.dtype = "f32"},
                  %y: !f32 {tile.name = "Y", tile.direction = "out", tile.dtype = "f32"}) {
  %c64 = arith.constant 64 : i32
  %c32 = arith.constant 32 : i32
  %c8192 = arith.constant 8192 : i32
  // Per block 128 iterations of 4 instructions of 128 clocks for each of two warpgroups, 16 waves: 2.1 million clocks.
  // CHECK: remark: expected cost: {{[0-9.]+}} us, bound by tensor cores (16 waves of 1 a multiprocessor, {{.*}}, tensor cores 15{{[0-9][0-9]}}.{{[0-9]+}}
  tgpu.launch "wgmma" grid(%c32, %c64 : i32, i32) args(%a, %b, %c : !f16, !f16, !f16)
  // 128 iterations of 16 KB at 90 bytes a clock; 64 multiprocessors alone.
  // CHECK: remark: expected cost: {{[0-9.]+}} us, bound by memory (1 wave of 3 a multiprocessor, {{.*}}, loads 16.69
  tgpu.launch "cp_async" grid(%c64 : i32) args(%a : !f16)
  // 537 MB of f32, half of them written.
  // CHECK: remark: expected cost: 12{{[0-9]}}.{{[0-9]+}} us, bound by memory (
  tgpu.launch "map" grid(%c8192 : i32) args(%x, %y : !f32, !f32)
  // CHECK: remark: expected cost: {{[0-9.]+}} us, bound by special functions (
  tgpu.launch "special" grid(%c8192 : i32) args(%x, %y : !f32, !f32)
  // CHECK: remark: expected cost: {{[0-9.]+}} us, bound by instructions (
  tgpu.launch "scalar" grid(%c32, %c64 : i32, i32) args(%a : !f16)
  // CHECK: remark: expected cost: {{[0-9.]+}} us, bound by shared memory (
  tgpu.launch "scalar4x4" grid(%c32, %c64 : i32, i32) args(%a : !f16)
  tile.return
}

tgpu.kernel @wgmma(%a: !f16 {tgpu.align = 16 : i64}, %b: !f16 {tgpu.align = 16 : i64}, %c: !f16 {tgpu.align = 16 : i64}) attributes {launch = "wgmma", target = "sm_90a", threads = 256 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c32 = arith.constant 32 : i32
  %c64 = arith.constant 64 : i32
  %c128 = arith.constant 128 : i32
  %c256 = arith.constant 256 : i32
  %c8192 = arith.constant 8192 : i32
  %zero = arith.constant 0.0 : f32
  %va = tgpu.view %a extents(%c8192, %c8192 : i32, i32) strides(%c8192 : i32) : !f16 -> !f16
  %vb = tgpu.view %b extents(%c8192, %c8192 : i32, i32) strides(%c8192 : i32) : !f16 -> !f16
  %vc = tgpu.view %c extents(%c8192, %c8192 : i32, i32) strides(%c8192 : i32) : !f16 -> !f16
  %id = tgpu.block_id
  %p:2 = tgpu.grid_point %id in(%c32, %c64) : i32, i32
  %as = tgpu.alloc_shared "As" : !tgpu.smem<128x64xf16>
  %bs = tgpu.alloc_shared "Bs" : !tgpu.smem<64x256xf16>
  %init = tile.splat %zero : f32 -> tensor<128x256xf32>
  %row = arith.muli %p#1, %c128 : i32
  %column = arith.muli %p#0, %c256 : i32
  %sum = scf.for %i = %c0 to %c128 step %c1 iter_args(%acc = %init) -> (tensor<128x256xf32>) : i32 {
    %k = arith.muli %i, %c64 : i32
    %ta = tile.slice %va[%row, %k] sizes [128, 64] : !f16, i32, i32 -> !tile.global<128x64xf16>
    tgpu.copy %ta to %as {bytes = 16 : i32, path = #tgpu.path<tma>} : !tile.global<128x64xf16>, !tgpu.smem<128x64xf16>
    %tb = tile.slice %vb[%k, %column] sizes [64, 256] : !f16, i32, i32 -> !tile.global<64x256xf16>
    tgpu.copy %tb to %bs {bytes = 16 : i32, path = #tgpu.path<tma>} : !tile.global<64x256xf16>, !tgpu.smem<64x256xf16>
    %d = tgpu.dot %as, %bs, %acc {mma = #tgpu.mma<wgmma, 64, 256, 16, warps = 2, 1>} : !tgpu.smem<128x64xf16>, !tgpu.smem<64x256xf16>, tensor<128x256xf32> -> tensor<128x256xf32>
    scf.yield %d : tensor<128x256xf32>
  } {tile.stages = 4 : i32}
  %t = tile.slice %vc[%row, %column] sizes [128, 256] : !f16, i32, i32 -> !tile.global<128x256xf16>
  %half = tile.convert %sum : tensor<128x256xf32> to tensor<128x256xf16>
  tgpu.store %half, %t {bytes = 16 : i32, path = #tgpu.path<tma>} : tensor<128x256xf16>, !tile.global<128x256xf16>
  tgpu.return
}

tgpu.kernel @cp_async(%a: !f16 {tgpu.align = 16 : i64}) attributes {launch = "cp_async", target = "sm_90a", threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %c128 = arith.constant 128 : i32
  %c8192 = arith.constant 8192 : i32
  %va = tgpu.view %a extents(%c8192, %c8192 : i32, i32) strides(%c8192 : i32) : !f16 -> !f16
  %id = tgpu.block_id
  %p = tgpu.grid_point %id in(%c64) : i32
  %as = tgpu.alloc_shared "As" : !tgpu.smem<128x64xf16>
  %row = arith.muli %p, %c128 : i32
  scf.for %i = %c0 to %c128 step %c1 : i32 {
    %k = arith.muli %i, %c64 : i32
    %ta = tile.slice %va[%row, %k] sizes [128, 64] : !f16, i32, i32 -> !tile.global<128x64xf16>
    tgpu.copy %ta to %as {bytes = 16 : i32, path = #tgpu.path<cp_async>} : !tile.global<128x64xf16>, !tgpu.smem<128x64xf16>
    %x = tgpu.local_load %as : !tgpu.smem<128x64xf16> -> tensor<128x64xf16>
  } {tile.stages = 4 : i32}
  tgpu.return
}

tgpu.kernel @map(%x: !f32 {tgpu.align = 16 : i64}, %y: !f32 {tgpu.align = 16 : i64}) attributes {launch = "map", target = "sm_90a", threads = 256 : i32} {
  %c0 = arith.constant 0 : i32
  %c8192 = arith.constant 8192 : i32
  %vx = tgpu.view %x extents(%c8192, %c8192 : i32, i32) strides(%c8192 : i32) : !f32 -> !f32
  %vy = tgpu.view %y extents(%c8192, %c8192 : i32, i32) strides(%c8192 : i32) : !f32 -> !f32
  %id = tgpu.block_id
  %p = tgpu.grid_point %id in(%c8192) : i32
  %tx = tile.slice %vx[%p, %c0] sizes [-1, 8192] : !f32, i32, i32 -> !tile.global<8192xf32>
  %ty = tile.slice %vy[%p, %c0] sizes [-1, 8192] : !f32, i32, i32 -> !tile.global<8192xf32>
  %v = tgpu.load %tx {bytes = 16 : i32} : !tile.global<8192xf32> -> tensor<8192xf32>
  %w = arith.addf %v, %v : tensor<8192xf32>
  tgpu.store %w, %ty {bytes = 16 : i32, path = #tgpu.path<vector>} : tensor<8192xf32>, !tile.global<8192xf32>
  tgpu.return
}

tgpu.kernel @special(%x: !f32 {tgpu.align = 16 : i64}, %y: !f32 {tgpu.align = 16 : i64}) attributes {launch = "special", target = "sm_90a", threads = 1024 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %c8192 = arith.constant 8192 : i32
  %vx = tgpu.view %x extents(%c8192, %c8192 : i32, i32) strides(%c8192 : i32) : !f32 -> !f32
  %vy = tgpu.view %y extents(%c8192, %c8192 : i32, i32) strides(%c8192 : i32) : !f32 -> !f32
  %id = tgpu.block_id
  %p = tgpu.grid_point %id in(%c8192) : i32
  %tx = tile.slice %vx[%p, %c0] sizes [-1, 8192] : !f32, i32, i32 -> !tile.global<8192xf32>
  %ty = tile.slice %vy[%p, %c0] sizes [-1, 8192] : !f32, i32, i32 -> !tile.global<8192xf32>
  %v = tgpu.load %tx {bytes = 16 : i32} : !tile.global<8192xf32> -> tensor<8192xf32>
  %r = scf.for %i = %c0 to %c64 step %c1 iter_args(%s = %v) -> (tensor<8192xf32>) : i32 {
    %e = math.exp2 %s fastmath<afn> : tensor<8192xf32>
    scf.yield %e : tensor<8192xf32>
  }
  tgpu.store %r, %ty {bytes = 16 : i32, path = #tgpu.path<vector>} : tensor<8192xf32>, !tile.global<8192xf32>
  tgpu.return
}

// 8x8 for each thread: 16 elements are read for 64 products.
tgpu.kernel @scalar(%a: !f16) attributes {launch = "scalar", target = "sm_90a", threads = 256 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c128 = arith.constant 128 : i32
  %zero = arith.constant 0.0 : f32
  %as = tgpu.alloc_shared "As" : !tgpu.smem<128x32xf32>
  %bs = tgpu.alloc_shared "Bs" : !tgpu.smem<32x128xf32>
  %init = tile.splat %zero : f32 -> tensor<128x128xf32>
  %sum = scf.for %i = %c0 to %c128 step %c1 iter_args(%acc = %init) -> (tensor<128x128xf32>) : i32 {
    %d = tgpu.dot %as, %bs, %acc {mma = #tgpu.mma<fma, 1, 1, 1, warps = 1, 8>} : !tgpu.smem<128x32xf32>, !tgpu.smem<32x128xf32>, tensor<128x128xf32> -> tensor<128x128xf32>
    scf.yield %d : tensor<128x128xf32>
  }
  tgpu.return
}

// 4x4: 8 for 16.
tgpu.kernel @scalar4x4(%a: !f16) attributes {launch = "scalar4x4", target = "sm_90a", threads = 256 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c128 = arith.constant 128 : i32
  %zero = arith.constant 0.0 : f32
  %as = tgpu.alloc_shared "As" : !tgpu.smem<64x32xf32>
  %bs = tgpu.alloc_shared "Bs" : !tgpu.smem<32x64xf32>
  %init = tile.splat %zero : f32 -> tensor<64x64xf32>
  %sum = scf.for %i = %c0 to %c128 step %c1 iter_args(%acc = %init) -> (tensor<64x64xf32>) : i32 {
    %d = tgpu.dot %as, %bs, %acc {mma = #tgpu.mma<fma, 1, 1, 1, warps = 1, 8>} : !tgpu.smem<64x32xf32>, !tgpu.smem<32x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  tgpu.return
}
