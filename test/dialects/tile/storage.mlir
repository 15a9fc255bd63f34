// Buffers of each scope, views of global memory and access to single elements print as they are read.
// RUN: tile-opt %s | tile-opt | FileCheck %s

// CHECK-LABEL: tile.kernel @storage
tile.kernel @storage(%x: !tile.global<?x64xf16>, %rows: i32) {
  %c1 = arith.constant 1 : i32
  // CHECK: tile.workspace "w", "f32"(%{{.*}} : i32) init 0.000000e+00 : f32 : !tile.global<?x4xf32>
  %w = tile.workspace "w", "f32"(%rows : i32) init 0.0 : f32 : !tile.global<?x4xf32>
  tile.launch grid(%c1 : i32) threads(64) {
  ^bb0(%b: i32):
    %c0 = arith.constant 0 : i32
    // CHECK: %[[S:.*]] = tile.alloc "s" {layout = "swizzle(128)"} : !tile.buffer<32x64xf16, shared>
    %s = tile.alloc "s" {layout = "swizzle(128)"} : !tile.buffer<32x64xf16, shared>
    // CHECK: %[[V:.*]] = tile.alloc "v" : !tile.buffer<f32, uniform>
    %v = tile.alloc "v" : !tile.buffer<f32, uniform>
    // CHECK: %[[L:.*]] = tile.alloc "l" : !tile.buffer<4xi32, local>
    %l = tile.alloc "l" : !tile.buffer<4xi32, local>
    // CHECK: tile.slice %{{.*}}[%{{.*}}, %{{.*}}] sizes [-1, 64] : !tile.global<?x64xf16>, i32, i32 -> !tile.global<64xf16>
    %row = tile.slice %x[%b, %c0] sizes [-1, 64] : !tile.global<?x64xf16>, i32, i32 -> !tile.global<64xf16>
    // CHECK: tile.slice %{{.*}}[%{{.*}}, %{{.*}}] sizes [-9223372036854775808, 64](%{{.*}} : i32)
    %part = tile.slice %x[%c1, %c0] sizes [-9223372036854775808, 64](%rows : i32) : !tile.global<?x64xf16>, i32, i32 -> !tile.global<?x64xf16>
    // CHECK: tile.reshape %{{.*}} : !tile.global<64xf16> -> !tile.global<8x8xf16>
    %r = tile.reshape %row : !tile.global<64xf16> -> !tile.global<8x8xf16>
    // CHECK: tile.bitcast_view %{{.*}} : !tile.buffer<32x64xf16, shared> -> !tile.buffer<32x128xi8, shared>
    %bytes = tile.bitcast_view %s : !tile.buffer<32x64xf16, shared> -> !tile.buffer<32x128xi8, shared>
    // CHECK: tile.load %{{.*}}[%{{.*}}, %{{.*}} : i32, i32] : !tile.global<?x64xf16> -> vector<8xf16>
    %n = tile.load %x[%b, %c0 : i32, i32] : !tile.global<?x64xf16> -> vector<8xf16>
    // CHECK: tile.store %{{.*}}, %[[S]][%{{.*}}, %{{.*}} : i32, i32] : vector<8xf16>, !tile.buffer<32x64xf16, shared>
    tile.store %n, %s[%c0, %c0 : i32, i32] : vector<8xf16>, !tile.buffer<32x64xf16, shared>
    // CHECK: tile.read %[[V]] : !tile.buffer<f32, uniform> -> f32
    %old = tile.read %v : !tile.buffer<f32, uniform> -> f32
    // CHECK: tile.write %{{.*}}, %[[V]] : f32, !tile.buffer<f32, uniform>
    tile.write %old, %v : f32, !tile.buffer<f32, uniform>
    // In block code a local buffer has the threads as its first dimension.
    // CHECK: tile.read %[[L]] : !tile.buffer<4xi32, local> -> tensor<64x4xi32>
    %all = tile.read %l : !tile.buffer<4xi32, local> -> tensor<64x4xi32>
    // CHECK: tile.constant_array dense<[1, 2, 3]> : tensor<3xi32>
    %lut = tile.constant_array dense<[1, 2, 3]> : tensor<3xi32> : tensor<3xi32>
    tile.yield
  }
  tile.return
}
