// Rings of rings: two accesses are apart when some ring on the way has them in other slots.
// RUN: tile-opt %s -split-input-file -verify-diagnostics --pass-pipeline='builtin.module(tgpu.kernel(tgpu-verify-sync))'

!v = tensor<64x64xf16>
!b = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!rings = !tgpu.smem<3x2x64x64xf16, #tgpu.shared<"3x2x64x64 b16 contig 3 panel 64 swizzle 128">>
!four = !tgpu.smem<4x64x64xf16, #tgpu.shared<"4x64x64 b16 contig 2 panel 64 swizzle 128">>
!half = !tgpu.smem<2x64x64xf16, #tgpu.shared<"4x64x64 b16 contig 2 panel 64 swizzle 128">>
// Right: other slots of the same inner ring.
tgpu.kernel @inner(%v: !v, %n: i32, %m: i32) attributes {threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %nx = arith.addi %n, %c1 : i32
  %ny = arith.addi %n, %c2 : i32
  %r = tgpu.alloc_shared "a" : !rings
  %o = tgpu.slot %r[%m] : !rings -> !ring
  %p = tgpu.slot %r[%m] : !rings -> !ring
  %s = tgpu.slot %o[%n] : !ring -> !b
  %t = tgpu.slot %p[%nx] : !ring -> !b
  tgpu.local_store %v, %s : !v, !b
  %x = tgpu.local_load %t : !b -> !v
  tgpu.return
}

// -----

!v = tensor<64x64xf16>
!b = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!rings = !tgpu.smem<3x2x64x64xf16, #tgpu.shared<"3x2x64x64 b16 contig 3 panel 64 swizzle 128">>
!four = !tgpu.smem<4x64x64xf16, #tgpu.shared<"4x64x64 b16 contig 2 panel 64 swizzle 128">>
!half = !tgpu.smem<2x64x64xf16, #tgpu.shared<"4x64x64 b16 contig 2 panel 64 swizzle 128">>
// Right: the same slot of other inner rings.
tgpu.kernel @outer(%v: !v, %n: i32, %m: i32) attributes {threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %nx = arith.addi %n, %c1 : i32
  %ny = arith.addi %n, %c2 : i32
  %r = tgpu.alloc_shared "a" : !rings
  %o = tgpu.slot %r[%n] : !rings -> !ring
  %p = tgpu.slot %r[%nx] : !rings -> !ring
  %s = tgpu.slot %o[%m] : !ring -> !b
  %t = tgpu.slot %p[%m] : !ring -> !b
  tgpu.local_store %v, %s : !v, !b
  %x = tgpu.local_load %t : !b -> !v
  tgpu.return
}

// -----

!v = tensor<64x64xf16>
!b = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!rings = !tgpu.smem<3x2x64x64xf16, #tgpu.shared<"3x2x64x64 b16 contig 3 panel 64 swizzle 128">>
!four = !tgpu.smem<4x64x64xf16, #tgpu.shared<"4x64x64 b16 contig 2 panel 64 swizzle 128">>
!half = !tgpu.smem<2x64x64xf16, #tgpu.shared<"4x64x64 b16 contig 2 panel 64 swizzle 128">>
// Two further is the same slot of an inner ring.
tgpu.kernel @same(%v: !v, %n: i32, %m: i32) attributes {threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %nx = arith.addi %n, %c1 : i32
  %ny = arith.addi %n, %c2 : i32
  %r = tgpu.alloc_shared "a" : !rings
  %o = tgpu.slot %r[%m] : !rings -> !ring
  %p = tgpu.slot %r[%m] : !rings -> !ring
  %s = tgpu.slot %o[%n] : !ring -> !b
  %t = tgpu.slot %p[%ny] : !ring -> !b
  // expected-note @+1 {{written here}}
  tgpu.local_store %v, %s : !v, !b
  // expected-error @+1 {{reads `a` without a barrier after another thread's access}}
  %x = tgpu.local_load %t : !b -> !v
  tgpu.return
}

// -----

!v = tensor<64x64xf16>
!b = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!rings = !tgpu.smem<3x2x64x64xf16, #tgpu.shared<"3x2x64x64 b16 contig 3 panel 64 swizzle 128">>
!four = !tgpu.smem<4x64x64xf16, #tgpu.shared<"4x64x64 b16 contig 2 panel 64 swizzle 128">>
!half = !tgpu.smem<2x64x64xf16, #tgpu.shared<"4x64x64 b16 contig 2 panel 64 swizzle 128">>
// Nothing is known of the outer slots.
tgpu.kernel @unknown(%v: !v, %n: i32, %m: i32) attributes {threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %nx = arith.addi %n, %c1 : i32
  %ny = arith.addi %n, %c2 : i32
  %r = tgpu.alloc_shared "a" : !rings
  %o = tgpu.slot %r[%m] : !rings -> !ring
  %p = tgpu.slot %r[%n] : !rings -> !ring
  %s = tgpu.slot %o[%n] : !ring -> !b
  %t = tgpu.slot %p[%n] : !ring -> !b
  // expected-note @+1 {{written here}}
  tgpu.local_store %v, %s : !v, !b
  // expected-error @+1 {{reads `a` without a barrier after another thread's access}}
  %x = tgpu.local_load %t : !b -> !v
  tgpu.return
}

// -----

!v = tensor<64x64xf16>
!b = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!rings = !tgpu.smem<3x2x64x64xf16, #tgpu.shared<"3x2x64x64 b16 contig 3 panel 64 swizzle 128">>
!four = !tgpu.smem<4x64x64xf16, #tgpu.shared<"4x64x64 b16 contig 2 panel 64 swizzle 128">>
!half = !tgpu.smem<2x64x64xf16, #tgpu.shared<"4x64x64 b16 contig 2 panel 64 swizzle 128">>
// Right: one inner slot ahead in each iteration.
tgpu.kernel @carried(%v: !v, %n: i32, %m: i32) attributes {threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %r = tgpu.alloc_shared "a" : !rings
  %o = tgpu.slot %r[%m] : !rings -> !ring
  scf.for %i = %c0 to %n step %c1 : i32 {
    %j = arith.addi %i, %c1 : i32
    %s = tgpu.slot %o[%j] : !ring -> !b
    %t = tgpu.slot %o[%i] : !ring -> !b
    tgpu.local_store %v, %s : !v, !b
    tgpu.barrier
    %x = tgpu.local_load %t : !b -> !v
    tgpu.barrier
  }
  tgpu.return
}

// -----

!v = tensor<64x64xf16>
!b = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!rings = !tgpu.smem<3x2x64x64xf16, #tgpu.shared<"3x2x64x64 b16 contig 3 panel 64 swizzle 128">>
!four = !tgpu.smem<4x64x64xf16, #tgpu.shared<"4x64x64 b16 contig 2 panel 64 swizzle 128">>
!half = !tgpu.smem<2x64x64xf16, #tgpu.shared<"4x64x64 b16 contig 2 panel 64 swizzle 128">>
// The slot that the iteration before has written.
tgpu.kernel @carried_unordered(%v: !v, %n: i32, %m: i32) attributes {threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %r = tgpu.alloc_shared "a" : !rings
  %o = tgpu.slot %r[%m] : !rings -> !ring
  scf.for %i = %c0 to %n step %c1 : i32 {
    %j = arith.addi %i, %c1 : i32
    %s = tgpu.slot %o[%j] : !ring -> !b
    %t = tgpu.slot %o[%i] : !ring -> !b
    // expected-note @+2 {{read here}}
    // expected-error @+1 {{reads `a` without a barrier after another thread's access}}
    %x = tgpu.local_load %t : !b -> !v
    // expected-note @+2 {{written here}}
    // expected-error @+1 {{writes `a` without a barrier after another thread's access}}
    tgpu.local_store %v, %s : !v, !b
  }
  tgpu.return
}

// -----

!v = tensor<64x64xf16>
!b = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!rings = !tgpu.smem<3x2x64x64xf16, #tgpu.shared<"3x2x64x64 b16 contig 3 panel 64 swizzle 128">>
!four = !tgpu.smem<4x64x64xf16, #tgpu.shared<"4x64x64 b16 contig 2 panel 64 swizzle 128">>
!half = !tgpu.smem<2x64x64xf16, #tgpu.shared<"4x64x64 b16 contig 2 panel 64 swizzle 128">>
// Slots of half a ring count modulo 2, those of the whole modulo 4.
tgpu.kernel @part(%v: !v, %n: i32, %m: i32) attributes {threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %nx = arith.addi %n, %c1 : i32
  %ny = arith.addi %n, %c2 : i32
  %r = tgpu.alloc_shared "a" : !four
  %h = tgpu.subview %r at [0, 0, 0] : !four -> !half
  %s = tgpu.slot %r[%ny] : !four -> !b
  %t = tgpu.slot %h[%n] : !half -> !b
  // expected-note @+1 {{written here}}
  tgpu.local_store %v, %s : !v, !b
  // expected-error @+1 {{reads `a` without a barrier after another thread's access}}
  %x = tgpu.local_load %t : !b -> !v
  tgpu.return
}
