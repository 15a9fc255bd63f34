// Layouts that a product or TMA cannot use are errors, and so are buffers whose users are not ready.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-select-shared-layouts))' -verify-diagnostics -split-input-file

tgpu.kernel @padded_wgmma(%c: tensor<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  // expected-error-re@+1 {{layout `padded(8)` of `A` cannot be used: {{.+}} [layout-unusable]}}
  %a = tgpu.alloc_shared "A" {layout_hint = "padded(8)"} : !tgpu.smem<64x64xf16>
  %d = tgpu.dot %a, %a, %c {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !tgpu.smem<64x64xf16>, !tgpu.smem<64x64xf16>, tensor<64x64xf32> -> tensor<64x64xf32>
  tgpu.return
}

// -----

tgpu.kernel @padded_tma(%g: !tile.global<64x64xf16>) attributes {threads = 128 : i32, target = "sm_90a"} {
  // expected-error-re@+1 {{layout `padded(1)` of `A` cannot be used: {{.+}} [layout-unusable]}}
  %a = tgpu.alloc_shared "A" {layout_hint = "padded(1)"} : !tgpu.smem<64x64xf16>
  tgpu.copy %g to %a {path = #tgpu.path<tma>} : !tile.global<64x64xf16>, !tgpu.smem<64x64xf16>
  tgpu.return
}

// -----

tgpu.kernel @padded_cp_async(%g: !tile.global<64x64xf16>) attributes {threads = 128 : i32, target = "sm_80"} {
  // expected-error@+1 {{layout `padded(1)` of `A` cannot be used: rows do not start at multiples of the 16 bytes that cp.async writes at once [layout-unusable]}}
  %a = tgpu.alloc_shared "A" {layout_hint = "padded(1)"} : !tgpu.smem<64x64xf16>
  tgpu.copy %g to %a {path = #tgpu.path<cp_async>, bytes = 16 : i32} : !tile.global<64x64xf16>, !tgpu.smem<64x64xf16>
  tgpu.return
}

// -----

tgpu.kernel @swizzle() attributes {threads = 128 : i32, target = "sm_90a"} {
  // expected-error-re@+1 {{layout `swizzle(48)` of `A` cannot be used: {{.+}} [layout-unusable]}}
  %a = tgpu.alloc_shared "A" {layout_hint = "swizzle(48)"} : !tgpu.smem<64x20xf16>
  tgpu.return
}

// -----

tgpu.kernel @unknown() attributes {threads = 128 : i32, target = "sm_90a"} {
  // expected-error@+1 {{layout `diagonal` of `A` cannot be used: unknown layout `diagonal` [layout-unusable]}}
  %a = tgpu.alloc_shared "A" {layout_hint = "diagonal"} : !tgpu.smem<64x64xf16>
  tgpu.return
}

// -----

tgpu.kernel @no_instruction(%c: tensor<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %a = tgpu.alloc_shared "A" : !tgpu.smem<64x64xf16>
  // expected-error@+1 {{has no instruction or layout: run tgpu-select-mma and tgpu-infer-layouts first}}
  %d = tgpu.dot %a, %a, %c : !tgpu.smem<64x64xf16>, !tgpu.smem<64x64xf16>, tensor<64x64xf32> -> tensor<64x64xf32>
  tgpu.return
}

// -----

tgpu.kernel @no_layout() attributes {threads = 128 : i32, target = "sm_90a"} {
  %a = tgpu.alloc_shared "A" : !tgpu.smem<64x64xf16>
  // expected-error@+1 {{has no instruction or layout}}
  %x = tgpu.local_load %a : !tgpu.smem<64x64xf16> -> tensor<64x64xf16>
  tgpu.return
}

// -----

// Of what is far too large nothing is computed: at 100000 rows that took half a minute.
// expected-error@+1 {{shared memory of 25600000 bytes is needed, but `sm_80` has 166912 [shared-too-large]}}
tgpu.kernel @hopeless(%g: !tile.global<100000x128xf16>) attributes {threads = 128 : i32, target = "sm_80"} {
  // expected-note@+1 {{`B` alone, 100000x128 f16}}
  %b = tgpu.alloc_shared "B" : !tgpu.smem<100000x128xf16>
  tgpu.copy %g to %b {path = #tgpu.path<cp_async>, bytes = 16 : i32} : !tile.global<100000x128xf16>, !tgpu.smem<100000x128xf16>
  tgpu.return
}
