// Barriers between threads that write and read the same buffer; nothing between what does not overlap.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-insert-sync,tgpu-verify-sync))' | FileCheck %s
// Barriers that are there count: a second run adds none.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-insert-sync))' -o %t.once
// RUN: tile-opt %t.once --pass-pipeline='builtin.module(tgpu.kernel(tgpu-insert-sync))' | diff %t.once -

#s = #tgpu.shared<"128x64 b16 contig 1 panel 64 swizzle 128">
!b = !tgpu.smem<128x64xf16, #s>
!half = !tgpu.smem<64x64xf16, #s>
!ring = !tgpu.smem<3x128x64xf16, #tgpu.shared<"3x128x64 b16 contig 2 panel 64 swizzle 128">>
!t = tensor<128x64xf16>
!h = tensor<64x64xf16>
!g = !tile.global<128x64xf16>

// CHECK-LABEL: tgpu.kernel @write_read_write
// CHECK: tgpu.local_store
// CHECK-NEXT: tgpu.barrier
// CHECK-NEXT: tgpu.local_load
// CHECK-NEXT: tgpu.local_load
// CHECK-NEXT: tgpu.barrier
// CHECK-NEXT: tgpu.local_store
// CHECK-NEXT: tgpu.return
tgpu.kernel @write_read_write(%v: !t) attributes {threads = 128 : i32} {
  %a = tgpu.alloc_shared "a" : !b
  tgpu.local_store %v, %a : !t, !b
  %0 = tgpu.local_load %a : !b -> !t
  %1 = tgpu.local_load %a : !b -> !t
  tgpu.local_store %0, %a : !t, !b
  tgpu.return
}

// CHECK-LABEL: tgpu.kernel @existing
// CHECK: tgpu.local_store
// CHECK-NEXT: tgpu.barrier
// CHECK-NEXT: tgpu.local_load
// CHECK-NEXT: tgpu.return
tgpu.kernel @existing(%v: !t) attributes {threads = 128 : i32} {
  %a = tgpu.alloc_shared "a" : !b
  tgpu.local_store %v, %a : !t, !b
  tgpu.barrier
  %0 = tgpu.local_load %a : !b -> !t
  tgpu.return
}

// Other buffers, other rows, other slots of a ring.
// CHECK-LABEL: tgpu.kernel @apart
// CHECK-NOT: tgpu.barrier
// CHECK: tgpu.return
tgpu.kernel @apart(%v: !t, %w: !h, %p: i32) attributes {threads = 128 : i32} {
  %c1 = arith.constant 1 : i32
  %a = tgpu.alloc_shared "a" {offset = 0 : i64} : !b
  %b = tgpu.alloc_shared "b" {offset = 16384 : i64} : !b
  tgpu.local_store %v, %a : !t, !b
  %0 = tgpu.local_load %b : !b -> !t
  %c = tgpu.alloc_shared "c" : !b
  %top = tgpu.subview %c at [0, 0] : !b -> !half
  %bottom = tgpu.subview %c at [64, 0] : !b -> !half
  tgpu.local_store %w, %top : !h, !half
  %1 = tgpu.local_load %bottom : !half -> !h
  %ring = tgpu.alloc_shared "ring" : !ring
  %next = arith.addi %p, %c1 : i32
  %here = tgpu.slot %ring[%p] : !ring -> !b
  %there = tgpu.slot %ring[%next] : !ring -> !b
  tgpu.local_store %v, %there : !t, !b
  %2 = tgpu.local_load %here : !b -> !t
  tgpu.return
}

// Three positions on is the same slot of a ring of three; an unrelated position may be.
// CHECK-LABEL: tgpu.kernel @same_slot
// CHECK: tgpu.local_store
// CHECK: tgpu.barrier
// CHECK-NEXT: tgpu.local_load
// CHECK: tgpu.local_store
// CHECK: tgpu.barrier
// CHECK-NEXT: tgpu.local_load
tgpu.kernel @same_slot(%v: !t, %p: i32, %q: i32) attributes {threads = 128 : i32} {
  %c3 = arith.constant 3 : i32
  %ring = tgpu.alloc_shared "ring" : !ring
  %later = arith.addi %p, %c3 : i32
  %here = tgpu.slot %ring[%p] : !ring -> !b
  %again = tgpu.slot %ring[%later] : !ring -> !b
  %other = tgpu.slot %ring[%q] : !ring -> !b
  tgpu.local_store %v, %again : !t, !b
  %0 = tgpu.local_load %here : !b -> !t
  tgpu.local_store %v, %again : !t, !b
  %1 = tgpu.local_load %other : !b -> !t
  tgpu.return
}

// Buffers that share memory depend on each other.
// CHECK-LABEL: tgpu.kernel @overlaid
// CHECK: tgpu.local_load
// CHECK-NEXT: tgpu.barrier
// CHECK-NEXT: tgpu.local_store
tgpu.kernel @overlaid(%v: !t) attributes {threads = 128 : i32} {
  %a = tgpu.alloc_shared "a" {offset = 0 : i64} : !b
  %b = tgpu.alloc_shared "b" {offset = 8192 : i64} : !b
  %0 = tgpu.local_load %a : !b -> !t
  tgpu.local_store %v, %b : !t, !b
  tgpu.return
}

// The read of one iteration meets the write of the next.
// CHECK-LABEL: tgpu.kernel @back_edge
// CHECK: scf.for
// CHECK-NEXT: tgpu.barrier
// CHECK-NEXT: tgpu.copy
// CHECK-NEXT: tgpu.barrier
// CHECK-NEXT: tgpu.local_load
// CHECK-NEXT: }
tgpu.kernel @back_edge(%g: !g, %n: i32) attributes {threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %a = tgpu.alloc_shared "a" : !b
  scf.for %i = %c0 to %n step %c1 : i32 {
    tgpu.copy %g to %a {path = #tgpu.path<vector>} : !g, !b
    %0 = tgpu.local_load %a : !b -> !t
  }
  tgpu.return
}

// In a ring one barrier is enough: what is written now was read two iterations ago.
// CHECK-LABEL: tgpu.kernel @ring
// CHECK: scf.for
// CHECK: tgpu.local_store
// CHECK-NEXT: tgpu.barrier
// CHECK-NEXT: tgpu.local_load
// CHECK-NEXT: }
tgpu.kernel @ring(%v: !t, %n: i32) attributes {threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %ring = tgpu.alloc_shared "ring" : !ring
  scf.for %i = %c0 to %n step %c1 : i32 {
    %slot = tgpu.slot %ring[%i] : !ring -> !b
    tgpu.local_store %v, %slot : !t, !b
    %0 = tgpu.local_load %slot : !b -> !t
  }
  tgpu.return
}

// Either side of a branch may have happened. One barrier before a branch serves both sides and what follows.
// CHECK-LABEL: tgpu.kernel @branches
// CHECK: scf.if
// CHECK: tgpu.local_store
// CHECK: }
// CHECK-NEXT: tgpu.barrier
// CHECK-NEXT: scf.if
// CHECK-NEXT: tgpu.local_load
// CHECK: tgpu.local_load
// CHECK: tgpu.return
tgpu.kernel @branches(%v: !t, %c: i1) attributes {threads = 128 : i32} {
  %a = tgpu.alloc_shared "a" : !b
  scf.if %c {
    tgpu.local_store %v, %a : !t, !b
  }
  scf.if %c {
    %0 = tgpu.local_load %a : !b -> !t
  }
  %1 = tgpu.local_load %a : !b -> !t
  tgpu.return
}

// Inside a role only its own threads meet.
// CHECK-LABEL: tgpu.kernel @role
// CHECK: role "one"
// CHECK: tgpu.local_store
// CHECK-NEXT: tgpu.barrier {id = 1 : i32, threads = 128 : i32}
// CHECK: role "two"
// CHECK: tgpu.local_store
// CHECK-NEXT: tgpu.barrier {id = 2 : i32, threads = 256 : i32}
tgpu.kernel @role(%x: i32) attributes {threads = 384 : i32} {
  %z = arith.constant 0.0 : f16
  %a = tgpu.alloc_shared "a" : !b
  %b = tgpu.alloc_shared "b" : !b
  tgpu.roles role "one" warps 0, 4 {
    %v = tile.splat %z : f16 -> !t
    tgpu.local_store %v, %a : !t, !b
    %0 = tgpu.local_load %a : !b -> !t
  } role "two" warps 4, 8 {
    %v = tile.splat %z : f16 -> !t
    tgpu.local_store %v, %b : !t, !b
    %0 = tgpu.local_load %b : !b -> !t
  }
  tgpu.return
}
