// A loop whose index could pass the end of its type, or is compared without sign, counts its trips.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(convert-tile-to-tgpu))' | FileCheck %s

// CHECK-LABEL: tgpu.kernel @loops
tgpu.kernel @loops(%a: !tile.global<?xi32>, %n: i32, %s: i32, %few: i32 {tgpu.range = array<i64: 0, 1000>}) attributes {threads = 32 : i32} {
  %v = tgpu.view %a extents(%n : i32) strides() : !tile.global<?xi32> -> !tile.global<?xi32>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c256 = arith.constant 256 : i32
  // Steps of one never pass the bound, nor do others below 2^31 - 256.
  // CHECK: scf.for %{{.*}} = %{{.*}} to %arg1 step %{{.*}} : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    tile.store %i, %v[%i : i32] : i32, !tile.global<?xi32>
  }
  // CHECK: scf.for %{{.*}} = %{{.*}} to %arg3 step %{{.*}} : i32
  scf.for %i = %c0 to %few step %c256 : i32 {
    tile.store %i, %v[%i : i32] : i32, !tile.global<?xi32>
  }
  // An extent may be 2^31 - 1.
  // CHECK: arith.ceildivui
  // CHECK: scf.for %[[T:.*]] = %{{.*}} to %{{.*}} step %{{.*}} : i32
  // CHECK-NEXT: %[[D:.*]] = arith.muli %[[T]], %{{.*}} : i32
  // CHECK: tile.store
  scf.for %i = %c0 to %n step %c256 : i32 {
    tile.store %i, %v[%i : i32] : i32, !tile.global<?xi32>
  }
  // A step that is not known: 0 makes no trip.
  // CHECK: tile.div %{{.*}}, %{{.*}} {is_unsigned, rounding = #tile.rounding<up>} : i64
  // CHECK: scf.for %{{.*}} : i64
  scf.for %i = %c0 to %n step %s : i32 {
    tile.store %i, %v[%i : i32] : i32, !tile.global<?xi32>
  }
  // CHECK: arith.cmpi ult
  // CHECK: scf.for %{{.*}} : i64
  scf.for unsigned %i = %c0 to %s step %c1 : i32 {
    tile.store %i, %v[%i : i32] : i32, !tile.global<?xi32>
  }
  tgpu.return
}
