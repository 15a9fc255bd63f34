// Two comparisons of the same places with bounds on one side are one, with the lesser bound or the greater.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-merge-comparisons,canonicalize,cse))' -split-input-file | FileCheck %s

// A causal mask and the end of the keys: one bound for each row. An extent is not negative, so that it may be less by one.
// CHECK-LABEL: tgpu.kernel @causal
// CHECK-SAME: , %[[N:[a-z0-9]+]]: i32, %{{[a-z0-9]+}}: i32)
// CHECK: %[[LAST:.*]] = arith.addi %[[N]], %c-1_i32
// CHECK: %[[LASTS:.*]] = tile.splat %[[LAST]] : i32 -> tensor<16xi32>
// CHECK: %[[BOUND:.*]] = arith.minsi %{{.*}}, %[[LASTS]] : tensor<16xi32>
// CHECK: %[[ROWS:.*]] = tile.broadcast %[[BOUND]] along [1] : tensor<16xi32> -> tensor<16x32xi32>
// CHECK: %[[MASK:.*]] = arith.cmpi sgt, %{{.*}}, %[[ROWS]] : tensor<16x32xi32>
// CHECK-NOT: arith.ori
// CHECK: arith.select %[[MASK]]
tgpu.kernel @causal(%g: !tile.global<?xf32>, %n: i32, %d: i32) attributes {threads = 32 : i32, target = "sm_80"} {
  %v = tgpu.view %g extents(%n : i32) strides() : !tile.global<?xf32> -> !tile.global<?xf32>
  %cols = tgpu.coordinate : tensor<32xi32>
  %rows = tgpu.coordinate : tensor<16xi32>
  %ends = tile.splat %n : i32 -> tensor<32xi32>
  %behind = arith.cmpi sge, %cols, %ends : tensor<32xi32>
  %ds = tile.splat %d : i32 -> tensor<16xi32>
  %diagonal = arith.addi %ds, %rows : tensor<16xi32>
  %c = tile.broadcast %cols along [0] : tensor<32xi32> -> tensor<16x32xi32>
  %r = tile.broadcast %diagonal along [1] : tensor<16xi32> -> tensor<16x32xi32>
  %above = arith.cmpi sgt, %c, %r : tensor<16x32xi32>
  %b = tile.broadcast %behind along [0] : tensor<32xi1> -> tensor<16x32xi1>
  %mask = arith.ori %b, %above : tensor<16x32xi1>
  %zero = arith.constant dense<0.0> : tensor<16x32xf32>
  %one = arith.constant dense<1.0> : tensor<16x32xf32>
  %s = arith.select %mask, %zero, %one : tensor<16x32xi1>, tensor<16x32xf32>
  %sum = tile.reduce <sum> %s axis 1 : tensor<16x32xf32> -> tensor<16xf32>
  %all = tile.reduce <sum> %sum axis 0 : tensor<16xf32> -> f32
  %c0 = arith.constant 0 : i32
  tile.store %all, %v[%c0 : i32] : f32, !tile.global<?xf32>
  tgpu.return
}

// -----

// Three in a chain, the first and the last about one place, with sides exchanged: what is less than both is less than the lesser.
// CHECK-LABEL: tgpu.kernel @exchanged
// CHECK-SAME: , %[[A:[a-z0-9]+]]: i32, %[[B:[a-z0-9]+]]: i32)
// CHECK: %[[LESS:.*]] = arith.minsi %[[A]], %[[B]] : i32
// CHECK: %[[BOUNDS:.*]] = tile.splat %[[LESS]] : i32 -> tensor<16xi32>
// CHECK: %[[BOTH:.*]] = arith.cmpi slt, %{{.*}}, %[[BOUNDS]]
// CHECK: arith.andi %[[BOTH]], %{{.*}} : tensor<16xi1>
// CHECK-NOT: arith.andi
tgpu.kernel @exchanged(%g: !tile.global<?xf32>, %a: i32, %b: i32) attributes {threads = 32 : i32, target = "sm_80"} {
  %i = tgpu.coordinate : tensor<16xi32>
  %as = tile.splat %a : i32 -> tensor<16xi32>
  %bs = tile.splat %b : i32 -> tensor<16xi32>
  %below = arith.cmpi slt, %i, %as : tensor<16xi32>
  %odd = arith.cmpi ne, %i, %bs : tensor<16xi32>
  %above = arith.cmpi sgt, %bs, %i : tensor<16xi32>
  %two = arith.andi %below, %odd : tensor<16xi1>
  %mask = arith.andi %two, %above : tensor<16xi1>
  %zero = arith.constant dense<0.0> : tensor<16xf32>
  %one = arith.constant dense<1.0> : tensor<16xf32>
  %s = arith.select %mask, %zero, %one : tensor<16xi1>, tensor<16xf32>
  %all = tile.reduce <sum> %s axis 0 : tensor<16xf32> -> f32
  %n = arith.constant 1 : i32
  %v = tgpu.view %g extents(%n : i32) strides() : !tile.global<?xf32> -> !tile.global<?xf32>
  %c0 = arith.constant 0 : i32
  tile.store %all, %v[%c0 : i32] : f32, !tile.global<?xf32>
  tgpu.return
}

// -----

// Unsigned comparisons have unsigned bounds.
// CHECK-LABEL: tgpu.kernel @unsigned
// CHECK: arith.maxui
// CHECK: arith.cmpi ult
// CHECK-NOT: arith.ori
tgpu.kernel @unsigned(%g: !tile.global<?xf32>, %a: i32, %b: i32) attributes {threads = 32 : i32, target = "sm_80"} {
  %i = tgpu.coordinate : tensor<16xi32>
  %as = tile.splat %a : i32 -> tensor<16xi32>
  %bs = tile.splat %b : i32 -> tensor<16xi32>
  %below = arith.cmpi ult, %i, %as : tensor<16xi32>
  %under = arith.cmpi ult, %i, %bs : tensor<16xi32>
  %mask = arith.ori %below, %under : tensor<16xi1>
  %zero = arith.constant dense<0.0> : tensor<16xf32>
  %one = arith.constant dense<1.0> : tensor<16xf32>
  %s = arith.select %mask, %zero, %one : tensor<16xi1>, tensor<16xf32>
  %all = tile.reduce <sum> %s axis 0 : tensor<16xf32> -> f32
  %n = arith.constant 1 : i32
  %v = tgpu.view %g extents(%n : i32) strides() : !tile.global<?xf32> -> !tile.global<?xf32>
  %c0 = arith.constant 0 : i32
  tile.store %all, %v[%c0 : i32] : f32, !tile.global<?xf32>
  tgpu.return
}

// -----

// The bound may be what both have in common.
// CHECK-LABEL: tgpu.kernel @common
// CHECK: %[[MOST:.*]] = arith.maxsi
// CHECK: arith.cmpi sle, %{{.*}}, %[[MOST]]
// CHECK-NOT: arith.ori
tgpu.kernel @common(%g: !tile.global<?xf32>, %a: i32, %b: i32) attributes {threads = 32 : i32, target = "sm_80"} {
  %i = tgpu.coordinate : tensor<16xi32>
  %as = tile.splat %a : i32 -> tensor<16xi32>
  %bs = tile.splat %b : i32 -> tensor<16xi32>
  %j = arith.muli %i, %bs : tensor<16xi32>
  %p = arith.cmpi sge, %i, %as : tensor<16xi32>
  %q = arith.cmpi sge, %j, %as : tensor<16xi32>
  %mask = arith.ori %p, %q : tensor<16xi1>
  %zero = arith.constant dense<0.0> : tensor<16xf32>
  %one = arith.constant dense<1.0> : tensor<16xf32>
  %s = arith.select %mask, %zero, %one : tensor<16xi1>, tensor<16xf32>
  %all = tile.reduce <sum> %s axis 0 : tensor<16xf32> -> f32
  %n = arith.constant 1 : i32
  %v = tgpu.view %g extents(%n : i32) strides() : !tile.global<?xf32> -> !tile.global<?xf32>
  %c0 = arith.constant 0 : i32
  tile.store %all, %v[%c0 : i32] : f32, !tile.global<?xf32>
  tgpu.return
}
