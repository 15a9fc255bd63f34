// A loop of products is cut where the condition of a branch turns: the half in which it is false has no branch, the other is as it was.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-split-loops))' | FileCheck %s

!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>

// 8 i + f > e is false up to floor((e - f) / 8), provided that 8 lo + f is no less than -2^31.
// CHECK-LABEL: tgpu.kernel @rises
// CHECK-SAME: %[[LO:[a-z0-9]+]]: i32, %[[HI:[a-z0-9]+]]: i32, %[[E:[a-z0-9]+]]: i32, %[[F:[a-z0-9]+]]: i32
// CHECK: %[[F64:.*]] = arith.extsi %[[F]]
// CHECK: %[[B:.*]] = arith.addi %{{.*}}, %[[F64]]
// CHECK: %[[E64:.*]] = arith.extsi %[[E]]
// CHECK: %[[LIMIT:.*]] = arith.addi %{{.*}}, %[[E64]]
// CHECK: %[[DISTANCE:.*]] = arith.subi %[[LIMIT]], %[[B]]
// CHECK: %[[STEPS:.*]] = arith.floordivsi %[[DISTANCE]]
// CHECK: arith.addi %[[STEPS]]
// CHECK: %[[LEAST:.*]] = arith.constant -2147483648 : i64
// CHECK: %[[EXACT:.*]] = arith.cmpi sge, %{{.*}}, %[[LEAST]]
// CHECK: arith.select %[[EXACT]]
// CHECK: %[[BELOW:.*]] = arith.maxsi %{{.*}}, %[[LO]]
// CHECK: %[[CUT:.*]] = arith.minsi %[[BELOW]], %[[HI]]
// CHECK: %[[FIRST:.*]] = scf.for {{.*}} = %[[LO]] to %[[CUT]]
// CHECK-NOT: scf.if
// CHECK: scf.for {{.*}} = %[[CUT]] to %[[HI]] {{.*}} iter_args(%{{.*}} = %[[FIRST]])
// CHECK: scf.if
tgpu.kernel @rises(%lo: i32, %hi: i32, %e: i32, %f: i32, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
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

// Not above, but at least: the limit is one less.
// CHECK-LABEL: tgpu.kernel @at_least
// CHECK: %[[ONE:.*]] = arith.constant 1 : i64
// CHECK: arith.subi %{{.*}}, %[[ONE]]
// CHECK: arith.floordivsi
// CHECK: scf.for
// CHECK-NOT: scf.if
// CHECK: scf.for
// CHECK: scf.if
tgpu.kernel @at_least(%lo: i32, %hi: i32, %e: i32, %f: i32, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
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
    %is = arith.cmpi sge, %v, %e : i32
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

// Below an edge at first: the last half has no branch, where 8 (hi - 1) + f is no more than 2^31 - 1.
// CHECK-LABEL: tgpu.kernel @at_first
// CHECK: %[[MOST:.*]] = arith.constant 2147483647 : i64
// CHECK: arith.cmpi sle, %{{.*}}, %[[MOST]]
// CHECK: scf.for
// CHECK: scf.if
// CHECK: scf.for
// CHECK-NOT: scf.if
// CHECK: tgpu.return
tgpu.kernel @at_first(%lo: i32, %hi: i32, %e: i32, %f: i32, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
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
    %is = arith.cmpi slt, %v, %e : i32
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

// -8 i + f < e: the first iteration with a value of at most e - 1 is ceil((f - (e - 1)) / 8).
// CHECK-LABEL: tgpu.kernel @falls
// CHECK: arith.ceildivsi
// CHECK: scf.for
// CHECK-NOT: scf.if
// CHECK: scf.for
// CHECK: scf.if
tgpu.kernel @falls(%lo: i32, %hi: i32, %e: i32, %f: i32, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
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
    %m = arith.muli %i, %minus : i32
    %v = arith.addi %m, %f : i32
    %is = arith.cmpi slt, %v, %e : i32
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

// Both have to be false: the lesser of two places.
// CHECK-LABEL: tgpu.kernel @either
// CHECK: %[[A:.*]] = arith.minsi %{{.*}}, %{{.*}} : i32
// CHECK: %[[B:.*]] = arith.minsi %{{.*}}, %{{.*}} : i32
// CHECK: %[[CUT:.*]] = arith.minsi %[[A]], %[[B]]
// CHECK: scf.for {{.*}} to %[[CUT]]
tgpu.kernel @either(%lo: i32, %hi: i32, %e: i32, %f: i32, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
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
    %h = arith.cmpi sgt, %i, %f : i32
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

// One of them is enough: the greater.
// CHECK-LABEL: tgpu.kernel @both
// CHECK: %[[A:.*]] = arith.minsi %{{.*}}, %{{.*}} : i32
// CHECK: %[[B:.*]] = arith.minsi %{{.*}}, %{{.*}} : i32
// CHECK: %[[CUT:.*]] = arith.maxsi %[[A]], %[[B]]
// CHECK: scf.for {{.*}} to %[[CUT]]
tgpu.kernel @both(%lo: i32, %hi: i32, %e: i32, %f: i32, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
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
    %h = arith.cmpi sgt, %i, %f : i32
    %is = arith.andi %g, %h : i1
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

// What the other side does takes the branch's place.
// CHECK-LABEL: tgpu.kernel @otherwise
// CHECK: scf.for
// CHECK: math.absf
// CHECK: scf.yield
// CHECK: scf.for
// CHECK: scf.if
tgpu.kernel @otherwise(%lo: i32, %hi: i32, %e: i32, %f: i32, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
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
    %is = arith.cmpi sgt, %v, %e : i32
    %x = scf.if %is -> (!acc) {
      %y = arith.negf %d : !acc
      scf.yield %y : !acc
    } else {
      %w = math.absf %d : !acc
      scf.yield %w : !acc
    }
    scf.yield %x : !acc
  }
  tgpu.store %r, %o : !acc, !tile.global<64x64xf32>
  tgpu.return
}
