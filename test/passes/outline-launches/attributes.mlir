// Annotations of the launch and of tensors become attributes of the kernel.
// RUN: tile-opt %s --tile-outline-launches -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: tgpu.kernel @tuned_0(
// CHECK-SAME: tgpu.align = 64 : i64
// CHECK-SAME: tile.may_alias = ["B"]
// CHECK-SAME: attributes {cluster = array<i32: 2, 1>, fast_math, launch = "tuned_0", max_registers = 128 : i32, min_blocks = 2 : i32, persistent = 1 : i32, require = ["wgmma"], threads = 64 : i32, warp_specialize = "producer"}
// CHECK: tgpu.grid_point %{{.*}} group(%c4_i32)
// CHECK: tile.copy {{.*}} {no_tma}
tile.kernel @tuned(%a: !tile.global<64x64xf32> {tile.name = "A", tile.dtype = "f32", tile.direction = "in", tile.align = 64 : i64,
                                              tile.may_alias = ["B"]}) attributes {fast_math} {
  %two = arith.constant 2 : i32
  %four = arith.constant 4 : i32
  tile.launch grid(%two, %two : i32, i32) threads(64) rasterize(%four) attributes {persistent = "static",
      warp_specialize = "producer", cluster = array<i32: 2, 1>, min_blocks = 2 : i32, max_registers = 128 : i32, no_tma, require = ["wgmma"]} {
  ^bb0(%i: i32, %j: i32):
    %s = tile.alloc "s" : !tile.buffer<64x64xf32, shared>
    tile.copy %a to %s : !tile.global<64x64xf32>, !tile.buffer<64x64xf32, shared>
  }
  tile.return
}

// -----

// Points are dealt out by a counter, a workspace of the call that begins at 0.
// CHECK-LABEL: tile.kernel @dynamic
// CHECK: %[[COUNTER:.*]] = tile.workspace "dynamic_0.points", "i32" init 0 : i32 : !tile.global<1xi32>
// CHECK: tgpu.launch "dynamic_0" {{.*}} args({{.*}}%[[COUNTER]] :
// CHECK-LABEL: tgpu.kernel @dynamic_0(
// CHECK-SAME: !tile.global<1xi32> {tgpu.align = 256 : i64, tgpu.point_counter, tile.direction = "inout"
// CHECK-SAME: persistent = 1 : i32
tile.kernel @dynamic() {
  %two = arith.constant 2 : i32
  %four = arith.constant 4 : i32
  tile.launch grid(%two : i32) threads(64) attributes {persistent = "dynamic"} {
  ^bb0(%i: i32):
  }
  tile.return
}
