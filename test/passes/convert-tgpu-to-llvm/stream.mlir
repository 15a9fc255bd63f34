// A stream is written slot by slot, the slots of row 0 first; before an event what is there passes through an empty assembly; the event
// has a branch; slots behind a wait for a product depend on its accumulator.
// RUN: tile-opt --convert-tgpu-to-llvm --split-input-file %s | FileCheck %s

#acc = #tgpu.fragment<"64x16 reg 0,1:8,0:0,8 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">
#row = #tgpu.fragment<"64 reg 8 lane 0:0:1:2:4 warp 16:32">
!a = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!b = !tgpu.smem<16x64xf16, #tgpu.shared<"16x64 b16 contig 1 panel 64 swizzle 128">>
!acc = tensor<64x16xf32, #acc>
!row = tensor<64xf32, #row>
!pending = !tgpu.pending<!acc>
!ch = !tgpu.channel<2>
!g = !tile.global<?x?xf32>
!gr = !tile.global<?xf32>
!t = !tile.global<64x16xf32>
!tr = !tile.global<64xf32>

// 8 slots, of which 37 % are 2 (rounded down to an even number): 0 and 1, then of row 0 also 4 and 5, of row 1 2, 3, 6, 7.
// CHECK-LABEL: llvm.func @softmax
// The zero is read at entry, by an assembly of which LLVM knows nothing.
// CHECK: %[[ZERO:.*]] = llvm.inline_asm has_side_effects asm_dialect = att "mov.u32 $0, %ctaid.z;", "=r"
// CHECK: wgmma.mma_async
// CHECK: %[[FACTOR:.*]] = llvm.intr.exp2
// CHECK: %[[FACTOR1:.*]] = llvm.intr.exp2
// CHECK: llvm.fsub %{{.*}}, %[[ROW:.*]] : f32
// CHECK-NEXT: %[[E0:.*]] = llvm.intr.exp2
// CHECK-NEXT: llvm.fsub %{{.*}}, %[[ROW]] : f32
// CHECK-NEXT: %[[E1:.*]] = llvm.intr.exp2
// What is there, and the factor, which only later code uses.
// CHECK-NEXT: %[[HELD:.*]] = llvm.inline_asm has_side_effects asm_dialect = att "", "=f,=f,=f,=f,0,1,2,3" %[[E0]], %[[E1]], %[[FACTOR]], %[[FACTOR1]]
// CHECK: nvvm.mbarrier.try_wait
// CHECK: llvm.cond_br
// The wait gives zeros that it computes from the sum, one for each value that late code depends on it by.
// CHECK: %[[DONE:.*]] = llvm.inline_asm has_side_effects asm_dialect = att "wgmma.wait_group.sync.aligned 0;\0A\09and.b32 $8, $0, $8;\0A\09and.b32 $9, $1, $9;", "=f,=f,=f,=f,=f,=f,=f,=f,=r,=r,0,1,2,3,4,5,6,7,8,9,~{memory}" {{.*}}, %[[ZERO]], %[[ZERO]] :
// CHECK: %[[N0:.*]] = llvm.extractvalue %[[DONE]][8]
// CHECK: %[[N1:.*]] = llvm.extractvalue %[[DONE]][9]
// CHECK: nvvm.mbarrier.arrive
// CHECK: %[[R0:.*]] = llvm.bitcast %[[ROW]] : f32 to i32
// CHECK: %[[L0:.*]] = llvm.or %[[R0]], %[[N0]] : i32
// CHECK: %[[LATE0:.*]] = llvm.bitcast %[[L0]] : i32 to f32
// CHECK: %[[L1:.*]] = llvm.or %{{.*}}, %[[N1]] : i32
// CHECK: %[[LATE1:.*]] = llvm.bitcast %[[L1]] : i32 to f32
// CHECK-COUNT-2: llvm.fsub %{{.*}}, %[[LATE0]] : f32
// CHECK-COUNT-4: llvm.fsub %{{.*}}, %[[LATE1]] : f32
// CHECK-NOT: llvm.fsub
// CHECK: llvm.return
tgpu.kernel @softmax(%G: !g, %R: !gr, %O: !g, %n: i32) attributes {
    threads = 128 : i32, target = "sm_90a", shared_bytes = 10272 : i64} {
  %a = tgpu.alloc_shared {offset = 0 : i64} : !a
  %b = tgpu.alloc_shared {offset = 8192 : i64} : !b
  %ch = tgpu.channel {producers = 1 : i32, consumers = 4 : i32, offset = 10240 : i64} : !ch
  %c0 = arith.constant 0 : i32
  %vg = tgpu.view %G extents(%n, %n : i32, i32) strides(%n : i32) : !g -> !g
  %vr = tgpu.view %R extents(%n : i32) strides() : !gr -> !gr
  %vo = tgpu.view %O extents(%n, %n : i32, i32) strides(%n : i32) : !g -> !g
  %tg = tile.slice %vg[%c0, %c0] sizes [64, 16] : !g, i32, i32 -> !t
  %tr = tile.slice %vr[%c0] sizes [64] : !gr, i32 -> !tr
  %to = tile.slice %vo[%c0, %c0] sizes [64, 16] : !g, i32, i32 -> !t
  %s = tgpu.load %tg : !t -> !acc
  %r = tgpu.load %tr : !tr -> !row
  %zero = arith.constant dense<0.0> : !acc
  tgpu.wgmma_fence
  %p = tgpu.wgmma %a, %b, %zero {transpose_b, mma = #tgpu.mma<wgmma, 64, 16, 16, warps = 1, 1>} : !a, !b, !acc -> !pending
  tgpu.wgmma_commit
  %f = math.exp2 %r : !row
  %e, %o = tgpu.stream {
    %rb = tile.broadcast %r along [1] : !row -> !acc
    %x = arith.subf %s, %rb : !acc
    %y = math.exp2 %x : !acc
    tgpu.yield %y : !acc
  } at 37 {
    tgpu.wait %ch[%n] : !ch
    %w = tgpu.wgmma_wait 0, %p : !pending -> !acc
    tgpu.release %ch[%n] : !ch
    tgpu.yield %w : !acc
  } : !acc, !acc
  %fb = tile.broadcast %f along [1] : !row -> !acc
  %of = arith.mulf %o, %fb : !acc
  %sum = arith.addf %e, %of : !acc
  tgpu.store %sum, %to : !acc, !t
  tgpu.return
}

// -----

// Halves stay in pairs, for which there are instructions, and pass as words. An event without a spin gets a branch: one lane meets itself.
// Two events: each holds what has come since the one before. Without a retired product nothing depends on the event.
#acc = #tgpu.fragment<"64x16 reg 0,1:8,0:0,8 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">
!acc = tensor<64x16xf16, #acc>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x16xf16>

// CHECK-LABEL: llvm.func @halves
// CHECK-NOT: ctaid.z
// CHECK: llvm.fmul %{{.*}}, %{{.*}} : vector<2xf16>
// CHECK: llvm.fadd %{{.*}}, %{{.*}} : vector<2xf16>
// CHECK-NOT: llvm.fmul
// CHECK: %[[WORD:.*]] = llvm.bitcast %{{.*}} : vector<2xf16> to i32
// CHECK-NEXT: %[[HELD:.*]] = llvm.inline_asm has_side_effects asm_dialect = att "", "=r,0" %[[WORD]] : (i32) -> i32
// CHECK: llvm.bitcast %[[HELD]] : i32 to vector<2xf16>
// CHECK: %[[FIRST:.*]] = llvm.icmp "eq" %{{.*}} : i32
// CHECK: llvm.cond_br %[[FIRST]]
// CHECK: nvvm.bar.warp.sync %{{.*}} : i32
// CHECK: nvvm.barrier
// CHECK-COUNT-2: llvm.fmul %{{.*}}, %{{.*}} : vector<2xf16>
// CHECK-NOT: llvm.fmul
// CHECK: llvm.inline_asm has_side_effects asm_dialect = att "", "=r,=r,0,1"
// CHECK: nvvm.fence.proxy
// CHECK: llvm.fmul %{{.*}}, %{{.*}} : vector<2xf16>
// CHECK-NOT: llvm.fmul
// CHECK-NOT: att ""
// CHECK: llvm.return
tgpu.kernel @halves(%G: !g, %O: !g, %n: i32) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %vg = tgpu.view %G extents(%n, %n : i32, i32) strides(%n : i32) : !g -> !g
  %vo = tgpu.view %O extents(%n, %n : i32, i32) strides(%n : i32) : !g -> !g
  %tg = tile.slice %vg[%c0, %c0] sizes [64, 16] : !g, i32, i32 -> !t
  %to = tile.slice %vo[%c0, %c0] sizes [64, 16] : !g, i32, i32 -> !t
  %s = tgpu.load %tg : !t -> !acc
  %e = tgpu.stream {
    %x = arith.mulf %s, %s : !acc
    %y = arith.addf %x, %s : !acc
    tgpu.yield %y : !acc
  } at 25 {
    tgpu.barrier
  } at 80 {
    tgpu.fence_async
  } : !acc
  tgpu.store %e, %to : !acc, !t
  tgpu.return
}

// -----

// Of what only its body uses there is one slot at a time: it leaves registers to a copy beside it, which has 64 numbers in flight, as many as
// it moves; 64 more are loaded before the loop.
#tile = #tgpu.fragment<"128x64 reg 0,1:0,2:0,4:0,8:0,16:0,32 lane 1,0:2,0:4,0:8,0:16,0 warp 32,0:64,0">
!t = tensor<128x64xf32, #tile>
!b = !tgpu.smem<64x128xf32, #tgpu.shared<"64x128 b32 contig 1 panel 128">>
!g = !tile.global<?x?xf32>
// CHECK-LABEL: llvm.func @registers
// CHECK-COUNT-128: ld.global.b32
// CHECK-COUNT-64: llvm.store
// CHECK: llvm.intr.exp2
tgpu.kernel @registers(%A: !g, %C: !g, %n: i32) attributes {threads = 128 : i32, target = "sm_80", shared_bytes = 32768 : i64} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %v = tgpu.view %A extents(%n, %n : i32, i32) strides(%n : i32) : !g -> !g
  %w = tgpu.view %C extents(%n, %n : i32, i32) strides(%n : i32) : !g -> !g
  %from = tile.slice %v[%c0, %c0] sizes [64, 128] : !g, i32, i32 -> !tile.global<64x128xf32>
  %to = tile.slice %w[%c0, %c0] sizes [128, 64] : !g, i32, i32 -> !tile.global<128x64xf32>
  %s = tgpu.load %to : !tile.global<128x64xf32> -> !t
  %b = tgpu.alloc_shared {offset = 0 : i64} : !b
  scf.for %i = %c0 to %n step %c1 : i32 {
    tgpu.copy %from to %b {path = #tgpu.path<vector>, bytes = 4 : i32} : !tile.global<64x128xf32>, !b
    %e = tgpu.stream {
      %x1 = math.exp2 %s : !t
      %x2 = arith.mulf %x1, %s : !t
      %x3 = arith.addf %x2, %x1 : !t
      %x4 = arith.mulf %x3, %x2 : !t
      %x5 = arith.addf %x4, %x1 : !t
      %x6 = arith.addf %x5, %x2 : !t
      tgpu.yield %x6 : !t
    } : !t
    tgpu.store %e, %to : !t, !tile.global<128x64xf32>
  }
  tgpu.return
}
