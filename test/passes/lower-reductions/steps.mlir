// Reductions are taken apart: in a warp, across warps as a conversion of layouts, in each thread; along one dimension after the other.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-infer-layouts,tgpu-lower-reductions))' -verify-diagnostics -split-input-file | FileCheck %s

!t = tensor<8x128xf32>
// Each warp has whole rows.
// CHECK-LABEL: tgpu.kernel @rows
// CHECK: tile.reduce <max> %{{.*}} axis 1 : tensor<8x128xf32, {{.*}}> -> tensor<8xf32, #tgpu.fragment<"[[ROWS:.*]]">>
// CHECK-NOT: convert_layout
tgpu.kernel @rows(%g: !tile.global<8x128xf32>, %o: !tile.global<8xf32>) attributes {threads = 64 : i32, target = "sm_80"} {
  %x = tgpu.load %g {bytes = 16 : i32} : !tile.global<8x128xf32> -> !t
  %m = tile.reduce <max> %x axis 1 : !t -> tensor<8xf32>
  tgpu.store %m, %o {bytes = 4 : i32} : tensor<8xf32>, !tile.global<8xf32>
  tgpu.return
}

// Four warps have rows 0, 4; 1, 5; and so on: their sums of a column meet as a tile of four rows.
// CHECK-LABEL: tgpu.kernel @columns
// CHECK: %[[P:.*]] = tgpu.reduce_in_warps %{{.*}} axis 0 by <sum> : tensor<8x128xf32, {{.*}}> -> tensor<4x128xf32, {{.*}}>
// CHECK: %[[W:.*]] = tgpu.convert_layout %[[P]] : tensor<4x128xf32, {{.*}}> -> tensor<4x128xf32, {{.*}}>
// CHECK: tile.reduce <sum> %[[W]] axis 0 : tensor<4x128xf32, {{.*}}> -> tensor<128xf32, {{.*}}>
tgpu.kernel @columns(%g: !tile.global<8x128xf32>, %o: !tile.global<128xf32>) attributes {threads = 128 : i32, target = "sm_80"} {
  %x = tgpu.load %g {bytes = 16 : i32} : !tile.global<8x128xf32> -> !t
  // expected-remark@+1 {{reduction across 4 warps, through shared memory}}
  %m = tile.reduce <sum> %x axis 0 : !t -> tensor<128xf32>
  tgpu.store %m, %o {bytes = 4 : i32} : tensor<128xf32>, !tile.global<128xf32>
  tgpu.return
}

// To a scalar, in f32 between the steps.
// CHECK-LABEL: tgpu.kernel @all
// CHECK: %[[X:.*]] = tile.convert %{{.*}} : tensor<8x512xf16, {{.*}}> to tensor<8x512xf32, {{.*}}>
// CHECK: tgpu.reduce_in_warps %[[X]] axis 1 by <sum> {{.*}} -> tensor<8x2xf32, {{.*}}>
// CHECK: %[[R:.*]] = tile.reduce <sum> %{{.*}} axis 1 : tensor<8x2xf32, {{.*}}> -> tensor<8xf32, {{.*}}>
// CHECK: %[[S:.*]] = tile.reduce <sum> %[[R]] axis 0 : tensor<8xf32, {{.*}}> -> f32
// CHECK: tile.convert %[[S]] : f32 to f16
tgpu.kernel @all(%g: !tile.global<8x512xf16>, %o: !tile.global<1xf16>) attributes {threads = 64 : i32, target = "sm_80"} {
  %x = tgpu.load %g {bytes = 16 : i32} : !tile.global<8x512xf16> -> tensor<8x512xf16>
  // expected-remark@+1 {{reduction across 2 warps, through shared memory}}
  %s = tile.reduce <sum> %x : tensor<8x512xf16> -> f16
  %c0 = arith.constant 0 : i32
  tile.store %s, %o[%c0 : i32] : f16, !tile.global<1xf16>
  tgpu.return
}

// In f32 too where one warp has all of a row; extremes need no more than they have.
// CHECK-LABEL: tgpu.kernel @in_one_warp
// CHECK: %[[X:.*]] = tile.convert %{{.*}} : tensor<8x64xbf16, {{.*}}> to tensor<8x64xf32, {{.*}}>
// CHECK: %[[P:.*]] = tile.reduce <prod> %[[X]] axis 1
// CHECK: tile.convert %[[P]] : tensor<8xf32, {{.*}}> to tensor<8xbf16, {{.*}}>
// CHECK: tile.reduce <max> %{{.*}} axis 1 {{.*}}xbf16
tgpu.kernel @in_one_warp(%g: !tile.global<8x64xbf16>, %o: !tile.global<8xbf16>) attributes {threads = 32 : i32, target = "sm_80"} {
  %x = tgpu.load %g {bytes = 16 : i32} : !tile.global<8x64xbf16> -> tensor<8x64xbf16>
  %p = tile.reduce <prod> %x axis 1 : tensor<8x64xbf16> -> tensor<8xbf16>
  %m = tile.reduce <max> %x axis 1 : tensor<8x64xbf16> -> tensor<8xbf16>
  tgpu.store %p, %o {bytes = 2 : i32} : tensor<8xbf16>, !tile.global<8xbf16>
  tgpu.store %m, %o {bytes = 2 : i32} : tensor<8xbf16>, !tile.global<8xbf16>
  tgpu.return
}

// By a function: the same steps, with a value for each input. The second tile is taken in the layout of the first.
// CHECK-LABEL: tgpu.kernel @by_function
// CHECK: %[[P:.*]]:2 = tgpu.reduce_in_warps %{{.*}}, %{{.*}} axis 0 : tensor<8x128xf32, #tgpu.fragment<"[[L:.*]]">>, tensor<8x128xi32, #tgpu.fragment<"[[L]]">> -> tensor<4x128xf32, {{.*}}>, tensor<4x128xi32, {{.*}}> {
// CHECK-NEXT: ^bb0(%[[A:.*]]: f32, %[[I:.*]]: i32, %[[B:.*]]: f32, %[[J:.*]]: i32):
// CHECK-NEXT: %[[C:.*]] = arith.cmpf ogt, %[[A]], %[[B]] : f32
// CHECK: tgpu.yield %{{.*}}, %{{.*}} : f32, i32
// CHECK: %[[V:.*]] = tgpu.convert_layout %[[P]]#0
// CHECK: %[[W:.*]] = tgpu.convert_layout %[[P]]#1
// CHECK: tile.reduce_with %[[V]], %[[W]] axis 0 : tensor<4x128xf32, {{.*}}>, tensor<4x128xi32, {{.*}}> -> tensor<128xf32, {{.*}}>, tensor<128xi32, {{.*}}> {
tgpu.kernel @by_function(%g: !tile.global<8x128xf32>, %i: !tile.global<8x128xi32>, %o: !tile.global<128xf32>, %p: !tile.global<128xi32>) attributes {threads = 128 : i32, target = "sm_80"} {
  %x = tgpu.load %g {bytes = 16 : i32} : !tile.global<8x128xf32> -> tensor<8x128xf32>
  %at = tgpu.load %i {bytes = 4 : i32} : !tile.global<8x128xi32> -> tensor<8x128xi32>
  // expected-remark@+1 {{reduction across 4 warps, through shared memory}}
  %v, %w = tile.reduce_with %x, %at axis 0 : tensor<8x128xf32>, tensor<8x128xi32> -> tensor<128xf32>, tensor<128xi32> {
  ^bb0(%a: f32, %ai: i32, %b: f32, %bi: i32):
    %c = arith.cmpf ogt, %a, %b : f32
    %m = arith.select %c, %a, %b : f32
    %mi = arith.select %c, %ai, %bi : i32
    tile.yield %m, %mi : f32, i32
  }
  tgpu.store %v, %o {bytes = 4 : i32} : tensor<128xf32>, !tile.global<128xf32>
  tgpu.store %w, %p {bytes = 4 : i32} : tensor<128xi32>, !tile.global<128xi32>
  tgpu.return
}

// -----

tgpu.kernel @required(%g: !tile.global<8x128xf32>, %o: !tile.global<128xf32>) attributes {threads = 128 : i32, target = "sm_80", require = ["no_exchange"]} {
  %x = tgpu.load %g {bytes = 16 : i32} : !tile.global<8x128xf32> -> tensor<8x128xf32>
  // expected-error@+1 {{`no_exchange` is required, but not achieved: a reduction across 4 warps goes through shared memory}}
  %m = tile.reduce <sum> %x axis 0 : tensor<8x128xf32> -> tensor<128xf32>
  tgpu.store %m, %o {bytes = 4 : i32} : tensor<128xf32>, !tile.global<128xf32>
  tgpu.return
}
