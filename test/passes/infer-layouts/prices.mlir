// Where the layouts of two products meet, that one goes on with which conversions cost less: each as often as its loop runs.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-infer-layouts))' -verify-diagnostics -split-input-file | FileCheck %s

!a = !tgpu.smem<64x32xf16>
!b = !tgpu.smem<32x64xf16>
!acc = tensor<64x64xf32>
// The first to arrive, that of the product in front of the loop, would have its sum converted twice in each iteration, to and fro.
// CHECK-LABEL: tgpu.kernel @in_the_loop
// CHECK: %[[X:.*]] = tgpu.dot {{.*}} -> tensor<64x64xf32, [[W:#tgpu.fragment<"[^"]*">]]>
// CHECK: scf.for {{.*}} -> (tensor<64x64xf32, [[M:#tgpu.fragment<"[^"]*">]]>)
// CHECK:   %[[D:.*]] = tgpu.dot {{.*}} -> tensor<64x64xf32, [[M]]>
// CHECK:   %[[C:.*]] = tgpu.convert_layout %[[X]] : tensor<64x64xf32, [[W]]> -> tensor<64x64xf32, [[M]]>
// CHECK:   %[[Z:.*]] = arith.addf %[[D]], %[[C]] : tensor<64x64xf32, [[M]]>
// CHECK:   scf.yield %[[Z]]
tgpu.kernel @in_the_loop(%a: !a, %b: !b, %g: !tile.global<64x64xf32>, %n: i32) attributes {threads = 128 : i32, target = "sm_90a"} {
  %z = arith.constant dense<0.0> : !acc
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %x = tgpu.dot %a, %b, %z {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !a, !b, !acc -> !acc
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %z) -> (!acc) : i32 {
    %d = tgpu.dot %a, %b, %c {mma = #tgpu.mma<mma_sync, 16, 8, 16, warps = 2, 2>} : !a, !b, !acc -> !acc
    // expected-remark@+2 {{this fragment has the layout with which conversions, reductions and accesses cost least: an estimated}}
    // expected-remark@+1 {{layout conversion of a fragment: its producer and this use need different layouts: }}
    %e = arith.addf %d, %x : !acc
    scf.yield %e : !acc
  }
  tgpu.store %r, %g {bytes = 16 : i32} : !acc, !tile.global<64x64xf32>
  tgpu.return
}
