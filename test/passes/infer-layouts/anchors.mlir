// The instruction of a product gives its accumulator a layout, and the operands that are fragments.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-infer-layouts))' -verify-diagnostics -split-input-file | FileCheck %s

!a = !tgpu.smem<64x32xf16>
!b = !tgpu.smem<32x64xf16>
!acc = tensor<64x64xf32>
// CHECK-LABEL: tgpu.kernel @wgmma
// CHECK: tgpu.dot {{.*}} -> tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
tgpu.kernel @wgmma(%a: !a, %b: !b) attributes {threads = 128 : i32} {
  %z = arith.constant dense<0.0> : !acc
  %d = tgpu.dot %a, %b, %z {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !a, !b, !acc -> !acc
  tgpu.return
}

// -----

!a = !tgpu.smem<64x32xf16>
!b = !tgpu.smem<32x64xf16>
!acc = tensor<64x64xf32>
// Two warpgroups side by side.
// CHECK-LABEL: tgpu.kernel @columns
// CHECK: tgpu.dot {{.*}} -> tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0:0,32">>
tgpu.kernel @columns(%a: !a, %b: !b) attributes {threads = 256 : i32} {
  %z = arith.constant dense<0.0> : !acc
  %d = tgpu.dot %a, %b, %z {mma = #tgpu.mma<wgmma, 64, 32, 16, warps = 1, 2>} : !a, !b, !acc -> !acc
  tgpu.return
}

// -----

!a = !tgpu.smem<48x32xf16>
!b = !tgpu.smem<32x64xf16>
!acc = tensor<48x64xf32>
// CHECK-LABEL: tgpu.kernel @three_warps
// CHECK: tgpu.dot {{.*}} -> tensor<48x64xf32, #tgpu.fragment<"48x64 {{.*}}">>
tgpu.kernel @three_warps(%a: !a, %b: !b) attributes {threads = 96 : i32} {
  %z = arith.constant dense<0.0> : !acc
  %d = tgpu.dot %a, %b, %z {mma = #tgpu.mma<mma_sync, 16, 8, 16, warps = 3, 1>} : !a, !b, !acc -> !acc
  tgpu.return
}

// -----

// Operands in registers: what is loaded is converted to what the instruction takes.
!acc = tensor<64x64xf32>
// CHECK-LABEL: tgpu.kernel @operands
// CHECK: %[[X:.*]] = tgpu.load {{.*}} -> tensor<64x16xf16, [[FREE:#tgpu.fragment<"[^"]*">]]>
// CHECK: %[[A:.*]] = tgpu.convert_layout %[[X]] : tensor<64x16xf16, [[FREE]]> -> tensor<64x16xf16, #tgpu.fragment<"64x16 reg 0,1:8,0:0,8:16,0 lane 0,2:0,4:1,0:2,0:4,0 warp 32,0:0,0">>
// CHECK: %[[B:.*]] = tgpu.convert_layout {{.*}} -> tensor<16x64xf16, #tgpu.fragment<"16x64 reg 1,0:8,0:0,8:0,16 lane 2,0:4,0:0,1:0,2:0,4 warp 0,0:0,32">>
// CHECK: tgpu.dot %[[A]], %[[B]]
tgpu.kernel @operands(%g: !tile.global<64x16xf16>, %h: !tile.global<16x64xf16>) attributes {threads = 128 : i32} {
  %z = arith.constant dense<0.0> : !acc
  %x = tgpu.load %g {bytes = 16 : i32} : !tile.global<64x16xf16> -> tensor<64x16xf16>
  %y = tgpu.load %h {bytes = 16 : i32} : !tile.global<16x64xf16> -> tensor<16x64xf16>
  // One for each operand, of equal text.
  // expected-remark@+1 {{layout conversion of a fragment: its producer and this use need different layouts}}
  %d = tgpu.dot %x, %y, %z {mma = #tgpu.mma<mma_sync, 16, 8, 16, warps = 2, 2>} : tensor<64x16xf16>, tensor<16x64xf16>, !acc -> !acc
  tgpu.return
}

// -----

// A product of multiply-adds takes any layout that covers its accumulator.
!s = !tgpu.smem<64x64xf32>
!acc = tensor<64x64xf32>
// CHECK-LABEL: tgpu.kernel @fma
// CHECK: tgpu.dot {{.*}} -> tensor<64x64xf32, #tgpu.fragment<"64x64 {{.*}}">>
tgpu.kernel @fma(%a: !s) attributes {threads = 128 : i32} {
  %z = arith.constant dense<0.0> : !acc
  %d = tgpu.dot %a, %a, %z {mma = #tgpu.mma<fma, 1, 1, 1, warps = 1, 4>} : !s, !s, !acc -> !acc
  tgpu.return
}
