// Places are between the bounds of the loop, and no iteration counts as one without the branch whose numbers wrap.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-split-loops,canonicalize))' -verify-diagnostics | FileCheck %s

#acc = #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">
!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!f = tensor<64x64xf32, #acc>
!p = !tgpu.pending<!f>

// The first iteration may take the branch: no iteration is without.
// CHECK-LABEL: tgpu.kernel @at_the_first(
// CHECK: scf.for %{{.*}} = %c0_i32 to %c10_i32 step
// CHECK: scf.if
// CHECK: tgpu.return
tgpu.kernel @at_the_first(%z: !f, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c10 = arith.constant 10 : i32
  %m1 = arith.constant -1 : i32
  %a = tgpu.alloc_shared "A" : !s
  %r = scf.for %j = %c0 to %c10 step %c1 iter_args(%c = %z) -> (!f) : i32 {
    %q = tgpu.wgmma %a, %a, %c {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !s, !s, !f -> !p
    %d = tgpu.wgmma_wait 0, %q : !p -> !f
    %t = arith.cmpi sgt, %j, %m1 : i32
    // expected-remark @+1 {{the loop is cut where this condition turns: no test and no branch before}}
    %x = scf.if %t -> (!f) {
      %y = math.exp2 %d : !f
      scf.yield %y : !f
    } else {
      scf.yield %d : !f
    }
    scf.yield %x : !f
  }
  tgpu.store %r, %o : !f, !tile.global<64x64xf32>
  tgpu.return
}

// The last one alone may.
// CHECK-LABEL: tgpu.kernel @at_the_last(
// CHECK: scf.for %{{.*}} = %c0_i32 to %c9_i32 step
// CHECK-NOT: scf.if
// CHECK: math.exp2
// CHECK: tgpu.return
tgpu.kernel @at_the_last(%z: !f, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c8 = arith.constant 8 : i32
  %c10 = arith.constant 10 : i32
  %a = tgpu.alloc_shared "A" : !s
  %r = scf.for %j = %c0 to %c10 step %c1 iter_args(%c = %z) -> (!f) : i32 {
    %q = tgpu.wgmma %a, %a, %c {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !s, !s, !f -> !p
    %d = tgpu.wgmma_wait 0, %q : !p -> !f
    %t = arith.cmpi sgt, %j, %c8 : i32
    // expected-remark @+1 {{the loop is cut where this condition turns: no test and no branch before}}
    %x = scf.if %t -> (!f) {
      %y = math.exp2 %d : !f
      scf.yield %y : !f
    } else {
      scf.yield %d : !f
    }
    scf.yield %x : !f
  }
  tgpu.store %r, %o : !f, !tile.global<64x64xf32>
  tgpu.return
}

// None does.
// CHECK-LABEL: tgpu.kernel @beyond_the_last(
// CHECK: scf.for %{{.*}} = %c0_i32 to %c10_i32 step
// CHECK-NOT: scf.if
// CHECK: tgpu.return
tgpu.kernel @beyond_the_last(%z: !f, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c9 = arith.constant 9 : i32
  %c10 = arith.constant 10 : i32
  %a = tgpu.alloc_shared "A" : !s
  %r = scf.for %j = %c0 to %c10 step %c1 iter_args(%c = %z) -> (!f) : i32 {
    %q = tgpu.wgmma %a, %a, %c {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !s, !s, !f -> !p
    %d = tgpu.wgmma_wait 0, %q : !p -> !f
    %t = arith.cmpi sgt, %j, %c9 : i32
    // expected-remark @+1 {{the loop is cut where this condition turns: no test and no branch before}}
    %x = scf.if %t -> (!f) {
      %y = math.exp2 %d : !f
      scf.yield %y : !f
    } else {
      scf.yield %d : !f
    }
    scf.yield %x : !f
  }
  tgpu.store %r, %o : !f, !tile.global<64x64xf32>
  tgpu.return
}

// Nor here.
// CHECK-LABEL: tgpu.kernel @far_beyond(
// CHECK: scf.for %{{.*}} = %c0_i32 to %c10_i32 step
// CHECK-NOT: scf.if
// CHECK: tgpu.return
tgpu.kernel @far_beyond(%z: !f, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c10 = arith.constant 10 : i32
  %c2147483647 = arith.constant 2147483647 : i32
  %a = tgpu.alloc_shared "A" : !s
  %r = scf.for %j = %c0 to %c10 step %c1 iter_args(%c = %z) -> (!f) : i32 {
    %q = tgpu.wgmma %a, %a, %c {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !s, !s, !f -> !p
    %d = tgpu.wgmma_wait 0, %q : !p -> !f
    %t = arith.cmpi sgt, %j, %c2147483647 : i32
    // expected-remark @+1 {{the loop is cut where this condition turns: no test and no branch before}}
    %x = scf.if %t -> (!f) {
      %y = math.exp2 %d : !f
      scf.yield %y : !f
    } else {
      scf.yield %d : !f
    }
    scf.yield %x : !f
  }
  tgpu.store %r, %o : !f, !tile.global<64x64xf32>
  tgpu.return
}

// All do.
// CHECK-LABEL: tgpu.kernel @far_before(
// CHECK: scf.for %{{.*}} = %c0_i32 to %c10_i32 step
// CHECK: scf.if
// CHECK: tgpu.return
tgpu.kernel @far_before(%z: !f, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c10 = arith.constant 10 : i32
  %m2147483648 = arith.constant -2147483648 : i32
  %a = tgpu.alloc_shared "A" : !s
  %r = scf.for %j = %c0 to %c10 step %c1 iter_args(%c = %z) -> (!f) : i32 {
    %q = tgpu.wgmma %a, %a, %c {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !s, !s, !f -> !p
    %d = tgpu.wgmma_wait 0, %q : !p -> !f
    %t = arith.cmpi sgt, %j, %m2147483648 : i32
    // expected-remark @+1 {{the loop is cut where this condition turns: no test and no branch before}}
    %x = scf.if %t -> (!f) {
      %y = math.exp2 %d : !f
      scf.yield %y : !f
    } else {
      scf.yield %d : !f
    }
    scf.yield %x : !f
  }
  tgpu.store %r, %o : !f, !tile.global<64x64xf32>
  tgpu.return
}

// A loop from 4: the place is the later of 4 and 3.
// CHECK-LABEL: tgpu.kernel @begins_later(
// CHECK: scf.for %{{.*}} = %c4_i32 to %c10_i32 step
// CHECK: scf.if
// CHECK: tgpu.return
tgpu.kernel @begins_later(%z: !f, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c4 = arith.constant 4 : i32
  %c10 = arith.constant 10 : i32
  %a = tgpu.alloc_shared "A" : !s
  %r = scf.for %j = %c4 to %c10 step %c1 iter_args(%c = %z) -> (!f) : i32 {
    %q = tgpu.wgmma %a, %a, %c {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !s, !s, !f -> !p
    %d = tgpu.wgmma_wait 0, %q : !p -> !f
    %t = arith.cmpi sgt, %j, %c2 : i32
    // expected-remark @+1 {{the loop is cut where this condition turns: no test and no branch before}}
    %x = scf.if %t -> (!f) {
      %y = math.exp2 %d : !f
      scf.yield %y : !f
    } else {
      scf.yield %d : !f
    }
    scf.yield %x : !f
  }
  tgpu.store %r, %o : !f, !tile.global<64x64xf32>
  tgpu.return
}

// Both loops are empty; the place is no later than the end, which is before the begin.
// CHECK-LABEL: tgpu.kernel @no_iterations(
// CHECK-NOT: scf.for
// CHECK: tgpu.return
tgpu.kernel @no_iterations(%z: !f, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c4 = arith.constant 4 : i32
  %a = tgpu.alloc_shared "A" : !s
  %r = scf.for %j = %c4 to %c1 step %c1 iter_args(%c = %z) -> (!f) : i32 {
    %q = tgpu.wgmma %a, %a, %c {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !s, !s, !f -> !p
    %d = tgpu.wgmma_wait 0, %q : !p -> !f
    %t = arith.cmpi sgt, %j, %c2 : i32
    // expected-remark @+1 {{the loop is cut where this condition turns: no test and no branch before}}
    %x = scf.if %t -> (!f) {
      %y = math.exp2 %d : !f
      scf.yield %y : !f
    } else {
      scf.yield %d : !f
    }
    scf.yield %x : !f
  }
  tgpu.store %r, %o : !f, !tile.global<64x64xf32>
  tgpu.return
}

// j - 2^31 - 5 wraps: it is 2^31 - 5 + j up to j = 4, which is above 100. No iteration counts as one without.
// CHECK-LABEL: tgpu.kernel @wraps_below(
// CHECK: scf.for %{{.*}} = %c0_i32 to %c10_i32 step
// CHECK: scf.if
// CHECK: tgpu.return
tgpu.kernel @wraps_below(%z: !f, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c5 = arith.constant 5 : i32
  %c10 = arith.constant 10 : i32
  %c100 = arith.constant 100 : i32
  %m2147483648 = arith.constant -2147483648 : i32
  %a = tgpu.alloc_shared "A" : !s
  %r = scf.for %j = %c0 to %c10 step %c1 iter_args(%c = %z) -> (!f) : i32 {
    %q = tgpu.wgmma %a, %a, %c {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !s, !s, !f -> !p
    %d = tgpu.wgmma_wait 0, %q : !p -> !f
    %u = arith.addi %j, %m2147483648 : i32
    %v = arith.subi %u, %c5 : i32
    %t = arith.cmpi sgt, %v, %c100 : i32
    // expected-remark @+1 {{the loop is cut where this condition turns: no test and no branch before}}
    %x = scf.if %t -> (!f) {
      %y = math.exp2 %d : !f
      scf.yield %y : !f
    } else {
      scf.yield %d : !f
    }
    scf.yield %x : !f
  }
  tgpu.store %r, %o : !f, !tile.global<64x64xf32>
  tgpu.return
}

// j - 2^31 does not.
// CHECK-LABEL: tgpu.kernel @reaches_below(
// CHECK: scf.for %{{.*}} = %c0_i32 to %c10_i32 step
// CHECK-NOT: scf.if
// CHECK: tgpu.return
tgpu.kernel @reaches_below(%z: !f, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c10 = arith.constant 10 : i32
  %c100 = arith.constant 100 : i32
  %m2147483648 = arith.constant -2147483648 : i32
  %a = tgpu.alloc_shared "A" : !s
  %r = scf.for %j = %c0 to %c10 step %c1 iter_args(%c = %z) -> (!f) : i32 {
    %q = tgpu.wgmma %a, %a, %c {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !s, !s, !f -> !p
    %d = tgpu.wgmma_wait 0, %q : !p -> !f
    %u = arith.addi %j, %m2147483648 : i32
    %t = arith.cmpi sgt, %u, %c100 : i32
    // expected-remark @+1 {{the loop is cut where this condition turns: no test and no branch before}}
    %x = scf.if %t -> (!f) {
      %y = math.exp2 %d : !f
      scf.yield %y : !f
    } else {
      scf.yield %d : !f
    }
    scf.yield %x : !f
  }
  tgpu.store %r, %o : !f, !tile.global<64x64xf32>
  tgpu.return
}

// j + 2^31 - 9 is below 0 at j = 9.
// CHECK-LABEL: tgpu.kernel @wraps_above(
// CHECK: scf.for %{{.*}} = %c0_i32 to %c10_i32 step
// CHECK: scf.if
// CHECK: tgpu.return
tgpu.kernel @wraps_above(%z: !f, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c10 = arith.constant 10 : i32
  %c2147483639 = arith.constant 2147483639 : i32
  %a = tgpu.alloc_shared "A" : !s
  %r = scf.for %j = %c0 to %c10 step %c1 iter_args(%c = %z) -> (!f) : i32 {
    %q = tgpu.wgmma %a, %a, %c {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !s, !s, !f -> !p
    %d = tgpu.wgmma_wait 0, %q : !p -> !f
    %u = arith.addi %j, %c2147483639 : i32
    %t = arith.cmpi slt, %u, %c0 : i32
    // expected-remark @+1 {{the loop is cut where this condition turns: no test and no branch behind}}
    %x = scf.if %t -> (!f) {
      %y = math.exp2 %d : !f
      scf.yield %y : !f
    } else {
      scf.yield %d : !f
    }
    scf.yield %x : !f
  }
  tgpu.store %r, %o : !f, !tile.global<64x64xf32>
  tgpu.return
}

// j + 2^31 - 10 is not.
// CHECK-LABEL: tgpu.kernel @reaches_above(
// CHECK: scf.for %{{.*}} = %c0_i32 to %c10_i32 step
// CHECK-NOT: scf.if
// CHECK: tgpu.return
tgpu.kernel @reaches_above(%z: !f, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c10 = arith.constant 10 : i32
  %c2147483638 = arith.constant 2147483638 : i32
  %a = tgpu.alloc_shared "A" : !s
  %r = scf.for %j = %c0 to %c10 step %c1 iter_args(%c = %z) -> (!f) : i32 {
    %q = tgpu.wgmma %a, %a, %c {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !s, !s, !f -> !p
    %d = tgpu.wgmma_wait 0, %q : !p -> !f
    %u = arith.addi %j, %c2147483638 : i32
    %t = arith.cmpi slt, %u, %c0 : i32
    // expected-remark @+1 {{the loop is cut where this condition turns: no test and no branch behind}}
    %x = scf.if %t -> (!f) {
      %y = math.exp2 %d : !f
      scf.yield %y : !f
    } else {
      scf.yield %d : !f
    }
    scf.yield %x : !f
  }
  tgpu.store %r, %o : !f, !tile.global<64x64xf32>
  tgpu.return
}

// What wraps where the branch stays does no harm: j + 2^31 - 9 > 2^31 - 5 is true for 5 to 8, not for 9.
// CHECK-LABEL: tgpu.kernel @masked_wraps(
// CHECK: scf.for %{{.*}} = %c0_i32 to %c5_i32 step
// CHECK-NOT: scf.if
// CHECK: scf.for %{{.*}} = %c5_i32 to %c10_i32 step
// CHECK: scf.if
// CHECK: tgpu.return
tgpu.kernel @masked_wraps(%z: !f, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c10 = arith.constant 10 : i32
  %c2147483639 = arith.constant 2147483639 : i32
  %c2147483643 = arith.constant 2147483643 : i32
  %a = tgpu.alloc_shared "A" : !s
  %r = scf.for %j = %c0 to %c10 step %c1 iter_args(%c = %z) -> (!f) : i32 {
    %q = tgpu.wgmma %a, %a, %c {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !s, !s, !f -> !p
    %d = tgpu.wgmma_wait 0, %q : !p -> !f
    %u = arith.addi %j, %c2147483639 : i32
    %t = arith.cmpi sgt, %u, %c2147483643 : i32
    // expected-remark @+1 {{the loop is cut where this condition turns: no test and no branch before}}
    %x = scf.if %t -> (!f) {
      %y = math.exp2 %d : !f
      scf.yield %y : !f
    } else {
      scf.yield %d : !f
    }
    scf.yield %x : !f
  }
  tgpu.store %r, %o : !f, !tile.global<64x64xf32>
  tgpu.return
}

// Iterations up to 2^31 - 2, the branch is taken in the last one: bounds and places are computed with 64 bits.
// CHECK-LABEL: tgpu.kernel @last_iterations(
// CHECK: scf.for %{{.*}} = %c2147483642_i32 to %c2147483646_i32 step
// CHECK-NOT: scf.if
// CHECK: math.exp2
// CHECK: tgpu.return
tgpu.kernel @last_iterations(%z: !f, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c1 = arith.constant 1 : i32
  %c2147483642 = arith.constant 2147483642 : i32
  %c2147483645 = arith.constant 2147483645 : i32
  %c2147483647 = arith.constant 2147483647 : i32
  %a = tgpu.alloc_shared "A" : !s
  %r = scf.for %j = %c2147483642 to %c2147483647 step %c1 iter_args(%c = %z) -> (!f) : i32 {
    %q = tgpu.wgmma %a, %a, %c {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !s, !s, !f -> !p
    %d = tgpu.wgmma_wait 0, %q : !p -> !f
    %t = arith.cmpi sgt, %j, %c2147483645 : i32
    // expected-remark @+1 {{the loop is cut where this condition turns: no test and no branch before}}
    %x = scf.if %t -> (!f) {
      %y = math.exp2 %d : !f
      scf.yield %y : !f
    } else {
      scf.yield %d : !f
    }
    scf.yield %x : !f
  }
  tgpu.store %r, %o : !f, !tile.global<64x64xf32>
  tgpu.return
}

// -2 j - 2^31 + 6 wraps from j = 4 on.
// CHECK-LABEL: tgpu.kernel @falling_wraps(
// CHECK: scf.for %{{.*}} = %c0_i32 to %c10_i32 step
// CHECK: scf.if
// CHECK: tgpu.return
tgpu.kernel @falling_wraps(%z: !f, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c10 = arith.constant 10 : i32
  %m2 = arith.constant -2 : i32
  %m2147483642 = arith.constant -2147483642 : i32
  %a = tgpu.alloc_shared "A" : !s
  %r = scf.for %j = %c0 to %c10 step %c1 iter_args(%c = %z) -> (!f) : i32 {
    %q = tgpu.wgmma %a, %a, %c {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !s, !s, !f -> !p
    %d = tgpu.wgmma_wait 0, %q : !p -> !f
    %u = arith.muli %j, %m2 : i32
    %v = arith.addi %u, %m2147483642 : i32
    %t = arith.cmpi sgt, %v, %c0 : i32
    // expected-remark @+1 {{the loop is cut where this condition turns: no test and no branch behind}}
    %x = scf.if %t -> (!f) {
      %y = math.exp2 %d : !f
      scf.yield %y : !f
    } else {
      scf.yield %d : !f
    }
    scf.yield %x : !f
  }
  tgpu.store %r, %o : !f, !tile.global<64x64xf32>
  tgpu.return
}

// A factor of 2^24: 2^24 j > 2^30 is true from 65 on, and 2^24 * 128 is -2^31.
// CHECK-LABEL: tgpu.kernel @products_wrap(
// CHECK: scf.for %{{.*}} = %c0_i32 to %c65_i32 step
// CHECK-NOT: scf.if
// CHECK: scf.for %{{.*}} = %c65_i32 to %c200_i32 step
// CHECK: scf.if
// CHECK: tgpu.return
tgpu.kernel @products_wrap(%z: !f, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c200 = arith.constant 200 : i32
  %c16777216 = arith.constant 16777216 : i32
  %c1073741824 = arith.constant 1073741824 : i32
  %a = tgpu.alloc_shared "A" : !s
  %r = scf.for %j = %c0 to %c200 step %c1 iter_args(%c = %z) -> (!f) : i32 {
    %q = tgpu.wgmma %a, %a, %c {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !s, !s, !f -> !p
    %d = tgpu.wgmma_wait 0, %q : !p -> !f
    %u = arith.muli %j, %c16777216 : i32
    %t = arith.cmpi sgt, %u, %c1073741824 : i32
    // expected-remark @+1 {{the loop is cut where this condition turns: no test and no branch before}}
    %x = scf.if %t -> (!f) {
      %y = math.exp2 %d : !f
      scf.yield %y : !f
    } else {
      scf.yield %d : !f
    }
    scf.yield %x : !f
  }
  tgpu.store %r, %o : !f, !tile.global<64x64xf32>
  tgpu.return
}

// And < 2^30 up to 63, but again from 128 on: no iteration counts as one without.
// CHECK-LABEL: tgpu.kernel @half_wrap(
// CHECK: scf.for %{{.*}} = %c0_i32 to %c200_i32 step
// CHECK: scf.if
// CHECK: tgpu.return
tgpu.kernel @half_wrap(%z: !f, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c200 = arith.constant 200 : i32
  %c16777216 = arith.constant 16777216 : i32
  %c1073741824 = arith.constant 1073741824 : i32
  %a = tgpu.alloc_shared "A" : !s
  %r = scf.for %j = %c0 to %c200 step %c1 iter_args(%c = %z) -> (!f) : i32 {
    %q = tgpu.wgmma %a, %a, %c {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !s, !s, !f -> !p
    %d = tgpu.wgmma_wait 0, %q : !p -> !f
    %u = arith.muli %j, %c16777216 : i32
    %t = arith.cmpi slt, %u, %c1073741824 : i32
    // expected-remark @+1 {{the loop is cut where this condition turns: no test and no branch behind}}
    %x = scf.if %t -> (!f) {
      %y = math.exp2 %d : !f
      scf.yield %y : !f
    } else {
      scf.yield %d : !f
    }
    scf.yield %x : !f
  }
  tgpu.store %r, %o : !f, !tile.global<64x64xf32>
  tgpu.return
}
