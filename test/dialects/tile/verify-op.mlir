// RUN: tile-opt %s -split-input-file -verify-diagnostics | tile-opt | FileCheck %s

// CHECK: tile.verify %{{.*}}, 3 "n is {}", %{{.*}} : i32 {unsigned_values = array<i32: 0>} : i1
func.func @good(%c: i1, %n: i32, %t: tensor<4xi1>) {
  tile.verify %c, 3 "n is {}", %n : i32 {unsigned_values = array<i32: 0>} : i1
  // CHECK: tile.verify %{{.*}}, 4 "all" : tensor<4xi1>
  tile.verify %t, 4 "all" : tensor<4xi1>
  return
}

// -----

func.func @places(%c: i1, %n: i32) {
  // expected-error@+1 {{has 1 values for 2 places in its text}}
  tile.verify %c, 0 "{} {}", %n : i32 : i1
  return
}

// -----

func.func @many(%c: i1, %n: i32) {
  // expected-error@+1 {{shows 9 values, the record of a failure has 8}}
  tile.verify %c, 0 "{} {} {} {} {} {} {} {} {}", %n, %n, %n, %n, %n, %n, %n, %n, %n : i32, i32, i32, i32, i32, i32, i32, i32, i32 : i1
  return
}
