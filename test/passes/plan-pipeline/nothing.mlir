// Loops without `stages` stay as they are; a kernel needs a target.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-plan-pipeline))' -verify-diagnostics -split-input-file | FileCheck %s

// CHECK-LABEL: tgpu.kernel @plain
// CHECK: scf.for
// CHECK-NOT: tgpu.schedule
// CHECK: tgpu.return
tgpu.kernel @plain(%n: i32, %s: !tgpu.smem<64x64xf16>, %g: !tile.global<64x64xf16>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    tgpu.copy %g to %s {path = #tgpu.path<tma>} : !tile.global<64x64xf16>, !tgpu.smem<64x64xf16>
  }
  tgpu.return
}

// -----

// expected-error@+1 {{kernel has no known target}}
tgpu.kernel @no_target() attributes {threads = 128 : i32} {
  tgpu.return
}
