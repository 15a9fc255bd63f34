// Roles and threads that wait for each other for ever: a cycle of the steady state that leads back by no iteration.
// RUN: tile-opt %s -split-input-file -verify-diagnostics --pass-pipeline='builtin.module(tgpu.kernel(tgpu-verify-sync))'

!b = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!h = tensor<64x64xf16, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<64x64xf16>
!one = !tgpu.channel<1>
!two = !tgpu.channel<2>
!three = !tgpu.channel<3>
!ring = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
// Right: two slots of V, one of them waited for before the other is given back.
tgpu.kernel @depth_two(%g: !g, %n: i32 {tgpu.range = array<i64: 1, 1000>}) attributes {threads = 128 : i32, block_threads = 256 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %last = arith.subi %n, %c1 : i32
  %k = tgpu.alloc_shared "K" : !ring
  %v = tgpu.alloc_shared "V" : !ring
  %ck = tgpu.channel "K" {producers = 1 : i32, consumers = 4 : i32} : !two
  %cv = tgpu.channel "V" {producers = 1 : i32, consumers = 4 : i32} : !two
  tgpu.roles role "load" warps 4, 4 {
    tgpu.one_thread attributes {warp = 4 : i32} {
      scf.for %i = %c0 to %n step %c1 : i32 {
        tgpu.acquire %ck[%i] : !two
        tgpu.expect %ck[%i] bytes 8192 : !two
        %sk = tgpu.slot %k[%i] : !ring -> !b
        tgpu.tma_load %g to %sk on %ck[%i] {map = 0 : i32} : !g, !b, !two
        tgpu.acquire %cv[%i] : !two
        tgpu.expect %cv[%i] bytes 8192 : !two
        %sv = tgpu.slot %v[%i] : !ring -> !b
        tgpu.tma_load %g to %sv on %cv[%i] {map = 0 : i32} : !g, !b, !two
      }
    }
  } role "compute" warps 0, 4 {
    tgpu.wait %ck[%c0] : !two
    tgpu.release %ck[%c0] : !two
    tgpu.wait %cv[%c0] : !two
    scf.for %i = %c1 to %n step %c1 : i32 {
      %before = arith.subi %i, %c1 : i32
      tgpu.wait %ck[%i] : !two
      tgpu.release %ck[%i] : !two
      tgpu.wait %cv[%i] : !two
      tgpu.release %cv[%before] : !two
    }
    tgpu.release %cv[%last] : !two
  }
  tgpu.return
}

// -----

!b = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!h = tensor<64x64xf16, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<64x64xf16>
!one = !tgpu.channel<1>
!two = !tgpu.channel<2>
!three = !tgpu.channel<3>
!ring = !tgpu.smem<1x64x64xf16, #tgpu.shared<"1x64x64 b16 contig 2 panel 64 swizzle 128">>
// With one slot the load waits for the release, which comes behind the wait for the load.
tgpu.kernel @depth_one(%g: !g, %n: i32 {tgpu.range = array<i64: 1, 1000>}) attributes {threads = 128 : i32, block_threads = 256 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %last = arith.subi %n, %c1 : i32
  %k = tgpu.alloc_shared "K" : !ring
  %v = tgpu.alloc_shared "V" : !ring
  %ck = tgpu.channel "K" {producers = 1 : i32, consumers = 4 : i32} : !one
  // expected-note @+1 {{the channel}}
  %cv = tgpu.channel "V" {producers = 1 : i32, consumers = 4 : i32} : !one
  tgpu.roles role "load" warps 4, 4 {
    tgpu.one_thread attributes {warp = 4 : i32} {
      scf.for %i = %c0 to %n step %c1 : i32 {
        tgpu.acquire %ck[%i] : !one
        tgpu.expect %ck[%i] bytes 8192 : !one
        %sk = tgpu.slot %k[%i] : !ring -> !b
        tgpu.tma_load %g to %sk on %ck[%i] {map = 0 : i32} : !g, !b, !one
        // expected-note @+1 {{which comes behind this, in the same iteration}}
        tgpu.acquire %cv[%i] : !one
        // expected-note @+1 {{which waits for this, in the same iteration}}
        tgpu.expect %cv[%i] bytes 8192 : !one
        %sv = tgpu.slot %v[%i] : !ring -> !b
        tgpu.tma_load %g to %sv on %cv[%i] {map = 0 : i32} : !g, !b, !one
      }
    }
  } role "compute" warps 0, 4 {
    tgpu.wait %ck[%c0] : !one
    tgpu.release %ck[%c0] : !one
    tgpu.wait %cv[%c0] : !one
    scf.for %i = %c1 to %n step %c1 : i32 {
      %before = arith.subi %i, %c1 : i32
      tgpu.wait %ck[%i] : !one
      tgpu.release %ck[%i] : !one
      // expected-note @+2 {{which comes behind this, in the same iteration}}
      // expected-error @+1 {{waits for ever: it comes behind itself}}
      tgpu.wait %cv[%i] : !one
      // expected-note @+2 {{which waits for this, in the same iteration}}
      // expected-error @+1 {{gives back a slot of `V` that its threads have not waited for}}
      tgpu.release %cv[%before] : !one
    }
    tgpu.release %cv[%last] : !one
  }
  tgpu.return
}

// -----

!b = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!g = !tile.global<64x64xf16>
!two = !tgpu.channel<2>
// Right: the slot that is given back is filled again.
tgpu.kernel @refilled_late(%g: !g, %n: i32) attributes {threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %ring = tgpu.alloc_shared "a" : !ring
  %ch = tgpu.channel "a" {producers = 1 : i32, consumers = 4 : i32} : !two
  scf.for %i = %c0 to %c2 step %c1 : i32 {
    tgpu.one_thread {
      tgpu.acquire %ch[%i] : !two
      tgpu.expect %ch[%i] bytes 8192 : !two
      %f = tgpu.slot %ring[%i] : !ring -> !b
      tgpu.tma_load %g to %f on %ch[%i] {map = 0 : i32} : !g, !b, !two
    }
  }
  scf.for %p = %c0 to %n step %c1 : i32 {
    %next = arith.addi %p, %c2 : i32
    tgpu.wait %ch[%p] : !two
    tgpu.release %ch[%p] : !two
    tgpu.one_thread {
      tgpu.acquire %ch[%next] : !two
      tgpu.expect %ch[%next] bytes 8192 : !two
      %f = tgpu.slot %ring[%next] : !ring -> !b
      tgpu.tma_load %g to %f on %ch[%next] {map = 0 : i32} : !g, !b, !two
    }
  }
  tgpu.return
}

// -----

!b = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!g = !tile.global<64x64xf16>
!two = !tgpu.channel<2>
// The thread that fills the slot is of a warp that has to give it back first.
tgpu.kernel @refilled_early(%g: !g, %n: i32) attributes {threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %ring = tgpu.alloc_shared "a" : !ring
  %ch = tgpu.channel "a" {producers = 1 : i32, consumers = 4 : i32} : !two
  scf.for %i = %c0 to %c2 step %c1 : i32 {
    tgpu.one_thread {
      tgpu.acquire %ch[%i] : !two
      tgpu.expect %ch[%i] bytes 8192 : !two
      %f = tgpu.slot %ring[%i] : !ring -> !b
      tgpu.tma_load %g to %f on %ch[%i] {map = 0 : i32} : !g, !b, !two
    }
  }
  scf.for %p = %c0 to %n step %c1 : i32 {
    %next = arith.addi %p, %c2 : i32
    tgpu.wait %ch[%p] : !two
    tgpu.one_thread {
      // expected-note @+2 {{which comes behind this, in the same iteration}}
      // expected-error @+1 {{waits for ever: it comes behind itself}}
      tgpu.acquire %ch[%next] : !two
      // expected-note @+1 {{which comes behind this, in the same iteration}}
      tgpu.expect %ch[%next] bytes 8192 : !two
      %f = tgpu.slot %ring[%next] : !ring -> !b
      tgpu.tma_load %g to %f on %ch[%next] {map = 0 : i32} : !g, !b, !two
    }
    // expected-note @+1 {{which waits for this, in the same iteration}}
    tgpu.release %ch[%p] : !two
  }
  tgpu.return
}

// -----

!b = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!g = !tile.global<64x64xf16>
!two = !tgpu.channel<2>
// Right: the other slot is filled.
tgpu.kernel @one_ahead(%g: !g, %n: i32) attributes {threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %ring = tgpu.alloc_shared "a" : !ring
  %ch = tgpu.channel "a" {producers = 1 : i32, consumers = 4 : i32} : !two
  scf.for %i = %c0 to %c1 step %c1 : i32 {
    tgpu.one_thread {
      tgpu.acquire %ch[%i] : !two
      tgpu.expect %ch[%i] bytes 8192 : !two
      %f = tgpu.slot %ring[%i] : !ring -> !b
      tgpu.tma_load %g to %f on %ch[%i] {map = 0 : i32} : !g, !b, !two
    }
  }
  scf.for %p = %c0 to %n step %c1 : i32 {
    %next = arith.addi %p, %c1 : i32
    tgpu.wait %ch[%p] : !two
    tgpu.one_thread {
      tgpu.acquire %ch[%next] : !two
      tgpu.expect %ch[%next] bytes 8192 : !two
      %f = tgpu.slot %ring[%next] : !ring -> !b
      tgpu.tma_load %g to %f on %ch[%next] {map = 0 : i32} : !g, !b, !two
    }
    tgpu.release %ch[%p] : !two
  }
  tgpu.return
}

// -----

!b = !tgpu.smem<64xf32, #tgpu.shared<"64 b32 contig 0 panel 64">>
!one = !tgpu.channel<1>
// Right: a question, then its answer.
tgpu.kernel @question(%x: f32, %n: i32) attributes {threads = 128 : i32, block_threads = 256 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %there = tgpu.alloc_shared "there" : !b
  %back = tgpu.alloc_shared "back" : !b
  %ct = tgpu.channel "there" {producers = 1 : i32, consumers = 4 : i32} : !one
  %cb = tgpu.channel "back" {producers = 1 : i32, consumers = 4 : i32} : !one
  tgpu.roles role "asks" warps 0, 4 {
    scf.for %i = %c0 to %n step %c1 : i32 {
      tgpu.one_thread attributes {warp = 0 : i32} {
        tgpu.acquire %ct[%i] : !one
        tgpu.store_element %x, %there[%c0 : i32] : f32, !b
        tgpu.publish %ct[%i] : !one
      }
      tgpu.wait %cb[%i] : !one
      %back_x = tgpu.load_element %back[%c0 : i32] : !b -> f32
      tgpu.release %cb[%i] : !one
    }
  } role "answers" warps 4, 4 {
    scf.for %i = %c0 to %n step %c1 : i32 {
      tgpu.wait %ct[%i] : !one
      %there_x = tgpu.load_element %there[%c0 : i32] : !b -> f32
      tgpu.release %ct[%i] : !one
      tgpu.one_thread attributes {warp = 4 : i32} {
        tgpu.acquire %cb[%i] : !one
        tgpu.store_element %x, %back[%c0 : i32] : f32, !b
        tgpu.publish %cb[%i] : !one
      }
    }
  }
  tgpu.return
}

// -----

!b = !tgpu.smem<64xf32, #tgpu.shared<"64 b32 contig 0 panel 64">>
!one = !tgpu.channel<1>
// Each waits for what the other one writes behind its wait.
tgpu.kernel @two_questions(%x: f32, %n: i32) attributes {threads = 128 : i32, block_threads = 256 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %there = tgpu.alloc_shared "there" : !b
  %back = tgpu.alloc_shared "back" : !b
  %ct = tgpu.channel "there" {producers = 1 : i32, consumers = 4 : i32} : !one
  %cb = tgpu.channel "back" {producers = 1 : i32, consumers = 4 : i32} : !one
  tgpu.roles role "asks" warps 0, 4 {
    scf.for %i = %c0 to %n step %c1 : i32 {
      // expected-note @+1 {{which comes behind this, in the same iteration}}
      tgpu.wait %cb[%i] : !one
      %back_x = tgpu.load_element %back[%c0 : i32] : !b -> f32
      // expected-note @+1 {{which comes behind this, in the same iteration}}
      tgpu.release %cb[%i] : !one
      tgpu.one_thread attributes {warp = 0 : i32} {
        // expected-note @+1 {{which comes behind this, in the same iteration}}
        tgpu.acquire %ct[%i] : !one
        tgpu.store_element %x, %there[%c0 : i32] : f32, !b
        // expected-note @+1 {{which waits for this, in the same iteration}}
        tgpu.publish %ct[%i] : !one
      }
    }
  } role "answers" warps 4, 4 {
    scf.for %i = %c0 to %n step %c1 : i32 {
      // expected-note @+2 {{which comes behind this, in the same iteration}}
      // expected-error @+1 {{waits for ever: it comes behind itself}}
      tgpu.wait %ct[%i] : !one
      %there_x = tgpu.load_element %there[%c0 : i32] : !b -> f32
      // expected-note @+1 {{which comes behind this, in the same iteration}}
      tgpu.release %ct[%i] : !one
      tgpu.one_thread attributes {warp = 4 : i32} {
        // expected-note @+1 {{which comes behind this, in the same iteration}}
        tgpu.acquire %cb[%i] : !one
        tgpu.store_element %x, %back[%c0 : i32] : f32, !b
        // expected-note @+1 {{which waits for this, in the same iteration}}
        tgpu.publish %cb[%i] : !one
      }
    }
  }
  tgpu.return
}
