// A region of single threads is one statement of block code: barriers stand in front of it and behind it, never inside.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-insert-sync,tgpu-verify-sync))' | FileCheck %s
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-insert-sync))' -o %t.once
// RUN: tile-opt %t.once --pass-pipeline='builtin.module(tgpu.kernel(tgpu-insert-sync))' | diff %t.once -

#f = #tgpu.fragment<"64 reg - lane 1:2:4:8:16 warp 32">
!f = tensor<64xf32, #f>
!s = !tgpu.smem<64xf32, #tgpu.shared<"64 b32 contig 0 panel 64">>
!v = !tile.global<?xf32>
!g = !tile.global<64xf32>

// CHECK-LABEL: tgpu.kernel @shared
// CHECK: tgpu.local_store
// CHECK-NEXT: tgpu.barrier
// CHECK-NEXT: tile.threads
// CHECK-NOT: tgpu.barrier
// CHECK: tgpu.store_element
// CHECK-NEXT: tgpu.load_element
// CHECK-NEXT: tgpu.store_element
// CHECK-NEXT: }
// CHECK-NEXT: tgpu.barrier
// CHECK-NEXT: tgpu.local_load
tgpu.kernel @shared(%x: !f) attributes {threads = 64 : i32} {
  %s = tgpu.alloc_shared {offset = 0 : i64} : !s
  tgpu.local_store %x, %s : !f, !s
  tile.threads [64] {
  ^bb0(%t: i32):
    %a = tgpu.load_element %s[%t : i32] : !s -> f32
    tgpu.store_element %a, %s[%t : i32] : f32, !s
    %b = tgpu.load_element %s[%t : i32] : !s -> f32
    tgpu.store_element %b, %s[%t : i32] : f32, !s
  }
  %r = tgpu.local_load %s : !s -> !f
  tgpu.return
}

// The program's own barrier counts for what follows the region.
// CHECK-LABEL: tgpu.kernel @ordered
// CHECK: tile.sync_threads
// CHECK-NEXT: }
// CHECK-NEXT: tgpu.local_load
// Two regions in turn; a loop around one.
// CHECK: tile.threads
// CHECK: }
// CHECK-NEXT: tgpu.barrier
// CHECK-NEXT: tile.threads
// CHECK: scf.for
// CHECK-NEXT: tgpu.barrier
// CHECK-NEXT: tile.threads
tgpu.kernel @ordered(%x: f32, %n: i32) attributes {threads = 64 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %s = tgpu.alloc_shared {offset = 0 : i64} : !s
  tile.threads [64] {
  ^bb0(%t: i32):
    tgpu.store_element %x, %s[%t : i32] : f32, !s
    tile.sync_threads
  }
  %r = tgpu.local_load %s : !s -> !f
  tile.threads [64] {
  ^bb0(%t: i32):
    %a = tgpu.load_element %s[%c1 : i32] : !s -> f32
  }
  tile.threads [64] {
  ^bb0(%t: i32):
    tgpu.store_element %x, %s[%t : i32] : f32, !s
  }
  scf.for %i = %c0 to %n step %c1 : i32 {
    tile.threads [64] {
    ^bb0(%t: i32):
      tgpu.store_element %x, %s[%t : i32] : f32, !s
    }
  }
  tgpu.return
}

// Elements of global memory: a thread's number says nothing of other threads, so that equal indices are not equal places.
// CHECK-LABEL: tgpu.kernel @global
// CHECK: tgpu.store
// CHECK-NEXT: tgpu.barrier
// CHECK-NEXT: tile.threads
// CHECK: tile.store
// CHECK: }
// CHECK-NEXT: tgpu.barrier
// CHECK-NEXT: tgpu.load
// CHECK-NOT: tgpu.barrier
// CHECK: tgpu.return
tgpu.kernel @global(%p: !v, %q: !v {tile.may_alias = []}, %x: !f, %m: i32) attributes {threads = 64 : i32} {
  %c0 = arith.constant 0 : i32
  %view = tgpu.view %p extents(%m : i32) strides() : !v -> !v
  %other = tgpu.view %q extents(%m : i32) strides() : !v -> !v
  %here = tile.slice %view[%c0] sizes [64] : !v, i32 -> !g
  tgpu.store %x, %here : !f, !g
  tile.threads [64] {
  ^bb0(%t: i32):
    %a = tile.load %view[%t : i32] : !v -> f32
    %b = tile.load %other[%t : i32] : !v -> vector<4xf32>
    tile.store %a, %view[%t : i32] : f32, !v
  }
  %r = tgpu.load %here : !g -> !f
  tgpu.return
}

// In block code one thread writes an element, and all read it.
// CHECK-LABEL: tgpu.kernel @element
// CHECK: tgpu.store_element
// CHECK-NEXT: tgpu.store_element
// CHECK-NEXT: tgpu.barrier
// CHECK-NEXT: tgpu.load_element
tgpu.kernel @element(%x: f32, %n: i32) attributes {threads = 64 : i32} {
  %s = tgpu.alloc_shared {offset = 0 : i64} : !s
  tgpu.store_element %x, %s[%n : i32] : f32, !s
  tgpu.store_element %x, %s[%n : i32] : f32, !s
  %r = tgpu.load_element %s[%n : i32] : !s -> f32
  tgpu.return
}
