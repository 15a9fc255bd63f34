// A tensor of packed elements has a view of its bytes: the host halves the last extent and the strides, once each.
// RUN: tile-opt --tile-outline-launches %s | FileCheck %s

// CHECK-LABEL: tile.kernel @k
// CHECK: %[[K:.*]] = tile.dim "K"
// CHECK: %[[TWO:.*]] = arith.constant 2 : i32
// CHECK: %[[HALF:.*]] = arith.divsi %[[K]], %[[TWO]] : i32
// CHECK-NOT: arith.divsi %[[K]]
// CHECK: tgpu.launch "k_0"
// What the runtime takes no other call with: the extent is even.
// CHECK: tgpu.kernel @k_0
// CHECK-SAME: tgpu.divisible = 2 : i64
// CHECK: %[[BYTES:.*]] = tgpu.view %{{.*}} extents(%[[M:.*]], %[[KB:.*]] : i32, i32) strides(%[[KB]] : i32) : !tile.global<?x?xi4> -> !tile.global<?x?xi8>
// CHECK: tile.bitcast_view %[[BYTES]] : !tile.global<?x?xi8> -> !tile.global<?x?xi4>
// CHECK: %[[FIXED:.*]] = tgpu.view {{.*}} : !tile.global<6x10xf4E2M1FN> -> !tile.global<6x5xi8>
// CHECK: tile.bitcast_view %[[FIXED]] : !tile.global<6x5xi8> -> !tile.global<6x10xf4E2M1FN>
tile.kernel @k(%a: !tile.global<?x?xi4> {tile.name = "A", tile.dtype = "u4", tile.direction = "in"},
               %b: !tile.global<?x?xi4> {tile.name = "B", tile.dtype = "i4", tile.direction = "in"},
               %c: !tile.global<6x10xf4E2M1FN> {tile.name = "C", tile.dtype = "e2m1", tile.direction = "in"}) {
  %m = tile.dim "M" from %a[0] : !tile.global<?x?xi4> -> i32
  %k = tile.dim "K" from %a[1] : !tile.global<?x?xi4> -> i32
  %e = tile.extent %b[1] : !tile.global<?x?xi4> -> i32
  %same = arith.cmpi eq, %e, %k : i32
  tile.check %same, "dim-mismatch", "extent 1 of `B` is `K`, which `A` binds"
  tile.launch grid(%m : i32) threads(32) {
  ^bb0(%i: i32):
    %f = tile.alloc "f" : !tile.buffer<1x8xi4, fragment>
    %x = tile.slice %a[%i, %i] sizes [1, 8] : !tile.global<?x?xi4>, i32, i32 -> !tile.global<1x8xi4>
    tile.copy %x to %f : !tile.global<1x8xi4>, !tile.buffer<1x8xi4, fragment>
    %y = tile.slice %b[%i, %k] sizes [1, 8] : !tile.global<?x?xi4>, i32, i32 -> !tile.global<1x8xi4>
    tile.copy %f to %y : !tile.buffer<1x8xi4, fragment>, !tile.global<1x8xi4>
    %g = tile.alloc "g" : !tile.buffer<1x8xf4E2M1FN, fragment>
    %z = tile.slice %c[%i, %i] sizes [1, 8] : !tile.global<6x10xf4E2M1FN>, i32, i32 -> !tile.global<1x8xf4E2M1FN>
    tile.copy %z to %g : !tile.global<1x8xf4E2M1FN>, !tile.buffer<1x8xf4E2M1FN, fragment>
  }
  tile.return
}
