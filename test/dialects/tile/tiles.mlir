// Operations on tiles print as they are read.
// RUN: tile-opt %s | tile-opt | FileCheck %s

// CHECK-LABEL: tile.kernel @tiles
tile.kernel @tiles(%x: !tile.global<?x?xf16>, %rows: !tile.global<?xi32>) {
  %c1 = arith.constant 1 : i32
  tile.launch grid(%c1 : i32) threads(128) {
  ^bb0(%b: i32):
    %c0 = arith.constant 0 : i32
    %zero = arith.constant 0.0 : f32
    %a = tile.alloc "a" : !tile.buffer<64x32xf16, shared>
    %w = tile.alloc "w" : !tile.buffer<16x32xf16, shared>
    %acc = tile.alloc "acc" : !tile.buffer<64x16xf32, fragment>
    %at = tile.alloc "at" : !tile.buffer<64xi32, fragment>
    // CHECK: tile.splat %{{.*}} : f32 -> tensor<64x16xf32>
    %z = tile.splat %zero : f32 -> tensor<64x16xf32>
    tile.write %z, %acc : tensor<64x16xf32>, !tile.buffer<64x16xf32, fragment>
    %index = tile.read %at : !tile.buffer<64xi32, fragment> -> tensor<64xi32>
    // CHECK: tile.slice %{{.*}}[%{{.*}}, %{{.*}}] sizes [64, 32] : !tile.global<?x?xf16>, tensor<64xi32>, i32 -> !tile.global<64x32xf16>
    %g = tile.slice %x[%index, %c0] sizes [64, 32] : !tile.global<?x?xf16>, tensor<64xi32>, i32 -> !tile.global<64x32xf16>
    // CHECK: tile.copy %{{.*}} to %{{.*}} {cache = #tile.cache<evict_first>, no_tma}
    tile.copy %g to %a {cache = #tile.cache<evict_first>, no_tma} : !tile.global<64x32xf16>, !tile.buffer<64x32xf16, shared>
    // CHECK: tile.gemm %{{.*}}, %{{.*}}, %{{.*}} {accumulate = false, policy = #tile.policy<full_row>, transpose_b}
    tile.gemm %a, %w, %acc {transpose_b, accumulate = false, policy = #tile.policy<full_row>} : !tile.buffer<64x32xf16, shared>, !tile.buffer<16x32xf16, shared>, !tile.buffer<64x16xf32, fragment>
    %t = tile.read %acc : !tile.buffer<64x16xf32, fragment> -> tensor<64x16xf32>
    // CHECK: tile.reduce <max> %{{.*}} axis 1 : tensor<64x16xf32> -> tensor<64xf32>
    %top = tile.reduce <max> %t axis 1 : tensor<64x16xf32> -> tensor<64xf32>
    // CHECK: tile.reduce <sum> %{{.*}} : tensor<64xf32> -> f32
    %sum = tile.reduce <sum> %top : tensor<64xf32> -> f32
    // CHECK: tile.scan <sum> %{{.*}} axis 0 {exclusive, reverse} : tensor<64x16xf32>
    %scan = tile.scan <sum> %t axis 0 {reverse, exclusive} : tensor<64x16xf32>
    // CHECK: tile.broadcast %{{.*}} along [0, 2] : tensor<64x16xf32> -> tensor<3x64x5x16xf32>
    %rep = tile.broadcast %t along [0, 2] : tensor<64x16xf32> -> tensor<3x64x5x16xf32>
    // CHECK: tile.transpose %{{.*}} : tensor<64x16xf32> -> tensor<16x64xf32>
    %tr = tile.transpose %t : tensor<64x16xf32> -> tensor<16x64xf32>
    // CHECK: tile.convert %{{.*}} : tensor<64x16xf32> to tensor<64x16xf16>
    %h = tile.convert %t : tensor<64x16xf32> to tensor<64x16xf16>
    // CHECK: tile.map %{{.*}} : tensor<64x16xf32> -> tensor<64x16xf32> {
    // CHECK-NEXT: ^bb0(%[[E:.*]]: f32):
    %m = tile.map %t : tensor<64x16xf32> -> tensor<64x16xf32> {
    ^bb0(%e: f32):
      %n = arith.negf %e : f32
      // CHECK: tile.yield %{{.*}} : f32
      tile.yield %n : f32
    }
    // CHECK: tile.reduce_with %{{.*}}, %{{.*}} axis 0 : tensor<64xf32>, tensor<64xi32> -> f32, i32 {
    %best:2 = tile.reduce_with %top, %index axis 0 : tensor<64xf32>, tensor<64xi32> -> f32, i32 {
    ^bb0(%av: f32, %ai: i32, %bv: f32, %bi: i32):
      %c = arith.cmpf ogt, %av, %bv : f32
      %v = arith.select %c, %av, %bv : f32
      %i = arith.select %c, %ai, %bi : i32
      tile.yield %v, %i : f32, i32
    }
    // CHECK: tile.parallel(%{{.*}}, %{{.*}} : i32, i32) {
    tile.parallel(%c1, %c1 : i32, i32) {
    ^bb0(%i: i32, %j: i32):
      tile.store %zero, %acc[%i, %j : i32, i32] : f32, !tile.buffer<64x16xf32, fragment>
    }
    tile.yield
  }
  tile.return
}
