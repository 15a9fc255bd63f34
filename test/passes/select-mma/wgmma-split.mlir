// Warpgroups share rows if they divide, else columns; the policy decides where both would do.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-select-mma))' -verify-diagnostics -split-input-file | FileCheck %s

// CHECK-LABEL: tgpu.kernel @rows(
// CHECK: tgpu.dot {{.*}}mma = #tgpu.mma<wgmma, 64, 256, 16, warps = 2, 1>
tgpu.kernel @rows(%a: !tgpu.smem<128x64xf16>, %b: !tgpu.smem<64x256xf16>, %c: tensor<128x256xf32>) attributes {threads = 256 : i32, target = "sm_90a"} {
  %d = tgpu.dot %a, %b, %c : !tgpu.smem<128x64xf16>, !tgpu.smem<64x256xf16>, tensor<128x256xf32> -> tensor<128x256xf32>
  tgpu.return
}

// 64 rows are one warpgroup's.
// CHECK-LABEL: tgpu.kernel @columns(
// CHECK: tgpu.dot {{.*}}mma = #tgpu.mma<wgmma, 64, 128, 16, warps = 1, 2>
tgpu.kernel @columns(%a: !tgpu.smem<64x64xf16>, %b: !tgpu.smem<64x256xf16>, %c: tensor<64x256xf32>) attributes {threads = 256 : i32, target = "sm_90a"} {
  %d = tgpu.dot %a, %b, %c : !tgpu.smem<64x64xf16>, !tgpu.smem<64x256xf16>, tensor<64x256xf32> -> tensor<64x256xf32>
  tgpu.return
}

// CHECK-LABEL: tgpu.kernel @full_row(
// CHECK: tgpu.dot {{.*}}mma = #tgpu.mma<wgmma, 64, 256, 16, warps = 2, 1>
tgpu.kernel @full_row(%a: !tgpu.smem<128x64xf16>, %b: !tgpu.smem<64x256xf16>, %c: tensor<128x256xf32>) attributes {threads = 256 : i32, target = "sm_90a"} {
  %d = tgpu.dot %a, %b, %c {policy = #tile.policy<full_row>} : !tgpu.smem<128x64xf16>, !tgpu.smem<64x256xf16>, tensor<128x256xf32> -> tensor<128x256xf32>
  tgpu.return
}

// CHECK-LABEL: tgpu.kernel @full_col(
// CHECK: tgpu.dot {{.*}}mma = #tgpu.mma<wgmma, 64, 128, 16, warps = 1, 2>
tgpu.kernel @full_col(%a: !tgpu.smem<128x64xf16>, %b: !tgpu.smem<64x256xf16>, %c: tensor<128x256xf32>) attributes {threads = 256 : i32, target = "sm_90a"} {
  %d = tgpu.dot %a, %b, %c {policy = #tile.policy<full_col>} : !tgpu.smem<128x64xf16>, !tgpu.smem<64x256xf16>, tensor<128x256xf32> -> tensor<128x256xf32>
  tgpu.return
}

// CHECK-LABEL: tgpu.kernel @three(
// CHECK: tgpu.dot {{.*}}mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 3, 1>
tgpu.kernel @three(%a: !tgpu.smem<192x64xf16>, %b: !tgpu.smem<64x64xf16>, %c: tensor<192x64xf32>) attributes {threads = 384 : i32, target = "sm_90a"} {
  %d = tgpu.dot %a, %b, %c : !tgpu.smem<192x64xf16>, !tgpu.smem<64x64xf16>, tensor<192x64xf32> -> tensor<192x64xf32>
  tgpu.return
}

// More than 256 columns take several instructions of the widest n that divides them.
// CHECK-LABEL: tgpu.kernel @wide(
// CHECK: tgpu.dot {{.*}}mma = #tgpu.mma<wgmma, 64, 256, 16, warps = 1, 1>
tgpu.kernel @wide(%a: !tgpu.smem<64x32xf16>, %b: !tgpu.smem<32x512xf16>, %c: tensor<64x512xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %d = tgpu.dot %a, %b, %c : !tgpu.smem<64x32xf16>, !tgpu.smem<32x512xf16>, tensor<64x512xf32> -> tensor<64x512xf32>
  tgpu.return
}

// CHECK-LABEL: tgpu.kernel @uneven(
// CHECK: tgpu.dot {{.*}}mma = #tgpu.mma<wgmma, 64, 88, 16, warps = 1, 1>
tgpu.kernel @uneven(%a: !tgpu.smem<64x32xf16>, %b: !tgpu.smem<32x264xf16>, %c: tensor<64x264xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %d = tgpu.dot %a, %b, %c : !tgpu.smem<64x32xf16>, !tgpu.smem<32x264xf16>, tensor<64x264xf32> -> tensor<64x264xf32>
  tgpu.return
}

// Sums of integers have n in steps of 16.
// CHECK-LABEL: tgpu.kernel @int8_columns(
// CHECK: tgpu.dot {{.*}}mma = #tgpu.mma<wgmma, 64, 16, 32, warps = 1, 1>
tgpu.kernel @int8_columns(%a: !tgpu.smem<64x32xi8>, %b: !tgpu.smem<272x32xi8>, %c: tensor<64x272xi32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %d = tgpu.dot %a, %b, %c {transpose_b} : !tgpu.smem<64x32xi8>, !tgpu.smem<272x32xi8>, tensor<64x272xi32> -> tensor<64x272xi32>
  tgpu.return
}
