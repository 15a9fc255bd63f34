// Loops that are not cut: by other steps than 1, other types, without products; and branches that are not worth two copies.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-split-loops))' -verify-diagnostics | FileCheck %s

#acc = #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">
!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!f = tensor<64x64xf32, #acc>
!p = !tgpu.pending<!f>
!h = tensor<64x16xf32, #tgpu.fragment<"64x16 reg 0,1:8,0:0,8 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>

// Steps of 2.
// CHECK-LABEL: tgpu.kernel @step(
// CHECK: scf.for
// CHECK-NOT: scf.for
// CHECK: scf.if
// CHECK-NOT: scf.for
// CHECK: tgpu.return
tgpu.kernel @step(%n: i32, %z: !f, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c2 = arith.constant 2 : i32
  %c5 = arith.constant 5 : i32
  %a = tgpu.alloc_shared "A" : !s
  %r = scf.for %j = %c0 to %n step %c2 iter_args(%c = %z) -> (!f) : i32 {
    %q = tgpu.wgmma %a, %a, %c {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !s, !s, !f -> !p
    %d = tgpu.wgmma_wait 0, %q : !p -> !f
    %t = arith.cmpi sgt, %j, %c5 : i32
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

// A loop without sign.
// CHECK-LABEL: tgpu.kernel @unsigned_loop(
// CHECK: scf.for unsigned
// CHECK-NOT: scf.for
// CHECK: scf.if
// CHECK-NOT: scf.for
// CHECK: tgpu.return
tgpu.kernel @unsigned_loop(%n: i32, %z: !f, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c5 = arith.constant 5 : i32
  %a = tgpu.alloc_shared "A" : !s
  %r = scf.for unsigned %j = %c0 to %n step %c1 iter_args(%c = %z) -> (!f) : i32 {
    %q = tgpu.wgmma %a, %a, %c {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !s, !s, !f -> !p
    %d = tgpu.wgmma_wait 0, %q : !p -> !f
    %t = arith.cmpi sgt, %j, %c5 : i32
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

// A loop of 64 bits.
// CHECK-LABEL: tgpu.kernel @wide_loop(
// CHECK: scf.for
// CHECK-NOT: scf.for
// CHECK: scf.if
// CHECK-NOT: scf.for
// CHECK: tgpu.return
tgpu.kernel @wide_loop(%n: i64, %z: !f, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c5 = arith.constant 5 : i32
  %a = tgpu.alloc_shared "A" : !s
  %r = scf.for %j = %c0 to %n step %c1 iter_args(%c = %z) -> (!f) : i64 {
    %q = tgpu.wgmma %a, %a, %c {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !s, !s, !f -> !p
    %d = tgpu.wgmma_wait 0, %q : !p -> !f
    %u = arith.trunci %j : i64 to i32
    %t = arith.cmpi sgt, %u, %c5 : i32
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

// A loop without a product.
// CHECK-LABEL: tgpu.kernel @no_product(
// CHECK: scf.for
// CHECK-NOT: scf.for
// CHECK: scf.if
// CHECK-NOT: scf.for
// CHECK: tgpu.return
tgpu.kernel @no_product(%n: i32, %z: !f, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c5 = arith.constant 5 : i32
  %r = scf.for %j = %c0 to %n step %c1 iter_args(%c = %z) -> (!f) : i32 {
    %t = arith.cmpi sgt, %j, %c5 : i32
    %x = scf.if %t -> (!f) {
      %y = math.exp2 %c : !f
      scf.yield %y : !f
    } else {
      scf.yield %c : !f
    }
    scf.yield %x : !f
  }
  tgpu.store %r, %o : !f, !tile.global<64x64xf32>
  tgpu.return
}

// Products of a loop inside are not its own.
// CHECK-LABEL: tgpu.kernel @inner_product(
// CHECK-COUNT-2: scf.for
// CHECK-NOT: scf.for
// CHECK: scf.if
// CHECK-NOT: scf.for
// CHECK: tgpu.return
tgpu.kernel @inner_product(%n: i32, %z: !f, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c5 = arith.constant 5 : i32
  %a = tgpu.alloc_shared "A" : !s
  %r = scf.for %j = %c0 to %n step %c1 iter_args(%c = %z) -> (!f) : i32 {
    %d = scf.for %i = %c0 to %n step %c1 iter_args(%e = %c) -> (!f) : i32 {
      %q = tgpu.wgmma %a, %a, %e {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !s, !s, !f -> !p
      %b = tgpu.wgmma_wait 0, %q : !p -> !f
      scf.yield %b : !f
    }
    %t = arith.cmpi sgt, %j, %c5 : i32
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

// Few registers of a fragment.
// CHECK-LABEL: tgpu.kernel @small(
// CHECK: scf.for
// CHECK-NOT: scf.for
// CHECK: scf.if
// CHECK-NOT: scf.for
// CHECK: tgpu.return
tgpu.kernel @small(%n: i32, %z: !f, %s: !h, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c5 = arith.constant 5 : i32
  %a = tgpu.alloc_shared "A" : !s
  %r:2 = scf.for %j = %c0 to %n step %c1 iter_args(%c = %z, %b = %s) -> (!f, !h) : i32 {
    %q = tgpu.wgmma %a, %a, %c {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !s, !s, !f -> !p
    %d = tgpu.wgmma_wait 0, %q : !p -> !f
    %t = arith.cmpi sgt, %j, %c5 : i32
    %w = scf.if %t -> (!h) {
      %y = math.exp2 %b : !h
      scf.yield %y : !h
    } else {
      scf.yield %b : !h
    }
    scf.yield %d, %w : !f, !h
  }
  tgpu.store %r#0, %o : !f, !tile.global<64x64xf32>
  tgpu.return
}

// A branch that computes nothing, and has no other side.
// CHECK-LABEL: tgpu.kernel @no_results(
// CHECK: scf.for
// CHECK-NOT: scf.for
// CHECK: scf.if
// CHECK-NOT: scf.for
// CHECK: tgpu.return
tgpu.kernel @no_results(%n: i32, %z: !f, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c5 = arith.constant 5 : i32
  %a = tgpu.alloc_shared "A" : !s
  %r = scf.for %j = %c0 to %n step %c1 iter_args(%c = %z) -> (!f) : i32 {
    %q = tgpu.wgmma %a, %a, %c {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !s, !s, !f -> !p
    %d = tgpu.wgmma_wait 0, %q : !p -> !f
    %t = arith.cmpi sgt, %j, %c5 : i32
    scf.if %t {
      tgpu.store %d, %o : !f, !tile.global<64x64xf32>
    }
    scf.yield %d : !f
  }
  tgpu.store %r, %o : !f, !tile.global<64x64xf32>
  tgpu.return
}
