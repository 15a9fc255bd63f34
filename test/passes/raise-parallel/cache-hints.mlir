// What `@cache` says of an access of the iterations it says of the access of all of them.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-raise-parallel))' | FileCheck %s

!g = !tile.global<?xi32>
// CHECK-LABEL: tgpu.kernel @hints
// CHECK: tgpu.load %{{.*}} {cache = #tile.cache<evict_first>}
// CHECK: tile.load %{{.*}} {tile.cache = #tile.cache<evict_last>}
// CHECK: tgpu.gather %{{.*}} {tile.cache = #tile.cache<no_allocate>}
// CHECK: tgpu.store %{{.*}} {cache = #tile.cache<evict_last>}
// CHECK: tgpu.scatter %{{.*}} {tile.cache = #tile.cache<evict_first>}
// CHECK: tgpu.atomic_tile {{.*}} {tile.cache = #tile.cache<evict_first>}
// CHECK: tgpu.atomic <add> {{.*}} {tile.cache = #tile.cache<evict_last>}
tgpu.kernel @hints(%x: !g, %y: !g, %n: i32) attributes {threads = 64 : i32, target = "sm_90a"} {
  %a = tgpu.view %x extents(%n : i32) strides() : !g -> !g
  %b = tgpu.view %y extents(%n : i32) strides() : !g -> !g
  %eight = arith.constant 8 : i32
  tile.parallel(%eight : i32) {
  ^bb0(%i: i32):
    %0 = tile.load %a[%i : i32] {tile.cache = #tile.cache<evict_first>} : !g -> i32
    %1 = tile.load %a[%n : i32] {tile.cache = #tile.cache<evict_last>} : !g -> i32
    %2 = tile.load %a[%0 : i32] {tile.cache = #tile.cache<no_allocate>} : !g -> i32
    %s = arith.addi %1, %2 : i32
    tile.store %s, %b[%i : i32] {tile.cache = #tile.cache<evict_last>} : i32, !g
    tile.store %s, %b[%0 : i32] {tile.cache = #tile.cache<evict_first>} : i32, !g
    %3 = tile.atomic <add> %s, %b[%i : i32] {tile.cache = #tile.cache<evict_first>} : i32, !g -> i32
    %4 = tile.atomic <add> %s, %b[%0 : i32] {tile.cache = #tile.cache<evict_last>} : i32, !g -> i32
  }
  tgpu.return
}
