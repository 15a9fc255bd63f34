// Where two demands meet, a conversion with a remark: at products, loops, branches.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-infer-layouts))' -verify-diagnostics -split-input-file | FileCheck %s

!a = !tgpu.smem<64x32xf16>
!b = !tgpu.smem<32x64xf16>
!acc = tensor<64x64xf32>
// The sum of a loop goes on in a product of another kind: what the loop carries and gives stays one layout.
// CHECK-LABEL: tgpu.kernel @sum_goes_on
// CHECK: %[[R:.*]] = scf.for {{.*}} -> (tensor<64x64xf32, [[W:#tgpu.fragment<"[^"]*">]]>)
// CHECK: tgpu.dot {{.*}} -> tensor<64x64xf32, [[W]]>
// CHECK: }
// CHECK: %[[C:.*]] = tgpu.convert_layout %[[R]] : tensor<64x64xf32, [[W]]> -> tensor<64x64xf32, [[M:#tgpu.fragment<"[^"]*">]]>
// CHECK: tgpu.dot {{.*}}, %[[C]] {{.*}} -> tensor<64x64xf32, [[M]]>
tgpu.kernel @sum_goes_on(%a: !a, %b: !b, %g: !tile.global<64x64xf32>, %n: i32) attributes {threads = 128 : i32} {
  %z = arith.constant dense<0.0> : !acc
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %z) -> (!acc) : i32 {
    %d = tgpu.dot %a, %b, %c {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !a, !b, !acc -> !acc
    scf.yield %d : !acc
  }
  // expected-remark-re@+1 {{layout conversion of a fragment: its producer and this use need different layouts: {{[0-9]+}} accesses, {{[0-9]+}} instructions a thread; 32768 bytes through shared memory,{{.*}} 1 barrier}}
  %e = tgpu.dot %a, %b, %r {mma = #tgpu.mma<mma_sync, 16, 8, 16, warps = 2, 2>} : !a, !b, !acc -> !acc
  tgpu.store %e, %g {bytes = 16 : i32} : !acc, !tile.global<64x64xf32>
  tgpu.return
}

// -----

!a = !tgpu.smem<64x32xf16>
!b = !tgpu.smem<32x64xf16>
!acc = tensor<64x64xf32>
// CHECK-LABEL: tgpu.kernel @while
// CHECK: %[[R:.*]] = scf.while {{.*}} : (tensor<64x64xf32, [[X:#tgpu.fragment<"[^"]*">]]>) -> tensor<64x64xf32, [[W:#tgpu.fragment<"[^"]*">]]>
// CHECK: ^bb0(%{{.*}}: tensor<64x64xf32, [[W]]>):
tgpu.kernel @while(%a: !a, %b: !b, %g: !tile.global<64x64xf32>, %p: i1) attributes {threads = 128 : i32} {
  %z = arith.constant dense<0.0> : !acc
  %r = scf.while (%x = %z) : (!acc) -> (!acc) {
    scf.condition(%p) %x : !acc
  } do {
  ^bb0(%y: !acc):
    %d = tgpu.dot %a, %b, %y {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !a, !b, !acc -> !acc
    scf.yield %d : !acc
  }
  // expected-remark@+1 {{layout conversion of a fragment}}
  %e = tgpu.dot %a, %b, %r {mma = #tgpu.mma<mma_sync, 16, 8, 16, warps = 2, 2>} : !a, !b, !acc -> !acc
  tgpu.store %e, %g {bytes = 16 : i32} : !acc, !tile.global<64x64xf32>
  tgpu.return
}

// -----

!a = !tgpu.smem<64x32xf16>
!b = !tgpu.smem<32x64xf16>
!acc = tensor<64x64xf32>
// The two results of one map have one layout.
// CHECK-LABEL: tgpu.kernel @map
// CHECK: tile.map {{.*}} -> tensor<64x64xf32, [[W:#tgpu.fragment<"[^"]*">]]>, tensor<64x64xf32, [[W]]>
tgpu.kernel @map(%a: !a, %b: !b, %g: !tile.global<64x64xf32>, %p: i1) attributes {threads = 128 : i32} {
  %x = tgpu.load %g {bytes = 16 : i32} : !tile.global<64x64xf32> -> !acc
  %m:2 = tile.map %x : !acc -> !acc, !acc {
  ^bb0(%s: f32):
    %t = arith.mulf %s, %s : f32
    tile.yield %s, %t : f32, f32
  }
  %d = tgpu.dot %a, %b, %m#0 {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !a, !b, !acc -> !acc
  // expected-remark@+1 {{layout conversion of a fragment}}
  %e = tgpu.dot %a, %b, %m#1 {mma = #tgpu.mma<mma_sync, 16, 8, 16, warps = 2, 2>} : !a, !b, !acc -> !acc
  tgpu.store %d, %g {bytes = 16 : i32} : !acc, !tile.global<64x64xf32>
  tgpu.store %e, %g {bytes = 16 : i32} : !acc, !tile.global<64x64xf32>
  tgpu.return
}

// -----

!a = !tgpu.smem<64x32xf16>
!b = !tgpu.smem<32x64xf16>
!acc = tensor<64x64xf32>
// CHECK-LABEL: tgpu.kernel @branch
// CHECK: %[[D:.*]] = tgpu.dot {{.*}} -> tensor<64x64xf32, [[W:#tgpu.fragment<"[^"]*">]]>
// CHECK: %[[E:.*]] = tgpu.dot {{.*}} -> tensor<64x64xf32, [[M:#tgpu.fragment<"[^"]*">]]>
// CHECK: %[[R:.*]] = scf.if {{.*}} -> (tensor<64x64xf32, [[W]]>)
// CHECK: scf.yield %[[D]]
// CHECK: %[[C:.*]] = tgpu.convert_layout %[[E]] : tensor<64x64xf32, [[M]]> -> tensor<64x64xf32, [[W]]>
// CHECK: scf.yield %[[C]]
tgpu.kernel @branch(%a: !a, %b: !b, %g: !tile.global<64x64xf32>, %p: i1) attributes {threads = 128 : i32} {
  %z = arith.constant dense<0.0> : !acc
  %d = tgpu.dot %a, %b, %z {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !a, !b, !acc -> !acc
  %e = tgpu.dot %a, %b, %z {mma = #tgpu.mma<mma_sync, 16, 8, 16, warps = 2, 2>} : !a, !b, !acc -> !acc
  %r = scf.if %p -> (!acc) {
    scf.yield %d : !acc
  } else {
    // expected-remark@+1 {{layout conversion of a fragment}}
    scf.yield %e : !acc
  }
  tgpu.store %r, %g {bytes = 16 : i32} : !acc, !tile.global<64x64xf32>
  tgpu.return
}
