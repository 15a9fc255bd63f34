// What the verifiers of host code, launches and storage refuse.
// RUN: tile-opt %s -split-input-file -verify-diagnostics

// expected-error@+1 {{takes views of global memory and scalars}}
tile.kernel @argument(%t: tensor<4xf32>) {
  tile.return
}

// -----

tile.kernel @dim(%x: !tile.global<?xf32>) {
  // expected-error@+1 {{axis 1 is out of range for rank 1}}
  %m = tile.dim "M" from %x[1] : !tile.global<?xf32> -> i32
  tile.return
}

// -----

tile.kernel @workspace() {
  // expected-error@+1 {{has 0 extents for 1 dynamic dimensions}}
  %w = tile.workspace "w", "f32" : !tile.global<?xf32>
  tile.return
}

// -----

tile.kernel @threads(%n: i32) {
  // expected-error@+1 {{has a multiple of 32 threads, up to 1024}}
  tile.launch grid(%n : i32) threads(48) {
  ^bb0(%b: i32):
    tile.yield
  }
  tile.return
}

// -----

tile.kernel @indices(%n: i32) {
  // expected-error@+1 {{has one i32 body argument for each grid extent}}
  tile.launch grid(%n : i32) threads(32) {
  ^bb0(%b: i32, %c: i32):
    tile.yield
  }
  tile.return
}

// -----

tile.kernel @persistent(%n: i32) {
  // expected-error@+1 {{is persistent `static` or `dynamic`}}
  tile.launch grid(%n : i32) threads(32) attributes {persistent = "yes"} {
  ^bb0(%b: i32):
    tile.yield
  }
  tile.return
}

// -----

func.func @layout() {
  // expected-error@+1 {{has a layout only in shared memory}}
  %f = tile.alloc "f" {layout = "row_major"} : !tile.buffer<8xf32, fragment>
  return
}

// -----

func.func @scalar_fragment() {
  // expected-error@+1 {{in this scope has a rank of at least 1}}
  %f = tile.alloc "f" : !tile.buffer<f32, fragment>
  return
}

// -----

func.func @offsets(%g: !tile.global<8x8xf32>, %i: i32) {
  // expected-error@+1 {{has one offset and one size for each dimension of its source}}
  %s = tile.slice %g[%i] sizes [4] : !tile.global<8x8xf32>, i32 -> !tile.global<4xf32>
  return
}

// -----

func.func @too_much(%s: !tile.buffer<8xf32, shared>, %i: i32) {
  // expected-error@+1 {{takes 16 of 8 elements}}
  %p = tile.slice %s[%i] sizes [16] : !tile.buffer<8xf32, shared>, i32 -> !tile.buffer<16xf32, shared>
  return
}

// -----

func.func @gather(%s: !tile.buffer<8xf32, shared>, %i: tensor<4xi32>) {
  // expected-error@+1 {{gathers from global memory only}}
  %p = tile.slice %s[%i] sizes [4] : !tile.buffer<8xf32, shared>, tensor<4xi32> -> !tile.buffer<4xf32, shared>
  return
}

// -----

func.func @gather_length(%s: !tile.global<8xf32>, %i: tensor<4xi32>) {
  // expected-error@+1 {{gathers as many indices as its index tile has}}
  %p = tile.slice %s[%i] sizes [5] : !tile.global<8xf32>, tensor<4xi32> -> !tile.global<5xf32>
  return
}

// -----

func.func @other_memory(%s: !tile.buffer<8xf32, shared>, %i: i32) {
  // expected-error@+1 {{source and result lie in different memory}}
  %p = tile.slice %s[%i] sizes [4] : !tile.buffer<8xf32, shared>, i32 -> !tile.buffer<4xf32, fragment>
  return
}

// -----

func.func @reshape(%g: !tile.global<8x8xf32>) {
  // expected-error@+1 {{keeps the number of elements}}
  %r = tile.reshape %g : !tile.global<8x8xf32> -> !tile.global<60xf32>
  return
}

// -----

func.func @bitcast(%g: !tile.global<8x8xf32>) {
  // expected-error@+1 {{keeps the number of bytes}}
  %r = tile.bitcast_view %g : !tile.global<8x8xf32> -> !tile.global<8x8xf16>
  return
}

// -----

func.func @read(%s: !tile.buffer<8xf32, shared>) {
  // expected-error@+1 {{value and buffer differ in shape}}
  %t = tile.read %s : !tile.buffer<8xf32, shared> -> tensor<4xf32>
  return
}

// -----

func.func @write(%s: !tile.buffer<8xf32, shared>, %t: tensor<8xf16>) {
  // expected-error@+1 {{value is a scalar or tile of the element type}}
  tile.write %t, %s : tensor<8xf16>, !tile.buffer<8xf32, shared>
  return
}

// -----

func.func @load(%s: !tile.buffer<8x8xf32, shared>, %i: i32) {
  // expected-error@+1 {{has 1 indices for rank 2}}
  %t = tile.load %s[%i : i32] : !tile.buffer<8x8xf32, shared> -> f32
  return
}

// -----

tile.kernel @limit_0(%n: i32) {
  // expected-error@+1 {{has room for 1 to 32 blocks at least}}
  tile.launch grid(%n : i32) threads(32) attributes {min_blocks = 0 : i32} {
  ^bb0(%b: i32):
    tile.yield
  }
  tile.return
}

// -----

tile.kernel @limit_1(%n: i32) {
  // expected-error@+1 {{has 24 to 255 registers in a thread at most}}
  tile.launch grid(%n : i32) threads(32) attributes {max_registers = 999 : i32} {
  ^bb0(%b: i32):
    tile.yield
  }
  tile.return
}

// -----

tile.kernel @limit_2(%n: i32) {
  %group = arith.constant 0 : i32
  // expected-error@+1 {{takes tiles in groups of at least 1}}
  tile.launch grid(%n : i32) threads(32) rasterize(%group) {
  ^bb0(%b: i32):
    tile.yield
  }
  tile.return
}

// -----

tile.kernel @limit_3(%n: i32) {
  %group = arith.constant -8 : i32
  // expected-error@+1 {{takes tiles in groups of at least 1}}
  tile.launch grid(%n : i32) threads(32) rasterize(%group) {
  ^bb0(%b: i32):
    tile.yield
  }
  tile.return
}

// -----

tile.kernel @limit_4(%n: i32) {
  // expected-error@+1 {{has a cluster of 1 to 8 blocks}}
  tile.launch grid(%n : i32) threads(32) attributes {cluster = array<i32: 0, 0>} {
  ^bb0(%b: i32):
    tile.yield
  }
  tile.return
}

// -----

tile.kernel @limit_5(%n: i32) {
  // expected-error@+1 {{has a cluster of 1 to 8 blocks}}
  tile.launch grid(%n : i32) threads(32) attributes {cluster = array<i32: 4, 4>} {
  ^bb0(%b: i32):
    tile.yield
  }
  tile.return
}

// -----

tile.kernel @limit_6(%n: i32) {
  // expected-error@+1 {{attribute 'require' failed to satisfy constraint: string array attribute}}
  tile.launch grid(%n : i32) threads(32) attributes {require = [1]} {
  ^bb0(%b: i32):
    tile.yield
  }
  tile.return
}
