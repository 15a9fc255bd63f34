// Without an empty barrier: who has read a slot says so, and who fills it again has heard that of everybody.
// RUN: tile-opt %s -split-input-file -verify-diagnostics --pass-pipeline='builtin.module(tgpu.kernel(tgpu-verify-sync))'

#acc = #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">
!b = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!h = tensor<64x64xf16, #acc>
!g = !tile.global<64x64xf16>
!two = !tgpu.channel<2>
// Right: a role that has read a slot fills it again, when it has heard that the other one has.
tgpu.kernel @refills(%g: !g, %n: i32) attributes {threads = 128 : i32, block_threads = 256 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %ring = tgpu.alloc_shared "a" : !ring
  %ch = tgpu.channel "a" {producers = 1 : i32, consumers = 0 : i32} : !two
  %heard = tgpu.channel "heard" {producers = 128 : i32, consumers = 0 : i32} : !two
  tgpu.roles role "owner" warps 0, 4 {
    tgpu.one_thread {
      scf.for %i = %c0 to %c2 step %c1 : i32 {
        tgpu.acquire %ch[%i] : !two
        tgpu.expect %ch[%i] bytes 8192 : !two
        %s = tgpu.slot %ring[%i] : !ring -> !b
        tgpu.tma_load %g to %s on %ch[%i] {map = 0 : i32} : !g, !b, !two
      }
    }
    scf.for %p = %c0 to %n step %c1 : i32 {
      %next = arith.addi %p, %c2 : i32
      %own = tgpu.slot %ring[%p] : !ring -> !b
      tgpu.wait %ch[%p] : !two
      %y = tgpu.local_load %own : !b -> !h
      tgpu.fence_async
      tgpu.barrier {id = 1 : i32, threads = 128 : i32}
      tgpu.one_thread {
        tgpu.wait %heard[%p] : !two
        tgpu.expect %ch[%next] bytes 8192 : !two
        %slot = tgpu.slot %ring[%next] : !ring -> !b
        tgpu.tma_load %g to %slot on %ch[%next] {map = 0 : i32, tgpu.refill} : !g, !b, !two
      }
    }
  } role "reader" warps 4, 4 {
    scf.for %p = %c0 to %n step %c1 : i32 {
      %s = tgpu.slot %ring[%p] : !ring -> !b
      tgpu.wait %ch[%p] : !two
      %x = tgpu.local_load %s : !b -> !h
      tgpu.fence_async
      tgpu.publish %heard[%p] : !two
    }
  }
  tgpu.return
}

// -----

#acc = #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">
!b = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!h = tensor<64x64xf16, #acc>
!g = !tile.global<64x64xf16>
!two = !tgpu.channel<2>
// The other role may still read.
tgpu.kernel @refill_unheard(%g: !g, %n: i32) attributes {threads = 128 : i32, block_threads = 256 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %ring = tgpu.alloc_shared "a" : !ring
  %ch = tgpu.channel "a" {producers = 1 : i32, consumers = 0 : i32} : !two
  %heard = tgpu.channel "heard" {producers = 128 : i32, consumers = 0 : i32} : !two
  // expected-note @+1 {{the roles}}
  tgpu.roles role "owner" warps 0, 4 {
    tgpu.one_thread {
      scf.for %i = %c0 to %c2 step %c1 : i32 {
        tgpu.acquire %ch[%i] : !two
        tgpu.expect %ch[%i] bytes 8192 : !two
        %s = tgpu.slot %ring[%i] : !ring -> !b
        tgpu.tma_load %g to %s on %ch[%i] {map = 0 : i32} : !g, !b, !two
      }
    }
    scf.for %p = %c0 to %n step %c1 : i32 {
      %next = arith.addi %p, %c2 : i32
      %own = tgpu.slot %ring[%p] : !ring -> !b
      tgpu.wait %ch[%p] : !two
      %y = tgpu.local_load %own : !b -> !h
      tgpu.fence_async
      tgpu.barrier {id = 1 : i32, threads = 128 : i32}
      tgpu.one_thread {
        tgpu.expect %ch[%next] bytes 8192 : !two
        %slot = tgpu.slot %ring[%next] : !ring -> !b
        // expected-error @+1 {{refills `a`, but has not heard from another role that uses it}}
        tgpu.tma_load %g to %slot on %ch[%next] {map = 0 : i32, tgpu.refill} : !g, !b, !two
      }
    }
  } role "reader" warps 4, 4 {
    scf.for %p = %c0 to %n step %c1 : i32 {
      %s = tgpu.slot %ring[%p] : !ring -> !b
      tgpu.wait %ch[%p] : !two
      %x = tgpu.local_load %s : !b -> !h
      tgpu.fence_async
      tgpu.publish %heard[%p] : !two
    }
  }
  tgpu.return
}

// -----

#acc = #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">
!b = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!h = tensor<64x64xf16, #acc>
!g = !tile.global<64x64xf16>
!two = !tgpu.channel<2>
// It has heard so of the slot before.
tgpu.kernel @refill_heard_before(%g: !g, %n: i32) attributes {threads = 128 : i32, block_threads = 256 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %ring = tgpu.alloc_shared "a" : !ring
  %ch = tgpu.channel "a" {producers = 1 : i32, consumers = 0 : i32} : !two
  %heard = tgpu.channel "heard" {producers = 128 : i32, consumers = 0 : i32} : !two
  // expected-note @+1 {{the roles}}
  tgpu.roles role "owner" warps 0, 4 {
    tgpu.one_thread {
      scf.for %i = %c0 to %c2 step %c1 : i32 {
        tgpu.acquire %ch[%i] : !two
        tgpu.expect %ch[%i] bytes 8192 : !two
        %s = tgpu.slot %ring[%i] : !ring -> !b
        tgpu.tma_load %g to %s on %ch[%i] {map = 0 : i32} : !g, !b, !two
      }
    }
    scf.for %p = %c0 to %n step %c1 : i32 {
      %next = arith.addi %p, %c2 : i32
      %own = tgpu.slot %ring[%p] : !ring -> !b
      tgpu.wait %ch[%p] : !two
      %y = tgpu.local_load %own : !b -> !h
      tgpu.fence_async
      tgpu.barrier {id = 1 : i32, threads = 128 : i32}
      tgpu.one_thread {
        %old = arith.subi %p, %c1 : i32
        tgpu.wait %heard[%old] : !two
        tgpu.expect %ch[%next] bytes 8192 : !two
        %slot = tgpu.slot %ring[%next] : !ring -> !b
        // expected-error @+1 {{refills `a`, but has not heard from another role that uses it}}
        tgpu.tma_load %g to %slot on %ch[%next] {map = 0 : i32, tgpu.refill} : !g, !b, !two
      }
    }
  } role "reader" warps 4, 4 {
    scf.for %p = %c0 to %n step %c1 : i32 {
      %s = tgpu.slot %ring[%p] : !ring -> !b
      tgpu.wait %ch[%p] : !two
      %x = tgpu.local_load %s : !b -> !h
      tgpu.fence_async
      tgpu.publish %heard[%p] : !two
    }
  }
  tgpu.return
}

// -----

#acc = #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">
!b = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!h = tensor<64x64xf16, #acc>
!g = !tile.global<64x64xf16>
!two = !tgpu.channel<2>
// TMA may overwrite what its own threads have yet to read.
tgpu.kernel @refill_unfenced(%g: !g, %n: i32) attributes {threads = 128 : i32, block_threads = 256 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %ring = tgpu.alloc_shared "a" : !ring
  %ch = tgpu.channel "a" {producers = 1 : i32, consumers = 0 : i32} : !two
  %heard = tgpu.channel "heard" {producers = 128 : i32, consumers = 0 : i32} : !two
  tgpu.roles role "owner" warps 0, 4 {
    tgpu.one_thread {
      scf.for %i = %c0 to %c2 step %c1 : i32 {
        tgpu.acquire %ch[%i] : !two
        tgpu.expect %ch[%i] bytes 8192 : !two
        %s = tgpu.slot %ring[%i] : !ring -> !b
        tgpu.tma_load %g to %s on %ch[%i] {map = 0 : i32} : !g, !b, !two
      }
    }
    scf.for %p = %c0 to %n step %c1 : i32 {
      %next = arith.addi %p, %c2 : i32
      %own = tgpu.slot %ring[%p] : !ring -> !b
      tgpu.wait %ch[%p] : !two
      // expected-note @+1 {{read here}}
      %y = tgpu.local_load %own : !b -> !h
      tgpu.barrier {id = 1 : i32, threads = 128 : i32}
      tgpu.one_thread {
        tgpu.wait %heard[%p] : !two
        tgpu.expect %ch[%next] bytes 8192 : !two
        %slot = tgpu.slot %ring[%next] : !ring -> !b
        // expected-error @+1 {{lets the async proxy use `a` without tgpu.fence_async and a barrier after threads read it}}
        tgpu.tma_load %g to %slot on %ch[%next] {map = 0 : i32, tgpu.refill} : !g, !b, !two
      }
    }
  } role "reader" warps 4, 4 {
    scf.for %p = %c0 to %n step %c1 : i32 {
      %s = tgpu.slot %ring[%p] : !ring -> !b
      tgpu.wait %ch[%p] : !two
      %x = tgpu.local_load %s : !b -> !h
      tgpu.fence_async
      tgpu.publish %heard[%p] : !two
    }
  }
  tgpu.return
}

// -----

#acc = #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">
!b = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!h = tensor<64x64xf16, #acc>
!g = !tile.global<64x64xf16>
!two = !tgpu.channel<2>
// The thread has not met the others.
tgpu.kernel @refill_before_barrier(%g: !g, %n: i32) attributes {threads = 128 : i32, block_threads = 256 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %ring = tgpu.alloc_shared "a" : !ring
  %ch = tgpu.channel "a" {producers = 1 : i32, consumers = 0 : i32} : !two
  %heard = tgpu.channel "heard" {producers = 128 : i32, consumers = 0 : i32} : !two
  tgpu.roles role "owner" warps 0, 4 {
    tgpu.one_thread {
      scf.for %i = %c0 to %c2 step %c1 : i32 {
        tgpu.acquire %ch[%i] : !two
        tgpu.expect %ch[%i] bytes 8192 : !two
        %s = tgpu.slot %ring[%i] : !ring -> !b
        tgpu.tma_load %g to %s on %ch[%i] {map = 0 : i32} : !g, !b, !two
      }
    }
    scf.for %p = %c0 to %n step %c1 : i32 {
      %next = arith.addi %p, %c2 : i32
      %own = tgpu.slot %ring[%p] : !ring -> !b
      tgpu.wait %ch[%p] : !two
      // expected-note @+1 {{read here}}
      %y = tgpu.local_load %own : !b -> !h
      tgpu.fence_async
      tgpu.one_thread {
        tgpu.wait %heard[%p] : !two
        tgpu.expect %ch[%next] bytes 8192 : !two
        %slot = tgpu.slot %ring[%next] : !ring -> !b
        // expected-error @+1 {{writes `a` without a barrier after another thread's access}}
        tgpu.tma_load %g to %slot on %ch[%next] {map = 0 : i32, tgpu.refill} : !g, !b, !two
      }
    }
  } role "reader" warps 4, 4 {
    scf.for %p = %c0 to %n step %c1 : i32 {
      %s = tgpu.slot %ring[%p] : !ring -> !b
      tgpu.wait %ch[%p] : !two
      %x = tgpu.local_load %s : !b -> !h
      tgpu.fence_async
      tgpu.publish %heard[%p] : !two
    }
  }
  tgpu.return
}

// -----

#acc = #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">
!b = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!h = tensor<64x64xf16, #acc>
!g = !tile.global<64x64xf16>
!two = !tgpu.channel<2>
// The slot is being filled.
tgpu.kernel @used_after_refill(%g: !g, %n: i32) attributes {threads = 128 : i32, block_threads = 256 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %ring = tgpu.alloc_shared "a" : !ring
  // expected-note @+1 {{the channel}}
  %ch = tgpu.channel "a" {producers = 1 : i32, consumers = 0 : i32} : !two
  %heard = tgpu.channel "heard" {producers = 128 : i32, consumers = 0 : i32} : !two
  tgpu.roles role "owner" warps 0, 4 {
    tgpu.one_thread {
      scf.for %i = %c0 to %c2 step %c1 : i32 {
        tgpu.acquire %ch[%i] : !two
        tgpu.expect %ch[%i] bytes 8192 : !two
        %s = tgpu.slot %ring[%i] : !ring -> !b
        tgpu.tma_load %g to %s on %ch[%i] {map = 0 : i32} : !g, !b, !two
      }
    }
    scf.for %p = %c0 to %n step %c1 : i32 {
      %next = arith.addi %p, %c2 : i32
      %own = tgpu.slot %ring[%p] : !ring -> !b
      tgpu.wait %ch[%p] : !two
      %y = tgpu.local_load %own : !b -> !h
      tgpu.fence_async
      tgpu.barrier {id = 1 : i32, threads = 128 : i32}
      tgpu.one_thread {
        tgpu.wait %heard[%p] : !two
        tgpu.expect %ch[%next] bytes 8192 : !two
        %slot = tgpu.slot %ring[%next] : !ring -> !b
        tgpu.tma_load %g to %slot on %ch[%next] {map = 0 : i32, tgpu.refill} : !g, !b, !two
      }
      // expected-error @+1 {{uses a slot of `a` without tgpu.wait on its channel at the same position}}
      %late = tgpu.local_load %own : !b -> !h
    }
  } role "reader" warps 4, 4 {
    scf.for %p = %c0 to %n step %c1 : i32 {
      %s = tgpu.slot %ring[%p] : !ring -> !b
      tgpu.wait %ch[%p] : !two
      %x = tgpu.local_load %s : !b -> !h
      tgpu.fence_async
      tgpu.publish %heard[%p] : !two
    }
  }
  tgpu.return
}

// -----

#acc = #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">
!b = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!h = tensor<64x64xf16, #acc>
!g = !tile.global<64x64xf16>
!two = !tgpu.channel<2>
// The other role fills the slot again.
tgpu.kernel @read_unfenced(%g: !g, %n: i32) attributes {threads = 128 : i32, block_threads = 256 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %ring = tgpu.alloc_shared "a" : !ring
  %ch = tgpu.channel "a" {producers = 1 : i32, consumers = 0 : i32} : !two
  %heard = tgpu.channel "heard" {producers = 128 : i32, consumers = 0 : i32} : !two
  tgpu.roles role "owner" warps 0, 4 {
    tgpu.one_thread {
      scf.for %i = %c0 to %c2 step %c1 : i32 {
        tgpu.acquire %ch[%i] : !two
        tgpu.expect %ch[%i] bytes 8192 : !two
        %s = tgpu.slot %ring[%i] : !ring -> !b
        tgpu.tma_load %g to %s on %ch[%i] {map = 0 : i32} : !g, !b, !two
      }
    }
    scf.for %p = %c0 to %n step %c1 : i32 {
      %next = arith.addi %p, %c2 : i32
      %own = tgpu.slot %ring[%p] : !ring -> !b
      tgpu.wait %ch[%p] : !two
      %y = tgpu.local_load %own : !b -> !h
      tgpu.fence_async
      tgpu.barrier {id = 1 : i32, threads = 128 : i32}
      tgpu.one_thread {
        tgpu.wait %heard[%p] : !two
        tgpu.expect %ch[%next] bytes 8192 : !two
        %slot = tgpu.slot %ring[%next] : !ring -> !b
        tgpu.tma_load %g to %slot on %ch[%next] {map = 0 : i32, tgpu.refill} : !g, !b, !two
      }
    }
  } role "reader" warps 4, 4 {
    scf.for %p = %c0 to %n step %c1 : i32 {
      %s = tgpu.slot %ring[%p] : !ring -> !b
      tgpu.wait %ch[%p] : !two
      // expected-note @+1 {{read here}}
      %x = tgpu.local_load %s : !b -> !h
      // expected-error @+1 {{lets TMA overwrite a slot of `a` without tgpu.fence_async after threads read it}}
      tgpu.publish %heard[%p] : !two
    }
  }
  tgpu.return
}

// -----

#acc = #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">
!b = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!h = tensor<64x64xf16, #acc>
!f = tensor<64x64xf32, #acc>
!pending = !tgpu.pending<!f>
!g = !tile.global<64x64xf16>
!two = !tgpu.channel<2>
// A product still reads the slot.
tgpu.kernel @read_in_flight(%g: !g, %n: i32) attributes {threads = 128 : i32, block_threads = 256 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %ring = tgpu.alloc_shared "a" : !ring
  %ch = tgpu.channel "a" {producers = 1 : i32, consumers = 0 : i32} : !two
  %heard = tgpu.channel "heard" {producers = 128 : i32, consumers = 0 : i32} : !two
  tgpu.roles role "owner" warps 0, 4 {
    tgpu.one_thread {
      scf.for %i = %c0 to %c2 step %c1 : i32 {
        tgpu.acquire %ch[%i] : !two
        tgpu.expect %ch[%i] bytes 8192 : !two
        %s = tgpu.slot %ring[%i] : !ring -> !b
        tgpu.tma_load %g to %s on %ch[%i] {map = 0 : i32} : !g, !b, !two
      }
    }
    scf.for %p = %c0 to %n step %c1 : i32 {
      %next = arith.addi %p, %c2 : i32
      %own = tgpu.slot %ring[%p] : !ring -> !b
      tgpu.wait %ch[%p] : !two
      %y = tgpu.local_load %own : !b -> !h
      tgpu.fence_async
      tgpu.barrier {id = 1 : i32, threads = 128 : i32}
      tgpu.one_thread {
        tgpu.wait %heard[%p] : !two
        tgpu.expect %ch[%next] bytes 8192 : !two
        %slot = tgpu.slot %ring[%next] : !ring -> !b
        tgpu.tma_load %g to %slot on %ch[%next] {map = 0 : i32, tgpu.refill} : !g, !b, !two
      }
    }
  } role "reader" warps 4, 4 {
    scf.for %p = %c0 to %n step %c1 : i32 {
      %s = tgpu.slot %ring[%p] : !ring -> !b
      %zf = arith.constant 0.0 : f32
      %acc = tile.splat %zf : f32 -> !f
      tgpu.wait %ch[%p] : !two
      tgpu.wgmma_fence
      // expected-note @+1 {{started here, not waited for}}
      %y = tgpu.wgmma %s, %s, %acc {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !b, !b, !f -> !pending
      tgpu.wgmma_commit
      // expected-error @+1 {{hands over a slot of `a` that is still being read}}
      tgpu.publish %heard[%p] : !two
      %d = tgpu.wgmma_wait 0, %y : !pending -> !f
    }
  }
  tgpu.return
}

// -----

#acc = #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">
!b = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!h = tensor<64x64xf16, #acc>
!g = !tile.global<64x64xf16>
!two = !tgpu.channel<2>
// It is the other role's then.
tgpu.kernel @read_after_publish(%g: !g, %n: i32) attributes {threads = 128 : i32, block_threads = 256 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %ring = tgpu.alloc_shared "a" : !ring
  // expected-note @+1 {{the channel}}
  %ch = tgpu.channel "a" {producers = 1 : i32, consumers = 0 : i32} : !two
  %heard = tgpu.channel "heard" {producers = 128 : i32, consumers = 0 : i32} : !two
  tgpu.roles role "owner" warps 0, 4 {
    tgpu.one_thread {
      scf.for %i = %c0 to %c2 step %c1 : i32 {
        tgpu.acquire %ch[%i] : !two
        tgpu.expect %ch[%i] bytes 8192 : !two
        %s = tgpu.slot %ring[%i] : !ring -> !b
        tgpu.tma_load %g to %s on %ch[%i] {map = 0 : i32} : !g, !b, !two
      }
    }
    scf.for %p = %c0 to %n step %c1 : i32 {
      %next = arith.addi %p, %c2 : i32
      %own = tgpu.slot %ring[%p] : !ring -> !b
      tgpu.wait %ch[%p] : !two
      %y = tgpu.local_load %own : !b -> !h
      tgpu.fence_async
      tgpu.barrier {id = 1 : i32, threads = 128 : i32}
      tgpu.one_thread {
        tgpu.wait %heard[%p] : !two
        tgpu.expect %ch[%next] bytes 8192 : !two
        %slot = tgpu.slot %ring[%next] : !ring -> !b
        tgpu.tma_load %g to %slot on %ch[%next] {map = 0 : i32, tgpu.refill} : !g, !b, !two
      }
    }
  } role "reader" warps 4, 4 {
    scf.for %p = %c0 to %n step %c1 : i32 {
      %s = tgpu.slot %ring[%p] : !ring -> !b
      tgpu.wait %ch[%p] : !two
      %x = tgpu.local_load %s : !b -> !h
      tgpu.fence_async
      tgpu.publish %heard[%p] : !two
      // expected-error @+1 {{uses a slot of `a` without tgpu.wait on its channel at the same position}}
      %late = tgpu.local_load %s : !b -> !h
    }
  }
  tgpu.return
}

// -----

#acc = #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">
!b = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!h = tensor<64x64xf16, #acc>
!g = !tile.global<64x64xf16>
!two = !tgpu.channel<2>
// Not the slot that it has read.
tgpu.kernel @hands_over_another(%g: !g, %n: i32) attributes {threads = 128 : i32, block_threads = 256 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %ring = tgpu.alloc_shared "a" : !ring
  %ch = tgpu.channel "a" {producers = 1 : i32, consumers = 0 : i32} : !two
  // expected-note @+1 {{the channel}}
  %heard = tgpu.channel "heard" {producers = 128 : i32, consumers = 0 : i32} : !two
  tgpu.roles role "owner" warps 0, 4 {
    tgpu.one_thread {
      scf.for %i = %c0 to %c2 step %c1 : i32 {
        tgpu.acquire %ch[%i] : !two
        tgpu.expect %ch[%i] bytes 8192 : !two
        %s = tgpu.slot %ring[%i] : !ring -> !b
        tgpu.tma_load %g to %s on %ch[%i] {map = 0 : i32} : !g, !b, !two
      }
    }
    scf.for %p = %c0 to %n step %c1 : i32 {
      %next = arith.addi %p, %c2 : i32
      %own = tgpu.slot %ring[%p] : !ring -> !b
      tgpu.wait %ch[%p] : !two
      %y = tgpu.local_load %own : !b -> !h
      tgpu.fence_async
      tgpu.barrier {id = 1 : i32, threads = 128 : i32}
      tgpu.one_thread {
        tgpu.wait %heard[%p] : !two
        tgpu.expect %ch[%next] bytes 8192 : !two
        %slot = tgpu.slot %ring[%next] : !ring -> !b
        tgpu.tma_load %g to %slot on %ch[%next] {map = 0 : i32, tgpu.refill} : !g, !b, !two
      }
    }
  } role "reader" warps 4, 4 {
    scf.for %p = %c0 to %n step %c1 : i32 {
      %s = tgpu.slot %ring[%p] : !ring -> !b
      %q = arith.addi %p, %c1 : i32
      tgpu.wait %ch[%p] : !two
      %x = tgpu.local_load %s : !b -> !h
      tgpu.fence_async
      // expected-error @+1 {{hands over a slot of `heard` that its threads do not have at this position}}
      tgpu.publish %heard[%q] : !two
    }
  }
  tgpu.return
}

// -----

#acc = #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">
!b = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!h = tensor<64x64xf16, #acc>
!g = !tile.global<64x64xf16>
!two = !tgpu.channel<2>
// Without consumers an acquire waits for nobody.
tgpu.kernel @second_round(%g: !g, %n: i32) attributes {threads = 128 : i32, block_threads = 256 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c3 = arith.constant 3 : i32
  %ring = tgpu.alloc_shared "a" : !ring
  %ch = tgpu.channel "a" {producers = 1 : i32, consumers = 0 : i32} : !two
  %heard = tgpu.channel "heard" {producers = 128 : i32, consumers = 0 : i32} : !two
  tgpu.roles role "owner" warps 0, 4 {
    tgpu.one_thread {
      scf.for %i = %c0 to %c3 step %c1 : i32 {
        tgpu.acquire %ch[%i] : !two
        tgpu.expect %ch[%i] bytes 8192 : !two
        %s = tgpu.slot %ring[%i] : !ring -> !b
        // expected-error @+1 {{may fill a slot of `a` again, which nobody gives back: it has no consumers}}
        tgpu.tma_load %g to %s on %ch[%i] {map = 0 : i32} : !g, !b, !two
      }
    }
    scf.for %p = %c0 to %n step %c1 : i32 {
      %next = arith.addi %p, %c2 : i32
      %own = tgpu.slot %ring[%p] : !ring -> !b
      tgpu.wait %ch[%p] : !two
      %y = tgpu.local_load %own : !b -> !h
      tgpu.fence_async
      tgpu.barrier {id = 1 : i32, threads = 128 : i32}
      tgpu.one_thread {
        tgpu.wait %heard[%p] : !two
        tgpu.expect %ch[%next] bytes 8192 : !two
        %slot = tgpu.slot %ring[%next] : !ring -> !b
        tgpu.tma_load %g to %slot on %ch[%next] {map = 0 : i32, tgpu.refill} : !g, !b, !two
      }
    }
  } role "reader" warps 4, 4 {
    scf.for %p = %c0 to %n step %c1 : i32 {
      %s = tgpu.slot %ring[%p] : !ring -> !b
      tgpu.wait %ch[%p] : !two
      %x = tgpu.local_load %s : !b -> !h
      tgpu.fence_async
      tgpu.publish %heard[%p] : !two
    }
  }
  tgpu.return
}
