// What the verifiers refuse of clusters: groups of blocks that there are not, slots that nobody gives back.
// RUN: tile-opt %s -split-input-file -verify-diagnostics

tgpu.kernel @no_cluster() attributes {threads = 128 : i32} {
  // expected-error @+1 {{is `across` dimensions of its kernel's cluster, ascending, each of several blocks}}
  %c = tgpu.channel {producers = 1 : i32, consumers = 4 : i32, across = array<i32: 0>} : !tgpu.channel<2>
  tgpu.return
}

// -----

tgpu.kernel @descending() attributes {threads = 128 : i32, cluster = array<i32: 2, 2>} {
  // expected-error @+1 {{is `across` dimensions of its kernel's cluster, ascending}}
  %c = tgpu.channel {producers = 1 : i32, consumers = 4 : i32, across = array<i32: 1, 0>} : !tgpu.channel<2>
  tgpu.return
}

// -----

tgpu.kernel @alone() attributes {threads = 128 : i32, cluster = array<i32: 2, 1>} {
  // expected-error @+1 {{each of several blocks}}
  %c = tgpu.channel {producers = 1 : i32, consumers = 4 : i32, across = array<i32: 1>} : !tgpu.channel<2>
  tgpu.return
}

// -----

tgpu.kernel @never_free() attributes {threads = 128 : i32, cluster = array<i32: 2>} {
  // expected-error @+1 {{has slots that other blocks fill and nobody gives back}}
  %c = tgpu.channel {producers = 1 : i32, consumers = 0 : i32, across = array<i32: 0>} : !tgpu.channel<2>
  tgpu.return
}

// -----

tgpu.kernel @more(%g: !tile.global<64x64xf16>, %p: i32) attributes {threads = 128 : i32, cluster = array<i32: 2, 2>} {
  %s = tgpu.alloc_shared : !tgpu.smem<64x64xf16>
  %c = tgpu.channel {producers = 1 : i32, consumers = 4 : i32, across = array<i32: 0>} : !tgpu.channel<1>
  // expected-error @+1 {{is `across` more dimensions than its channel}}
  tgpu.tma_load %g to %s on %c[%p] {map = 0 : i32, across = array<i32: 0, 1>} : !tile.global<64x64xf16>, !tgpu.smem<64x64xf16>, !tgpu.channel<1>
  tgpu.return
}

// -----

tgpu.kernel @inverses(%n: i32, %i: i64) attributes {threads = 128 : i32} {
  %id = tgpu.block_id
  // expected-error @+1 {{has one inverse for each divisor, and none with clusters}}
  %x, %y = tgpu.grid_point %id in (%n, %n) inverses(%i, %i) : i32, i32
  tgpu.return
}

// -----

tgpu.kernel @inverses_of_boxes(%n: i32, %i: i64) attributes {threads = 128 : i32, cluster = array<i32: 2>} {
  %id = tgpu.cluster_id
  // expected-error @+1 {{has one inverse for each divisor, and none with clusters}}
  %x, %y = tgpu.grid_point %id in (%n, %n) inverses(%i) {cluster = array<i32: 2>} : i32, i32
  tgpu.return
}

// -----

tgpu.kernel @other(%n: i32) attributes {threads = 128 : i32, cluster = array<i32: 2>} {
  %id = tgpu.cluster_id
  // expected-error @+1 {{has another cluster than its kernel}}
  %x = tgpu.grid_point %id in (%n) {cluster = array<i32: 4>} : i32
  tgpu.return
}
