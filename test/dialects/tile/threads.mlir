// Code of single threads, atomics and output print as they are read.
// RUN: tile-opt %s | tile-opt | FileCheck %s

// CHECK-LABEL: tile.kernel @threads
tile.kernel @threads(%count: !tile.global<?xi32>) {
  %c1 = arith.constant 1 : i32
  // CHECK: tile.launch grid(%{{.*}} : i32) threads(64) rasterize(%{{.*}}) attributes {cluster = array<i32: 2>, persistent = "static"}
  tile.launch grid(%c1 : i32) threads(64) rasterize(%c1) attributes {cluster = array<i32: 2>, persistent = "static"} {
  ^bb0(%b: i32):
    // CHECK: tile.threads [32, 2] {
    tile.threads [32, 2] {
    ^bb0(%tx: i32, %ty: i32):
      // CHECK: tile.warp <sum> %{{.*}} {width = 16 : i32} : i32
      %s = tile.warp <sum> %tx {width = 16 : i32} : i32
      // CHECK: tile.warp_scan <max> %{{.*}} {exclusive, is_unsigned, reverse, width = 8 : i32} : i32
      %m = tile.warp_scan <max> %tx {exclusive, is_unsigned, reverse, width = 8 : i32} : i32
      // CHECK: tile.shuffle <shuffle_xor> %{{.*}}, %{{.*}} : i32, i32 -> i32
      %x = tile.shuffle <shuffle_xor> %s, %c1 : i32, i32 -> i32
      %lane = tile.lane
      %is = arith.cmpi eq, %lane, %x : i32
      // CHECK: tile.ballot %{{.*}}
      %mask = tile.ballot %is
      // CHECK: tile.sync_warp
      tile.sync_warp
      // CHECK: tile.atomic <add> %{{.*}}, %{{.*}}[%{{.*}} : i32] {order = #tile.order<acq_rel>} : i32, !tile.global<?xi32> -> i32
      %old = tile.atomic <add> %x, %count[%tx : i32] {order = #tile.order<acq_rel>} : i32, !tile.global<?xi32> -> i32
      // CHECK: tile.atomic_cas %{{.*}}, %{{.*}}, %{{.*}}[%{{.*}} : i32] : i32, i32, !tile.global<?xi32> -> i32
      %cas = tile.atomic_cas %x, %old, %count[%tx : i32] : i32, i32, !tile.global<?xi32> -> i32
      // CHECK: tile.sync_threads
      tile.sync_threads
      // CHECK: tile.print "{} of {}", %{{.*}}, %{{.*}} : i32, i32
      tile.print "{} of {}", %x, %cas : i32, i32
      // CHECK: tile.assert %{{.*}}, "is {}", %{{.*}} : i32
      tile.assert %is, "is {}", %x : i32
      // CHECK: tile.assume %{{.*}}
      tile.assume %is
    }
    tile.yield
  }
  tile.return
}
