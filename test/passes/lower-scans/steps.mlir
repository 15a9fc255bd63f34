// Scans are taken apart: in a warp, across warps by the totals of the warps, in a layout of blocks of neighbours.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-infer-layouts,tgpu-lower-scans))' -verify-diagnostics -split-input-file | FileCheck %s

// Each warp has whole rows: nothing to do.
// CHECK-LABEL: tgpu.kernel @rows
// CHECK: tile.scan <max> %{{.*}} axis 1 {reverse} : tensor<8x128xf32, {{.*}}>
// CHECK-NOT: convert_layout
// CHECK: tgpu.return
tgpu.kernel @rows(%g: !tile.global<8x128xf32>, %o: !tile.global<8x128xf32>) attributes {threads = 64 : i32, target = "sm_80"} {
  %x = tgpu.load %g {bytes = 16 : i32} : !tile.global<8x128xf32> -> tensor<8x128xf32>
  %m = tile.scan <max> %x axis 1 {reverse} : tensor<8x128xf32>
  tgpu.store %m, %o {bytes = 16 : i32} : tensor<8x128xf32>, !tile.global<8x128xf32>
  tgpu.return
}

// A tile over two warps, half of it each. In f32 until the end.
// CHECK-LABEL: tgpu.kernel @halves
// CHECK: %[[X:.*]] = tile.convert %{{.*}} : tensor<512xf16, #tgpu.fragment<"[[L:.*]]">> to tensor<512xf32, #tgpu.fragment<"[[L]]">>
// CHECK: %[[S:.*]], %[[T:.*]] = tgpu.scan_in_warps %[[X]] axis 0 by <sum> {exclusive} : tensor<512xf32, #tgpu.fragment<"[[L]]">> -> tensor<512xf32, #tgpu.fragment<"[[L]]">> totals tensor<2xf32, {{.*}}>
// CHECK: %[[W:.*]] = tgpu.convert_layout %[[T]] : tensor<2xf32, {{.*}}> -> tensor<2xf32, {{.*}}>
// CHECK: %[[R:.*]] = tgpu.scan_across_warps %[[S]] after %[[W]] axis 0 by <sum> : {{.*}} -> tensor<512xf32, #tgpu.fragment<"[[L]]">>
// CHECK: tile.convert %[[R]] : {{.*}} to tensor<512xf16, #tgpu.fragment<"[[L]]">>
tgpu.kernel @halves(%g: !tile.global<512xf16>, %o: !tile.global<512xf16>) attributes {threads = 64 : i32, target = "sm_80"} {
  %x = tgpu.load %g {bytes = 16 : i32} : !tile.global<512xf16> -> tensor<512xf16>
  // expected-remark@+1 {{scan across 2 warps, through shared memory}}
  %s = tile.scan <sum> %x axis 0 {exclusive} : tensor<512xf16>
  tgpu.store %s, %o {bytes = 16 : i32} : tensor<512xf16>, !tile.global<512xf16>
  tgpu.return
}

// Where warps take turns along a row, the tile is converted first, and the result back.
// CHECK-LABEL: tgpu.kernel @turns
// CHECK: %[[C:.*]] = tgpu.convert_layout %{{.*}} : tensor<1024xi32, #tgpu.fragment<"[[L:.*]]">> -> tensor<1024xi32, #tgpu.fragment<"1024 reg 1:2:4:8 lane 16:32:64:128:256 warp 512">>
// CHECK: %[[S:.*]], %[[T:.*]] = tgpu.scan_in_warps %[[C]] axis 0 : {{.*}} {
// CHECK-NEXT: ^bb0(%[[A:.*]]: i32, %[[B:.*]]: i32):
// CHECK: tgpu.yield %{{.*}} : i32
// CHECK: %[[R:.*]] = tgpu.scan_across_warps %[[S]] after %{{.*}} axis 0 : {{.*}} {
// CHECK: tgpu.convert_layout %[[R]] : {{.*}} -> tensor<1024xi32, #tgpu.fragment<"[[L]]">>
tgpu.kernel @turns(%g: !tile.global<1024xi32>, %o: !tile.global<1024xi32>) attributes {threads = 64 : i32, target = "sm_80"} {
  %x = tgpu.load %g {bytes = 16 : i32} : !tile.global<1024xi32> -> tensor<1024xi32>
  // expected-remark@+2 {{layout conversions for a scan, which needs rows in runs of neighbours: to and fro each through 4096 bytes of shared memory}}
  // expected-remark@+1 {{scan across 2 warps, through shared memory}}
  %s = tile.scan_with %x axis 0 : tensor<1024xi32> -> tensor<1024xi32> {
  ^bb0(%a: i32, %b: i32):
    %c = arith.shli %a, %b : i32
    tile.yield %c : i32
  }
  tgpu.store %s, %o {bytes = 16 : i32} : tensor<1024xi32>, !tile.global<1024xi32>
  tgpu.return
}

// A warp deals out a row one element for each lane: rather four elements in a run.
// CHECK-LABEL: tgpu.kernel @short_runs
// CHECK: %[[C:.*]] = tgpu.convert_layout
// CHECK: %[[S:.*]] = tile.scan <sum> %[[C]] axis 1 : tensor<32x128xf32, #tgpu.fragment<"32x128 reg 0,1:0,2:{{.*}}
// CHECK: tgpu.convert_layout %[[S]]
tgpu.kernel @short_runs(%g: !tile.global<32x128xf32>, %o: !tile.global<32x128xf32>) attributes {threads = 32 : i32, target = "sm_80"} {
  %x = tgpu.load %g {bytes = 4 : i32} : !tile.global<32x128xf32> -> tensor<32x128xf32>
  // expected-remark@+1 {{layout conversions for a scan, whose threads would exchange 640 words: to and fro each through}}
  %m = tile.scan <sum> %x axis 1 : tensor<32x128xf32>
  tgpu.store %m, %o {bytes = 4 : i32} : tensor<32x128xf32>, !tile.global<32x128xf32>
  tgpu.return
}

// -----

tgpu.kernel @required(%g: !tile.global<512xf32>, %o: !tile.global<512xf32>) attributes {threads = 128 : i32, target = "sm_80", require = ["no_exchange"]} {
  %x = tgpu.load %g {bytes = 16 : i32} : !tile.global<512xf32> -> tensor<512xf32>
  // expected-error@+1 {{`no_exchange` is required, but not achieved: a scan across 4 warps goes through shared memory}}
  %s = tile.scan <sum> %x axis 0 : tensor<512xf32>
  tgpu.store %s, %o {bytes = 16 : i32} : tensor<512xf32>, !tile.global<512xf32>
  tgpu.return
}

// -----

tgpu.kernel @required_layout(%g: !tile.global<1024xf32>, %o: !tile.global<1024xf32>) attributes {threads = 128 : i32, target = "sm_80", require = ["no_exchange"]} {
  %x = tgpu.load %g {bytes = 16 : i32} : !tile.global<1024xf32> -> tensor<1024xf32>
  // expected-error@+1 {{`no_exchange` is required, but not achieved: a scan needs rows in runs of neighbours: the conversion goes through 4096 bytes of shared memory}}
  %s = tile.scan <sum> %x axis 0 : tensor<1024xf32>
  tgpu.store %s, %o {bytes = 16 : i32} : tensor<1024xf32>, !tile.global<1024xf32>
  tgpu.return
}
