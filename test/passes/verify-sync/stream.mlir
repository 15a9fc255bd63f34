// A stream is its body, then its events: what an event waits for is there behind the stream, and not before the event.
// RUN: tile-opt %s -split-input-file -verify-diagnostics --pass-pipeline='builtin.module(tgpu.kernel(tgpu-verify-sync))'

#acc = #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">
!b = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!f = tensor<64x64xf32, #acc>
!h = tensor<64x64xf16, #acc>
!pending = !tgpu.pending<!f>
!ch = !tgpu.channel<1>
!g = !tile.global<64x64xf16>
tgpu.kernel @right(%A: !g, %zero: !f, %x: !h, %s: !f) attributes {threads = 128 : i32, block_threads = 160 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %a = tgpu.alloc_shared "a" : !b
  %c = tgpu.channel "a" {producers = 1 : i32, consumers = 4 : i32} : !ch
  tgpu.roles role "load" warps 4, 1 {
    tgpu.one_thread attributes {warp = 4 : i32} {
      tgpu.acquire %c[%c0] : !ch
      tgpu.expect %c[%c0] bytes 8192 : !ch
      tgpu.tma_load %A to %a on %c[%c0] {map = 0 : i32} : !g, !b, !ch
    }
  } role "compute" warps 0, 4 {
    %fz = arith.constant dense<0.0> : !f
    %y = arith.constant dense<0.0> : !h
    tgpu.stream {
    } at 0 {
      tgpu.wait %c[%c0] : !ch
    }
    tgpu.wgmma_fence
    %0 = tgpu.wgmma %y, %a, %fz {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !h, !b, !f -> !pending
    tgpu.wgmma_commit
    %e, %done = tgpu.stream {
      %e1 = math.exp2 %fz : !f
      tgpu.yield %e1 : !f
    } at 50 {
      %w = tgpu.wgmma_wait 0, %0 : !pending -> !f reads %y : !h
      tgpu.release %c[%c0] : !ch
      tgpu.yield %w : !f
    } : !f, !f
  }
  tgpu.return
}

// -----

// Groups are counted across events.
#acc = #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">
!b = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!f = tensor<64x64xf32, #acc>
!pending = !tgpu.pending<!f>
tgpu.kernel @too_early(%zero: !f) attributes {threads = 128 : i32} {
  %a = tgpu.alloc_shared "a" : !b
  tgpu.wgmma_fence
  %0 = tgpu.wgmma %a, %a, %zero {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !b, !b, !f -> !pending
  tgpu.wgmma_commit
  %1 = tgpu.wgmma %a, %a, %zero {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !b, !b, !f -> !pending
  tgpu.wgmma_commit
  %x, %y = tgpu.stream {
  } at 25 {
    %w = tgpu.wgmma_wait 1, %0 : !pending -> !f
    tgpu.yield %w : !f
  } at 50 {
    // expected-error @+1 {{gives an accumulator that is still being written: only 0 groups were closed after its own, and 1 may be incomplete}}
    %w = tgpu.wgmma_wait 1, %1 : !pending -> !f
    tgpu.yield %w : !f
  } : !f, !f
  %z = tgpu.wgmma_wait 0, %1 : !pending -> !f
  tgpu.return
}

// -----

// What a stream passes on in flight is still in flight.
#acc = #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">
!b = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!f = tensor<64x64xf32, #acc>
!pending = !tgpu.pending<!f>
tgpu.kernel @passed_on(%zero: !f) attributes {threads = 128 : i32} {
  %a = tgpu.alloc_shared "a" : !b
  tgpu.wgmma_fence
  %0 = tgpu.wgmma %a, %a, %zero {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !b, !b, !f -> !pending
  tgpu.wgmma_commit
  %x = tgpu.stream {
  } at 25 {
    %w = tgpu.wgmma_wait 1, %0 : !pending -> !pending
    tgpu.yield %w : !pending
  } : !pending
  // expected-error @+1 {{gives an accumulator that is still being written: only 0 groups were closed after its own, and 1 may be incomplete}}
  %y = tgpu.wgmma_wait 1, %x : !pending -> !f
  %z = tgpu.wgmma_wait 0, %x : !pending -> !f
  tgpu.return
}

// -----

// A stream writes registers: those of its results, and those that it needs for itself.
#acc = #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">
!b = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!f = tensor<64x64xf32, #acc>
!pending = !tgpu.pending<!f>
tgpu.kernel @unfenced(%zero: !f) attributes {threads = 128 : i32} {
  %a = tgpu.alloc_shared "a" : !b
  tgpu.wgmma_fence
  // expected-note @+1 {{written here}}
  %e = tgpu.stream {
    %e1 = math.exp2 %zero : !f
    tgpu.yield %e1 : !f
  } : !f
  // expected-error @+1 {{uses registers that were written after the last tgpu.wgmma_fence}}
  %0 = tgpu.wgmma %a, %a, %e {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !b, !b, !f -> !pending
  tgpu.wgmma_commit
  %z = tgpu.wgmma_wait 0, %0 : !pending -> !f
  tgpu.return
}

// -----

#acc = #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">
!b = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!f = tensor<64x64xf32, #acc>
!pending = !tgpu.pending<!f>
tgpu.kernel @registers(%zero: !f) attributes {threads = 128 : i32} {
  %a = tgpu.alloc_shared "a" : !b
  tgpu.wgmma_fence
  tgpu.stream {
    %e1 = math.exp2 %zero : !f
  }
  // expected-error @+1 {{starts an accumulator in registers that may have been used after the last tgpu.wgmma_fence}}
  %0 = tgpu.wgmma %a, %a, %zero {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !b, !b, !f -> !pending
  tgpu.wgmma_commit
  %z = tgpu.wgmma_wait 0, %0 : !pending -> !f
  tgpu.return
}

// -----

// The wait of an event keeps the fragments of the products that it ends, too.
#acc = #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">
!b = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!f = tensor<64x64xf32, #acc>
!h = tensor<64x64xf16, #acc>
!pending = !tgpu.pending<!f>
tgpu.kernel @operand(%zero: !f, %x: !h) attributes {threads = 128 : i32} {
  %a = tgpu.alloc_shared "a" : !b
  tgpu.wgmma_fence
  %0 = tgpu.wgmma %x, %a, %zero {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !h, !b, !f -> !pending
  tgpu.wgmma_commit
  %y = tgpu.stream {
  } at 0 {
    // expected-error @+1 {{ends a product without using the fragment that it reads until here}}
    %w = tgpu.wgmma_wait 0, %0 : !pending -> !f
    tgpu.yield %w : !f
  } : !f
  tgpu.return
}

// -----

// A slot is given back in the event before the product that reads it has been waited for.
#acc = #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">
!b = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!f = tensor<64x64xf32, #acc>
!pending = !tgpu.pending<!f>
!ch = !tgpu.channel<1>
!g = !tile.global<64x64xf16>
tgpu.kernel @released(%A: !g, %zero: !f) attributes {threads = 128 : i32, block_threads = 160 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %a = tgpu.alloc_shared "a" : !b
  %c = tgpu.channel "a" {producers = 1 : i32, consumers = 4 : i32} : !ch
  tgpu.roles role "load" warps 4, 1 {
    tgpu.one_thread attributes {warp = 4 : i32} {
      tgpu.acquire %c[%c0] : !ch
      tgpu.expect %c[%c0] bytes 8192 : !ch
      tgpu.tma_load %A to %a on %c[%c0] {map = 0 : i32} : !g, !b, !ch
    }
  } role "compute" warps 0, 4 {
    %fz = arith.constant dense<0.0> : !f
    tgpu.wait %c[%c0] : !ch
    tgpu.wgmma_fence
    // expected-note @+1 {{started here, not waited for}}
    %0 = tgpu.wgmma %a, %a, %fz {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !b, !b, !f -> !pending
    tgpu.wgmma_commit
    %y = tgpu.stream {
    } at 0 {
      // expected-error @+1 {{gives back a slot of `a` that is still being read}}
      tgpu.release %c[%c0] : !ch
    } at 0 {
      %w = tgpu.wgmma_wait 0, %0 : !pending -> !f
      tgpu.yield %w : !f
    } : !f
  }
  tgpu.return
}
