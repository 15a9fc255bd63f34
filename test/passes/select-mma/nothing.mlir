// A kernel without products stays as it is.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-select-mma))' -verify-diagnostics | FileCheck %s

// CHECK: tgpu.kernel @nothing
// CHECK-NEXT: tgpu.block_id
// CHECK-NEXT: tgpu.return
tgpu.kernel @nothing() attributes {threads = 128 : i32, target = "sm_90a"} {
  %id = tgpu.block_id
  tgpu.return
}
