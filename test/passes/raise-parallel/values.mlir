// Values depend on the loop's indices that they need and no others; conditions become masks, uniform ones stay branches.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-raise-parallel,canonicalize,cse))' -split-input-file | FileCheck %s

// What depends on one index is a vector, repeated where it meets the other one's.
// CHECK-LABEL: tgpu.kernel @axes
// CHECK-DAG: %[[I:.*]] = tgpu.coordinate : tensor<8xi32>
// CHECK-DAG: %[[J:.*]] = tgpu.coordinate : tensor<16xi32>
// CHECK-DAG: %[[N:.*]] = tile.splat %{{.*}} : i32 -> tensor<16xi32>
// CHECK-DAG: %[[M:.*]] = arith.cmpi sge, %[[J]], %[[N]] : tensor<16xi32>
// CHECK: %[[OLD:.*]] = tile.read
// CHECK: %[[ROW:.*]] = tile.broadcast %{{.*}} along [1] : tensor<8xf32> -> tensor<8x16xf32>
// CHECK: %[[SUM:.*]] = arith.addf %[[OLD]], %[[ROW]] : tensor<8x16xf32>
// CHECK: %[[MASK:.*]] = tile.broadcast %[[M]] along [0] : tensor<16xi1> -> tensor<8x16xi1>
// CHECK: %[[NEW:.*]] = arith.select %[[MASK]], %[[SUM]], %{{.*}} : tensor<8x16xi1>, tensor<8x16xf32>
// CHECK: tile.write %[[NEW]]
// CHECK-NOT: tile.parallel
tgpu.kernel @axes(%n: i32) attributes {threads = 64 : i32, target = "sm_80"} {
  %x = tile.alloc "x" : !tile.buffer<8x16xf32, fragment>
  %rows = arith.constant 8 : i32
  %columns = arith.constant 16 : i32
  tile.parallel(%rows, %columns : i32, i32) {
  ^bb0(%i: i32, %j: i32):
    %out = arith.cmpi sge, %j, %n : i32
    scf.if %out {
      %f = tile.convert %i : i32 to f32
      %e = tile.load %x[%i, %j : i32, i32] : !tile.buffer<8x16xf32, fragment> -> f32
      %s = arith.addf %e, %f : f32
      tile.store %s, %x[%i, %j : i32, i32] : f32, !tile.buffer<8x16xf32, fragment>
    }
  }
  tgpu.return
}

// -----

// CHECK-LABEL: tgpu.kernel @uniform
// CHECK: scf.if %{{.*}} {
// CHECK-NOT: arith.select
// CHECK: tile.write %{{.*}} : tensor<8xf32>
tgpu.kernel @uniform(%c: i1, %v: f32) attributes {threads = 32 : i32, target = "sm_80"} {
  %x = tile.alloc "x" : !tile.buffer<8xf32, fragment>
  %n = arith.constant 8 : i32
  tile.parallel(%n : i32) {
  ^bb0(%i: i32):
    scf.if %c {
      tile.store %v, %x[%i : i32] : f32, !tile.buffer<8xf32, fragment>
    }
  }
  tgpu.return
}

// -----

// A loop that all iterations go around alike stays one; what it carries is a tile as far as it depends on the indices.
// CHECK-LABEL: tgpu.kernel @even
// CHECK: scf.for {{.*}} iter_args(%[[A:.*]] = %{{.*}}, %[[B:.*]] = %{{.*}}) -> (tensor<8xi32>, i32)
tgpu.kernel @even(%k: i32) attributes {threads = 32 : i32, target = "sm_80"} {
  %x = tile.alloc "x" : !tile.buffer<8xi32, fragment>
  %n = arith.constant 8 : i32
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  tile.parallel(%n : i32) {
  ^bb0(%i: i32):
    %r:2 = scf.for %s = %zero to %k step %one iter_args(%a = %zero, %b = %one) -> (i32, i32) : i32 {
      %ai = arith.addi %a, %i : i32
      %as = arith.muli %ai, %b : i32
      %bs = arith.addi %b, %s : i32
      scf.yield %as, %bs : i32, i32
    }
    %sum = arith.addi %r#0, %r#1 : i32
    tile.store %sum, %x[%i : i32] : i32, !tile.buffer<8xi32, fragment>
  }
  tgpu.return
}

// -----

// One that they leave at different times goes on until all have, under a mask.
// CHECK-LABEL: tgpu.kernel @uneven
// CHECK: scf.while (%[[S:.*]] = {{.*}}) : (tensor<8xi32>, {{.*}}) -> (tensor<8xi32>
// CHECK: %[[ANY:.*]] = tile.reduce <or> %{{.*}} : tensor<8xi1> -> i1
// CHECK: scf.condition(%[[ANY]])
tgpu.kernel @uneven() attributes {threads = 32 : i32, target = "sm_80"} {
  %x = tile.alloc "x" : !tile.buffer<8xi32, fragment>
  %n = arith.constant 8 : i32
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  tile.parallel(%n : i32) {
  ^bb0(%i: i32):
    %r = scf.for %s = %zero to %i step %one iter_args(%a = %zero) -> (i32) : i32 {
      %as = arith.addi %a, %s : i32
      scf.yield %as : i32
    }
    tile.store %r, %x[%i : i32] : i32, !tile.buffer<8xi32, fragment>
  }
  tgpu.return
}

// -----

// A check of each iteration that gets there.
// CHECK-LABEL: tgpu.kernel @check
// CHECK: tile.map %{{.*}}, %{{.*}} : tensor<8xi1>, tensor<8xi32> {
// CHECK-NEXT: ^bb0(%[[C:.*]]: i1, %[[V:.*]]: i32):
// CHECK-NEXT: tile.verify %[[C]], 0 "index {} is large", %[[V]] : i32 : i1
tgpu.kernel @check(%n: i32) attributes {threads = 32 : i32, target = "sm_80"} {
  %eight = arith.constant 8 : i32
  tile.parallel(%eight : i32) {
  ^bb0(%i: i32):
    %c = arith.cmpi slt, %i, %n : i32
    tile.verify %c, 0 "index {} is large", %i : i32 : i1
  }
  tgpu.return
}

// -----

// A message of each iteration that gets there, also of those that say the same.
// CHECK-LABEL: tgpu.kernel @print
// CHECK: %[[YES:.*]] = tile.splat %true : i1 -> tensor<8x4xi1>
// CHECK: tile.map %[[YES]] : tensor<8x4xi1> {
// CHECK-NEXT: ^bb0(%[[C:.*]]: i1):
// CHECK-NEXT: scf.if %[[C]] {
// CHECK-NEXT: tile.print "all alike" {place = 3 : i32}
// CHECK: %[[LESS:.*]] = arith.cmpi slt
// CHECK: tile.map %{{.*}}, %{{.*}}, %{{.*}} : tensor<8x4xi1>, tensor<8x4xi32>, tensor<8x4xf32> {
// CHECK-NEXT: ^bb0(%[[C:.*]]: i1, %[[I:.*]]: i32, %[[X:.*]]: f32):
// CHECK-NEXT: scf.if %[[C]] {
// CHECK-NEXT: tile.print "{} {}", %[[I]], %[[X]] : i32, f32 {place = 4 : i32, unsigned_values = array<i32: 0>}
tgpu.kernel @print(%n: i32, %x: f32) attributes {threads = 32 : i32, target = "sm_80"} {
  %eight = arith.constant 8 : i32
  %four = arith.constant 4 : i32
  tile.parallel(%eight, %four : i32, i32) {
  ^bb0(%i: i32, %j: i32):
    tile.print "all alike" {place = 3 : i32}
    %c = arith.cmpi slt, %i, %n : i32
    scf.if %c {
      tile.print "{} {}", %i, %x : i32, f32 {place = 4 : i32, unsigned_values = array<i32: 0>}
    }
  }
  tgpu.return
}
