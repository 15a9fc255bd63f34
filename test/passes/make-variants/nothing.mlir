// One variant is enough: strides are known, nothing can be assumed of them, no tile is copied, or a guard is there.
// RUN: tile-opt %s --tgpu-make-variants -verify-diagnostics | FileCheck %s
// CHECK-NOT: _aligned
// CHECK-NOT: _any
// CHECK-NOT: variant

// CHECK: tgpu.kernel @known(
tgpu.kernel @known(%a: !tile.global<?x?xf16>, %m: i32, %n: i32 {tgpu.divisible = 8 : i64}) attributes {threads = 128 : i32} {
  %v = tgpu.view %a extents(%m, %n : i32, i32) strides(%n : i32) : !tile.global<?x?xf16> -> !tile.global<?x?xf16>
  %s = tgpu.alloc_shared "s" : !tgpu.smem<64x64xf16>
  %t = tile.slice %v[%m, %n] sizes [64, 64] : !tile.global<?x?xf16>, i32, i32 -> !tile.global<64x64xf16>
  tgpu.copy %t to %s : !tile.global<64x64xf16>, !tgpu.smem<64x64xf16>
  tgpu.return
}

// CHECK: tgpu.kernel @fixed(
tgpu.kernel @fixed(%a: !tile.global<?x100xf16>, %m: i32) attributes {threads = 128 : i32} {
  %n = arith.constant 100 : i32
  %v = tgpu.view %a extents(%m, %n : i32, i32) strides(%n : i32) : !tile.global<?x100xf16> -> !tile.global<?x100xf16>
  %s = tgpu.alloc_shared "s" : !tgpu.smem<64x64xf16>
  %t = tile.slice %v[%m, %n] sizes [64, 64] : !tile.global<?x100xf16>, i32, i32 -> !tile.global<64x64xf16>
  tgpu.copy %t to %s : !tile.global<64x64xf16>, !tgpu.smem<64x64xf16>
  tgpu.return
}

// A sum of arguments, a value that changes in a loop.
// CHECK: tgpu.kernel @computed(
tgpu.kernel @computed(%a: !tile.global<?x?xf16>, %m: i32, %n: i32) attributes {threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %sum = arith.addi %m, %n : i32
  %s = tgpu.alloc_shared "s" : !tgpu.smem<64x64xf16>
  %v = tgpu.view %a extents(%m, %sum : i32, i32) strides(%sum : i32) : !tile.global<?x?xf16> -> !tile.global<?x?xf16>
  %t = tile.slice %v[%m, %n] sizes [64, 64] : !tile.global<?x?xf16>, i32, i32 -> !tile.global<64x64xf16>
  tgpu.copy %t to %s : !tile.global<64x64xf16>, !tgpu.smem<64x64xf16>
  scf.for %i = %c0 to %m step %c1 : i32 {
    %w = tgpu.view %a extents(%m, %i : i32, i32) strides(%i : i32) : !tile.global<?x?xf16> -> !tile.global<?x?xf16>
    %u = tile.slice %w[%m, %n] sizes [64, 64] : !tile.global<?x?xf16>, i32, i32 -> !tile.global<64x64xf16>
    tgpu.copy %u to %s : !tile.global<64x64xf16>, !tgpu.smem<64x64xf16>
  }
  tgpu.return
}

// CHECK: tgpu.kernel @scalars(
tgpu.kernel @scalars(%a: !tile.global<?x?xf16>, %m: i32, %n: i32) attributes {threads = 128 : i32} {
  %v = tgpu.view %a extents(%m, %n : i32, i32) strides(%n : i32) : !tile.global<?x?xf16> -> !tile.global<?x?xf16>
  %x = tile.load %v[%m, %n : i32, i32] : !tile.global<?x?xf16> -> f16
  tgpu.return
}

// CHECK: tgpu.kernel @vector(
tgpu.kernel @vector(%a: !tile.global<?xf16>, %m: i32) attributes {threads = 128 : i32} {
  %v = tgpu.view %a extents(%m : i32) strides() : !tile.global<?xf16> -> !tile.global<?xf16>
  %t = tile.slice %v[%m] sizes [64] : !tile.global<?xf16>, i32 -> !tile.global<64xf16>
  %x = tgpu.load %t : !tile.global<64xf16> -> tensor<64xf16>
  tgpu.return
}

// CHECK: tgpu.kernel @guarded(
tgpu.kernel @guarded(%a: !tile.global<?x?xf16>, %m: i32, %n: i32) attributes {threads = 128 : i32, guard = [#tgpu.divisible<1, 2>]} {
  %v = tgpu.view %a extents(%m, %n : i32, i32) strides(%n : i32) : !tile.global<?x?xf16> -> !tile.global<?x?xf16>
  %s = tgpu.alloc_shared "s" : !tgpu.smem<64x64xf16>
  %t = tile.slice %v[%m, %n] sizes [64, 64] : !tile.global<?x?xf16>, i32, i32 -> !tile.global<64x64xf16>
  tgpu.copy %t to %s : !tile.global<64x64xf16>, !tgpu.smem<64x64xf16>
  tgpu.return
}
