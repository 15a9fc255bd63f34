// Which tiles have a say in what `aligned` assumes.
// RUN: tile-opt %s --tgpu-make-variants -split-input-file | FileCheck %s

// The stride of what is stored for each row of a matrix has no say: less than a sixteenth of it.
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
