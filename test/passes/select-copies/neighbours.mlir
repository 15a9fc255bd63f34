// How wide the accesses of neighbours by single threads are.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-select-copies))' -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: tgpu.kernel @widths
// CHECK: tile.load %{{.*}} {tgpu.access_bytes = 16 : i32}
// CHECK: tile.load %{{.*}} {tgpu.access_bytes = 8 : i32}
// CHECK: tile.store %{{.*}} {tgpu.access_bytes = 4 : i32}
// CHECK: tile.load %{{.*}} {tgpu.access_bytes = 4 : i32}
// CHECK: tile.load %{{.*}} {tgpu.access_bytes = 4 : i32}
tgpu.kernel @widths(%a: !tile.global<?x?xf32> {tgpu.align = 16 : i64}, %m: i32, %n: i32 {tgpu.divisible = 4 : i64}) attributes {threads = 64 : i32, target = "sm_80"} {
  %c2 = arith.constant 2 : i32
  %c4 = arith.constant 4 : i32
  %v = tgpu.view %a extents(%m, %n : i32, i32) strides(%n : i32) : !tile.global<?x?xf32> -> !tile.global<?x?xf32>
  %row = tile.slice %v[%m, %c2] sizes [-1, 100] : !tile.global<?x?xf32>, i32, i32 -> !tile.global<100xf32>
  %column = tile.slice %v[%m, %c2] sizes [100, -1] : !tile.global<?x?xf32>, i32, i32 -> !tile.global<100xf32>
  tile.threads [64] {
  ^bb0(%t: i32):
    %i = arith.muli %t, %c4 : i32
    %x = tile.load %v[%t, %i : i32, i32] : !tile.global<?x?xf32> -> vector<8xf32>
    // expected-remark@+1 {{4 neighbours move by 2 accesses of 8 bytes: the first is not known to be at a multiple of 16 bytes}}
    %y = tile.load %row[%i : i32] : !tile.global<100xf32> -> vector<4xf32>
    // expected-remark@+1 {{4 neighbours move by 4 accesses of 4 bytes}}
    tile.store %y, %v[%t, %t : i32, i32] : vector<4xf32>, !tile.global<?x?xf32>
    // expected-remark@+1 {{4 neighbours move by 4 accesses of 4 bytes}}
    %z = tile.load %column[%i : i32] : !tile.global<100xf32> -> vector<4xf32>
    %w = tile.load %v[%t, %i : i32, i32] : !tile.global<?x?xf32> -> vector<3xf32>
  }
  tgpu.return
}

// -----

tgpu.kernel @required(%a: !tile.global<?xf32> {tgpu.align = 16 : i64}, %m: i32) attributes {threads = 64 : i32, target = "sm_80"} {
  %v = tgpu.view %a extents(%m : i32) strides() : !tile.global<?xf32> -> !tile.global<?xf32>
  tile.threads [64] {
  ^bb0(%t: i32):
    // expected-remark@+2 {{4 neighbours move by 4 accesses of 4 bytes}}
    // expected-error@+1 {{`vector(16)` is required, but not achieved: one access moves 4 bytes [require]}}
    %x = tile.load %v[%t : i32] {tile.require = ["vector=16"]} : !tile.global<?xf32> -> vector<4xf32>
  }
  tgpu.return
}
