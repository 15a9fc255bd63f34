// What no GPU lowering takes yet is an error that names it and the target.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(convert-tile-to-tgpu))' -split-input-file -verify-diagnostics

tgpu.kernel @local(%x: tensor<4xf32>) attributes {threads = 64 : i32, target = "sm_80"} {
  %l = tile.alloc "l" : !tile.buffer<4xf32, local>
  // expected-error@+1 {{an assignment of a tile to a `local` buffer is not supported yet on `sm_80` [not-supported]}}
  tile.write %x, %l : tensor<4xf32>, !tile.buffer<4xf32, local>
  tgpu.return
}

// -----

tgpu.kernel @print(%x: tensor<256x256xf32>) attributes {threads = 64 : i32, target = "sm_80"} {
  // expected-error@+1 {{a `print` of 262152 bytes, more than 262144, is not supported yet on `sm_80`}}
  tile.print "{}", %x : tensor<256x256xf32> {place = 0 : i32}
  tgpu.return
}

// -----

tgpu.kernel @fragment_part(%n: i32) attributes {threads = 64 : i32, target = "sm_80"} {
  %f = tile.alloc "f" : !tile.buffer<64xf32, fragment>
  // expected-error@+1 {{this slice of a tile is not supported yet}}
  %p = tile.slice %f[%n] sizes [32] : !tile.buffer<64xf32, fragment>, i32 -> !tile.buffer<32xf32, fragment>
  tgpu.return
}

// -----

tgpu.kernel @moving_part(%n: i32) attributes {threads = 64 : i32, target = "sm_80"} {
  %s = tile.alloc "s" : !tile.buffer<64xf32, shared>
  // expected-error@+1 {{this slice of a tile is not supported yet}}
  %p = tile.slice %s[%n] sizes [32] : !tile.buffer<64xf32, shared>, i32 -> !tile.buffer<32xf32, shared>
  tgpu.return
}

// -----

tgpu.kernel @row() attributes {threads = 64 : i32, target = "sm_80"} {
  %c0 = arith.constant 0 : i32
  %s = tile.alloc "s" : !tile.buffer<64x8xf32, shared>
  // expected-error@+1 {{this slice of a tile is not supported yet}}
  %p = tile.slice %s[%c0, %c0] sizes [-1, 8] : !tile.buffer<64x8xf32, shared>, i32, i32 -> !tile.buffer<8xf32, shared>
  tgpu.return
}

// -----

tgpu.kernel @reshape() attributes {threads = 64 : i32, target = "sm_80"} {
  %f = tile.alloc "f" : !tile.buffer<64xf32, fragment>
  // expected-error@+1 {{`reshape` of such a buffer is not supported yet}}
  %r = tile.reshape %f : !tile.buffer<64xf32, fragment> -> !tile.buffer<8x8xf32, fragment>
  tgpu.return
}

// -----

tgpu.kernel @bitcast_write(%n: i32, %h: f16) attributes {threads = 64 : i32, target = "sm_80"} {
  %s = tile.alloc "s" : !tile.buffer<64xf32, shared>
  // expected-error@+1 {{writing to a `bitcast` of a buffer to smaller elements is not supported yet}}
  %r = tile.bitcast_view %s : !tile.buffer<64xf32, shared> -> !tile.buffer<128xf16, shared>
  tile.store %h, %r[%n : i32] : f16, !tile.buffer<128xf16, shared>
  tgpu.return
}

// -----

tgpu.kernel @bitcast_atomic(%n: i32) attributes {threads = 64 : i32, target = "sm_80"} {
  %s = tile.alloc "s" : !tile.buffer<64xf32, shared>
  // expected-error@+1 {{an atomic operation on a `bitcast` of a buffer is not supported yet}}
  %r = tile.bitcast_view %s : !tile.buffer<64xf32, shared> -> !tile.buffer<64xi32, shared>
  %old = tile.atomic <add> %n, %r[%n : i32] : i32, !tile.buffer<64xi32, shared> -> i32
  tgpu.return
}

// -----

tgpu.kernel @reshape_neighbours(%n: i32) attributes {threads = 64 : i32, target = "sm_80"} {
  %s = tile.alloc "s" : !tile.buffer<8x8xf32, shared>
  // expected-error@+1 {{neighbours in a `reshape` of a buffer is not supported yet}}
  %r = tile.reshape %s : !tile.buffer<8x8xf32, shared> -> !tile.buffer<64xf32, shared>
  tile.threads [64] {
  ^bb0(%t: i32):
    %v = tile.load %r[%t : i32] : !tile.buffer<64xf32, shared> -> vector<2xf32>
  }
  tgpu.return
}

// -----

tgpu.kernel @other_regions(%i: index, %n: i32) attributes {threads = 64 : i32, target = "sm_80"} {
  %v = tile.alloc "v" : !tile.buffer<i32, uniform>
  // expected-error@+1 {{`scf.index_switch` of a tile is not supported yet}}
  scf.index_switch %i
  case 0 {
    tile.store %n, %v[] : i32, !tile.buffer<i32, uniform>
    scf.yield
  }
  default {
    scf.yield
  }
  tgpu.return
}

// -----

tgpu.kernel @reshape_part(%g: !tile.global<8x64xf16>) attributes {threads = 64 : i32, target = "sm_80"} {
  %c0 = arith.constant 0 : i32
  %t = tile.slice %g[%c0, %c0] sizes [4, 64] : !tile.global<8x64xf16>, i32, i32 -> !tile.global<4x64xf16>
  // expected-error@+1 {{`reshape` of a part of a tensor is not supported yet}}
  %r = tile.reshape %t : !tile.global<4x64xf16> -> !tile.global<256xf16>
  tgpu.return
}

// -----

// Of elements that one thread names, and where their number is not constant.
tgpu.kernel @gather_part(%g: !tile.global<8x64xf16>, %at: tensor<16xi32>, %i: i32) attributes {threads = 64 : i32, target = "sm_80"} {
  %c0 = arith.constant 0 : i32
  %rows = tile.slice %g[%at, %c0] sizes [16, 64] : !tile.global<8x64xf16>, tensor<16xi32>, i32 -> !tile.global<16x64xf16>
  %columns = tile.slice %rows[%c0, %i] sizes [16, 8] : !tile.global<16x64xf16>, i32, i32 -> !tile.global<16x8xf16>
  // expected-error@+1 {{part of a gathered dimension is not supported yet}}
  %some = tile.slice %columns[%i, %c0] sizes [-9223372036854775808, 8] (%i : i32) : !tile.global<16x8xf16>, i32, i32 -> !tile.global<?x8xf16>
  %x = tile.load %some[%i, %i : i32, i32] : !tile.global<?x8xf16> -> f16
  tgpu.return
}

// -----

tgpu.kernel @bitcast_part(%g: !tile.global<64xf16>, %n: i32) attributes {threads = 64 : i32, target = "sm_80"} {
  %c64 = arith.constant 64 : i32
  %v = tgpu.view %g extents(%c64 : i32) strides() : !tile.global<64xf16> -> !tile.global<64xf16>
  %p = tile.slice %v[%n] sizes [8] : !tile.global<64xf16>, i32 -> !tile.global<8xf16>
  // expected-error@+1 {{a `bitcast` of part of a tensor to elements of this size is not supported yet}}
  %r = tile.bitcast_view %p : !tile.global<8xf16> -> !tile.global<4xi32>
  tgpu.return
}

// -----

tgpu.kernel @bitcast_align(%g: !tile.global<64xf16> {tgpu.align = 2 : i64}, %n: i32) attributes {threads = 64 : i32, target = "sm_80"} {
  %c64 = arith.constant 64 : i32
  %v = tgpu.view %g extents(%c64 : i32) strides() : !tile.global<64xf16> -> !tile.global<64xf16>
  // expected-error@+1 {{a `bitcast` to elements that are larger than the tensor's `align` is not supported yet}}
  %r = tile.bitcast_view %v : !tile.global<64xf16> -> !tile.global<32xi32>
  tgpu.return
}
