// Unknown row strides give two variants: `aligned`, which assumes multiples of 16 bytes, first, then `any`.
// RUN: tile-opt %s --tgpu-make-variants -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: tgpu.kernel @k_aligned(
// CHECK-SAME: %{{[a-z0-9]+}}: i32, %{{[a-z0-9]+}}: i32 {tgpu.divisible = 8 : i64})
// CHECK-SAME: guard = [#tgpu.divisible<2, 8>]
// CHECK-SAME: variant = "aligned"
// CHECK: tgpu.copy
// CHECK-LABEL: tgpu.kernel @k_any(
// CHECK-NOT: tgpu.divisible
// CHECK-SAME: variant = "any"
// CHECK: tgpu.copy
// expected-remark@+1 {{two variants: one for rows that start at multiples of 16 bytes, one for any shape}}
tgpu.kernel @k(%a: !tile.global<?x?xf16>, %m: i32, %n: i32) attributes {threads = 128 : i32, launch = "k"} {
  %v = tgpu.view %a extents(%m, %n : i32, i32) strides(%n : i32) : !tile.global<?x?xf16> -> !tile.global<?x?xf16>
  %s = tgpu.alloc_shared "s" : !tgpu.smem<64x64xf16>
  %t = tile.slice %v[%m, %n] sizes [64, 64] : !tile.global<?x?xf16>, i32, i32 -> !tile.global<64x64xf16>
  tgpu.copy %t to %s : !tile.global<64x64xf16>, !tgpu.smem<64x64xf16>
  tgpu.return
}

// -----

// Loads and stores count too; the divisor is 16 bytes over the size of an element, joined with what is known already.
// Of a stride that is a product the last factor that can be assumed is.
// CHECK-LABEL: tgpu.kernel @products_aligned(
// CHECK-SAME: %[[M:[a-z0-9]+]]: i32, %[[N:[a-z0-9]+]]: i32 {tgpu.divisible = 12 : i64}, %[[S:[a-z0-9]+]]: i64 {tgpu.divisible = 16 : i64})
// CHECK-SAME: guard = [#tgpu.divisible<3, 4>, #tgpu.divisible<4, 16>]
// CHECK-LABEL: tgpu.kernel @products_any(
// CHECK-SAME: %{{[a-z0-9]+}}: i32, %{{[a-z0-9]+}}: i32 {tgpu.divisible = 6 : i64}, %{{[a-z0-9]+}}: i64)
// expected-remark@+1 {{two variants}}
tgpu.kernel @products(%a: !tile.global<?x?x?xf32>, %b: !tile.global<?x?xi8>, %m: i32, %n: i32 {tgpu.divisible = 6 : i64}, %s: i64)
    attributes {threads = 128 : i32, launch = "k"} {
  %c0 = arith.constant 0 : i32
  %m64 = arith.extsi %m : i32 to i64
  %n64 = arith.extsi %n : i32 to i64
  %mn = arith.muli %m64, %n64 : i64
  %v = tgpu.view %a extents(%m, %m, %n : i32, i32, i32) strides(%mn, %n : i64, i32) : !tile.global<?x?x?xf32> -> !tile.global<?x?x?xf32>
  %t = tile.slice %v[%m, %c0, %c0] sizes [-1, 64, 64] : !tile.global<?x?x?xf32>, i32, i32, i32 -> !tile.global<64x64xf32>
  %x = tgpu.load %t : !tile.global<64x64xf32> -> tensor<64x64xf32>
  %w = tgpu.view %b extents(%m, %n : i32, i32) strides(%s : i64) : !tile.global<?x?xi8> -> !tile.global<?x?xi8>
  %u = tile.slice %w[%m, %c0] sizes [64, 64] : !tile.global<?x?xi8>, i32, i32 -> !tile.global<64x64xi8>
  %y = tile.convert %x : tensor<64x64xf32> to tensor<64x64xi8>
  tgpu.store %y, %u : tensor<64x64xi8>, !tile.global<64x64xi8>
  tgpu.return
}

// -----

// A stride that is a product of the next inner one needs nothing beside it, whichever factor comes last.
// CHECK-LABEL: tgpu.kernel @inner_aligned(
// CHECK-SAME: guard = [#tgpu.divisible<2, 8>]
// expected-remark@+1 {{two variants}}
tgpu.kernel @inner(%a: !tile.global<?x?x?xf16>, %m: i32, %n: i32) attributes {threads = 128 : i32, launch = "k"} {
  %c0 = arith.constant 0 : i32
  %nm = arith.muli %n, %m : i32
  %v = tgpu.view %a extents(%m, %m, %n : i32, i32, i32) strides(%nm, %n : i32, i32) : !tile.global<?x?x?xf16> -> !tile.global<?x?x?xf16>
  %t = tile.slice %v[%m, %c0, %c0] sizes [-1, 64, 64] : !tile.global<?x?x?xf16>, i32, i32, i32 -> !tile.global<64x64xf16>
  %x = tgpu.load %t : !tile.global<64x64xf16> -> tensor<64x64xf16>
  tgpu.store %x, %t : tensor<64x64xf16>, !tile.global<64x64xf16>
  tgpu.return
}
