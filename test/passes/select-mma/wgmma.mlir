// Where a warpgroup's instruction fits, it is taken, without a remark.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-select-mma))' -verify-diagnostics -split-input-file | FileCheck %s

// CHECK-LABEL: tgpu.kernel @f16(
// CHECK: tgpu.dot {{.*}}mma = #tgpu.mma<wgmma, 64, 128, 16, warps = 1, 1>
tgpu.kernel @f16(%a: !tgpu.smem<64x64xf16>, %b: !tgpu.smem<64x128xf16>, %c: tensor<64x128xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %d = tgpu.dot %a, %b, %c : !tgpu.smem<64x64xf16>, !tgpu.smem<64x128xf16>, tensor<64x128xf32> -> tensor<64x128xf32>
  tgpu.return
}

// 16-bit operands may be stored either way.
// CHECK-LABEL: tgpu.kernel @bf16_transposed(
// CHECK: tgpu.dot {{.*}}mma = #tgpu.mma<wgmma, 64, 128, 16, warps = 1, 1>
tgpu.kernel @bf16_transposed(%a: !tgpu.smem<64x64xbf16>, %b: !tgpu.smem<128x64xbf16>, %c: tensor<64x128xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %d = tgpu.dot %a, %b, %c {transpose_a, transpose_b} : !tgpu.smem<64x64xbf16>, !tgpu.smem<128x64xbf16>, tensor<64x128xf32> -> tensor<64x128xf32>
  tgpu.return
}

// CHECK-LABEL: tgpu.kernel @a_in_registers(
// CHECK: tgpu.dot {{.*}}mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>
tgpu.kernel @a_in_registers(%a: tensor<64x32xf16>, %b: !tgpu.smem<32x64xf16>, %c: tensor<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %d = tgpu.dot %a, %b, %c : tensor<64x32xf16>, !tgpu.smem<32x64xf16>, tensor<64x64xf32> -> tensor<64x64xf32>
  tgpu.return
}

// 8-bit operands with k contiguous.
// CHECK-LABEL: tgpu.kernel @e4m3(
// CHECK: tgpu.dot {{.*}}mma = #tgpu.mma<wgmma, 64, 64, 32, warps = 1, 1>
tgpu.kernel @e4m3(%a: !tgpu.smem<64x64xf8E4M3FN>, %b: !tgpu.smem<64x64xf8E4M3FN>, %c: tensor<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %d = tgpu.dot %a, %b, %c {transpose_b} : !tgpu.smem<64x64xf8E4M3FN>, !tgpu.smem<64x64xf8E4M3FN>, tensor<64x64xf32> -> tensor<64x64xf32>
  tgpu.return
}

// CHECK-LABEL: tgpu.kernel @mixed_fp8(
// CHECK: tgpu.dot {{.*}}mma = #tgpu.mma<wgmma, 64, 64, 32, warps = 1, 1>
tgpu.kernel @mixed_fp8(%a: !tgpu.smem<64x64xf8E5M2>, %b: !tgpu.smem<64x64xf8E4M3FN>, %c: tensor<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %d = tgpu.dot %a, %b, %c {transpose_b} : !tgpu.smem<64x64xf8E5M2>, !tgpu.smem<64x64xf8E4M3FN>, tensor<64x64xf32> -> tensor<64x64xf32>
  tgpu.return
}

// CHECK-LABEL: tgpu.kernel @int8(
// CHECK: tgpu.dot {{.*}}mma = #tgpu.mma<wgmma, 64, 48, 32, warps = 1, 1>
tgpu.kernel @int8(%a: !tgpu.smem<64x64xi8>, %b: !tgpu.smem<48x64xi8>, %c: tensor<64x48xi32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %d = tgpu.dot %a, %b, %c {transpose_b, a_unsigned} : !tgpu.smem<64x64xi8>, !tgpu.smem<48x64xi8>, tensor<64x48xi32> -> tensor<64x48xi32>
  tgpu.return
}

// CHECK-LABEL: tgpu.kernel @tf32(
// CHECK: tgpu.dot {{.*}}mma = #tgpu.mma<wgmma, 64, 8, 8, warps = 1, 1>
tgpu.kernel @tf32(%a: !tgpu.smem<64x16xf32>, %b: !tgpu.smem<8x16xf32>, %c: tensor<64x8xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %d = tgpu.dot %a, %b, %c {transpose_b, precision = #tile.precision<tf32>} : !tgpu.smem<64x16xf32>, !tgpu.smem<8x16xf32>, tensor<64x8xf32> -> tensor<64x8xf32>
  tgpu.return
}

// CHECK-LABEL: tgpu.kernel @required(
// CHECK: tgpu.dot {{.*}}mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>
tgpu.kernel @required(%a: !tgpu.smem<64x64xf16>, %b: !tgpu.smem<64x64xf16>, %c: tensor<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %d = tgpu.dot %a, %b, %c {require = ["wgmma", "mma"]} : !tgpu.smem<64x64xf16>, !tgpu.smem<64x64xf16>, tensor<64x64xf32> -> tensor<64x64xf32>
  tgpu.return
}
