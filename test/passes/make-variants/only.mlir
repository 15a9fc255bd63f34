// One of the two variants, where a kernel has them; others stay. An unknown name is an error.
// RUN: tile-opt %s --tgpu-make-variants=only=aligned | FileCheck %s --check-prefix=ALIGNED
// RUN: tile-opt %s --tgpu-make-variants=only=any | FileCheck %s --check-prefix=ANY
// RUN: not tile-opt %s --tgpu-make-variants=only=fast 2>&1 | FileCheck %s --check-prefix=NAME

// NAME: error: `only` is `aligned` or `any`
// ALIGNED-NOT: @k_any
// ALIGNED: tgpu.kernel @k_aligned(
// ALIGNED-NOT: @k_any
// ALIGNED: tgpu.kernel @alone(
// ANY-NOT: @k_aligned
// ANY: tgpu.kernel @k_any(
// ANY: tgpu.kernel @alone(
tgpu.kernel @k(%a: !tile.global<?x?xf16>, %m: i32, %n: i32) attributes {target = "sm_90a", threads = 128 : i32, launch = "k"} {
  %v = tgpu.view %a extents(%m, %n : i32, i32) strides(%n : i32) : !tile.global<?x?xf16> -> !tile.global<?x?xf16>
  %t = tile.slice %v[%m, %n] sizes [64, 64] : !tile.global<?x?xf16>, i32, i32 -> !tile.global<64x64xf16>
  %x = tgpu.load %t : !tile.global<64x64xf16> -> tensor<64x64xf16>
  tgpu.store %x, %t : tensor<64x64xf16>, !tile.global<64x64xf16>
  tgpu.return
}
tgpu.kernel @alone(%a: !tile.global<64xf16>, %m: i32) attributes {target = "sm_90a", threads = 128 : i32, launch = "l"} {
  tgpu.return
}
