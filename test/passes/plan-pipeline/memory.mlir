// Stages are as many as fit shared memory beside what is live together with the rings: other buffers, and the rings of loops that
// run in turn with this one.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-plan-pipeline))' -verify-diagnostics -split-input-file | FileCheck %s

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
// CHECK-LABEL: tgpu.kernel @own
// CHECK: #tgpu.pipeline<{{tma|cp_async}}, stages = 12>
tgpu.kernel @own(%a: !g {tgpu.align = 16 : i64, tile.name = "A"}, %m: i32, %n: i32 {tgpu.divisible = 8 : i64}, %z: !acc) attributes {threads = 128 : i32, target = "sm_86"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %v = tgpu.view %a extents(%m, %n : i32, i32) strides(%n : i32) : !g -> !g
  %s = tgpu.alloc_shared "S" : !s
  // expected-remark@+2 {{pipelined loop has 12 stages, not 20: a stage takes 8192 bytes, 0 of 101376 are taken by other buffers}}
  // expected-remark@+1 {{pipelined loop: 12 stages by cp.async}}
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %z) -> (!acc) : i32 {
    %k = arith.muli %i, %c64 : i32
    %t = tile.slice %v[%c0, %k] sizes [64, 64] : !g, i32, i32 -> !t
    tgpu.copy %t to %s {path = #tgpu.path<cp_async>, bytes = 16 : i32} : !t, !s
    %d = tgpu.fma %s, %s, %c : !s, !s, !acc -> !acc
    scf.yield %d : !acc
  } {tile.stages = 20 : i32}
  tgpu.return
}

// -----

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
// CHECK-LABEL: tgpu.kernel @beside
// CHECK: #tgpu.pipeline<{{tma|cp_async}}, stages = 7>
tgpu.kernel @beside(%a: !g {tgpu.align = 16 : i64, tile.name = "A"}, %m: i32, %n: i32 {tgpu.divisible = 8 : i64}, %z: !acc) attributes {threads = 128 : i32, target = "sm_86"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %v = tgpu.view %a extents(%m, %n : i32, i32) strides(%n : i32) : !g -> !g
  %s = tgpu.alloc_shared "S" : !s
  %o = tgpu.alloc_shared "O" : !tgpu.smem<5x64x64xf16>
  // expected-remark@+2 {{pipelined loop has 7 stages, not 20: a stage takes 8192 bytes, 40960 of 101376 are taken by other buffers}}
  // expected-remark@+1 {{pipelined loop: 7 stages by cp.async}}
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %z) -> (!acc) : i32 {
    %q = tgpu.local_load %o : !tgpu.smem<5x64x64xf16> -> tensor<5x64x64xf16>
    %k = arith.muli %i, %c64 : i32
    %t = tile.slice %v[%c0, %k] sizes [64, 64] : !g, i32, i32 -> !t
    tgpu.copy %t to %s {path = #tgpu.path<cp_async>, bytes = 16 : i32} : !t, !s
    %d = tgpu.fma %s, %s, %c : !s, !s, !acc -> !acc
    scf.yield %d : !acc
  } {tile.stages = 20 : i32}
  tgpu.return
}

// -----

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
// CHECK-LABEL: tgpu.kernel @none_left
// CHECK: tgpu.cp_async_wait 0
tgpu.kernel @none_left(%a: !g {tgpu.align = 16 : i64, tile.name = "A"}, %m: i32, %n: i32 {tgpu.divisible = 8 : i64}, %z: !acc) attributes {threads = 128 : i32, target = "sm_86"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %v = tgpu.view %a extents(%m, %n : i32, i32) strides(%n : i32) : !g -> !g
  %s = tgpu.alloc_shared "S" : !s
  %o = tgpu.alloc_shared "O" : !tgpu.smem<11x64x64xf16>
  // expected-remark@+2 {{pipelined loop has 1 stages, not 2}}
  // expected-remark@+1 {{pipelined loop stays serial: one stage overlaps nothing}}
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %z) -> (!acc) : i32 {
    %q = tgpu.local_load %o : !tgpu.smem<11x64x64xf16> -> tensor<11x64x64xf16>
    %k = arith.muli %i, %c64 : i32
    %t = tile.slice %v[%c0, %k] sizes [64, 64] : !g, i32, i32 -> !t
    tgpu.copy %t to %s {path = #tgpu.path<cp_async>, bytes = 16 : i32} : !t, !s
    %d = tgpu.fma %s, %s, %c : !s, !s, !acc -> !acc
    scf.yield %d : !acc
  } {tile.stages = 2 : i32}
  tgpu.return
}

// -----

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
// CHECK-LABEL: tgpu.kernel @in_turn
// CHECK: #tgpu.pipeline<{{tma|cp_async}}, stages = 8>
// CHECK: #tgpu.pipeline<{{tma|cp_async}}, stages = 4>
tgpu.kernel @in_turn(%a: !g {tgpu.align = 16 : i64, tile.name = "A"}, %m: i32, %n: i32 {tgpu.divisible = 8 : i64}, %z: !acc) attributes {threads = 128 : i32, target = "sm_86"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %v = tgpu.view %a extents(%m, %n : i32, i32) strides(%n : i32) : !g -> !g
  %s = tgpu.alloc_shared "S" : !s
  %s2 = tgpu.alloc_shared "T" : !s
  scf.for %j = %c0 to %m step %c1 : i32 {
  // expected-remark@+1 {{pipelined loop: 8 stages by cp.async}}
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %z) -> (!acc) : i32 {
    %k = arith.muli %i, %c64 : i32
    %t = tile.slice %v[%c0, %k] sizes [64, 64] : !g, i32, i32 -> !t
    tgpu.copy %t to %s {path = #tgpu.path<cp_async>, bytes = 16 : i32} : !t, !s
    %d = tgpu.fma %s, %s, %c : !s, !s, !acc -> !acc
    scf.yield %d : !acc
  } {tile.stages = 8 : i32}
  // expected-remark@+2 {{pipelined loop has 4 stages, not 8: a stage takes 8192 bytes, 65536 of 101376 are taken by other buffers}}
  // expected-remark@+1 {{pipelined loop: 4 stages by cp.async}}
  %r2 = scf.for %i = %c0 to %n step %c1 iter_args(%c = %z) -> (!acc) : i32 {
    %k = arith.muli %i, %c64 : i32
    %t = tile.slice %v[%c0, %k] sizes [64, 64] : !g, i32, i32 -> !t
    tgpu.copy %t to %s2 {path = #tgpu.path<cp_async>, bytes = 16 : i32} : !t, !s
    %d = tgpu.fma %s2, %s2, %c : !s, !s, !acc -> !acc
    scf.yield %d : !acc
  } {tile.stages = 8 : i32}
  }
  tgpu.return
}

// -----

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
// What only the code behind the loop uses, or that before it, takes nothing from its rings.
// CHECK-LABEL: tgpu.kernel @apart
// CHECK: #tgpu.pipeline<cp_async, stages = 12>
tgpu.kernel @apart(%a: !g {tgpu.align = 16 : i64}, %n: i32 {tgpu.divisible = 8 : i64}, %z: !acc, %h: tensor<5x64x64xf16>) attributes {threads = 128 : i32, target = "sm_86"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %v = tgpu.view %a extents(%n, %n : i32, i32) strides(%n : i32) : !g -> !g
  %s = tgpu.alloc_shared "S" : !s
  %o = tgpu.alloc_shared "O" : !tgpu.smem<5x64x64xf16>
  %p = tgpu.alloc_shared "P" : !tgpu.smem<5x64x64xf16>
  tgpu.local_store %h, %p : tensor<5x64x64xf16>, !tgpu.smem<5x64x64xf16>
  %f = tgpu.local_load %p : !tgpu.smem<5x64x64xf16> -> tensor<5x64x64xf16>
  // expected-remark@+2 {{pipelined loop has 12 stages, not 20: a stage takes 8192 bytes, 0 of 101376 are taken by other buffers}}
  // expected-remark@+1 {{pipelined loop: 12 stages by cp.async}}
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %z) -> (!acc) : i32 {
    %t = tile.slice %v[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
    tgpu.copy %t to %s {path = #tgpu.path<cp_async>, bytes = 16 : i32} : !t, !s
    %d = tgpu.fma %s, %s, %c : !s, !s, !acc -> !acc
    scf.yield %d : !acc
  } {tile.stages = 20 : i32}
  tgpu.local_store %f, %o : tensor<5x64x64xf16>, !tgpu.smem<5x64x64xf16>
  %l = tgpu.local_load %o : !tgpu.smem<5x64x64xf16> -> tensor<5x64x64xf16>
  tgpu.return
}

// -----

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
// What is written before the loop and read behind it is live in it.
// CHECK-LABEL: tgpu.kernel @across
// CHECK: #tgpu.pipeline<cp_async, stages = 7>
tgpu.kernel @across(%a: !g {tgpu.align = 16 : i64}, %n: i32 {tgpu.divisible = 8 : i64}, %z: !acc, %h: tensor<5x64x64xf16>) attributes {threads = 128 : i32, target = "sm_86"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %v = tgpu.view %a extents(%n, %n : i32, i32) strides(%n : i32) : !g -> !g
  %s = tgpu.alloc_shared "S" : !s
  %o = tgpu.alloc_shared "O" : !tgpu.smem<5x64x64xf16>
  tgpu.local_store %h, %o : tensor<5x64x64xf16>, !tgpu.smem<5x64x64xf16>
  // expected-remark@+2 {{pipelined loop has 7 stages, not 20: a stage takes 8192 bytes, 40960 of 101376 are taken by other buffers}}
  // expected-remark@+1 {{pipelined loop: 7 stages by cp.async}}
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %z) -> (!acc) : i32 {
    %t = tile.slice %v[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
    tgpu.copy %t to %s {path = #tgpu.path<cp_async>, bytes = 16 : i32} : !t, !s
    %d = tgpu.fma %s, %s, %c : !s, !s, !acc -> !acc
    scf.yield %d : !acc
  } {tile.stages = 20 : i32}
  %l = tgpu.local_load %o : !tgpu.smem<5x64x64xf16> -> tensor<5x64x64xf16>
  tgpu.return
}

// -----

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
// In a loop around, rings are live in all of it: the next iteration fills them while the last one's stores read.
// CHECK-LABEL: tgpu.kernel @around
// CHECK: #tgpu.pipeline<cp_async, stages = 7>
tgpu.kernel @around(%a: !g {tgpu.align = 16 : i64}, %n: i32 {tgpu.divisible = 8 : i64}, %z: !acc, %h: tensor<5x64x64xf16>) attributes {threads = 128 : i32, target = "sm_86"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %v = tgpu.view %a extents(%n, %n : i32, i32) strides(%n : i32) : !g -> !g
  %s = tgpu.alloc_shared "S" : !s
  %o = tgpu.alloc_shared "O" : !tgpu.smem<5x64x64xf16>
  scf.for %j = %c0 to %n step %c1 : i32 {
    // expected-remark@+2 {{pipelined loop has 7 stages, not 20: a stage takes 8192 bytes, 40960 of 101376 are taken by other buffers}}
    // expected-remark@+1 {{pipelined loop: 7 stages by cp.async}}
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %z) -> (!acc) : i32 {
      %t = tile.slice %v[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
      tgpu.copy %t to %s {path = #tgpu.path<cp_async>, bytes = 16 : i32} : !t, !s
      %d = tgpu.fma %s, %s, %c : !s, !s, !acc -> !acc
      scf.yield %d : !acc
    } {tile.stages = 20 : i32}
    tgpu.local_store %h, %o : tensor<5x64x64xf16>, !tgpu.smem<5x64x64xf16>
    %l = tgpu.local_load %o : !tgpu.smem<5x64x64xf16> -> tensor<5x64x64xf16>
  }
  tgpu.return
}

// -----

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
!e = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:0,2:8,0:16,0:32,0 lane 0,4:0,8:0,16:0,32:1,0 warp 2,0:4,0">>
// Scratch space of a conversion counts where it is live, too.
// CHECK-LABEL: tgpu.kernel @scratch
// CHECK: #tgpu.pipeline<cp_async, stages = 10>
tgpu.kernel @scratch(%a: !g {tgpu.align = 16 : i64}, %n: i32 {tgpu.divisible = 8 : i64}, %z: !acc) attributes {threads = 128 : i32, target = "sm_86"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %v = tgpu.view %a extents(%n, %n : i32, i32) strides(%n : i32) : !g -> !g
  %s = tgpu.alloc_shared "S" : !s
  // expected-remark@+2 {{pipelined loop has 10 stages, not 20}}
  // expected-remark@+1 {{pipelined loop: 10 stages by cp.async}}
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %z) -> (!acc) : i32 {
    %t = tile.slice %v[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
    tgpu.copy %t to %s {path = #tgpu.path<cp_async>, bytes = 16 : i32} : !t, !s
    %d = tgpu.fma %s, %s, %c : !s, !s, !acc -> !acc
    %e = tgpu.convert_layout %d : !acc -> !e
    %f = tgpu.convert_layout %e : !e -> !acc
    scf.yield %f : !acc
  } {tile.stages = 20 : i32}
  tgpu.return
}
