// Bytes of packed elements have the layout of their elements, of which each thread holds pairs.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-infer-layouts))' -verify-diagnostics -split-input-file | FileCheck %s

!acc = tensor<64x64xf32>
// What is decoded from shared memory is read in the layout in which the product takes it; so is what it is scaled by.
// CHECK-LABEL: tgpu.kernel @decoded
// CHECK: tgpu.local_load %{{.*}} -> tensor<64x16xi8, #tgpu.fragment<"64x16 reg 8,0:0,4:0,8 lane 0,1:0,2:1,0:2,0:4,0 warp 16,0:32,0">>
// CHECK: tgpu.unpack {{.*}} -> tensor<64x32xi4, [[A:#tgpu.fragment<"64x32 reg 0,1:8,0:0,8:0,16 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">]]>
// CHECK: tile.convert {{.*}} to tensor<64x32xf16, [[A]]>
// CHECK: tile.broadcast {{.*}} -> tensor<64x32xf16, [[A]]>
// CHECK-NOT: convert_layout
// CHECK: tgpu.dot
tgpu.kernel @decoded(%w: !tgpu.smem<64x16xi8>, %b: !tgpu.smem<32x64xf16>, %s: !tile.global<64xf16>) attributes {threads = 128 : i32} {
  %z = arith.constant dense<0.0> : !acc
  %bytes = tgpu.local_load %w : !tgpu.smem<64x16xi8> -> tensor<64x16xi8>
  %e = tgpu.unpack %bytes : tensor<64x16xi8> -> tensor<64x32xi4>
  %h = tile.convert %e {src_unsigned} : tensor<64x32xi4> to tensor<64x32xf16>
  %v = tgpu.load %s {bytes = 16 : i32} : !tile.global<64xf16> -> tensor<64xf16>
  %wide = tile.broadcast %v along [1] : tensor<64xf16> -> tensor<64x32xf16>
  %x = arith.mulf %h, %wide : tensor<64x32xf16>
  %d = tgpu.dot %x, %b, %z {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : tensor<64x32xf16>, !tgpu.smem<32x64xf16>, !acc -> !acc
  tgpu.return
}

// -----

// The result of an unpacking has pairs, whoever takes it: a product whose columns are not neighbours in
// memory gives neighbouring ones to different lanes.
// CHECK-LABEL: tgpu.kernel @pairs
// CHECK: tgpu.unpack {{.*}} -> tensor<32x64xi4, [[PAIRS:#tgpu.fragment<"32x64 reg 0,1:[^"]*">]]>
// CHECK: %[[OTHER:.*]] = tgpu.convert_layout {{.*}} : tensor<32x64xi4, [[PAIRS]]> ->
// CHECK: tile.convert %[[OTHER]]
tgpu.kernel @pairs(%w: !tgpu.smem<32x32xi8>, %a: !tgpu.smem<32x8xf32>, %b: !tgpu.smem<64x8xf32>) attributes {threads = 128 : i32} {
  %bytes = tgpu.local_load %w : !tgpu.smem<32x32xi8> -> tensor<32x32xi8>
  %e = tgpu.unpack %bytes : tensor<32x32xi8> -> tensor<32x64xi4>
  // expected-remark@+1 {{layout conversion of a fragment}}
  %h = tile.convert %e : tensor<32x64xi4> to tensor<32x64xf32>
  %d = tgpu.dot %a, %b, %h {mma = #tgpu.mma<fma, 1, 1, 1, warps = 1, 1>, transpose_b} : !tgpu.smem<32x8xf32>, !tgpu.smem<64x8xf32>, tensor<32x64xf32> -> tensor<32x64xf32>
  tgpu.return
}
