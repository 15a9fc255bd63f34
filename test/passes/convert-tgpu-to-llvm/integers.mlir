// Nothing that LLVM has no meaning for: divisors and counts are harmless, no operation carries flags, indices keep
// their value.
// RUN: tile-opt %s --convert-tgpu-to-llvm | FileCheck %s

// CHECK-LABEL: llvm.func @arithmetic
// CHECK-NOT: overflow
tgpu.kernel @arithmetic(%a: !tile.global<?xi32>, %n: i32, %x: i32, %y: i32) attributes {target = "sm_80", threads = 32 : i32} {
  %v = tgpu.view %a extents(%n : i32) strides() : !tile.global<?xi32> -> !tile.global<?xi32>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  // CHECK: %[[ZERO:.*]] = llvm.icmp "eq" %arg3, %{{.*}} : i32
  // CHECK: %[[MINUS:.*]] = llvm.icmp "eq" %arg3, %{{.*}} : i32
  // CHECK: %[[BAD:.*]] = llvm.or %[[ZERO]], %[[MINUS]]
  // CHECK: %[[SAFE:.*]] = llvm.select %[[BAD]], %{{.*}}, %arg3
  // CHECK: %[[Q:.*]] = llvm.sdiv %arg2, %[[SAFE]]
  // CHECK: %[[NEG:.*]] = llvm.sub %{{.*}}, %arg2
  // CHECK: %[[Q1:.*]] = llvm.select %[[MINUS]], %[[NEG]], %[[Q]]
  // CHECK: llvm.select %[[ZERO]], %{{.*}}, %[[Q1]]
  %q = tile.div %x, %y : i32
  tile.store %q, %v[%c0 : i32] : i32, !tile.global<?xi32>
  // Hand-written IR gets no other treatment.
  // CHECK: llvm.srem %arg2, %[[SAFE]]
  %r = arith.remsi %x, %y : i32
  tile.store %r, %v[%c1 : i32] : i32, !tile.global<?xi32>
  // CHECK: %[[FAR:.*]] = llvm.icmp "uge" %arg3, %{{.*}} : i32
  // CHECK: %[[COUNT:.*]] = llvm.and %arg3, %{{.*}} : i32
  // CHECK: %[[S:.*]] = llvm.shl %arg2, %[[COUNT]]
  // CHECK: llvm.select %[[FAR]], %{{.*}}, %[[S]]
  %s = arith.shli %x, %y overflow<nsw> : i32
  tile.store %s, %v[%c2 : i32] : i32, !tile.global<?xi32>
  tgpu.return
}

// CHECK-LABEL: llvm.func @wide_index
// CHECK: %[[LOW:.*]] = llvm.intr.smax(%arg2, %{{.*}}) : (i64, i64) -> i64
// CHECK: %[[FIT:.*]] = llvm.intr.smin(%[[LOW]], %{{.*}}) : (i64, i64) -> i64
// CHECK: llvm.trunc %[[FIT]] : i64 to i32
tgpu.kernel @wide_index(%a: !tile.global<?xf32>, %n: i32, %i: i64) attributes {target = "sm_80", threads = 32 : i32} {
  %v = tgpu.view %a extents(%n : i32) strides() : !tile.global<?xf32> -> !tile.global<?xf32>
  %s = tile.slice %v[%i] sizes [1] : !tile.global<?xf32>, i64 -> !tile.global<1xf32>
  %c0 = arith.constant 0 : i32
  %x = tile.load %v[%i : i64] : !tile.global<?xf32> -> f32
  tile.store %x, %v[%c0 : i32] : f32, !tile.global<?xf32>
  tgpu.return
}

// An element of a slice is one of the slice, even where the tensor goes on.
// CHECK-LABEL: llvm.func @element_of_slice
// CHECK: llvm.icmp "ult" %arg3, %{{.*}} : i32
tgpu.kernel @element_of_slice(%a: !tile.global<?xf32>, %n: i32, %i: i32, %j: i32) attributes {target = "sm_80", threads = 32 : i32} {
  %v = tgpu.view %a extents(%n : i32) strides() : !tile.global<?xf32> -> !tile.global<?xf32>
  %s = tile.slice %v[%i] sizes [16] : !tile.global<?xf32>, i32 -> !tile.global<16xf32>
  %c0 = arith.constant 0 : i32
  %x = tile.load %s[%j : i32] : !tile.global<16xf32> -> f32
  tile.store %x, %v[%c0 : i32] : f32, !tile.global<?xf32>
  tgpu.return
}
