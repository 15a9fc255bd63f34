// What nothing constrains gets the widest access that its load or store admits, and uses all threads of a small tile.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-infer-layouts))' -verify-diagnostics -split-input-file | FileCheck %s

// CHECK-LABEL: tgpu.kernel @wide
// CHECK: tgpu.load {{.*}} -> tensor<64x64xf16, #tgpu.fragment<"64x64 reg 0,1:0,2:0,4:16,0:32,0 lane 0,8:0,16:0,32:1,0:2,0 warp 4,0:8,0">>
tgpu.kernel @wide(%g: !tile.global<64x64xf16>) attributes {threads = 128 : i32} {
  %x = tgpu.load %g {bytes = 16 : i32} : !tile.global<64x64xf16> -> tensor<64x64xf16>
  tgpu.store %x, %g {bytes = 16 : i32} : tensor<64x64xf16>, !tile.global<64x64xf16>
  tgpu.return
}

// -----

// The narrower of load and store.
// CHECK-LABEL: tgpu.kernel @narrow
// CHECK: tgpu.load {{.*}} -> tensor<64x64xf16, #tgpu.fragment<"64x64 reg 0,1:
// CHECK-SAME: lane 0,2:
tgpu.kernel @narrow(%g: !tile.global<64x64xf16>) attributes {threads = 128 : i32} {
  %x = tgpu.load %g {bytes = 16 : i32} : !tile.global<64x64xf16> -> tensor<64x64xf16>
  tgpu.store %x, %g {bytes = 4 : i32} : tensor<64x64xf16>, !tile.global<64x64xf16>
  tgpu.return
}

// -----

// 256 elements on 128 threads: two each, not eight.
// CHECK-LABEL: tgpu.kernel @small
// CHECK: tgpu.load {{.*}} -> tensor<256xf16, #tgpu.fragment<"256 reg 1 lane 2:4:8:16:32 warp 64:128">>
tgpu.kernel @small(%g: !tile.global<256xf16>) attributes {threads = 128 : i32} {
  %x = tgpu.load %g {bytes = 16 : i32} : !tile.global<256xf16> -> tensor<256xf16>
  tgpu.store %x, %g {bytes = 16 : i32} : tensor<256xf16>, !tile.global<256xf16>
  tgpu.return
}

// -----

// Splats alone: the store decides; each use of one splat may have another layout.
// CHECK-LABEL: tgpu.kernel @splat
// CHECK: %[[S:.*]] = tile.splat {{.*}} -> tensor<256xf32, #tgpu.fragment<"256 {{.*}}">>
// CHECK: tgpu.store %[[S]]
tgpu.kernel @splat(%g: !tile.global<256xf32>, %f: f32) attributes {threads = 128 : i32} {
  %s = tile.splat %f : f32 -> tensor<256xf32>
  tgpu.store %s, %g {bytes = 16 : i32} : tensor<256xf32>, !tile.global<256xf32>
  tgpu.return
}

// -----

// A loop that carries only splats.
// CHECK-LABEL: tgpu.kernel @splat_loop
// CHECK: scf.for {{.*}} -> (tensor<256xf32, [[L:#tgpu.fragment<"[^"]*">]]>)
// CHECK: %[[S:.*]] = tile.splat {{.*}} -> tensor<256xf32, [[L]]>
// CHECK: scf.yield %[[S]]
tgpu.kernel @splat_loop(%g: !tile.global<256xf32>, %f: f32, %n: i32) attributes {threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %s = tile.splat %f : f32 -> tensor<256xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %s) -> (tensor<256xf32>) : i32 {
    scf.yield %s : tensor<256xf32>
  }
  tgpu.store %r, %g {bytes = 16 : i32} : tensor<256xf32>, !tile.global<256xf32>
  tgpu.return
}

// -----

// CHECK-LABEL: tgpu.kernel @nothing
// CHECK-NEXT: tgpu.return
tgpu.kernel @nothing() attributes {threads = 128 : i32} {
  tgpu.return
}

// -----

// Coordinates tie nothing: here two stores have them in layouts of their own, without a conversion.
// CHECK-LABEL: tgpu.kernel @coordinates
// CHECK-NOT: tgpu.convert_layout
// CHECK: %[[A:.*]] = tgpu.coordinate : tensor<256xi32, [[LA:#tgpu.fragment<"[^"]*">]]>
// CHECK: arith.addi %{{.*}}, %[[A]] : tensor<256xi32, [[LA]]>
// CHECK: tgpu.scatter %{{.*}}, %{{.*}}[%[[I:.*]]] : tensor<256xf32, [[LB:#tgpu.fragment<"[^"]*">]]>, {{.*}}[tensor<256xi32, [[LB]]>]
tgpu.kernel @coordinates(%g: !tile.global<256xi32>, %s: !tgpu.smem<256xf32>, %f: f32) attributes {threads = 128 : i32} {
  %c = tgpu.coordinate : tensor<256xi32>
  %x = tgpu.load %g {bytes = 16 : i32} : !tile.global<256xi32> -> tensor<256xi32>
  %y = arith.addi %x, %c : tensor<256xi32>
  tgpu.store %y, %g {bytes = 16 : i32} : tensor<256xi32>, !tile.global<256xi32>
  %v = tile.splat %f : f32 -> tensor<256xf32>
  tgpu.scatter %v, %s[%c] : tensor<256xf32>, !tgpu.smem<256xf32>[tensor<256xi32>]
  tgpu.return
}

// -----

// The larger tile is placed first, though it is loaded later: the column beside it is loaded as it is needed there, by all lanes
// that have its row.
// CHECK-LABEL: tgpu.kernel @largest_first
// CHECK: tgpu.load {{.*}} -> tensor<64xf32, #tgpu.fragment<"64 reg {{[^"]*}} lane 0:0:0:0:
// CHECK-NOT: convert_layout
tgpu.kernel @largest_first(%g: !tile.global<64x64xf32>, %c: !tile.global<64xf32>) attributes {threads = 128 : i32} {
  %v = tgpu.load %c {bytes = 16 : i32} : !tile.global<64xf32> -> tensor<64xf32>
  %x = tgpu.load %g {bytes = 16 : i32} : !tile.global<64x64xf32> -> tensor<64x64xf32>
  %b = tile.broadcast %v along [1] : tensor<64xf32> -> tensor<64x64xf32>
  %y = arith.mulf %x, %b : tensor<64x64xf32>
  tgpu.store %y, %g {bytes = 16 : i32} : tensor<64x64xf32>, !tile.global<64x64xf32>
  tgpu.return
}
