// Copies outside of pipelined loops that TMA makes, and why it does not make others.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-lower-copies))' -verify-diagnostics | FileCheck %s

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!h = tensor<64x64xf16, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!t = !tile.global<64x64xf16>

// CHECK-LABEL: tgpu.kernel @left
// CHECK: tgpu.copy {{.*}} path = #tgpu.path<tma>
// CHECK-NOT: cp_async
tgpu.kernel @left(%u: !t, %z: !acc, %n: i32) attributes {threads = 128 : i32, target = "sm_90a", warp_specialize = "producer"} {
  %s = tgpu.alloc_shared "S" : !s
  tgpu.copy %u to %s {path = #tgpu.path<tma>, bytes = 16 : i32} : !t, !s
  %d = tgpu.fma %s, %s, %z : !s, !s, !acc -> !acc
  tgpu.return
}

// CHECK-LABEL: tgpu.kernel @one_role
// CHECK: tgpu.cp_async_wait
tgpu.kernel @one_role(%u: !t, %z: !acc) attributes {threads = 128 : i32, target = "sm_90a"} {
  %s = tgpu.alloc_shared "S" : !s
  // expected-remark @+1 {{copy uses no TMA: a tile that no pipelined loop reads whose loads are by TMA comes as fast by cp.async}}
  tgpu.copy %u to %s {path = #tgpu.path<tma>, bytes = 16 : i32} : !t, !s
  tgpu.return
}

// CHECK-LABEL: tgpu.kernel @around
tgpu.kernel @around(%u: !t, %p: i1) attributes {threads = 128 : i32, target = "sm_90a", warp_specialize = "producer"} {
  %s = tgpu.alloc_shared "S" : !s
  scf.if %p {
    // expected-remark @+1 {{copy uses no TMA: it fills part of a buffer, or one that is declared in a block around}}
    tgpu.copy %u to %s {path = #tgpu.path<tma>, bytes = 16 : i32} : !t, !s
  }
  tgpu.return
}

// CHECK-LABEL: tgpu.kernel @read_before
tgpu.kernel @read_before(%u: !t, %z: !acc) attributes {threads = 128 : i32, target = "sm_90a", warp_specialize = "producer"} {
  %s = tgpu.alloc_shared "S" : !s
  %d = tgpu.fma %s, %s, %z : !s, !s, !acc -> !acc
  // expected-remark @+1 {{copy uses no TMA: its buffer is used before it}}
  tgpu.copy %u to %s {path = #tgpu.path<tma>, bytes = 16 : i32} : !t, !s
  tgpu.return
}

// CHECK-LABEL: tgpu.kernel @written
tgpu.kernel @written(%u: !t, %v: !h) attributes {threads = 128 : i32, target = "sm_90a", warp_specialize = "producer"} {
  %s = tgpu.alloc_shared "S" : !s
  // expected-remark @+1 {{copy uses no TMA: something else writes its buffer, or single threads read it}}
  tgpu.copy %u to %s {path = #tgpu.path<tma>, bytes = 16 : i32} : !t, !s
  tgpu.local_store %v, %s : !h, !s
  tgpu.return
}

// CHECK-LABEL: tgpu.kernel @changed
// CHECK: tgpu.cp_async_wait
tgpu.kernel @changed(%g: !tile.global<64x64xf16> {tile.name = "A"}, %v: !h, %z: !acc) attributes {threads = 128 : i32, target = "sm_90a", warp_specialize = "producer"} {
  %c64 = arith.constant 64 : i32
  %a = tgpu.view %g extents(%c64, %c64 : i32, i32) strides(%c64 : i32) : !tile.global<64x64xf16> -> !tile.global<64x64xf16>
  %s = tgpu.alloc_shared "S" : !s
  // expected-remark @+1 {{copy uses no TMA: the kernel writes to the tensor, or orders its accesses of global memory}}
  tgpu.copy %a to %s {path = #tgpu.path<tma>, bytes = 16 : i32} : !t, !s
  tgpu.store %v, %a {bytes = 4 : i32} : !h, !t
  %d = tgpu.fma %s, %s, %z : !s, !s, !acc -> !acc
  tgpu.return
}

// One role: a tile beside a pipelined loop that loads by TMA and reads it; not in a loop that is not pipelined.
// CHECK-LABEL: tgpu.kernel @beside_a_pipeline
// CHECK: tgpu.copy {{.*}} path = #tgpu.path<tma>
// CHECK: scf.for
// CHECK:   tgpu.cp_async_wait
// CHECK:   scf.for
tgpu.kernel @beside_a_pipeline(%u: !t, %z: !acc, %n: i32) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %s = tgpu.alloc_shared "S" : !s
  tgpu.copy %u to %s {path = #tgpu.path<tma>, bytes = 16 : i32} : !t, !s
  scf.for %i = %c0 to %n step %c1 : i32 {
    %r = tgpu.alloc_shared "R" : !s
    // expected-remark @+1 {{copy uses no TMA: a tile that a loop loads anew in each iteration, not pipelined, comes as fast by cp.async}}
    tgpu.copy %u to %r {path = #tgpu.path<tma>, bytes = 16 : i32} : !t, !s
    %l = scf.for %k = %c0 to %n step %c1 iter_args(%a = %z) -> (!acc) : i32 {
      %v = tgpu.alloc_shared "V" : !s
      tgpu.copy %u to %v {path = #tgpu.path<tma>, bytes = 16 : i32} : !t, !s
      %d = tgpu.fma %s, %v, %a : !s, !s, !acc -> !acc
      %e = tgpu.fma %r, %v, %d : !s, !s, !acc -> !acc
      scf.yield %e : !acc
    } {tile.stages = 2 : i32}
  }
  tgpu.return
}
