// A product without a matrix instruction is one tgpu.fma; what is not prepared is an error.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-lower-dots))' -verify-diagnostics -split-input-file | FileCheck %s

!s = !tgpu.smem<64x64xf32, #tgpu.shared<"64x64 b32 contig 1 panel 64">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
// CHECK-LABEL: tgpu.kernel @fma
// CHECK: tgpu.fma %{{.*}} {a_unsigned, transpose_b}
// CHECK: %[[Z:.*]] = tile.splat
// CHECK: tgpu.fma %{{.*}}, %[[Z]]
tgpu.kernel @fma(%a: !s, %c: !acc) attributes {threads = 128 : i32} {
  %d = tgpu.dot %a, %a, %c {transpose_b, a_unsigned, mma = #tgpu.mma<fma, 1, 1, 1, warps = 1, 4>} : !s, !s, !acc -> !acc
  %e = tgpu.dot %a, %a, %c {accumulate = false, mma = #tgpu.mma<fma, 1, 1, 1, warps = 1, 4>} : !s, !s, !acc -> !acc
  tgpu.return
}

// -----

!s = !tgpu.smem<64x64xf16>
!acc = tensor<64x64xf32>
tgpu.kernel @unprepared(%a: !s, %c: !acc) attributes {threads = 128 : i32} {
  // expected-error@+1 {{has no instruction or layout: run tgpu-select-mma and tgpu-infer-layouts first}}
  %d = tgpu.dot %a, %a, %c {mma = #tgpu.mma<fma, 1, 1, 1, warps = 1, 4>} : !s, !s, !acc -> !acc
  tgpu.return
}

// -----

// CHECK-LABEL: tgpu.kernel @nothing
// CHECK-NEXT: tgpu.return
tgpu.kernel @nothing() attributes {threads = 128 : i32} {
  tgpu.return
}
