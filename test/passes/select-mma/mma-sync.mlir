// Before sm_90 products are mma.sync without a remark; warps share the accumulator so that they read little.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-select-mma))' -verify-diagnostics -split-input-file | FileCheck %s

// CHECK-LABEL: tgpu.kernel @square(
// CHECK: tgpu.dot {{.*}}mma = #tgpu.mma<mma_sync, 16, 8, 16, warps = 2, 2>
tgpu.kernel @square(%a: !tgpu.smem<128x32xf16>, %b: !tgpu.smem<32x128xf16>, %c: tensor<128x128xf32>) attributes {threads = 128 : i32, target = "sm_80"} {
  %d = tgpu.dot %a, %b, %c : !tgpu.smem<128x32xf16>, !tgpu.smem<32x128xf16>, tensor<128x128xf32> -> tensor<128x128xf32>
  tgpu.return
}

// CHECK-LABEL: tgpu.kernel @tall(
// CHECK: tgpu.dot {{.*}}mma = #tgpu.mma<mma_sync, 16, 8, 16, warps = 4, 1>
tgpu.kernel @tall(%a: !tgpu.smem<256x32xbf16>, %b: !tgpu.smem<32x16xbf16>, %c: tensor<256x16xf32>) attributes {threads = 128 : i32, target = "sm_80"} {
  %d = tgpu.dot %a, %b, %c : !tgpu.smem<256x32xbf16>, !tgpu.smem<32x16xbf16>, tensor<256x16xf32> -> tensor<256x16xf32>
  tgpu.return
}

// CHECK-LABEL: tgpu.kernel @wide(
// CHECK: tgpu.dot {{.*}}mma = #tgpu.mma<mma_sync, 16, 8, 16, warps = 1, 4>
tgpu.kernel @wide(%a: !tgpu.smem<16x32xf16>, %b: !tgpu.smem<32x256xf16>, %c: tensor<16x256xf32>) attributes {threads = 128 : i32, target = "sm_86"} {
  %d = tgpu.dot %a, %b, %c : !tgpu.smem<16x32xf16>, !tgpu.smem<32x256xf16>, tensor<16x256xf32> -> tensor<16x256xf32>
  tgpu.return
}

// CHECK-LABEL: tgpu.kernel @full_row(
// CHECK: tgpu.dot {{.*}}mma = #tgpu.mma<mma_sync, 16, 8, 16, warps = 4, 1>
tgpu.kernel @full_row(%a: !tgpu.smem<128x32xf16>, %b: !tgpu.smem<32x128xf16>, %c: tensor<128x128xf32>) attributes {threads = 128 : i32, target = "sm_80"} {
  %d = tgpu.dot %a, %b, %c {policy = #tile.policy<full_row>} : !tgpu.smem<128x32xf16>, !tgpu.smem<32x128xf16>, tensor<128x128xf32> -> tensor<128x128xf32>
  tgpu.return
}

// CHECK-LABEL: tgpu.kernel @full_col(
// CHECK: tgpu.dot {{.*}}mma = #tgpu.mma<mma_sync, 16, 8, 16, warps = 1, 4>
tgpu.kernel @full_col(%a: !tgpu.smem<128x32xf16>, %b: !tgpu.smem<32x128xf16>, %c: tensor<128x128xf32>) attributes {threads = 128 : i32, target = "sm_80"} {
  %d = tgpu.dot %a, %b, %c {policy = #tile.policy<full_col>} : !tgpu.smem<128x32xf16>, !tgpu.smem<32x128xf16>, tensor<128x128xf32> -> tensor<128x128xf32>
  tgpu.return
}

// CHECK-LABEL: tgpu.kernel @fragments(
// CHECK: tgpu.dot {{.*}}mma = #tgpu.mma<mma_sync, 16, 8, 16, warps = 4, 1>
tgpu.kernel @fragments(%a: tensor<64x32xf16>, %b: tensor<32x64xf16>, %c: tensor<64x64xf32>) attributes {threads = 128 : i32, target = "sm_80"} {
  %d = tgpu.dot %a, %b, %c : tensor<64x32xf16>, tensor<32x64xf16>, tensor<64x64xf32> -> tensor<64x64xf32>
  tgpu.return
}

// CHECK-LABEL: tgpu.kernel @tf32(
// CHECK: tgpu.dot {{.*}}mma = #tgpu.mma<mma_sync, 16, 8, 8, warps = 2, 2>
tgpu.kernel @tf32(%a: !tgpu.smem<64x32xf32>, %b: !tgpu.smem<32x64xf32>, %c: tensor<64x64xf32>) attributes {threads = 128 : i32, target = "sm_80"} {
  %d = tgpu.dot %a, %b, %c {precision = #tile.precision<tf32>} : !tgpu.smem<64x32xf32>, !tgpu.smem<32x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  tgpu.return
}

// CHECK-LABEL: tgpu.kernel @int8(
// CHECK: tgpu.dot {{.*}}mma = #tgpu.mma<mma_sync, 16, 8, 32, warps = 2, 2>
tgpu.kernel @int8(%a: !tgpu.smem<32x64xi8>, %b: !tgpu.smem<32x64xi8>, %c: tensor<64x64xi32>) attributes {threads = 128 : i32, target = "sm_80"} {
  %d = tgpu.dot %a, %b, %c {transpose_a} : !tgpu.smem<32x64xi8>, !tgpu.smem<32x64xi8>, tensor<64x64xi32> -> tensor<64x64xi32>
  tgpu.return
}

// fp8 from sm_89 on.
// CHECK-LABEL: tgpu.kernel @fp8(
// CHECK: tgpu.dot {{.*}}mma = #tgpu.mma<mma_sync, 16, 8, 32, warps = 2, 2>
tgpu.kernel @fp8(%a: !tgpu.smem<64x32xf8E4M3FN>, %b: !tgpu.smem<32x64xf8E4M3FN>, %c: tensor<64x64xf32>) attributes {threads = 128 : i32, target = "sm_89"} {
  %d = tgpu.dot %a, %b, %c : !tgpu.smem<64x32xf8E4M3FN>, !tgpu.smem<32x64xf8E4M3FN>, tensor<64x64xf32> -> tensor<64x64xf32>
  tgpu.return
}

// Before, in the same layouts: the instruction's words are decoded to f16, of which it takes half the k at a time.
// CHECK-LABEL: tgpu.kernel @fp8_decoded(
// CHECK: tgpu.dot {{.*}}mma = #tgpu.mma<mma_sync, 16, 8, 32, warps = 2, 2>
tgpu.kernel @fp8_decoded(%a: !tgpu.smem<64x32xf8E4M3FN>, %b: !tgpu.smem<32x64xf8E5M2>, %c: tensor<64x64xf32>) attributes {threads = 128 : i32, target = "sm_80"} {
  // expected-remark@+1 {{gemm decodes its operands to f16 in registers: `sm_80` has no matrix instruction for fp8}}
  %d = tgpu.dot %a, %b, %c {require = ["mma"]} : !tgpu.smem<64x32xf8E4M3FN>, !tgpu.smem<32x64xf8E5M2>, tensor<64x64xf32> -> tensor<64x64xf32>
  tgpu.return
}

// CHECK-LABEL: tgpu.kernel @required(
// CHECK: tgpu.dot {{.*}}mma = #tgpu.mma<mma_sync, 16, 8, 16, warps = 2, 2>
tgpu.kernel @required(%a: !tgpu.smem<64x32xf16>, %b: !tgpu.smem<32x64xf16>, %c: tensor<64x64xf32>) attributes {threads = 128 : i32, target = "sm_80"} {
  %d = tgpu.dot %a, %b, %c {require = ["mma"]} : !tgpu.smem<64x32xf16>, !tgpu.smem<32x64xf16>, tensor<64x64xf32> -> tensor<64x64xf32>
  tgpu.return
}

// Rows stay whole where they are reduced, here behind a mask, or are A of another product; not where that gives a warp more to do.
// CHECK-LABEL: tgpu.kernel @rows(
// CHECK: tgpu.dot {{.*}}mma = #tgpu.mma<mma_sync, 16, 8, 16, warps = 4, 1>
// CHECK: tgpu.dot {{.*}}mma = #tgpu.mma<mma_sync, 16, 8, 16, warps = 4, 1>
tgpu.kernel @rows(%a: !tgpu.smem<64x32xf16>, %b: !tgpu.smem<32x64xf16>, %c: tensor<64x64xf32>, %p: i1, %e: tensor<64x32xf32>) attributes {threads = 128 : i32, target = "sm_80"} {
  %d = tgpu.dot %a, %b, %c : !tgpu.smem<64x32xf16>, !tgpu.smem<32x64xf16>, tensor<64x64xf32> -> tensor<64x64xf32>
  %m = scf.if %p -> (tensor<64x64xf32>) {
    %n = arith.negf %d : tensor<64x64xf32>
    scf.yield %n : tensor<64x64xf32>
  } else {
    scf.yield %c : tensor<64x64xf32>
  }
  %r = tile.reduce <max> %m axis 1 : tensor<64x64xf32> -> tensor<64xf32>
  %h = tile.convert %d : tensor<64x64xf32> to tensor<64x64xf16>
  %b2 = tgpu.alloc_shared : !tgpu.smem<64x32xf16>
  %f = tgpu.dot %h, %b2, %e : tensor<64x64xf16>, !tgpu.smem<64x32xf16>, tensor<64x32xf32> -> tensor<64x32xf32>
  tgpu.return
}

// CHECK-LABEL: tgpu.kernel @few_rows(
// CHECK: tgpu.dot {{.*}}mma = #tgpu.mma<mma_sync, 16, 8, 16, warps = 1, 4>
tgpu.kernel @few_rows(%a: !tgpu.smem<16x32xf16>, %b: !tgpu.smem<32x64xf16>, %c: tensor<16x64xf32>) attributes {threads = 128 : i32, target = "sm_80"} {
  %d = tgpu.dot %a, %b, %c : !tgpu.smem<16x32xf16>, !tgpu.smem<32x64xf16>, tensor<16x64xf32> -> tensor<16x64xf32>
  %r = tile.reduce <max> %d axis 1 : tensor<16x64xf32> -> tensor<16xf32>
  tgpu.return
}
