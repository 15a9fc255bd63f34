// Two threads must not write the halves of a byte: what would is refused.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-pack-elements))' -verify-diagnostics -split-input-file

!bytes = !tile.global<?xi8>
!packed = !tile.global<?xi4>
tgpu.kernel @end(%g: !packed, %n: i32, %size: i32, %v: tensor<32xi4>) attributes {threads = 32 : i32} {
  %b = tgpu.view %g extents(%n : i32) strides() : !packed -> !bytes
  %x = tile.bitcast_view %b : !bytes -> !packed
  %c0 = arith.constant 0 : i32
  %w = tile.slice %x[%c0] sizes [-9223372036854775808](%size : i32) : !packed, i32 -> !packed
  %part = tile.slice %w[%c0] sizes [32] : !packed, i32 -> !tile.global<32xi4>
  // expected-error@+2 {{writing to a view of packed elements that may end inside a byte is not supported yet on `this target` [not-supported]}}
  // expected-note@+1 {{give the view an even end}}
  tgpu.store %v, %part : tensor<32xi4>, !tile.global<32xi4>
  tgpu.return
}

// -----

!bytes = !tile.global<?x?xi8>
!packed = !tile.global<?x?xi4>
tgpu.kernel @column(%g: !packed, %n: i32, %j: i32, %v: tensor<8xi4>) attributes {threads = 32 : i32} {
  %b = tgpu.view %g extents(%n, %n : i32, i32) strides(%n : i32) : !packed -> !bytes
  %x = tile.bitcast_view %b : !bytes -> !packed
  %column = tile.slice %x[%j, %j] sizes [8, -1] : !packed, i32, i32 -> !tile.global<8xi4>
  // expected-error@+2 {{writing a single column of packed elements is not supported}}
  // expected-note@+1 {{two columns share their bytes: write pairs of them, from an even one on}}
  tgpu.store %v, %column : tensor<8xi4>, !tile.global<8xi4>
  tgpu.return
}

// -----

!bytes = !tile.global<?xi8>
!packed = !tile.global<?xi4>
tgpu.kernel @scattered(%g: !packed, %n: i32, %at: tensor<8xi32>, %v: tensor<8xi4>) attributes {threads = 32 : i32} {
  %b = tgpu.view %g extents(%n : i32) strides() : !packed -> !bytes
  %x = tile.bitcast_view %b : !bytes -> !packed
  // expected-error@+2 {{writing packed elements at computed indices or under a condition is not supported}}
  // expected-note@+1 {{write them to a fragment or a shared buffer, and copy that}}
  tgpu.scatter %v, %x[%at] : tensor<8xi4>, !packed[tensor<8xi32>]
  tgpu.return
}

// -----

!bytes = !tile.global<?xi8>
!packed = !tile.global<?xi4>
tgpu.kernel @element(%g: !packed, %n: i32, %v: i4) attributes {threads = 32 : i32} {
  %b = tgpu.view %g extents(%n : i32) strides() : !packed -> !bytes
  %x = tile.bitcast_view %b : !bytes -> !packed
  // expected-error@+1 {{writing part of a byte of packed elements}}
  tile.store %v, %x[%n : i32] : i4, !packed
  tgpu.return
}

// -----

tgpu.kernel @odd(%n: i32) attributes {threads = 32 : i32} {
  // expected-error@+1 {{a shared buffer of packed elements that ends inside a byte}}
  %s = tgpu.alloc_shared : !tgpu.smem<8x33xi4>
  tgpu.return
}

// -----

tgpu.kernel @part(%n: i32) attributes {threads = 32 : i32} {
  %s = tgpu.alloc_shared : !tgpu.smem<8x32xi4>
  // expected-error@+1 {{a part of a shared buffer that begins or ends inside a byte}}
  %p = tgpu.subview %s at [0, 3] : !tgpu.smem<8x32xi4> -> !tgpu.smem<8x16xi4>
  tgpu.return
}
