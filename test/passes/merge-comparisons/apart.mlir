// What is not the same place, or may wrap, stays two comparisons.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-merge-comparisons))' -split-input-file | FileCheck %s --implicit-check-not=minsi --implicit-check-not=maxsi --implicit-check-not=minui --implicit-check-not=maxui

// A scalar of any value has perhaps none below it; bounds on both sides; equality; other places; signed and unsigned.
// CHECK-LABEL: tgpu.kernel @apart
// CHECK-COUNT-5: arith.ori
tgpu.kernel @apart(%g: !tile.global<?xf32>, %a: i32, %b: i32) attributes {threads = 32 : i32, target = "sm_80"} {
  %i = tgpu.coordinate : tensor<16xi32>
  %as = tile.splat %a : i32 -> tensor<16xi32>
  %bs = tile.splat %b : i32 -> tensor<16xi32>
  %j = arith.addi %i, %bs : tensor<16xi32>
  %p = arith.cmpi sge, %i, %as : tensor<16xi32>
  %q = arith.cmpi sgt, %i, %bs : tensor<16xi32>
  %m0 = arith.ori %p, %q : tensor<16xi1>
  %r = arith.cmpi slt, %i, %bs : tensor<16xi32>
  %m1 = arith.ori %p, %r : tensor<16xi1>
  %e = arith.cmpi eq, %i, %bs : tensor<16xi32>
  %m2 = arith.ori %p, %e : tensor<16xi1>
  %o = arith.cmpi sge, %j, %bs : tensor<16xi32>
  %m3 = arith.ori %p, %o : tensor<16xi1>
  %u = arith.cmpi uge, %i, %bs : tensor<16xi32>
  %m4 = arith.ori %p, %u : tensor<16xi1>
  %zero = arith.constant dense<0.0> : tensor<16xf32>
  %one = arith.constant dense<1.0> : tensor<16xf32>
  %s0 = arith.select %m0, %zero, %one : tensor<16xi1>, tensor<16xf32>
  %s1 = arith.select %m1, %zero, %s0 : tensor<16xi1>, tensor<16xf32>
  %s2 = arith.select %m2, %zero, %s1 : tensor<16xi1>, tensor<16xf32>
  %s3 = arith.select %m3, %zero, %s2 : tensor<16xi1>, tensor<16xf32>
  %s4 = arith.select %m4, %zero, %s3 : tensor<16xi1>, tensor<16xf32>
  %all = tile.reduce <sum> %s4 axis 0 : tensor<16xf32> -> f32
  %n = arith.constant 1 : i32
  %v = tgpu.view %g extents(%n : i32) strides() : !tile.global<?xf32> -> !tile.global<?xf32>
  %c0 = arith.constant 0 : i32
  tile.store %all, %v[%c0 : i32] : f32, !tile.global<?xf32>
  tgpu.return
}

