// The host passes factor, addend and shift of divisors that it can compute.
// RUN: tile-opt %s --tgpu-pass-reciprocals -verify-each | FileCheck %s

!g = !tile.global<?xi32>
// CHECK-LABEL: tile.kernel @host
// CHECK: %[[M:.*]] = tile.dim "M"
// What the kernel computes of its arguments, the host computes.
// CHECK: %[[SQUARE:.*]] = arith.muli %[[M]], %[[M]]
// CHECK: %[[F1:.*]], %[[A1:.*]], %[[S1:.*]] = tgpu.reciprocal %[[SQUARE]]
// CHECK: %[[F:.*]], %[[A:.*]], %[[S:.*]] = tgpu.reciprocal %[[M]]
// CHECK: %[[WHOLE:.*]] = arith.addi %[[SQUARE]]
// CHECK: %[[F2:.*]], %[[A2:.*]], %[[S2:.*]] = tgpu.reciprocal %[[WHOLE]]
// CHECK: tgpu.launch "host_0" grid(%[[M]] : i32) args(%[[M]], %{{.*}}, %[[SQUARE]], %[[F1]], %[[A1]], %[[S1]], %[[F]], %[[A]], %[[S]], %[[WHOLE]], %[[F2]], %[[A2]], %[[S2]] :
tile.kernel @host(%a: !g {tile.name = "A", tile.direction = "in", tile.dtype = "i32"}) {
  %m = tile.dim "M" from %a[0] : !g -> i32
  tgpu.launch "host_0" grid(%m : i32) args(%m, %a : i32, !g)
  tile.return
}
// CHECK: tgpu.kernel @host_0(%[[D:.*]]: i32 {tgpu.range = array<i64: 0, 2147483647>, tgpu.reciprocal = array<i64: 6, 0>}, %{{[^,]*}}, %[[SQ:.*]]: i32 {tgpu.range = array<i64: {{[^>]*}}>, tgpu.reciprocal = array<i64: 3, 0>}, {{.*}}, %[[W:[a-z0-9]+]]: i32 {tgpu.range = array<i64: {{[^>]*}}>, tgpu.reciprocal = array<i64: 10, 0>}
tgpu.kernel @host_0(%d: i32 {tgpu.range = array<i64: 0, 2147483647>}, %a: !g {tile.name = "A"})
    attributes {threads = 32 : i32, launch = "host_0"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c7 = arith.constant 7 : i32
  %view = tgpu.view %a extents(%d : i32) strides() : !g -> !g
  %square = arith.muli %d, %d : i32
  %whole = arith.addi %square, %c7 : i32
  // Also once in a block; not by a constant, nor by what is read.
  // CHECK: tile.div %{{.*}}, %[[SQ]] : i32
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

// Quotients of two numbers of the host are one, also where the divisor may be 0: then they are 0. Divisors of other widths.
!w = !tile.global<?xi64>
// CHECK-LABEL: tile.kernel @widths
// CHECK: %[[E:.*]] = tile.dim "M"
// CHECK: %[[ONE:.*]] = arith.maxsi %[[E]], %{{.*}} : i32
// CHECK: %[[ZERO:.*]] = arith.cmpi eq, %[[E]], %{{.*}} : i32
// CHECK: %[[PART:.*]] = tile.div %{{.*}}, %[[ONE]] : i32
// CHECK: %[[QUOTIENT:.*]] = arith.select %[[ZERO]], %{{.*}}, %[[PART]] : i32
// CHECK: %[[F:.*]], %[[A:.*]], %[[S:.*]] = tgpu.reciprocal %{{.*}} : i64
// CHECK: %[[MIN:.*]] = arith.minui %[[A]], %{{.*}} : i64
// CHECK: %[[INCREMENT:.*]] = arith.trunci %[[MIN]] : i64 to i32
// CHECK: %[[SHIFT:.*]] = arith.trunci %[[S]] : i64 to i32
// CHECK: %[[EXTENDED:.*]] = arith.extui %{{.*}} : i16 to i32
// CHECK: %[[FH:.*]], %[[AH:.*]], %[[SH:.*]] = tgpu.reciprocal %[[EXTENDED]] {is_unsigned} : i32
// CHECK: %[[FE:.*]], %[[AE:.*]], %[[SE:.*]] = tgpu.reciprocal %[[E]] : i32
// CHECK: tgpu.launch "widths_0" {{.*}} args(%[[E]], %{{.*}}, %{{.*}}, %{{.*}}, %[[QUOTIENT]], %[[F]], %[[INCREMENT]], %[[SHIFT]], %[[FH]], %[[AH]], %[[SH]], %[[FE]], %[[AE]], %[[SE]] :
tile.kernel @widths(%a: !w {tile.name = "A", tile.direction = "in", tile.dtype = "i64"}, %l: i64 {tile.name = "l", tile.dtype = "i64"},
    %h: i16 {tile.name = "h", tile.dtype = "u16"}) {
  %m = tile.dim "M" from %a[0] : !w -> i32
  tgpu.launch "widths_0" grid(%m : i32) args(%m, %a, %l, %h : i32, !w, i64, i16)
  tile.return
}
// CHECK: tgpu.kernel @widths_0(%[[E:[a-z0-9]+]]: i32 {{.*}}, %[[L:[a-z0-9]+]]: i64 {tgpu.reciprocal = array<i64: 5, 0>}, %[[H:[a-z0-9]+]]: i16 {tgpu.reciprocal = array<i64: 8, 1>}, %[[Q:[a-z0-9]+]]: i32 {tgpu.range = array<i64: 0, 7>}, %{{.*}}: i64, %{{.*}}: i32,
tgpu.kernel @widths_0(%d: i32 {tgpu.range = array<i64: 0, 2147483647>}, %a: !w {tile.name = "A"}, %l: i64, %h: i16)
    attributes {threads = 32 : i32, launch = "widths_0"} {
  %c7 = arith.constant 7 : i32
  %c7h = arith.constant 7 : i16
  %view = tgpu.view %a extents(%d : i32) strides() : !w -> !w
  %part = tile.div %c7, %d : i32
  %block = tgpu.block_id
  %wide = arith.extui %block : i32 to i64
  // CHECK: %[[WIDE:.*]] = arith.extui
  // CHECK: %[[BY:.*]] = tile.div %[[WIDE]], %[[L]] : i64
  %x = tile.div %wide, %l : i64
  // CHECK: tile.rem %{{.*}}, %[[H]] {is_unsigned} : i16
  %narrow = arith.trunci %block : i32 to i16
  %y = tile.rem %narrow, %h {is_unsigned} : i16
  // Both fit 32 bits: they are divided as such.
  // CHECK: %[[SMALL:.*]] = arith.trunci %{{.*}} : i64 to i32
  // CHECK: %[[R:.*]] = tile.rem %[[SMALL]], %[[E]] {rounding = #tile.rounding<down>} : i32
  // CHECK: arith.extsi %[[R]] : i32 to i64
  %c1000 = arith.constant 1000 : i64
  %few = arith.remui %wide, %c1000 : i64
  %by = arith.extsi %d : i32 to i64
  %z = tile.rem %few, %by {rounding = #tile.rounding<down>} : i64
  %yw = arith.extui %y : i16 to i64
  %s = arith.addi %x, %yw : i64
  %t = arith.addi %s, %z : i64
  // CHECK: tile.store %{{.*}}, %{{.*}}[%[[Q]] : i32]
  tile.store %t, %view[%part : i32] : i64, !w
  tgpu.return
}
