// What stays whole: conditions that turn more than once or nobody knows where, loops without products or of other steps, branches around little.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-split-loops))' | FileCheck %s

!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>

// CHECK-LABEL: tgpu.kernel @unsigned_comparison
// CHECK-COUNT-1: scf.for
// CHECK-NOT: scf.for
// CHECK: tgpu.return
tgpu.kernel @unsigned_comparison(%lo: i32, %hi: i32, %e: i32, %f: i32, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c8 = arith.constant 8 : i32
  %minus = arith.constant -8 : i32
  %zero = arith.constant 0.0 : f32
  %z = tile.splat %zero : f32 -> !acc
  %a = tgpu.alloc_shared "A" : !s
  %r = scf.for %i = %lo to %hi step %c1 iter_args(%acc = %z) -> (!acc) : i32 {
    tgpu.wgmma_fence
    %p = tgpu.wgmma %a, %a, %acc {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !s, !s, !acc -> !tgpu.pending<!acc>
    tgpu.wgmma_commit
    %d = tgpu.wgmma_wait 0, %p : !tgpu.pending<!acc> -> !acc
    %m = arith.muli %i, %c8 : i32
    %v = arith.addi %m, %f : i32
    %is = arith.cmpi ugt, %v, %e : i32
    %x = scf.if %is -> (!acc) {
      %y = arith.negf %d : !acc
      scf.yield %y : !acc
    } else {
      scf.yield %d : !acc
    }
    scf.yield %x : !acc
  }
  tgpu.store %r, %o : !acc, !tile.global<64x64xf32>
  tgpu.return
}

// CHECK-LABEL: tgpu.kernel @equal
// CHECK-COUNT-1: scf.for
// CHECK-NOT: scf.for
// CHECK: tgpu.return
tgpu.kernel @equal(%lo: i32, %hi: i32, %e: i32, %f: i32, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c8 = arith.constant 8 : i32
  %minus = arith.constant -8 : i32
  %zero = arith.constant 0.0 : f32
  %z = tile.splat %zero : f32 -> !acc
  %a = tgpu.alloc_shared "A" : !s
  %r = scf.for %i = %lo to %hi step %c1 iter_args(%acc = %z) -> (!acc) : i32 {
    tgpu.wgmma_fence
    %p = tgpu.wgmma %a, %a, %acc {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !s, !s, !acc -> !tgpu.pending<!acc>
    tgpu.wgmma_commit
    %d = tgpu.wgmma_wait 0, %p : !tgpu.pending<!acc> -> !acc
    %m = arith.muli %i, %c8 : i32
    %v = arith.addi %m, %f : i32
    %is = arith.cmpi eq, %v, %e : i32
    %x = scf.if %is -> (!acc) {
      %y = arith.negf %d : !acc
      scf.yield %y : !acc
    } else {
      scf.yield %d : !acc
    }
    scf.yield %x : !acc
  }
  tgpu.store %r, %o : !acc, !tile.global<64x64xf32>
  tgpu.return
}

// CHECK-LABEL: tgpu.kernel @square
// CHECK-COUNT-1: scf.for
// CHECK-NOT: scf.for
// CHECK: tgpu.return
tgpu.kernel @square(%lo: i32, %hi: i32, %e: i32, %f: i32, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c8 = arith.constant 8 : i32
  %minus = arith.constant -8 : i32
  %zero = arith.constant 0.0 : f32
  %z = tile.splat %zero : f32 -> !acc
  %a = tgpu.alloc_shared "A" : !s
  %r = scf.for %i = %lo to %hi step %c1 iter_args(%acc = %z) -> (!acc) : i32 {
    tgpu.wgmma_fence
    %p = tgpu.wgmma %a, %a, %acc {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !s, !s, !acc -> !tgpu.pending<!acc>
    tgpu.wgmma_commit
    %d = tgpu.wgmma_wait 0, %p : !tgpu.pending<!acc> -> !acc
    %v = arith.muli %i, %i : i32
    %is = arith.cmpi sgt, %v, %e : i32
    %x = scf.if %is -> (!acc) {
      %y = arith.negf %d : !acc
      scf.yield %y : !acc
    } else {
      scf.yield %d : !acc
    }
    scf.yield %x : !acc
  }
  tgpu.store %r, %o : !acc, !tile.global<64x64xf32>
  tgpu.return
}

// CHECK-LABEL: tgpu.kernel @moving_bound
// CHECK-COUNT-1: scf.for
// CHECK-NOT: scf.for
// CHECK: tgpu.return
tgpu.kernel @moving_bound(%lo: i32, %hi: i32, %e: i32, %f: i32, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c8 = arith.constant 8 : i32
  %minus = arith.constant -8 : i32
  %zero = arith.constant 0.0 : f32
  %z = tile.splat %zero : f32 -> !acc
  %a = tgpu.alloc_shared "A" : !s
  %r = scf.for %i = %lo to %hi step %c1 iter_args(%acc = %z) -> (!acc) : i32 {
    tgpu.wgmma_fence
    %p = tgpu.wgmma %a, %a, %acc {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !s, !s, !acc -> !tgpu.pending<!acc>
    tgpu.wgmma_commit
    %d = tgpu.wgmma_wait 0, %p : !tgpu.pending<!acc> -> !acc
    %m = arith.muli %i, %c8 : i32
    %v = arith.addi %m, %f : i32
    %w = arith.remsi %i, %e : i32
    %is = arith.cmpi sgt, %v, %w : i32
    %x = scf.if %is -> (!acc) {
      %y = arith.negf %d : !acc
      scf.yield %y : !acc
    } else {
      scf.yield %d : !acc
    }
    scf.yield %x : !acc
  }
  tgpu.store %r, %o : !acc, !tile.global<64x64xf32>
  tgpu.return
}

// CHECK-LABEL: tgpu.kernel @one_of_two
// CHECK-COUNT-1: scf.for
// CHECK-NOT: scf.for
// CHECK: tgpu.return
tgpu.kernel @one_of_two(%lo: i32, %hi: i32, %e: i32, %f: i32, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c8 = arith.constant 8 : i32
  %minus = arith.constant -8 : i32
  %zero = arith.constant 0.0 : f32
  %z = tile.splat %zero : f32 -> !acc
  %a = tgpu.alloc_shared "A" : !s
  %r = scf.for %i = %lo to %hi step %c1 iter_args(%acc = %z) -> (!acc) : i32 {
    tgpu.wgmma_fence
    %p = tgpu.wgmma %a, %a, %acc {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !s, !s, !acc -> !tgpu.pending<!acc>
    tgpu.wgmma_commit
    %d = tgpu.wgmma_wait 0, %p : !tgpu.pending<!acc> -> !acc
    %m = arith.muli %i, %c8 : i32
    %v = arith.addi %m, %f : i32
    %g = arith.cmpi sgt, %v, %e : i32
    %h = arith.cmpi eq, %i, %f : i32
    %is = arith.ori %g, %h : i1
    %x = scf.if %is -> (!acc) {
      %y = arith.negf %d : !acc
      scf.yield %y : !acc
    } else {
      scf.yield %d : !acc
    }
    scf.yield %x : !acc
  }
  tgpu.store %r, %o : !acc, !tile.global<64x64xf32>
  tgpu.return
}

// CHECK-LABEL: tgpu.kernel @no_product
// CHECK-COUNT-1: scf.for
// CHECK-NOT: scf.for
// CHECK: tgpu.return
tgpu.kernel @no_product(%lo: i32, %hi: i32, %e: i32, %f: i32, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c8 = arith.constant 8 : i32
  %minus = arith.constant -8 : i32
  %zero = arith.constant 0.0 : f32
  %z = tile.splat %zero : f32 -> !acc
  %a = tgpu.alloc_shared "A" : !s
  %r = scf.for %i = %lo to %hi step %c1 iter_args(%acc = %z) -> (!acc) : i32 {
    %d = arith.negf %acc : !acc
    %m = arith.muli %i, %c8 : i32
    %v = arith.addi %m, %f : i32
    %is = arith.cmpi sgt, %v, %e : i32
    %x = scf.if %is -> (!acc) {
      %y = arith.negf %d : !acc
      scf.yield %y : !acc
    } else {
      scf.yield %d : !acc
    }
    scf.yield %x : !acc
  }
  tgpu.store %r, %o : !acc, !tile.global<64x64xf32>
  tgpu.return
}

// CHECK-LABEL: tgpu.kernel @step
// CHECK-COUNT-1: scf.for
// CHECK-NOT: scf.for
// CHECK: tgpu.return
tgpu.kernel @step(%lo: i32, %hi: i32, %e: i32, %f: i32, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c8 = arith.constant 8 : i32
  %minus = arith.constant -8 : i32
  %zero = arith.constant 0.0 : f32
  %z = tile.splat %zero : f32 -> !acc
  %a = tgpu.alloc_shared "A" : !s
  %r = scf.for %i = %lo to %hi step %c2 iter_args(%acc = %z) -> (!acc) : i32 {
    tgpu.wgmma_fence
    %p = tgpu.wgmma %a, %a, %acc {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !s, !s, !acc -> !tgpu.pending<!acc>
    tgpu.wgmma_commit
    %d = tgpu.wgmma_wait 0, %p : !tgpu.pending<!acc> -> !acc
    %m = arith.muli %i, %c8 : i32
    %v = arith.addi %m, %f : i32
    %is = arith.cmpi sgt, %v, %e : i32
    %x = scf.if %is -> (!acc) {
      %y = arith.negf %d : !acc
      scf.yield %y : !acc
    } else {
      scf.yield %d : !acc
    }
    scf.yield %x : !acc
  }
  tgpu.store %r, %o : !acc, !tile.global<64x64xf32>
  tgpu.return
}

// CHECK-LABEL: tgpu.kernel @unsigned_loop
// CHECK-COUNT-1: scf.for
// CHECK-NOT: scf.for
// CHECK: tgpu.return
tgpu.kernel @unsigned_loop(%lo: i32, %hi: i32, %e: i32, %f: i32, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c8 = arith.constant 8 : i32
  %minus = arith.constant -8 : i32
  %zero = arith.constant 0.0 : f32
  %z = tile.splat %zero : f32 -> !acc
  %a = tgpu.alloc_shared "A" : !s
  %r = scf.for unsigned %i = %lo to %hi step %c1 iter_args(%acc = %z) -> (!acc) : i32 {
    tgpu.wgmma_fence
    %p = tgpu.wgmma %a, %a, %acc {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !s, !s, !acc -> !tgpu.pending<!acc>
    tgpu.wgmma_commit
    %d = tgpu.wgmma_wait 0, %p : !tgpu.pending<!acc> -> !acc
    %m = arith.muli %i, %c8 : i32
    %v = arith.addi %m, %f : i32
    %is = arith.cmpi sgt, %v, %e : i32
    %x = scf.if %is -> (!acc) {
      %y = arith.negf %d : !acc
      scf.yield %y : !acc
    } else {
      scf.yield %d : !acc
    }
    scf.yield %x : !acc
  }
  tgpu.store %r, %o : !acc, !tile.global<64x64xf32>
  tgpu.return
}
