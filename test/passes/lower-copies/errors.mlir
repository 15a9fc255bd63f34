// Copies and stores that miss what `@require` asks for are errors.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-lower-copies))' -verify-diagnostics -split-input-file

!f = tensor<64x32xf16, #tgpu.fragment<"64x32 reg 0,1:8,0:0,8:0,16 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
tgpu.kernel @narrow(%g: !tile.global<64x32xf16>, %f: !f) attributes {threads = 128 : i32, target = "sm_90a"} {
  // expected-error@+1 {{`tma` is required, but not achieved: its columns are not multiples of a panel of 64 [require]}}
  tgpu.store %f, %g {path = #tgpu.path<tma>, bytes = 16 : i32, require = ["tma"]} : !f, !tile.global<64x32xf16>
  tgpu.return
}

// -----

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
tgpu.kernel @lone(%g: !tile.global<64x64xf16>, %s: !s) attributes {threads = 128 : i32, target = "sm_90a", require = ["tma"]} {
  // expected-error-re@+1 {{`tma` is required, but not achieved: {{.+}} [require]}}
  tgpu.copy %g to %s {path = #tgpu.path<tma>, bytes = 16 : i32} : !tile.global<64x64xf16>, !s
  tgpu.return
}

// -----

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
tgpu.kernel @cp_async(%g: !tile.global<64x64xf16>, %s: !s) attributes {threads = 128 : i32, target = "sm_90a"} {
  // expected-remark-re@+2 {{copy uses no TMA: {{.+}}}}
  // expected-error@+1 {{`cp_async` is required, but not achieved: its accesses are not wide enough [require]}}
  tgpu.copy %g to %s {path = #tgpu.path<tma>, bytes = 2 : i32, require = ["cp_async"]} : !tile.global<64x64xf16>, !s
  tgpu.return
}
