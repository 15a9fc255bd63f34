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

// Operands in registers go through shared memory, in buffers that outlive every loop.
// CHECK-LABEL: tgpu.kernel @fragments(
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<64x32xf32>, %[[B:[a-z0-9]+]]: tensor<32x64xf32>
// CHECK-DAG: %[[AS:.*]] = tgpu.alloc_shared "A of gemm" : !tgpu.smem<64x32xf32>
// CHECK-DAG: %[[BS:.*]] = tgpu.alloc_shared "B of gemm" : !tgpu.smem<32x64xf32>
// CHECK: scf.for
// CHECK: tgpu.local_store %[[A]], %[[AS]]
// CHECK: tgpu.local_store %[[B]], %[[BS]]
// CHECK: tgpu.dot %[[AS]], %[[BS]], {{.*}}mma = #tgpu.mma<fma, 1, 1, 1, warps = 1, 4>
tgpu.kernel @fragments(%a: tensor<64x32xf32>, %b: tensor<32x64xf32>, %c: tensor<64x64xf32>, %n: i32) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %c) -> (tensor<64x64xf32>) : i32 {
    // expected-remark@+3 {{gemm uses scalar multiply-adds, no matrix instruction: tensor cores do not multiply these types}}
    // expected-remark@+2 {{gemm reads its operand A through shared memory: scalar multiply-adds read operands that all threads see}}
    // expected-remark@+1 {{gemm reads its operand B through shared memory}}
    %d = tgpu.dot %a, %b, %acc : tensor<64x32xf32>, tensor<32x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    scf.yield %d : tensor<64x64xf32>
  }
  tgpu.return
}
