// Plans that rings with channels cannot carry out.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-make-channels))' -verify-diagnostics -split-input-file

!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
!u = !tgpu.smem<64x64xf16>
tgpu.kernel @no_layout(%g: !g {tgpu.align = 16 : i64}, %n: i32 {tgpu.divisible = 8 : i64}, %z: !acc) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %v = tgpu.view %g extents(%n, %n : i32, i32) strides(%n : i32) : !g -> !g
  %s = tgpu.alloc_shared "S" : !u
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %z) -> (!acc) : i32 {
    %t = tile.slice %v[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
    // expected-error @+1 {{has stage 0 but fills no whole buffer with a layout}}
    tgpu.copy %t to %s {path = #tgpu.path<tma>, bytes = 16 : i32, tgpu.schedule = #tgpu.stage<0, 0>} : !t, !u
    %d = tgpu.fma %s, %s, %c {tgpu.schedule = #tgpu.stage<1, 1>} : !u, !u, !acc -> !acc
    scf.yield %d : !acc
  } {tile.stages = 2 : i32, tgpu.pipeline = #tgpu.pipeline<tma, stages = 2>}
  tgpu.return
}

// -----

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
// Beside copies by TMA none by cp.async may run ahead.
tgpu.kernel @other_path(%g: !g {tgpu.align = 16 : i64}, %n: i32 {tgpu.divisible = 8 : i64}, %z: !acc) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %v = tgpu.view %g extents(%n, %n : i32, i32) strides(%n : i32) : !g -> !g
  %s = tgpu.alloc_shared "S" : !s
  %u = tgpu.alloc_shared "U" : !s
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %z) -> (!acc) : i32 {
    %t = tile.slice %v[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
    tgpu.copy %t to %s {path = #tgpu.path<tma>, bytes = 16 : i32, tgpu.schedule = #tgpu.stage<0, 0>} : !t, !s
    // expected-error @+1 {{has stage 0 in a loop whose copies are by TMA, but is none}}
    tgpu.copy %t to %u {path = #tgpu.path<cp_async>, bytes = 16 : i32, tgpu.schedule = #tgpu.stage<0, 0>} : !t, !s
    %d = tgpu.fma %s, %u, %c {tgpu.schedule = #tgpu.stage<1, 1>} : !s, !s, !acc -> !acc
    scf.yield %d : !acc
  } {tile.stages = 2 : i32, tgpu.pipeline = #tgpu.pipeline<tma, stages = 2>}
  tgpu.return
}

// -----

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
// What is behind the loop would read the ring.
tgpu.kernel @used_outside(%g: !g {tgpu.align = 16 : i64}, %n: i32 {tgpu.divisible = 8 : i64}, %z: !acc) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %v = tgpu.view %g extents(%n, %n : i32, i32) strides(%n : i32) : !g -> !g
  %s = tgpu.alloc_shared "S" : !s
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %z) -> (!acc) : i32 {
    %t = tile.slice %v[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
    tgpu.copy %t to %s {path = #tgpu.path<tma>, bytes = 16 : i32, tgpu.schedule = #tgpu.stage<0, 0>} : !t, !s
    %d = tgpu.fma %s, %s, %c {tgpu.schedule = #tgpu.stage<1, 1>} : !s, !s, !acc -> !acc
    scf.yield %d : !acc
  } {tile.stages = 2 : i32, tgpu.pipeline = #tgpu.pipeline<tma, stages = 2>}
  // expected-error @+1 {{uses a buffer that a ring has replaced}}
  %e = tgpu.fma %s, %s, %r : !s, !s, !acc -> !acc
  tgpu.return
}

// -----

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
// The data of the iteration before would be lost.
tgpu.kernel @used_before(%g: !g {tgpu.align = 16 : i64}, %n: i32 {tgpu.divisible = 8 : i64}, %z: !acc) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %v = tgpu.view %g extents(%n, %n : i32, i32) strides(%n : i32) : !g -> !g
  %s = tgpu.alloc_shared "S" : !s
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %z) -> (!acc) : i32 {
    %t = tile.slice %v[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
    // expected-note @+1 {{this should keep its order to it}}
    %d = tgpu.fma %s, %s, %c {tgpu.schedule = #tgpu.stage<1, 1>} : !s, !s, !acc -> !acc
    // expected-error @+1 {{cannot run ahead of its loop: the buffer is used before it is filled}}
    tgpu.copy %t to %s {path = #tgpu.path<tma>, bytes = 16 : i32, tgpu.schedule = #tgpu.stage<0, 0>} : !t, !s
    scf.yield %d : !acc
  } {tile.stages = 2 : i32, tgpu.pipeline = #tgpu.pipeline<tma, stages = 2>}
  tgpu.return
}

// -----

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
// Threads write to the buffer, too.
tgpu.kernel @written_twice(%g: !g {tgpu.align = 16 : i64}, %n: i32 {tgpu.divisible = 8 : i64}, %z: !acc, %h: tensor<64x64xf16>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %v = tgpu.view %g extents(%n, %n : i32, i32) strides(%n : i32) : !g -> !g
  %s = tgpu.alloc_shared "S" : !s
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %z) -> (!acc) : i32 {
    %t = tile.slice %v[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
    // expected-error @+1 {{cannot run ahead of its loop: the buffer is written twice in an iteration}}
    tgpu.copy %t to %s {path = #tgpu.path<tma>, bytes = 16 : i32, tgpu.schedule = #tgpu.stage<0, 0>} : !t, !s
    // expected-note @+1 {{this should keep its order to it}}
    tgpu.local_store %h, %s {tgpu.schedule = #tgpu.stage<1, 1>} : tensor<64x64xf16>, !s
    %d = tgpu.fma %s, %s, %c {tgpu.schedule = #tgpu.stage<1, 1>} : !s, !s, !acc -> !acc
    scf.yield %d : !acc
  } {tile.stages = 2 : i32, tgpu.pipeline = #tgpu.pipeline<tma, stages = 2>}
  tgpu.return
}

// -----

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
#acc = #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">
!acc = tensor<64x64xf32, #acc>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
// The next tile would be loaded before this one is stored.
tgpu.kernel @source_written(%g: !g {tgpu.align = 16 : i64}, %n: i32 {tgpu.divisible = 8 : i64}, %z: !acc) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %v = tgpu.view %g extents(%n, %n : i32, i32) strides(%n : i32) : !g -> !g
  %s = tgpu.alloc_shared "S" : !s
  // expected-note @+1 {{this should keep its order to it}}
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %z) -> (!acc) : i32 {
    %t = tile.slice %v[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
    // expected-error @+1 {{cannot run ahead of its loop: the loop writes to the tensor that it reads}}
    tgpu.copy %t to %s {path = #tgpu.path<tma>, bytes = 16 : i32, tgpu.schedule = #tgpu.stage<0, 0>} : !t, !s
    %d = tgpu.fma %s, %s, %c {tgpu.schedule = #tgpu.stage<1, 1>} : !s, !s, !acc -> !acc
    %x = tile.convert %d : !acc to tensor<64x64xf16, #acc>
    tgpu.store %x, %t {bytes = 2 : i32, tgpu.schedule = #tgpu.stage<1, 2>} : tensor<64x64xf16, #acc>, !t
    scf.yield %d : !acc
  } {tile.stages = 2 : i32, tgpu.pipeline = #tgpu.pipeline<tma, stages = 2>}
  tgpu.return
}

// -----

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!g = !tile.global<64x64xf16>
// Outside of pipelined loops a copy by TMA that tgpu-lower-copies would not have left.
tgpu.kernel @no_tile_fill(%g: !g {tgpu.align = 16 : i64}, %n: i32) attributes {threads = 128 : i32, target = "sm_90a", warp_specialize = "producer"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %s = tgpu.alloc_shared "S" : !s
  scf.for %i = %c0 to %n step %c1 : i32 {
    // expected-error @+1 {{is by TMA outside of pipelined loops, but it fills part of a buffer, or one that is declared in a block around}}
    tgpu.copy %g to %s {path = #tgpu.path<tma>, bytes = 16 : i32} : !g, !s
  }
  tgpu.return
}

// -----

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!g = !tile.global<64x64xf16>
tgpu.kernel @no_view(%g: !g {tgpu.align = 16 : i64}, %n: i32) attributes {threads = 128 : i32, target = "sm_90a", warp_specialize = "producer"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    %s = tgpu.alloc_shared "S" : !s
    // expected-error @+1 {{TMA needs a view of a kernel argument}}
    tgpu.copy %g to %s {path = #tgpu.path<tma>, bytes = 16 : i32} : !g, !s
  }
  tgpu.return
}
