// A product that misses what `@require` asks for, or that nothing can compute, is an error.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-select-mma))' -verify-diagnostics -split-input-file

tgpu.kernel @wgmma(%a: !tgpu.smem<64x32xf16>, %b: tensor<32x64xf16>, %c: tensor<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  // expected-error@+1 {{`wgmma` is required, but not achieved: wgmma reads B from shared memory, here it is a fragment [require]}}
  %d = tgpu.dot %a, %b, %c {require = ["wgmma"]} : !tgpu.smem<64x32xf16>, tensor<32x64xf16>, tensor<64x64xf32> -> tensor<64x64xf32>
  tgpu.return
}

// -----

tgpu.kernel @wgmma_sm80(%a: !tgpu.smem<64x32xf16>, %b: !tgpu.smem<32x64xf16>, %c: tensor<64x64xf32>) attributes {threads = 128 : i32, target = "sm_80"} {
  // expected-error@+1 {{`wgmma` is required, but not achieved: `sm_80` has no wgmma [require]}}
  %d = tgpu.dot %a, %b, %c {require = ["wgmma"]} : !tgpu.smem<64x32xf16>, !tgpu.smem<32x64xf16>, tensor<64x64xf32> -> tensor<64x64xf32>
  tgpu.return
}

// -----

tgpu.kernel @of_launch(%a: !tgpu.smem<64x32xf16>, %b: tensor<32x64xf16>, %c: tensor<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a", require = ["wgmma"]} {
  // expected-error@+1 {{`wgmma` is required, but not achieved}}
  %d = tgpu.dot %a, %b, %c : !tgpu.smem<64x32xf16>, tensor<32x64xf16>, tensor<64x64xf32> -> tensor<64x64xf32>
  tgpu.return
}

// -----

tgpu.kernel @mma(%a: !tgpu.smem<64x32xf32>, %b: !tgpu.smem<32x64xf32>, %c: tensor<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  // expected-error@+1 {{`mma` is required, but not achieved: tensor cores do not multiply these types [require]}}
  %d = tgpu.dot %a, %b, %c {require = ["mma"]} : !tgpu.smem<64x32xf32>, !tgpu.smem<32x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  tgpu.return
}

// -----

tgpu.kernel @groups(%a: !tgpu.smem<64x16xf16>, %b: !tgpu.smem<16x64xf16>, %c: tensor<64x64xf32>) attributes {threads = 256 : i32, target = "sm_90a"} {
  // expected-error@+1 {{neither rows nor columns divide among 2 warpgroups [require]}}
  %d = tgpu.dot %a, %b, %c {policy = #tile.policy<full_row>, require = ["wgmma"]} : !tgpu.smem<64x16xf16>, !tgpu.smem<16x64xf16>, tensor<64x64xf32> -> tensor<64x64xf32>
  tgpu.return
}

// -----

// expected-error@+1 {{kernel has no known target: set attribute `target`}}
tgpu.kernel @no_target() attributes {threads = 128 : i32} {
  tgpu.return
}

// -----

// expected-error@+1 {{kernel has no known target}}
tgpu.kernel @unknown_target() attributes {threads = 128 : i32, target = "sm_1"} {
  tgpu.return
}
