// cp.async of 4 bytes of a large tile is a loop over blocks of rows, 16 accesses of a thread at a time: the addresses of all would take its registers. Wide ones, of which there are few, stand one
// behind the other.
// RUN: tile-opt %s --convert-tgpu-to-llvm -canonicalize 2> /dev/null | FileCheck %s

!g = !tile.global<?x?xf16>
!t = !tile.global<128x128xf16>
!s = !tgpu.smem<128x128xf16, #tgpu.shared<"128x128 b16 contig 1 panel 64 swizzle 128">>
// CHECK-LABEL: llvm.func @k
// CHECK: llvm.cond_br
// CHECK-COUNT-16: nvvm.cp.async.shared.global {{.*}} 4, cache = ca
// CHECK-NOT: nvvm.cp.async.shared.global
// CHECK: llvm.br
// CHECK-COUNT-16: nvvm.cp.async.shared.global {{.*}} 16, cache = cg
// CHECK-NOT: nvvm.cp.async.shared.global
tgpu.kernel @k(%a: !g, %m: i32, %n: i32 {tgpu.divisible = 8 : i64}) attributes {target = "sm_80", threads = 128 : i32, launch = "k"} {
  %c0 = arith.constant 0 : i32
  %v = tgpu.view %a extents(%m, %n : i32, i32) strides(%n : i32) : !g -> !g
  %t = tile.slice %v[%c0, %c0] sizes [128, 128] : !g, i32, i32 -> !t
  %s = tgpu.alloc_shared {offset = 0 : i64} : !s
  tgpu.cp_async %t to %s {bytes = 4 : i32} : !t, !s
  tgpu.cp_async %t to %s {bytes = 16 : i32} : !t, !s
  tgpu.return
}
