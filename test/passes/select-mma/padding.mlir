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
// CHECK: tgpu.dot {{.*}}mma = #tgpu.mma<mma_sync, 16, 8, 16, warps = 4, 1>
tgpu.kernel @uneven(%a: !tgpu.smem<48x16xf16>, %b: !tgpu.smem<16x40xf16>, %c: tensor<48x40xf32>) attributes {threads = 128 : i32, target = "sm_80"} {
  // expected-remark@+1 {{gemm is padded from 48x40x16 to 64x40x16, whole instructions for each warp}}
  %d = tgpu.dot %a, %b, %c : !tgpu.smem<48x16xf16>, !tgpu.smem<16x40xf16>, tensor<48x40xf32> -> tensor<48x40xf32>
  tgpu.return
}

// Small results: some warps multiply padding only, which costs less than doing without the instruction.
// CHECK-LABEL: tgpu.kernel @warps(
// CHECK: tgpu.dot {{.*}}mma = #tgpu.mma<mma_sync, 16, 8, 16, warps = 4, 1>
tgpu.kernel @warps(%a: !tgpu.smem<16x16xf16>, %b: !tgpu.smem<16x8xf16>, %c: tensor<16x8xf32>) attributes {threads = 128 : i32, target = "sm_80"} {
  // expected-remark@+1 {{gemm is padded from 16x8x16 to 64x8x16, whole instructions for each warp}}
  %d = tgpu.dot %a, %b, %c : !tgpu.smem<16x16xf16>, !tgpu.smem<16x8xf16>, tensor<16x8xf32> -> tensor<16x8xf32>
  tgpu.return
}

// CHECK-LABEL: tgpu.kernel @policy(
// CHECK: tgpu.dot {{.*}}mma = #tgpu.mma<mma_sync, 16, 8, 16, warps = 4, 1>
tgpu.kernel @policy(%a: !tgpu.smem<32x16xf16>, %b: !tgpu.smem<16x128xf16>, %c: tensor<32x128xf32>) attributes {threads = 128 : i32, target = "sm_80"} {
  // expected-remark@+1 {{gemm is padded from 32x128x16 to 64x128x16, whole instructions for each warp}}
  %d = tgpu.dot %a, %b, %c {policy = #tile.policy<full_row>} : !tgpu.smem<32x16xf16>, !tgpu.smem<16x128xf16>, tensor<32x128xf32> -> tensor<32x128xf32>
  tgpu.return
}

// Padding of k is read as zeros, which only shared memory gives.
// CHECK-LABEL: tgpu.kernel @registers(
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<64x24xf16>
// CHECK: %[[S:.*]] = tgpu.alloc_shared "A of gemm" : !tgpu.smem<64x24xf16>
// CHECK: tgpu.local_store %[[A]], %[[S]]
// CHECK: tgpu.dot %[[S]], {{.*}}mma = #tgpu.mma<mma_sync
tgpu.kernel @registers(%a: tensor<64x24xf16>, %b: !tgpu.smem<24x64xf16>, %c: tensor<64x64xf32>) attributes {threads = 128 : i32, target = "sm_80"} {
  // expected-remark@+2 {{gemm is padded from 64x64x24 to 64x64x32, whole instructions for each warp}}
  // expected-remark@+1 {{gemm reads its operand A through shared memory: its k of 24 is no multiple of 16}}
  %d = tgpu.dot %a, %b, %c : tensor<64x24xf16>, !tgpu.smem<24x64xf16>, tensor<64x64xf32> -> tensor<64x64xf32>
  tgpu.return
}
