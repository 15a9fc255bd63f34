// What TMA cannot move goes by cp.async, if accesses are 4 bytes or more, else by loads and stores: a remark says why.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-select-copies))' -verify-diagnostics -split-input-file | FileCheck %s

// CHECK-LABEL: tgpu.kernel @forbidden
// CHECK: tgpu.copy {{.*}}bytes = 16 : i32, no_tma, path = #tgpu.path<cp_async>
tgpu.kernel @forbidden(%a: !tile.global<?x?xf16> {tgpu.align = 16 : i64}, %m: i32, %n: i32 {tgpu.divisible = 8 : i64}, %i: i32) attributes {threads = 128 : i32, target = "sm_90a"} {
  %v = tgpu.view %a extents(%m, %n : i32, i32) strides(%n : i32) : !tile.global<?x?xf16> -> !tile.global<?x?xf16>
  %s = tgpu.alloc_shared "s" : !tgpu.smem<64x32xf16>
  %o = arith.constant 0 : i32
  %t = tile.slice %v[%i, %o] sizes [64, 32] : !tile.global<?x?xf16>, i32, i32 -> !tile.global<64x32xf16>
  // expected-remark@+1 {{copy moves by cp.async of 16 bytes, not TMA: @no_tma}}
  tgpu.copy %t to %s {no_tma} : !tile.global<64x32xf16>, !tgpu.smem<64x32xf16>
  tgpu.return
}

// -----

// CHECK-LABEL: tgpu.kernel @rows8
// CHECK: tgpu.copy {{.*}}bytes = 8 : i32, path = #tgpu.path<cp_async>
tgpu.kernel @rows8(%a: !tile.global<?x?xf16> {tgpu.align = 16 : i64}, %m: i32, %n: i32 {tgpu.divisible = 4 : i64}, %i: i32) attributes {threads = 128 : i32, target = "sm_90a"} {
  %v = tgpu.view %a extents(%m, %n : i32, i32) strides(%n : i32) : !tile.global<?x?xf16> -> !tile.global<?x?xf16>
  %s = tgpu.alloc_shared "s" : !tgpu.smem<64x32xf16>
  %o = arith.constant 0 : i32
  %t = tile.slice %v[%i, %o] sizes [64, 32] : !tile.global<?x?xf16>, i32, i32 -> !tile.global<64x32xf16>
  // expected-remark@+1 {{copy moves by cp.async of 8 bytes, not TMA: rows of the tensor are not known to start at multiples of 16 bytes}}
  tgpu.copy %t to %s : !tile.global<64x32xf16>, !tgpu.smem<64x32xf16>
  tgpu.return
}

// -----

// CHECK-LABEL: tgpu.kernel @rows4
// CHECK: tgpu.copy {{.*}}bytes = 4 : i32, path = #tgpu.path<cp_async>
tgpu.kernel @rows4(%a: !tile.global<?x?xf16> {tgpu.align = 16 : i64}, %m: i32, %n: i32 {tgpu.divisible = 2 : i64}, %i: i32) attributes {threads = 128 : i32, target = "sm_90a"} {
  %v = tgpu.view %a extents(%m, %n : i32, i32) strides(%n : i32) : !tile.global<?x?xf16> -> !tile.global<?x?xf16>
  %s = tgpu.alloc_shared "s" : !tgpu.smem<64x32xf16>
  %o = arith.constant 0 : i32
  %t = tile.slice %v[%i, %o] sizes [64, 32] : !tile.global<?x?xf16>, i32, i32 -> !tile.global<64x32xf16>
  // expected-remark@+1 {{copy moves by cp.async of 4 bytes, not TMA: rows of the tensor are not known to start at multiples of 16 bytes}}
  tgpu.copy %t to %s : !tile.global<64x32xf16>, !tgpu.smem<64x32xf16>
  tgpu.return
}

// -----

// CHECK-LABEL: tgpu.kernel @rows2
// CHECK: tgpu.copy {{.*}}bytes = 2 : i32, path = #tgpu.path<vector>
tgpu.kernel @rows2(%a: !tile.global<?x?xf16> {tgpu.align = 16 : i64}, %m: i32, %n: i32 {tgpu.divisible = 1 : i64}, %i: i32) attributes {threads = 128 : i32, target = "sm_90a"} {
  %v = tgpu.view %a extents(%m, %n : i32, i32) strides(%n : i32) : !tile.global<?x?xf16> -> !tile.global<?x?xf16>
  %s = tgpu.alloc_shared "s" : !tgpu.smem<64x32xf16>
  %o = arith.constant 0 : i32
  %t = tile.slice %v[%i, %o] sizes [64, 32] : !tile.global<?x?xf16>, i32, i32 -> !tile.global<64x32xf16>
  // expected-remark@+1 {{copy moves by loads and stores of 2 bytes, not TMA: rows of the tensor are not known to start at multiples of 16 bytes}}
  tgpu.copy %t to %s : !tile.global<64x32xf16>, !tgpu.smem<64x32xf16>
  tgpu.return
}

// -----

// CHECK-LABEL: tgpu.kernel @base
// CHECK: tgpu.copy {{.*}}bytes = 8 : i32, path = #tgpu.path<cp_async>
tgpu.kernel @base(%a: !tile.global<?x?xf16> {tgpu.align = 8 : i64}, %m: i32, %n: i32 {tgpu.divisible = 8 : i64}, %i: i32) attributes {threads = 128 : i32, target = "sm_90a"} {
  %v = tgpu.view %a extents(%m, %n : i32, i32) strides(%n : i32) : !tile.global<?x?xf16> -> !tile.global<?x?xf16>
  %s = tgpu.alloc_shared "s" : !tgpu.smem<64x32xf16>
  %o = arith.constant 0 : i32
  %t = tile.slice %v[%i, %o] sizes [64, 32] : !tile.global<?x?xf16>, i32, i32 -> !tile.global<64x32xf16>
  // expected-remark@+1 {{copy moves by cp.async of 8 bytes, not TMA: the tensor is not known to start at a multiple of 16 bytes}}
  tgpu.copy %t to %s : !tile.global<64x32xf16>, !tgpu.smem<64x32xf16>
  tgpu.return
}

// -----

// CHECK-LABEL: tgpu.kernel @tile_rows
// CHECK: tgpu.copy {{.*}}bytes = 8 : i32, path = #tgpu.path<cp_async>
tgpu.kernel @tile_rows(%a: !tile.global<?x?xf16> {tgpu.align = 16 : i64}, %m: i32, %n: i32 {tgpu.divisible = 8 : i64}, %i: i32) attributes {threads = 128 : i32, target = "sm_90a"} {
  %v = tgpu.view %a extents(%m, %n : i32, i32) strides(%n : i32) : !tile.global<?x?xf16> -> !tile.global<?x?xf16>
  %s = tgpu.alloc_shared "s" : !tgpu.smem<64x20xf16>
  %o = arith.constant 0 : i32
  %t = tile.slice %v[%i, %o] sizes [64, 20] : !tile.global<?x?xf16>, i32, i32 -> !tile.global<64x20xf16>
  // expected-remark@+1 {{copy moves by cp.async of 8 bytes, not TMA: rows of the tile are not multiples of 16 bytes}}
  tgpu.copy %t to %s : !tile.global<64x20xf16>, !tgpu.smem<64x20xf16>
  tgpu.return
}

// -----

// CHECK-LABEL: tgpu.kernel @odd_tile
// CHECK: tgpu.copy {{.*}}bytes = 2 : i32, path = #tgpu.path<vector>
tgpu.kernel @odd_tile(%a: !tile.global<?x?xf16> {tgpu.align = 16 : i64}, %m: i32, %n: i32 {tgpu.divisible = 8 : i64}, %i: i32) attributes {threads = 128 : i32, target = "sm_90a"} {
  %v = tgpu.view %a extents(%m, %n : i32, i32) strides(%n : i32) : !tile.global<?x?xf16> -> !tile.global<?x?xf16>
  %s = tgpu.alloc_shared "s" : !tgpu.smem<64x5xf16>
  %o = arith.constant 0 : i32
  %t = tile.slice %v[%i, %o] sizes [64, 5] : !tile.global<?x?xf16>, i32, i32 -> !tile.global<64x5xf16>
  // expected-remark@+1 {{copy moves by loads and stores of 2 bytes, not TMA: rows of the tile are not multiples of 16 bytes}}
  tgpu.copy %t to %s : !tile.global<64x5xf16>, !tgpu.smem<64x5xf16>
  tgpu.return
}

// -----

// CHECK-LABEL: tgpu.kernel @packed
// CHECK: tgpu.copy {{.*}}path = #tgpu.path<cp_async>
tgpu.kernel @packed(%a: !tile.global<?x?xf4E2M1FN> {tgpu.align = 16 : i64}, %m: i32, %n: i32 {tgpu.divisible = 8 : i64}, %i: i32) attributes {threads = 128 : i32, target = "sm_90a"} {
  %v = tgpu.view %a extents(%m, %n : i32, i32) strides(%n : i32) : !tile.global<?x?xf4E2M1FN> -> !tile.global<?x?xf4E2M1FN>
  %s = tgpu.alloc_shared "s" : !tgpu.smem<64x32xf4E2M1FN>
  %o = arith.constant 0 : i32
  %t = tile.slice %v[%i, %o] sizes [64, 32] : !tile.global<?x?xf4E2M1FN>, i32, i32 -> !tile.global<64x32xf4E2M1FN>
  // expected-remark@+1 {{copy moves by cp.async of 4 bytes, not TMA: elements of 4 bits}}
  tgpu.copy %t to %s : !tile.global<64x32xf4E2M1FN>, !tgpu.smem<64x32xf4E2M1FN>
  tgpu.return
}

// -----

// The contiguous dimension is dropped.
tgpu.kernel @column(%a: !tile.global<?x?xf16> {tgpu.align = 16 : i64}, %m: i32, %n: i32 {tgpu.divisible = 8 : i64}, %i: i32) attributes {threads = 128 : i32, target = "sm_90a"} {
  %v = tgpu.view %a extents(%m, %n : i32, i32) strides(%n : i32) : !tile.global<?x?xf16> -> !tile.global<?x?xf16>
  %s = tgpu.alloc_shared "s" : !tgpu.smem<64xf16>
  %t = tile.slice %v[%i, %i] sizes [64, -1] : !tile.global<?x?xf16>, i32, i32 -> !tile.global<64xf16>
  // expected-remark@+1 {{copy moves by loads and stores of 2 bytes, not TMA: the contiguous dimension of the tensor is not part of the tile}}
  tgpu.copy %t to %s : !tile.global<64xf16>, !tgpu.smem<64xf16>
  tgpu.return
}

// -----

tgpu.kernel @dynamic(%a: !tile.global<?x?xf16> {tgpu.align = 16 : i64}, %m: i32, %n: i32 {tgpu.divisible = 8 : i64}, %i: i32) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %v = tgpu.view %a extents(%m, %n : i32, i32) strides(%n : i32) : !tile.global<?x?xf16> -> !tile.global<?x?xf16>
  %s = tgpu.alloc_shared "s" : !tgpu.smem<64x32xf16>
  %t = tile.slice %v[%i, %c0] sizes [-9223372036854775808, 32](%m : i32) : !tile.global<?x?xf16>, i32, i32 -> !tile.global<?x32xf16>
  // expected-remark@+1 {{copy moves by cp.async of 16 bytes, not TMA: the extent of the region is known at run time only}}
  tgpu.copy %t to %s : !tile.global<?x32xf16>, !tgpu.smem<64x32xf16>
  tgpu.return
}

// -----

// TMA would read beyond the bounds of the view while another block may be writing there.
!g = !tile.global<?x?xf16>
!w = !tile.global<100x64xf16>
!t = !tile.global<64x32xf16>
tgpu.kernel @bounded(%a: !g {tgpu.align = 16 : i64}, %m: i32, %n: i32 {tgpu.divisible = 8 : i64}, %i: i32, %x: f16) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %v = tgpu.view %a extents(%m, %n : i32, i32) strides(%n : i32) : !g -> !g
  %s = tgpu.alloc_shared "s" : !tgpu.smem<64x32xf16>
  %w = tile.slice %v[%c0, %c0] sizes [100, 64] : !g, i32, i32 -> !w
  %t = tile.slice %w[%i, %c0] sizes [64, 32] : !w, i32, i32 -> !t
  // expected-remark@+1 {{copy moves by cp.async of 16 bytes, not TMA: the view has bounds of its own, and another block may be writing to the tensor beyond them}}
  tgpu.copy %t to %s : !t, !tgpu.smem<64x32xf16>
  tile.store %x, %v[%i, %i : i32, i32] : f16, !g
  tgpu.return
}

// -----

!g = !tile.global<?x?xf16>
!w = !tile.global<?x64xf16>
!t = !tile.global<64x32xf16>
tgpu.kernel @far(%a: !g {tgpu.align = 16 : i64}, %m: i32, %n: i32 {tgpu.divisible = 8 : i64}, %i: i64) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %v = tgpu.view %a extents(%m, %n : i32, i32) strides(%n : i32) : !g -> !g
  %s = tgpu.alloc_shared "s" : !tgpu.smem<64x32xf16>
  %w = tile.slice %v[%c0, %c0] sizes [-9223372036854775808, 64](%i : i64) : !g, i32, i32 -> !w
  %t = tile.slice %w[%c0, %c0] sizes [64, 32] : !w, i32, i32 -> !t
  // expected-remark@+1 {{copy moves by cp.async of 16 bytes, not TMA: the view has bounds of its own, whose place may exceed 64 bits}}
  tgpu.copy %t to %s : !t, !tgpu.smem<64x32xf16>
  tgpu.return
}

// -----

// TMA stops at the end of the tensor, not of the view.
!g = !tile.global<?x?xf16>
!w = !tile.global<100x64xf16>
!t = !tile.global<64x32xf16>
tgpu.kernel @bounded_store(%a: !g {tgpu.align = 16 : i64}, %m: i32, %n: i32 {tgpu.divisible = 8 : i64}, %i: i32, %f: tensor<64x32xf16>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %v = tgpu.view %a extents(%m, %n : i32, i32) strides(%n : i32) : !g -> !g
  %w = tile.slice %v[%c0, %c0] sizes [100, 64] : !g, i32, i32 -> !w
  %t = tile.slice %w[%i, %c0] sizes [64, 32] : !w, i32, i32 -> !t
  // expected-remark@+1 {{copy stores from registers, not by TMA: the view has bounds of its own, TMA stops only at the tensor's end}}
  tgpu.store %f, %t : tensor<64x32xf16>, !t
  tgpu.return
}

// -----

tgpu.kernel @gather(%a: !tile.global<?x?xf16> {tgpu.align = 16 : i64}, %r: tensor<64xi32>, %m: i32, %n: i32 {tgpu.divisible = 8 : i64}) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %v = tgpu.view %a extents(%m, %n : i32, i32) strides(%n : i32) : !tile.global<?x?xf16> -> !tile.global<?x?xf16>
  %s = tgpu.alloc_shared "s" : !tgpu.smem<64x32xf16>
  %t = tile.slice %v[%r, %c0] sizes [64, 32] : !tile.global<?x?xf16>, tensor<64xi32>, i32 -> !tile.global<64x32xf16>
  // expected-remark@+1 {{copy moves by cp.async of 16 bytes, not TMA: an index tile says which part of the tensor it is}}
  tgpu.copy %t to %s : !tile.global<64x32xf16>, !tgpu.smem<64x32xf16>
  tgpu.return
}

// -----

tgpu.kernel @rank6(%a: !tile.global<2x2x2x2x8x32xf16> {tgpu.align = 16 : i64}) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c2 = arith.constant 2 : i32
  %c8 = arith.constant 8 : i32
  %c32 = arith.constant 32 : i32
  %v = tgpu.view %a extents(%c2, %c2, %c2, %c2, %c8, %c32 : i32, i32, i32, i32, i32, i32) strides(%c32, %c32, %c32, %c32, %c32 : i32, i32, i32, i32, i32) : !tile.global<2x2x2x2x8x32xf16> -> !tile.global<2x2x2x2x8x32xf16>
  %s = tgpu.alloc_shared "s" : !tgpu.smem<8x32xf16>
  %t = tile.slice %v[%c0, %c0, %c0, %c0, %c0, %c0] sizes [-1, -1, -1, -1, 8, 32] : !tile.global<2x2x2x2x8x32xf16>, i32, i32, i32, i32, i32, i32 -> !tile.global<8x32xf16>
  // expected-remark@+1 {{copy moves by cp.async of 16 bytes, not TMA: the tensor has more than 5 dimensions}}
  tgpu.copy %t to %s : !tile.global<8x32xf16>, !tgpu.smem<8x32xf16>
  tgpu.return
}

// -----

// The host makes the tensor map, so it has to know all strides.
tgpu.kernel @computed(%a: !tile.global<?x?x?xf16> {tgpu.align = 16 : i64}, %m: i32, %n: i32 {tgpu.divisible = 8 : i64}, %i: i32) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %mn = arith.muli %m, %n : i32
  %v = tgpu.view %a extents(%m, %m, %n : i32, i32, i32) strides(%mn, %n : i32, i32) : !tile.global<?x?x?xf16> -> !tile.global<?x?x?xf16>
  %s = tgpu.alloc_shared "s" : !tgpu.smem<64x32xf16>
  %t = tile.slice %v[%i, %c0, %c0] sizes [-1, 64, 32] : !tile.global<?x?x?xf16>, i32, i32, i32 -> !tile.global<64x32xf16>
  // expected-remark@+1 {{copy moves by cp.async of 16 bytes, not TMA: extents or strides of the tensor are computed in the kernel}}
  tgpu.copy %t to %s : !tile.global<64x32xf16>, !tgpu.smem<64x32xf16>
  tgpu.return
}

// -----

// UTMALDG takes the first coordinate in multiples of 16 bytes only.
// CHECK-LABEL: tgpu.kernel @column
// CHECK: tgpu.copy {{.*}}bytes = 4 : i32, path = #tgpu.path<cp_async>
// CHECK: tgpu.copy {{.*}}bytes = 16 : i32, path = #tgpu.path<tma>
tgpu.kernel @column(%a: !tile.global<?x?xf16> {tgpu.align = 16 : i64}, %m: i32, %n: i32 {tgpu.divisible = 8 : i64}, %i: i32) attributes {threads = 128 : i32, target = "sm_90a"} {
  %v = tgpu.view %a extents(%m, %n : i32, i32) strides(%n : i32) : !tile.global<?x?xf16> -> !tile.global<?x?xf16>
  %s = tgpu.alloc_shared "s" : !tgpu.smem<64x32xf16>
  %c0 = arith.constant 0 : i32
  %c2 = arith.constant 2 : i32
  %j = arith.muli %i, %c2 : i32
  %t = tile.slice %v[%i, %j] sizes [64, 32] : !tile.global<?x?xf16>, i32, i32 -> !tile.global<64x32xf16>
  // expected-remark@+1 {{copy moves by cp.async of 4 bytes, not TMA: the region is not known to begin at a multiple of 16 bytes of a row}}
  tgpu.copy %t to %s : !tile.global<64x32xf16>, !tgpu.smem<64x32xf16>
  // A row may be any, also before the tensor: zeros.
  %u = tile.slice %v[%i, %c0] sizes [64, 32] : !tile.global<?x?xf16>, i32, i32 -> !tile.global<64x32xf16>
  tgpu.copy %u to %s : !tile.global<64x32xf16>, !tgpu.smem<64x32xf16>
  tgpu.return
}

// -----

// UTMASTG takes no negative coordinate.
// CHECK-LABEL: tgpu.kernel @before
// CHECK: tgpu.store {{.*}}path = #tgpu.path<vector>
// CHECK: tgpu.store {{.*}}path = #tgpu.path<tma>
tgpu.kernel @before(%a: !tile.global<?x?xf16> {tgpu.align = 16 : i64}, %m: i32, %n: i32 {tgpu.divisible = 8 : i64}, %i: i32, %f: tensor<64x32xf16>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %v = tgpu.view %a extents(%m, %n : i32, i32) strides(%n : i32) : !tile.global<?x?xf16> -> !tile.global<?x?xf16>
  %c0 = arith.constant 0 : i32
  %t = tile.slice %v[%i, %c0] sizes [64, 32] : !tile.global<?x?xf16>, i32, i32 -> !tile.global<64x32xf16>
  // expected-remark@+1 {{copy stores from registers, not by TMA: the region may begin before the tensor}}
  tgpu.store %f, %t : tensor<64x32xf16>, !tile.global<64x32xf16>
  %j = arith.maxsi %i, %c0 : i32
  %u = tile.slice %v[%j, %c0] sizes [64, 32] : !tile.global<?x?xf16>, i32, i32 -> !tile.global<64x32xf16>
  tgpu.store %f, %u : tensor<64x32xf16>, !tile.global<64x32xf16>
  tgpu.return
}

// -----

// No tensor map describes an empty tensor: where there is no other variant, a workspace that may be empty is not moved by TMA.
// CHECK-LABEL: tgpu.kernel @empty
// CHECK: tgpu.store {{.*}}path = #tgpu.path<vector>
// CHECK-LABEL: tgpu.kernel @guarded
// CHECK: tgpu.store {{.*}}path = #tgpu.path<tma>
!w = !tile.global<?x64x32xf16>
!t = !tile.global<64x32xf16>
tgpu.kernel @empty(%a: !w {tgpu.align = 256 : i64, tgpu.may_be_empty}, %n: i32, %f: tensor<64x32xf16>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %c64 = arith.constant 64 : i32
  %c2048 = arith.constant 2048 : i32
  %v = tgpu.view %a extents(%n, %c64, %c32 : i32, i32, i32) strides(%c2048, %c32 : i32, i32) : !w -> !w
  %t = tile.slice %v[%c0, %c0, %c0] sizes [-1, 64, 32] : !w, i32, i32, i32 -> !t
  // expected-remark@+1 {{copy stores from registers, not by TMA: the workspace may be empty}}
  tgpu.store %f, %t : tensor<64x32xf16>, !t
  tgpu.return
}
tgpu.kernel @guarded(%a: !w {tgpu.align = 256 : i64, tgpu.may_be_empty}, %n: i32, %f: tensor<64x32xf16>) attributes {threads = 128 : i32, target = "sm_90a", guard = [#tgpu.divisible<1, 8>]} {
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %c64 = arith.constant 64 : i32
  %c2048 = arith.constant 2048 : i32
  %v = tgpu.view %a extents(%n, %c64, %c32 : i32, i32, i32) strides(%c2048, %c32 : i32, i32) : !w -> !w
  %t = tile.slice %v[%c0, %c0, %c0] sizes [-1, 64, 32] : !w, i32, i32, i32 -> !t
  tgpu.store %f, %t : tensor<64x32xf16>, !t
  tgpu.return
}

// -----

// A layout that the program asks for decides: TMA writes no padding.
// CHECK-LABEL: tgpu.kernel @padded
// CHECK: tgpu.copy {{.*}}path = #tgpu.path<cp_async>
// CHECK: tgpu.copy {{.*}}path = #tgpu.path<tma>
tgpu.kernel @padded(%a: !tile.global<?x?xf16> {tgpu.align = 16 : i64}, %m: i32, %n: i32 {tgpu.divisible = 8 : i64}, %i: i32) attributes {threads = 128 : i32, target = "sm_90a"} {
  %v = tgpu.view %a extents(%m, %n : i32, i32) strides(%n : i32) : !tile.global<?x?xf16> -> !tile.global<?x?xf16>
  %s = tgpu.alloc_shared "s" {layout_hint = "padded(8)"} : !tgpu.smem<64x32xf16>
  %r = tgpu.alloc_shared "r" {layout_hint = "swizzle(64)"} : !tgpu.smem<64x32xf16>
  %o = arith.constant 0 : i32
  %t = tile.slice %v[%i, %o] sizes [64, 32] : !tile.global<?x?xf16>, i32, i32 -> !tile.global<64x32xf16>
  // expected-remark@+1 {{copy moves by cp.async of 16 bytes, not TMA: `@layout(padded(8))`, but TMA writes and reads rows without padding}}
  tgpu.copy %t to %s : !tile.global<64x32xf16>, !tgpu.smem<64x32xf16>
  tgpu.copy %t to %r : !tile.global<64x32xf16>, !tgpu.smem<64x32xf16>
  tgpu.return
}

// -----

tgpu.kernel @reinterpreted(%X: !tile.global<4096x64xf16> {tgpu.align = 16 : i64}) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %c4096 = arith.constant 4096 : i32
  %x = tgpu.view %X extents(%c4096, %c32 : i32, i32) strides(%c32 : i32) {reshaped} : !tile.global<4096x64xf16> -> !tile.global<4096x32xi32>
  %s = tgpu.alloc_shared : !tgpu.smem<64x32xi32>
  %t = tile.slice %x[%c0, %c0] sizes [64, 32] : !tile.global<4096x32xi32>, i32, i32 -> !tile.global<64x32xi32>
  // expected-remark@+1 {{not TMA: the view has elements of another size than the tensor}}
  tgpu.copy %t to %s : !tile.global<64x32xi32>, !tgpu.smem<64x32xi32>
  tgpu.return
}

// -----

// No tensor map describes it.
tgpu.kernel @empty(%a: !tile.global<64x0xf16> {tgpu.align = 16 : i64}, %i: i32) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %v = tgpu.view %a extents(%c64, %c0 : i32, i32) strides(%c0 : i32) : !tile.global<64x0xf16> -> !tile.global<64x0xf16>
  %s = tgpu.alloc_shared "s" : !tgpu.smem<64x32xf16>
  %t = tile.slice %v[%i, %i] sizes [64, 32] : !tile.global<64x0xf16>, i32, i32 -> !tile.global<64x32xf16>
  // expected-remark@+1 {{not TMA: the tensor has no elements}}
  tgpu.copy %t to %s : !tile.global<64x32xf16>, !tgpu.smem<64x32xf16>
  tgpu.return
}
