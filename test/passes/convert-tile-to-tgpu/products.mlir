// A gemm becomes a dot on the accumulator's value, with operands in shared memory or as values.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(convert-tile-to-tgpu))' | FileCheck %s

// CHECK-LABEL: tgpu.kernel @gemm
// CHECK: %[[A:.*]] = tgpu.alloc_shared "a"
// CHECK: %[[B:.*]] = tgpu.alloc_shared "b"
// CHECK: %[[B2:.*]] = tgpu.alloc_shared "b2"
// CHECK: %[[Z:.*]] = tile.splat
// CHECK: %[[D:.*]] = tgpu.dot %[[A]], %[[B]], %[[Z]] : !tgpu.smem<64x32xf16>, !tgpu.smem<32x64xf16>, tensor<64x64xf32> -> tensor<64x64xf32>
// CHECK: %[[F:.*]] = tgpu.load
// CHECK: %[[E:.*]] = tgpu.dot %[[F]], %[[B2]], %[[D]] {a_unsigned, accumulate = false, b_unsigned, policy = #tile.policy<full_row>, precision = #tile.precision<tf32>, promote = 64 : i32, require = ["mma"], transpose_b} : tensor<64x32xf16>
// CHECK: tgpu.store %[[E]]
tgpu.kernel @gemm(%g: !tile.global<64x32xf16>, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32} {
  %a = tile.alloc "a" : !tile.buffer<64x32xf16, shared>
  %b = tile.alloc "b" : !tile.buffer<32x64xf16, shared>
  %b2 = tile.alloc "b2" : !tile.buffer<64x32xf16, shared>
  %acc = tile.alloc "acc" : !tile.buffer<64x64xf32, fragment>
  tile.gemm %a, %b, %acc : !tile.buffer<64x32xf16, shared>, !tile.buffer<32x64xf16, shared>, !tile.buffer<64x64xf32, fragment>
  %f = tile.alloc "f" : !tile.buffer<64x32xf16, fragment>
  tile.copy %g to %f : !tile.global<64x32xf16>, !tile.buffer<64x32xf16, fragment>
  tile.gemm %f, %b2, %acc {accumulate = false, transpose_b, policy = #tile.policy<full_row>, precision = #tile.precision<tf32>,
                           promote = 64 : i32, a_unsigned, b_unsigned, require = ["mma"]}
      : !tile.buffer<64x32xf16, fragment>, !tile.buffer<64x32xf16, shared>, !tile.buffer<64x64xf32, fragment>
  tile.copy %acc to %o : !tile.buffer<64x64xf32, fragment>, !tile.global<64x64xf32>
  tgpu.return
}
