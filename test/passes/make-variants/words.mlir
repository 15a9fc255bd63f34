// With `words` there is a variant for rows at multiples of 4 bytes, of every launch, if one of them copies less into shared memory.
// RUN: tile-opt %s --tgpu-make-variants=words=true -split-input-file 2> %t.txt | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t.txt
// RUN: tile-opt %s --tgpu-make-variants=words=true -split-input-file 2> /dev/null | tile-opt --tgpu-estimate-cost --tgpu-keep-variants=only=words -split-input-file 2> /dev/null | FileCheck %s --check-prefix=WORDS

// CHECK-LABEL: tgpu.kernel @k_aligned(
// CHECK-SAME: guard = [#tgpu.divisible<2, 8>]
// CHECK-LABEL: tgpu.kernel @k_words(
// CHECK-SAME: i32 {tgpu.divisible = 2 : i64})
// CHECK-SAME: guard = [#tgpu.divisible<2, 2>]
// CHECK-SAME: variant = "words"
// CHECK-LABEL: tgpu.kernel @k_any(
// CHECK-NOT: guard
// CHECK: tgpu.copy
// WORDS-NOT: tgpu.kernel @{{.*}}_{{any|aligned}}(
// WORDS: tgpu.kernel @k_words(
// WORDS-NOT: tgpu.kernel @{{.*}}_{{any|aligned}}(
// WORDS: tgpu.kernel @floats_words(
// REMARK: three variants: one for rows that start at multiples of 16 bytes, one for multiples of 4, one for any shape
tgpu.kernel @k(%a: !tile.global<?x?xf16> {tgpu.align = 16 : i64}, %m: i32, %n: i32) attributes {target = "sm_90a", threads = 128 : i32, launch = "k"} {
  %v = tgpu.view %a extents(%m, %n : i32, i32) strides(%n : i32) : !tile.global<?x?xf16> -> !tile.global<?x?xf16>
  %s = tgpu.alloc_shared "s" : !tgpu.smem<64x64xf16>
  %t = tile.slice %v[%m, %n] sizes [64, 64] : !tile.global<?x?xf16>, i32, i32 -> !tile.global<64x64xf16>
  tgpu.copy %t to %s : !tile.global<64x64xf16>, !tgpu.smem<64x64xf16>
  tgpu.return
}

// What has words anyway relies on nothing more.
// CHECK-LABEL: tgpu.kernel @floats_aligned(
// CHECK-LABEL: tgpu.kernel @floats_words(
// CHECK-NOT: guard
// CHECK-SAME: variant = "words"
// CHECK-LABEL: tgpu.kernel @floats_any(
tgpu.kernel @floats(%a: !tile.global<?x?xf32>, %m: i32, %n: i32) attributes {target = "sm_90a", threads = 128 : i32, launch = "floats"} {
  %v = tgpu.view %a extents(%m, %n : i32, i32) strides(%n : i32) : !tile.global<?x?xf32> -> !tile.global<?x?xf32>
  %t = tile.slice %v[%m, %n] sizes [64, 64] : !tile.global<?x?xf32>, i32, i32 -> !tile.global<64x64xf32>
  %x = tgpu.load %t : !tile.global<64x64xf32> -> tensor<64x64xf32>
  tgpu.store %x, %t : tensor<64x64xf32>, !tile.global<64x64xf32>
  tgpu.return
}

// -----

// None of its own: nothing would be gained.
// CHECK-LABEL: tgpu.kernel @alone_aligned(
// CHECK-LABEL: tgpu.kernel @alone_any(
// CHECK-NOT: tgpu.kernel
// REMARK: two variants: one for rows that start at multiples of 16 bytes, one for any shape
tgpu.kernel @alone(%a: !tile.global<?x?xf16>, %m: i32, %n: i32) attributes {target = "sm_90a", threads = 128 : i32, launch = "k"} {
  %v = tgpu.view %a extents(%m, %n : i32, i32) strides(%n : i32) : !tile.global<?x?xf16> -> !tile.global<?x?xf16>
  %t = tile.slice %v[%m, %n] sizes [64, 64] : !tile.global<?x?xf16>, i32, i32 -> !tile.global<64x64xf16>
  %x = tgpu.load %t : !tile.global<64x64xf16> -> tensor<64x64xf16>
  tgpu.store %x, %t : tensor<64x64xf16>, !tile.global<64x64xf16>
  tgpu.return
}

// -----

// Nor where the tensor starts anywhere: its rows do, too.
// CHECK-LABEL: tgpu.kernel @base_aligned(
// CHECK-LABEL: tgpu.kernel @base_any(
// CHECK-NOT: tgpu.kernel
tgpu.kernel @base(%a: !tile.global<?x?xf16> {tgpu.align = 2 : i64}, %m: i32, %n: i32) attributes {target = "sm_90a", threads = 128 : i32, launch = "k"} {
  %v = tgpu.view %a extents(%m, %n : i32, i32) strides(%n : i32) : !tile.global<?x?xf16> -> !tile.global<?x?xf16>
  %s = tgpu.alloc_shared "s" : !tgpu.smem<64x64xf16>
  %t = tile.slice %v[%m, %n] sizes [64, 64] : !tile.global<?x?xf16>, i32, i32 -> !tile.global<64x64xf16>
  tgpu.copy %t to %s : !tile.global<64x64xf16>, !tgpu.smem<64x64xf16>
  tgpu.return
}
