// What wgmma cannot do goes to mma.sync, with a remark that says why.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-select-mma))' -verify-diagnostics -split-input-file | FileCheck %s

// CHECK-LABEL: tgpu.kernel @b_fragment(
// CHECK: tgpu.dot {{.*}}mma = #tgpu.mma<mma_sync, 16, 8, 16, warps = 2, 2>
tgpu.kernel @b_fragment(%a: !tgpu.smem<64x32xf16>, %b: tensor<32x64xf16>, %c: tensor<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  // expected-remark@+1 {{gemm uses mma.sync, not wgmma: wgmma reads B from shared memory, here it is a fragment}}
  %d = tgpu.dot %a, %b, %c : !tgpu.smem<64x32xf16>, tensor<32x64xf16>, tensor<64x64xf32> -> tensor<64x64xf32>
  tgpu.return
}

// CHECK-LABEL: tgpu.kernel @three_warps(
// CHECK: tgpu.dot {{.*}}mma = #tgpu.mma<mma_sync, 16, 8, 16, warps = 3, 1>
tgpu.kernel @three_warps(%a: !tgpu.smem<48x32xf16>, %b: !tgpu.smem<32x64xf16>, %c: tensor<48x64xf32>) attributes {threads = 96 : i32, target = "sm_90a"} {
  // expected-remark@+1 {{gemm uses mma.sync, not wgmma: wgmma needs whole warpgroups of 128 threads}}
  %d = tgpu.dot %a, %b, %c : !tgpu.smem<48x32xf16>, !tgpu.smem<32x64xf16>, tensor<48x64xf32> -> tensor<48x64xf32>
  tgpu.return
}

// CHECK-LABEL: tgpu.kernel @e4m3_b(
// CHECK: tgpu.dot {{.*}}mma = #tgpu.mma<mma_sync, 16, 8, 32, warps = 2, 2>
tgpu.kernel @e4m3_b(%a: !tgpu.smem<64x32xf8E4M3FN>, %b: !tgpu.smem<32x64xf8E4M3FN>, %c: tensor<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  // expected-remark@+1 {{gemm uses mma.sync, not wgmma: wgmma reads operands of 8 bits only with k contiguous}}
  %d = tgpu.dot %a, %b, %c : !tgpu.smem<64x32xf8E4M3FN>, !tgpu.smem<32x64xf8E4M3FN>, tensor<64x64xf32> -> tensor<64x64xf32>
  tgpu.return
}

// CHECK-LABEL: tgpu.kernel @e4m3_a(
// CHECK: tgpu.dot {{.*}}mma = #tgpu.mma<mma_sync, 16, 8, 32, warps = 2, 2>
tgpu.kernel @e4m3_a(%a: !tgpu.smem<32x64xf8E4M3FN>, %b: !tgpu.smem<64x32xf8E4M3FN>, %c: tensor<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  // expected-remark@+1 {{gemm uses mma.sync, not wgmma: wgmma reads operands of 8 bits only with k contiguous}}
  %d = tgpu.dot %a, %b, %c {transpose_a, transpose_b} : !tgpu.smem<32x64xf8E4M3FN>, !tgpu.smem<64x32xf8E4M3FN>, tensor<64x64xf32> -> tensor<64x64xf32>
  tgpu.return
}

// CHECK-LABEL: tgpu.kernel @tf32(
// CHECK: tgpu.dot {{.*}}mma = #tgpu.mma<mma_sync, 16, 8, 8, warps = 2, 2>
tgpu.kernel @tf32(%a: !tgpu.smem<64x32xf32>, %b: !tgpu.smem<32x64xf32>, %c: tensor<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  // expected-remark@+1 {{gemm uses mma.sync, not wgmma: wgmma reads operands of 32 bits only with k contiguous}}
  %d = tgpu.dot %a, %b, %c {precision = #tile.precision<tf32>} : !tgpu.smem<64x32xf32>, !tgpu.smem<32x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  tgpu.return
}

// CHECK-LABEL: tgpu.kernel @rows(
// CHECK: tgpu.dot {{.*}}mma = #tgpu.mma<mma_sync, 16, 8, 16, warps = 2, 2>
tgpu.kernel @rows(%a: !tgpu.smem<32x32xf16>, %b: !tgpu.smem<32x64xf16>, %c: tensor<32x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  // expected-remark@+1 {{gemm uses mma.sync, not wgmma: extents 32x64x32 are not multiples of 64x8x16}}
  %d = tgpu.dot %a, %b, %c : !tgpu.smem<32x32xf16>, !tgpu.smem<32x64xf16>, tensor<32x64xf32> -> tensor<32x64xf32>
  tgpu.return
}

// CHECK-LABEL: tgpu.kernel @integers(
// CHECK: tgpu.dot {{.*}}mma = #tgpu.mma<mma_sync, 16, 8, 32, warps = 4, 1>
tgpu.kernel @integers(%a: !tgpu.smem<64x32xi8>, %b: !tgpu.smem<24x32xi8>, %c: tensor<64x24xi32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  // expected-remark@+1 {{gemm uses mma.sync, not wgmma: extents 64x24x32 are not multiples of 64x16x32}}
  %d = tgpu.dot %a, %b, %c {transpose_b} : !tgpu.smem<64x32xi8>, !tgpu.smem<24x32xi8>, tensor<64x24xi32> -> tensor<64x24xi32>
  tgpu.return
}

// CHECK-LABEL: tgpu.kernel @groups(
// CHECK: tgpu.dot {{.*}}mma = #tgpu.mma<wgmma, 64, 8, 16, warps = 1, 3>
tgpu.kernel @groups(%a: !tgpu.smem<64x16xf16>, %b: !tgpu.smem<16x24xf16>, %c: tensor<64x24xf32>) attributes {threads = 384 : i32, target = "sm_90a"} {
  %d = tgpu.dot %a, %b, %c {policy = #tile.policy<square>} : !tgpu.smem<64x16xf16>, !tgpu.smem<16x24xf16>, tensor<64x24xf32> -> tensor<64x24xf32>
  tgpu.return
}

// CHECK-LABEL: tgpu.kernel @full_row(
// CHECK: tgpu.dot {{.*}}mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 2>
tgpu.kernel @full_row(%a: !tgpu.smem<64x16xf16>, %b: !tgpu.smem<16x128xf16>, %c: tensor<64x128xf32>) attributes {threads = 256 : i32, target = "sm_90a"} {
  %d = tgpu.dot %a, %b, %c {policy = #tile.policy<full_col>} : !tgpu.smem<64x16xf16>, !tgpu.smem<16x128xf16>, tensor<64x128xf32> -> tensor<64x128xf32>
  tgpu.return
}

// -----

// A part that begins inside a group of rows.
// CHECK-LABEL: tgpu.kernel @part(
// CHECK: tgpu.dot {{.*}}mma = #tgpu.mma<mma_sync,
tgpu.kernel @part(%a: !tgpu.smem<192x16xf16>, %b: !tgpu.smem<16x64xf16>, %c: tensor<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %p = tgpu.subview %a at [4, 0] : !tgpu.smem<192x16xf16> -> !tgpu.smem<64x16xf16>
  // expected-remark@+1 {{gemm uses mma.sync, not wgmma: a part of shared memory that it reads begins inside its groups of 8 rows or 32 bytes of k}}
  %d = tgpu.dot %p, %b, %c : !tgpu.smem<64x16xf16>, !tgpu.smem<16x64xf16>, tensor<64x64xf32> -> tensor<64x64xf32>
  tgpu.return
}
