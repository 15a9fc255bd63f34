// A loop that carries zeros which a product adds to: its first iteration stands before it, with a product that begins the sum. Where there may
// be no iteration both are in a branch, with the wait for the products and what has to be done before that. Sums that begin otherwise, that something
// else reads too, and products in branches are as they were.
// RUN: tile-opt --tgpu-start-sums %s | FileCheck %s

#c = #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">
!a = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!acc = tensor<64x64xf32, #c>
!pending = !tgpu.pending<!acc>
!t = !tile.global<64x64xf32>

// CHECK-LABEL: tgpu.kernel @in_flight
// CHECK-SAME: %[[N:[a-z0-9]+]]: i32
// CHECK: %[[ZEROS:.*]] = tile.splat
// CHECK: %[[RUNS:.*]] = arith.cmpi slt, %[[FROM:.*]], %[[N]] : i32
// CHECK: %[[SUM:.*]] = scf.if %[[RUNS]] -> (tensor<
// CHECK-NEXT: tgpu.wgmma_fence
// CHECK-NEXT: %[[FIRST:.*]] = tgpu.wgmma {{.*}} {accumulate = false,
// CHECK-NEXT: tgpu.wgmma_commit
// CHECK-NEXT: %[[FLIES:.*]] = tgpu.wgmma_wait 1, %[[FIRST]]
// CHECK-NEXT: %[[SECOND:.*]] = arith.addi %[[FROM]], %{{.*}} : i32
// CHECK-NEXT: %[[LOOP:.*]] = scf.for %{{.*}} = %[[SECOND]] to %[[N]] {{.*}} iter_args(%[[CARRIED:.*]] = %[[FLIES]])
// CHECK: tgpu.wgmma %{{.*}}, %{{.*}}, %[[CARRIED]] {mma
// CHECK: tgpu.barrier
// CHECK-NEXT: %[[DONE:.*]] = tgpu.wgmma_wait 0, %[[LOOP]]
// CHECK-NEXT: scf.yield %[[DONE]]
// CHECK-NEXT: } else {
// CHECK-NEXT: tgpu.barrier
// CHECK-NEXT: %[[NONE:.*]] = tgpu.hidden %[[ZEROS]]
// CHECK-NEXT: scf.yield %[[NONE]]
// CHECK-NEXT: }
// CHECK-NEXT: tgpu.store %[[SUM]]
tgpu.kernel @in_flight(%n: i32, %o: !t) attributes {threads = 128 : i32, target = "sm_90a"} {
  %x = tgpu.alloc_shared : !a
  %zero = arith.constant 0.0 : f32
  %z = tile.splat %zero : f32 -> !acc
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %begin = tgpu.wgmma_begin %z : !acc -> !pending
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%s = %begin) -> (!pending) : i32 {
    tgpu.wgmma_fence
    %p = tgpu.wgmma %x, %x, %s {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !a, !a, !pending -> !pending
    tgpu.wgmma_commit
    %w = tgpu.wgmma_wait 1, %p : !pending -> !pending
    scf.yield %w : !pending
  }
  tgpu.barrier
  %d = tgpu.wgmma_wait 0, %sum : !pending -> !acc
  tgpu.store %d, %o {path = #tgpu.path<vector>} : !acc, !t
  tgpu.return
}

// CHECK-LABEL: tgpu.kernel @never_empty
// CHECK-NOT: scf.if
// CHECK: tgpu.wgmma {{.*}} {accumulate = false,
// CHECK: %[[ONE:.*]] = tgpu.wgmma_wait 0
// CHECK: iter_args(%[[CARRIED:.*]] = %[[ONE]])
// CHECK: tgpu.wgmma %{{.*}}, %{{.*}}, %[[CARRIED]] {mma
tgpu.kernel @never_empty(%o: !t) attributes {threads = 128 : i32, target = "sm_90a"} {
  %x = tgpu.alloc_shared : !a
  %zero = arith.constant 0.0 : f32
  %z = tile.splat %zero : f32 -> !acc
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c4 = arith.constant 4 : i32
  %sum = scf.for %i = %c0 to %c4 step %c1 iter_args(%s = %z) -> (!acc) : i32 {
    tgpu.wgmma_fence
    %p = tgpu.wgmma %x, %x, %s {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !a, !a, !acc -> !pending
    tgpu.wgmma_commit
    %w = tgpu.wgmma_wait 0, %p : !pending -> !acc
    scf.yield %w : !acc
  }
  tgpu.store %sum, %o {path = #tgpu.path<vector>} : !acc, !t
  tgpu.return
}

// Begins with ones.
// CHECK-LABEL: tgpu.kernel @others
// CHECK-NOT: accumulate = false
// CHECK: tgpu.return
tgpu.kernel @others(%n: i32, %o: !t) attributes {threads = 128 : i32, target = "sm_90a"} {
  %x = tgpu.alloc_shared : !a
  %one = arith.constant 1.0 : f32
  %zero = arith.constant 0.0 : f32
  %ones = tile.splat %one : f32 -> !acc
  %z = tile.splat %zero : f32 -> !acc
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %a = scf.for %i = %c0 to %n step %c1 iter_args(%s = %ones) -> (!acc) : i32 {
    tgpu.wgmma_fence
    %p = tgpu.wgmma %x, %x, %s {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !a, !a, !acc -> !pending
    tgpu.wgmma_commit
    %w = tgpu.wgmma_wait 0, %p : !pending -> !acc
    scf.yield %w : !acc
  }
  // Read by an addition too.
  %b:2 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z, %t = %a) -> (!acc, !acc) : i32 {
    %u = arith.addf %s, %t : !acc
    tgpu.wgmma_fence
    %p = tgpu.wgmma %x, %x, %s {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !a, !a, !acc -> !pending
    tgpu.wgmma_commit
    %w = tgpu.wgmma_wait 0, %p : !pending -> !acc
    scf.yield %w, %u : !acc, !acc
  }
  // In a branch.
  %c = scf.for %i = %c0 to %n step %c1 iter_args(%s = %z) -> (!acc) : i32 {
    %even = arith.cmpi ne, %i, %c1 : i32
    %r = scf.if %even -> (!acc) {
      tgpu.wgmma_fence
      %p = tgpu.wgmma %x, %x, %s {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !a, !a, !acc -> !pending
      tgpu.wgmma_commit
      %w = tgpu.wgmma_wait 0, %p : !pending -> !acc
      scf.yield %w : !acc
    } else {
      scf.yield %s : !acc
    }
    scf.yield %r : !acc
  }
  %d = arith.addf %b#1, %c : !acc
  tgpu.store %d, %o {path = #tgpu.path<vector>} : !acc, !t
  tgpu.return
}
