// What a block prints comes in the order of its statements: the first thread keeps it by itself, others need a barrier.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-insert-sync,tgpu-verify-sync))' | FileCheck %s
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-insert-sync))' -o %t.once
// RUN: tile-opt %t.once --pass-pipeline='builtin.module(tgpu.kernel(tgpu-insert-sync))' | diff %t.once -

#f = #tgpu.fragment<"64 reg - lane 1:2:4:8:16 warp 32">
!f = tensor<64xf32, #f>
!s = !tgpu.smem<64xf32, #tgpu.shared<"64 b32 contig 0 panel 64">>

// CHECK-LABEL: tgpu.kernel @scalars
// CHECK-NOT: tgpu.barrier
// CHECK: tgpu.return
tgpu.kernel @scalars(%n: i32) attributes {threads = 64 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  tile.print "first {}", %n : i32 {place = 0 : i32}
  scf.for %i = %c0 to %n step %c1 : i32 {
    tile.print "again {}", %i : i32 {place = 1 : i32}
  }
  tgpu.return
}

// CHECK-LABEL: tgpu.kernel @region
// CHECK: tile.print "before"
// CHECK-NEXT: tgpu.barrier
// CHECK-NEXT: tile.threads
// CHECK-NOT: tgpu.barrier
// CHECK: {{^    }$}}
// CHECK-NEXT: tgpu.barrier
// CHECK-NEXT: tile.threads
// CHECK: {{^    }$}}
// CHECK-NEXT: tgpu.barrier
// CHECK-NEXT: tile.print "after"
tgpu.kernel @region() attributes {threads = 64 : i32} {
  tile.print "before" {place = 0 : i32}
  tile.threads [64] {
  ^bb0(%t: i32):
    tile.print "thread {}", %t : i32 {place = 1 : i32}
    tile.print "thread {} again", %t : i32 {place = 2 : i32}
  }
  tile.threads [64] {
  ^bb0(%t: i32):
    tile.print "thread {}", %t : i32 {place = 3 : i32}
  }
  tile.print "after" {place = 4 : i32}
  tgpu.return
}

// Elements of a tile are printed by whoever holds them.
// CHECK-LABEL: tgpu.kernel @elements
// CHECK: tile.print "before"
// CHECK-NEXT: tgpu.barrier
// CHECK-NEXT: tile.map
// CHECK: {{^    }$}}
// CHECK-NEXT: tgpu.barrier
// CHECK-NEXT: tile.print "after"
tgpu.kernel @elements(%x: !f) attributes {threads = 64 : i32} {
  tile.print "before" {place = 0 : i32}
  tile.map %x : !f {
  ^bb0(%e: f32):
    tile.print "{}", %e : f32 {place = 1 : i32}
    tile.yield
  }
  tile.print "after" {place = 2 : i32}
  tgpu.return
}

// The scratch space of a tile's message is read by all threads; it may be that of a buffer before.
// CHECK-LABEL: tgpu.kernel @tiles
// CHECK: tgpu.local_load
// CHECK-NEXT: tgpu.barrier
// CHECK-NEXT: tile.print "tile {}"
// CHECK-NEXT: tgpu.barrier
// CHECK-NEXT: tile.print "tile again {}"
tgpu.kernel @tiles() attributes {threads = 64 : i32} {
  %s = tgpu.alloc_shared {offset = 0 : i64} : !s
  %x = tgpu.local_load %s : !s -> !f
  tile.print "tile {}", %x : !f {place = 0 : i32, scratch = 0 : i64}
  tile.print "tile again {}", %x : !f {place = 1 : i32, scratch = 0 : i64}
  tgpu.return
}

// A shared tile is read when it is printed: behind what was written before, and before what is written next.
// CHECK-LABEL: tgpu.kernel @contents
// CHECK: tgpu.local_store
// CHECK-NEXT: tgpu.barrier
// CHECK-NEXT: tgpu.local_load
// CHECK-NEXT: tile.print
// CHECK-NEXT: tgpu.barrier
// CHECK-NEXT: tgpu.store_element
tgpu.kernel @contents(%v: !f, %e: f32, %i: i32) attributes {threads = 64 : i32} {
  %s = tgpu.alloc_shared {offset = 0 : i64} : !s
  tgpu.local_store %v, %s : !f, !s
  %x = tgpu.local_load %s : !s -> !f
  tile.print "{}", %x : !f {place = 0 : i32, scratch = 256 : i64}
  tgpu.store_element %e, %s[%i : i32] : f32, !s
  tgpu.return
}
