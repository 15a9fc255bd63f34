// What the verifiers of operations on tiles and of single threads refuse.
// RUN: tile-opt %s -split-input-file -verify-diagnostics

func.func @copy_global(%a: !tile.global<8xf32>, %b: !tile.global<8xf32>) {
  // expected-error@+1 {{has a tile on at least one side}}
  tile.copy %a to %b : !tile.global<8xf32>, !tile.global<8xf32>
  return
}

// -----

func.func @copy_shape(%a: !tile.global<8xf32>, %b: !tile.buffer<16xf32, shared>) {
  // expected-error@+1 {{copies between extents 8 and 16}}
  tile.copy %a to %b : !tile.global<8xf32>, !tile.buffer<16xf32, shared>
  return
}

// -----

func.func @gemm(%a: tensor<64x32xf16>, %b: tensor<16x16xf16>, %acc: !tile.buffer<64x16xf32, fragment>) {
  // expected-error@+1 {{shapes do not agree: 64x32 times 16x16 into 64x16}}
  tile.gemm %a, %b, %acc : tensor<64x32xf16>, tensor<16x16xf16>, !tile.buffer<64x16xf32, fragment>
  return
}

// -----

func.func @accumulator(%a: tensor<64x32xf16>, %b: tensor<32x16xf16>, %acc: !tile.buffer<64x16xf32, shared>) {
  // expected-error@+1 {{accumulates into a fragment}}
  tile.gemm %a, %b, %acc : tensor<64x32xf16>, tensor<32x16xf16>, !tile.buffer<64x16xf32, shared>
  return
}

// -----

func.func @reduce(%t: tensor<4x8xf32>) {
  // expected-error@+1 {{result type does not follow from the input}}
  %r = tile.reduce <sum> %t axis 1 : tensor<4x8xf32> -> tensor<8xf32>
  return
}

// -----

func.func @scan_axis(%t: tensor<4x8xf32>) {
  // expected-error@+1 {{axis is out of range}}
  %r = tile.scan <sum> %t axis 2 : tensor<4x8xf32>
  return
}

// -----

func.func @scan_kind(%t: tensor<4x8xi32>) {
  // expected-error@+1 {{is of a sum, product, maximum or minimum}}
  %r = tile.scan <xor> %t axis 0 : tensor<4x8xi32>
  return
}

// -----

func.func @broadcast_shape(%t: tensor<4xf32>) {
  // expected-error@+1 {{gives its input's elements along more dimensions}}
  %r = tile.broadcast %t along [1] : tensor<4xf32> -> tensor<8x4xf32>
  return
}

// -----

func.func @broadcast_axis(%t: tensor<4xf32>) {
  // expected-error@+1 {{gives its input's elements along more dimensions}}
  %r = tile.broadcast %t along [2] : tensor<4xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func @broadcast_falling(%t: tensor<4xf32>) {
  // expected-error@+1 {{gives its input's elements along more dimensions}}
  %r = tile.broadcast %t along [2, 0] : tensor<4xf32> -> tensor<8x4x8xf32>
  return
}

// -----

func.func @broadcast_nothing(%t: tensor<4xf32>) {
  // expected-error@+1 {{gives its input's elements along more dimensions}}
  %r = tile.broadcast %t along [] : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

func.func @broadcast_element(%t: tensor<4xf32>) {
  // expected-error@+1 {{gives its input's elements along more dimensions}}
  %r = tile.broadcast %t along [1] : tensor<4xf32> -> tensor<4x8xf16>
  return
}

// -----

func.func @transpose(%t: tensor<4x8xf32>) {
  // expected-error@+1 {{gives [N, M] from [M, N]}}
  %r = tile.transpose %t : tensor<4x8xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func @convert(%t: tensor<4x8xf32>) {
  // expected-error@+1 {{all non-scalar operands/results must have the same shape}}
  %r = tile.convert %t : tensor<4x8xf32> to tensor<8x4xf16>
  return
}

// -----

func.func @splat(%x: f32) {
  // expected-error@+1 {{result has elements of the type of its operand}}
  %r = tile.splat %x : f32 -> tensor<4xf16>
  return
}

// -----

func.func @map(%t: tensor<4xf32>) {
  // expected-error@+1 {{body takes the elements of the inputs}}
  %r = tile.map %t : tensor<4xf32> -> tensor<4xf32> {
  ^bb0(%x: f16):
    %c = arith.constant 0.0 : f32
    tile.yield %c : f32
  }
  return
}

// -----

func.func @map_yield(%t: tensor<4xf32>) {
  // expected-error@+1 {{body yields one element for each result}}
  %r = tile.map %t : tensor<4xf32> -> tensor<4xf32> {
  ^bb0(%x: f32):
    tile.yield
  }
  return
}

// -----

func.func @combine(%t: tensor<4xf32>) {
  // expected-error@+1 {{body takes the elements of the inputs, of the first part and then of the second}}
  %r = tile.reduce_with %t axis 0 : tensor<4xf32> -> f32 {
  ^bb0(%x: f32):
    tile.yield %x : f32
  }
  return
}

// -----

func.func @scan_with(%t: tensor<4xf32>) {
  // expected-error@+1 {{has one result for each input, of its type}}
  %r = tile.scan_with %t axis 0 : tensor<4xf32> -> tensor<8xf32> {
  ^bb0(%x: f32, %y: f32):
    tile.yield %x : f32
  }
  return
}

// -----

func.func @parallel(%n: i32) {
  // expected-error@+1 {{body takes an index of the type of each extent}}
  tile.parallel(%n : i32) {
  ^bb0(%i: i64):
    tile.yield
  }
  return
}

// -----

tile.kernel @threads(%n: i32) {
  tile.launch grid(%n : i32) threads(64) {
  ^bb0(%b: i32):
    // expected-error@+1 {{axes make 32 threads, but the launch has 64}}
    tile.threads [32] {
    ^bb0(%t: i32):
      tile.yield
    }
    tile.yield
  }
  tile.return
}

// -----

func.func @atomic_place(%f: !tile.buffer<4xi32, fragment>, %i: i32) {
  // expected-error@+1 {{acts on global and shared memory}}
  %r = tile.atomic <add> %i, %f[%i : i32] : i32, !tile.buffer<4xi32, fragment> -> i32
  return
}

// -----

func.func @atomic_tile(%g: !tile.global<4xi32>, %t: tensor<8xi32>) {
  // expected-error@+1 {{value and place differ in shape or element type}}
  tile.atomic_tile <add> %t, %g : tensor<8xi32>, !tile.global<4xi32>
  return
}

// -----

func.func @warp_width(%x: i32) {
  // expected-error@+1 {{has a width that is a power of two up to 32}}
  %r = tile.warp <sum> %x {width = 24 : i32} : i32
  return
}

// -----

func.func @warp_scan_width(%x: i32) {
  // expected-error@+1 {{has a width that is a power of two up to 32}}
  %r = tile.warp_scan <sum> %x {width = 64 : i32} : i32
  return
}

// -----

func.func @warp_scan_kind(%x: i32) {
  // expected-error@+1 {{is a sum, a product, a maximum or a minimum}}
  %r = tile.warp_scan <xor> %x : i32
  return
}

// -----

func.func @warp_kind(%x: i32) {
  // expected-error@+1 {{is a reduction; exchanges are `tile.shuffle`}}
  %r = tile.warp <shuffle> %x : i32
  return
}

// -----

func.func @print(%x: i32) {
  // expected-error@+1 {{has 1 values for 2 places in its text}}
  tile.print "{} {}", %x : i32
  return
}
