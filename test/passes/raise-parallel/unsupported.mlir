// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-raise-parallel))' -split-input-file -verify-diagnostics

tgpu.kernel @vec(%g: !tile.global<?xf32>, %n: i32) attributes {threads = 64 : i32, target = "sm_80"} {
  %a = tgpu.view %g extents(%n : i32) strides() : !tile.global<?xf32> -> !tile.global<?xf32>
  %eight = arith.constant 8 : i32
  tile.parallel(%eight : i32) {
  ^bb0(%i: i32):
    // expected-error@+1 {{a `vec` in a `parallel` loop is not supported yet on `sm_80` [not-supported]}}
    %v = tile.load %a[%i : i32] : !tile.global<?xf32> -> vector<4xf32>
  }
  tgpu.return
}
