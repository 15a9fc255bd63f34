// Sums and products of 16-bit floats go two at a time; where both slots of a pair are one value, so is the result.
// RUN: tile-opt --convert-tgpu-to-llvm %s | FileCheck %s

#t = #tgpu.fragment<"128 reg 1:2 lane 4:8:16:32:64 warp -">
// CHECK-LABEL: llvm.func @k
// CHECK-COUNT-2: llvm.fadd %{{.*}}, %{{.*}} : vector<2xf16>
// CHECK-NOT: llvm.fadd
// CHECK: llvm.fmul %{{.*}}, %{{.*}} : f16
// CHECK-NOT: llvm.fmul
// CHECK: llvm.return
tgpu.kernel @k(%X: !tile.global<128xf16>, %Y: !tile.global<128xf16>, %Z: !tile.global<128xf16>, %a: f16, %n: i32) attributes {threads = 32 : i32, target = "sm_90a"} {
  %x = tgpu.view %X extents(%n : i32) strides() : !tile.global<128xf16> -> !tile.global<128xf16>
  %y = tgpu.view %Y extents(%n : i32) strides() : !tile.global<128xf16> -> !tile.global<128xf16>
  %z = tgpu.view %Z extents(%n : i32) strides() : !tile.global<128xf16> -> !tile.global<128xf16>
  %t = tgpu.load %x {bytes = 8 : i32} : !tile.global<128xf16> -> tensor<128xf16, #t>
  %s = tile.splat %a : f16 -> tensor<128xf16, #t>
  %u = arith.addf %t, %s : tensor<128xf16, #t>
  tgpu.store %u, %y {bytes = 8 : i32} : tensor<128xf16, #t>, !tile.global<128xf16>
  %v = arith.mulf %s, %s : tensor<128xf16, #t>
  tgpu.store %v, %z {bytes = 8 : i32} : tensor<128xf16, #t>, !tile.global<128xf16>
  tgpu.return
}
