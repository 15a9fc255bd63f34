// Of variants those asked for are left, with their costs; kernels without variants stay. An unknown name is an error.
// RUN: tile-opt %s --tgpu-make-variants --tgpu-estimate-cost --tgpu-keep-variants=only=aligned 2> /dev/null | FileCheck %s --check-prefixes=CHECK,ALIGNED
// RUN: tile-opt %s --tgpu-make-variants --tgpu-estimate-cost --tgpu-keep-variants=only=any 2> /dev/null | FileCheck %s --check-prefixes=CHECK,ANY
// RUN: tile-opt %s --tgpu-make-variants --tgpu-estimate-cost --tgpu-keep-variants=only=any,aligned 2> /dev/null | FileCheck %s --check-prefix=BOTH
// RUN: tile-opt %s --tgpu-make-variants --tgpu-estimate-cost --tgpu-keep-variants 2> /dev/null | FileCheck %s --check-prefix=BOTH
// RUN: not tile-opt %s --tgpu-make-variants --tgpu-estimate-cost --tgpu-keep-variants=only=fast 2>&1 | FileCheck %s --check-prefix=NAME

// NAME: error: `only` is of `aligned`, `words` and `any`
// CHECK-LABEL: tile.kernel @host
// ALIGNED-NOT: tgpu.cost @k_any
// ANY-NOT: tgpu.cost @k_aligned
// ALIGNED: tgpu.cost @k_aligned
// ANY: tgpu.cost @k_any
// CHECK-NOT: tgpu.cost
// CHECK: tgpu.launch
// ALIGNED-NOT: @k_any
// ANY-NOT: @k_aligned
// ALIGNED: tgpu.kernel @k_aligned(
// ANY: tgpu.kernel @k_any(
// CHECK: tgpu.kernel @alone(
// BOTH: tgpu.cost @k_aligned
// BOTH: tgpu.cost @k_any
// BOTH: tgpu.kernel @k_aligned(
// BOTH: tgpu.kernel @k_any(

!g = !tile.global<?x?xf16>
tile.kernel @host(%x: !g {tile.name = "X", tile.direction = "inout", tile.dtype = "f16"}) {
  %c64 = arith.constant 64 : i32
  %n = tile.dim "N" from %x[1] : !g -> i32
  tgpu.launch "k" grid(%c64 : i32) args(%x, %c64, %n : !g, i32, i32)
  tgpu.launch "alone" grid(%c64 : i32) args(%c64 : i32)
  tile.return
}
tgpu.kernel @k(%a: !g, %m: i32, %n: i32) attributes {target = "sm_90a", threads = 128 : i32, launch = "k"} {
  %v = tgpu.view %a extents(%m, %n : i32, i32) strides(%n : i32) : !g -> !g
  %t = tile.slice %v[%m, %n] sizes [64, 64] : !g, i32, i32 -> !tile.global<64x64xf16>
  %x = tgpu.load %t : !tile.global<64x64xf16> -> tensor<64x64xf16>
  tgpu.store %x, %t : tensor<64x64xf16>, !tile.global<64x64xf16>
  tgpu.return
}
tgpu.kernel @alone(%m: i32) attributes {target = "sm_90a", threads = 128 : i32, launch = "alone"} {
  tgpu.return
}
