// Tiles that divide constant extents stay inside; a dimension whose extent is known at run time only, or that the last tile
// crosses, may not.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-bounds))' | FileCheck %s

!g = !tile.global<?x?xf16>
// CHECK-LABEL: tgpu.kernel @inside
tgpu.kernel @inside(%A: !g, %C: !g, %n: i32) attributes {threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c4 = arith.constant 4 : i32
  %c5 = arith.constant 5 : i32
  %c64 = arith.constant 64 : i32
  %c128 = arith.constant 128 : i32
  %c256 = arith.constant 256 : i32
  %c300 = arith.constant 300 : i32
  %id = tgpu.block_id
  %x, %y = tgpu.grid_point %id in (%c5, %c4) : i32, i32
  %a = tgpu.view %A extents(%c256, %c256 : i32, i32) strides(%c256 : i32) : !g -> !g
  %c = tgpu.view %C extents(%c256, %c300 : i32, i32) strides(%c300 : i32) : !g -> !g
  %d = tgpu.view %C extents(%n, %c256 : i32, i32) strides(%c256 : i32) : !g -> !g
  %s = tgpu.alloc_shared : !tgpu.smem<64x64xf16>
  %m = arith.muli %y, %c64 : i32
  scf.for %k = %c0 to %c4 step %c1 : i32 {
    %k0 = arith.muli %k, %c64 : i32
    %t = tile.slice %a[%m, %k0] sizes [64, 64] : !g, i32, i32 -> !tile.global<64x64xf16>
    // CHECK: tgpu.copy {{.*}}tgpu.in_bounds = array<i1: true, true>
    tgpu.copy %t to %s : !tile.global<64x64xf16>, !tgpu.smem<64x64xf16>
  }
  %n0 = arith.muli %x, %c64 : i32
  %u = tile.slice %c[%m, %n0] sizes [64, 64] : !g, i32, i32 -> !tile.global<64x64xf16>
  // The last of five tiles crosses column 300.
  // CHECK: tgpu.copy {{.*}}tgpu.in_bounds = array<i1: true, false>
  tgpu.copy %s to %u : !tgpu.smem<64x64xf16>, !tile.global<64x64xf16>
  %v = tile.slice %d[%m, %c64] sizes [64, 64] : !g, i32, i32 -> !tile.global<64x64xf16>
  // CHECK: tgpu.copy {{.*}}tgpu.in_bounds = array<i1: false, true>
  tgpu.copy %s to %v : !tgpu.smem<64x64xf16>, !tile.global<64x64xf16>
  tgpu.return
}

// A view with a bound of its own ends before the tensor does.
// CHECK-LABEL: tgpu.kernel @inner_bound
// CHECK-NOT: in_bounds
tgpu.kernel @inner_bound(%A: !g, %len: i32) attributes {threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c256 = arith.constant 256 : i32
  %a = tgpu.view %A extents(%c256, %c256 : i32, i32) strides(%c256 : i32) : !g -> !g
  %s = tgpu.alloc_shared : !tgpu.smem<64x64xf16>
  %p = tile.slice %a[%c0, %c0] sizes [-9223372036854775808, 256] (%len : i32) : !g, i32, i32 -> !tile.global<?x256xf16>
  %t = tile.slice %p[%c0, %c0] sizes [64, 64] : !tile.global<?x256xf16>, i32, i32 -> !tile.global<64x64xf16>
  tgpu.copy %t to %s : !tile.global<64x64xf16>, !tgpu.smem<64x64xf16>
  tgpu.return
}
