// While a role has a slot its accesses are ordered as elsewhere; what it hands over it has, and has done with.
// RUN: tile-opt %s -split-input-file -verify-diagnostics --pass-pipeline='builtin.module(tgpu.kernel(tgpu-verify-sync))'

#acc = #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">
!b = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!h = tensor<64x64xf16, #acc>
!other = tensor<64x64xf16>
!f = tensor<64x64xf32, #acc>
!pending = !tgpu.pending<!f>
!g = !tile.global<64x64xf16>
!one = !tgpu.channel<1>
// Right: the role writes twice, multiplies, and writes again, all before it hands over.
tgpu.kernel @twice(%g: !g, %n: i32) attributes {threads = 128 : i32, block_threads = 256 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %a = tgpu.alloc_shared "a" : !b
  %ch = tgpu.channel "a" {producers = 128 : i32, consumers = 4 : i32} : !one
  tgpu.roles role "writer" warps 0, 4 {
    %z = arith.constant 0.0 : f16
    %zf = arith.constant 0.0 : f32
    %v = tile.splat %z : f16 -> !h
    %w = tile.splat %z : f16 -> !other
    %acc = tile.splat %zf : f32 -> !f
    scf.for %p = %c0 to %n step %c1 : i32 {
      tgpu.acquire %ch[%p] : !one
      tgpu.local_store %v, %a : !h, !b
      tgpu.barrier {id = 1 : i32, threads = 128 : i32}
      tgpu.local_store %w, %a : !other, !b
      tgpu.fence_async
      tgpu.barrier {id = 1 : i32, threads = 128 : i32}
      tgpu.wgmma_fence
      %y = tgpu.wgmma %a, %a, %acc {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !b, !b, !f -> !pending
      tgpu.wgmma_commit
      %d = tgpu.wgmma_wait 0, %y : !pending -> !f
      tgpu.barrier {id = 1 : i32, threads = 128 : i32}
      tgpu.local_store %v, %a : !h, !b
      tgpu.fence_async
      tgpu.publish %ch[%p] : !one
    }
  } role "reader" warps 4, 4 {
    scf.for %p = %c0 to %n step %c1 : i32 {
      tgpu.wait %ch[%p] : !one
      %x = tgpu.local_load %a : !b -> !other
      tgpu.release %ch[%p] : !one
    }
  }
  tgpu.return
}

// -----

#acc = #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">
!b = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!h = tensor<64x64xf16, #acc>
!other = tensor<64x64xf16>
!g = !tile.global<64x64xf16>
!one = !tgpu.channel<1>
// Two writes of one slot: threads hold other elements.
tgpu.kernel @two_writes(%g: !g, %n: i32) attributes {threads = 128 : i32, block_threads = 256 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %a = tgpu.alloc_shared "a" : !b
  %ch = tgpu.channel "a" {producers = 128 : i32, consumers = 4 : i32} : !one
  tgpu.roles role "writer" warps 0, 4 {
    %z = arith.constant 0.0 : f16
    %v = tile.splat %z : f16 -> !h
    %w = tile.splat %z : f16 -> !other
    scf.for %p = %c0 to %n step %c1 : i32 {
      tgpu.acquire %ch[%p] : !one
      // expected-note @+1 {{written here}}
      tgpu.local_store %v, %a : !h, !b
      // expected-error @+1 {{writes `a` without a barrier after another thread's access}}
      tgpu.local_store %w, %a : !other, !b
      tgpu.publish %ch[%p] : !one
    }
  } role "reader" warps 4, 4 {
    scf.for %p = %c0 to %n step %c1 : i32 {
      tgpu.wait %ch[%p] : !one
      %x = tgpu.local_load %a : !b -> !other
      tgpu.release %ch[%p] : !one
    }
  }
  tgpu.return
}

// -----

#acc = #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">
!b = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!h = tensor<64x64xf16, #acc>
!other = tensor<64x64xf16>
!f = tensor<64x64xf32, #acc>
!pending = !tgpu.pending<!f>
!g = !tile.global<64x64xf16>
!one = !tgpu.channel<1>
// A product of what the role has written itself.
tgpu.kernel @product_unfenced(%g: !g, %n: i32) attributes {threads = 128 : i32, block_threads = 256 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %a = tgpu.alloc_shared "a" : !b
  %ch = tgpu.channel "a" {producers = 128 : i32, consumers = 4 : i32} : !one
  tgpu.roles role "writer" warps 0, 4 {
    %z = arith.constant 0.0 : f16
    %zf = arith.constant 0.0 : f32
    %v = tile.splat %z : f16 -> !h
    %acc = tile.splat %zf : f32 -> !f
    scf.for %p = %c0 to %n step %c1 : i32 {
      tgpu.acquire %ch[%p] : !one
      // expected-note @+1 {{written here}}
      tgpu.local_store %v, %a : !h, !b
      tgpu.barrier {id = 1 : i32, threads = 128 : i32}
      tgpu.wgmma_fence
      // expected-error @+1 {{lets the async proxy use `a` without tgpu.fence_async and a barrier after threads wrote it}}
      %y = tgpu.wgmma %a, %a, %acc {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !b, !b, !f -> !pending
      tgpu.wgmma_commit
      %d = tgpu.wgmma_wait 0, %y : !pending -> !f
      tgpu.fence_async
      tgpu.publish %ch[%p] : !one
    }
  } role "reader" warps 4, 4 {
    scf.for %p = %c0 to %n step %c1 : i32 {
      tgpu.wait %ch[%p] : !one
      %x = tgpu.local_load %a : !b -> !other
      tgpu.release %ch[%p] : !one
    }
  }
  tgpu.return
}

// -----

#acc = #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">
!b = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!h = tensor<64x64xf16, #acc>
!other = tensor<64x64xf16>
!f = tensor<64x64xf32, #acc>
!pending = !tgpu.pending<!f>
!g = !tile.global<64x64xf16>
!one = !tgpu.channel<1>
// The other warps may not have written.
tgpu.kernel @product_before_barrier(%g: !g, %n: i32) attributes {threads = 128 : i32, block_threads = 256 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %a = tgpu.alloc_shared "a" : !b
  %ch = tgpu.channel "a" {producers = 128 : i32, consumers = 4 : i32} : !one
  tgpu.roles role "writer" warps 0, 4 {
    %z = arith.constant 0.0 : f16
    %zf = arith.constant 0.0 : f32
    %v = tile.splat %z : f16 -> !h
    %acc = tile.splat %zf : f32 -> !f
    scf.for %p = %c0 to %n step %c1 : i32 {
      tgpu.acquire %ch[%p] : !one
      // expected-note @+1 {{written here}}
      tgpu.local_store %v, %a : !h, !b
      tgpu.fence_async
      tgpu.wgmma_fence
      // expected-error @+1 {{reads `a` without a barrier after another thread's access}}
      %y = tgpu.wgmma %a, %a, %acc {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !b, !b, !f -> !pending
      tgpu.wgmma_commit
      %d = tgpu.wgmma_wait 0, %y : !pending -> !f
      tgpu.publish %ch[%p] : !one
    }
  } role "reader" warps 4, 4 {
    scf.for %p = %c0 to %n step %c1 : i32 {
      tgpu.wait %ch[%p] : !one
      %x = tgpu.local_load %a : !b -> !other
      tgpu.release %ch[%p] : !one
    }
  }
  tgpu.return
}

// -----

#acc = #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">
!b = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!h = tensor<64x64xf16, #acc>
!other = tensor<64x64xf16>
!f = tensor<64x64xf32, #acc>
!pending = !tgpu.pending<!f>
!g = !tile.global<64x64xf16>
!one = !tgpu.channel<1>
// Other warps may still multiply what this one overwrites.
tgpu.kernel @over_a_product(%g: !g, %n: i32) attributes {threads = 128 : i32, block_threads = 256 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %a = tgpu.alloc_shared "a" : !b
  %ch = tgpu.channel "a" {producers = 128 : i32, consumers = 4 : i32} : !one
  tgpu.roles role "writer" warps 0, 4 {
    %z = arith.constant 0.0 : f16
    %zf = arith.constant 0.0 : f32
    %v = tile.splat %z : f16 -> !h
    %acc = tile.splat %zf : f32 -> !f
    scf.for %p = %c0 to %n step %c1 : i32 {
      tgpu.acquire %ch[%p] : !one
      tgpu.local_store %v, %a : !h, !b
      tgpu.fence_async
      tgpu.barrier {id = 1 : i32, threads = 128 : i32}
      tgpu.wgmma_fence
      // expected-note @+1 {{read here}}
      %y = tgpu.wgmma %a, %a, %acc {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !b, !b, !f -> !pending
      tgpu.wgmma_commit
      %d = tgpu.wgmma_wait 0, %y : !pending -> !f
      // expected-error @+1 {{writes `a` without a barrier after another thread's access}}
      tgpu.local_store %v, %a : !h, !b
      tgpu.fence_async
      tgpu.publish %ch[%p] : !one
    }
  } role "reader" warps 4, 4 {
    scf.for %p = %c0 to %n step %c1 : i32 {
      tgpu.wait %ch[%p] : !one
      %x = tgpu.local_load %a : !b -> !other
      tgpu.release %ch[%p] : !one
    }
  }
  tgpu.return
}

// -----

#acc = #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">
!b = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!h = tensor<64x64xf16, #acc>
!other = tensor<64x64xf16>
!f = tensor<64x64xf32, #acc>
!pending = !tgpu.pending<!f>
!g = !tile.global<64x64xf16>
!one = !tgpu.channel<1>
// They do.
tgpu.kernel @over_a_product_in_flight(%g: !g, %n: i32) attributes {threads = 128 : i32, block_threads = 256 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %a = tgpu.alloc_shared "a" : !b
  %ch = tgpu.channel "a" {producers = 128 : i32, consumers = 4 : i32} : !one
  tgpu.roles role "writer" warps 0, 4 {
    %z = arith.constant 0.0 : f16
    %zf = arith.constant 0.0 : f32
    %v = tile.splat %z : f16 -> !h
    %acc = tile.splat %zf : f32 -> !f
    scf.for %p = %c0 to %n step %c1 : i32 {
      tgpu.acquire %ch[%p] : !one
      tgpu.local_store %v, %a : !h, !b
      tgpu.fence_async
      tgpu.barrier {id = 1 : i32, threads = 128 : i32}
      tgpu.wgmma_fence
      // expected-note @+1 {{started here, not waited for}}
      %y = tgpu.wgmma %a, %a, %acc {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !b, !b, !f -> !pending
      tgpu.wgmma_commit
      tgpu.barrier {id = 1 : i32, threads = 128 : i32}
      // expected-error @+1 {{uses `a` while an asynchronous access of it is in flight}}
      tgpu.local_store %v, %a : !h, !b
      tgpu.fence_async
      %d = tgpu.wgmma_wait 0, %y : !pending -> !f
      tgpu.publish %ch[%p] : !one
    }
  } role "reader" warps 4, 4 {
    scf.for %p = %c0 to %n step %c1 : i32 {
      tgpu.wait %ch[%p] : !one
      %x = tgpu.local_load %a : !b -> !other
      tgpu.release %ch[%p] : !one
    }
  }
  tgpu.return
}

// -----

#acc = #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">
!b = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!h = tensor<64x64xf16, #acc>
!other = tensor<64x64xf16>
!g = !tile.global<64x64xf16>
!one = !tgpu.channel<1>
// It is another role's then.
tgpu.kernel @behind_the_publish(%g: !g, %n: i32) attributes {threads = 128 : i32, block_threads = 256 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %a = tgpu.alloc_shared "a" : !b
  // expected-note @+1 {{the channel}}
  %ch = tgpu.channel "a" {producers = 128 : i32, consumers = 4 : i32} : !one
  tgpu.roles role "writer" warps 0, 4 {
    %z = arith.constant 0.0 : f16
    %v = tile.splat %z : f16 -> !h
    scf.for %p = %c0 to %n step %c1 : i32 {
      tgpu.acquire %ch[%p] : !one
      tgpu.local_store %v, %a : !h, !b
      tgpu.publish %ch[%p] : !one
      // expected-error @+1 {{uses a slot of `a` without tgpu.wait on its channel at the same position}}
      tgpu.local_store %v, %a : !h, !b
      tgpu.barrier {id = 1 : i32, threads = 128 : i32}
    }
  } role "reader" warps 4, 4 {
    scf.for %p = %c0 to %n step %c1 : i32 {
      tgpu.wait %ch[%p] : !one
      %x = tgpu.local_load %a : !b -> !other
      tgpu.release %ch[%p] : !one
    }
  }
  tgpu.return
}

// -----

#acc = #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">
!b = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!h = tensor<64x64xf16, #acc>
!other = tensor<64x64xf16>
!g = !tile.global<64x64xf16>
!one = !tgpu.channel<1>
// The readers may still read what was there before.
tgpu.kernel @not_acquired(%g: !g, %n: i32) attributes {threads = 128 : i32, block_threads = 256 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %a = tgpu.alloc_shared "a" : !b
  // expected-note @+1 {{the channel}}
  %ch = tgpu.channel "a" {producers = 128 : i32, consumers = 4 : i32} : !one
  tgpu.roles role "writer" warps 0, 4 {
    %z = arith.constant 0.0 : f16
    %v = tile.splat %z : f16 -> !h
    scf.for %p = %c0 to %n step %c1 : i32 {
      // expected-error @+1 {{uses a slot of `a` without tgpu.wait on its channel at the same position}}
      tgpu.local_store %v, %a : !h, !b
      // expected-error @+1 {{hands over a slot of `a` that its threads do not have at this position}}
      tgpu.publish %ch[%p] : !one
    }
  } role "reader" warps 4, 4 {
    scf.for %p = %c0 to %n step %c1 : i32 {
      tgpu.wait %ch[%p] : !one
      %x = tgpu.local_load %a : !b -> !other
      tgpu.release %ch[%p] : !one
    }
  }
  tgpu.return
}

// -----

#acc = #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">
!b = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!h = tensor<64x64xf16, #acc>
!other = tensor<64x64xf16>
!g = !tile.global<64x64xf16>
!one = !tgpu.channel<1>
// Who waits for this one waits for ever.
tgpu.kernel @another_position(%g: !g, %n: i32) attributes {threads = 128 : i32, block_threads = 256 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %a = tgpu.alloc_shared "a" : !b
  // expected-note @+1 {{the channel}}
  %ch = tgpu.channel "a" {producers = 128 : i32, consumers = 4 : i32} : !one
  tgpu.roles role "writer" warps 0, 4 {
    %z = arith.constant 0.0 : f16
    %v = tile.splat %z : f16 -> !h
    scf.for %p = %c0 to %n step %c1 : i32 {
      // expected-error @+1 {{acquires a slot of `a` that nothing fills}}
      tgpu.acquire %ch[%p] : !one
      // expected-error @+1 {{overwrites what it has not handed over: tgpu.publish is missing after it}}
      tgpu.local_store %v, %a : !h, !b
      %q = arith.addi %p, %c1 : i32
      // expected-error @+1 {{hands over a slot of `a` that its threads do not have at this position}}
      tgpu.publish %ch[%q] : !one
    }
  } role "reader" warps 4, 4 {
    scf.for %p = %c0 to %n step %c1 : i32 {
      tgpu.wait %ch[%p] : !one
      %x = tgpu.local_load %a : !b -> !other
      tgpu.release %ch[%p] : !one
    }
  }
  tgpu.return
}

// -----

#acc = #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">
!b = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!h = tensor<64x64xf16, #acc>
!other = tensor<64x64xf16>
!g = !tile.global<64x64xf16>
!one = !tgpu.channel<1>
// One thread arrives where all are counted.
tgpu.kernel @one_arrival(%g: !g, %n: i32) attributes {threads = 128 : i32, block_threads = 256 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %a = tgpu.alloc_shared "a" : !b
  // expected-error @+1 {{counts 128 producers, but 1 threads fill its slots}}
  %ch = tgpu.channel "a" {producers = 128 : i32, consumers = 4 : i32} : !one
  tgpu.roles role "writer" warps 0, 4 {
    %z = arith.constant 0.0 : f16
    %v = tile.splat %z : f16 -> !h
    scf.for %p = %c0 to %n step %c1 : i32 {
      tgpu.acquire %ch[%p] : !one
      tgpu.local_store %v, %a : !h, !b
      tgpu.barrier {id = 1 : i32, threads = 128 : i32}
      tgpu.one_thread {
        tgpu.publish %ch[%p] : !one
      }
    }
  } role "reader" warps 4, 4 {
    scf.for %p = %c0 to %n step %c1 : i32 {
      tgpu.wait %ch[%p] : !one
      %x = tgpu.local_load %a : !b -> !other
      tgpu.release %ch[%p] : !one
    }
  }
  tgpu.return
}

// -----

#acc = #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">
!b = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!h = tensor<64x64xf16, #acc>
!other = tensor<64x64xf16>
!g = !tile.global<64x64xf16>
!one = !tgpu.channel<1>
// Right: one thread arrives for all that it has met.
tgpu.kernel @one_arrival_is_right(%g: !g, %n: i32) attributes {threads = 128 : i32, block_threads = 256 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %a = tgpu.alloc_shared "a" : !b
  %ch = tgpu.channel "a" {producers = 1 : i32, consumers = 1 : i32} : !one
  tgpu.roles role "writer" warps 0, 4 {
    %z = arith.constant 0.0 : f16
    %v = tile.splat %z : f16 -> !h
    scf.for %p = %c0 to %n step %c1 : i32 {
      tgpu.acquire %ch[%p] : !one
      tgpu.local_store %v, %a : !h, !b
      tgpu.barrier {id = 1 : i32, threads = 128 : i32}
      tgpu.one_thread {
        tgpu.publish %ch[%p] : !one
      }
    }
  } role "reader" warps 4, 4 {
    scf.for %p = %c0 to %n step %c1 : i32 {
      tgpu.wait %ch[%p] : !one
      %x = tgpu.local_load %a : !b -> !other
      tgpu.barrier {id = 2 : i32, threads = 128 : i32}
      tgpu.one_thread attributes {warp = 4 : i32} {
        tgpu.release %ch[%p] : !one
      }
    }
  }
  tgpu.return
}

// -----

#acc = #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">
!b = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!h = tensor<64x64xf16, #acc>
!other = tensor<64x64xf16>
!g = !tile.global<64x64xf16>
!one = !tgpu.channel<1>
// The other threads may still read.
tgpu.kernel @one_releases(%g: !g, %n: i32) attributes {threads = 128 : i32, block_threads = 256 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %a = tgpu.alloc_shared "a" : !b
  %ch = tgpu.channel "a" {producers = 128 : i32, consumers = 1 : i32} : !one
  tgpu.roles role "writer" warps 0, 4 {
    %z = arith.constant 0.0 : f16
    %v = tile.splat %z : f16 -> !h
    scf.for %p = %c0 to %n step %c1 : i32 {
      tgpu.acquire %ch[%p] : !one
      tgpu.local_store %v, %a : !h, !b
      tgpu.publish %ch[%p] : !one
    }
  } role "reader" warps 4, 4 {
    scf.for %p = %c0 to %n step %c1 : i32 {
      tgpu.wait %ch[%p] : !one
      // expected-note @+1 {{read here}}
      %x = tgpu.local_load %a : !b -> !other
      tgpu.one_thread attributes {warp = 4 : i32} {
        // expected-error @+1 {{gives back `a` for threads that no barrier has gathered}}
        tgpu.release %ch[%p] : !one
      }
    }
  }
  tgpu.return
}

// -----

#acc = #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">
!b = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!h = tensor<64x64xf16, #acc>
!other = tensor<64x64xf16>
!g = !tile.global<64x64xf16>
!one = !tgpu.channel<1>
// A slot may get one arrival or 128.
tgpu.kernel @differing(%g: !g, %n: i32) attributes {threads = 128 : i32, block_threads = 256 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %a = tgpu.alloc_shared "a" : !b
  // expected-note @+1 {{the channel}}
  %ch = tgpu.channel "a" {producers = 128 : i32, consumers = 4 : i32} : !one
  tgpu.roles role "writer" warps 0, 4 {
    %z = arith.constant 0.0 : f16
    %v = tile.splat %z : f16 -> !h
    scf.for %p = %c0 to %n step %c1 : i32 {
      tgpu.acquire %ch[%p] : !one
      tgpu.local_store %v, %a : !h, !b
      tgpu.barrier {id = 1 : i32, threads = 128 : i32}
      %odd = arith.cmpi sgt, %p, %c1 : i32
      scf.if %odd {
        tgpu.publish %ch[%p] : !one
      } else {
        tgpu.one_thread {
          // expected-error @+1 {{arrives with another number of threads than elsewhere in its role}}
          tgpu.publish %ch[%p] : !one
        }
      }
    }
  } role "reader" warps 4, 4 {
    scf.for %p = %c0 to %n step %c1 : i32 {
      tgpu.wait %ch[%p] : !one
      %x = tgpu.local_load %a : !b -> !other
      tgpu.release %ch[%p] : !one
    }
  }
  tgpu.return
}
