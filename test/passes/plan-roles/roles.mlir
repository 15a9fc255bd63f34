// The sum that goes round the loop through a product is the work of a role of its own; the tiles that it needs are handed over in shared memory,
// written behind what computes them, read before their first use, by the product in place.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-plan-roles))' -verify-diagnostics | FileCheck %s

!g = !tile.global<64x64xf16>
!kv = !tile.global<?x64xf16>
!o = !tile.global<64x64xf32>
!b = !tgpu.smem<64x64xf16>
!t = tensor<64x64xf32>
!r = tensor<64xf32>

// CHECK-LABEL: tgpu.kernel @attention
// CHECK-SAME: threads = 128 : i32
// CHECK-DAG: %[[P:.*]] = tgpu.alloc_shared "handed over" {tgpu.hand_over} : !tgpu.smem<64x64xf16>
// CHECK-DAG: %[[Y:.*]] = tgpu.alloc_shared "handed over" {tgpu.hand_over} : !tgpu.smem<64xf32>
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %[[SUM:.*]] = %{{.*}})
// CHECK: %[[S:.*]] = tgpu.dot {{.*}} #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>, tgpu.role = 0 : i32
// CHECK: tile.reduce <sum> %[[S]] {{.*}}tgpu.role = 0
// CHECK: %[[ROW:.*]] = arith.addf {{.*}}tgpu.role = 0
// CHECK-NEXT: tgpu.local_store %[[ROW]], %[[Y]] {tgpu.role = 0 : i32}
// The row becomes a tile in the role that needs the tile.
// CHECK: %[[READ:.*]] = tgpu.local_load %[[Y]] {tgpu.role = 1 : i32}
// CHECK-NEXT: %[[TILE:.*]] = tile.broadcast %[[READ]] along [1] {tgpu.role = 1 : i32}
// CHECK-NEXT: arith.mulf %[[SUM]], %[[TILE]] {tgpu.role = 1 : i32}
// CHECK: %[[HALF:.*]] = tile.convert %[[S]] {tgpu.role = 0 : i32}
// CHECK-NEXT: tgpu.local_store %[[HALF]], %[[P]] {tgpu.role = 0 : i32}
// CHECK-NEXT: tgpu.dot %[[P]], {{.*}} #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>, tgpu.role = 1 : i32
// CHECK: tgpu.store {{.*}} path = #tgpu.path<vector>, tgpu.role = 1 : i32
// expected-remark @+1 {{roles by operation: 2 of 128 threads, 2 tiles are handed over in shared memory}}
tgpu.kernel @attention(%q: !g, %kv: !kv, %n: i32, %o: !o) attributes {warp_specialize = "operations", target = "sm_90a", threads = 256 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %f0 = arith.constant 0.0 : f32
  %qs = tgpu.alloc_shared "Q" : !b
  %k = tgpu.alloc_shared "K" : !b
  %z = tile.splat %f0 : f32 -> !t
  %zr = tile.splat %f0 : f32 -> !r
  tgpu.copy %q to %qs {bytes = 16 : i32, path = #tgpu.path<tma>} : !g, !b
  %x:2 = scf.for %i = %c0 to %n step %c1 iter_args(%l = %zr, %c = %z) -> (!r, !t) : i32 {
    %w = tile.slice %kv[%i, %c0] sizes [64, 64] : !kv, i32, i32 -> !g
    tgpu.copy %w to %k {bytes = 16 : i32, path = #tgpu.path<tma>} : !g, !b
    %s = tgpu.dot %qs, %k, %z {accumulate = false, mma = #tgpu.mma<wgmma, 64, 32, 16, warps = 1, 2>, transpose_b} : !b, !b, !t -> !t
    %h = tile.reduce <sum> %s axis 1 : !t -> !r
    %y = arith.addf %l, %h : !r
    %a = tile.broadcast %y along [1] : !r -> !t
    %m = arith.mulf %c, %a : !t
    %p = tile.convert %s : !t to tensor<64x64xf16>
    %d = tgpu.dot %p, %k, %m {mma = #tgpu.mma<wgmma, 64, 32, 16, warps = 1, 2>} : tensor<64x64xf16>, !b, !t -> !t
    scf.yield %y, %d : !r, !t
  } {tile.stages = 2 : i32}
  // expected-remark @+1 {{copy stores from registers, not by TMA}}
  tgpu.store %x#1, %o {bytes = 16 : i32, path = #tgpu.path<tma>} : !t, !o
  tgpu.return
}
