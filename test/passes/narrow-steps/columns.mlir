// A step whose mask leaves the rows of one of two warpgroups half of the columns, or none, is there three times: without the product, by half of
// it, and whole. What is not computed is what the mask puts there; waits and commits are the same in all.
// RUN: tile-opt --tgpu-narrow-steps --canonicalize --cse %s --verify-diagnostics | FileCheck %s

#c = #tgpu.fragment<"128x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0:64,0">
#row = #tgpu.fragment<"128 reg 8 lane 0:0:1:2:4 warp 16:32:64">
#col = #tgpu.fragment<"64 reg 1:8:16:32 lane 2:4:0:0:0 warp 0:0:0">
!a = !tgpu.smem<128x64xf16, #tgpu.shared<"128x64 b16 contig 1 panel 64 swizzle 128">>
!b = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!acc = tensor<128x64xf32, #c>
!int = tensor<128x64xi32, #c>
!rows = tensor<128xi32, #row>
!cols = tensor<64xi32, #col>

// CHECK-LABEL: tgpu.kernel @causal
// CHECK-SAME: %[[N:[a-z0-9]+]]: i32, %[[DIAG:[a-z0-9]+]]: i32, %[[FILL:[a-z0-9]+]]: f32
// CHECK: scf.for %[[K:.*]] = {{.*}} iter_args(%[[SUM:.*]] =
// The mask is on, and column c (0, then 32) of the step is beyond the last row of the calling warpgroup.
// CHECK: %[[COLUMN:.*]] = arith.muli %[[K]], %c64_i32
// CHECK: %[[ON:.*]] = arith.cmpi sgt,
// CHECK: %[[WARP:.*]] = tgpu.warp_id
// CHECK: %[[GROUP:.*]] = arith.divui %[[WARP]], %c4_i32
// CHECK: %[[FIRST:.*]] = arith.muli %[[GROUP]], %c64_i32
// CHECK: %[[ROW:.*]] = arith.extsi %[[FIRST]]
// CHECK: %[[LAST:.*]] = arith.addi %[[ROW]], %c63_i64
// CHECK: %[[LOW:.*]] = arith.extsi %[[COLUMN]]
// CHECK: %[[D:.*]] = arith.extsi %[[DIAG]]
// CHECK: %[[BOUND:.*]] = arith.addi %[[D]], %[[LAST]]
// CHECK: arith.cmpi sle, %[[BOUND]], %c2147483647_i64
// CHECK: %[[BEYOND:.*]] = arith.cmpi sgt, %[[LOW]], %[[BOUND]]
// CHECK: %[[EXACT:.*]] = arith.andi %[[BEYOND]]
// CHECK: %[[NONE:.*]] = arith.andi %[[ON]], %[[EXACT]]
// CHECK: %[[MIDDLE:.*]] = arith.addi %[[LOW]], %c32_i64
// CHECK: arith.cmpi sgt, %[[MIDDLE]], %[[BOUND]]
// CHECK: %[[FEW:.*]] = arith.andi %[[ON]],
// CHECK: scf.if %[[NONE]]
// CHECK-NOT: tgpu.wgmma %
// CHECK: tgpu.wgmma_commit
// CHECK: tgpu.wgmma_wait 0
// CHECK-NEXT: %[[F0:.*]] = tile.splat %[[FILL]]
// CHECK-NEXT: %[[S:.*]] = arith.addf %[[SUM]], %[[F0]]
// CHECK-NEXT: scf.yield %[[S]]
// CHECK: } else {
// CHECK: scf.if %[[FEW]] -> (tensor<128x64xf32
// CHECK: %[[HALF:.*]] = tgpu.subview %{{.*}} at [0, 0] : {{.*}} -> !tgpu.smem<32x64xf16
// CHECK: tgpu.wgmma %{{.*}}, %[[HALF]], %{{.*}} {accumulate = false, mma = #tgpu.mma<wgmma, 64, 32, 16, warps = 2, 1>
// CHECK: %[[PART:.*]] = tgpu.wgmma_wait 0
// CHECK: %[[WHOLE:.*]] = tgpu.fragment_insert %[[PART]] into %{{.*}} at [0, 0] : tensor<128x32xf32
// CHECK-NOT: scf.if
// CHECK: %[[F1:.*]] = tile.splat %[[FILL]]
// CHECK: %[[MASKED:.*]] = arith.select %{{.*}}, %[[F1]], %[[WHOLE]]
// CHECK: %[[LEFT:.*]] = tgpu.fragment_slice %[[MASKED]] at [0, 0]
// CHECK: %[[FILLED:.*]] = tgpu.fragment_insert %[[LEFT]] into %[[F1]] at [0, 0]
// CHECK: arith.addf %[[SUM]], %[[FILLED]]
// CHECK: } else {
// CHECK: tgpu.wgmma {{.*}}mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 2, 1>
// CHECK: scf.if %[[ON]]
tgpu.kernel @causal(%n: i32, %diag: i32, %fill: f32, %o: !tile.global<128x64xf32>) attributes {threads = 256 : i32, target = "sm_90a"} {
  %x = tgpu.alloc_shared {offset = 0 : i64} : !a
  %y = tgpu.alloc_shared {offset = 16384 : i64} : !b
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c63 = arith.constant 63 : i32
  %c64 = arith.constant 64 : i32
  %z = tile.splat %zero : f32 -> !acc
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%s = %z) -> (!acc) : i32 {
    tgpu.wgmma_fence
    // expected-remark @+1 {{warpgroups to whose rows the mask leaves half of the columns, or none, compute no others}}
    %p = tgpu.wgmma %x, %y, %z {accumulate = false, mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 2, 1>, transpose_b} : !a, !b, !acc -> !tgpu.pending<!acc>
    tgpu.wgmma_commit
    %w = tgpu.wgmma_wait 0, %p : !tgpu.pending<!acc> -> !acc
    %first = arith.muli %k, %c64 : i32
    %last = arith.addi %first, %c63 : i32
    %on = arith.cmpi sgt, %last, %diag : i32
    %m = scf.if %on -> (!acc) {
      %cs = tile.splat %first : i32 -> !cols
      %j = tgpu.coordinate : !cols
      %col = arith.addi %cs, %j : !cols
      %rs = tile.splat %diag : i32 -> !rows
      %i = tgpu.coordinate : !rows
      %row = arith.addi %rs, %i : !rows
      %cb = tile.broadcast %col along [0] : !cols -> !int
      %rb = tile.broadcast %row along [1] : !rows -> !int
      %hit = arith.cmpi sgt, %cb, %rb : !int
      %f = tile.splat %fill : f32 -> !acc
      %r = arith.select %hit, %f, %w : tensor<128x64xi1, #c>, !acc
      scf.yield %r : !acc
    } else {
      scf.yield %w : !acc
    }
    %t = arith.addf %s, %m : !acc
    scf.yield %t : !acc
  }
  tgpu.store %sum, %o {bytes = 4 : i32, path = #tgpu.path<vector>} : !acc, !tile.global<128x64xf32>
  tgpu.return
}
