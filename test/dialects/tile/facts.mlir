// Facts of the program are declared: an unknown name, a value of another type or another holder does not verify.
// RUN: tile-opt %s -split-input-file -verify-diagnostics

// expected-error@+1 {{has an attribute `tile.alias` that its dialect does not declare here}}
tile.kernel @unknown(%x: !tile.global<4xf32> {tile.alias = "y"}) {
  tile.return
}

// -----

// expected-error@+1 {{`tile.direction` is "in", "out" or "inout", not "both"}}
tile.kernel @direction(%x: !tile.global<4xf32> {tile.direction = "both"}) {
  tile.return
}

// -----

// expected-error@+1 {{`tile.may_alias` is a list of names, not "y"}}
tile.kernel @names(%x: !tile.global<4xf32> {tile.may_alias = "y"}) {
  tile.return
}

// -----

// expected-error@+1 {{cannot hold `tile.stages`}}
tile.kernel @holder(%x: i32) attributes {tile.stages = 2 : i32} {
  tile.return
}

// -----

tile.kernel @stages(%x: i32) {
  // expected-error@+1 {{`tile.stages` is a number of stages, i32 >= 1, not 0 : i32}}
  scf.for %i = %x to %x step %x : i32 {
  } {tile.stages = 0 : i32}
  tile.return
}
