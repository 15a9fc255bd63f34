// A buffer that goes to global memory goes by one store of TMA, from where it lies; in pipelined loops, whose slots are loaded anew, by threads.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-lower-copies))' -verify-diagnostics | FileCheck %s

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!g = !tile.global<64x64xf16>

// CHECK-LABEL: tgpu.kernel @whole
// CHECK: scf.if
// CHECK-NEXT: tgpu.one_thread {
// CHECK-NEXT:   tgpu.tma_store %{{.*}} to %{{.*}} {cache = #tile.cache<evict_first>, map = 0 : i32}
// CHECK-NEXT:   tgpu.tma_store_commit
// CHECK-NEXT:   tgpu.tma_store_wait 0 {read}
// CHECK: scf.for
// CHECK-NEXT: tgpu.copy {{.*}} path = #tgpu.path<vector>
// CHECK: scf.for
// CHECK-NEXT: tgpu.copy {{.*}} path = #tgpu.path<vector>
// CHECK-NEXT: tgpu.one_thread
tgpu.kernel @whole(%g: !g {tile.name = "A"}, %n: i32, %p: i1) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %s = tgpu.alloc_shared "S" : !s
  %a = tgpu.view %g extents(%c64, %c64 : i32, i32) strides(%c64 : i32) : !g -> !g
  scf.if %p {
    tgpu.copy %s to %a {path = #tgpu.path<tma>, bytes = 16 : i32, cache = #tile.cache<evict_first>} : !s, !g
  }
  scf.for %k = %c0 to %n step %c1 : i32 {
    // expected-remark @+1 {{copy uses no TMA: it is in a pipelined loop, whose slots go back to the loads when threads have read them}}
    tgpu.copy %s to %a {path = #tgpu.path<tma>, bytes = 16 : i32} : !s, !g
  } {tile.stages = 2 : i32}
  scf.for %k = %c0 to %n step %c1 : i32 {
    // expected-remark @+1 {{copy uses no TMA: in a loop the next iteration would wait until the buffer has been read}}
    tgpu.copy %s to %a {path = #tgpu.path<tma>, bytes = 16 : i32} : !s, !g
    tgpu.copy %s to %a {path = #tgpu.path<tma>, bytes = 16 : i32, require = ["tma"]} : !s, !g
  }
  tgpu.return
}
