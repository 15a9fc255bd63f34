// TMA writes at multiples of 128 bytes, where the slots of every ring begin.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-plan-pipeline))' -verify-diagnostics -split-input-file | FileCheck %s

// CHECK-LABEL: tgpu.kernel @odd
// CHECK: tgpu.pipeline = #tgpu.pipeline<tma,
!s = !tgpu.smem<7x48xi8, #tgpu.shared<"7x48 b8 contig 1 panel 48">>
!t = !tile.global<7x48xi8>
tgpu.kernel @odd(%a: !tile.global<?x?xi8> {tgpu.align = 16 : i64}, %n: i32 {tgpu.divisible = 16 : i64}, %o: !t) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %v = tgpu.view %a extents(%n, %n : i32, i32) strides(%n : i32) : !tile.global<?x?xi8> -> !tile.global<?x?xi8>
  %s = tgpu.alloc_shared "S" : !s
  // expected-remark@+1 {{pipelined loop: 3 stages by TMA}}
  scf.for %i = %c0 to %n step %c1 : i32 {
    %t = tile.slice %v[%i, %i] sizes [7, 48] : !tile.global<?x?xi8>, i32, i32 -> !t
    tgpu.copy %t to %s {path = #tgpu.path<tma>, bytes = 16 : i32} : !t, !s
    %x = tgpu.local_load %s : !s -> tensor<7x48xi8>
    tgpu.store %x, %o {path = #tgpu.path<vector>} : tensor<7x48xi8>, !t
  } {tile.stages = 3 : i32}
  tgpu.return
}

// -----

// So does a single buffer.
// CHECK-LABEL: tgpu.kernel @single
// CHECK: tgpu.pipeline = #tgpu.pipeline<tma,
!s = !tgpu.smem<7x48xi8, #tgpu.shared<"7x48 b8 contig 1 panel 48">>
!t = !tile.global<7x48xi8>
tgpu.kernel @single(%a: !tile.global<?x?xi8> {tgpu.align = 16 : i64}, %n: i32 {tgpu.divisible = 16 : i64}, %o: !t) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %v = tgpu.view %a extents(%n, %n : i32, i32) strides(%n : i32) : !tile.global<?x?xi8> -> !tile.global<?x?xi8>
  %s = tgpu.alloc_shared "S" : !s
  // expected-remark@+1 {{pipelined loop: 1 stage by TMA}}
  scf.for %i = %c0 to %n step %c1 : i32 {
    %t = tile.slice %v[%i, %i] sizes [7, 48] : !tile.global<?x?xi8>, i32, i32 -> !t
    tgpu.copy %t to %s {path = #tgpu.path<tma>, bytes = 16 : i32} : !t, !s
    %x = tgpu.local_load %s : !s -> tensor<7x48xi8>
    tgpu.store %x, %o {path = #tgpu.path<vector>} : tensor<7x48xi8>, !t
  } {tile.stages = 1 : i32}
  tgpu.return
}

// -----

// CHECK-LABEL: tgpu.kernel @vector
// CHECK: tgpu.pipeline = #tgpu.pipeline<tma,
!s = !tgpu.smem<48xf32, #tgpu.shared<"48 b32 contig 0 panel 48">>
!t = !tile.global<48xf32>
tgpu.kernel @vector(%a: !tile.global<?xf32> {tgpu.align = 16 : i64}, %n: i32 {tgpu.divisible = 16 : i64}, %o: !t) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %v = tgpu.view %a extents(%n : i32) strides() : !tile.global<?xf32> -> !tile.global<?xf32>
  %s = tgpu.alloc_shared "S" : !s
  // expected-remark@+1 {{pipelined loop: 2 stages by TMA}}
  scf.for %i = %c0 to %n step %c1 : i32 {
    %t = tile.slice %v[%i] sizes [48] : !tile.global<?xf32>, i32 -> !t
    tgpu.copy %t to %s {path = #tgpu.path<tma>, bytes = 16 : i32} : !t, !s
    %x = tgpu.local_load %s : !s -> tensor<48xf32>
    tgpu.store %x, %o {path = #tgpu.path<vector>} : tensor<48xf32>, !t
  } {tile.stages = 2 : i32}
  tgpu.return
}

// -----

// CHECK-LABEL: tgpu.kernel @whole
// CHECK: tgpu.pipeline = #tgpu.pipeline<tma,
!s = !tgpu.smem<64xf32, #tgpu.shared<"64 b32 contig 0 panel 64">>
!t = !tile.global<64xf32>
tgpu.kernel @whole(%a: !tile.global<?xf32> {tgpu.align = 16 : i64}, %n: i32 {tgpu.divisible = 16 : i64}, %o: !t) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %v = tgpu.view %a extents(%n : i32) strides() : !tile.global<?xf32> -> !tile.global<?xf32>
  %s = tgpu.alloc_shared "S" : !s
  // expected-remark@+1 {{pipelined loop: 2 stages by TMA}}
  scf.for %i = %c0 to %n step %c1 : i32 {
    %t = tile.slice %v[%i] sizes [64] : !tile.global<?xf32>, i32 -> !t
    tgpu.copy %t to %s {path = #tgpu.path<tma>, bytes = 16 : i32} : !t, !s
    %x = tgpu.local_load %s : !s -> tensor<64xf32>
    tgpu.store %x, %o {path = #tgpu.path<vector>} : tensor<64xf32>, !t
  } {tile.stages = 2 : i32}
  tgpu.return
}
