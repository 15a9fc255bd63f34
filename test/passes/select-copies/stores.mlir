// Stores that TMA cannot do go from registers, with a remark.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-select-copies))' -verify-diagnostics -split-input-file | FileCheck %s

// CHECK-LABEL: tgpu.kernel @vector
// CHECK: tgpu.store {{.*}} {bytes = 16 : i32, path = #tgpu.path<vector>}
// CHECK: tgpu.store {{.*}} {bytes = 16 : i32, no_tma, path = #tgpu.path<vector>}
tgpu.kernel @vector(%a: !tile.global<64xf16> {tgpu.align = 16 : i64}, %b: !tile.global<64x64xf16> {tgpu.align = 16 : i64},
                    %f: tensor<64xf16>, %g: tensor<64x64xf16>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c64 = arith.constant 64 : i32
  %v = tgpu.view %a extents(%c64 : i32) strides() : !tile.global<64xf16> -> !tile.global<64xf16>
  %w = tgpu.view %b extents(%c64, %c64 : i32, i32) strides(%c64 : i32) : !tile.global<64x64xf16> -> !tile.global<64x64xf16>
  // expected-remark@+1 {{copy stores from registers, not by TMA: the tile is not a matrix}}
  tgpu.store %f, %v : tensor<64xf16>, !tile.global<64xf16>
  // expected-remark@+1 {{copy stores from registers, not by TMA: @no_tma}}
  tgpu.store %g, %w {no_tma} : tensor<64x64xf16>, !tile.global<64x64xf16>
  tgpu.return
}

// -----

// What is known of the width of accesses: loops in steps, selections, sums.
// CHECK-LABEL: tgpu.kernel @widths
// CHECK: tgpu.load {{.*}} {bytes = 8 : i32}
// CHECK: tgpu.load {{.*}} {bytes = 4 : i32}
// CHECK: tgpu.load {{.*}} {bytes = 2 : i32}
tgpu.kernel @widths(%a: !tile.global<?x?xf16> {tgpu.align = 16 : i64}, %m: i32, %n: i32 {tgpu.divisible = 8 : i64}, %p: i1) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c4 = arith.constant 4 : i32
  %c6 = arith.constant 6 : i32
  %v = tgpu.view %a extents(%m, %n : i32, i32) strides(%n : i32) : !tile.global<?x?xf16> -> !tile.global<?x?xf16>
  scf.for %i = %c0 to %n step %c4 : i32 {
    %t = tile.slice %v[%c0, %i] sizes [64, 32] : !tile.global<?x?xf16>, i32, i32 -> !tile.global<64x32xf16>
    %x = tgpu.load %t : !tile.global<64x32xf16> -> tensor<64x32xf16>
    %j = arith.select %p, %i, %c6 : i32
    %u = tile.slice %v[%c0, %j] sizes [64, 32] : !tile.global<?x?xf16>, i32, i32 -> !tile.global<64x32xf16>
    %y = tgpu.load %u : !tile.global<64x32xf16> -> tensor<64x32xf16>
    %k = arith.addi %j, %m : i32
    %w = tile.slice %v[%c0, %k] sizes [64, 32] : !tile.global<?x?xf16>, i32, i32 -> !tile.global<64x32xf16>
    %z = tgpu.load %w : !tile.global<64x32xf16> -> tensor<64x32xf16>
  }
  tgpu.return
}

// -----

// CHECK-LABEL: tgpu.kernel @nothing
// CHECK-NEXT: tgpu.return
tgpu.kernel @nothing() attributes {threads = 128 : i32, target = "sm_90a"} {
  tgpu.return
}

// -----

// How many neighbours an atomic takes at once depends on target, operation and type.
// CHECK-LABEL: tgpu.kernel @atomics
// CHECK: tgpu.atomic_tile <add> {{.*}} {bytes = 16 : i32} : tensor<64xf32>
// CHECK: tgpu.atomic_tile <max> {{.*}} {bytes = 4 : i32}
// CHECK: tgpu.atomic_tile <add> {{.*}} {bytes = 4 : i32, order = #tile.order<acq_rel>}
// CHECK: tgpu.atomic_tile <add> {{.*}} {bytes = 16 : i32} : tensor<64xf16>
tgpu.kernel @atomics(%a: !tile.global<64xf32> {tgpu.align = 16 : i64}, %b: !tile.global<64xf16> {tgpu.align = 16 : i64}, %f: tensor<64xf32>, %h: tensor<64xf16>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c64 = arith.constant 64 : i32
  %v = tgpu.view %a extents(%c64 : i32) strides() : !tile.global<64xf32> -> !tile.global<64xf32>
  %w = tgpu.view %b extents(%c64 : i32) strides() : !tile.global<64xf16> -> !tile.global<64xf16>
  tgpu.atomic_tile <add> %f, %v : tensor<64xf32>, !tile.global<64xf32>
  tgpu.atomic_tile <max> %f, %v : tensor<64xf32>, !tile.global<64xf32>
  tgpu.atomic_tile <add> %f, %v {order = #tile.order<acq_rel>} : tensor<64xf32>, !tile.global<64xf32>
  tgpu.atomic_tile <add> %h, %w : tensor<64xf16>, !tile.global<64xf16>
  tgpu.return
}

// -----

// CHECK-LABEL: tgpu.kernel @atomics_sm80
// CHECK: tgpu.atomic_tile <add> {{.*}} {bytes = 4 : i32} : tensor<64xf16>
tgpu.kernel @atomics_sm80(%b: !tile.global<64xf16> {tgpu.align = 16 : i64}, %h: tensor<64xf16>) attributes {threads = 128 : i32, target = "sm_80"} {
  %c64 = arith.constant 64 : i32
  %w = tgpu.view %b extents(%c64 : i32) strides() : !tile.global<64xf16> -> !tile.global<64xf16>
  tgpu.atomic_tile <add> %h, %w : tensor<64xf16>, !tile.global<64xf16>
  tgpu.return
}
