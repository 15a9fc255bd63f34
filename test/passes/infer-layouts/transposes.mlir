// Memory on both sides of a transpose: a layout in which the accesses of both run along their rows.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-infer-layouts))' -verify-diagnostics -split-input-file | FileCheck %s

// Blocks of 8 x 8 in a thread. In a warp 8 of them along the columns, that is along the rows of what is stored; the conversion
// between the two sides only gives slots other numbers, which is worth no remark.
// CHECK-LABEL: tgpu.kernel @blocks
// CHECK: tgpu.load {{.*}} -> tensor<64x64xf16, #tgpu.fragment<"64x64 reg 0,1:0,2:0,4:1,0:2,0:4,0 lane 8,0:16,0:32,0:0,8:0,16 warp 0,32">>
// CHECK: %[[X:.*]] = tgpu.convert_layout {{.*}} -> tensor<64x64xf16, #tgpu.fragment<"64x64 reg 1,0:2,0:4,0:0,1:0,2:0,4 lane 8,0:16,0:32,0:0,8:0,16 warp 0,32">>
// CHECK: tile.transpose %[[X]] {{.*}} -> tensor<64x64xf16, #tgpu.fragment<"64x64 reg 0,1:0,2:0,4:1,0:2,0:4,0 lane 0,8:0,16:0,32:8,0:16,0 warp 32,0">>
tgpu.kernel @blocks(%g: !tile.global<64x64xf16>, %h: !tile.global<64x64xf16>) attributes {threads = 64 : i32} {
  %x = tgpu.load %g {bytes = 16 : i32} : !tile.global<64x64xf16> -> tensor<64x64xf16>
  %t = tile.transpose %x : tensor<64x64xf16> -> tensor<64x64xf16>
  tgpu.store %t, %h {bytes = 16 : i32} : tensor<64x64xf16>, !tile.global<64x64xf16>
  tgpu.return
}

// -----

// Each side as wide as it can be, through element-wise operations and conversions: four f32, two f16.
// CHECK-LABEL: tgpu.kernel @uneven
// CHECK: tgpu.load {{.*}} -> tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:0,2:1,0:
// CHECK: tgpu.store {{.*}} : tensor<64x64xf16, #tgpu.fragment<"64x64 reg 0,1:
tgpu.kernel @uneven(%g: !tile.global<64x64xf32>, %h: !tile.global<64x64xf16>) attributes {threads = 128 : i32} {
  %x = tgpu.load %g {bytes = 16 : i32} : !tile.global<64x64xf32> -> tensor<64x64xf32>
  %y = arith.addf %x, %x : tensor<64x64xf32>
  %t = tile.transpose %y : tensor<64x64xf32> -> tensor<64x64xf32>
  %n = arith.truncf %t : tensor<64x64xf32> to tensor<64x64xf16>
  tgpu.store %n, %h {bytes = 4 : i32} : tensor<64x64xf16>, !tile.global<64x64xf16>
  tgpu.return
}

// -----

// A small tile: all threads rather than wide accesses.
// CHECK-LABEL: tgpu.kernel @small
// CHECK: tgpu.load {{.*}} -> tensor<16x32xf16, #tgpu.fragment<"16x32 reg 0,1:1,0 lane
tgpu.kernel @small(%g: !tile.global<16x32xf16>, %h: !tile.global<32x16xf16>) attributes {threads = 128 : i32} {
  %x = tgpu.load %g {bytes = 16 : i32} : !tile.global<16x32xf16> -> tensor<16x32xf16>
  %t = tile.transpose %x : tensor<16x32xf16> -> tensor<32x16xf16>
  tgpu.store %t, %h {bytes = 16 : i32} : tensor<32x16xf16>, !tile.global<32x16xf16>
  tgpu.return
}

// -----

// Single elements: neighbouring lanes have neighbours on either side, and the tile is converted between.
// CHECK-LABEL: tgpu.kernel @elements
// CHECK: tgpu.load {{.*}} -> tensor<64x64xf16, #tgpu.fragment<"64x64 reg {{[^"]*}} lane 0,1:0,2:0,4:0,8:0,16 warp
// CHECK: tgpu.convert_layout
// CHECK: tile.transpose {{.*}} -> tensor<64x64xf16, #tgpu.fragment<"64x64 reg {{[^"]*}} lane 0,1:0,2:0,4:0,8:0,16 warp
tgpu.kernel @elements(%g: !tile.global<64x64xf16>, %h: !tile.global<64x64xf16>) attributes {threads = 128 : i32} {
  %x = tgpu.load %g {bytes = 2 : i32} : !tile.global<64x64xf16> -> tensor<64x64xf16>
  // expected-remark@+1 {{layout conversion of a fragment: its producer and this use need different layouts}}
  %t = tile.transpose %x : tensor<64x64xf16> -> tensor<64x64xf16>
  tgpu.store %t, %h {bytes = 2 : i32} : tensor<64x64xf16>, !tile.global<64x64xf16>
  tgpu.return
}

// -----

// From shared memory: blocks too where the store is wide ...
// CHECK-LABEL: tgpu.kernel @shared
// CHECK: tgpu.local_load {{.*}} -> tensor<64x64xf16, #tgpu.fragment<"64x64 reg 0,1:0,2:0,4:1,0:2,0:4,0 lane
tgpu.kernel @shared(%h: !tile.global<64x64xf16>) attributes {threads = 64 : i32} {
  %s = tgpu.alloc_shared "s" : !tgpu.smem<64x64xf16>
  %x = tgpu.local_load %s : !tgpu.smem<64x64xf16> -> tensor<64x64xf16>
  %t = tile.transpose %x : tensor<64x64xf16> -> tensor<64x64xf16>
  tgpu.store %t, %h {bytes = 16 : i32} : tensor<64x64xf16>, !tile.global<64x64xf16>
  tgpu.return
}

// -----

// ... and where it is not, the layout that suits the store: elements of shared memory can be had one by one.
// CHECK-LABEL: tgpu.kernel @shared_elements
// CHECK: tgpu.local_load {{.*}} -> tensor<64x64xf16, #tgpu.fragment<"64x64 reg {{[^"]*}} lane 1,0:2,0:4,0:8,0:16,0 warp
// CHECK-NOT: convert_layout
tgpu.kernel @shared_elements(%h: !tile.global<64x64xf16>) attributes {threads = 128 : i32} {
  %s = tgpu.alloc_shared "s" : !tgpu.smem<64x64xf16>
  %x = tgpu.local_load %s : !tgpu.smem<64x64xf16> -> tensor<64x64xf16>
  %t = tile.transpose %x : tensor<64x64xf16> -> tensor<64x64xf16>
  tgpu.store %t, %h {bytes = 2 : i32} : tensor<64x64xf16>, !tile.global<64x64xf16>
  tgpu.return
}
