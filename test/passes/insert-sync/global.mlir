// A block's own accesses of global memory: order where two statements may meet in one element, nothing where they cannot.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-insert-sync,tgpu-verify-sync))' | FileCheck %s
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-insert-sync))' -o %t.once
// RUN: tile-opt %t.once --pass-pipeline='builtin.module(tgpu.kernel(tgpu-insert-sync))' | diff %t.once -

#acc = #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">
#rows = #tgpu.fragment<"64x64 reg 1,0:2,0:4,0:8,0:16,0 lane 0,1:0,2:0,4:0,8:0,16 warp 0,32:32,0">
// Two warps hold each element.
#twice = #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32:32,0 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:0,0">
!f = tensor<64x64xf16, #acc>
!r = tensor<64x64xf16, #rows>
!w = tensor<64x64xf16, #twice>
!b = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!two = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!v = !tile.global<?x?xf16>
!g = !tile.global<64x64xf16>
!ch = !tgpu.channel<2>

// CHECK-LABEL: tgpu.kernel @other_rows
// CHECK: tgpu.store
// CHECK-NEXT: tgpu.barrier
// CHECK-NEXT: tgpu.load
tgpu.kernel @other_rows(%y: !v, %m: i32, %n: i32, %x: !f) attributes {threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %view = tgpu.view %y extents(%m, %n : i32, i32) strides(%n : i32) : !v -> !v
  %here = tile.slice %view[%c0, %c0] sizes [64, 64] : !v, i32, i32 -> !g
  %below = tile.slice %view[%c1, %c0] sizes [64, 64] : !v, i32, i32 -> !g
  tgpu.store %x, %here : !f, !g
  %0 = tgpu.load %below : !g -> !f
  tgpu.return
}

// Tiles of one grid are the same or apart: a thread meets its own elements alone, whatever tile an iteration has. Not so where
// they begin between, where the layouts differ, or where tiles of two grids meet.
// CHECK-LABEL: tgpu.kernel @grid
// CHECK: scf.for
// CHECK-NOT: tgpu.barrier
// CHECK: scf.yield
// CHECK-NOT: tgpu.barrier
// CHECK: tgpu.return
tgpu.kernel @grid(%y: !v, %t: !tile.global<?xi32>, %m: i32, %n: i32, %x: !f) attributes {threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %view = tgpu.view %y extents(%m, %n : i32, i32) strides(%n : i32) : !v -> !v
  %which = tgpu.view %t extents(%m : i32) strides() : !tile.global<?xi32> -> !tile.global<?xi32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%k = %c0) -> (i32) : i32 {
    %next = tile.load %which[%i : i32] : !tile.global<?xi32> -> i32
    %row = arith.muli %k, %c64 : i32
    %here = tile.slice %view[%row, %c64] sizes [64, 64] : !v, i32, i32 -> !g
    tgpu.store %x, %here : !f, !g
    scf.yield %next : i32
  }
  tgpu.return
}
// CHECK-LABEL: tgpu.kernel @between
// CHECK: scf.for
// CHECK: tgpu.barrier
// CHECK: scf.yield
tgpu.kernel @between(%y: !v, %t: !tile.global<?xi32>, %m: i32, %n: i32, %x: !f) attributes {threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c32 = arith.constant 32 : i32
  %view = tgpu.view %y extents(%m, %n : i32, i32) strides(%n : i32) : !v -> !v
  %which = tgpu.view %t extents(%m : i32) strides() : !tile.global<?xi32> -> !tile.global<?xi32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%k = %c0) -> (i32) : i32 {
    %next = tile.load %which[%i : i32] : !tile.global<?xi32> -> i32
    %row = arith.muli %k, %c32 : i32
    %here = tile.slice %view[%row, %c0] sizes [64, 64] : !v, i32, i32 -> !g
    tgpu.store %x, %here : !f, !g
    scf.yield %next : i32
  }
  tgpu.return
}
// CHECK-LABEL: tgpu.kernel @two_layouts
// CHECK: scf.for
// CHECK: tgpu.barrier
// CHECK: tgpu.barrier
// CHECK: scf.yield
tgpu.kernel @two_layouts(%y: !v, %t: !tile.global<?xi32>, %m: i32, %n: i32, %x: !f, %z: !r) attributes {threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %view = tgpu.view %y extents(%m, %n : i32, i32) strides(%n : i32) : !v -> !v
  %which = tgpu.view %t extents(%m : i32) strides() : !tile.global<?xi32> -> !tile.global<?xi32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%k = %c0) -> (i32) : i32 {
    %next = tile.load %which[%i : i32] : !tile.global<?xi32> -> i32
    %row = arith.muli %k, %c64 : i32
    %here = tile.slice %view[%row, %c0] sizes [64, 64] : !v, i32, i32 -> !g
    tgpu.store %x, %here : !f, !g
    %there = arith.muli %next, %c64 : i32
    %other = tile.slice %view[%there, %c0] sizes [64, 64] : !v, i32, i32 -> !g
    tgpu.store %z, %other : !r, !g
    scf.yield %next : i32
  }
  tgpu.return
}

// The same tile in the same layout is each thread's own; in another layout, or where several threads hold an element and
// one of them stores it, it is not. Two stores are one thread's all the same.
// CHECK-LABEL: tgpu.kernel @same_tile
// CHECK: tgpu.store
// CHECK-NEXT: tgpu.load
// CHECK-NEXT: tgpu.store
// CHECK-NEXT: tgpu.barrier
// CHECK-NEXT: tgpu.load
// CHECK-LABEL: tgpu.kernel @held_twice
// CHECK: tgpu.store
// CHECK-NEXT: tgpu.store
// CHECK-NEXT: tgpu.barrier
// CHECK-NEXT: tgpu.load
tgpu.kernel @same_tile(%y: !v, %m: i32, %n: i32, %x: !f) attributes {threads = 128 : i32} {
  %view = tgpu.view %y extents(%m, %n : i32, i32) strides(%n : i32) : !v -> !v
  %here = tile.slice %view[%m, %n] sizes [64, 64] : !v, i32, i32 -> !g
  tgpu.store %x, %here : !f, !g
  %0 = tgpu.load %here : !g -> !f
  tgpu.store %x, %here : !f, !g
  %1 = tgpu.load %here : !g -> !r
  tgpu.return
}
tgpu.kernel @held_twice(%y: !v, %m: i32, %n: i32, %x: !w) attributes {threads = 128 : i32} {
  %view = tgpu.view %y extents(%m, %n : i32, i32) strides(%n : i32) : !v -> !v
  %here = tile.slice %view[%m, %n] sizes [64, 64] : !v, i32, i32 -> !g
  tgpu.store %x, %here : !w, !g
  tgpu.store %x, %here : !w, !g
  %1 = tgpu.load %here : !g -> !w
  tgpu.return
}

// Other tensors, and other indices around the same sum: 64 (m + 1) is 64 m + 64, and slices of slices add up.
// CHECK-LABEL: tgpu.kernel @apart
// CHECK-NOT: tgpu.barrier
// CHECK: tgpu.return
tgpu.kernel @apart(%y: !v, %z: !v, %m: i32, %n: i32, %x: !f) attributes {threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %view = tgpu.view %y extents(%m, %n : i32, i32) strides(%n : i32) : !v -> !v
  %other = tgpu.view %z extents(%m, %n : i32, i32) strides(%n : i32) : !v -> !v
  %row = arith.muli %m, %c64 : i32
  %here = tile.slice %view[%row, %c0] sizes [64, 64] : !v, i32, i32 -> !g
  tgpu.store %x, %here : !f, !g
  %there = tile.slice %other[%row, %c0] sizes [64, 64] : !v, i32, i32 -> !g
  %0 = tgpu.load %there : !g -> !r
  %next = arith.addi %m, %c1 : i32
  %rows = arith.muli %c64, %next : i32
  %below = tile.slice %view[%rows, %c0] sizes [64, 64] : !v, i32, i32 -> !g
  %1 = tgpu.load %below : !g -> !r
  %part = tile.slice %view[%row, %c64] sizes [128, 64] : !v, i32, i32 -> !tile.global<128x64xf16>
  %inner = tile.slice %part[%c64, %c0] sizes [64, 64] : !tile.global<128x64xf16>, i32, i32 -> !g
  %2 = tgpu.load %inner : !g -> !r
  tgpu.return
}

// Unless they are declared to be one: then the same indices are the same elements.
// CHECK-LABEL: tgpu.kernel @aliases
// CHECK: tgpu.store
// CHECK-NEXT: tgpu.load
// CHECK-NEXT: tgpu.barrier
// CHECK-NEXT: tgpu.load
tgpu.kernel @aliases(%x: !v {tile.name = "X"}, %y: !v {tile.name = "Y", tile.may_alias = ["X"]}, %m: i32, %n: i32, %f: !f)
    attributes {threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %read = tgpu.view %x extents(%m, %n : i32, i32) strides(%n : i32) : !v -> !v
  %written = tgpu.view %y extents(%m, %n : i32, i32) strides(%n : i32) : !v -> !v
  %here = tile.slice %written[%c0, %c0] sizes [64, 64] : !v, i32, i32 -> !g
  %below = tile.slice %read[%c64, %c0] sizes [64, 64] : !v, i32, i32 -> !g
  %same = tile.slice %read[%c0, %c0] sizes [64, 64] : !v, i32, i32 -> !g
  tgpu.store %f, %here : !f, !g
  %0 = tgpu.load %below : !g -> !r
  %1 = tgpu.load %same : !g -> !r
  tgpu.return
}

// Renumbered memory, gathered rows: anything.
// CHECK-LABEL: tgpu.kernel @unknown
// CHECK: tgpu.store
// CHECK-NEXT: tgpu.barrier
// CHECK-NEXT: tgpu.load
// CHECK: tgpu.store
// CHECK: tgpu.barrier
// CHECK-NEXT: tgpu.load
tgpu.kernel @unknown(%y: !v, %z: !v, %m: i32, %n: i32, %x: !f, %at: tensor<64xi32>) attributes {threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %view = tgpu.view %y extents(%m, %n : i32, i32) strides(%n : i32) : !v -> !v
  %here = tile.slice %view[%c0, %c0] sizes [64, 64] : !v, i32, i32 -> !g
  %flat = tile.reshape %view (%n, %m : i32, i32) : !v -> !v
  %other = tile.slice %flat[%c64, %c0] sizes [64, 64] : !v, i32, i32 -> !g
  tgpu.store %x, %here : !f, !g
  %0 = tgpu.load %other : !g -> !r
  %target = tgpu.view %z extents(%m, %n : i32, i32) strides(%n : i32) : !v -> !v
  %there = tile.slice %target[%c0, %c0] sizes [64, 64] : !v, i32, i32 -> !g
  %rows = tile.slice %target[%at, %c0] sizes [64, 64] : !v, tensor<64xi32>, i32 -> !g
  tgpu.store %x, %there : !f, !g
  %1 = tgpu.load %rows : !g -> !r
  tgpu.return
}

// Two tensors that may be one count alike as they are, but not where the program renumbers one of them.
// CHECK-LABEL: tgpu.kernel @renumbered
// CHECK: tgpu.store
// CHECK-NEXT: tgpu.load
// CHECK-NEXT: tgpu.barrier
// CHECK-NEXT: tgpu.load
tgpu.kernel @renumbered(%y: !v {tile.name = "Y"}, %x: !v {tile.name = "X", tile.may_alias = ["Y"]}, %m: i32, %n: i32, %f: !f) attributes {threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %written = tgpu.view %y extents(%m, %n : i32, i32) strides(%n : i32) : !v -> !v
  %own = tgpu.view %x extents(%m, %n : i32, i32) strides(%n : i32) : !v -> !v
  %other = tgpu.view %x extents(%n, %m : i32, i32) strides(%m : i32) {reshaped} : !v -> !v
  %here = tile.slice %written[%c0, %c0] sizes [64, 64] : !v, i32, i32 -> !g
  %below = tile.slice %own[%c64, %c0] sizes [64, 64] : !v, i32, i32 -> !g
  %somewhere = tile.slice %other[%c64, %c0] sizes [64, 64] : !v, i32, i32 -> !g
  tgpu.store %f, %here : !f, !g
  %0 = tgpu.load %below : !g -> !r
  %1 = tgpu.load %somewhere : !g -> !r
  tgpu.return
}

// What one iteration stores the next ones do not touch; here they do.
// CHECK-LABEL: tgpu.kernel @loop_apart
// CHECK-NOT: tgpu.barrier
// CHECK-LABEL: tgpu.kernel @loop_meets
// CHECK: scf.for
// CHECK: tgpu.barrier
// CHECK-NEXT: tgpu.store
// CHECK-NEXT: }
tgpu.kernel @loop_apart(%y: !v, %m: i32, %n: i32, %x: !f) attributes {threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %view = tgpu.view %y extents(%m, %n : i32, i32) strides(%n : i32) : !v -> !v
  scf.for %i = %c0 to %m step %c1 : i32 {
    scf.for %j = %n to %m step %c64 : i32 {
      %row = arith.muli %i, %c64 : i32
      %here = tile.slice %view[%row, %j] sizes [64, 64] : !v, i32, i32 -> !g
      tgpu.store %x, %here : !f, !g
      %next = arith.addi %j, %c64 : i32
      %right = tile.slice %view[%row, %next] sizes [64, 64] : !v, i32, i32 -> !g
      tgpu.store %x, %here : !f, !g
    }
  }
  tgpu.return
}
tgpu.kernel @loop_meets(%y: !v, %m: i32, %n: i32, %x: !f) attributes {threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c32 = arith.constant 32 : i32
  %view = tgpu.view %y extents(%m, %n : i32, i32) strides(%n : i32) : !v -> !v
  scf.for %i = %c0 to %m step %c1 : i32 {
    %row = arith.muli %i, %c32 : i32
    %here = tile.slice %view[%row, %c0] sizes [64, 64] : !v, i32, i32 -> !g
    tgpu.store %x, %here : !f, !g
  }
  tgpu.return
}

// Points of the grid are runs of their own, in any order.
// CHECK-LABEL: tgpu.kernel @grid_points
// CHECK-NOT: tgpu.barrier
// CHECK: tgpu.return
tgpu.kernel @grid_points(%y: !v, %m: i32, %n: i32, %x: !f) attributes {threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %view = tgpu.view %y extents(%m, %n : i32, i32) strides(%n : i32) : !v -> !v
  %id = tgpu.block_id
  %blocks = tgpu.num_blocks
  scf.for %p = %id to %m step %blocks : i32 {
    %point = tgpu.grid_point %p in(%m) : i32
    %here = tile.slice %view[%point, %c0] sizes [64, 64] : !v, i32, i32 -> !g
    tgpu.store %x, %here : !f, !g
  }
  tgpu.return
}

// One barrier before a loop, not in each iteration.
// CHECK-LABEL: tgpu.kernel @before_loop
// CHECK: tgpu.store
// CHECK: tgpu.barrier
// CHECK-NEXT: scf.for
// CHECK-NOT: tgpu.barrier
// CHECK: tgpu.return
tgpu.kernel @before_loop(%y: !v, %m: i32, %n: i32, %x: !f) attributes {threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %view = tgpu.view %y extents(%m, %n : i32, i32) strides(%n : i32) : !v -> !v
  %here = tile.slice %view[%c0, %c0] sizes [64, 64] : !v, i32, i32 -> !g
  tgpu.store %x, %here : !f, !g
  scf.for %i = %c0 to %m step %c1 : i32 {
    %there = tile.slice %view[%i, %c0] sizes [64, 64] : !v, i32, i32 -> !g
    %0 = tgpu.load %there : !g -> !f
  }
  tgpu.return
}

// One thread stores an element, all load it; atomics of one element are ordered by themselves, not against other accesses.
// CHECK-LABEL: tgpu.kernel @elements
// CHECK: tile.store
// CHECK-NEXT: tile.store
// CHECK-NEXT: tgpu.barrier
// CHECK-NEXT: tile.load
// CHECK-NEXT: tile.load
// CHECK-NEXT: tgpu.atomic
// CHECK-NEXT: tgpu.atomic
// CHECK-NEXT: tgpu.barrier
// CHECK-NEXT: tile.load
tgpu.kernel @elements(%y: !tile.global<?xi32>, %m: i32, %i: i32, %v: i32) attributes {threads = 128 : i32} {
  %c1 = arith.constant 1 : i32
  %next = arith.addi %i, %c1 : i32
  %last = arith.subi %i, %c1 : i32
  %view = tgpu.view %y extents(%m : i32) strides() : !tile.global<?xi32> -> !tile.global<?xi32>
  tile.store %v, %view[%i : i32] : i32, !tile.global<?xi32>
  tile.store %v, %view[%i : i32] : i32, !tile.global<?xi32>
  %0 = tile.load %view[%i : i32] : !tile.global<?xi32> -> i32
  %1 = tile.load %view[%next : i32] : !tile.global<?xi32> -> i32
  tgpu.atomic <add> %v, %view[%last] : i32, !tile.global<?xi32>[i32]
  tgpu.atomic <add> %v, %view[%last] : i32, !tile.global<?xi32>[i32]
  %4 = tile.load %view[%last : i32] : !tile.global<?xi32> -> i32
  tgpu.return
}

// An atomic that orders is an access of everything: of other tensors, too, on either side. What a relaxed one returns passes through
// a shared buffer, which one thread writes and all read.
// CHECK-LABEL: tgpu.kernel @orders
// CHECK: tgpu.store
// CHECK-NEXT: tgpu.atomic <add> {{.*}} : i32
// CHECK-NEXT: tgpu.barrier
// CHECK-NEXT: tgpu.atomic <add> {{.*}}order
// CHECK-NEXT: tgpu.barrier
// CHECK-NEXT: tgpu.load
// CHECK-NEXT: tgpu.load_element
// CHECK-NEXT: tgpu.barrier
// CHECK-NEXT: tgpu.atomic
tgpu.kernel @orders(%y: !v, %z: !v, %flag: !tile.global<?xi32>, %m: i32, %n: i32, %x: !f) attributes {threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %old = tgpu.alloc_shared "old" {offset = 0 : i64} : !tgpu.smem<1xi32, #tgpu.shared<"1 b32 contig 0 panel 1">>
  %view = tgpu.view %y extents(%m, %n : i32, i32) strides(%n : i32) : !v -> !v
  %other = tgpu.view %z extents(%m, %n : i32, i32) strides(%n : i32) : !v -> !v
  %flags = tgpu.view %flag extents(%m : i32) strides() : !tile.global<?xi32> -> !tile.global<?xi32>
  %here = tile.slice %view[%c0, %c0] sizes [64, 64] : !v, i32, i32 -> !g
  %there = tile.slice %other[%c0, %c0] sizes [64, 64] : !v, i32, i32 -> !g
  tgpu.store %x, %here : !f, !g
  tgpu.atomic <add> %m, %flags[%n] : i32, !tile.global<?xi32>[i32]
  tgpu.atomic <add> %m, %flags[%c0] old %old {order = #tile.order<acq_rel>} : i32, !tile.global<?xi32>[i32] old !tgpu.smem<1xi32, #tgpu.shared<"1 b32 contig 0 panel 1">>
  %0 = tgpu.load %there : !g -> !f
  %1 = tgpu.load_element %old[%c0 : i32] : !tgpu.smem<1xi32, #tgpu.shared<"1 b32 contig 0 panel 1">> -> i32
  tgpu.atomic <add> %m, %flags[%c0] old %old : i32, !tile.global<?xi32>[i32] old !tgpu.smem<1xi32, #tgpu.shared<"1 b32 contig 0 panel 1">>
  tgpu.return
}

// Atomics of one kind commute, others do not.
// CHECK-LABEL: tgpu.kernel @kinds
// CHECK: tgpu.atomic_tile <add>
// CHECK-NEXT: tgpu.atomic_tile <add>
// CHECK-NEXT: tgpu.barrier
// CHECK-NEXT: tgpu.atomic_tile <max>
// CHECK-NEXT: tgpu.barrier
// CHECK-NEXT: tgpu.atomic <exchange>
tgpu.kernel @kinds(%y: !v, %m: i32, %n: i32, %x: !f, %e: f16) attributes {threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %view = tgpu.view %y extents(%m, %n : i32, i32) strides(%n : i32) : !v -> !v
  %here = tile.slice %view[%c0, %c0] sizes [64, 64] : !v, i32, i32 -> !g
  %below = tile.slice %view[%c1, %c0] sizes [64, 64] : !v, i32, i32 -> !g
  tgpu.atomic_tile <add> %x, %here : !f, !g
  tgpu.atomic_tile <add> %x, %below : !f, !g
  tgpu.atomic_tile <max> %x, %here : !f, !g
  tgpu.atomic <exchange> %e, %view[%c0, %c1] : f16, !v[i32, i32]
  tgpu.return
}

// A store by TMA is complete when its thread has waited without `read`; then a barrier tells the others. The next store
// of that thread needs the wait alone, and elsewhere nothing.
// CHECK-LABEL: tgpu.kernel @after_tma
// CHECK: tgpu.tma_store %
// CHECK: tgpu.tma_store %
// CHECK-NEXT: tgpu.tma_store_commit
// CHECK-NEXT: }
// CHECK-NEXT: tgpu.one_thread {
// CHECK-NEXT: tgpu.tma_store_wait 0
// CHECK-NEXT: }
// CHECK-NEXT: tgpu.one_thread {
// CHECK-NEXT: tgpu.tma_store %
// CHECK-NEXT: tgpu.tma_store_commit
// CHECK-NEXT: }
// CHECK-NEXT: tgpu.one_thread {
// CHECK-NEXT: tgpu.tma_store_wait 0
// CHECK-NEXT: }
// CHECK-NEXT: tgpu.barrier
// CHECK-NEXT: tgpu.load
tgpu.kernel @after_tma(%y: !v, %m: i32, %n: i32) attributes {threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %a = tgpu.alloc_shared "a" : !b
  %view = tgpu.view %y extents(%m, %n : i32, i32) strides(%n : i32) : !v -> !v
  %here = tile.slice %view[%m, %c0] sizes [64, 64] : !v, i32, i32 -> !g
  %right = tile.slice %view[%m, %c64] sizes [64, 64] : !v, i32, i32 -> !g
  tgpu.one_thread {
    tgpu.tma_store %a to %here {map = 0 : i32} : !b, !g
    tgpu.tma_store_commit
  }
  tgpu.one_thread {
    tgpu.tma_store %a to %right {map = 0 : i32} : !b, !g
    tgpu.tma_store_commit
  }
  tgpu.one_thread {
    tgpu.tma_store %a to %here {map = 0 : i32} : !b, !g
    tgpu.tma_store_commit
  }
  %0 = tgpu.load %here : !g -> !f
  tgpu.return
}

// What threads wrote, or read, TMA stores over after a fence for global memory and a barrier.
// CHECK-LABEL: tgpu.kernel @before_tma
// CHECK: tgpu.store
// CHECK-NEXT: tgpu.fence_async {global}
// CHECK-NEXT: tgpu.barrier
// CHECK-NEXT: tgpu.one_thread
// CHECK: tgpu.load
// CHECK-NEXT: tgpu.fence_async {global}
// CHECK-NEXT: tgpu.barrier
// CHECK-NEXT: tgpu.one_thread
tgpu.kernel @before_tma(%y: !v, %z: !v, %m: i32, %n: i32, %x: !f) attributes {threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %a = tgpu.alloc_shared "a" : !b
  %view = tgpu.view %y extents(%m, %n : i32, i32) strides(%n : i32) : !v -> !v
  %here = tile.slice %view[%m, %c0] sizes [64, 64] : !v, i32, i32 -> !g
  tgpu.store %x, %here : !f, !g
  tgpu.one_thread {
    tgpu.tma_store %a to %here {map = 0 : i32} : !b, !g
    tgpu.tma_store_commit
  }
  %other = tgpu.view %z extents(%m, %n : i32, i32) strides(%n : i32) : !v -> !v
  %there = tile.slice %other[%m, %c0] sizes [64, 64] : !v, i32, i32 -> !g
  %0 = tgpu.load %there : !g -> !f
  tgpu.one_thread {
    tgpu.tma_store %a to %there {map = 1 : i32} : !b, !g
    tgpu.tma_store_commit
    tgpu.tma_store_wait 0 {read}
  }
  tgpu.return
}

// Stores that are still in flight when the first loads of a pipelined loop are issued are waited for once, before the
// conditions of these; behind the loop all loads are complete.
// CHECK-LABEL: tgpu.kernel @around_pipeline
// CHECK: tgpu.tma_store %
// CHECK: tgpu.one_thread {
// CHECK-NEXT: tgpu.tma_store_wait 0
// CHECK-NEXT: }
// CHECK-NEXT: scf.if
// CHECK-NOT: tgpu.tma_store_wait
// CHECK: tgpu.release
// CHECK-NEXT: }
// CHECK-NEXT: tgpu.one_thread {
// CHECK-NEXT: tgpu.tma_store %
tgpu.kernel @around_pipeline(%y: !v, %m: i32, %n: i32, %base: i32) attributes {threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %a = tgpu.alloc_shared "a" : !b
  %ring = tgpu.alloc_shared "ring" : !two
  %ch = tgpu.channel "ring" {producers = 1 : i32, consumers = 4 : i32} : !ch
  %view = tgpu.view %y extents(%m, %n : i32, i32) strides(%n : i32) : !v -> !v
  %here = tile.slice %view[%m, %c0] sizes [64, 64] : !v, i32, i32 -> !g
  tgpu.one_thread {
    tgpu.tma_store %a to %here {map = 0 : i32} : !b, !g
    tgpu.tma_store_commit
  }
  %first = arith.cmpi slt, %c0, %n : i32
  scf.if %first {
    tgpu.one_thread {
      %0 = tile.slice %view[%c0, %c0] sizes [64, 64] : !v, i32, i32 -> !g
      %1 = tgpu.slot %ring[%base] : !two -> !b
      tgpu.acquire %ch[%base] : !ch
      tgpu.expect %ch[%base] bytes 8192 : !ch
      tgpu.tma_load %0 to %1 on %ch[%base] {map = 0 : i32} : !g, !b, !ch
    }
  }
  scf.for %k = %c0 to %n step %c1 : i32 {
    %position = arith.addi %base, %k : i32
    %next = arith.addi %k, %c1 : i32
    %more = arith.cmpi slt, %next, %n : i32
    scf.if %more {
      tgpu.one_thread {
        %row = arith.muli %next, %c64 : i32
        %0 = tile.slice %view[%row, %c0] sizes [64, 64] : !v, i32, i32 -> !g
        %later = arith.addi %position, %c1 : i32
        %1 = tgpu.slot %ring[%later] : !two -> !b
        tgpu.acquire %ch[%later] : !ch
        tgpu.expect %ch[%later] bytes 8192 : !ch
        tgpu.tma_load %0 to %1 on %ch[%later] {map = 0 : i32} : !g, !b, !ch
      }
    }
    tgpu.wait %ch[%position] : !ch
    %slot = tgpu.slot %ring[%position] : !two -> !b
    %x = tgpu.local_load %slot : !b -> !f
    tgpu.release %ch[%position] : !ch
  }
  tgpu.one_thread {
    tgpu.tma_store %a to %here {map = 0 : i32} : !b, !g
    tgpu.tma_store_commit
    tgpu.tma_store_wait 0 {read}
  }
  tgpu.return
}
