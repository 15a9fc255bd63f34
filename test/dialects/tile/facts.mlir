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

// -----

// expected-error@+1 {{has 'f16' in argument 0, which is no "f32"}}
tile.kernel @dtype(%x: !tile.global<4xf16> {tile.dtype = "f32"}) {
  tile.return
}

// -----

// expected-error@+1 {{has 'i8' in argument 0, which is no "f99"}}
tile.kernel @no_dtype(%x: i8 {tile.dtype = "f99"}) {
  tile.return
}

// -----

// Signed or not is what the type does not say.
tile.kernel @signs(%x: !tile.global<4xi8> {tile.dtype = "u8"}, %y: !tile.global<4xi8> {tile.dtype = "i8"}, %z: i1 {tile.dtype = "bool"}) {
  tile.return
}

// -----

// expected-error@+1 {{has two arguments named `A`}}
tile.kernel @twice(%x: i32 {tile.name = "A"}, %y: i32 {tile.name = "A"}) {
  tile.return
}

// -----

tile.kernel @misspelt(%n: i32) {
  // expected-error@+1 {{has no attribute `num_stages`}}
  tile.launch grid(%n : i32) threads(32) attributes {num_stages = 7 : i32} {
  ^bb0(%b: i32):
    tile.yield
  }
  tile.return
}

// -----

// expected-error@+1 {{has an empty name for argument 1}}
tile.kernel @unnamed(%x: i32 {tile.name = "A"}, %y: i32 {tile.name = ""}) {
  tile.return
}
