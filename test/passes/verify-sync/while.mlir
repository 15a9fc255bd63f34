// Loops of two regions: what is known at the condition holds in the body and behind the loop, what is known at the end of the body holds at
// the condition.
// RUN: tile-opt %s -split-input-file -verify-diagnostics --pass-pipeline='builtin.module(tgpu.kernel(tgpu-verify-sync))'

#acc = #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">
!b = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!h = tensor<64x64xf16, #acc>
!f = tensor<64x64xf32, #acc>
!pending = !tgpu.pending<!f>
// What follows the loop follows its condition, not its body and the barrier there.
tgpu.kernel @leaves_before_the_body(%z: !f, %v: !h, %n: i32) attributes {threads = 128 : i32} {
  %a = tgpu.alloc_shared "a" : !b
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %end = scf.while (%i = %c0) : (i32) -> i32 {
    // expected-note @+1 {{written here}}
    tgpu.local_store %v, %a : !h, !b
    %more = arith.cmpi slt, %i, %n : i32
    scf.condition(%more) %i : i32
  } do {
  ^bb0(%i: i32):
    tgpu.barrier
    %next = arith.addi %i, %c1 : i32
    scf.yield %next : i32
  }
  // expected-error @+1 {{reads `a` without a barrier after another thread's access}}
  %x = tgpu.local_load %a : !b -> tensor<64x64xf16>
  tgpu.return
}

// -----

#acc = #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">
!b = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!h = tensor<64x64xf16, #acc>
!f = tensor<64x64xf32, #acc>
!pending = !tgpu.pending<!f>
// The condition follows the body.
tgpu.kernel @over_the_edge(%z: !f, %v: !h, %n: i32) attributes {threads = 128 : i32} {
  %a = tgpu.alloc_shared "a" : !b
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %end = scf.while (%i = %c0) : (i32) -> i32 {
    // expected-error @+1 {{reads `a` without a barrier after another thread's access}}
    %x = tgpu.local_load %a : !b -> tensor<64x64xf16>
    %more = arith.cmpi slt, %i, %n : i32
    scf.condition(%more) %i : i32
  } do {
  ^bb0(%i: i32):
    tgpu.barrier
    // expected-note @+1 {{written here}}
    tgpu.local_store %v, %a : !h, !b
    %next = arith.addi %i, %c1 : i32
    scf.yield %next : i32
  }
  tgpu.return
}

// -----

#acc = #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">
!b = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!h = tensor<64x64xf16, #acc>
!f = tensor<64x64xf32, #acc>
!pending = !tgpu.pending<!f>
// An accumulator in flight through the loop.
tgpu.kernel @pending(%z: !f, %v: !h, %n: i32) attributes {threads = 128 : i32} {
  %a = tgpu.alloc_shared "a" : !b
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %begin = tgpu.wgmma_begin %z : !f -> !pending
  %end, %sum = scf.while (%i = %c0, %q = %begin) : (i32, !pending) -> (i32, !pending) {
    %more = arith.cmpi slt, %i, %n : i32
    scf.condition(%more) %i, %q : i32, !pending
  } do {
  ^bb0(%i: i32, %q: !pending):
    tgpu.wgmma_fence
    %y = tgpu.wgmma %a, %a, %q {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !b, !b, !pending -> !pending
    tgpu.wgmma_commit
    %next = arith.addi %i, %c1 : i32
    scf.yield %next, %y : i32, !pending
  }
  // expected-error @+1 {{gives an accumulator that is still being written: only 0 groups were closed after its own, and 1 may be incomplete}}
  %x = tgpu.wgmma_wait 1, %sum : !pending -> !f
  tgpu.wgmma_wait 0
  tgpu.return
}

// -----

#acc = #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">
!b = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!h = tensor<64x64xf16, #acc>
!f = tensor<64x64xf32, #acc>
!pending = !tgpu.pending<!f>
// The registers of the next iteration are written behind the fence.
tgpu.kernel @unfenced(%z: !f, %v: !h, %n: i32) attributes {threads = 128 : i32} {
  %a = tgpu.alloc_shared "a" : !b
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  tgpu.wgmma_fence
  %end, %sum = scf.while (%i = %c0, %q = %z) : (i32, !f) -> (i32, !f) {
    %more = arith.cmpi slt, %i, %n : i32
    scf.condition(%more) %i, %q : i32, !f
  } do {
  ^bb0(%i: i32, %q: !f):
    // expected-error @+1 {{uses registers that were written after the last tgpu.wgmma_fence}}
    %y = tgpu.wgmma %a, %a, %q {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !b, !b, !f -> !pending
    tgpu.wgmma_commit
    %x = tgpu.wgmma_wait 0, %y : !pending -> !f
    %twice = arith.addf %x, %x : !f
    %next = arith.addi %i, %c1 : i32
    scf.yield %next, %twice : i32, !f
  }
  tgpu.return
}

// -----

#acc = #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">
!b = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!h = tensor<64x64xf16, #acc>
!f = tensor<64x64xf32, #acc>
!pending = !tgpu.pending<!f>
// No guess.
tgpu.kernel @unknown(%z: !f, %v: !h, %n: i32) attributes {threads = 128 : i32} {
  %a = tgpu.alloc_shared "a" : !b
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %case = arith.index_cast %n : i32 to index
  // expected-error @+1 {{has regions that run in an order unknown here, so its synchronisation is not known}}
  scf.index_switch %case
  case 0 {
    tgpu.local_store %v, %a : !h, !b
    scf.yield
  }
  default {
    tgpu.barrier
    scf.yield
  }
  tgpu.return
}
