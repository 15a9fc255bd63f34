// Rows that are reduced lie in one warp each where there are enough of them, and what is made of the results lies with them: no warp waits for another.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-infer-layouts))' -verify-diagnostics -split-input-file | FileCheck %s

// CHECK-LABEL: tgpu.kernel @a_row_for_each_warp
// CHECK: %[[X:.*]] = tgpu.load {{.*}} -> tensor<4x512xf32, [[ROWS:#tgpu.fragment<"4x512 reg 0,1:0,2:0,128:0,256 lane 0,4:0,8:0,16:0,32:0,64 warp 1,0:2,0">]]>
// CHECK: %[[S:.*]] = tile.reduce <sum> %[[X]] axis 1 : tensor<4x512xf32, [[ROWS]]> -> tensor<4xf32, #tgpu.fragment<"4 reg - lane 0:0:0:0:0 warp 1:2">>
// CHECK-NOT: convert_layout
tgpu.kernel @a_row_for_each_warp(%x: !tile.global<4x512xf32>, %y: !tile.global<4x512xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  // expected-remark@+1 {{this fragment has the layout with which conversions, reductions and accesses cost least: an estimated}}
  %v = tgpu.load %x {bytes = 16 : i32} : !tile.global<4x512xf32> -> tensor<4x512xf32>
  %s = tile.reduce <sum> %v axis 1 : tensor<4x512xf32> -> tensor<4xf32>
  %b = tile.broadcast %s along [1] : tensor<4xf32> -> tensor<4x512xf32>
  %r = arith.mulf %v, %b : tensor<4x512xf32>
  tgpu.store %r, %y {bytes = 16 : i32} : tensor<4x512xf32>, !tile.global<4x512xf32>
  tgpu.return
}

// -----

// One row is of all warps: they have to meet.
// CHECK-LABEL: tgpu.kernel @one_row
// CHECK: tile.reduce <sum> {{.*}} : tensor<1x512xf32, #tgpu.fragment<"1x512 reg 0,1:0,2 lane 0,4:0,8:0,16:0,32:0,64 warp 0,128:0,256">>
tgpu.kernel @one_row(%x: !tile.global<1x512xf32>, %y: !tile.global<1x512xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %v = tgpu.load %x {bytes = 16 : i32} : !tile.global<1x512xf32> -> tensor<1x512xf32>
  %s = tile.reduce <sum> %v axis 1 : tensor<1x512xf32> -> tensor<1xf32>
  %b = tile.broadcast %s along [1] : tensor<1xf32> -> tensor<1x512xf32>
  %r = arith.mulf %v, %b : tensor<1x512xf32>
  tgpu.store %r, %y {bytes = 16 : i32} : tensor<1x512xf32>, !tile.global<1x512xf32>
  tgpu.return
}

// -----

// A narrow tile of the same rows takes its layout from their results, in lanes that hold the same of these.
// CHECK-LABEL: tgpu.kernel @narrow_beside_wide
// CHECK: %[[S:.*]] = tile.reduce <max> {{.*}} -> tensor<4xf32, [[R:#tgpu.fragment<"4 reg 2 lane 0:0:0:0:0 warp 1">]]>
// CHECK: tile.broadcast %[[S]] along [1] : tensor<4xf32, [[R]]> -> tensor<4x8xf32, #tgpu.fragment<"4x8 reg 2,0 lane 0,1:0,2:0,4:0,0:0,0 warp 1,0">>
tgpu.kernel @narrow_beside_wide(%x: !tile.global<4x512xf32>, %y: !tile.global<4x8xf32>, %n: i32) attributes {threads = 64 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<4x8xf32>
  // expected-remark@+1 {{this fragment has the layout}}
  %v = tgpu.load %x {bytes = 16 : i32} : !tile.global<4x512xf32> -> tensor<4x512xf32>
  %sums = scf.for %i = %c0 to %n step %c1 iter_args(%c = %zero) -> (tensor<4x8xf32>) : i32 {
    %s = tile.reduce <max> %v axis 1 : tensor<4x512xf32> -> tensor<4xf32>
    // expected-remark@+1 {{this fragment has the layout}}
    %b = tile.broadcast %s along [1] : tensor<4xf32> -> tensor<4x8xf32>
    %d = arith.addf %b, %c : tensor<4x8xf32>
    scf.yield %d : tensor<4x8xf32>
  }
  tgpu.store %sums, %y {bytes = 16 : i32} : tensor<4x8xf32>, !tile.global<4x8xf32>
  tgpu.return
}

// -----

// A scan along the columns would take the registers of all warps' rows: it keeps the tile as it was loaded.
// CHECK-LABEL: tgpu.kernel @scanned_along_columns
// CHECK: tgpu.load {{.*}} -> tensor<16x1024xf32, #tgpu.fragment<"16x1024 reg 0,1:0,2:1,0:2,0:4,0:8,0 lane 0,4:0,8:0,16:0,32:0,64 warp 0,128:0,256:0,512">>
tgpu.kernel @scanned_along_columns(%x: !tile.global<16x1024xf32>, %y: !tile.global<16x1024xf32>, %z: !tile.global<16xf32>) attributes {threads = 256 : i32, target = "sm_90a"} {
  %v = tgpu.load %x {bytes = 16 : i32} : !tile.global<16x1024xf32> -> tensor<16x1024xf32>
  %t = tile.scan <sum> %v axis 0 : tensor<16x1024xf32>
  %s = tile.reduce <sum> %v axis 1 : tensor<16x1024xf32> -> tensor<16xf32>
  tgpu.store %t, %y {bytes = 16 : i32} : tensor<16x1024xf32>, !tile.global<16x1024xf32>
  tgpu.store %s, %z {bytes = 4 : i32} : tensor<16xf32>, !tile.global<16xf32>
  tgpu.return
}
