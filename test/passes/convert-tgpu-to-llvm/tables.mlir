// Constant arrays are constants of the module, one for all that read the same elements; bools are bytes there. An index outside of
// an array reads some element of it.
// RUN: tile-opt --convert-tgpu-to-llvm %s | FileCheck %s

// CHECK-DAG: llvm.mlir.global internal constant @tilec_table_0(dense<[1.000000e+00, 2.000000e+00, 4.000000e+00]> : tensor<3xf32>) {addr_space = 1 : i32, alignment = 16 : i64}
// CHECK-DAG: llvm.mlir.global internal constant @tilec_table_1(dense<[0, 1, 1]> : tensor<3xi8>)
// CHECK-NOT: llvm.mlir.global internal constant @tilec_table_2
// CHECK-LABEL: llvm.func @lookup
// CHECK: %[[LAST:.*]] = llvm.mlir.constant(2 : i32)
// CHECK: %[[AT:.*]] = llvm.intr.umin(%{{.*}}, %[[LAST]])
// CHECK: llvm.getelementptr %{{.*}}[%[[AT]]]
// CHECK: llvm.load {{.*}} -> f32
// CHECK: llvm.load {{.*}} -> i8
// CHECK: llvm.icmp "ne"
tgpu.kernel @lookup(%p: !tile.global<?xf32>, %q: !tile.global<?xi1>, %n: i32, %i: i32) attributes {threads = 32 : i32, target = "sm_80"} {
  %v = tgpu.view %p extents(%n : i32) strides() : !tile.global<?xf32> -> !tile.global<?xf32>
  %w = tgpu.view %q extents(%n : i32) strides() : !tile.global<?xi1> -> !tile.global<?xi1>
  %0 = tgpu.lookup dense<[1.0, 2.0, 4.0]> : tensor<3xf32>[%i] : i32 -> f32
  %1 = tgpu.lookup dense<[1.0, 2.0, 4.0]> : tensor<3xf32>[%n] : i32 -> f32
  %2 = tgpu.lookup dense<[false, true, true]> : tensor<3xi1>[%i] : i32 -> i1
  tile.store %0, %v[%i : i32] : f32, !tile.global<?xf32>
  tile.store %1, %v[%n : i32] : f32, !tile.global<?xf32>
  tile.store %2, %w[%i : i32] : i1, !tile.global<?xi1>
  tgpu.return
}
