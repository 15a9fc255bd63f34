// Two warpgroups issue the products of a step one after the other: each awaits its turn before the first and hands it on behind the last, before it waits
// for any. The last one gives the first its first turn, and the first takes the last one, so that barriers are left as they were.
// RUN: tile-opt --tgpu-issue-in-turn %s --verify-diagnostics | FileCheck %s
// RUN: tile-opt --tgpu-issue-in-turn --convert-tgpu-to-llvm %s | FileCheck %s --check-prefix=LLVM

#c = #tgpu.fragment<"128x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0:64,0">
#one = #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">
!a = !tgpu.smem<128x64xf16, #tgpu.shared<"128x64 b16 contig 1 panel 64 swizzle 128">>
!a1 = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!b = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!acc = tensor<128x64xf32, #c>
!acc1 = tensor<64x64xf32, #one>

// CHECK-LABEL: tgpu.kernel @two
// CHECK-NEXT: %[[W:.*]] = tgpu.warp_id
// CHECK-NEXT: %[[SECOND:.*]] = arith.constant 4 : i32
// CHECK-NEXT: %[[P:.*]] = arith.subi %[[W]], %[[SECOND]]
// CHECK: %[[IS:.*]] = arith.cmpi ult, %[[P]],
// CHECK-NEXT: scf.if %[[IS]] {
// CHECK-NEXT: tgpu.pass_turn of 2
// CHECK: scf.for
// CHECK-NEXT: tgpu.await_turn of 2
// CHECK-NEXT: tgpu.wgmma_fence
// CHECK: tgpu.wgmma_commit
// CHECK-NEXT: tgpu.wgmma %
// CHECK-NEXT: tgpu.wgmma_commit
// CHECK-NEXT: tgpu.pass_turn of 2
// CHECK-NEXT: tgpu.wgmma_wait 1
// CHECK-NOT: turn of
// CHECK: tgpu.store
// CHECK: scf.if
// CHECK-NEXT: tgpu.await_turn of 2
// CHECK-NOT: turn of
// CHECK: tgpu.return

// Group g waits at barrier 8 + g, with the 128 threads that hand its turn on.
// LLVM-DAG: %[[C8:.*]] = llvm.mlir.constant(8 : i32)
// LLVM-DAG: %[[C4:.*]] = llvm.mlir.constant(4 : i32)
// LLVM-DAG: %[[C0:.*]] = llvm.mlir.constant(0 : i32)
// LLVM-DAG: %[[C1:.*]] = llvm.mlir.constant(1 : i32)
// LLVM-DAG: %[[THREADS:.*]] = llvm.mlir.constant(256 : i32)
// LLVM: %[[GROUP:.*]] = llvm.udiv %[[WARP:.*]], %[[C4]] : i32
// LLVM: %[[LAST:.*]] = llvm.icmp "eq" %[[GROUP]], %[[C1]]
// LLVM: %[[BEHIND:.*]] = llvm.add %[[GROUP]], %[[C1]] : i32
// LLVM: %[[NEXT:.*]] = llvm.select %[[LAST]], %[[C0]], %[[BEHIND]]
// LLVM: %[[ITS:.*]] = llvm.add %[[NEXT]], %[[C8]] : i32
// LLVM: llvm.call_intrinsic "llvm.nvvm.barrier.cta.arrive.aligned.count"(%[[ITS]], %[[THREADS]])
// LLVM: %[[G:.*]] = llvm.udiv %[[WARP]], %[[C4]] : i32
// LLVM: %[[MINE:.*]] = llvm.add %[[G]], %[[C8]] : i32
// LLVM: nvvm.barrier id = %[[MINE]] number_of_threads = %[[THREADS]]
// LLVM: wgmma.mma_async
tgpu.kernel @two(%n: i32, %o: !tile.global<128x64xf32>) attributes {threads = 256 : i32, target = "sm_90a"} {
  %x = tgpu.alloc_shared {offset = 0 : i64} : !a
  %y = tgpu.alloc_shared {offset = 16384 : i64} : !b
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %z = tile.splat %zero : f32 -> !acc
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%s = %z) -> (!acc) : i32 {
    tgpu.wgmma_fence
    // expected-remark @+1 {{warpgroups issue the products of a step in turn}}
    %p = tgpu.wgmma %x, %y, %z {accumulate = false, mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 2, 1>} : !a, !b, !acc -> !tgpu.pending<!acc>
    tgpu.wgmma_commit
    %q = tgpu.wgmma %x, %y, %s {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 2, 1>} : !a, !b, !acc -> !tgpu.pending<!acc>
    tgpu.wgmma_commit
    %w:2 = tgpu.wgmma_wait 1, %p, %q : !tgpu.pending<!acc>, !tgpu.pending<!acc> -> !acc, !tgpu.pending<!acc>
    %e = math.exp2 %w#0 : !acc
    %v = tgpu.wgmma_wait 0, %w#1 : !tgpu.pending<!acc> -> !acc
    %t = arith.addf %e, %v : !acc
    scf.yield %t : !acc
  } {tile.turns}
  tgpu.store %sum, %o {bytes = 4 : i32, path = #tgpu.path<vector>} : !acc, !tile.global<128x64xf32>
  tgpu.return
}
