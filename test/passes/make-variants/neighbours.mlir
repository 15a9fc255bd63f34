// Neighbours that single threads read or write want rows at multiples of their bytes, if the index in the row is one.
// RUN: tile-opt %s --tgpu-make-variants -split-input-file | FileCheck %s

// CHECK-LABEL: tgpu.kernel @rows_aligned(
// CHECK-SAME: i32 {tgpu.divisible = 4 : i64}
// CHECK-SAME: guard = [#tgpu.divisible<2, 4>]
// CHECK: tgpu.kernel @rows_any(
tgpu.kernel @rows(%a: !tile.global<?x?xf16> {tgpu.align = 16 : i64}, %m: i32, %n: i32) attributes {threads = 64 : i32, launch = "k"} {
  %c4 = arith.constant 4 : i32
  %v = tgpu.view %a extents(%m, %n : i32, i32) strides(%n : i32) : !tile.global<?x?xf16> -> !tile.global<?x?xf16>
  tile.threads [64] {
  ^bb0(%t: i32):
    %i = arith.muli %t, %c4 : i32
    %x = tile.load %v[%t, %i : i32, i32] : !tile.global<?x?xf16> -> vector<8xf16>
  }
  tgpu.return
}

// -----

// CHECK-LABEL: tgpu.kernel @odd(
// CHECK-NOT: _aligned
tgpu.kernel @odd(%a: !tile.global<?x?xf16> {tgpu.align = 16 : i64}, %m: i32, %n: i32) attributes {threads = 64 : i32, launch = "k"} {
  %v = tgpu.view %a extents(%m, %n : i32, i32) strides(%n : i32) : !tile.global<?x?xf16> -> !tile.global<?x?xf16>
  tile.threads [64] {
  ^bb0(%t: i32):
    %x = tile.load %v[%t, %t : i32, i32] : !tile.global<?x?xf16> -> vector<8xf16>
  }
  tgpu.return
}
