// Loads into fragments that run ahead: their values are carried, loads past the last iteration are not made.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-expand-pipeline,canonicalize,cse))' -split-input-file | FileCheck %s

!f = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<?x?xf32>
!t = !tile.global<64x64xf32>
// Two iterations ahead a short loop has three bodies, which load without asking; what they leave is done one by one.
// CHECK-LABEL: tgpu.kernel @repeated
// CHECK: %[[TRIPS:.*]] = arith.maxsi %[[N:.*]], %
// CHECK: %[[ANY:.*]] = arith.cmpi sgt, %[[TRIPS]], %c0_i32
// CHECK: %[[X0:.*]] = scf.if %[[ANY]]
// CHECK-NEXT: tile.slice %[[V:.*]][%c0_i32
// CHECK-NEXT: tgpu.load
// CHECK: } else {
// CHECK: %[[ZERO:.*]] = tile.splat
// CHECK: scf.yield %[[ZERO]]
// CHECK: %[[X1:.*]] = scf.if
// CHECK: %[[END:.*]] = arith.muli
// CHECK: %[[MANY:.*]]:2 = scf.for %[[I:.*]] = %{{.*}} to %[[END]] step %{{.*}} iter_args(%[[Q0:.*]] = %[[X0]], %[[Q1:.*]] = %[[X1]])
// CHECK-NOT: scf.if
// CHECK: %[[L2:.*]] = tgpu.load
// CHECK: tgpu.store %[[Q0]]
// CHECK: %[[L3:.*]] = tgpu.load
// CHECK: tgpu.store %[[Q1]]
// CHECK: %[[L4:.*]] = tgpu.load
// CHECK: tgpu.store %[[L2]]
// CHECK: scf.yield %[[L3]], %[[L4]]
// CHECK: scf.for %[[J:.*]] = %[[END]] to %[[TRIPS]] step %{{.*}} iter_args(%[[R0:.*]] = %[[MANY]]#0, %[[R1:.*]] = %[[MANY]]#1)
// CHECK: %[[LAST:.*]] = arith.addi %[[TRIPS]], %c-2_i32
// CHECK: %[[INSIDE:.*]] = arith.cmpi slt, %[[J]], %[[LAST]]
// CHECK: %[[NEXT:.*]] = scf.if %[[INSIDE]]
// CHECK: tgpu.load
// CHECK: tgpu.store %[[R0]]
// CHECK: scf.yield %[[R1]], %[[NEXT]]
tgpu.kernel @repeated(%a: !g, %b: !g, %n: i32) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %v = tgpu.view %a extents(%n, %n : i32, i32) strides(%n : i32) : !g -> !g
  %w = tgpu.view %b extents(%n, %n : i32, i32) strides(%n : i32) : !g -> !g
  scf.for %i = %c0 to %n step %c1 : i32 {
    %t = tile.slice %v[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
    %x = tgpu.load %t {tgpu.schedule = #tgpu.stage<0, 0>} : !t -> !f
    %u = tile.slice %w[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
    tgpu.store %x, %u {tgpu.schedule = #tgpu.stage<2, 1>} : !f, !t
  } {tgpu.pipeline = #tgpu.pipeline<vector, stages = 3>}
  tgpu.return
}

// -----

!f = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!x = tensor<64x64xi32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<?x?xf32>
!i = !tile.global<?x?xi32>
// A loop with a loop inside has one body. What tells a load where to read is loaded with it; where nothing else needs it, it is
// not carried.
// CHECK-LABEL: tgpu.kernel @one_body
// CHECK: %[[FIRST:.*]] = scf.if
// CHECK: scf.for {{.*}} iter_args(%[[X:.*]] = %[[FIRST]])
// CHECK: %[[NEXT:.*]] = scf.if
// CHECK: %[[PLACE:.*]] = tgpu.load
// CHECK-NOT: tgpu.load
// CHECK: %[[VALUE:.*]] = tgpu.gather %{{.*}}[%[[PLACE]], %[[PLACE]]]
// CHECK: scf.yield %[[VALUE]]
// CHECK: scf.for
// CHECK: tgpu.store %[[X]]
// CHECK: scf.yield %[[NEXT]]
tgpu.kernel @one_body(%a: !g, %b: !g, %p: !i, %n: i32) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %v = tgpu.view %a extents(%n, %n : i32, i32) strides(%n : i32) : !g -> !g
  %w = tgpu.view %b extents(%n, %n : i32, i32) strides(%n : i32) : !g -> !g
  %q = tgpu.view %p extents(%n, %n : i32, i32) strides(%n : i32) : !i -> !i
  scf.for %i = %c0 to %n step %c1 : i32 {
    %s = tile.slice %q[%c0, %i] sizes [64, 64] : !i, i32, i32 -> !tile.global<64x64xi32>
    %y = tgpu.load %s {tgpu.schedule = #tgpu.stage<0, 0>} : !tile.global<64x64xi32> -> !x
    %x = tgpu.gather %v[%y, %y] {tgpu.schedule = #tgpu.stage<0, 1>} : !g[!x, !x] -> !f
    scf.for %j = %c0 to %n step %c1 : i32 {
      %u = tile.slice %w[%j, %i] sizes [64, 64] : !g, i32, i32 -> !tile.global<64x64xf32>
      tgpu.store %x, %u : !f, !tile.global<64x64xf32>
    } {tgpu.schedule = #tgpu.stage<1, 2>}
  } {tgpu.pipeline = #tgpu.pipeline<vector, stages = 2>}
  tgpu.return
}
