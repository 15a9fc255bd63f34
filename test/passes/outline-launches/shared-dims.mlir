// Extents that checks equate arrive as one argument; those that nothing is known of are asked of the host.
// RUN: tile-opt %s --tile-outline-launches -split-input-file | FileCheck %s

// CHECK-LABEL: tile.kernel @equal
// CHECK: %[[N:.*]] = tile.dim "N"
// CHECK: tgpu.launch "equal_0" grid(%{{.*}}) args(%{{.*}}, %[[N]], %{{.*}} : !tile.global<?xf32>, i32, !tile.global<?xf32>)
// CHECK: tgpu.kernel @equal_0(%[[A:.*]]: !tile.global<?xf32> {{.*}}, %[[PN:.*]]: i32, %[[B:.*]]: !tile.global<?xf32> {{.*}})
// CHECK-DAG: tgpu.view %[[A]] extents(%[[PN]] : i32)
// CHECK-DAG: tgpu.view %[[B]] extents(%[[PN]] : i32)
tile.kernel @equal(%a: !tile.global<?xf32> {tile.name = "A", tile.dtype = "f32", tile.direction = "in"},
                   %b: !tile.global<?xf32> {tile.name = "B", tile.dtype = "f32", tile.direction = "in"}) {
  %n = tile.dim "N" from %a[0] : !tile.global<?xf32> -> i32
  %e = tile.extent %b[0] : !tile.global<?xf32> -> i32
  %c = arith.cmpi eq, %e, %n : i32
  tile.check %c, "dim-mismatch", "N of B"
  %one = arith.constant 1 : i32
  tile.launch grid(%one : i32) threads(32) {
  ^bb0(%i: i32):
    %x = tile.load %a[%i : i32] : !tile.global<?xf32> -> f32
    %y = tile.load %b[%i : i32] : !tile.global<?xf32> -> f32
  }
  tile.return
}

// -----

// The sides of the equation may be exchanged, and several facts may be joined by `and`.
// CHECK-LABEL: tgpu.kernel @joined_0(
// CHECK-SAME: %[[A:[a-z0-9]+]]: !tile.global<?xf32> {{{[^}]*}}}, %[[N:[a-z0-9]+]]: i32 {tgpu.divisible = 24 : i64},
// CHECK-SAME: %[[B:[a-z0-9]+]]: !tile.global<?xf32> {{{[^}]*}}})
// CHECK-DAG: tgpu.view %[[A]] extents(%[[N]] : i32)
// CHECK-DAG: tgpu.view %[[B]] extents(%[[N]] : i32)
tile.kernel @joined(%a: !tile.global<?xf32> {tile.name = "A", tile.dtype = "f32", tile.direction = "in"},
                    %b: !tile.global<?xf32> {tile.name = "B", tile.dtype = "f32", tile.direction = "in"}) {
  %n = tile.dim "N" from %a[0] : !tile.global<?xf32> -> i32
  %e = tile.extent %b[0] : !tile.global<?xf32> -> i32
  %zero = arith.constant 0 : i32
  %eight = arith.constant 8 : i32
  %six = arith.constant 6 : i32
  %c = arith.cmpi eq, %n, %e : i32
  %r8 = arith.remsi %n, %eight : i32
  %d8 = arith.cmpi eq, %r8, %zero : i32
  %r6 = arith.remsi %n, %six : i32
  %d6 = arith.cmpi eq, %zero, %r6 : i32
  %cd = arith.andi %c, %d8 : i1
  %all = arith.andi %cd, %d6 : i1
  tile.check %all, "where-failed", "N"
  %one = arith.constant 1 : i32
  tile.launch grid(%one : i32) threads(32) {
  ^bb0(%i: i32):
    %x = tile.load %a[%i : i32] : !tile.global<?xf32> -> f32
    %y = tile.load %b[%i : i32] : !tile.global<?xf32> -> f32
  }
  tile.return
}

// -----

// An extent that equals a constant is that constant; static extents are constants anyway.
// CHECK-LABEL: tgpu.kernel @constant_0(
// CHECK-SAME: %[[A:[a-z0-9]+]]: !tile.global<?x64xf32> {{{[^}]*}}})
// CHECK-DAG: %[[E:.*]] = arith.constant 96 : i32
// CHECK-DAG: %[[F:.*]] = arith.constant 64 : i32
// CHECK: tgpu.view %[[A]] extents(%[[E]], %[[F]] : i32, i32) strides(%[[F]] : i32)
tile.kernel @constant(%a: !tile.global<?x64xf32> {tile.name = "A", tile.dtype = "f32", tile.direction = "in"}) {
  %e = tile.extent %a[0] : !tile.global<?x64xf32> -> i32
  %c96 = arith.constant 96 : i32
  %c = arith.cmpi eq, %e, %c96 : i32
  tile.check %c, "dim-mismatch", "A"
  %one = arith.constant 1 : i32
  tile.launch grid(%one : i32) threads(32) {
  ^bb0(%i: i32):
    %x = tile.load %a[%i, %i : i32, i32] : !tile.global<?x64xf32> -> f32
  }
  tile.return
}

// -----

// A dimension with an offset is not the extent, and `or` and `<=` state no fact.
// CHECK-LABEL: tile.kernel @unknown
// CHECK: %[[D:.*]] = tile.dim "M" from %[[A:.*]][0] offset 1
// CHECK: %[[E:.*]] = tile.extent %[[A]][0]
// CHECK: tgpu.launch "unknown_0" grid({{.*}}) args(%[[D]], %[[A]], %[[E]] :
// CHECK: tgpu.kernel @unknown_0(%{{[a-z0-9]+}}: i32 {tgpu.range = array<i64: 0, 2147483647>}, %{{[a-z0-9]+}}: !tile.global<?xf32> {{{[^}]*}}}, %{{[a-z0-9]+}}: i32)
tile.kernel @unknown(%a: !tile.global<?xf32> {tile.name = "A", tile.dtype = "f32", tile.direction = "in"}) {
  %m = tile.dim "M" from %a[0] offset 1 : !tile.global<?xf32> -> i32
  %zero = arith.constant 0 : i32
  %eight = arith.constant 8 : i32
  %r = arith.remsi %m, %eight : i32
  %d = arith.cmpi eq, %r, %zero : i32
  %small = arith.cmpi sle, %m, %eight : i32
  %either = arith.ori %d, %small : i1
  tile.check %either, "where-failed", "M"
  %one = arith.constant 1 : i32
  tile.launch grid(%one : i32) threads(32) {
  ^bb0(%i: i32):
    %j = arith.addi %i, %m : i32
    %x = tile.load %a[%j : i32] : !tile.global<?xf32> -> f32
  }
  tile.return
}

// -----

// What is only true if an optional tensor is there is no fact about values that others use.
// CHECK-LABEL: tgpu.kernel @optional_0(
// CHECK-NOT: tgpu.divisible
// CHECK: tgpu.return
tile.kernel @optional(%a: !tile.global<?xf32> {tile.name = "A", tile.dtype = "f32", tile.direction = "in"},
                      %b: !tile.global<?xf32> {tile.name = "B", tile.dtype = "f32", tile.direction = "in", tile.optional}) {
  %m = tile.dim "M" from %a[0] : !tile.global<?xf32> -> i32
  %zero = arith.constant 0 : i32
  %eight = arith.constant 8 : i32
  %r = arith.remsi %m, %eight : i32
  %d = arith.cmpi eq, %r, %zero : i32
  tile.check %d, "where-failed", "M" if_present %b : !tile.global<?xf32>
  %one = arith.constant 1 : i32
  tile.launch grid(%one : i32) threads(32) {
  ^bb0(%i: i32):
    %x = tile.load %a[%i : i32] : !tile.global<?xf32> -> f32
  }
  tile.return
}

// -----

// Nor is what only holds on one path of the host's code.
// CHECK-LABEL: tgpu.kernel @branch_0(
// CHECK-NOT: tgpu.divisible
// CHECK: tgpu.return
tile.kernel @branch(%a: !tile.global<?xf32> {tile.name = "A", tile.dtype = "f32", tile.direction = "in"}, %p: i1) {
  %m = tile.dim "M" from %a[0] : !tile.global<?xf32> -> i32
  %zero = arith.constant 0 : i32
  %eight = arith.constant 8 : i32
  scf.if %p {
    %r = arith.remsi %m, %eight : i32
    %d = arith.cmpi eq, %r, %zero : i32
    tile.check %d, "where-failed", "M"
  }
  %one = arith.constant 1 : i32
  tile.launch grid(%one : i32) threads(32) {
  ^bb0(%i: i32):
    %x = tile.load %a[%i : i32] : !tile.global<?xf32> -> f32
  }
  tile.return
}

// -----

// A fact about a value that is computed behind the launch does not help it.
// CHECK-LABEL: tile.kernel @late
// CHECK: %[[E:.*]] = tile.extent %[[A:.*]][0]
// CHECK: tgpu.launch "late_0" grid({{.*}}) args(%[[A]], %[[E]] : !tile.global<?xf32>, i32)
tile.kernel @late(%a: !tile.global<?xf32> {tile.name = "A", tile.dtype = "f32", tile.direction = "in"}, %n: i32) {
  %one = arith.constant 1 : i32
  tile.launch grid(%one : i32) threads(32) {
  ^bb0(%i: i32):
    %x = tile.load %a[%i : i32] : !tile.global<?xf32> -> f32
  }
  %m = arith.addi %n, %one : i32
  %e = tile.extent %a[0] : !tile.global<?xf32> -> i32
  %c = arith.cmpi eq, %e, %m : i32
  tile.check %c, "dim-mismatch", "A"
  tile.return
}
