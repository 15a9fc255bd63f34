// Facts between passes are declared: an unknown name, a value of another type or another holder does not verify.
// RUN: tile-opt %s -split-input-file -verify-diagnostics

tgpu.kernel @unknown(%x: i32) attributes {threads = 32 : i32} {
  // expected-error@+1 {{has an attribute `tgpu.in_bound` that its dialect does not declare here}}
  %0 = arith.addi %x, %x {tgpu.in_bound = array<i1: true>} : i32
  tgpu.return
}

// -----

// expected-error@+1 {{has an attribute `tgpu.may_alias` that its dialect does not declare here}}
tgpu.kernel @argument(%x: !tile.global<4xf32> {tgpu.may_alias}) attributes {threads = 32 : i32} {
  tgpu.return
}

// -----

// expected-error@+1 {{`tgpu.divisible` is a divisor, i64 >= 1, not 0 : i64}}
tgpu.kernel @zero(%x: i32 {tgpu.divisible = 0 : i64}) attributes {threads = 32 : i32} {
  tgpu.return
}

// -----

// expected-error@+1 {{`tgpu.divisible` is a divisor, i64 >= 1, not 8 : i32}}
tgpu.kernel @narrow(%x: i32 {tgpu.divisible = 8 : i32}) attributes {threads = 32 : i32} {
  tgpu.return
}

// -----

// expected-error@+1 {{`tgpu.align` is bytes, i64, a power of two, not 24 : i64}}
tgpu.kernel @align(%x: !tile.global<4xf32> {tgpu.align = 24 : i64}) attributes {threads = 32 : i32} {
  tgpu.return
}

// -----

tgpu.kernel @holder(%x: i32) attributes {threads = 32 : i32} {
  // expected-error@+1 {{cannot hold `tgpu.pipeline`}}
  %0 = arith.addi %x, %x {tgpu.pipeline = #tgpu.pipeline<tma, stages = 2>} : i32
  tgpu.return
}

// -----

tgpu.kernel @outside(%x: i32) attributes {threads = 32 : i32} {
  // expected-error@+1 {{cannot hold `tgpu.schedule`}}
  tgpu.wgmma_fence {tgpu.schedule = #tgpu.stage<0, 0>}
  tgpu.return
}

// -----

tgpu.kernel @stages(%x: i32) attributes {threads = 32 : i32} {
  scf.for %i = %x to %x step %x : i32 {
  // expected-error@+1 {{a pipeline has at least one stage}}
  } {tgpu.pipeline = #tgpu.pipeline<tma, stages = 0>}
  tgpu.return
}

// -----

tgpu.kernel @vote(%x: f32) attributes {threads = 32 : i32} {
  // expected-error@+1 {{cannot hold `tgpu.under_vote`}}
  %0 = arith.mulf %x, %x {tgpu.under_vote = true} : f32
  tgpu.return
}

// -----

tgpu.kernel @no_vote() attributes {threads = 32 : i32} {
  %c = arith.constant dense<1.0> : tensor<4xf32>
  // expected-error@+1 {{`tgpu.under_vote` is true or false, not 1 : i32}}
  %0 = arith.mulf %c, %c {tgpu.under_vote = 1 : i32} : tensor<4xf32>
  tgpu.return
}
