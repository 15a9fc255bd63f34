// Where no turns are taken, and why.
// RUN: tile-opt --tgpu-issue-in-turn %s --verify-diagnostics | FileCheck %s --implicit-check-not='turn of'

#c = #tgpu.fragment<"128x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0:64,0">
#one = #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">
!a = !tgpu.smem<128x64xf16, #tgpu.shared<"128x64 b16 contig 1 panel 64 swizzle 128">>
!a1 = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!b = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!acc = tensor<128x64xf32, #c>
!acc1 = tensor<64x64xf32, #one>

// Not asked for.
// CHECK-LABEL: tgpu.kernel @not_asked
tgpu.kernel @not_asked(%n: i32, %o: !tile.global<128x64xf32>) attributes {threads = 256 : i32, target = "sm_90a"} {
  %x = tgpu.alloc_shared {offset = 0 : i64} : !a
  %y = tgpu.alloc_shared {offset = 16384 : i64} : !b
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %z = tile.splat %zero : f32 -> !acc
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%s = %z) -> (!acc) : i32 {
    tgpu.wgmma_fence
    %p = tgpu.wgmma %x, %y, %z {accumulate = false, mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 2, 1>} : !a, !b, !acc -> !tgpu.pending<!acc>
    tgpu.wgmma_commit
    %q = tgpu.wgmma %x, %y, %s {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 2, 1>} : !a, !b, !acc -> !tgpu.pending<!acc>
    tgpu.wgmma_commit
    %w:2 = tgpu.wgmma_wait 1, %p, %q : !tgpu.pending<!acc>, !tgpu.pending<!acc> -> !acc, !tgpu.pending<!acc>
    %e = math.exp2 %w#0 : !acc
    %v = tgpu.wgmma_wait 0, %w#1 : !tgpu.pending<!acc> -> !acc
    %t = arith.addf %e, %v : !acc
    scf.yield %t : !acc
  } {}
  tgpu.store %sum, %o {bytes = 4 : i32, path = #tgpu.path<vector>} : !acc, !tile.global<128x64xf32>
  tgpu.return
}

// CHECK-LABEL: tgpu.kernel @one_group
tgpu.kernel @one_group(%n: i32, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %x = tgpu.alloc_shared {offset = 0 : i64} : !a1
  %y = tgpu.alloc_shared {offset = 16384 : i64} : !b
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %z = tile.splat %zero : f32 -> !acc1
  // expected-remark @+1 {{`turns` has no effect: only products of wgmma, by two to four warpgroups of 128 threads, are issued in turn}}
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%s = %z) -> (!acc1) : i32 {
    tgpu.wgmma_fence
    %p = tgpu.wgmma %x, %y, %z {accumulate = false, mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !a1, !b, !acc1 -> !tgpu.pending<!acc1>
    tgpu.wgmma_commit
    %q = tgpu.wgmma %x, %y, %s {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !a1, !b, !acc1 -> !tgpu.pending<!acc1>
    tgpu.wgmma_commit
    %w:2 = tgpu.wgmma_wait 1, %p, %q : !tgpu.pending<!acc1>, !tgpu.pending<!acc1> -> !acc1, !tgpu.pending<!acc1>
    %e = math.exp2 %w#0 : !acc1
    %v = tgpu.wgmma_wait 0, %w#1 : !tgpu.pending<!acc1> -> !acc1
    %t = arith.addf %e, %v : !acc1
    scf.yield %t : !acc1
  } {tile.turns}
  tgpu.store %sum, %o {bytes = 4 : i32, path = #tgpu.path<vector>} : !acc1, !tile.global<64x64xf32>
  tgpu.return
}

// All wait for the barrier, also those whose turn it is not.
// CHECK-LABEL: tgpu.kernel @meet
tgpu.kernel @meet(%n: i32, %o: !tile.global<128x64xf32>) attributes {threads = 256 : i32, target = "sm_90a"} {
  %x = tgpu.alloc_shared {offset = 0 : i64} : !a
  %y = tgpu.alloc_shared {offset = 16384 : i64} : !b
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %z = tile.splat %zero : f32 -> !acc
  // expected-remark @+1 {{`turns` has no effect: warpgroups meet between the products of a step}}
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%s = %z) -> (!acc) : i32 {
    tgpu.wgmma_fence
    %p = tgpu.wgmma %x, %y, %z {accumulate = false, mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 2, 1>} : !a, !b, !acc -> !tgpu.pending<!acc>
    tgpu.wgmma_commit
    tgpu.barrier
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

// CHECK-LABEL: tgpu.kernel @no_products
tgpu.kernel @no_products(%n: i32) attributes {threads = 256 : i32, target = "sm_80"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  // expected-remark @+1 {{`turns` has no effect: only products of wgmma}}
  scf.for %k = %c0 to %n step %c1 : i32 {
  } {tile.turns}
  tgpu.return
}
