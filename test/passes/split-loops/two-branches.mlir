// Two branches of one loop: both parts of it are cut once more, for the other branch; loops that are empty here go away. More cuts there are not.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-split-loops,canonicalize))' -verify-diagnostics | FileCheck %s

#acc = #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">
!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!f = tensor<64x64xf32, #acc>
!p = !tgpu.pending<!f>
!fa = tensor<64x16xf16, #tgpu.fragment<"64x16 reg 0,1:8,0:0,8 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!fb = tensor<16x64xf16, #tgpu.fragment<"16x64 reg 1,0:8,0:0,8:0,16:0,32 lane 2,0:4,0:0,1:0,2:0,4 warp 0,0:0,0">>

// Both at the end: none, one, both.
// CHECK-LABEL: tgpu.kernel @same_direction(
// CHECK: scf.for %{{.*}} = %c0_i32 to %c4_i32 step
// CHECK-NOT: scf.if
// CHECK: scf.for %{{.*}} = %c4_i32 to %c7_i32 step
// CHECK: arith.cmpi sgt, %{{.*}}, %c3_i32
// CHECK-NEXT: %{{.*}} = scf.if
// CHECK-NOT: scf.if
// CHECK: scf.for %{{.*}} = %c7_i32 to %c10_i32 step
// CHECK: arith.cmpi sgt, %{{.*}}, %c3_i32
// CHECK-NEXT: %{{.*}} = scf.if
// CHECK: arith.cmpi sgt, %{{.*}}, %c6_i32
// CHECK-NEXT: %{{.*}} = scf.if
// CHECK-NOT: scf.if
// CHECK: tgpu.return
tgpu.kernel @same_direction(%z: !f, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c3 = arith.constant 3 : i32
  %c6 = arith.constant 6 : i32
  %c10 = arith.constant 10 : i32
  %a = tgpu.alloc_shared "A" : !s
  %r = scf.for %j = %c0 to %c10 step %c1 iter_args(%c = %z) -> (!f) : i32 {
    %q = tgpu.wgmma %a, %a, %c {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !s, !s, !f -> !p
    %d = tgpu.wgmma_wait 0, %q : !p -> !f
    %t1 = arith.cmpi sgt, %j, %c3 : i32
    // expected-remark @+1 {{the loop is cut where this condition turns: no test and no branch before}}
    %x1 = scf.if %t1 -> (!f) {
      %y1 = math.exp2 %d : !f
      scf.yield %y1 : !f
    } else {
      scf.yield %d : !f
    }
    %t2 = arith.cmpi sgt, %j, %c6 : i32
    // expected-remark @+1 {{the loop is cut where this condition turns: no test and no branch before}}
    %x2 = scf.if %t2 -> (!f) {
      %y2 = math.exp2 %x1 : !f
      scf.yield %y2 : !f
    } else {
      scf.yield %x1 : !f
    }
    scf.yield %x2 : !f
  }
  tgpu.store %r, %o : !f, !tile.global<64x64xf32>
  tgpu.return
}

// At the end, and at the start.
// CHECK-LABEL: tgpu.kernel @both_ends(
// CHECK: scf.for %{{.*}} = %c0_i32 to %c3_i32 step
// CHECK: arith.cmpi slt, %{{.*}}, %c3_i32
// CHECK-NEXT: %{{.*}} = scf.if
// CHECK-NOT: scf.if
// CHECK: scf.for %{{.*}} = %c3_i32 to %c7_i32 step
// CHECK-NOT: scf.if
// CHECK: scf.for %{{.*}} = %c7_i32 to %c10_i32 step
// CHECK: arith.cmpi sgt, %{{.*}}, %c6_i32
// CHECK-NEXT: %{{.*}} = scf.if
// CHECK-NOT: scf.if
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
    %t1 = arith.cmpi sgt, %j, %c6 : i32
    // expected-remark @+1 {{the loop is cut where this condition turns: no test and no branch before}}
    %x1 = scf.if %t1 -> (!f) {
      %y1 = math.exp2 %d : !f
      scf.yield %y1 : !f
    } else {
      scf.yield %d : !f
    }
    %t2 = arith.cmpi slt, %j, %c3 : i32
    // expected-remark @+1 {{the loop is cut where this condition turns: no test and no branch behind}}
    %x2 = scf.if %t2 -> (!f) {
      %y2 = math.exp2 %x1 : !f
      scf.yield %y2 : !f
    } else {
      scf.yield %x1 : !f
    }
    scf.yield %x2 : !f
  }
  tgpu.store %r, %o : !f, !tile.global<64x64xf32>
  tgpu.return
}

// Nothing is known of the first: it is in both loops.
// CHECK-LABEL: tgpu.kernel @second_alone(
// CHECK: scf.for %{{.*}} = %c0_i32 to %c7_i32 step
// CHECK: arith.cmpi eq, %{{.*}}, %c3_i32
// CHECK-NEXT: %{{.*}} = scf.if
// CHECK-NOT: scf.if
// CHECK: scf.for %{{.*}} = %c7_i32 to %c10_i32 step
// CHECK: arith.cmpi eq, %{{.*}}, %c3_i32
// CHECK-NEXT: %{{.*}} = scf.if
// CHECK: arith.cmpi sgt, %{{.*}}, %c6_i32
// CHECK-NEXT: %{{.*}} = scf.if
// CHECK-NOT: scf.if
// CHECK: tgpu.return
tgpu.kernel @second_alone(%z: !f, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c3 = arith.constant 3 : i32
  %c6 = arith.constant 6 : i32
  %c10 = arith.constant 10 : i32
  %a = tgpu.alloc_shared "A" : !s
  %r = scf.for %j = %c0 to %c10 step %c1 iter_args(%c = %z) -> (!f) : i32 {
    %q = tgpu.wgmma %a, %a, %c {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !s, !s, !f -> !p
    %d = tgpu.wgmma_wait 0, %q : !p -> !f
    %t1 = arith.cmpi eq, %j, %c3 : i32
    %x1 = scf.if %t1 -> (!f) {
      %y1 = math.exp2 %d : !f
      scf.yield %y1 : !f
    } else {
      scf.yield %d : !f
    }
    %t2 = arith.cmpi sgt, %j, %c6 : i32
    // expected-remark @+1 {{the loop is cut where this condition turns: no test and no branch before}}
    %x2 = scf.if %t2 -> (!f) {
      %y2 = math.exp2 %x1 : !f
      scf.yield %y2 : !f
    } else {
      scf.yield %x1 : !f
    }
    scf.yield %x2 : !f
  }
  tgpu.store %r, %o : !f, !tile.global<64x64xf32>
  tgpu.return
}

// Of three branches the last one stays in all loops.
// CHECK-LABEL: tgpu.kernel @three(
// CHECK: scf.for %{{.*}} = %c0_i32 to %c3_i32 step
// CHECK: arith.cmpi sgt, %{{.*}}, %c8_i32
// CHECK-NEXT: %{{.*}} = scf.if
// CHECK-NOT: scf.if
// CHECK: scf.for %{{.*}} = %c3_i32 to %c6_i32 step
// CHECK: arith.cmpi sgt, %{{.*}}, %c2_i32
// CHECK-NEXT: %{{.*}} = scf.if
// CHECK: arith.cmpi sgt, %{{.*}}, %c8_i32
// CHECK-NEXT: %{{.*}} = scf.if
// CHECK-NOT: scf.if
// CHECK: scf.for %{{.*}} = %c6_i32 to %c10_i32 step
// CHECK: arith.cmpi sgt, %{{.*}}, %c2_i32
// CHECK-NEXT: %{{.*}} = scf.if
// CHECK: arith.cmpi sgt, %{{.*}}, %c5_i32
// CHECK-NEXT: %{{.*}} = scf.if
// CHECK: arith.cmpi sgt, %{{.*}}, %c8_i32
// CHECK-NEXT: %{{.*}} = scf.if
// CHECK-NOT: scf.if
// CHECK: tgpu.return
tgpu.kernel @three(%z: !f, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c5 = arith.constant 5 : i32
  %c8 = arith.constant 8 : i32
  %c10 = arith.constant 10 : i32
  %a = tgpu.alloc_shared "A" : !s
  %r = scf.for %j = %c0 to %c10 step %c1 iter_args(%c = %z) -> (!f) : i32 {
    %q = tgpu.wgmma %a, %a, %c {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !s, !s, !f -> !p
    %d = tgpu.wgmma_wait 0, %q : !p -> !f
    %t1 = arith.cmpi sgt, %j, %c2 : i32
    // expected-remark @+1 {{the loop is cut where this condition turns: no test and no branch before}}
    %x1 = scf.if %t1 -> (!f) {
      %y1 = math.exp2 %d : !f
      scf.yield %y1 : !f
    } else {
      scf.yield %d : !f
    }
    %t2 = arith.cmpi sgt, %j, %c5 : i32
    // expected-remark @+1 {{the loop is cut where this condition turns: no test and no branch before}}
    %x2 = scf.if %t2 -> (!f) {
      %y2 = math.exp2 %x1 : !f
      scf.yield %y2 : !f
    } else {
      scf.yield %x1 : !f
    }
    %t3 = arith.cmpi sgt, %j, %c8 : i32
    %x3 = scf.if %t3 -> (!f) {
      %y3 = math.exp2 %x2 : !f
      scf.yield %y3 : !f
    } else {
      scf.yield %x2 : !f
    }
    scf.yield %x3 : !f
  }
  tgpu.store %r, %o : !f, !tile.global<64x64xf32>
  tgpu.return
}

// A product by mma.sync; A and B are fragments.
// CHECK-LABEL: tgpu.kernel @mma_sync(
// CHECK-COUNT-2: scf.for
tgpu.kernel @mma_sync(%n: i32, %a: !fa, %b: !fb, %z: !f, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_80"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c3 = arith.constant 3 : i32
  %r = scf.for %j = %c0 to %n step %c1 iter_args(%c = %z) -> (!f) : i32 {
    %d = tgpu.mma %a, %b, %c {mma = #tgpu.mma<mma_sync, 16, 8, 16, warps = 4, 1>} : !fa, !fb, !f -> !f
    %t = arith.cmpi sgt, %j, %c3 : i32
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
