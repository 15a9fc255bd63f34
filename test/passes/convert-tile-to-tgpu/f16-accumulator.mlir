// An f16 accumulator is f32 while a product sums, and is rounded once.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(convert-tile-to-tgpu))' | FileCheck %s

!h = !tile.buffer<64x64xf16, fragment>
!s = !tile.buffer<64x64xf16, shared>
!g = !tile.global<64x64xf16>
// CHECK-LABEL: tgpu.kernel @k
// CHECK: %[[W:.*]] = tile.convert %{{.*}} : tensor<64x64xf16> to tensor<64x64xf32>
// CHECK: %[[D:.*]] = tgpu.dot %{{.*}}, %{{.*}}, %[[W]] {{.*}} -> tensor<64x64xf32>
// CHECK: %[[R:.*]] = tile.convert %[[D]] : tensor<64x64xf32> to tensor<64x64xf16>
// CHECK: tgpu.store %[[R]]
tgpu.kernel @k(%C: !g) attributes {threads = 128 : i32, target = "sm_90a"} {
  %a = tile.alloc "a" : !s
  %b = tile.alloc "b" : !s
  %acc = tile.alloc "acc" : !h
  %z = arith.constant 0.0 : f16
  %t = tile.splat %z : f16 -> tensor<64x64xf16>
  tile.write %t, %a : tensor<64x64xf16>, !s
  tile.write %t, %b : tensor<64x64xf16>, !s
  tile.write %t, %acc : tensor<64x64xf16>, !h
  tile.gemm %a, %b, %acc : !s, !s, !h
  tile.copy %acc to %C : !h, !g
  tgpu.return
}
