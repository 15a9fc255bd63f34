// A slot that is waited for on the way here has to be given back on every way from here, one that is acquired has to be filled.
// RUN: tile-opt %s -split-input-file -verify-diagnostics --pass-pipeline='builtin.module(tgpu.kernel(tgpu-verify-sync))'

!b = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!h = tensor<64x64xf16, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<64x64xf16>
!ch = !tgpu.channel<2>
// Right: iteration p gives back the slot of p - 1, and who comes behind the loop that of the last, if there was one.
tgpu.kernel @deferred(%g: !g, %n: i32, %any: i1) attributes {threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %ring = tgpu.alloc_shared "a" : !ring
  %ch = tgpu.channel "a" {producers = 1 : i32, consumers = 4 : i32} : !ch
  scf.for %p = %c0 to %n step %c1 : i32 {
    tgpu.one_thread {
      tgpu.acquire %ch[%p] : !ch
      tgpu.expect %ch[%p] bytes 8192 : !ch
      %f = tgpu.slot %ring[%p] : !ring -> !b
      tgpu.tma_load %g to %f on %ch[%p] {map = 0 : i32} : !g, !b, !ch
    }
    tgpu.wait %ch[%p] : !ch
    %later = arith.cmpi sgt, %p, %c0 : i32
    scf.if %later {
      %before = arith.subi %p, %c1 : i32
      tgpu.release %ch[%before] : !ch
    }
  }
  %last = arith.subi %n, %c1 : i32
  %ran = arith.cmpi sgt, %n, %c0 : i32
  scf.if %ran {
    tgpu.release %ch[%last] : !ch
  }
  tgpu.return
}

// -----

!b = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!h = tensor<64x64xf16, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<64x64xf16>
!ch = !tgpu.channel<2>
// Right: the same the other way round.
tgpu.kernel @else_too(%g: !g, %n: i32, %any: i1) attributes {threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %ring = tgpu.alloc_shared "a" : !ring
  %ch = tgpu.channel "a" {producers = 1 : i32, consumers = 4 : i32} : !ch
  scf.for %p = %c0 to %n step %c1 : i32 {
    tgpu.one_thread {
      tgpu.acquire %ch[%p] : !ch
      tgpu.expect %ch[%p] bytes 8192 : !ch
      %f = tgpu.slot %ring[%p] : !ring -> !b
      tgpu.tma_load %g to %f on %ch[%p] {map = 0 : i32} : !g, !b, !ch
    }
    tgpu.wait %ch[%p] : !ch
    %later = arith.cmpi sgt, %p, %c0 : i32
    scf.if %later {
      %before = arith.subi %p, %c1 : i32
      tgpu.release %ch[%before] : !ch
    } else {
    }
  }
  %last = arith.subi %n, %c1 : i32
  %none = arith.cmpi sle, %n, %c0 : i32
  scf.if %none {
  } else {
    tgpu.release %ch[%last] : !ch
  }
  tgpu.return
}

// -----

!b = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!h = tensor<64x64xf16, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<64x64xf16>
!ch = !tgpu.channel<2>
// Right: given back on both sides.
tgpu.kernel @both_sides(%g: !g, %n: i32, %any: i1) attributes {threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %ring = tgpu.alloc_shared "a" : !ring
  %ch = tgpu.channel "a" {producers = 1 : i32, consumers = 4 : i32} : !ch
  scf.for %p = %c0 to %n step %c1 : i32 {
    tgpu.one_thread {
      tgpu.acquire %ch[%p] : !ch
      tgpu.expect %ch[%p] bytes 8192 : !ch
      %f = tgpu.slot %ring[%p] : !ring -> !b
      tgpu.tma_load %g to %f on %ch[%p] {map = 0 : i32} : !g, !b, !ch
    }
    tgpu.wait %ch[%p] : !ch
    scf.if %any {
      tgpu.release %ch[%p] : !ch
    } else {
      tgpu.release %ch[%p] : !ch
    }
  }
  tgpu.return
}

// -----

!b = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!h = tensor<64x64xf16, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<64x64xf16>
!ch = !tgpu.channel<2>
// Right: a branch that gives nothing back.
tgpu.kernel @inside(%g: !g, %n: i32, %any: i1) attributes {threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %ring = tgpu.alloc_shared "a" : !ring
  %ch = tgpu.channel "a" {producers = 1 : i32, consumers = 4 : i32} : !ch
  scf.for %p = %c0 to %n step %c1 : i32 {
    tgpu.one_thread {
      tgpu.acquire %ch[%p] : !ch
      tgpu.expect %ch[%p] bytes 8192 : !ch
      %f = tgpu.slot %ring[%p] : !ring -> !b
      tgpu.tma_load %g to %f on %ch[%p] {map = 0 : i32} : !g, !b, !ch
    }
    tgpu.wait %ch[%p] : !ch
    scf.if %any {
    }
    tgpu.release %ch[%p] : !ch
  }
  tgpu.return
}

// -----

!b = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!h = tensor<64x64xf16, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<64x64xf16>
!ch = !tgpu.channel<2>
// The next acquire of the slot waits for ever, or passes too early.
tgpu.kernel @one_side(%g: !g, %n: i32, %any: i1) attributes {threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %ring = tgpu.alloc_shared "a" : !ring
  %ch = tgpu.channel "a" {producers = 1 : i32, consumers = 4 : i32} : !ch
  scf.for %p = %c0 to %n step %c1 : i32 {
    tgpu.one_thread {
      tgpu.acquire %ch[%p] : !ch
      tgpu.expect %ch[%p] bytes 8192 : !ch
      %f = tgpu.slot %ring[%p] : !ring -> !b
      tgpu.tma_load %g to %f on %ch[%p] {map = 0 : i32} : !g, !b, !ch
    }
    // expected-note @+1 {{waited for here}}
    tgpu.wait %ch[%p] : !ch
    // expected-error @+1 {{leaves a slot of `a` waited for and not given back after one of its sides only}}
    scf.if %any {
      tgpu.release %ch[%p] : !ch
    }
  }
  tgpu.return
}

// -----

!b = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!h = tensor<64x64xf16, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<64x64xf16>
!ch = !tgpu.channel<2>
// The slot of the first iteration is not given back.
tgpu.kernel @second_iteration(%g: !g, %n: i32, %any: i1) attributes {threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %ring = tgpu.alloc_shared "a" : !ring
  %ch = tgpu.channel "a" {producers = 1 : i32, consumers = 4 : i32} : !ch
  scf.for %p = %c0 to %n step %c1 : i32 {
    tgpu.one_thread {
      tgpu.acquire %ch[%p] : !ch
      tgpu.expect %ch[%p] bytes 8192 : !ch
      %f = tgpu.slot %ring[%p] : !ring -> !b
      tgpu.tma_load %g to %f on %ch[%p] {map = 0 : i32} : !g, !b, !ch
    }
    // expected-note @+1 {{waited for here}}
    tgpu.wait %ch[%p] : !ch
    %later = arith.cmpi sgt, %p, %c1 : i32
    // expected-error @+1 {{leaves a slot of `a` waited for and not given back after one of its sides only}}
    scf.if %later {
      %before = arith.subi %p, %c1 : i32
      tgpu.release %ch[%before] : !ch
    }
  }
  %last = arith.subi %n, %c1 : i32
  %ran = arith.cmpi sgt, %n, %c0 : i32
  scf.if %ran {
    tgpu.release %ch[%last] : !ch
  }
  tgpu.return
}

// -----

!b = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!h = tensor<64x64xf16, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<64x64xf16>
!ch = !tgpu.channel<2>
// A loop without iterations has taken nothing.
tgpu.kernel @behind_always(%g: !g, %n: i32, %any: i1) attributes {threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %ring = tgpu.alloc_shared "a" : !ring
  // expected-note @+1 {{the channel}}
  %ch = tgpu.channel "a" {producers = 1 : i32, consumers = 4 : i32} : !ch
  scf.for %p = %c0 to %n step %c1 : i32 {
    tgpu.one_thread {
      tgpu.acquire %ch[%p] : !ch
      tgpu.expect %ch[%p] bytes 8192 : !ch
      %f = tgpu.slot %ring[%p] : !ring -> !b
      tgpu.tma_load %g to %f on %ch[%p] {map = 0 : i32} : !g, !b, !ch
    }
    tgpu.wait %ch[%p] : !ch
    %later = arith.cmpi sgt, %p, %c0 : i32
    scf.if %later {
      %before = arith.subi %p, %c1 : i32
      tgpu.release %ch[%before] : !ch
    }
  }
  %last = arith.subi %n, %c1 : i32
  // expected-error @+1 {{gives back a slot of `a` that its threads have not waited for}}
  tgpu.release %ch[%last] : !ch
  tgpu.return
}

// -----

!b = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!h = tensor<64x64xf16, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<64x64xf16>
!ch = !tgpu.channel<2>
// A loop of one iteration has.
tgpu.kernel @behind_two(%g: !g, %n: i32, %any: i1) attributes {threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %ring = tgpu.alloc_shared "a" : !ring
  %ch = tgpu.channel "a" {producers = 1 : i32, consumers = 4 : i32} : !ch
  scf.for %p = %c0 to %n step %c1 : i32 {
    tgpu.one_thread {
      tgpu.acquire %ch[%p] : !ch
      tgpu.expect %ch[%p] bytes 8192 : !ch
      %f = tgpu.slot %ring[%p] : !ring -> !b
      tgpu.tma_load %g to %f on %ch[%p] {map = 0 : i32} : !g, !b, !ch
    }
    // expected-note @+1 {{waited for here}}
    tgpu.wait %ch[%p] : !ch
    %later = arith.cmpi sgt, %p, %c0 : i32
    scf.if %later {
      %before = arith.subi %p, %c1 : i32
      tgpu.release %ch[%before] : !ch
    }
  }
  %last = arith.subi %n, %c1 : i32
  %ran = arith.cmpi sgt, %n, %c1 : i32
  // expected-error @+1 {{leaves a slot of `a` waited for and not given back after one of its sides only}}
  scf.if %ran {
    tgpu.release %ch[%last] : !ch
  }
  tgpu.return
}

// -----

!b = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!h = tensor<64x64xf16, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<64x64xf16>
!ch = !tgpu.channel<2>
// The last one is never given back.
tgpu.kernel @behind_never(%g: !g, %n: i32, %any: i1) attributes {threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %ring = tgpu.alloc_shared "a" : !ring
  %ch = tgpu.channel "a" {producers = 1 : i32, consumers = 4 : i32} : !ch
  scf.for %p = %c0 to %n step %c1 : i32 {
    tgpu.one_thread {
      tgpu.acquire %ch[%p] : !ch
      tgpu.expect %ch[%p] bytes 8192 : !ch
      %f = tgpu.slot %ring[%p] : !ring -> !b
      tgpu.tma_load %g to %f on %ch[%p] {map = 0 : i32} : !g, !b, !ch
    }
    // expected-error @+1 {{takes a slot of `a` that nothing releases}}
    tgpu.wait %ch[%p] : !ch
    %later = arith.cmpi sgt, %p, %c0 : i32
    scf.if %later {
      %before = arith.subi %p, %c1 : i32
      tgpu.release %ch[%before] : !ch
    }
  }
  tgpu.return
}

// -----

!b = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!h = tensor<64x64xf16, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<64x64xf16>
!ch = !tgpu.channel<2>
// After two iterations more is taken than after one.
tgpu.kernel @never(%g: !g, %n: i32, %any: i1) attributes {threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %ring = tgpu.alloc_shared "a" : !ring
  // expected-error @+1 {{counts 4 consumers, but 0 warps release its slots}}
  %ch = tgpu.channel "a" {producers = 1 : i32, consumers = 4 : i32} : !ch
  // expected-error @+1 {{leaves a slot of `a` waited for and not given back after some of its iterations only}}
  scf.for %p = %c0 to %n step %c1 : i32 {
    tgpu.one_thread {
      tgpu.acquire %ch[%p] : !ch
      tgpu.expect %ch[%p] bytes 8192 : !ch
      %f = tgpu.slot %ring[%p] : !ring -> !b
      tgpu.tma_load %g to %f on %ch[%p] {map = 0 : i32} : !g, !b, !ch
    }
    // expected-note @+2 {{waited for here}}
    // expected-error @+1 {{takes a slot of `a` that nothing releases}}
    tgpu.wait %ch[%p] : !ch
  }
  tgpu.return
}

// -----

!b = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!h = tensor<64x64xf16, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<64x64xf16>
!ch = !tgpu.channel<2>
// Who waits for it waits for ever.
tgpu.kernel @filled_on_one_side(%g: !g, %n: i32, %any: i1) attributes {threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %ring = tgpu.alloc_shared "a" : !ring
  %ch = tgpu.channel "a" {producers = 1 : i32, consumers = 4 : i32} : !ch
  scf.for %p = %c0 to %n step %c1 : i32 {
    tgpu.one_thread {
      // expected-note @+1 {{acquired here}}
      tgpu.acquire %ch[%p] : !ch
      // expected-error @+1 {{leaves a slot of `a` acquired and not filled after one of its sides only}}
      scf.if %any {
        tgpu.expect %ch[%p] bytes 8192 : !ch
        %f = tgpu.slot %ring[%p] : !ring -> !b
        tgpu.tma_load %g to %f on %ch[%p] {map = 0 : i32} : !g, !b, !ch
      }
    }
    tgpu.wait %ch[%p] : !ch
    tgpu.release %ch[%p] : !ch
  }
  tgpu.return
}

// -----

!b = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!h = tensor<64x64xf16, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<64x64xf16>
!ch = !tgpu.channel<2>
tgpu.kernel @never_filled(%g: !g, %n: i32, %any: i1) attributes {threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %ring = tgpu.alloc_shared "a" : !ring
  %ch = tgpu.channel "a" {producers = 1 : i32, consumers = 4 : i32} : !ch
  scf.for %p = %c0 to %n step %c1 : i32 {
    tgpu.one_thread {
      tgpu.acquire %ch[%p] : !ch
      tgpu.expect %ch[%p] bytes 8192 : !ch
      %f = tgpu.slot %ring[%p] : !ring -> !b
      tgpu.tma_load %g to %f on %ch[%p] {map = 0 : i32} : !g, !b, !ch
    }
    tgpu.wait %ch[%p] : !ch
    tgpu.release %ch[%p] : !ch
    %q = arith.addi %p, %c1 : i32
    tgpu.one_thread {
      // expected-error @+1 {{acquires a slot of `a` that nothing fills}}
      tgpu.acquire %ch[%q] : !ch
    }
  }
  tgpu.return
}

// -----

!b = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!h = tensor<64x64xf16, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<64x64xf16>
!ch = !tgpu.channel<2>
// Right: positions are known in the loop's two regions.
tgpu.kernel @while_loop(%g: !g, %n: i32, %any: i1) attributes {threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %ring = tgpu.alloc_shared "a" : !ring
  %ch = tgpu.channel "a" {producers = 1 : i32, consumers = 4 : i32} : !ch
  %end = scf.while (%i = %c0) : (i32) -> i32 {
    %more = arith.cmpi slt, %i, %n : i32
    scf.condition(%more) %i : i32
  } do {
  ^bb0(%p: i32):
    tgpu.one_thread {
      tgpu.acquire %ch[%p] : !ch
      tgpu.expect %ch[%p] bytes 8192 : !ch
      %f = tgpu.slot %ring[%p] : !ring -> !b
      tgpu.tma_load %g to %f on %ch[%p] {map = 0 : i32} : !g, !b, !ch
    }
    tgpu.wait %ch[%p] : !ch
    %s = tgpu.slot %ring[%p] : !ring -> !b
    %x = tgpu.local_load %s : !b -> !h
    tgpu.fence_async
    tgpu.release %ch[%p] : !ch
    %next = arith.addi %p, %c1 : i32
    scf.yield %next : i32
  }
  tgpu.return
}

// -----

!b = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!h = tensor<64x64xf16, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<64x64xf16>
!ch = !tgpu.channel<2>
// As in a counted loop.
tgpu.kernel @while_one_side(%g: !g, %n: i32, %any: i1) attributes {threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %ring = tgpu.alloc_shared "a" : !ring
  %ch = tgpu.channel "a" {producers = 1 : i32, consumers = 4 : i32} : !ch
  %end = scf.while (%i = %c0) : (i32) -> i32 {
    %more = arith.cmpi slt, %i, %n : i32
    scf.condition(%more) %i : i32
  } do {
  ^bb0(%p: i32):
    tgpu.one_thread {
      tgpu.acquire %ch[%p] : !ch
      tgpu.expect %ch[%p] bytes 8192 : !ch
      %f = tgpu.slot %ring[%p] : !ring -> !b
      tgpu.tma_load %g to %f on %ch[%p] {map = 0 : i32} : !g, !b, !ch
    }
    // expected-note @+1 {{waited for here}}
    tgpu.wait %ch[%p] : !ch
    // expected-error @+1 {{leaves a slot of `a` waited for and not given back after one of its sides only}}
    scf.if %any {
      tgpu.release %ch[%p] : !ch
    }
    %next = arith.addi %p, %c1 : i32
    scf.yield %next : i32
  }
  tgpu.return
}
