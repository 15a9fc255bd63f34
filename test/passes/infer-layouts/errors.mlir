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

// -----

// More elements than any layout has registers for.
!t = !tile.global<100000x1000xf32>
tgpu.kernel @too_large(%g: !t, %o: !t) attributes {threads = 128 : i32, target = "sm_80"} {
  // expected-error@+2 {{fragments need 781250 registers per thread, but there are 255 [fragment-too-large]}}
  // expected-note@+1 {{a repeat is out of range}}
  %x = tgpu.load %g : !t -> tensor<100000x1000xf32>
  tgpu.store %x, %o : tensor<100000x1000xf32>, !t
  tgpu.return
}
