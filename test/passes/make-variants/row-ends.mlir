// Vectors want rows that end at multiples of 16 bytes, too: where strides are arguments of their own (`strided`) the last extent
// is assumed to be one, unless TMA moves the tile, which cuts a row anywhere.
// RUN: tile-opt %s --tgpu-make-variants -split-input-file | FileCheck %s

// CHECK-LABEL: tgpu.kernel @by_tma_aligned(
// CHECK-SAME: guard = [#tgpu.divisible<3, 8>]
tgpu.kernel @by_tma(%a: !tile.global<?x?xf16>, %m: i32, %n: i32, %pitch: i64) attributes {target = "sm_90a", threads = 128 : i32, launch = "k"} {
  %v = tgpu.view %a extents(%m, %n : i32, i32) strides(%pitch : i64) : !tile.global<?x?xf16> -> !tile.global<?x?xf16>
  %s = tgpu.alloc_shared "s" : !tgpu.smem<64x64xf16>
  %t = tile.slice %v[%m, %n] sizes [64, 64] : !tile.global<?x?xf16>, i32, i32 -> !tile.global<64x64xf16>
  tgpu.copy %t to %s : !tile.global<64x64xf16>, !tgpu.smem<64x64xf16>
  tgpu.return
}

// -----

// CHECK-LABEL: tgpu.kernel @by_cp_async_aligned(
// CHECK-SAME: guard = [#tgpu.divisible<3, 8>, #tgpu.divisible<2, 8>]
tgpu.kernel @by_cp_async(%a: !tile.global<?x?xf16>, %m: i32, %n: i32, %pitch: i64) attributes {target = "sm_80", threads = 128 : i32, launch = "k"} {
  %v = tgpu.view %a extents(%m, %n : i32, i32) strides(%pitch : i64) : !tile.global<?x?xf16> -> !tile.global<?x?xf16>
  %s = tgpu.alloc_shared "s" : !tgpu.smem<64x64xf16>
  %t = tile.slice %v[%m, %n] sizes [64, 64] : !tile.global<?x?xf16>, i32, i32 -> !tile.global<64x64xf16>
  tgpu.copy %t to %s : !tile.global<64x64xf16>, !tgpu.smem<64x64xf16>
  tgpu.return
}

// -----

// To and from registers vectors are the way on every target, unless a matrix is stored.
// CHECK-LABEL: tgpu.kernel @registers_aligned(
// CHECK-SAME: guard = [#tgpu.divisible<4, 4>, #tgpu.divisible<3, 4>, #tgpu.divisible<6, 4>]
tgpu.kernel @registers(%a: !tile.global<?x?xf32>, %b: !tile.global<?x?xf32>, %m: i32, %n: i32, %pitch: i64, %k: i32, %q: i64) attributes {target = "sm_90a", threads = 128 : i32, launch = "k"} {
  %v = tgpu.view %a extents(%m, %n : i32, i32) strides(%pitch : i64) : !tile.global<?x?xf32> -> !tile.global<?x?xf32>
  %t = tile.slice %v[%m, %n] sizes [64, 64] : !tile.global<?x?xf32>, i32, i32 -> !tile.global<64x64xf32>
  %x = tgpu.load %t : !tile.global<64x64xf32> -> tensor<64x64xf32>
  %w = tgpu.view %b extents(%m, %k : i32, i32) strides(%q : i64) : !tile.global<?x?xf32> -> !tile.global<?x?xf32>
  %u = tile.slice %w[%m, %n] sizes [64, 64] : !tile.global<?x?xf32>, i32, i32 -> !tile.global<64x64xf32>
  tgpu.store %x, %u : tensor<64x64xf32>, !tile.global<64x64xf32>
  tgpu.return
}

// -----

// A tensor of one dimension has no stride; its extent counts ...
// CHECK-LABEL: tgpu.kernel @vector_aligned(
// CHECK-SAME: guard = [#tgpu.divisible<1, 8>]
tgpu.kernel @vector(%a: !tile.global<?xf16>, %m: i32) attributes {target = "sm_90a", threads = 128 : i32, launch = "k"} {
  %v = tgpu.view %a extents(%m : i32) strides() : !tile.global<?xf16> -> !tile.global<?xf16>
  %t = tile.slice %v[%m] sizes [64] : !tile.global<?xf16>, i32 -> !tile.global<64xf16>
  %x = tgpu.load %t : !tile.global<64xf16> -> tensor<64xf16>
  tgpu.return
}

// -----

// ... but not that of factors for the rows of a matrix, nor the stride of what is stored for each: less than a sixteenth of it.
// CHECK-LABEL: tgpu.kernel @beside_aligned(
// CHECK-SAME: guard = [#tgpu.divisible<4, 8>]
tgpu.kernel @beside(%a: !tile.global<?x?xf16>, %b: !tile.global<?xf16>, %c: !tile.global<?x?xf32>, %m: i32, %n: i32) attributes {target = "sm_80", threads = 128 : i32, launch = "k"} {
  %v = tgpu.view %a extents(%m, %n : i32, i32) strides(%n : i32) : !tile.global<?x?xf16> -> !tile.global<?x?xf16>
  %t = tile.slice %v[%m, %n] sizes [64, 64] : !tile.global<?x?xf16>, i32, i32 -> !tile.global<64x64xf16>
  %x = tgpu.load %t : !tile.global<64x64xf16> -> tensor<64x64xf16>
  %w = tgpu.view %b extents(%m : i32) strides() : !tile.global<?xf16> -> !tile.global<?xf16>
  %u = tile.slice %w[%m] sizes [64] : !tile.global<?xf16>, i32 -> !tile.global<64xf16>
  %y = tgpu.load %u : !tile.global<64xf16> -> tensor<64xf16>
  %z = tgpu.view %c extents(%m, %m : i32, i32) strides(%m : i32) : !tile.global<?x?xf32> -> !tile.global<?x?xf32>
  %q = tile.slice %z[%n, %m] sizes [-1, 64] : !tile.global<?x?xf32>, i32, i32 -> !tile.global<64xf32>
  %f = tile.convert %y : tensor<64xf16> to tensor<64xf32>
  tgpu.store %f, %q : tensor<64xf32>, !tile.global<64xf32>
  tgpu.return
}

// -----

// A slice of a view with bounds of its own begins at a sum; what is asked of its rows is the same.
// CHECK-LABEL: tgpu.kernel @part_aligned(
// CHECK-SAME: guard = [#tgpu.divisible<2, 8>]
tgpu.kernel @part(%a: !tile.global<?x?xf16>, %m: i32, %n: i32, %first: i32, %rows: i32) attributes {target = "sm_90a", threads = 128 : i32, launch = "k"} {
  %c0 = arith.constant 0 : i32
  %v = tgpu.view %a extents(%m, %n : i32, i32) strides(%n : i32) : !tile.global<?x?xf16> -> !tile.global<?x?xf16>
  %p = tile.slice %v[%first, %c0] sizes [-9223372036854775808, -9223372036854775808](%rows, %n : i32, i32) : !tile.global<?x?xf16>, i32, i32 -> !tile.global<?x?xf16>
  %s = tgpu.alloc_shared "s" : !tgpu.smem<64x64xf16>
  %t = tile.slice %p[%m, %n] sizes [64, 64] : !tile.global<?x?xf16>, i32, i32 -> !tile.global<64x64xf16>
  tgpu.copy %t to %s : !tile.global<64x64xf16>, !tgpu.smem<64x64xf16>
  tgpu.return
}
