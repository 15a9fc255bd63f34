// Extents that are no multiples of mma.sync are padded to whole instructions for each warp, with a remark; the split with the
// least work is taken.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-select-mma))' -verify-diagnostics -split-input-file | FileCheck %s

// CHECK-LABEL: tgpu.kernel @rows(
// CHECK: tgpu.dot {{.*}}mma = #tgpu.mma<mma_sync, 16, 8, 16, warps = 1, 4>
tgpu.kernel @rows(%a: !tgpu.smem<40x32xf16>, %b: !tgpu.smem<32x64xf16>, %c: tensor<40x64xf32>) attributes {threads = 128 : i32, target = "sm_80"} {
  // expected-remark@+1 {{gemm is padded from 40x64x32 to 48x64x32, whole instructions for each warp}}
  %d = tgpu.dot %a, %b, %c : !tgpu.smem<40x32xf16>, !tgpu.smem<32x64xf16>, tensor<40x64xf32> -> tensor<40x64xf32>
  tgpu.return
}

// CHECK-LABEL: tgpu.kernel @columns(
// CHECK: tgpu.dot {{.*}}mma = #tgpu.mma<mma_sync, 16, 8, 16, warps = 4, 1>
tgpu.kernel @columns(%a: !tgpu.smem<64x32xf16>, %b: !tgpu.smem<32x20xf16>, %c: tensor<64x20xf32>) attributes {threads = 128 : i32, target = "sm_80"} {
  // expected-remark@+1 {{gemm is padded from 64x20x32 to 64x24x32, whole instructions for each warp}}
  %d = tgpu.dot %a, %b, %c : !tgpu.smem<64x32xf16>, !tgpu.smem<32x20xf16>, tensor<64x20xf32> -> tensor<64x20xf32>
  tgpu.return
}

// CHECK-LABEL: tgpu.kernel @k(
// CHECK: tgpu.dot {{.*}}mma = #tgpu.mma<mma_sync, 16, 8, 16, warps = 2, 2>
tgpu.kernel @k(%a: !tgpu.smem<64x8xf16>, %b: !tgpu.smem<8x64xf16>, %c: tensor<64x64xf32>) attributes {threads = 128 : i32, target = "sm_80"} {
  // expected-remark@+1 {{gemm is padded from 64x64x8 to 64x64x16, whole instructions for each warp}}
  %d = tgpu.dot %a, %b, %c : !tgpu.smem<64x8xf16>, !tgpu.smem<8x64xf16>, tensor<64x64xf32> -> tensor<64x64xf32>
  tgpu.return
}

// Whole instructions, but not the same number for each warp of any split.
// CHECK-LABEL: tgpu.kernel @uneven(
// CHECK: tgpu.dot {{.*}}mma = #tgpu.mma<mma_sync, 16, 8, 16, warps = 2, 2>
tgpu.kernel @uneven(%a: !tgpu.smem<48x16xf16>, %b: !tgpu.smem<16x40xf16>, %c: tensor<48x40xf32>) attributes {threads = 128 : i32, target = "sm_80"} {
  // expected-remark@+1 {{gemm is padded from 48x40x16 to 64x48x16, whole instructions for each warp}}
  %d = tgpu.dot %a, %b, %c : !tgpu.smem<48x16xf16>, !tgpu.smem<16x40xf16>, tensor<48x40xf32> -> tensor<48x40xf32>
  tgpu.return
}
