// Fragments and variables become values: what is read is what was written last, undefined contents are zero.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(convert-tile-to-tgpu))' | FileCheck %s

// CHECK-LABEL: tgpu.kernel @straight
// CHECK: %[[Z:.*]] = arith.constant 0.000000e+00 : f32
// CHECK: %[[U:.*]] = tile.splat %[[Z]] : f32 -> tensor<64xf32>
// CHECK: tgpu.store %[[U]], %[[G:.*]] :
// CHECK: %[[A:.*]] = tgpu.load %[[G]]
// CHECK: %[[B:.*]] = arith.addf %[[A]], %[[A]]
// CHECK: tgpu.store %[[B]], %[[G]]
tgpu.kernel @straight(%g: !tile.global<64xf32>) attributes {threads = 64 : i32} {
  %f = tile.alloc "f" : !tile.buffer<64xf32, fragment>
  tile.copy %f to %g : !tile.buffer<64xf32, fragment>, !tile.global<64xf32>
  tile.copy %g to %f : !tile.global<64xf32>, !tile.buffer<64xf32, fragment>
  %a = tile.read %f : !tile.buffer<64xf32, fragment> -> tensor<64xf32>
  %b = arith.addf %a, %a : tensor<64xf32>
  tile.write %b, %f : tensor<64xf32>, !tile.buffer<64xf32, fragment>
  tile.copy %f to %g : !tile.buffer<64xf32, fragment>, !tile.global<64xf32>
  tgpu.return
}

// CHECK-LABEL: tgpu.kernel @variable
// CHECK-SAME: %{{[a-z0-9]+}}: !tile.global<?xi32>, %[[N:[a-z0-9]+]]: i32
// CHECK: %[[S:.*]] = arith.addi %[[N]], %[[N]]
// CHECK: tile.store %[[S]], %{{.*}}[%[[N]] : i32]
tgpu.kernel @variable(%g: !tile.global<?xi32>, %n: i32) attributes {threads = 64 : i32} {
  %v = tile.alloc "v" : !tile.buffer<i32, uniform>
  tile.store %n, %v[] : i32, !tile.buffer<i32, uniform>
  %x = tile.load %v[] : !tile.buffer<i32, uniform> -> i32
  %y = arith.addi %x, %x : i32
  tile.write %y, %v : i32, !tile.buffer<i32, uniform>
  %z = tile.read %v : !tile.buffer<i32, uniform> -> i32
  tile.store %z, %g[%n : i32] : i32, !tile.global<?xi32>
  tgpu.return
}

// A shared buffer stays memory: each read is a load.
// CHECK-LABEL: tgpu.kernel @shared
// CHECK: %[[S:.*]] = tgpu.alloc_shared
// CHECK: %[[A:.*]] = tgpu.local_load %[[S]]
// CHECK: tgpu.local_store %[[A]], %[[S]]
// CHECK: %[[B:.*]] = tgpu.local_load %[[S]]
// CHECK: tgpu.store %[[B]]
tgpu.kernel @shared(%g: !tile.global<64xf32>) attributes {threads = 64 : i32} {
  %s = tile.alloc "s" : !tile.buffer<64xf32, shared>
  %f = tile.alloc "f" : !tile.buffer<64xf32, fragment>
  %a = tile.read %s : !tile.buffer<64xf32, shared> -> tensor<64xf32>
  tile.write %a, %s : tensor<64xf32>, !tile.buffer<64xf32, shared>
  tile.copy %s to %f : !tile.buffer<64xf32, shared>, !tile.buffer<64xf32, fragment>
  tile.copy %f to %g : !tile.buffer<64xf32, fragment>, !tile.global<64xf32>
  tgpu.return
}

// Facts for checks disappear, and nothing to do leaves a kernel as it is.
// CHECK-LABEL: tgpu.kernel @facts
// CHECK-NEXT: tgpu.return
tgpu.kernel @facts(%p: i1) attributes {threads = 64 : i32} {
  tile.assume %p
  tile.assert %p, "p"
  tgpu.return
}
