// Copies that miss what `@require` asks for are errors.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-select-copies))' -verify-diagnostics -split-input-file

tgpu.kernel @tma(%a: !tile.global<?x?xf16> {tgpu.align = 16 : i64}, %m: i32, %n: i32 {tgpu.divisible = 4 : i64}, %i: i32) attributes {threads = 128 : i32, target = "sm_90a"} {
  %v = tgpu.view %a extents(%m, %n : i32, i32) strides(%n : i32) : !tile.global<?x?xf16> -> !tile.global<?x?xf16>
  %s = tgpu.alloc_shared "s" : !tgpu.smem<64x32xf16>
  %o = arith.constant 0 : i32
  %t = tile.slice %v[%i, %o] sizes [64, 32] : !tile.global<?x?xf16>, i32, i32 -> !tile.global<64x32xf16>
  // expected-error@+1 {{`tma` is required, but not achieved: rows of the tensor are not known to start at multiples of 16 bytes [require]}}
  tgpu.copy %t to %s {require = ["tma"]} : !tile.global<64x32xf16>, !tgpu.smem<64x32xf16>
  tgpu.return
}

// -----

tgpu.kernel @tma_sm80(%a: !tile.global<?x?xf16> {tgpu.align = 16 : i64}, %m: i32, %n: i32 {tgpu.divisible = 8 : i64}, %i: i32) attributes {threads = 128 : i32, target = "sm_80"} {
  %v = tgpu.view %a extents(%m, %n : i32, i32) strides(%n : i32) : !tile.global<?x?xf16> -> !tile.global<?x?xf16>
  %s = tgpu.alloc_shared "s" : !tgpu.smem<64x32xf16>
  %o = arith.constant 0 : i32
  %t = tile.slice %v[%i, %o] sizes [64, 32] : !tile.global<?x?xf16>, i32, i32 -> !tile.global<64x32xf16>
  // expected-error@+1 {{`tma` is required, but not achieved: `sm_80` has no TMA [require]}}
  tgpu.copy %t to %s {require = ["tma"]} : !tile.global<64x32xf16>, !tgpu.smem<64x32xf16>
  tgpu.return
}

// -----

tgpu.kernel @of_launch(%a: !tile.global<?x?xf16> {tgpu.align = 16 : i64}, %m: i32, %n: i32 {tgpu.divisible = 4 : i64}, %i: i32) attributes {threads = 128 : i32, target = "sm_90a", require = ["tma"]} {
  %v = tgpu.view %a extents(%m, %n : i32, i32) strides(%n : i32) : !tile.global<?x?xf16> -> !tile.global<?x?xf16>
  %s = tgpu.alloc_shared "s" : !tgpu.smem<64x32xf16>
  %o = arith.constant 0 : i32
  %t = tile.slice %v[%i, %o] sizes [64, 32] : !tile.global<?x?xf16>, i32, i32 -> !tile.global<64x32xf16>
  // expected-error@+1 {{`tma` is required, but not achieved}}
  tgpu.copy %t to %s : !tile.global<64x32xf16>, !tgpu.smem<64x32xf16>
  tgpu.return
}

// -----

tgpu.kernel @cp_async(%a: !tile.global<?x?xf16> {tgpu.align = 16 : i64}, %m: i32, %n: i32 {tgpu.divisible = 1 : i64}, %i: i32) attributes {threads = 128 : i32, target = "sm_90a"} {
  %v = tgpu.view %a extents(%m, %n : i32, i32) strides(%n : i32) : !tile.global<?x?xf16> -> !tile.global<?x?xf16>
  %s = tgpu.alloc_shared "s" : !tgpu.smem<64x32xf16>
  %o = arith.constant 0 : i32
  %t = tile.slice %v[%i, %o] sizes [64, 32] : !tile.global<?x?xf16>, i32, i32 -> !tile.global<64x32xf16>
  // expected-error@+1 {{`cp_async` is required, but not achieved: rows are not known to start and end at multiples of 4 bytes [require]}}
  tgpu.copy %t to %s {require = ["cp_async"]} : !tile.global<64x32xf16>, !tgpu.smem<64x32xf16>
  tgpu.return
}

// -----

tgpu.kernel @store(%a: !tile.global<64xf16> {tgpu.align = 16 : i64}, %f: tensor<64xf16>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c64 = arith.constant 64 : i32
  %v = tgpu.view %a extents(%c64 : i32) strides() : !tile.global<64xf16> -> !tile.global<64xf16>
  // expected-error@+1 {{`tma` is required, but not achieved: the tile is not a matrix [require]}}
  tgpu.store %f, %v {require = ["tma"]} : tensor<64xf16>, !tile.global<64xf16>
  tgpu.return
}
