// Why a kernel that asks for roles has none.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-slice-roles))' -verify-diagnostics -split-input-file | FileCheck %s

// CHECK-NOT: tgpu.roles

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
!o = !tile.global<64x64xf32>
!c = !tgpu.channel<2>
// expected-remark @+1 {{all warps have one role: no copy runs ahead by TMA}}
tgpu.kernel @nothing_ahead(%g: !g, %n: i32, %o: !o) attributes {threads = 128 : i32, target = "sm_90a", warp_specialize = "producer"} {
  %as = tgpu.alloc_shared "A" : !ring
  %ch = tgpu.channel "A" {producers = 1 : i32, consumers = 4 : i32} : !c
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant 0.0 : f32
  %z = tile.splat %zero : f32 -> !acc
  tgpu.store %z, %o : !acc, !o
  tgpu.return
}

// -----

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
!o = !tile.global<64x64xf32>
!c = !tgpu.channel<2>
// expected-remark @+1 {{all warps have one role: roles are whole groups of 128 threads}}
tgpu.kernel @part_of_a_warpgroup(%g: !g, %n: i32, %o: !o) attributes {threads = 64 : i32, target = "sm_90a", warp_specialize = "producer"} {
  %as = tgpu.alloc_shared "A" : !ring
  %ch = tgpu.channel "A" {producers = 1 : i32, consumers = 2 : i32} : !c
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant 0.0 : f32
  %z = tile.splat %zero : f32 -> !acc
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %z) -> (!acc) : i32 {
    tgpu.one_thread {
      tgpu.acquire %ch[%i] : !c
      tgpu.expect %ch[%i] bytes 8192 : !c
      %t = tile.slice %g[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
      %f = tgpu.slot %as[%i] : !ring -> !s
      tgpu.tma_load %t to %f on %ch[%i] {map = 0 : i32} : !t, !s, !c
    }
    tgpu.wait %ch[%i] : !c
    %x = tgpu.slot %as[%i] : !ring -> !s
    %d = tgpu.fma %x, %x, %c : !s, !s, !acc -> !acc
    tgpu.release %ch[%i] : !c
    scf.yield %d : !acc
  } {tgpu.pipeline = #tgpu.pipeline<tma, stages = 2>}
  tgpu.store %r, %o : !acc, !o
  tgpu.return
}

// -----

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
!o = !tile.global<64x64xf32>
!c = !tgpu.channel<2>
// expected-remark @+1 {{all warps have one role: a block has at most 1024 threads, and 128 would load}}
tgpu.kernel @most_threads(%g: !g, %n: i32, %o: !o) attributes {threads = 1024 : i32, target = "sm_90a", warp_specialize = "producer"} {
  %as = tgpu.alloc_shared "A" : !ring
  %ch = tgpu.channel "A" {producers = 1 : i32, consumers = 32 : i32} : !c
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant 0.0 : f32
  %z = tile.splat %zero : f32 -> !acc
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %z) -> (!acc) : i32 {
    tgpu.one_thread {
      tgpu.acquire %ch[%i] : !c
      tgpu.expect %ch[%i] bytes 8192 : !c
      %t = tile.slice %g[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
      %f = tgpu.slot %as[%i] : !ring -> !s
      tgpu.tma_load %t to %f on %ch[%i] {map = 0 : i32} : !t, !s, !c
    }
    tgpu.wait %ch[%i] : !c
    %x = tgpu.slot %as[%i] : !ring -> !s
    %d = tgpu.fma %x, %x, %c : !s, !s, !acc -> !acc
    tgpu.release %ch[%i] : !c
    scf.yield %d : !acc
  } {tgpu.pipeline = #tgpu.pipeline<tma, stages = 2>}
  tgpu.store %r, %o : !acc, !o
  tgpu.return
}

// -----

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
!o = !tile.global<64x64xf32>
!c = !tgpu.channel<2>
// expected-remark @+1 {{all warps have one role: 128 threads that load would leave too few registers to the others}}
tgpu.kernel @few_registers(%g: !g, %n: i32, %o: !o) attributes {threads = 128 : i32, target = "sm_90a", warp_specialize = "producer", max_registers = 48 : i32} {
  %as = tgpu.alloc_shared "A" : !ring
  %ch = tgpu.channel "A" {producers = 1 : i32, consumers = 4 : i32} : !c
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant 0.0 : f32
  %z = tile.splat %zero : f32 -> !acc
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %z) -> (!acc) : i32 {
    tgpu.one_thread {
      tgpu.acquire %ch[%i] : !c
      tgpu.expect %ch[%i] bytes 8192 : !c
      %t = tile.slice %g[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
      %f = tgpu.slot %as[%i] : !ring -> !s
      tgpu.tma_load %t to %f on %ch[%i] {map = 0 : i32} : !t, !s, !c
    }
    tgpu.wait %ch[%i] : !c
    %x = tgpu.slot %as[%i] : !ring -> !s
    %d = tgpu.fma %x, %x, %c : !s, !s, !acc -> !acc
    tgpu.release %ch[%i] : !c
    scf.yield %d : !acc
  } {tgpu.pipeline = #tgpu.pipeline<tma, stages = 2>}
  tgpu.store %r, %o : !acc, !o
  tgpu.return
}

// -----

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
!o = !tile.global<64x64xf32>
!c = !tgpu.channel<2>
// expected-remark @+1 {{all warps have one role: it has code for single threads}}
tgpu.kernel @single_threads(%g: !g, %n: i32, %o: !o) attributes {threads = 128 : i32, target = "sm_90a", warp_specialize = "producer"} {
  %as = tgpu.alloc_shared "A" : !ring
  %ch = tgpu.channel "A" {producers = 1 : i32, consumers = 4 : i32} : !c
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant 0.0 : f32
  %z = tile.splat %zero : f32 -> !acc
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %z) -> (!acc) : i32 {
    tgpu.one_thread {
      tgpu.acquire %ch[%i] : !c
      tgpu.expect %ch[%i] bytes 8192 : !c
      %t = tile.slice %g[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
      %f = tgpu.slot %as[%i] : !ring -> !s
      tgpu.tma_load %t to %f on %ch[%i] {map = 0 : i32} : !t, !s, !c
    }
    tgpu.wait %ch[%i] : !c
    %x = tgpu.slot %as[%i] : !ring -> !s
    %d = tgpu.fma %x, %x, %c : !s, !s, !acc -> !acc
    tgpu.release %ch[%i] : !c
    scf.yield %d : !acc
  } {tgpu.pipeline = #tgpu.pipeline<tma, stages = 2>}
  tgpu.store %r, %o : !acc, !o
  tile.threads [128] {
  ^bb0(%x: i32):
    tile.yield
  }
  tgpu.return
}

// -----

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
!o = !tile.global<64x64xf32>
!c = !tgpu.channel<2>
// expected-remark @+1 {{all warps have one role: an atomic operation orders its loads}}
tgpu.kernel @acq_rel(%g: !g, %n: i32, %o: !o, %w: !tile.global<?xi32>) attributes {threads = 128 : i32, target = "sm_90a", warp_specialize = "producer"} {
  %as = tgpu.alloc_shared "A" : !ring
  %ch = tgpu.channel "A" {producers = 1 : i32, consumers = 4 : i32} : !c
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant 0.0 : f32
  %z = tile.splat %zero : f32 -> !acc
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %z) -> (!acc) : i32 {
    tgpu.one_thread {
      tgpu.acquire %ch[%i] : !c
      tgpu.expect %ch[%i] bytes 8192 : !c
      %t = tile.slice %g[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
      %f = tgpu.slot %as[%i] : !ring -> !s
      tgpu.tma_load %t to %f on %ch[%i] {map = 0 : i32} : !t, !s, !c
    }
    tgpu.wait %ch[%i] : !c
    %x = tgpu.slot %as[%i] : !ring -> !s
    %d = tgpu.fma %x, %x, %c : !s, !s, !acc -> !acc
    tgpu.release %ch[%i] : !c
    scf.yield %d : !acc
  } {tgpu.pipeline = #tgpu.pipeline<tma, stages = 2>}
  tgpu.store %r, %o : !acc, !o
  %old = tile.atomic <add> %c1, %w[%c0 : i32] {order = #tile.order<acq_rel>} : i32, !tile.global<?xi32> -> i32
  tgpu.return
}

// -----

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
!o = !tile.global<64x64xf32>
!c = !tgpu.channel<2>
// Loads of the next call of the loop could come before the store of this one.
// expected-remark @+1 {{all warps have one role: the kernel writes to a tensor that it loads}}
tgpu.kernel @written(%g: !g, %n: i32, %o: !o) attributes {threads = 128 : i32, target = "sm_90a", warp_specialize = "producer"} {
  %as = tgpu.alloc_shared "A" : !ring
  %ch = tgpu.channel "A" {producers = 1 : i32, consumers = 4 : i32} : !c
  %q = tgpu.alloc_shared "Q" : !s
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant 0.0 : f32
  %z = tile.splat %zero : f32 -> !acc
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %z) -> (!acc) : i32 {
    tgpu.one_thread {
      tgpu.acquire %ch[%i] : !c
      tgpu.expect %ch[%i] bytes 8192 : !c
      %t = tile.slice %g[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
      %f = tgpu.slot %as[%i] : !ring -> !s
      tgpu.tma_load %t to %f on %ch[%i] {map = 0 : i32} : !t, !s, !c
    }
    tgpu.wait %ch[%i] : !c
    %x = tgpu.slot %as[%i] : !ring -> !s
    %d = tgpu.fma %x, %x, %c : !s, !s, !acc -> !acc
    tgpu.release %ch[%i] : !c
    scf.yield %d : !acc
  } {tgpu.pipeline = #tgpu.pipeline<tma, stages = 2>}
  tgpu.store %r, %o : !acc, !o
  %u = tile.slice %g[%c0, %c0] sizes [64, 64] : !g, i32, i32 -> !t
  %h = tgpu.local_load %q : !s -> tensor<64x64xf16>
  tgpu.store %h, %u {bytes = 2 : i32} : tensor<64x64xf16>, !t
  tgpu.return
}

// -----

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!box = !tgpu.smem<1xi32, #tgpu.shared<"1 b32 contig 0 panel 1">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
!o = !tile.global<64x64xf32>
!w = !tile.global<1xi32>
!c = !tgpu.channel<2>
// What the operation acts on is read by others, too: they keep their order.
// expected-remark @+1 {{all warps have one role: what is loaded depends on an atomic operation on memory that other warps use, too}}
tgpu.kernel @read_too(%g: !g, %n: i32, %o: !o, %w: !w) attributes {threads = 128 : i32, target = "sm_90a", warp_specialize = "producer"} {
  %as = tgpu.alloc_shared "A" : !ring
  %ch = tgpu.channel "A" {producers = 1 : i32, consumers = 4 : i32} : !c
  %box = tgpu.alloc_shared "next" : !box
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %counter = tgpu.view %w extents(%c1 : i32) strides() : !w -> !w
  %zero = arith.constant 0.0 : f32
  %z = tile.splat %zero : f32 -> !acc
  %q:3 = scf.while (%k = %c0, %base = %c0, %sum = %z) : (i32, i32, !acc) -> (i32, i32, !acc) {
    %more = arith.cmpi slt, %k, %n : i32
    scf.condition(%more) %k, %base, %sum : i32, i32, !acc
  } do {
  ^bb0(%k: i32, %base: i32, %sum: !acc):
    tgpu.atomic <add> %c1, %counter[%c0] old %box : i32, !w[i32] old !box
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %sum) -> (!acc) : i32 {
      %p = arith.addi %base, %i : i32
      tgpu.one_thread {
        tgpu.acquire %ch[%p] : !c
        tgpu.expect %ch[%p] bytes 8192 : !c
        %t = tile.slice %g[%k, %i] sizes [64, 64] : !g, i32, i32 -> !t
        %f = tgpu.slot %as[%p] : !ring -> !s
        tgpu.tma_load %t to %f on %ch[%p] {map = 0 : i32} : !t, !s, !c
      }
      tgpu.wait %ch[%p] : !c
      %x = tgpu.slot %as[%p] : !ring -> !s
      %d = tgpu.fma %x, %x, %c : !s, !s, !acc -> !acc
      tgpu.release %ch[%p] : !c
      scf.yield %d : !acc
    } {tgpu.pipeline = #tgpu.pipeline<tma, stages = 2>}
    %following = arith.addi %base, %n : i32
    %seen = tile.load %counter[%c0 : i32] : !w -> i32
    %taken = tgpu.load_element %box[%c0 : i32] : !box -> i32
    %odd = arith.cmpi eq, %seen, %c0 : i32
    scf.if %odd {
      tgpu.store %r, %o : !acc, !o
    }
    %next = arith.addi %taken, %c1 : i32
    scf.yield %next, %following, %r : i32, i32, !acc
  }
  tgpu.store %q#2, %o : !acc, !o
  tgpu.return
}

// -----

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!box = !tgpu.smem<1xi32, #tgpu.shared<"1 b32 contig 0 panel 1">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
!o = !tile.global<64x64xf32>
!w = !tile.global<1xi32>
!c = !tgpu.channel<2>
// expected-remark @+1 {{all warps have one role: what is loaded depends on shared memory or on what an atomic operation gives}}
tgpu.kernel @in_pipeline(%g: !g, %n: i32, %o: !o, %w: !w) attributes {threads = 128 : i32, target = "sm_90a", warp_specialize = "producer"} {
  %as = tgpu.alloc_shared "A" : !ring
  %ch = tgpu.channel "A" {producers = 1 : i32, consumers = 4 : i32} : !c
  %box = tgpu.alloc_shared "next" : !box
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %counter = tgpu.view %w extents(%c1 : i32) strides() : !w -> !w
  %zero = arith.constant 0.0 : f32
  %z = tile.splat %zero : f32 -> !acc
  %q:3 = scf.while (%k = %c0, %base = %c0, %sum = %z) : (i32, i32, !acc) -> (i32, i32, !acc) {
    %more = arith.cmpi slt, %k, %n : i32
    scf.condition(%more) %k, %base, %sum : i32, i32, !acc
  } do {
  ^bb0(%k: i32, %base: i32, %sum: !acc):
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %sum) -> (!acc) : i32 {
      tgpu.atomic <add> %c1, %counter[%c0] old %box : i32, !w[i32] old !box
      %taken = tgpu.load_element %box[%c0 : i32] : !box -> i32
      %p = arith.addi %base, %i : i32
      tgpu.one_thread {
        tgpu.acquire %ch[%p] : !c
        tgpu.expect %ch[%p] bytes 8192 : !c
        %t = tile.slice %g[%taken, %i] sizes [64, 64] : !g, i32, i32 -> !t
        %f = tgpu.slot %as[%p] : !ring -> !s
        tgpu.tma_load %t to %f on %ch[%p] {map = 0 : i32} : !t, !s, !c
      }
      tgpu.wait %ch[%p] : !c
      %x = tgpu.slot %as[%p] : !ring -> !s
      %d = tgpu.fma %x, %x, %c : !s, !s, !acc -> !acc
      tgpu.release %ch[%p] : !c
      scf.yield %d : !acc
    } {tgpu.pipeline = #tgpu.pipeline<tma, stages = 2>}
    %following = arith.addi %base, %n : i32
    %next = arith.addi %k, %c1 : i32
    scf.yield %next, %following, %r : i32, i32, !acc
  }
  tgpu.store %q#2, %o : !acc, !o
  tgpu.return
}

// -----

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
!o = !tile.global<64x64xf32>
!c = !tgpu.channel<2>
// expected-remark @+1 {{all warps have one role: what is loaded depends on tiles that the block computes}}
tgpu.kernel @tiles(%g: !g, %n: i32, %o: !o) attributes {threads = 128 : i32, target = "sm_90a", warp_specialize = "producer"} {
  %as = tgpu.alloc_shared "A" : !ring
  %ch = tgpu.channel "A" {producers = 1 : i32, consumers = 4 : i32} : !c
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant 0.0 : f32
  %z = tile.splat %zero : f32 -> !acc
  %w = tile.splat %c1 : i32 -> tensor<64xi32>
  %h = tile.reduce <sum> %w : tensor<64xi32> -> i32
  %r = scf.for %i = %c0 to %h step %c1 iter_args(%c = %z) -> (!acc) : i32 {
    tgpu.one_thread {
      tgpu.acquire %ch[%i] : !c
      tgpu.expect %ch[%i] bytes 8192 : !c
      %t = tile.slice %g[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
      %f = tgpu.slot %as[%i] : !ring -> !s
      tgpu.tma_load %t to %f on %ch[%i] {map = 0 : i32} : !t, !s, !c
    }
    tgpu.wait %ch[%i] : !c
    %x = tgpu.slot %as[%i] : !ring -> !s
    %d = tgpu.fma %x, %x, %c : !s, !s, !acc -> !acc
    tgpu.release %ch[%i] : !c
    scf.yield %d : !acc
  } {tgpu.pipeline = #tgpu.pipeline<tma, stages = 2>}
  tgpu.store %r, %o : !acc, !o
  tgpu.return
}

// -----

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
!o = !tile.global<64x64xf32>
!c = !tgpu.channel<2>
// expected-remark @+1 {{all warps have one role: what is loaded depends on shared memory or on what an atomic operation gives}}
tgpu.kernel @shared(%g: !g, %n: i32, %o: !o) attributes {threads = 128 : i32, target = "sm_90a", warp_specialize = "producer"} {
  %as = tgpu.alloc_shared "A" : !ring
  %ch = tgpu.channel "A" {producers = 1 : i32, consumers = 4 : i32} : !c
  %b = tgpu.alloc_shared "B" : !tgpu.smem<1xi32, #tgpu.shared<"1 b32 contig 0 panel 1">>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant 0.0 : f32
  %z = tile.splat %zero : f32 -> !acc
  %m = tgpu.load_element %b[%c0 : i32] : !tgpu.smem<1xi32, #tgpu.shared<"1 b32 contig 0 panel 1">> -> i32
  %r = scf.for %i = %c0 to %m step %c1 iter_args(%c = %z) -> (!acc) : i32 {
    tgpu.one_thread {
      tgpu.acquire %ch[%i] : !c
      tgpu.expect %ch[%i] bytes 8192 : !c
      %t = tile.slice %g[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
      %f = tgpu.slot %as[%i] : !ring -> !s
      tgpu.tma_load %t to %f on %ch[%i] {map = 0 : i32} : !t, !s, !c
    }
    tgpu.wait %ch[%i] : !c
    %x = tgpu.slot %as[%i] : !ring -> !s
    %d = tgpu.fma %x, %x, %c : !s, !s, !acc -> !acc
    tgpu.release %ch[%i] : !c
    scf.yield %d : !acc
  } {tgpu.pipeline = #tgpu.pipeline<tma, stages = 2>}
  tgpu.store %r, %o : !acc, !o
  tgpu.return
}

// -----

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
!o = !tile.global<64x64xf32>
!c = !tgpu.channel<2>
// The ring would have to be there for both.
// expected-remark @+1 {{all warps have one role: a buffer of a loop is filled}}
tgpu.kernel @ring_of_a_loop(%g: !g, %n: i32, %o: !o) attributes {threads = 128 : i32, target = "sm_90a", warp_specialize = "producer"} {
  %ch = tgpu.channel "A" {producers = 1 : i32, consumers = 4 : i32} : !c
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant 0.0 : f32
  %z = tile.splat %zero : f32 -> !acc
  scf.for %y = %c0 to %n step %c1 : i32 {
    %as = tgpu.alloc_shared "A" : !ring
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %z) -> (!acc) : i32 {
      tgpu.one_thread {
        tgpu.acquire %ch[%i] : !c
        tgpu.expect %ch[%i] bytes 8192 : !c
        %t = tile.slice %g[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
        %f = tgpu.slot %as[%i] : !ring -> !s
        tgpu.tma_load %t to %f on %ch[%i] {map = 0 : i32} : !t, !s, !c
      }
      tgpu.wait %ch[%i] : !c
      %x = tgpu.slot %as[%i] : !ring -> !s
      %d = tgpu.fma %x, %x, %c : !s, !s, !acc -> !acc
      tgpu.release %ch[%i] : !c
      scf.yield %d : !acc
    } {tgpu.pipeline = #tgpu.pipeline<tma, stages = 2>}
    tgpu.store %r, %o : !acc, !o
  }
  tgpu.return
}

// -----

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
!o = !tile.global<64x64xf32>
!c = !tgpu.channel<2>
// expected-remark @+1 {{all warps have one role: what is loaded depends on memory that the kernel may see change}}
tgpu.kernel @changing(%g: !g, %n: i32, %o: !o, %w: !tile.global<?xi32>) attributes {threads = 128 : i32, target = "sm_90a", warp_specialize = "producer"} {
  %as = tgpu.alloc_shared "A" : !ring
  %ch = tgpu.channel "A" {producers = 1 : i32, consumers = 4 : i32} : !c
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant 0.0 : f32
  %z = tile.splat %zero : f32 -> !acc
  %m = tile.load %w[%c0 : i32] : !tile.global<?xi32> -> i32
  %r = scf.for %i = %c0 to %m step %c1 iter_args(%c = %z) -> (!acc) : i32 {
    tgpu.one_thread {
      tgpu.acquire %ch[%i] : !c
      tgpu.expect %ch[%i] bytes 8192 : !c
      %t = tile.slice %g[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
      %f = tgpu.slot %as[%i] : !ring -> !s
      tgpu.tma_load %t to %f on %ch[%i] {map = 0 : i32} : !t, !s, !c
    }
    tgpu.wait %ch[%i] : !c
    %x = tgpu.slot %as[%i] : !ring -> !s
    %d = tgpu.fma %x, %x, %c : !s, !s, !acc -> !acc
    tgpu.release %ch[%i] : !c
    scf.yield %d : !acc
  } {tgpu.pipeline = #tgpu.pipeline<tma, stages = 2>}
  tgpu.store %r, %o : !acc, !o
  tile.store %m, %w[%c0 : i32] : i32, !tile.global<?xi32>
  tgpu.return
}

// -----

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<16x64x64xf16, #tgpu.shared<"16x64x64 b16 contig 2 panel 64 swizzle 128">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
!o = !tile.global<64x64xf32>
!c = !tgpu.channel<16>
// Two rings of 128 KiB, one loop behind the other: the second one is filled while the first is read.
// expected-remark @+1 {{all warps have one role: rings that are filled while other loops run do not fit shared memory}}
tgpu.kernel @rings(%g: !g, %n: i32, %o: !o) attributes {threads = 128 : i32, target = "sm_90a", warp_specialize = "producer"} {
  %as = tgpu.alloc_shared "A" : !ring
  %ch = tgpu.channel "A" {producers = 1 : i32, consumers = 4 : i32} : !c
  %bs = tgpu.alloc_shared "B" : !ring
  %dh = tgpu.channel "B" {producers = 1 : i32, consumers = 4 : i32} : !c
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant 0.0 : f32
  %z = tile.splat %zero : f32 -> !acc
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %z) -> (!acc) : i32 {
    tgpu.one_thread {
      tgpu.acquire %ch[%i] : !c
      tgpu.expect %ch[%i] bytes 8192 : !c
      %t = tile.slice %g[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
      %f = tgpu.slot %as[%i] : !ring -> !s
      tgpu.tma_load %t to %f on %ch[%i] {map = 0 : i32} : !t, !s, !c
    }
    tgpu.wait %ch[%i] : !c
    %x = tgpu.slot %as[%i] : !ring -> !s
    %d = tgpu.fma %x, %x, %c : !s, !s, !acc -> !acc
    tgpu.release %ch[%i] : !c
    scf.yield %d : !acc
  } {tgpu.pipeline = #tgpu.pipeline<tma, stages = 2>}
  tgpu.store %r, %o : !acc, !o
  %q = scf.for %i = %c0 to %n step %c1 iter_args(%c = %z) -> (!acc) : i32 {
    tgpu.one_thread {
      tgpu.acquire %dh[%i] : !c
      tgpu.expect %dh[%i] bytes 8192 : !c
      %t = tile.slice %g[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
      %f = tgpu.slot %bs[%i] : !ring -> !s
      tgpu.tma_load %t to %f on %dh[%i] {map = 0 : i32} : !t, !s, !c
    }
    tgpu.wait %dh[%i] : !c
    %x = tgpu.slot %bs[%i] : !ring -> !s
    %d = tgpu.fma %x, %x, %c : !s, !s, !acc -> !acc
    tgpu.release %dh[%i] : !c
    scf.yield %d : !acc
  } {tgpu.pipeline = #tgpu.pipeline<tma, stages = 2>}
  tgpu.store %q, %o : !acc, !o
  tgpu.return
}
