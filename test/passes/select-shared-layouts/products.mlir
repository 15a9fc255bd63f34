// Operands of wgmma: panels with the widest swizzle, k contiguous or not; operands of mma.sync: no bank conflicts.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-select-shared-layouts))' -verify-diagnostics -split-input-file | FileCheck %s

!acc = tensor<64x128xf32>
// CHECK-LABEL: tgpu.kernel @wgmma
// CHECK: tgpu.alloc_shared "A" : !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
// CHECK: tgpu.alloc_shared "B" : !tgpu.smem<64x128xf16, #tgpu.shared<"64x128 b16 contig 1 panel 64 swizzle 128">>
// CHECK: tgpu.alloc_shared "narrow" : !tgpu.smem<64x32xf16, #tgpu.shared<"64x32 b16 contig 1 panel 32 swizzle 64">>
// CHECK: tgpu.alloc_shared "BT" : !tgpu.smem<128x32xf16, #tgpu.shared<"128x32 b16 contig 1 panel 32 swizzle 64">>
// CHECK: tgpu.alloc_shared "AT" : !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
tgpu.kernel @wgmma(%c: !acc) attributes {threads = 128 : i32, target = "sm_90a"} {
  %a = tgpu.alloc_shared "A" : !tgpu.smem<64x64xf16>
  %b = tgpu.alloc_shared "B" : !tgpu.smem<64x128xf16>
  %d = tgpu.dot %a, %b, %c {mma = #tgpu.mma<wgmma, 64, 128, 16, warps = 1, 1>} : !tgpu.smem<64x64xf16>, !tgpu.smem<64x128xf16>, !acc -> !acc
  %n = tgpu.alloc_shared "narrow" : !tgpu.smem<64x32xf16>
  %bt = tgpu.alloc_shared "BT" : !tgpu.smem<128x32xf16>
  %e = tgpu.dot %n, %bt, %c {transpose_b, mma = #tgpu.mma<wgmma, 64, 128, 16, warps = 1, 1>} : !tgpu.smem<64x32xf16>, !tgpu.smem<128x32xf16>, !acc -> !acc
  %at = tgpu.alloc_shared "AT" : !tgpu.smem<64x64xf16>
  %f = tgpu.dot %at, %b, %c {transpose_a, mma = #tgpu.mma<wgmma, 64, 128, 16, warps = 1, 1>} : !tgpu.smem<64x64xf16>, !tgpu.smem<64x128xf16>, !acc -> !acc
  tgpu.return
}

// -----

!acc = tensor<64x64xf32>
// CHECK-LABEL: tgpu.kernel @e4m3
// CHECK: tgpu.alloc_shared "A" : !tgpu.smem<64x128xf8E4M3FN, #tgpu.shared<"64x128 b8 contig 1 panel 128 swizzle 128">>
tgpu.kernel @e4m3(%c: !acc) attributes {threads = 128 : i32, target = "sm_90a"} {
  %a = tgpu.alloc_shared "A" : !tgpu.smem<64x128xf8E4M3FN>
  %d = tgpu.dot %a, %a, %c {transpose_b, mma = #tgpu.mma<wgmma, 64, 64, 32, warps = 1, 1>} : !tgpu.smem<64x128xf8E4M3FN>, !tgpu.smem<64x128xf8E4M3FN>, !acc -> !acc
  tgpu.return
}

// -----

!acc = tensor<64x64xf32>
// ldmatrix of k-steps, and cp.async of 16 bytes into the same buffers: swizzled, so no remark.
// CHECK-LABEL: tgpu.kernel @mma_sync
// CHECK: tgpu.alloc_shared "A" : !tgpu.smem<64x32xf16, #tgpu.shared<"64x32 b16 contig 1 panel 32 swizzle 64">>
// CHECK: tgpu.alloc_shared "B" : !tgpu.smem<32x64xf16, #tgpu.shared<"32x64 b16 contig 1 panel 64 swizzle 128">>
tgpu.kernel @mma_sync(%g: !tile.global<64x32xf16>, %h: !tile.global<32x64xf16>, %c: !acc) attributes {threads = 128 : i32, target = "sm_80"} {
  %a = tgpu.alloc_shared "A" : !tgpu.smem<64x32xf16>
  %b = tgpu.alloc_shared "B" : !tgpu.smem<32x64xf16>
  tgpu.copy %g to %a {path = #tgpu.path<cp_async>, bytes = 16 : i32} : !tile.global<64x32xf16>, !tgpu.smem<64x32xf16>
  tgpu.copy %h to %b {path = #tgpu.path<cp_async>, bytes = 16 : i32} : !tile.global<32x64xf16>, !tgpu.smem<32x64xf16>
  %d = tgpu.dot %a, %b, %c {mma = #tgpu.mma<mma_sync, 16, 8, 16, warps = 2, 2>} : !tgpu.smem<64x32xf16>, !tgpu.smem<32x64xf16>, !acc -> !acc
  tgpu.return
}

// -----

!acc = tensor<48x40xf32>
// Part of a padded product that ldmatrix cannot read: the rows still start where cp.async can write them.
// CHECK-LABEL: tgpu.kernel @padded
// CHECK: tgpu.alloc_shared "A" : !tgpu.smem<16x48xf16, #tgpu.shared<"16x48 b16 contig 1 panel 48{{( pad (16|32))?}}">>
tgpu.kernel @padded(%g: !tile.global<16x48xf16>, %b: !tgpu.smem<16x40xf16>, %c: !acc) attributes {threads = 128 : i32, target = "sm_80"} {
  %a = tgpu.alloc_shared "A" : !tgpu.smem<16x48xf16>
  tgpu.copy %g to %a {path = #tgpu.path<cp_async>, bytes = 16 : i32} : !tile.global<16x48xf16>, !tgpu.smem<16x48xf16>
  %d = tgpu.dot %a, %b, %c {transpose_a, mma = #tgpu.mma<mma_sync, 16, 8, 16, warps = 2, 2>} : !tgpu.smem<16x48xf16>, !tgpu.smem<16x40xf16>, !acc -> !acc
  tgpu.return
}
