// Messages that taking a line out of a good kernel does not provoke.
// RUN: tile-opt %s -split-input-file -verify-diagnostics --pass-pipeline='builtin.module(tgpu.kernel(tgpu-verify-sync))'

!b = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!t = tensor<64x64xf16>
tgpu.kernel @overlaid(%v: !t) attributes {threads = 128 : i32} {
  %a = tgpu.alloc_shared "a" {offset = 0 : i64} : !b
  %b = tgpu.alloc_shared "b" {offset = 4096 : i64} : !b
  // expected-note @+1 {{read here}}
  %0 = tgpu.local_load %a : !b -> !t
  // expected-error @+1 {{writes `b` (same bytes as `a`) without a barrier after another thread's access}}
  tgpu.local_store %v, %b : !t, !b
  tgpu.return
}

// -----

!ring = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!b = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!g = !tile.global<64x64xf16>
!ch = !tgpu.channel<2>
tgpu.kernel @positions(%g: !g, %p: i32) attributes {threads = 128 : i32} {
  %c1 = arith.constant 1 : i32
  %ring = tgpu.alloc_shared "ring" : !ring
  // expected-note @+1 {{the channel}}
  %ch = tgpu.channel "ring" {producers = 1 : i32, consumers = 4 : i32} : !ch
  %q = arith.addi %p, %c1 : i32
  tgpu.one_thread {
    tgpu.acquire %ch[%p] : !ch
    tgpu.expect %ch[%p] bytes 8192 : !ch
    %s = tgpu.slot %ring[%q] : !ring -> !b
    // expected-error @+1 {{fills another slot than the one whose barrier counts it}}
    tgpu.tma_load %g to %s on %ch[%p] {map = 0 : i32} : !g, !b, !ch
  }
  tgpu.wait %ch[%p] : !ch
  %other = tgpu.slot %ring[%q] : !ring -> !b
  // expected-error @+1 {{uses a slot of `ring` without tgpu.wait on its channel at the same position}}
  %0 = tgpu.local_load %other : !b -> tensor<64x64xf16>
  tgpu.release %ch[%p] : !ch
  tgpu.return
}

// -----

!b = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!g = !tile.global<64x64xf16>
!ch = !tgpu.channel<1>
tgpu.kernel @threads(%g: !g, %p: i32) attributes {threads = 128 : i32} {
  %a = tgpu.alloc_shared "a" : !b
  // expected-error @+1 {{counts 3 consumers, but 4 warps release its slots}}
  %ch = tgpu.channel "a" {producers = 1 : i32, consumers = 3 : i32} : !ch
  tgpu.acquire %ch[%p] : !ch
  tgpu.expect %ch[%p] bytes 8192 : !ch
  // expected-error @+1 {{is issued by all threads: it belongs into tgpu.one_thread}}
  tgpu.tma_load %g to %a on %ch[%p] {map = 0 : i32} : !g, !b, !ch
  tgpu.wait %ch[%p] : !ch
  tgpu.release %ch[%p] : !ch
  tgpu.one_thread {
    // expected-error @+1 {{is in code of one thread, which would wait for the others for ever}}
    tgpu.barrier
  }
  tgpu.return
}

// -----

#acc = #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">
!b = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!f = tensor<64x64xf32, #acc>
!pending = !tgpu.pending<!f>
tgpu.kernel @groups(%zero: !f) attributes {threads = 128 : i32} {
  %a = tgpu.alloc_shared "a" : !b
  tgpu.wgmma_fence
  %0 = tgpu.wgmma %a, %a, %zero {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !b, !b, !f -> !pending
  tgpu.wgmma_commit
  // expected-note @+1 {{started here, not waited for}}
  %1 = tgpu.wgmma %a, %a, %zero {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !b, !b, !f -> !pending
  // The second group is open.
  // expected-error @+1 {{gives an accumulator whose group tgpu.wgmma_commit has not closed}}
  %2, %3 = tgpu.wgmma_wait 0, %0, %1 : !pending, !pending -> !f, !f
  tgpu.barrier
  // expected-error @+1 {{uses `a` while an asynchronous access of it is in flight}}
  tgpu.local_store %2, %a : !f, !b
  tgpu.wgmma_commit
  tgpu.wgmma_wait 0
  tgpu.return
}

// -----

!b = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ch = !tgpu.channel<1>
tgpu.kernel @published(%p: i32) attributes {threads = 256 : i32} {
  %z = arith.constant 0.0 : f16
  %a = tgpu.alloc_shared "a" : !b
  %ch = tgpu.channel "a" {producers = 1 : i32, consumers = 4 : i32} : !ch
  tgpu.roles role "writer" warps 0, 4 {
    %v = tile.splat %z : f16 -> tensor<64x64xf16>
    tgpu.acquire %ch[%p] : !ch
    // expected-note @+1 {{written here}}
    tgpu.local_store %v, %a : tensor<64x64xf16>, !b
    tgpu.one_thread {
      // expected-error @+1 {{hands over `a` for threads that no barrier has gathered}}
      tgpu.publish %ch[%p] : !ch
    }
  } role "reader" warps 4, 4 {
    tgpu.wait %ch[%p] : !ch
    %0 = tgpu.local_load %a : !b -> tensor<64x64xf16>
    tgpu.release %ch[%p] : !ch
  }
  tgpu.return
}

// -----

!b = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!g = !tile.global<64x64xf16>
!ch = !tgpu.channel<1>
tgpu.kernel @refilled(%g: !g, %n: i32) attributes {threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %a = tgpu.alloc_shared "a" : !b
  %ch = tgpu.channel "a" {producers = 1 : i32, consumers = 4 : i32} : !ch
  scf.for %p = %c0 to %n step %c1 : i32 {
    tgpu.one_thread {
      tgpu.acquire %ch[%p] : !ch
      tgpu.expect %ch[%p] bytes 8192 : !ch
      tgpu.tma_load %g to %a on %ch[%p] {map = 0 : i32} : !g, !b, !ch
    }
    tgpu.wait %ch[%p] : !ch
    // expected-note @+1 {{read here}}
    %0 = tgpu.local_load %a : !b -> tensor<64x64xf16>
    // expected-error @+1 {{lets TMA overwrite a slot of `a` without tgpu.fence_async after threads read it}}
    tgpu.release %ch[%p] : !ch
  }
  tgpu.return
}

// -----

// Nobody reads what is loaded: the slot's next load would arrive in the phase of this one.
!ring = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!b = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!g = !tile.global<64x64xf16>
!ch = !tgpu.channel<2>
tgpu.kernel @not_waited_for(%g: !g) attributes {threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %ring = tgpu.alloc_shared "ring" : !ring
  // expected-note @+1 {{the channel}}
  %ch = tgpu.channel "ring" {producers = 1 : i32, consumers = 4 : i32} : !ch
  scf.for %i = %c0 to %c2 step %c1 : i32 {
    tgpu.one_thread {
      tgpu.acquire %ch[%i] : !ch
      tgpu.expect %ch[%i] bytes 8192 : !ch
      %s = tgpu.slot %ring[%i] : !ring -> !b
      tgpu.tma_load %g to %s on %ch[%i] {map = 0 : i32} : !g, !b, !ch
    }
    %next = arith.addi %i, %c1 : i32
    tgpu.wait %ch[%next] : !ch
    // expected-error @+1 {{gives back a slot of `ring` that its threads have not waited for}}
    tgpu.release %ch[%i] : !ch
    tgpu.release %ch[%next] : !ch
    %later = arith.cmpi sgt, %i, %c0 : i32
    scf.if %later {
      %last = arith.subi %i, %c1 : i32
      // expected-error @+1 {{gives back a slot of `ring` that its threads have not waited for}}
      tgpu.release %ch[%last] : !ch
    }
  }
  tgpu.return
}

// -----

!b = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!g = !tile.global<64x64xf16>
!ch = !tgpu.channel<1>
tgpu.kernel @nobody_waits(%g: !g, %p: i32) attributes {threads = 128 : i32} {
  %a = tgpu.alloc_shared "a" : !b
  // expected-note @+2 {{the channel}}
  // expected-error @+1 {{counts 4 consumers, but 0 warps release its slots}}
  %ch = tgpu.channel "a" {producers = 1 : i32, consumers = 4 : i32} : !ch
  tgpu.one_thread {
    tgpu.acquire %ch[%p] : !ch
    tgpu.expect %ch[%p] bytes 8192 : !ch
    // expected-error @+1 {{fills a slot that nobody waits for: the block may end before it is complete}}
    tgpu.tma_load %g to %a on %ch[%p] {map = 0 : i32} : !g, !b, !ch
  }
  tgpu.return
}

// -----

!sums = tensor<8xf32, #tgpu.fragment<"8 reg - lane 0:0:0:0:0 warp 1:2:4">>
!all = tensor<8xf32, #tgpu.fragment<"8 reg 1:2:4 lane 0:0:0:0:0 warp 0:0:0">>
tgpu.kernel @scratch_twice(%a: !sums) attributes {threads = 256 : i32, target = "sm_90a"} {
  // expected-note @+1 {{read here}}
  %0 = tgpu.convert_layout %a {scratch = 0 : i64} : !sums -> !all
  // expected-error @+1 {{writes scratch space without a barrier after another thread's access}}
  %1 = tgpu.convert_layout %a {scratch = 0 : i64} : !sums -> !all
  tgpu.return
}

// -----

// The loop's only iteration may be the first one, which does not come by the barrier.
!b = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!t = tensor<64x64xf16>
tgpu.kernel @behind_first_iteration(%v: !t, %n: i32) attributes {threads = 128 : i32} {
  %first = arith.constant 0 : i32
  %step = arith.constant 1 : i32
  %a = tgpu.alloc_shared "a" : !b
  scf.for %k = %first to %n step %step : i32 {
    // expected-note @+1 {{read here}}
    %0 = tgpu.local_load %a : !b -> !t
    %isLater = arith.cmpi sgt, %k, %first : i32
    scf.if %isLater {
      tgpu.barrier
    }
  }
  // expected-error @+1 {{writes `a` without a barrier after another thread's access}}
  tgpu.local_store %v, %a : !t, !b
  tgpu.return
}
