// The host passes factor, addend and shift of divisors that it can compute, for what loops and tiles divide.
// RUN: tile-opt %s --tgpu-pass-reciprocals -verify-each | FileCheck %s

!g = !tile.global<?xi32>
// CHECK-LABEL: tile.kernel @host
// CHECK: %[[M:.*]] = tile.dim "M"
// CHECK: %[[F:.*]], %[[A:.*]], %[[S:.*]] = tgpu.reciprocal %[[M]]
// What the kernel computes of its arguments, the host computes.
// CHECK: %[[SQUARE:.*]] = arith.muli %[[M]], %[[M]]
// CHECK: %[[WHOLE:.*]] = arith.addi %[[SQUARE]]
// CHECK: %[[F2:.*]], %[[A2:.*]], %[[S2:.*]] = tgpu.reciprocal %[[WHOLE]]
// CHECK: tgpu.launch "host_0" grid(%[[M]] : i32) args(%[[M]], %{{.*}}, %[[F]], %[[A]], %[[S]], %[[WHOLE]], %[[F2]], %[[A2]], %[[S2]] :
tile.kernel @host(%a: !g {tile.name = "A", tile.direction = "in", tile.dtype = "i32"}) {
  %m = tile.dim "M" from %a[0] : !g -> i32
  tgpu.launch "host_0" grid(%m : i32) args(%m, %a : i32, !g)
  tile.return
}
// CHECK: tgpu.kernel @host_0(%[[D:.*]]: i32 {tgpu.range = array<i64: 0, 2147483647>, tgpu.reciprocal = array<i64: 2, 0>}, %{{.*}}, %{{.*}}: i32, %{{.*}}: i32, %{{.*}}: i32, %[[W:.*]]: i32 {tgpu.range = array<i64: {{.*}}>, tgpu.reciprocal = array<i64: 6, 0>}
tgpu.kernel @host_0(%d: i32 {tgpu.range = array<i64: 0, 2147483647>}, %a: !g {tile.name = "A"})
    attributes {threads = 32 : i32, launch = "host_0"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c7 = arith.constant 7 : i32
  %view = tgpu.view %a extents(%d : i32) strides() : !g -> !g
  %square = arith.muli %d, %d : i32
  %whole = arith.addi %square, %c7 : i32
  // Once in a block, by a constant and by what is read: as they were.
  // CHECK: %[[ONCE:.*]] = tile.div %{{.*}}, %[[SQUARE:.*]] : i32
  %once = tile.div %c7, %square : i32
  scf.for %i = %c0 to %d step %c1 : i32 {
    // CHECK: tile.div %{{.*}}, %[[D]] : i32
    %q = tile.div %i, %d : i32
    // CHECK: tile.rem %{{.*}}, %[[W]] : i32
    %r = tile.rem %q, %whole : i32
    // CHECK: arith.divsi %{{.*}}, %c7
    %s = arith.divsi %r, %c7 : i32
    // CHECK: %[[READ:.*]] = tile.load
    %e = tile.load %view[%i : i32] : !g -> i32
    // CHECK: tile.div %{{.*}}, %[[READ]] : i32
    %t = tile.div %s, %e : i32
    // The same divisor, read without sign: never negative, so it is the same number.
    // CHECK: tile.div %{{.*}}, %[[D]] {is_unsigned} : i32
    %u = tile.div %t, %d {is_unsigned} : i32
    // CHECK: tile.div %{{.*}}, %{{.*}} {is_unsigned} : i32
    %v = tile.div %u, %whole {is_unsigned} : i32
    tile.store %v, %view[%once : i32] : i32, !g
  }
  tgpu.return
}
