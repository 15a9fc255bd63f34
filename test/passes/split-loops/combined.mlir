// Of an `or` that is to be false both terms have to be, of an `and` one.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-split-loops,canonicalize))' -verify-diagnostics | FileCheck %s

#acc = #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">
!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!f = tensor<64x64xf32, #acc>
!p = !tgpu.pending<!f>

// Both terms of an `or` are false up to 3, one up to 6.
// CHECK-LABEL: tgpu.kernel @or_above(
// CHECK: scf.for %{{.*}} = %c0_i32 to %c4_i32 step
// CHECK-NOT: scf.if
// CHECK: scf.for %{{.*}} = %c4_i32 to %c10_i32 step
// CHECK: scf.if
// CHECK: tgpu.return
tgpu.kernel @or_above(%z: !f, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c3 = arith.constant 3 : i32
  %c6 = arith.constant 6 : i32
  %c10 = arith.constant 10 : i32
  %a = tgpu.alloc_shared "A" : !s
  %r = scf.for %j = %c0 to %c10 step %c1 iter_args(%c = %z) -> (!f) : i32 {
    %q = tgpu.wgmma %a, %a, %c {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !s, !s, !f -> !p
    %d = tgpu.wgmma_wait 0, %q : !p -> !f
    %l = arith.cmpi sgt, %j, %c6 : i32
    %g = arith.cmpi sgt, %j, %c3 : i32
    %t = arith.ori %l, %g : i1
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

// One of an `and` is enough.
// CHECK-LABEL: tgpu.kernel @and_above(
// CHECK: scf.for %{{.*}} = %c0_i32 to %c7_i32 step
// CHECK-NOT: scf.if
// CHECK: scf.for %{{.*}} = %c7_i32 to %c10_i32 step
// CHECK: scf.if
// CHECK: tgpu.return
tgpu.kernel @and_above(%z: !f, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c3 = arith.constant 3 : i32
  %c6 = arith.constant 6 : i32
  %c10 = arith.constant 10 : i32
  %a = tgpu.alloc_shared "A" : !s
  %r = scf.for %j = %c0 to %c10 step %c1 iter_args(%c = %z) -> (!f) : i32 {
    %q = tgpu.wgmma %a, %a, %c {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !s, !s, !f -> !p
    %d = tgpu.wgmma_wait 0, %q : !p -> !f
    %l = arith.cmpi sgt, %j, %c6 : i32
    %g = arith.cmpi sgt, %j, %c3 : i32
    %t = arith.andi %l, %g : i1
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

// Both are false from 6 on.
// CHECK-LABEL: tgpu.kernel @or_below(
// CHECK: scf.for %{{.*}} = %c0_i32 to %c6_i32 step
// CHECK: scf.if
// CHECK: scf.for %{{.*}} = %c6_i32 to %c10_i32 step
// CHECK-NOT: scf.if
// CHECK: tgpu.return
tgpu.kernel @or_below(%z: !f, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c3 = arith.constant 3 : i32
  %c6 = arith.constant 6 : i32
  %c10 = arith.constant 10 : i32
  %a = tgpu.alloc_shared "A" : !s
  %r = scf.for %j = %c0 to %c10 step %c1 iter_args(%c = %z) -> (!f) : i32 {
    %q = tgpu.wgmma %a, %a, %c {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !s, !s, !f -> !p
    %d = tgpu.wgmma_wait 0, %q : !p -> !f
    %l = arith.cmpi slt, %j, %c6 : i32
    %g = arith.cmpi slt, %j, %c3 : i32
    %t = arith.ori %l, %g : i1
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

// One is from 3 on.
// CHECK-LABEL: tgpu.kernel @and_below(
// CHECK: scf.for %{{.*}} = %c0_i32 to %c3_i32 step
// CHECK: scf.if
// CHECK: scf.for %{{.*}} = %c3_i32 to %c10_i32 step
// CHECK-NOT: scf.if
// CHECK: tgpu.return
tgpu.kernel @and_below(%z: !f, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c3 = arith.constant 3 : i32
  %c6 = arith.constant 6 : i32
  %c10 = arith.constant 10 : i32
  %a = tgpu.alloc_shared "A" : !s
  %r = scf.for %j = %c0 to %c10 step %c1 iter_args(%c = %z) -> (!f) : i32 {
    %q = tgpu.wgmma %a, %a, %c {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !s, !s, !f -> !p
    %d = tgpu.wgmma_wait 0, %q : !p -> !f
    %l = arith.cmpi slt, %j, %c6 : i32
    %g = arith.cmpi slt, %j, %c3 : i32
    %t = arith.andi %l, %g : i1
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

// An `and` of two that turn in different directions is false before one, and behind the other: the first side is taken.
// CHECK-LABEL: tgpu.kernel @both_ends(
// CHECK: scf.for %{{.*}} = %c0_i32 to %c4_i32 step
// CHECK-NOT: scf.if
// CHECK: scf.for %{{.*}} = %c4_i32 to %c10_i32 step
// CHECK: scf.if
// CHECK: tgpu.return
tgpu.kernel @both_ends(%z: !f, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c3 = arith.constant 3 : i32
  %c6 = arith.constant 6 : i32
  %c10 = arith.constant 10 : i32
  %a = tgpu.alloc_shared "A" : !s
  %r = scf.for %j = %c0 to %c10 step %c1 iter_args(%c = %z) -> (!f) : i32 {
    %q = tgpu.wgmma %a, %a, %c {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !s, !s, !f -> !p
    %d = tgpu.wgmma_wait 0, %q : !p -> !f
    %l = arith.cmpi sgt, %j, %c3 : i32
    %g = arith.cmpi slt, %j, %c6 : i32
    %t = arith.andi %l, %g : i1
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

// Of an `and` nothing need be known of the other term.
// CHECK-LABEL: tgpu.kernel @and_unknown(
// CHECK: scf.for %{{.*}} = %c0_i32 to %c7_i32 step
// CHECK-NOT: scf.if
// CHECK: scf.for %{{.*}} = %c7_i32 to %c10_i32 step
// CHECK: scf.if
// CHECK: tgpu.return
tgpu.kernel @and_unknown(%u: i1, %z: !f, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c6 = arith.constant 6 : i32
  %c10 = arith.constant 10 : i32
  %a = tgpu.alloc_shared "A" : !s
  %r = scf.for %j = %c0 to %c10 step %c1 iter_args(%c = %z) -> (!f) : i32 {
    %q = tgpu.wgmma %a, %a, %c {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !s, !s, !f -> !p
    %d = tgpu.wgmma_wait 0, %q : !p -> !f
    %g = arith.cmpi sgt, %j, %c6 : i32
    %t = arith.andi %u, %g : i1
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

// (j > 6 or j > 3) and j > 8 or j > 5: false up to 5, where j > 8 and j > 5 are.
// CHECK-LABEL: tgpu.kernel @nested(
// CHECK: scf.for %{{.*}} = %c0_i32 to %c6_i32 step
// CHECK-NOT: scf.if
// CHECK: scf.for %{{.*}} = %c6_i32 to %c10_i32 step
// CHECK: scf.if
// CHECK: tgpu.return
tgpu.kernel @nested(%z: !f, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c3 = arith.constant 3 : i32
  %c5 = arith.constant 5 : i32
  %c6 = arith.constant 6 : i32
  %c8 = arith.constant 8 : i32
  %c10 = arith.constant 10 : i32
  %a = tgpu.alloc_shared "A" : !s
  %r = scf.for %j = %c0 to %c10 step %c1 iter_args(%c = %z) -> (!f) : i32 {
    %q = tgpu.wgmma %a, %a, %c {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !s, !s, !f -> !p
    %d = tgpu.wgmma_wait 0, %q : !p -> !f
    %l = arith.cmpi sgt, %j, %c6 : i32
    %g = arith.cmpi sgt, %j, %c3 : i32
    %b = arith.ori %l, %g : i1
    %h = arith.cmpi sgt, %j, %c8 : i32
    %n = arith.andi %b, %h : i1
    %i = arith.cmpi sgt, %j, %c5 : i32
    %t = arith.ori %n, %i : i1
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
