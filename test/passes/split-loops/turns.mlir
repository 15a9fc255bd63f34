// Where a comparison turns, for each kind and both directions: the first iteration with the branch, or the first without.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-split-loops,canonicalize))' -verify-diagnostics | FileCheck %s

#acc = #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">
!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!f = tensor<64x64xf32, #acc>
!p = !tgpu.pending<!f>

// 3 j + 1 > 16 is true from 6 on: at 5 it is 16.
// CHECK-LABEL: tgpu.kernel @sgt(
// CHECK: scf.for %{{.*}} = %c0_i32 to %c6_i32 step
// CHECK-NOT: scf.if
// CHECK: scf.for %{{.*}} = %c6_i32 to %c10_i32 step
// CHECK: scf.if
// CHECK: tgpu.return
tgpu.kernel @sgt(%z: !f, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c3 = arith.constant 3 : i32
  %c10 = arith.constant 10 : i32
  %c16 = arith.constant 16 : i32
  %a = tgpu.alloc_shared "A" : !s
  %r = scf.for %j = %c0 to %c10 step %c1 iter_args(%c = %z) -> (!f) : i32 {
    %q = tgpu.wgmma %a, %a, %c {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !s, !s, !f -> !p
    %d = tgpu.wgmma_wait 0, %q : !p -> !f
    %u = arith.muli %j, %c3 : i32
    %v = arith.addi %u, %c1 : i32
    %t = arith.cmpi sgt, %v, %c16 : i32
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

// >= 16 from 5 on.
// CHECK-LABEL: tgpu.kernel @sge(
// CHECK: scf.for %{{.*}} = %c0_i32 to %c5_i32 step
// CHECK-NOT: scf.if
// CHECK: scf.for %{{.*}} = %c5_i32 to %c10_i32 step
// CHECK: scf.if
// CHECK: tgpu.return
tgpu.kernel @sge(%z: !f, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c3 = arith.constant 3 : i32
  %c10 = arith.constant 10 : i32
  %c16 = arith.constant 16 : i32
  %a = tgpu.alloc_shared "A" : !s
  %r = scf.for %j = %c0 to %c10 step %c1 iter_args(%c = %z) -> (!f) : i32 {
    %q = tgpu.wgmma %a, %a, %c {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !s, !s, !f -> !p
    %d = tgpu.wgmma_wait 0, %q : !p -> !f
    %u = arith.muli %j, %c3 : i32
    %v = arith.addi %u, %c1 : i32
    %t = arith.cmpi sge, %v, %c16 : i32
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

// < 16 up to 4: the branch stays where it may be taken.
// CHECK-LABEL: tgpu.kernel @slt(
// CHECK: scf.for %{{.*}} = %c0_i32 to %c5_i32 step
// CHECK: scf.if
// CHECK: scf.for %{{.*}} = %c5_i32 to %c10_i32 step
// CHECK-NOT: scf.if
// CHECK: tgpu.return
tgpu.kernel @slt(%z: !f, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c3 = arith.constant 3 : i32
  %c10 = arith.constant 10 : i32
  %c16 = arith.constant 16 : i32
  %a = tgpu.alloc_shared "A" : !s
  %r = scf.for %j = %c0 to %c10 step %c1 iter_args(%c = %z) -> (!f) : i32 {
    %q = tgpu.wgmma %a, %a, %c {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !s, !s, !f -> !p
    %d = tgpu.wgmma_wait 0, %q : !p -> !f
    %u = arith.muli %j, %c3 : i32
    %v = arith.addi %u, %c1 : i32
    %t = arith.cmpi slt, %v, %c16 : i32
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

// <= 16 up to 5.
// CHECK-LABEL: tgpu.kernel @sle(
// CHECK: scf.for %{{.*}} = %c0_i32 to %c6_i32 step
// CHECK: scf.if
// CHECK: scf.for %{{.*}} = %c6_i32 to %c10_i32 step
// CHECK-NOT: scf.if
// CHECK: tgpu.return
tgpu.kernel @sle(%z: !f, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c3 = arith.constant 3 : i32
  %c10 = arith.constant 10 : i32
  %c16 = arith.constant 16 : i32
  %a = tgpu.alloc_shared "A" : !s
  %r = scf.for %j = %c0 to %c10 step %c1 iter_args(%c = %z) -> (!f) : i32 {
    %q = tgpu.wgmma %a, %a, %c {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !s, !s, !f -> !p
    %d = tgpu.wgmma_wait 0, %q : !p -> !f
    %u = arith.muli %j, %c3 : i32
    %v = arith.addi %u, %c1 : i32
    %t = arith.cmpi sle, %v, %c16 : i32
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

// 16 - 3 j < 1 is true from 6 on: at 5 it is 1.
// CHECK-LABEL: tgpu.kernel @falling_slt(
// CHECK: scf.for %{{.*}} = %c0_i32 to %c6_i32 step
// CHECK-NOT: scf.if
// CHECK: scf.for %{{.*}} = %c6_i32 to %c10_i32 step
// CHECK: scf.if
// CHECK: tgpu.return
tgpu.kernel @falling_slt(%z: !f, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c10 = arith.constant 10 : i32
  %c16 = arith.constant 16 : i32
  %m3 = arith.constant -3 : i32
  %a = tgpu.alloc_shared "A" : !s
  %r = scf.for %j = %c0 to %c10 step %c1 iter_args(%c = %z) -> (!f) : i32 {
    %q = tgpu.wgmma %a, %a, %c {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !s, !s, !f -> !p
    %d = tgpu.wgmma_wait 0, %q : !p -> !f
    %u = arith.muli %j, %m3 : i32
    %v = arith.addi %u, %c16 : i32
    %t = arith.cmpi slt, %v, %c1 : i32
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

// <= 1 from 5 on.
// CHECK-LABEL: tgpu.kernel @falling_sle(
// CHECK: scf.for %{{.*}} = %c0_i32 to %c5_i32 step
// CHECK-NOT: scf.if
// CHECK: scf.for %{{.*}} = %c5_i32 to %c10_i32 step
// CHECK: scf.if
// CHECK: tgpu.return
tgpu.kernel @falling_sle(%z: !f, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c10 = arith.constant 10 : i32
  %c16 = arith.constant 16 : i32
  %m3 = arith.constant -3 : i32
  %a = tgpu.alloc_shared "A" : !s
  %r = scf.for %j = %c0 to %c10 step %c1 iter_args(%c = %z) -> (!f) : i32 {
    %q = tgpu.wgmma %a, %a, %c {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !s, !s, !f -> !p
    %d = tgpu.wgmma_wait 0, %q : !p -> !f
    %u = arith.muli %j, %m3 : i32
    %v = arith.addi %u, %c16 : i32
    %t = arith.cmpi sle, %v, %c1 : i32
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

// > 1 up to 4.
// CHECK-LABEL: tgpu.kernel @falling_sgt(
// CHECK: scf.for %{{.*}} = %c0_i32 to %c5_i32 step
// CHECK: scf.if
// CHECK: scf.for %{{.*}} = %c5_i32 to %c10_i32 step
// CHECK-NOT: scf.if
// CHECK: tgpu.return
tgpu.kernel @falling_sgt(%z: !f, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c10 = arith.constant 10 : i32
  %c16 = arith.constant 16 : i32
  %m3 = arith.constant -3 : i32
  %a = tgpu.alloc_shared "A" : !s
  %r = scf.for %j = %c0 to %c10 step %c1 iter_args(%c = %z) -> (!f) : i32 {
    %q = tgpu.wgmma %a, %a, %c {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !s, !s, !f -> !p
    %d = tgpu.wgmma_wait 0, %q : !p -> !f
    %u = arith.muli %j, %m3 : i32
    %v = arith.addi %u, %c16 : i32
    %t = arith.cmpi sgt, %v, %c1 : i32
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

// >= 1 up to 5.
// CHECK-LABEL: tgpu.kernel @falling_sge(
// CHECK: scf.for %{{.*}} = %c0_i32 to %c6_i32 step
// CHECK: scf.if
// CHECK: scf.for %{{.*}} = %c6_i32 to %c10_i32 step
// CHECK-NOT: scf.if
// CHECK: tgpu.return
tgpu.kernel @falling_sge(%z: !f, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c10 = arith.constant 10 : i32
  %c16 = arith.constant 16 : i32
  %m3 = arith.constant -3 : i32
  %a = tgpu.alloc_shared "A" : !s
  %r = scf.for %j = %c0 to %c10 step %c1 iter_args(%c = %z) -> (!f) : i32 {
    %q = tgpu.wgmma %a, %a, %c {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !s, !s, !f -> !p
    %d = tgpu.wgmma_wait 0, %q : !p -> !f
    %u = arith.muli %j, %m3 : i32
    %v = arith.addi %u, %c16 : i32
    %t = arith.cmpi sge, %v, %c1 : i32
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

// A bound that no iteration meets: 16, then 19.
// CHECK-LABEL: tgpu.kernel @between(
// CHECK: scf.for %{{.*}} = %c0_i32 to %c6_i32 step
// CHECK-NOT: scf.if
// CHECK: scf.for %{{.*}} = %c6_i32 to %c10_i32 step
// CHECK: scf.if
// CHECK: tgpu.return
tgpu.kernel @between(%z: !f, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c3 = arith.constant 3 : i32
  %c10 = arith.constant 10 : i32
  %c17 = arith.constant 17 : i32
  %a = tgpu.alloc_shared "A" : !s
  %r = scf.for %j = %c0 to %c10 step %c1 iter_args(%c = %z) -> (!f) : i32 {
    %q = tgpu.wgmma %a, %a, %c {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !s, !s, !f -> !p
    %d = tgpu.wgmma_wait 0, %q : !p -> !f
    %u = arith.muli %j, %c3 : i32
    %v = arith.addi %u, %c1 : i32
    %t = arith.cmpi sge, %v, %c17 : i32
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

// 4, then 1.
// CHECK-LABEL: tgpu.kernel @falling_between(
// CHECK: scf.for %{{.*}} = %c0_i32 to %c5_i32 step
// CHECK: scf.if
// CHECK: scf.for %{{.*}} = %c5_i32 to %c10_i32 step
// CHECK-NOT: scf.if
// CHECK: tgpu.return
tgpu.kernel @falling_between(%z: !f, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c10 = arith.constant 10 : i32
  %c16 = arith.constant 16 : i32
  %m3 = arith.constant -3 : i32
  %a = tgpu.alloc_shared "A" : !s
  %r = scf.for %j = %c0 to %c10 step %c1 iter_args(%c = %z) -> (!f) : i32 {
    %q = tgpu.wgmma %a, %a, %c {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !s, !s, !f -> !p
    %d = tgpu.wgmma_wait 0, %q : !p -> !f
    %u = arith.muli %j, %m3 : i32
    %v = arith.addi %u, %c16 : i32
    %t = arith.cmpi sgt, %v, %c2 : i32
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

// Quotients are rounded down, below 0 too: 3 j - 30 > -17 from 5 on, where it is -15.
// CHECK-LABEL: tgpu.kernel @below_zero(
// CHECK: scf.for %{{.*}} = %c0_i32 to %c5_i32 step
// CHECK-NOT: scf.if
// CHECK: scf.for %{{.*}} = %c5_i32 to %c10_i32 step
// CHECK: scf.if
// CHECK: tgpu.return
tgpu.kernel @below_zero(%z: !f, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c3 = arith.constant 3 : i32
  %c10 = arith.constant 10 : i32
  %m17 = arith.constant -17 : i32
  %m30 = arith.constant -30 : i32
  %a = tgpu.alloc_shared "A" : !s
  %r = scf.for %j = %c0 to %c10 step %c1 iter_args(%c = %z) -> (!f) : i32 {
    %q = tgpu.wgmma %a, %a, %c {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !s, !s, !f -> !p
    %d = tgpu.wgmma_wait 0, %q : !p -> !f
    %u = arith.muli %j, %c3 : i32
    %v = arith.addi %u, %m30 : i32
    %t = arith.cmpi sgt, %v, %m17 : i32
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

// -2 - 3 j < -16 from 5 on, where it is -17.
// CHECK-LABEL: tgpu.kernel @falling_below_zero(
// CHECK: scf.for %{{.*}} = %c0_i32 to %c5_i32 step
// CHECK-NOT: scf.if
// CHECK: scf.for %{{.*}} = %c5_i32 to %c10_i32 step
// CHECK: scf.if
// CHECK: tgpu.return
tgpu.kernel @falling_below_zero(%z: !f, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c10 = arith.constant 10 : i32
  %m2 = arith.constant -2 : i32
  %m3 = arith.constant -3 : i32
  %m16 = arith.constant -16 : i32
  %a = tgpu.alloc_shared "A" : !s
  %r = scf.for %j = %c0 to %c10 step %c1 iter_args(%c = %z) -> (!f) : i32 {
    %q = tgpu.wgmma %a, %a, %c {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !s, !s, !f -> !p
    %d = tgpu.wgmma_wait 0, %q : !p -> !f
    %u = arith.muli %j, %m3 : i32
    %v = arith.addi %u, %m2 : i32
    %t = arith.cmpi slt, %v, %m16 : i32
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

// 16 < 3 j + 1, from 6 on.
// CHECK-LABEL: tgpu.kernel @mirrored(
// CHECK: scf.for %{{.*}} = %c0_i32 to %c6_i32 step
// CHECK-NOT: scf.if
// CHECK: scf.for %{{.*}} = %c6_i32 to %c10_i32 step
// CHECK: scf.if
// CHECK: tgpu.return
tgpu.kernel @mirrored(%z: !f, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c3 = arith.constant 3 : i32
  %c10 = arith.constant 10 : i32
  %c16 = arith.constant 16 : i32
  %a = tgpu.alloc_shared "A" : !s
  %r = scf.for %j = %c0 to %c10 step %c1 iter_args(%c = %z) -> (!f) : i32 {
    %q = tgpu.wgmma %a, %a, %c {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !s, !s, !f -> !p
    %d = tgpu.wgmma_wait 0, %q : !p -> !f
    %u = arith.muli %j, %c3 : i32
    %v = arith.addi %u, %c1 : i32
    %t = arith.cmpi slt, %c16, %v : i32
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

// 1 <= 16 - 3 j, up to 5.
// CHECK-LABEL: tgpu.kernel @mirrored_falling(
// CHECK: scf.for %{{.*}} = %c0_i32 to %c6_i32 step
// CHECK: scf.if
// CHECK: scf.for %{{.*}} = %c6_i32 to %c10_i32 step
// CHECK-NOT: scf.if
// CHECK: tgpu.return
tgpu.kernel @mirrored_falling(%z: !f, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c10 = arith.constant 10 : i32
  %c16 = arith.constant 16 : i32
  %m3 = arith.constant -3 : i32
  %a = tgpu.alloc_shared "A" : !s
  %r = scf.for %j = %c0 to %c10 step %c1 iter_args(%c = %z) -> (!f) : i32 {
    %q = tgpu.wgmma %a, %a, %c {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !s, !s, !f -> !p
    %d = tgpu.wgmma_wait 0, %q : !p -> !f
    %u = arith.muli %j, %m3 : i32
    %v = arith.addi %u, %c16 : i32
    %t = arith.cmpi sle, %c1, %v : i32
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
