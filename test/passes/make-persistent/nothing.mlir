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
  "tgpu.grid_point"(%id) : (i32) -> ()
  tgpu.return
}
