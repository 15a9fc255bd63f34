// A @layout that can be used is taken as it is; a buffer that nobody uses gets rows.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-select-shared-layouts))' -verify-diagnostics -split-input-file | FileCheck %s

// CHECK-LABEL: tgpu.kernel @hints
// CHECK: tgpu.alloc_shared "r" {{.*}} : !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64">>
// CHECK: tgpu.alloc_shared "s" {{.*}} : !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 32 swizzle 64">>
// CHECK: tgpu.alloc_shared "p" {{.*}} : !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 pad 16">>
// CHECK: tgpu.alloc_shared "unused" : !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 {{.*}}">>
// A part has the layout of its buffer.
// CHECK: tgpu.subview {{.*}} -> !tgpu.smem<32x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 32 swizzle 64">>
tgpu.kernel @hints(%c: tensor<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %r = tgpu.alloc_shared "r" {layout_hint = "row_major"} : !tgpu.smem<64x64xf16>
  %s = tgpu.alloc_shared "s" {layout_hint = "swizzle(64)"} : !tgpu.smem<64x64xf16>
  %p = tgpu.alloc_shared "p" {layout_hint = "padded(8)"} : !tgpu.smem<64x64xf16>
  %u = tgpu.alloc_shared "unused" : !tgpu.smem<64x64xf16>
  %part = tgpu.subview %s at [32, 0] : !tgpu.smem<64x64xf16> -> !tgpu.smem<32x64xf16>
  %d = tgpu.dot %s, %s, %c {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !tgpu.smem<64x64xf16>, !tgpu.smem<64x64xf16>, tensor<64x64xf32> -> tensor<64x64xf32>
  tgpu.return
}

// -----

// What has a layout keeps it.
// CHECK-LABEL: tgpu.kernel @kept
// CHECK: tgpu.alloc_shared "k" : !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64">>
tgpu.kernel @kept(%g: !tile.global<64x64xf16>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %k = tgpu.alloc_shared "k" : !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64">>
  tgpu.copy %g to %k {path = #tgpu.path<tma>} : !tile.global<64x64xf16>, !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64">>
  tgpu.return
}
