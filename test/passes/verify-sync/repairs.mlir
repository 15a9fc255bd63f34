// Writes to a slot that TMA has filled, without what orders them.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-verify-sync))' -verify-diagnostics -split-input-file

// Right as it is.
#s = #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">
#acc = #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">
!b = !tgpu.smem<64x64xf16, #s>
!ring = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!h = tensor<64x64xf16, #acc>
!f = tensor<64x64xf32, #acc>
!pending = !tgpu.pending<!f>
!g = !tile.global<64x64xf16>
!o = !tile.global<64x64xf16>
!ch = !tgpu.channel<2>
tgpu.kernel @right(%zero: !f, %g: !g, %n: i32, %h: i32, %any: i1) attributes {threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %ring = tgpu.alloc_shared "a" : !ring
  %ch = tgpu.channel "a" {producers = 1 : i32, consumers = 4 : i32} : !ch
  %sum = scf.for %p = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!f) : i32 {
    %s = tgpu.slot %ring[%p] : !ring -> !b
    tgpu.one_thread {
      tgpu.acquire %ch[%p] : !ch
      tgpu.expect %ch[%p] bytes 8192 : !ch
      tgpu.tma_load %g to %s on %ch[%p] {map = 0 : i32} : !g, !b, !ch
    }
    tgpu.wait %ch[%p] : !ch
    scf.if %any {
      tgpu.zero_beyond %s from (%c0, %c0) to (%h, %c64) : !b
      tgpu.fence_async
      tgpu.barrier
    }
    tgpu.wgmma_fence
    %q = tgpu.wgmma %s, %s, %acc {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !b, !b, !f -> !pending
    tgpu.wgmma_commit
    %r = tgpu.wgmma_wait 0, %q : !pending -> !f
    tgpu.release %ch[%p] : !ch
    scf.yield %r : !f
  }
  tgpu.return
}

// -----

// Products are of the async proxy, which does not see what threads wrote.
#s = #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">
#acc = #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">
!b = !tgpu.smem<64x64xf16, #s>
!ring = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!h = tensor<64x64xf16, #acc>
!f = tensor<64x64xf32, #acc>
!pending = !tgpu.pending<!f>
!g = !tile.global<64x64xf16>
!o = !tile.global<64x64xf16>
!ch = !tgpu.channel<2>
tgpu.kernel @no_fence(%zero: !f, %g: !g, %n: i32, %h: i32, %any: i1) attributes {threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %ring = tgpu.alloc_shared "a" : !ring
  %ch = tgpu.channel "a" {producers = 1 : i32, consumers = 4 : i32} : !ch
  %sum = scf.for %p = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!f) : i32 {
    %s = tgpu.slot %ring[%p] : !ring -> !b
    tgpu.one_thread {
      tgpu.acquire %ch[%p] : !ch
      tgpu.expect %ch[%p] bytes 8192 : !ch
      tgpu.tma_load %g to %s on %ch[%p] {map = 0 : i32} : !g, !b, !ch
    }
    tgpu.wait %ch[%p] : !ch
    scf.if %any {
      // expected-note @+1 {{written here}}
      tgpu.zero_beyond %s from (%c0, %c0) to (%h, %c64) : !b
      tgpu.barrier
    }
    tgpu.wgmma_fence
    // expected-error @+1 {{lets the async proxy use `a` without tgpu.fence_async and a barrier after threads wrote it}}
    %q = tgpu.wgmma %s, %s, %acc {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !b, !b, !f -> !pending
    tgpu.wgmma_commit
    %r = tgpu.wgmma_wait 0, %q : !pending -> !f
    // expected-error @+1 {{lets TMA overwrite a slot of `a` without tgpu.fence_async after threads wrote it}}
    tgpu.release %ch[%p] : !ch
    scf.yield %r : !f
  }
  tgpu.return
}

// -----

// Each warp fences what it wrote itself.
#s = #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">
#acc = #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">
!b = !tgpu.smem<64x64xf16, #s>
!ring = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!h = tensor<64x64xf16, #acc>
!f = tensor<64x64xf32, #acc>
!pending = !tgpu.pending<!f>
!g = !tile.global<64x64xf16>
!o = !tile.global<64x64xf16>
!ch = !tgpu.channel<2>
tgpu.kernel @no_barrier(%zero: !f, %g: !g, %n: i32, %h: i32, %any: i1) attributes {threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %ring = tgpu.alloc_shared "a" : !ring
  %ch = tgpu.channel "a" {producers = 1 : i32, consumers = 4 : i32} : !ch
  %sum = scf.for %p = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!f) : i32 {
    %s = tgpu.slot %ring[%p] : !ring -> !b
    tgpu.one_thread {
      tgpu.acquire %ch[%p] : !ch
      tgpu.expect %ch[%p] bytes 8192 : !ch
      tgpu.tma_load %g to %s on %ch[%p] {map = 0 : i32} : !g, !b, !ch
    }
    tgpu.wait %ch[%p] : !ch
    scf.if %any {
      // expected-note @+1 {{written here}}
      tgpu.zero_beyond %s from (%c0, %c0) to (%h, %c64) : !b
      tgpu.fence_async
    }
    tgpu.wgmma_fence
    // expected-error @+1 {{reads `a` without a barrier after another thread's access}}
    %q = tgpu.wgmma %s, %s, %acc {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !b, !b, !f -> !pending
    tgpu.wgmma_commit
    %r = tgpu.wgmma_wait 0, %q : !pending -> !f
    tgpu.release %ch[%p] : !ch
    scf.yield %r : !f
  }
  tgpu.return
}

// -----

// The others pass the barrier before this one has fenced.
#s = #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">
#acc = #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">
!b = !tgpu.smem<64x64xf16, #s>
!ring = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!h = tensor<64x64xf16, #acc>
!f = tensor<64x64xf32, #acc>
!pending = !tgpu.pending<!f>
!g = !tile.global<64x64xf16>
!o = !tile.global<64x64xf16>
!ch = !tgpu.channel<2>
tgpu.kernel @fence_behind(%zero: !f, %g: !g, %n: i32, %h: i32, %any: i1) attributes {threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %ring = tgpu.alloc_shared "a" : !ring
  %ch = tgpu.channel "a" {producers = 1 : i32, consumers = 4 : i32} : !ch
  %sum = scf.for %p = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!f) : i32 {
    %s = tgpu.slot %ring[%p] : !ring -> !b
    tgpu.one_thread {
      tgpu.acquire %ch[%p] : !ch
      tgpu.expect %ch[%p] bytes 8192 : !ch
      tgpu.tma_load %g to %s on %ch[%p] {map = 0 : i32} : !g, !b, !ch
    }
    tgpu.wait %ch[%p] : !ch
    scf.if %any {
      // expected-note @+1 {{written here}}
      tgpu.zero_beyond %s from (%c0, %c0) to (%h, %c64) : !b
      tgpu.barrier
      tgpu.fence_async
    }
    tgpu.wgmma_fence
    // expected-error @+1 {{reads `a` without a barrier after another thread's access}}
    %q = tgpu.wgmma %s, %s, %acc {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !b, !b, !f -> !pending
    tgpu.wgmma_commit
    %r = tgpu.wgmma_wait 0, %q : !pending -> !f
    tgpu.release %ch[%p] : !ch
    scf.yield %r : !f
  }
  tgpu.return
}

// -----

#s = #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">
#acc = #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">
!b = !tgpu.smem<64x64xf16, #s>
!ring = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!h = tensor<64x64xf16, #acc>
!f = tensor<64x64xf32, #acc>
!pending = !tgpu.pending<!f>
!g = !tile.global<64x64xf16>
!o = !tile.global<64x64xf16>
!ch = !tgpu.channel<2>
tgpu.kernel @no_barrier_threads(%zero: !h, %g: !g, %n: i32, %h: i32, %any: i1) attributes {threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %ring = tgpu.alloc_shared "a" : !ring
  %ch = tgpu.channel "a" {producers = 1 : i32, consumers = 4 : i32} : !ch
  %sum = scf.for %p = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!h) : i32 {
    %s = tgpu.slot %ring[%p] : !ring -> !b
    tgpu.one_thread {
      tgpu.acquire %ch[%p] : !ch
      tgpu.expect %ch[%p] bytes 8192 : !ch
      tgpu.tma_load %g to %s on %ch[%p] {map = 0 : i32} : !g, !b, !ch
    }
    tgpu.wait %ch[%p] : !ch
    scf.if %any {
      // expected-note @+1 {{written here}}
      tgpu.zero_beyond %s from (%c0, %c0) to (%h, %c64) : !b
      tgpu.fence_async
    }
    // expected-error @+1 {{reads `a` without a barrier after another thread's access}}
    %r = tgpu.local_load %s : !b -> !h
    tgpu.fence_async
    tgpu.release %ch[%p] : !ch
    scf.yield %r : !h
  }
  tgpu.return
}

// -----

// TMA may fill the slot before it sees the zeros, which then come last.
#s = #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">
#acc = #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">
!b = !tgpu.smem<64x64xf16, #s>
!ring = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!h = tensor<64x64xf16, #acc>
!f = tensor<64x64xf32, #acc>
!pending = !tgpu.pending<!f>
!g = !tile.global<64x64xf16>
!o = !tile.global<64x64xf16>
!ch = !tgpu.channel<2>
tgpu.kernel @no_fence_release(%zero: !f, %g: !g, %n: i32, %h: i32, %any: i1) attributes {threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %ring = tgpu.alloc_shared "a" : !ring
  %ch = tgpu.channel "a" {producers = 1 : i32, consumers = 4 : i32} : !ch
  %sum = scf.for %p = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!f) : i32 {
    %s = tgpu.slot %ring[%p] : !ring -> !b
    tgpu.one_thread {
      tgpu.acquire %ch[%p] : !ch
      tgpu.expect %ch[%p] bytes 8192 : !ch
      tgpu.tma_load %g to %s on %ch[%p] {map = 0 : i32} : !g, !b, !ch
    }
    tgpu.wait %ch[%p] : !ch
    scf.if %any {
      // expected-note @+1 {{written here}}
      tgpu.zero_beyond %s from (%c0, %c0) to (%h, %c64) : !b
      tgpu.barrier
    }
    // expected-error @+1 {{lets TMA overwrite a slot of `a` without tgpu.fence_async after threads wrote it}}
    tgpu.release %ch[%p] : !ch
    scf.yield %acc : !f
  }
  tgpu.return
}

// -----

// The data has not landed.
#s = #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">
#acc = #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">
!b = !tgpu.smem<64x64xf16, #s>
!ring = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!h = tensor<64x64xf16, #acc>
!f = tensor<64x64xf32, #acc>
!pending = !tgpu.pending<!f>
!g = !tile.global<64x64xf16>
!o = !tile.global<64x64xf16>
!ch = !tgpu.channel<2>
tgpu.kernel @not_waited(%zero: !f, %g: !g, %n: i32, %h: i32, %any: i1) attributes {threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %ring = tgpu.alloc_shared "a" : !ring
  // expected-note @+1 {{the channel}}
  %ch = tgpu.channel "a" {producers = 1 : i32, consumers = 4 : i32} : !ch
  %sum = scf.for %p = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!f) : i32 {
    %s = tgpu.slot %ring[%p] : !ring -> !b
    tgpu.one_thread {
      tgpu.acquire %ch[%p] : !ch
      tgpu.expect %ch[%p] bytes 8192 : !ch
      tgpu.tma_load %g to %s on %ch[%p] {map = 0 : i32} : !g, !b, !ch
    }
    scf.if %any {
      // expected-error @+1 {{uses a slot of `a` without tgpu.wait on its channel at the same position}}
      tgpu.zero_beyond %s from (%c0, %c0) to (%h, %c64) : !b
      tgpu.fence_async
      tgpu.barrier
    }
    tgpu.wait %ch[%p] : !ch
    tgpu.wgmma_fence
    %q = tgpu.wgmma %s, %s, %acc {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !b, !b, !f -> !pending
    tgpu.wgmma_commit
    %r = tgpu.wgmma_wait 0, %q : !pending -> !f
    tgpu.release %ch[%p] : !ch
    scf.yield %r : !f
  }
  tgpu.return
}

// -----

// The slot is another's already.
#s = #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">
#acc = #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">
!b = !tgpu.smem<64x64xf16, #s>
!ring = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!h = tensor<64x64xf16, #acc>
!f = tensor<64x64xf32, #acc>
!pending = !tgpu.pending<!f>
!g = !tile.global<64x64xf16>
!o = !tile.global<64x64xf16>
!ch = !tgpu.channel<2>
tgpu.kernel @released(%zero: !f, %g: !g, %n: i32, %h: i32, %any: i1) attributes {threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %ring = tgpu.alloc_shared "a" : !ring
  // expected-note @+1 {{the channel}}
  %ch = tgpu.channel "a" {producers = 1 : i32, consumers = 4 : i32} : !ch
  %sum = scf.for %p = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!f) : i32 {
    %s = tgpu.slot %ring[%p] : !ring -> !b
    tgpu.one_thread {
      tgpu.acquire %ch[%p] : !ch
      tgpu.expect %ch[%p] bytes 8192 : !ch
      tgpu.tma_load %g to %s on %ch[%p] {map = 0 : i32} : !g, !b, !ch
    }
    tgpu.wait %ch[%p] : !ch
    tgpu.wgmma_fence
    %q = tgpu.wgmma %s, %s, %acc {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !b, !b, !f -> !pending
    tgpu.wgmma_commit
    %r = tgpu.wgmma_wait 0, %q : !pending -> !f
    tgpu.release %ch[%p] : !ch
    scf.if %any {
      // expected-error @+1 {{uses a slot of `a` without tgpu.wait on its channel at the same position}}
      tgpu.zero_beyond %s from (%c0, %c0) to (%h, %c64) : !b
      tgpu.fence_async
      tgpu.barrier
    }
    scf.yield %r : !f
  }
  tgpu.return
}

// -----

// A product in flight reads the slot.
#s = #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">
#acc = #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">
!b = !tgpu.smem<64x64xf16, #s>
!ring = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!h = tensor<64x64xf16, #acc>
!f = tensor<64x64xf32, #acc>
!pending = !tgpu.pending<!f>
!g = !tile.global<64x64xf16>
!o = !tile.global<64x64xf16>
!ch = !tgpu.channel<2>
tgpu.kernel @in_flight(%zero: !f, %g: !g, %n: i32, %h: i32, %any: i1) attributes {threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %ring = tgpu.alloc_shared "a" : !ring
  %ch = tgpu.channel "a" {producers = 1 : i32, consumers = 4 : i32} : !ch
  %sum = scf.for %p = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!f) : i32 {
    %s = tgpu.slot %ring[%p] : !ring -> !b
    tgpu.one_thread {
      tgpu.acquire %ch[%p] : !ch
      tgpu.expect %ch[%p] bytes 8192 : !ch
      tgpu.tma_load %g to %s on %ch[%p] {map = 0 : i32} : !g, !b, !ch
    }
    tgpu.wait %ch[%p] : !ch
    tgpu.wgmma_fence
    // expected-note @+1 {{started here, not waited for}}
    %q = tgpu.wgmma %s, %s, %acc {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !b, !b, !f -> !pending
    tgpu.wgmma_commit
    scf.if %any {
      // expected-error @+1 {{uses `a` while an asynchronous access of it is in flight}}
      tgpu.zero_beyond %s from (%c0, %c0) to (%h, %c64) : !b
      tgpu.fence_async
      tgpu.barrier
    }
    %r = tgpu.wgmma_wait 0, %q : !pending -> !f
    tgpu.release %ch[%p] : !ch
    scf.yield %r : !f
  }
  tgpu.return
}

// -----

// Other warps may still read.
#s = #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">
#acc = #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">
!b = !tgpu.smem<64x64xf16, #s>
!ring = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!h = tensor<64x64xf16, #acc>
!f = tensor<64x64xf32, #acc>
!pending = !tgpu.pending<!f>
!g = !tile.global<64x64xf16>
!o = !tile.global<64x64xf16>
!ch = !tgpu.channel<2>
tgpu.kernel @read_before(%zero: !h, %g: !g, %n: i32, %h: i32, %any: i1) attributes {threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %ring = tgpu.alloc_shared "a" : !ring
  %ch = tgpu.channel "a" {producers = 1 : i32, consumers = 4 : i32} : !ch
  %sum = scf.for %p = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!h) : i32 {
    %s = tgpu.slot %ring[%p] : !ring -> !b
    tgpu.one_thread {
      tgpu.acquire %ch[%p] : !ch
      tgpu.expect %ch[%p] bytes 8192 : !ch
      tgpu.tma_load %g to %s on %ch[%p] {map = 0 : i32} : !g, !b, !ch
    }
    tgpu.wait %ch[%p] : !ch
    // expected-note @+1 {{read here}}
    %r = tgpu.local_load %s : !b -> !h
    scf.if %any {
      // expected-error @+1 {{writes `a` without a barrier after another thread's access}}
      tgpu.zero_beyond %s from (%c0, %c0) to (%h, %c64) : !b
      tgpu.fence_async
      tgpu.barrier
    }
    tgpu.fence_async
    tgpu.release %ch[%p] : !ch
    scf.yield %r : !h
  }
  tgpu.return
}
