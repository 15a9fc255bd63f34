// A product without an instruction is an error.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-infer-layouts))' -verify-diagnostics -split-input-file

!s = !tgpu.smem<64x64xf16>
!acc = tensor<64x64xf32>
tgpu.kernel @no_instruction(%a: !s) attributes {threads = 128 : i32} {
  %z = arith.constant dense<0.0> : !acc
  // expected-error@+1 {{has no instruction: run tgpu-select-mma first}}
  %d = tgpu.dot %a, %a, %z : !s, !s, !acc -> !acc
  tgpu.return
}
