// Sums that wgmma adds to are scaled row by row: a warp whose factors are all 1 goes round the multiplications. Where a thread has few, where each has a
// factor of its own, where nothing is added, before mma.sync and where the IR says so it multiplies.
// RUN: tile-opt --tgpu-vote-rescales --convert-tgpu-to-llvm %s --verify-diagnostics | FileCheck %s

#c = #tgpu.fragment<"64x128 reg 0,1:8,0:0,8:0,16:0,32:0,64 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">
#n = #tgpu.fragment<"64x32 reg 0,1:8,0:0,8:0,16 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">
#r = #tgpu.fragment<"64 reg 8 lane 0:0:1:2:4 warp 16:32">
!a = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!b = !tgpu.smem<64x128xf16, #tgpu.shared<"64x128 b16 contig 1 panel 64 swizzle 128">>
!factors = !tgpu.smem<64xf32, #tgpu.shared<"64 b32 contig 0 panel 64">>
!acc = tensor<64x128xf32, #c>
!narrow = tensor<64x32xf32, #n>
!t = !tile.global<64x128xf32>
!tn = !tile.global<64x32xf32>
!bn = !tgpu.smem<64x32xf16, #tgpu.shared<"64x32 b16 contig 1 panel 32 swizzle 64">>

// CHECK-LABEL: llvm.func @wide
// CHECK: %[[ONE:.*]] = llvm.mlir.constant(1.000000e+00 : f32) : f32
// CHECK: %[[X:.*]] = llvm.fcmp "une" %[[FX:.*]], %[[ONE]] : f32
// CHECK: %[[Y:.*]] = llvm.fcmp "une" %[[FY:.*]], %[[ONE]] : f32
// CHECK: %[[ANY:.*]] = llvm.or %[[X]], %[[Y]]
// CHECK: %[[VOTE:.*]] = nvvm.vote.sync any {{.*}}, %[[ANY]]
// CHECK: llvm.cond_br %[[VOTE]], ^[[SCALE:.*]], ^[[SKIP:.*]]
// CHECK: ^[[SCALE]]:
// CHECK-COUNT-64: llvm.fmul
// CHECK-NOT: llvm.fmul
// CHECK: ^[[SKIP]]:
tgpu.kernel @wide(%o: !t) attributes {threads = 128 : i32, target = "sm_90a"} {
  %f = tgpu.alloc_shared {offset = 0 : i64} : !factors
  %x = tgpu.alloc_shared {offset = 1024 : i64} : !a
  %y = tgpu.alloc_shared {offset = 9216 : i64} : !b
  %zero = arith.constant 0.0 : f32
  %z = tile.splat %zero : f32 -> !acc
  %row = tgpu.local_load %f : !factors -> tensor<64xf32, #r>
  tgpu.wgmma_fence
  %p = tgpu.wgmma %x, %y, %z {accumulate = false, mma = #tgpu.mma<wgmma, 64, 128, 16, warps = 1, 1>} : !a, !b, !acc -> !tgpu.pending<!acc>
  tgpu.wgmma_commit
  %s = tgpu.wgmma_wait 0, %p : !tgpu.pending<!acc> -> !acc
  %rows = tile.broadcast %row along [1] : tensor<64xf32, #r> -> !acc
  // expected-remark @+1 {{a warp whose factors are all 1 does not scale its sums}}
  %scaled = arith.mulf %s, %rows : !acc
  tgpu.wgmma_fence
  %q = tgpu.wgmma %x, %y, %scaled {mma = #tgpu.mma<wgmma, 64, 128, 16, warps = 1, 1>} : !a, !b, !acc -> !tgpu.pending<!acc>
  tgpu.wgmma_commit
  %d = tgpu.wgmma_wait 0, %q : !tgpu.pending<!acc> -> !acc
  tgpu.store %d, %o {bytes = 4 : i32} : !acc, !t
  tgpu.return
}

// CHECK-LABEL: llvm.func @factor_first
// CHECK: nvvm.vote.sync any
tgpu.kernel @factor_first(%o: !t) attributes {threads = 128 : i32, target = "sm_90a"} {
  %f = tgpu.alloc_shared {offset = 0 : i64} : !factors
  %x = tgpu.alloc_shared {offset = 1024 : i64} : !a
  %y = tgpu.alloc_shared {offset = 9216 : i64} : !b
  %zero = arith.constant 0.0 : f32
  %z = tile.splat %zero : f32 -> !acc
  %row = tgpu.local_load %f : !factors -> tensor<64xf32, #r>
  tgpu.wgmma_fence
  %p = tgpu.wgmma %x, %y, %z {accumulate = false, mma = #tgpu.mma<wgmma, 64, 128, 16, warps = 1, 1>} : !a, !b, !acc -> !tgpu.pending<!acc>
  tgpu.wgmma_commit
  %s = tgpu.wgmma_wait 0, %p : !tgpu.pending<!acc> -> !acc
  %rows = tile.broadcast %row along [1] : tensor<64xf32, #r> -> !acc
  // expected-remark @+1 {{a warp whose factors are all 1 does not scale its sums}}
  %scaled = arith.mulf %rows, %s : !acc
  tgpu.wgmma_fence
  %q = tgpu.wgmma %x, %y, %scaled {mma = #tgpu.mma<wgmma, 64, 128, 16, warps = 1, 1>} : !a, !b, !acc -> !tgpu.pending<!acc>
  tgpu.wgmma_commit
  %d = tgpu.wgmma_wait 0, %q : !tgpu.pending<!acc> -> !acc
  tgpu.store %d, %o {bytes = 4 : i32} : !acc, !t
  tgpu.return
}

// A product that runs an iteration behind adds to what the loop carries; the branch comes behind all else of the iteration.
// CHECK-LABEL: llvm.func @carried
// CHECK: llvm.fptrunc
// CHECK: nvvm.vote.sync any
// CHECK: llvm.cond_br
// CHECK-NOT: llvm.fptrunc
tgpu.kernel @carried(%o: !t, %n: i32) attributes {threads = 128 : i32, target = "sm_90a"} {
  %f = tgpu.alloc_shared {offset = 0 : i64} : !factors
  %x = tgpu.alloc_shared {offset = 1024 : i64} : !a
  %y = tgpu.alloc_shared {offset = 9216 : i64} : !b
  %h = tgpu.alloc_shared {offset = 32768 : i64} : !b
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %z = tile.splat %zero : f32 -> !acc
  %end = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %z) -> (!acc) : i32 {
    %row = tgpu.local_load %f : !factors -> tensor<64xf32, #r>
    tgpu.wgmma_fence
    %q = tgpu.wgmma %x, %y, %sum {mma = #tgpu.mma<wgmma, 64, 128, 16, warps = 1, 1>} : !a, !b, !acc -> !tgpu.pending<!acc>
    tgpu.wgmma_commit
    %d = tgpu.wgmma_wait 0, %q : !tgpu.pending<!acc> -> !acc
    %rows = tile.broadcast %row along [1] : tensor<64xf32, #r> -> !acc
    // expected-remark @+1 {{a warp whose factors are all 1 does not scale its sums}}
    %scaled = arith.mulf %d, %rows : !acc
    %short = tile.convert %d : !acc to tensor<64x128xf16, #c>
    tgpu.local_store %short, %h : tensor<64x128xf16, #c>, !b
    scf.yield %scaled : !acc
  }
  tgpu.store %end, %o {bytes = 4 : i32} : !acc, !t
  tgpu.return
}

// CHECK-LABEL: llvm.func @few
// CHECK-NOT: vote
tgpu.kernel @few(%o: !tn) attributes {threads = 128 : i32, target = "sm_90a"} {
  %f = tgpu.alloc_shared {offset = 0 : i64} : !factors
  %x = tgpu.alloc_shared {offset = 1024 : i64} : !a
  %y = tgpu.alloc_shared {offset = 9216 : i64} : !bn
  %zero = arith.constant 0.0 : f32
  %z = tile.splat %zero : f32 -> !narrow
  %row = tgpu.local_load %f : !factors -> tensor<64xf32, #r>
  tgpu.wgmma_fence
  %p = tgpu.wgmma %x, %y, %z {accumulate = false, mma = #tgpu.mma<wgmma, 64, 32, 16, warps = 1, 1>} : !a, !bn, !narrow -> !tgpu.pending<!narrow>
  tgpu.wgmma_commit
  %s = tgpu.wgmma_wait 0, %p : !tgpu.pending<!narrow> -> !narrow
  %rows = tile.broadcast %row along [1] : tensor<64xf32, #r> -> !narrow
  %scaled = arith.mulf %s, %rows : !narrow
  tgpu.wgmma_fence
  %q = tgpu.wgmma %x, %y, %scaled {mma = #tgpu.mma<wgmma, 64, 32, 16, warps = 1, 1>} : !a, !bn, !narrow -> !tgpu.pending<!narrow>
  tgpu.wgmma_commit
  %d = tgpu.wgmma_wait 0, %q : !tgpu.pending<!narrow> -> !narrow
  tgpu.store %d, %o {bytes = 4 : i32} : !narrow, !tn
  tgpu.return
}

// CHECK-LABEL: llvm.func @not_added_to
// CHECK-NOT: vote
tgpu.kernel @not_added_to(%o: !t) attributes {threads = 128 : i32, target = "sm_90a"} {
  %f = tgpu.alloc_shared {offset = 0 : i64} : !factors
  %x = tgpu.alloc_shared {offset = 1024 : i64} : !a
  %y = tgpu.alloc_shared {offset = 9216 : i64} : !b
  %zero = arith.constant 0.0 : f32
  %z = tile.splat %zero : f32 -> !acc
  %row = tgpu.local_load %f : !factors -> tensor<64xf32, #r>
  tgpu.wgmma_fence
  %p = tgpu.wgmma %x, %y, %z {accumulate = false, mma = #tgpu.mma<wgmma, 64, 128, 16, warps = 1, 1>} : !a, !b, !acc -> !tgpu.pending<!acc>
  tgpu.wgmma_commit
  %s = tgpu.wgmma_wait 0, %p : !tgpu.pending<!acc> -> !acc
  %rows = tile.broadcast %row along [1] : tensor<64xf32, #r> -> !acc
  %scaled = arith.mulf %s, %rows : !acc
  tgpu.store %scaled, %o {bytes = 4 : i32} : !acc, !t
  tgpu.return
}

// CHECK-LABEL: llvm.func @refused_by_hand
// CHECK-NOT: vote
tgpu.kernel @refused_by_hand(%o: !t) attributes {threads = 128 : i32, target = "sm_90a"} {
  %f = tgpu.alloc_shared {offset = 0 : i64} : !factors
  %x = tgpu.alloc_shared {offset = 1024 : i64} : !a
  %y = tgpu.alloc_shared {offset = 9216 : i64} : !b
  %zero = arith.constant 0.0 : f32
  %z = tile.splat %zero : f32 -> !acc
  %row = tgpu.local_load %f : !factors -> tensor<64xf32, #r>
  tgpu.wgmma_fence
  %p = tgpu.wgmma %x, %y, %z {accumulate = false, mma = #tgpu.mma<wgmma, 64, 128, 16, warps = 1, 1>} : !a, !b, !acc -> !tgpu.pending<!acc>
  tgpu.wgmma_commit
  %s = tgpu.wgmma_wait 0, %p : !tgpu.pending<!acc> -> !acc
  %rows = tile.broadcast %row along [1] : tensor<64xf32, #r> -> !acc
  %scaled = arith.mulf %s, %rows {tgpu.under_vote = false} : !acc
  tgpu.wgmma_fence
  %q = tgpu.wgmma %x, %y, %scaled {mma = #tgpu.mma<wgmma, 64, 128, 16, warps = 1, 1>} : !a, !b, !acc -> !tgpu.pending<!acc>
  tgpu.wgmma_commit
  %d = tgpu.wgmma_wait 0, %q : !tgpu.pending<!acc> -> !acc
  tgpu.store %d, %o {bytes = 4 : i32} : !acc, !t
  tgpu.return
}

// CHECK-LABEL: llvm.func @squared
// CHECK-NOT: vote
tgpu.kernel @squared(%o: !t) attributes {threads = 128 : i32, target = "sm_90a"} {
  %f = tgpu.alloc_shared {offset = 0 : i64} : !factors
  %x = tgpu.alloc_shared {offset = 1024 : i64} : !a
  %y = tgpu.alloc_shared {offset = 9216 : i64} : !b
  %zero = arith.constant 0.0 : f32
  %z = tile.splat %zero : f32 -> !acc
  %row = tgpu.local_load %f : !factors -> tensor<64xf32, #r>
  tgpu.wgmma_fence
  %p = tgpu.wgmma %x, %y, %z {accumulate = false, mma = #tgpu.mma<wgmma, 64, 128, 16, warps = 1, 1>} : !a, !b, !acc -> !tgpu.pending<!acc>
  tgpu.wgmma_commit
  %s = tgpu.wgmma_wait 0, %p : !tgpu.pending<!acc> -> !acc
  %scaled = arith.mulf %s, %s : !acc
  tgpu.wgmma_fence
  %q = tgpu.wgmma %x, %y, %scaled {mma = #tgpu.mma<wgmma, 64, 128, 16, warps = 1, 1>} : !a, !b, !acc -> !tgpu.pending<!acc>
  tgpu.wgmma_commit
  %d = tgpu.wgmma_wait 0, %q : !tgpu.pending<!acc> -> !acc
  tgpu.store %d, %o {bytes = 4 : i32} : !acc, !t
  tgpu.return
}

// CHECK-LABEL: llvm.func @mma_sync
// CHECK-NOT: vote
tgpu.kernel @mma_sync(%o: !tile.global<16x128xf32>) attributes {threads = 32 : i32, target = "sm_80"} {
  %f = tgpu.alloc_shared {offset = 0 : i64} : !tgpu.smem<16xf32, #tgpu.shared<"16 b32 contig 0 panel 16">>
  %half = arith.constant 1.0 : f16
  %one = arith.constant 1.0 : f32
  %x = tile.splat %half : f16 -> tensor<16x16xf16, #tgpu.fragment<"16x16 reg 0,1:8,0:0,8 lane 0,2:0,4:1,0:2,0:4,0 warp -">>
  %y = tile.splat %half : f16 -> tensor<16x128xf16, #tgpu.fragment<"16x128 reg 1,0:8,0:0,8:0,16:0,32:0,64 lane 2,0:4,0:0,1:0,2:0,4 warp -">>
  %s = tile.splat %one : f32 -> tensor<16x128xf32, #tgpu.fragment<"16x128 reg 0,1:8,0:0,8:0,16:0,32:0,64 lane 0,2:0,4:1,0:2,0:4,0 warp -">>
  %row = tgpu.local_load %f : !tgpu.smem<16xf32, #tgpu.shared<"16 b32 contig 0 panel 16">> -> tensor<16xf32, #tgpu.fragment<"16 reg 8 lane 0:0:1:2:4 warp -">>
  %rows = tile.broadcast %row along [1] : tensor<16xf32, #tgpu.fragment<"16 reg 8 lane 0:0:1:2:4 warp -">> -> tensor<16x128xf32, #tgpu.fragment<"16x128 reg 0,1:8,0:0,8:0,16:0,32:0,64 lane 0,2:0,4:1,0:2,0:4,0 warp -">>
  %scaled = arith.mulf %s, %rows : tensor<16x128xf32, #tgpu.fragment<"16x128 reg 0,1:8,0:0,8:0,16:0,32:0,64 lane 0,2:0,4:1,0:2,0:4,0 warp -">>
  %d = tgpu.mma %x, %y, %scaled {mma = #tgpu.mma<mma_sync, 16, 8, 16, warps = 1, 1>} : tensor<16x16xf16, #tgpu.fragment<"16x16 reg 0,1:8,0:0,8 lane 0,2:0,4:1,0:2,0:4,0 warp -">>, tensor<16x128xf16, #tgpu.fragment<"16x128 reg 1,0:8,0:0,8:0,16:0,32:0,64 lane 2,0:4,0:0,1:0,2:0,4 warp -">>, tensor<16x128xf32, #tgpu.fragment<"16x128 reg 0,1:8,0:0,8:0,16:0,32:0,64 lane 0,2:0,4:1,0:2,0:4,0 warp -">> -> tensor<16x128xf32, #tgpu.fragment<"16x128 reg 0,1:8,0:0,8:0,16:0,32:0,64 lane 0,2:0,4:1,0:2,0:4,0 warp -">>
  tgpu.store %d, %o {bytes = 4 : i32} : tensor<16x128xf32, #tgpu.fragment<"16x128 reg 0,1:8,0:0,8:0,16:0,32:0,64 lane 0,2:0,4:1,0:2,0:4,0 warp -">>, !tile.global<16x128xf32>
  tgpu.return
}
