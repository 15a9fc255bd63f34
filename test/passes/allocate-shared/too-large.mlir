// More than the target has is an error with a line for each buffer.
// RUN: not tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-allocate-shared))' 2>&1 | FileCheck %s

!ring = !tgpu.smem<8x128x64xf16, #tgpu.shared<"8x128x64 b16 contig 2 panel 64 swizzle 128">>
!b = !tgpu.smem<128x64xf16, #tgpu.shared<"128x64 b16 contig 1 panel 64 swizzle 128">>

// CHECK: too-large.mlir:[[# @LINE + 6]]:1: error: shared memory of 262272 bytes is needed, but `sm_90a` has 232448 [shared-too-large]
// CHECK: note: 131072 bytes at        0: `As`, 8x128x64 f16
// CHECK: note: 131072 bytes at   131072: `Bs`, 8x128x64 f16
// CHECK: note:    16384 bytes at        0: `small`, 128x64 f16
// CHECK-NOT: `none`
// CHECK: note:      128 bytes at   262144: barriers of channel `ring`
tgpu.kernel @large(%p: i32) attributes {threads = 128 : i32, target = "sm_90a"} {
  %a = tgpu.alloc_shared "As" : !ring
  %b = tgpu.alloc_shared "Bs" : !ring
  %c = tgpu.alloc_shared "small" : !b
  %ch = tgpu.channel "ring" {producers = 1 : i32, consumers = 4 : i32} : !tgpu.channel<8>
  %sa = tgpu.slot %a[%p] : !ring -> !b
  %sb = tgpu.slot %b[%p] : !ring -> !b
  %0 = tgpu.local_load %sa : !b -> tensor<128x64xf16>
  %1 = tgpu.local_load %sb : !b -> tensor<128x64xf16>
  tgpu.local_store %0, %sb : tensor<128x64xf16>, !b
  tgpu.local_store %0, %sa : tensor<128x64xf16>, !b
  tgpu.local_store %0, %c : tensor<128x64xf16>, !b
  tgpu.return
}
