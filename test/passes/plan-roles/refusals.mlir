// Where roles by operation are refused the kernel keeps its warps and its form; where the program requires them it is an error.
// RUN: tile-opt %s -split-input-file --pass-pipeline='builtin.module(tgpu.kernel(tgpu-plan-roles))' -verify-diagnostics | FileCheck %s

!g = !tile.global<64x64xf16>
!kv = !tile.global<?x64xf16>
!o = !tile.global<64x64xf32>
!b = !tgpu.smem<64x64xf16>
!t = tensor<64x64xf32>
!r = tensor<64xf32>
// CHECK-LABEL: tgpu.kernel @old_target
// CHECK-SAME: threads = 256 : i32, warp_specialize = "off"
// CHECK-NOT: tgpu.role
// expected-remark @+1 {{all warps have one role: only targets with TMA have roles of warps}}
tgpu.kernel @old_target(%q: !g, %kv: !kv, %n: i32, %o: !o) attributes {warp_specialize = "operations", target = "sm_80", threads = 256 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %f0 = arith.constant 0.0 : f32
  %qs = tgpu.alloc_shared "Q" : !b
  %k = tgpu.alloc_shared "K" : !b
  %z = tile.splat %f0 : f32 -> !t
  %zr = tile.splat %f0 : f32 -> !r
  tgpu.copy %q to %qs {bytes = 16 : i32, path = #tgpu.path<tma>} : !g, !b
  %x:2 = scf.for %i = %c0 to %n step %c1 iter_args(%l = %zr, %c = %z) -> (!r, !t) : i32 {
    %w = tile.slice %kv[%i, %c0] sizes [64, 64] : !kv, i32, i32 -> !g
    tgpu.copy %w to %k {bytes = 16 : i32, path = #tgpu.path<tma>} : !g, !b
    %s = tgpu.dot %qs, %k, %z {accumulate = false, mma = #tgpu.mma<wgmma, 64, 32, 16, warps = 1, 2>, transpose_b} : !b, !b, !t -> !t
    %h = tile.reduce <sum> %s axis 1 : !t -> !r
    %y = arith.addf %l, %h : !r
    %a = tile.broadcast %y along [1] : !r -> !t
    %m = arith.mulf %c, %a : !t
    %p = tile.convert %s : !t to tensor<64x64xf16>
    %d = tgpu.dot %p, %k, %m {mma = #tgpu.mma<wgmma, 64, 32, 16, warps = 1, 2>} : tensor<64x64xf16>, !b, !t -> !t
    scf.yield %y, %d : !r, !t
  } {tile.stages = 2 : i32}
  tgpu.store %x#1, %o {bytes = 16 : i32, path = #tgpu.path<tma>} : !t, !o
  tgpu.return
}

// -----

!g = !tile.global<64x64xf16>
!kv = !tile.global<?x64xf16>
!o = !tile.global<64x64xf32>
!b = !tgpu.smem<64x64xf16>
!t = tensor<64x64xf32>
!r = tensor<64xf32>
// CHECK-LABEL: tgpu.kernel @no_loop
// CHECK-SAME: threads = 256 : i32, warp_specialize = "off"
// CHECK-NOT: tgpu.role
// expected-remark @+1 {{all warps have one role: no pipelined loop has products}}
tgpu.kernel @no_loop(%q: !g, %kv: !kv, %n: i32, %o: !o) attributes {warp_specialize = "operations", target = "sm_90a", threads = 256 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %f0 = arith.constant 0.0 : f32
  %qs = tgpu.alloc_shared "Q" : !b
  %k = tgpu.alloc_shared "K" : !b
  %z = tile.splat %f0 : f32 -> !t
  %zr = tile.splat %f0 : f32 -> !r
  tgpu.copy %q to %qs {bytes = 16 : i32, path = #tgpu.path<tma>} : !g, !b
  %x:2 = scf.for %i = %c0 to %n step %c1 iter_args(%l = %zr, %c = %z) -> (!r, !t) : i32 {
    %w = tile.slice %kv[%i, %c0] sizes [64, 64] : !kv, i32, i32 -> !g
    tgpu.copy %w to %k {bytes = 16 : i32, path = #tgpu.path<tma>} : !g, !b
    %s = tgpu.dot %qs, %k, %z {accumulate = false, mma = #tgpu.mma<wgmma, 64, 32, 16, warps = 1, 2>, transpose_b} : !b, !b, !t -> !t
    %h = tile.reduce <sum> %s axis 1 : !t -> !r
    %y = arith.addf %l, %h : !r
    %a = tile.broadcast %y along [1] : !r -> !t
    %m = arith.mulf %c, %a : !t
    %p = tile.convert %s : !t to tensor<64x64xf16>
    %d = tgpu.dot %p, %k, %m {mma = #tgpu.mma<wgmma, 64, 32, 16, warps = 1, 2>} : tensor<64x64xf16>, !b, !t -> !t
    scf.yield %y, %d : !r, !t
  } 
  tgpu.store %x#1, %o {bytes = 16 : i32, path = #tgpu.path<tma>} : !t, !o
  tgpu.return
}

// -----

!g = !tile.global<64x64xf16>
!kv = !tile.global<?x64xf16>
!o = !tile.global<64x64xf32>
!b = !tgpu.smem<64x64xf16>
!t = tensor<64x64xf32>
!r = tensor<64xf32>
// CHECK-LABEL: tgpu.kernel @no_tma
// CHECK-SAME: threads = 256 : i32, warp_specialize = "off"
// CHECK-NOT: tgpu.role
// expected-remark @+1 {{all warps have one role: not all that it copies to shared memory can use TMA}}
tgpu.kernel @no_tma(%q: !g, %kv: !kv, %n: i32, %o: !o) attributes {warp_specialize = "operations", target = "sm_90a", threads = 256 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %f0 = arith.constant 0.0 : f32
  %qs = tgpu.alloc_shared "Q" : !b
  %k = tgpu.alloc_shared "K" : !b
  %z = tile.splat %f0 : f32 -> !t
  %zr = tile.splat %f0 : f32 -> !r
  tgpu.copy %q to %qs {bytes = 16 : i32, path = #tgpu.path<tma>} : !g, !b
  %x:2 = scf.for %i = %c0 to %n step %c1 iter_args(%l = %zr, %c = %z) -> (!r, !t) : i32 {
    %w = tile.slice %kv[%i, %c0] sizes [64, 64] : !kv, i32, i32 -> !g
    tgpu.copy %w to %k {bytes = 16 : i32, path = #tgpu.path<vector>} : !g, !b
    %s = tgpu.dot %qs, %k, %z {accumulate = false, mma = #tgpu.mma<wgmma, 64, 32, 16, warps = 1, 2>, transpose_b} : !b, !b, !t -> !t
    %h = tile.reduce <sum> %s axis 1 : !t -> !r
    %y = arith.addf %l, %h : !r
    %a = tile.broadcast %y along [1] : !r -> !t
    %m = arith.mulf %c, %a : !t
    %p = tile.convert %s : !t to tensor<64x64xf16>
    %d = tgpu.dot %p, %k, %m {mma = #tgpu.mma<wgmma, 64, 32, 16, warps = 1, 2>} : tensor<64x64xf16>, !b, !t -> !t
    scf.yield %y, %d : !r, !t
  } {tile.stages = 2 : i32}
  tgpu.store %x#1, %o {bytes = 16 : i32, path = #tgpu.path<tma>} : !t, !o
  tgpu.return
}

// -----

!g = !tile.global<64x64xf16>
!kv = !tile.global<?x64xf16>
!o = !tile.global<64x64xf32>
!b = !tgpu.smem<64x64xf16>
!t = tensor<64x64xf32>
!r = tensor<64xf32>
// CHECK-LABEL: tgpu.kernel @effects
// CHECK-SAME: threads = 256 : i32, warp_specialize = "off"
// CHECK-NOT: tgpu.role
// expected-remark @+1 {{all warps have one role: only copies, products, work on fragments and stores have roles of their own}}
tgpu.kernel @effects(%q: !g, %kv: !kv, %n: i32, %o: !o) attributes {warp_specialize = "operations", target = "sm_90a", threads = 256 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %f0 = arith.constant 0.0 : f32
  %qs = tgpu.alloc_shared "Q" : !b
  %k = tgpu.alloc_shared "K" : !b
  %z = tile.splat %f0 : f32 -> !t
  %zr = tile.splat %f0 : f32 -> !r
  tgpu.copy %q to %qs {bytes = 16 : i32, path = #tgpu.path<tma>} : !g, !b
  %sc = tgpu.alloc_shared "T" : !tgpu.smem<64x64xf32>
  %x:2 = scf.for %i = %c0 to %n step %c1 iter_args(%l = %zr, %c = %z) -> (!r, !t) : i32 {
    %w = tile.slice %kv[%i, %c0] sizes [64, 64] : !kv, i32, i32 -> !g
    tgpu.copy %w to %k {bytes = 16 : i32, path = #tgpu.path<tma>} : !g, !b
    %s = tgpu.dot %qs, %k, %z {accumulate = false, mma = #tgpu.mma<wgmma, 64, 32, 16, warps = 1, 2>, transpose_b} : !b, !b, !t -> !t
    %h = tile.reduce <sum> %s axis 1 : !t -> !r
    %y = arith.addf %l, %h : !r
    %a = tile.broadcast %y along [1] : !r -> !t
    %m = arith.mulf %c, %a : !t
    tgpu.local_store %s, %sc : !t, !tgpu.smem<64x64xf32>
    %p = tile.convert %s : !t to tensor<64x64xf16>
    %d = tgpu.dot %p, %k, %m {mma = #tgpu.mma<wgmma, 64, 32, 16, warps = 1, 2>} : tensor<64x64xf16>, !b, !t -> !t
    scf.yield %y, %d : !r, !t
  } {tile.stages = 2 : i32}
  tgpu.store %x#1, %o {bytes = 16 : i32, path = #tgpu.path<tma>} : !t, !o
  tgpu.return
}

// -----

!g = !tile.global<64x64xf16>
!kv = !tile.global<?x64xf16>
!o = !tile.global<64x64xf32>
!b = !tgpu.smem<64x64xf16>
!t = tensor<64x64xf32>
!r = tensor<64xf32>
// CHECK-LABEL: tgpu.kernel @written
// CHECK-SAME: threads = 256 : i32, warp_specialize = "off"
// CHECK-NOT: tgpu.role
// expected-remark @+1 {{all warps have one role: it writes to a tensor that it reads}}
tgpu.kernel @written(%q: !g, %kv: !kv, %n: i32, %o: !o) attributes {warp_specialize = "operations", target = "sm_90a", threads = 256 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %f0 = arith.constant 0.0 : f32
  %qs = tgpu.alloc_shared "Q" : !b
  %k = tgpu.alloc_shared "K" : !b
  %z = tile.splat %f0 : f32 -> !t
  %zr = tile.splat %f0 : f32 -> !r
  tgpu.copy %q to %qs {bytes = 16 : i32, path = #tgpu.path<tma>} : !g, !b
  %x:2 = scf.for %i = %c0 to %n step %c1 iter_args(%l = %zr, %c = %z) -> (!r, !t) : i32 {
    %w = tile.slice %kv[%i, %c0] sizes [64, 64] : !kv, i32, i32 -> !g
    tgpu.copy %w to %k {bytes = 16 : i32, path = #tgpu.path<tma>} : !g, !b
    %s = tgpu.dot %qs, %k, %z {accumulate = false, mma = #tgpu.mma<wgmma, 64, 32, 16, warps = 1, 2>, transpose_b} : !b, !b, !t -> !t
    %h = tile.reduce <sum> %s axis 1 : !t -> !r
    %y = arith.addf %l, %h : !r
    %a = tile.broadcast %y along [1] : !r -> !t
    %m = arith.mulf %c, %a : !t
    %u = tile.convert %s : !t to tensor<64x64xf16>
    tgpu.store %u, %w {bytes = 4 : i32, path = #tgpu.path<vector>} : tensor<64x64xf16>, !g
    %p = tile.convert %s : !t to tensor<64x64xf16>
    %d = tgpu.dot %p, %k, %m {mma = #tgpu.mma<wgmma, 64, 32, 16, warps = 1, 2>} : tensor<64x64xf16>, !b, !t -> !t
    scf.yield %y, %d : !r, !t
  } {tile.stages = 2 : i32}
  tgpu.store %x#1, %o {bytes = 16 : i32, path = #tgpu.path<tma>} : !t, !o
  tgpu.return
}

// -----

!g = !tile.global<64x64xf16>
!kv = !tile.global<?x64xf16>
!o = !tile.global<64x64xf32>
!b = !tgpu.smem<64x64xf16>
!t = tensor<64x64xf32>
!r = tensor<64xf32>
// A sum without a product of its own.
// CHECK-LABEL: tgpu.kernel @independent
// CHECK-SAME: warp_specialize = "off"
// expected-remark @+1 {{all warps have one role: its loop has no product whose result goes into the sum of another}}
tgpu.kernel @independent(%q: !g, %kv: !kv, %n: i32, %o: !o) attributes {warp_specialize = "operations", target = "sm_90a", threads = 256 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %f0 = arith.constant 0.0 : f32
  %qs = tgpu.alloc_shared "Q" : !b
  %k = tgpu.alloc_shared "K" : !b
  %z = tile.splat %f0 : f32 -> !t
  %zr = tile.splat %f0 : f32 -> !r
  tgpu.copy %q to %qs {bytes = 16 : i32, path = #tgpu.path<tma>} : !g, !b
  %x:2 = scf.for %i = %c0 to %n step %c1 iter_args(%l = %zr, %c = %z) -> (!r, !t) : i32 {
    %w = tile.slice %kv[%i, %c0] sizes [64, 64] : !kv, i32, i32 -> !g
    tgpu.copy %w to %k {bytes = 16 : i32, path = #tgpu.path<tma>} : !g, !b
    %s = tgpu.dot %qs, %k, %z {accumulate = false, mma = #tgpu.mma<wgmma, 64, 32, 16, warps = 1, 2>, transpose_b} : !b, !b, !t -> !t
    %h = tile.reduce <sum> %s axis 1 : !t -> !r
    %y = arith.addf %l, %h : !r
    %a = tile.broadcast %y along [1] : !r -> !t
    %m = arith.mulf %c, %a : !t
    %d = arith.addf %m, %s : !t
    scf.yield %y, %d : !r, !t
  } {tile.stages = 2 : i32}
  tgpu.store %x#1, %o {bytes = 16 : i32, path = #tgpu.path<tma>} : !t, !o
  tgpu.return
}

// -----

!g = !tile.global<64x64xf16>
!kv = !tile.global<?x64xf16>
!o = !tile.global<64x64xf32>
!b = !tgpu.smem<64x64xf16>
!t = tensor<64x64xf32>
!r = tensor<64xf32>
// CHECK-LABEL: tgpu.kernel @copied_in_place
// CHECK-SAME: threads = 256 : i32, warp_specialize = "off"
// CHECK-NOT: tgpu.role
// expected-remark @+1 {{all warps have one role: a copy of its loop cannot run ahead: the buffer is written twice in an iteration}}
tgpu.kernel @copied_in_place(%q: !g, %kv: !kv, %n: i32, %o: !o) attributes {warp_specialize = "operations", target = "sm_90a", threads = 256 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %f0 = arith.constant 0.0 : f32
  %qs = tgpu.alloc_shared "Q" : !b
  %k = tgpu.alloc_shared "K" : !b
  %z = tile.splat %f0 : f32 -> !t
  %zr = tile.splat %f0 : f32 -> !r
  tgpu.copy %q to %qs {bytes = 16 : i32, path = #tgpu.path<tma>} : !g, !b
  %x:2 = scf.for %i = %c0 to %n step %c1 iter_args(%l = %zr, %c = %z) -> (!r, !t) : i32 {
    %w = tile.slice %kv[%i, %c0] sizes [64, 64] : !kv, i32, i32 -> !g
    tgpu.copy %w to %k {bytes = 16 : i32, path = #tgpu.path<tma>} : !g, !b
    %s = tgpu.dot %qs, %k, %z {accumulate = false, mma = #tgpu.mma<wgmma, 64, 32, 16, warps = 1, 2>, transpose_b} : !b, !b, !t -> !t
    tgpu.copy %w to %k {bytes = 16 : i32, path = #tgpu.path<tma>} : !g, !b
    %h = tile.reduce <sum> %s axis 1 : !t -> !r
    %y = arith.addf %l, %h : !r
    %a = tile.broadcast %y along [1] : !r -> !t
    %m = arith.mulf %c, %a : !t
    %p = tile.convert %s : !t to tensor<64x64xf16>
    %d = tgpu.dot %p, %k, %m {mma = #tgpu.mma<wgmma, 64, 32, 16, warps = 1, 2>} : tensor<64x64xf16>, !b, !t -> !t
    scf.yield %y, %d : !r, !t
  } {tile.stages = 2 : i32}
  tgpu.store %x#1, %o {bytes = 16 : i32, path = #tgpu.path<tma>} : !t, !o
  tgpu.return
}

// -----

!g = !tile.global<64x64xf16>
!kv = !tile.global<?x64xf16>
!o = !tile.global<64x64xf32>
!b = !tgpu.smem<64x64xf16>
!t = tensor<64x64xf32>
!r = tensor<64xf32>
// CHECK-LABEL: tgpu.kernel @filled_twice
// CHECK-SAME: threads = 256 : i32, warp_specialize = "off"
// CHECK-NOT: tgpu.role
// expected-remark @+1 {{all warps have one role: something else writes its buffer, or single threads read it}}
tgpu.kernel @filled_twice(%q: !g, %kv: !kv, %n: i32, %o: !o) attributes {warp_specialize = "operations", target = "sm_90a", threads = 256 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %f0 = arith.constant 0.0 : f32
  %qs = tgpu.alloc_shared "Q" : !b
  %k = tgpu.alloc_shared "K" : !b
  %z = tile.splat %f0 : f32 -> !t
  %zr = tile.splat %f0 : f32 -> !r
  tgpu.copy %q to %qs {bytes = 16 : i32, path = #tgpu.path<tma>} : !g, !b
  tgpu.copy %q to %qs {bytes = 16 : i32, path = #tgpu.path<tma>} : !g, !b
  %x:2 = scf.for %i = %c0 to %n step %c1 iter_args(%l = %zr, %c = %z) -> (!r, !t) : i32 {
    %w = tile.slice %kv[%i, %c0] sizes [64, 64] : !kv, i32, i32 -> !g
    tgpu.copy %w to %k {bytes = 16 : i32, path = #tgpu.path<tma>} : !g, !b
    %s = tgpu.dot %qs, %k, %z {accumulate = false, mma = #tgpu.mma<wgmma, 64, 32, 16, warps = 1, 2>, transpose_b} : !b, !b, !t -> !t
    %h = tile.reduce <sum> %s axis 1 : !t -> !r
    %y = arith.addf %l, %h : !r
    %a = tile.broadcast %y along [1] : !r -> !t
    %m = arith.mulf %c, %a : !t
    %p = tile.convert %s : !t to tensor<64x64xf16>
    %d = tgpu.dot %p, %k, %m {mma = #tgpu.mma<wgmma, 64, 32, 16, warps = 1, 2>} : tensor<64x64xf16>, !b, !t -> !t
    scf.yield %y, %d : !r, !t
  } {tile.stages = 2 : i32}
  tgpu.store %x#1, %o {bytes = 16 : i32, path = #tgpu.path<tma>} : !t, !o
  tgpu.return
}
