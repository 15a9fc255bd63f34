// Kernels that are not persistent, that use no grid point, or whose grid has no extents stay as they are.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-make-persistent))' | FileCheck %s
// CHECK-NOT: scf.for

// CHECK: tgpu.kernel @plain
tgpu.kernel @plain(%x: i32, %g: !tile.global<?xi32>) attributes {threads = 128 : i32} {
  %id = tgpu.block_id
  %i = tgpu.grid_point %id in (%x) : i32
  tile.store %i, %g[%i : i32] : i32, !tile.global<?xi32>
  tgpu.return
}

// CHECK: tgpu.kernel @pointless
tgpu.kernel @pointless(%x: i32, %g: !tile.global<?xi32>) attributes {threads = 128 : i32, persistent = 1 : i32} {
  tile.store %x, %g[%x : i32] : i32, !tile.global<?xi32>
  tgpu.return
}

// CHECK: tgpu.kernel @no_extents
tgpu.kernel @no_extents() attributes {threads = 128 : i32, persistent = 1 : i32} {
  %id = tgpu.block_id
  "tgpu.grid_point"(%id) <{operandSegmentSizes = array<i32: 1, 0, 0, 0>}> : (i32) -> ()
  tgpu.return
}

// A point that nobody asks for is there all the same: what follows is done for each of them.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(canonicalize, cse, tgpu-make-persistent))' | FileCheck %s --check-prefix=UNUSED
// UNUSED-LABEL: tgpu.kernel @unused(
// UNUSED: scf.for
// UNUSED: tgpu.atomic <add>
// UNUSED-LABEL: tgpu.kernel @not_persistent_unused(
// UNUSED-NOT: tgpu.grid_point
tgpu.kernel @unused(%x: i32, %g: !tile.global<1xi32>) attributes {threads = 128 : i32, persistent = 1 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %v = tgpu.view %g extents(%c1 : i32) strides() : !tile.global<1xi32> -> !tile.global<1xi32>
  %id = tgpu.block_id
  %i = tgpu.grid_point %id in (%x) : i32
  tgpu.atomic <add> %c1, %v[%c0] : i32, !tile.global<1xi32>[i32]
  tgpu.return
}

tgpu.kernel @not_persistent_unused(%x: i32, %g: !tile.global<1xi32>) attributes {threads = 128 : i32} {
  %id = tgpu.block_id
  %i = tgpu.grid_point %id in (%x) : i32
  tgpu.return
}
