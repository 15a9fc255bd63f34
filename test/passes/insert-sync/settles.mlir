// What a loop carries settles after a few walks of its body. If it does not, nothing is known, and that is an error, not a
// guess. The ring of three needs more walks than are allowed here.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-insert-sync,tgpu-verify-sync))' -o /dev/null
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-insert-sync{max-walks=2}))' -verify-diagnostics
// RUN: not tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-verify-sync{max-walks=2}))' 2>&1 | FileCheck %s
// CHECK: pending accesses in this loop do not settle in 2 walks

!ring = !tgpu.smem<3x64x64xf16, #tgpu.shared<"3x64x64 b16 contig 2 panel 64 swizzle 128">>
!b = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
tgpu.kernel @ring(%v: tensor<64x64xf16>, %n: i32) attributes {threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %ring = tgpu.alloc_shared "ring" {offset = 0 : i64} : !ring
  // expected-error @+1 {{pending accesses in this loop do not settle in 2 walks, so its synchronisation is not known}}
  scf.for %i = %c0 to %n step %c1 : i32 {
    %s = tgpu.slot %ring[%i] : !ring -> !b
    tgpu.local_store %v, %s : tensor<64x64xf16>, !b
  }
  tgpu.return
}
