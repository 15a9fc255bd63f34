// Copies that no pipelined loop overlaps: cp.async with its wait, or plain; those of pipelined loops wait for their plan.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-lower-copies))' -verify-diagnostics -split-input-file | FileCheck %s

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!g = !tile.global<64x64xf16>
// CHECK-LABEL: tgpu.kernel @lone
// CHECK: tgpu.cp_async %{{.*}} to %{{.*}} {bytes = 8 : i32, cache = #tile.cache<evict_last>}
// CHECK-NEXT: tgpu.cp_async_commit
// CHECK-NEXT: tgpu.cp_async_wait 0
// CHECK-NEXT: tgpu.cp_async %{{.*}} {bytes = 16 : i32}
// CHECK-NEXT: tgpu.cp_async_commit
// CHECK-NEXT: tgpu.cp_async_wait 0
// CHECK-NEXT: tgpu.copy {{.*}} {bytes = 2 : i32, path = #tgpu.path<vector>}
// CHECK-NEXT: tgpu.copy {{.*}} {bytes = 2 : i32, path = #tgpu.path<vector>}
// CHECK-NEXT: tgpu.copy {{.*}} {bytes = 16 : i32, path = #tgpu.path<vector>}
// CHECK-NEXT: tgpu.store {{.*}} {path = #tgpu.path<vector>}
// CHECK-NEXT: tgpu.return
tgpu.kernel @lone(%g: !g, %s: !s, %f: tensor<64x64xf16>) attributes {threads = 128 : i32, target = "sm_90a"} {
  tgpu.copy %g to %s {path = #tgpu.path<cp_async>, bytes = 8 : i32, cache = #tile.cache<evict_last>} : !g, !s
  // expected-remark@+1 {{copy uses no TMA: it fills part of a buffer, or one that is declared in a block around}}
  tgpu.copy %g to %s {path = #tgpu.path<tma>, bytes = 16 : i32} : !g, !s
  // Where an offset bounds accesses to 2 bytes cp.async cannot stand in.
  // expected-remark@+1 {{copy uses no TMA}}
  tgpu.copy %g to %s {path = #tgpu.path<tma>, bytes = 2 : i32} : !g, !s
  tgpu.copy %g to %s {path = #tgpu.path<vector>, bytes = 2 : i32} : !g, !s
  // expected-remark@+1 {{copy uses no TMA: it stores part of a buffer}}
  tgpu.copy %s to %g {path = #tgpu.path<tma>, bytes = 16 : i32} : !s, !g
  tgpu.store %f, %g {path = #tgpu.path<vector>} : tensor<64x64xf16>, !g
  tgpu.return
}

// -----

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!g = !tile.global<64x64xf16>
// CHECK-LABEL: tgpu.kernel @loops
// CHECK: scf.for
// CHECK: tgpu.copy {{.*}} path = #tgpu.path<tma>
// CHECK: scf.if
// CHECK: tgpu.cp_async
// CHECK: scf.for
// CHECK: tgpu.cp_async
tgpu.kernel @loops(%g: !g, %s: !s, %n: i32, %p: i1) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    tgpu.copy %g to %s {path = #tgpu.path<tma>, bytes = 16 : i32} : !g, !s
    scf.if %p {
      tgpu.copy %g to %s {path = #tgpu.path<cp_async>, bytes = 16 : i32} : !g, !s
    }
  } {tile.stages = 3 : i32}
  scf.for %i = %c0 to %n step %c1 : i32 {
    tgpu.copy %g to %s {path = #tgpu.path<cp_async>, bytes = 16 : i32} : !g, !s
  }
  tgpu.return
}

// -----

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!g = !tile.global<64x64xf16>
// A copy from shared memory in a pipelined loop is never overlapped.
// CHECK-LABEL: tgpu.kernel @stores
// CHECK: scf.for
// CHECK: tgpu.copy {{.*}} path = #tgpu.path<vector>
tgpu.kernel @stores(%g: !g, %s: !s, %n: i32) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    // expected-remark@+1 {{copy uses no TMA}}
    tgpu.copy %s to %g {path = #tgpu.path<tma>, bytes = 16 : i32} : !s, !g
  } {tile.stages = 3 : i32}
  tgpu.return
}

// -----

// CHECK-LABEL: tgpu.kernel @nothing
// CHECK-NEXT: tgpu.return
tgpu.kernel @nothing() attributes {threads = 128 : i32, target = "sm_90a"} {
  tgpu.return
}
