// Layouts spread through element-wise operations, loops, branches, reductions and transposes; splats are repeated.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-infer-layouts))' -verify-diagnostics -split-input-file | FileCheck %s

!a = !tgpu.smem<64x32xf16>
!b = !tgpu.smem<32x64xf16>
!acc = tensor<64x64xf32>
// CHECK-LABEL: tgpu.kernel @for
// CHECK: %[[Z:.*]] = tile.splat %{{.*}} : f32 -> tensor<64x64xf32, [[ACC:#tgpu.fragment<"[^"]*">]]>
// CHECK: %[[R:.*]] = scf.for {{.*}} iter_args(%[[C:.*]] = %[[Z]]) -> (tensor<64x64xf32, [[ACC]]>)
// CHECK: tgpu.dot {{.*}}, %[[C]] {{.*}} -> tensor<64x64xf32, [[ACC]]>
// CHECK: %[[H:.*]] = tile.convert %[[R]] : tensor<64x64xf32, [[ACC]]> to tensor<64x64xf16, [[ACC]]>
// CHECK: tgpu.store %[[H]]
// CHECK-NOT: convert_layout
tgpu.kernel @for(%a: !a, %b: !b, %g: !tile.global<64x64xf16>, %n: i32) attributes {threads = 128 : i32} {
  %z = arith.constant dense<0.0> : !acc
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %z) -> (!acc) : i32 {
    %d = tgpu.dot %a, %b, %c {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !a, !b, !acc -> !acc
    scf.yield %d : !acc
  }
  %h = tile.convert %r : !acc to tensor<64x64xf16>
  tgpu.store %h, %g {bytes = 16 : i32} : tensor<64x64xf16>, !tile.global<64x64xf16>
  tgpu.return
}

// -----

!a = !tgpu.smem<64x32xf16>
!b = !tgpu.smem<32x64xf16>
!acc = tensor<64x64xf32>
// The other path gives a splat; the condition's loop variable is a fragment as well.
// CHECK-LABEL: tgpu.kernel @branches
// CHECK: tgpu.dot {{.*}} -> tensor<64x64xf32, [[ACC:#tgpu.fragment<"[^"]*">]]>
// CHECK: scf.if {{.*}} -> (tensor<64x64xf32, [[ACC]]>)
// CHECK: arith.addf {{.*}} : tensor<64x64xf32, [[ACC]]>
// CHECK: } else {
// CHECK: tile.splat {{.*}} -> tensor<64x64xf32, [[ACC]]>
// CHECK: scf.while ({{.*}}) : (tensor<64x64xf32, [[ACC]]>) -> tensor<64x64xf32, [[ACC]]>
// CHECK: ^bb0(%{{.*}}: tensor<64x64xf32, [[ACC]]>):
// CHECK: arith.mulf {{.*}} : tensor<64x64xf32, [[ACC]]>
// CHECK-NOT: convert_layout
tgpu.kernel @branches(%a: !a, %b: !b, %g: !tile.global<64x64xf32>, %p: i1) attributes {threads = 128 : i32} {
  %z = arith.constant dense<0.0> : !acc
  %d = tgpu.dot %a, %b, %z {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !a, !b, !acc -> !acc
  %r = scf.if %p -> (!acc) {
    %e = arith.addf %d, %d : !acc
    scf.yield %e : !acc
  } else {
    scf.yield %z : !acc
  }
  %w = scf.while (%x = %r) : (!acc) -> (!acc) {
    scf.condition(%p) %x : !acc
  } do {
  ^bb0(%y: !acc):
    %q = arith.mulf %y, %y : !acc
    scf.yield %q : !acc
  }
  tgpu.store %w, %g {bytes = 16 : i32} : !acc, !tile.global<64x64xf32>
  tgpu.return
}

// -----

!a = !tgpu.smem<64x32xf16>
!b = !tgpu.smem<32x64xf16>
!acc = tensor<64x64xf32>
// A row's maximum lives where the rows do; a transpose swaps; an accumulator is reached back through both.
// CHECK-LABEL: tgpu.kernel @derived
// CHECK: tgpu.dot {{.*}} -> tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
// CHECK: tile.reduce <max> {{.*}} -> tensor<64xf32, #tgpu.fragment<"64 reg 8 lane 0:0:1:2:4 warp 16:32">>
// CHECK: tile.transpose {{.*}} -> tensor<64x64xf32, #tgpu.fragment<"64x64 reg 1,0:0,8:8,0:16,0:32,0 lane 2,0:4,0:0,1:0,2:0,4 warp 0,16:0,32">>
// CHECK: tile.reduce <sum> {{.*}} -> f32
// CHECK-NOT: convert_layout
tgpu.kernel @derived(%a: !a, %b: !b, %g: !tile.global<64xf32>, %h: !tile.global<64x64xf32>, %s: !tile.global<?xf32>, %i: i32) attributes {threads = 128 : i32} {
  %z = arith.constant dense<0.0> : !acc
  %d = tgpu.dot %a, %b, %z {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !a, !b, !acc -> !acc
  %m = tile.reduce <max> %d axis 1 : !acc -> tensor<64xf32>
  %t = tile.transpose %d : !acc -> !acc
  %u = tile.reduce <sum> %d : !acc -> f32
  tgpu.store %m, %g {bytes = 4 : i32} : tensor<64xf32>, !tile.global<64xf32>
  tgpu.store %t, %h {bytes = 4 : i32} : !acc, !tile.global<64x64xf32>
  tile.store %u, %s[%i : i32] : f32, !tile.global<?xf32>
  tgpu.return
}

// What is combined together is held together: the layout of one input is that of all, splats too; results live where its rows do.
// CHECK-LABEL: tgpu.kernel @combined
// CHECK: %[[X:.*]] = tgpu.load {{.*}} -> tensor<32x64xf32, #tgpu.fragment<"[[L:.*]]">>
// CHECK: %[[I:.*]] = tgpu.load {{.*}} -> tensor<32x64xi32, #tgpu.fragment<"[[L]]">>
// CHECK: %[[S:.*]] = tile.splat {{.*}} -> tensor<32x64xf32, #tgpu.fragment<"[[L]]">>
// CHECK-NOT: convert_layout
// CHECK: tile.reduce_with %[[X]], %[[I]], %[[S]] axis 1 : {{.*}} -> tensor<32xf32, #tgpu.fragment<"[[R:32 .*]]">>, tensor<32xi32, #tgpu.fragment<"[[R]]">>, tensor<32xf32, #tgpu.fragment<"[[R]]">>
tgpu.kernel @combined(%x: !tile.global<32x64xf32>, %i: !tile.global<32x64xi32>, %y: !tile.global<32xf32>, %z: !tile.global<32xi32>) attributes {threads = 128 : i32} {
  %one = arith.constant dense<1.0> : tensor<32x64xf32>
  %a = tgpu.load %x {bytes = 16 : i32} : !tile.global<32x64xf32> -> tensor<32x64xf32>
  %b = tgpu.load %i {bytes = 4 : i32} : !tile.global<32x64xi32> -> tensor<32x64xi32>
  %r:3 = tile.reduce_with %a, %b, %one axis 1 : tensor<32x64xf32>, tensor<32x64xi32>, tensor<32x64xf32> -> tensor<32xf32>, tensor<32xi32>, tensor<32xf32> {
  ^bb0(%p: f32, %q: i32, %s: f32, %t: f32, %u: i32, %v: f32):
    tile.yield %p, %q, %v : f32, i32, f32
  }
  %w = arith.addf %r#0, %r#2 : tensor<32xf32>
  tgpu.store %w, %y {bytes = 4 : i32} : tensor<32xf32>, !tile.global<32xf32>
  tgpu.store %r#1, %z {bytes = 4 : i32} : tensor<32xi32>, !tile.global<32xi32>
  tgpu.return
}
