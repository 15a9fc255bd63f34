// A print shows values: what shared memory and fragments hold where it stands.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(convert-tile-to-tgpu))' | FileCheck %s

// CHECK-LABEL: tgpu.kernel @values
// CHECK: %[[F:.*]] = tile.splat %arg1
// CHECK: %[[S:.*]] = tgpu.local_load
// CHECK: tile.print "{} {} {}", %arg0, %[[F]], %[[S]] : i32, tensor<64xf32>, tensor<64xf32> {place = 2 : i32, unsigned_values = array<i32: 0>}
tgpu.kernel @values(%n: i32, %x: f32) attributes {threads = 64 : i32, target = "sm_80"} {
  %f = tile.alloc "f" : !tile.buffer<64xf32, fragment>
  %s = tile.alloc "s" : !tile.buffer<64xf32, shared>
  %t = tile.splat %x : f32 -> tensor<64xf32>
  tile.write %t, %f : tensor<64xf32>, !tile.buffer<64xf32, fragment>
  tile.write %t, %s : tensor<64xf32>, !tile.buffer<64xf32, shared>
  %a = tile.read %f : !tile.buffer<64xf32, fragment> -> tensor<64xf32>
  %b = tile.read %s : !tile.buffer<64xf32, shared> -> tensor<64xf32>
  tile.print "{} {} {}", %n, %a, %b : i32, tensor<64xf32>, tensor<64xf32> {place = 2 : i32, unsigned_values = array<i32: 0>}
  tgpu.return
}
