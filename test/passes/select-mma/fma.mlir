// Without a matrix instruction products of shared buffers are scalar multiply-adds, with a remark.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-select-mma))' -verify-diagnostics -split-input-file | FileCheck %s

// Full precision.
// CHECK-LABEL: tgpu.kernel @f32(
// CHECK: tgpu.dot {{.*}}mma = #tgpu.mma<fma, 1, 1, 1, warps = 1, 4>
tgpu.kernel @f32(%a: !tgpu.smem<64x32xf32>, %b: !tgpu.smem<32x64xf32>, %c: tensor<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  // expected-remark@+1 {{gemm uses scalar multiply-adds, no matrix instruction: tensor cores do not multiply these types}}
  %d = tgpu.dot %a, %b, %c : !tgpu.smem<64x32xf32>, !tgpu.smem<32x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  tgpu.return
}

// CHECK-LABEL: tgpu.kernel @f64(
// CHECK: tgpu.dot {{.*}}mma = #tgpu.mma<fma, 1, 1, 1, warps = 1, 4>
tgpu.kernel @f64(%a: !tgpu.smem<64x32xf64>, %b: !tgpu.smem<32x64xf64>, %c: tensor<64x64xf64>) attributes {threads = 128 : i32, target = "sm_90a"} {
  // expected-remark@+1 {{gemm uses scalar multiply-adds, no matrix instruction: tensor cores do not multiply these types}}
  %d = tgpu.dot %a, %b, %c : !tgpu.smem<64x32xf64>, !tgpu.smem<32x64xf64>, tensor<64x64xf64> -> tensor<64x64xf64>
  tgpu.return
}

// CHECK-LABEL: tgpu.kernel @f16_sum(
// CHECK: tgpu.dot {{.*}}mma = #tgpu.mma<fma, 1, 1, 1, warps = 1, 4>
tgpu.kernel @f16_sum(%a: !tgpu.smem<64x32xf16>, %b: !tgpu.smem<32x64xf16>, %c: tensor<64x64xf16>) attributes {threads = 128 : i32, target = "sm_90a"} {
  // expected-remark@+1 {{gemm uses scalar multiply-adds, no matrix instruction: tensor cores do not multiply these types}}
  %d = tgpu.dot %a, %b, %c : !tgpu.smem<64x32xf16>, !tgpu.smem<32x64xf16>, tensor<64x64xf16> -> tensor<64x64xf16>
  tgpu.return
}

// CHECK-LABEL: tgpu.kernel @mixed(
// CHECK: tgpu.dot {{.*}}mma = #tgpu.mma<fma, 1, 1, 1, warps = 1, 4>
tgpu.kernel @mixed(%a: !tgpu.smem<64x32xf16>, %b: !tgpu.smem<32x64xbf16>, %c: tensor<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  // expected-remark@+1 {{gemm uses scalar multiply-adds, no matrix instruction: tensor cores do not multiply these types}}
  %d = tgpu.dot %a, %b, %c : !tgpu.smem<64x32xf16>, !tgpu.smem<32x64xbf16>, tensor<64x64xf32> -> tensor<64x64xf32>
  tgpu.return
}

// tf32 is about products of f32.
// CHECK-LABEL: tgpu.kernel @tf32_of_others(
// CHECK: tgpu.dot {{.*}}mma = #tgpu.mma<fma, 1, 1, 1, warps = 1, 4>
tgpu.kernel @tf32_of_others(%a: !tgpu.smem<64x32xf32>, %b: !tgpu.smem<32x64xf16>, %c: tensor<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  // expected-remark@+1 {{gemm uses scalar multiply-adds, no matrix instruction: tensor cores do not multiply these types}}
  %d = tgpu.dot %a, %b, %c {precision = #tile.precision<tf32>} : !tgpu.smem<64x32xf32>, !tgpu.smem<32x64xf16>, tensor<64x64xf32> -> tensor<64x64xf32>
  tgpu.return
}

// CHECK-LABEL: tgpu.kernel @fp8_sm80(
// CHECK: tgpu.dot {{.*}}mma = #tgpu.mma<fma, 1, 1, 1, warps = 1, 4>
tgpu.kernel @fp8_sm80(%a: !tgpu.smem<64x32xf8E4M3FN>, %b: !tgpu.smem<32x64xf8E4M3FN>, %c: tensor<64x64xf32>) attributes {threads = 128 : i32, target = "sm_80"} {
  // expected-remark@+1 {{gemm uses scalar multiply-adds, no matrix instruction: `sm_80` has no matrix instruction for fp8}}
  %d = tgpu.dot %a, %b, %c : !tgpu.smem<64x32xf8E4M3FN>, !tgpu.smem<32x64xf8E4M3FN>, tensor<64x64xf32> -> tensor<64x64xf32>
  tgpu.return
}

// A warp without a part of the result would multiply padding only.
// CHECK-LABEL: tgpu.kernel @warps(
// CHECK: tgpu.dot {{.*}}mma = #tgpu.mma<fma, 1, 1, 1, warps = 1, 4>
tgpu.kernel @warps(%a: !tgpu.smem<16x16xf16>, %b: !tgpu.smem<16x8xf16>, %c: tensor<16x8xf32>) attributes {threads = 128 : i32, target = "sm_80"} {
  // expected-remark@+1 {{gemm uses scalar multiply-adds, no matrix instruction: extents 16x8 are less than one instruction of 16x8 for each of 4 warps}}
  %d = tgpu.dot %a, %b, %c : !tgpu.smem<16x16xf16>, !tgpu.smem<16x8xf16>, tensor<16x8xf32> -> tensor<16x8xf32>
  tgpu.return
}

// CHECK-LABEL: tgpu.kernel @policy(
// CHECK: tgpu.dot {{.*}}mma = #tgpu.mma<fma, 1, 1, 1, warps = 1, 4>
tgpu.kernel @policy(%a: !tgpu.smem<32x16xf16>, %b: !tgpu.smem<16x128xf16>, %c: tensor<32x128xf32>) attributes {threads = 128 : i32, target = "sm_80"} {
  // expected-remark@+1 {{gemm uses scalar multiply-adds, no matrix instruction: extents 32x128 are less than one instruction of 16x8 for each of 4 warps one below the other}}
  %d = tgpu.dot %a, %b, %c {policy = #tile.policy<full_row>} : !tgpu.smem<32x16xf16>, !tgpu.smem<16x128xf16>, tensor<32x128xf32> -> tensor<32x128xf32>
  tgpu.return
}
