// @require(no_exchange): a conversion that moves data between threads is an error where it is needed.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-infer-layouts))' -verify-diagnostics -split-input-file

!a = !tgpu.smem<64x32xf16>
!b = !tgpu.smem<32x64xf16>
!acc = tensor<64x64xf32>
tgpu.kernel @statement(%a: !a, %b: !b, %g: !tile.global<64x64xf32>) attributes {threads = 128 : i32} {
  %z = arith.constant dense<0.0> : !acc
  %d = tgpu.dot %a, %b, %z {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !a, !b, !acc -> !acc
  // expected-error@+1 {{`no_exchange` is required, but not achieved: a fragment's producer and this use need different layouts: the conversion goes through}}
  %e = tgpu.dot %a, %b, %d {mma = #tgpu.mma<mma_sync, 16, 8, 16, warps = 2, 2>, require = ["no_exchange"]} : !a, !b, !acc -> !acc
  tgpu.store %e, %g {bytes = 16 : i32} : !acc, !tile.global<64x64xf32>
  tgpu.return
}

// -----

!a = !tgpu.smem<64x32xf16>
!b = !tgpu.smem<32x64xf16>
!acc = tensor<64x64xf32>
tgpu.kernel @launch(%a: !a, %b: !b, %g: !tile.global<64x64xf32>) attributes {threads = 128 : i32, require = ["no_exchange"]} {
  %z = arith.constant dense<0.0> : !acc
  %d = tgpu.dot %a, %b, %z {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !a, !b, !acc -> !acc
  // expected-error@+1 {{`no_exchange` is required, but not achieved}}
  %e = tgpu.dot %a, %b, %d {mma = #tgpu.mma<mma_sync, 16, 8, 16, warps = 2, 2>} : !a, !b, !acc -> !acc
  tgpu.store %e, %g {bytes = 16 : i32} : !acc, !tile.global<64x64xf32>
  tgpu.return
}

// -----

// A product's sum stays where the next product of its kind wants it.
!a = !tgpu.smem<64x32xf16>
!b = !tgpu.smem<32x64xf16>
!acc = tensor<64x64xf32>
tgpu.kernel @achieved(%a: !a, %b: !b, %g: !tile.global<64x64xf32>) attributes {threads = 128 : i32, require = ["no_exchange"]} {
  %z = arith.constant dense<0.0> : !acc
  %d = tgpu.dot %a, %b, %z {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !a, !b, !acc -> !acc
  %e = tgpu.dot %a, %b, %d {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !a, !b, !acc -> !acc
  tgpu.store %e, %g {bytes = 16 : i32} : !acc, !tile.global<64x64xf32>
  tgpu.return
}
