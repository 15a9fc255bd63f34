// What loops carry and nothing reads goes round as it came; canonicalization takes it out of them.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-drop-carried))' | FileCheck %s
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-drop-carried,canonicalize))' | FileCheck %s --check-prefix=CLEAN

!a = !tgpu.smem<64x64xf16>
!f = tensor<64x64xf32>

// A product that adds to nothing: its old sum is not read, so neither loop has to carry it. What is added to is.
// CHECK-LABEL: tgpu.kernel @nest
// CHECK: scf.for {{.*}} iter_args(%[[P:.*]] = %{{.*}}, %[[SUM:.*]] = %{{.*}})
// CHECK: scf.for {{.*}} iter_args(%[[Q:.*]] = %[[P]], %{{.*}} = %[[SUM]])
// CHECK: %[[ZERO:.*]] = tile.splat %{{.*}} : f32 -> tensor<64x64xf32>
// CHECK: tgpu.dot %{{.*}}, %{{.*}}, %[[ZERO]] {accumulate = false}
// CHECK: scf.yield %[[Q]], %{{.*}}
// CHECK: scf.yield %[[P]], %{{.*}}
// CLEAN-LABEL: tgpu.kernel @nest
// CLEAN: scf.for {{.*}} iter_args(%{{[^,]*}} = %{{[^,]*}}) -> (tensor<64x64xf32>)
// CLEAN: scf.for {{.*}} iter_args(%{{[^,]*}} = %{{[^,]*}}) -> (tensor<64x64xf32>)
tgpu.kernel @nest(%a: !a, %b: !a, %n: i32, %p: !f, %zero: !f, %y: !tile.global<64x64xf32>) attributes {threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%p0 = %p, %s0 = %zero) -> (!f, !f) : i32 {
    %q:2 = scf.for %j = %c0 to %n step %c1 iter_args(%p1 = %p0, %s1 = %s0) -> (!f, !f) : i32 {
      %d = tgpu.dot %a, %b, %p1 {accumulate = false} : !a, !a, !f -> !f
      %s = arith.addf %s1, %d : !f
      scf.yield %d, %s : !f, !f
    }
    scf.yield %q#0, %q#1 : !f, !f
  }
  tgpu.store %r#1, %y : !f, !tile.global<64x64xf32>
  tgpu.return
}

// Read behind the loop, or in the next iteration: kept.
// CHECK-LABEL: tgpu.kernel @read
// CHECK: scf.for {{.*}} iter_args(%[[LAST:.*]] = %{{.*}}, %[[BEFORE:.*]] = %{{.*}})
// CHECK: %[[D:.*]] = tgpu.dot
// CHECK: tgpu.store %[[BEFORE]]
// CHECK: scf.yield %[[D]], %[[D]]
tgpu.kernel @read(%a: !a, %b: !a, %n: i32, %p: !f, %y: !tile.global<64x64xf32>) attributes {threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%last = %p, %before = %p) -> (!f, !f) : i32 {
    %d = tgpu.dot %a, %b, %last {accumulate = false} : !a, !a, !f -> !f
    tgpu.store %before, %y : !f, !tile.global<64x64xf32>
    scf.yield %d, %d : !f, !f
  }
  tgpu.store %r#0, %y : !f, !tile.global<64x64xf32>
  tgpu.return
}

// Read by a region, or as what decides which region runs and how often.
// CHECK-LABEL: tgpu.kernel @bounds
// CHECK: scf.while
// CHECK: arith.addi
// CHECK: %[[F:.*]] = arith.addi
// CHECK: %[[P:.*]] = arith.xori
// CHECK: %[[W:.*]] = arith.addi
// CHECK: scf.yield %[[F]], %[[P]], %[[W]] : i32, i1, i32
tgpu.kernel @bounds(%n: i32, %k: f32, %y: !tile.global<128xf32>) attributes {threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %true = arith.constant true
  %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%f = %c1, %p = %true, %w = %c0) -> (i32, i1, i32) : i32 {
    scf.for %j = %c0 to %f step %c1 : i32 {
      tile.store %k, %y[%j : i32] : f32, !tile.global<128xf32>
    }
    scf.if %p {
      tgpu.one_thread {
        tile.store %k, %y[%i : i32] : f32, !tile.global<128xf32>
      }
    }
    %z = scf.while (%q = %c0) : (i32) -> i32 {
      %c = arith.cmpi slt, %q, %w : i32
      scf.condition(%c) %q : i32
    } do {
    ^bb0(%q: i32):
      tile.store %k, %y[%q : i32] : f32, !tile.global<128xf32>
      %u = arith.addi %q, %c1 : i32
      scf.yield %u : i32
    }
    %g = arith.addi %f, %c1 : i32
    %np = arith.xori %p, %true : i1
    %nw = arith.addi %w, %c1 : i32
    scf.yield %g, %np, %nw : i32, i1, i32
  }
  tgpu.return
}
// CHECK-LABEL: tgpu.kernel @captured
// CHECK: tgpu.store
// CHECK: %[[G:.*]] = arith.addf
// CHECK-NEXT: scf.yield %[[G]] : f32
tgpu.kernel @captured(%x: tensor<8x128xf32>, %n: i32, %k: f32, %y: !tile.global<128xf32>) attributes {threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %one = arith.constant 1.0 : f32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%f = %k) -> (f32) : i32 {
    %v = tile.reduce_with %x axis 0 : tensor<8x128xf32> -> tensor<128xf32> {
    ^bb0(%a: f32, %b: f32):
      %p = arith.mulf %b, %f : f32
      %q = arith.addf %a, %p : f32
      tile.yield %q : f32
    }
    tgpu.store %v, %y : tensor<128xf32>, !tile.global<128xf32>
    %g = arith.addf %f, %one : f32
    scf.yield %g : f32
  }
  tgpu.return
}
