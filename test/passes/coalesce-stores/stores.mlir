// What a product leaves in eight rows of a warp is stored along the rows, where accesses are narrow: by panels of columns of 32 elements a
// thread.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-coalesce-stores))' -verify-diagnostics -split-input-file | FileCheck %s

!acc = tensor<64x128xf16, #tgpu.fragment<"64x128 reg 0,1:8,0:0,8:0,16:0,32:0,64 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<64x128xf16>
// CHECK-LABEL: tgpu.kernel @panels
// CHECK: %[[LEFT:.*]] = tgpu.fragment_slice %[[ACC:.*]][0, 0] : {{.*}} -> tensor<64x64xf16
// CHECK: %[[TO_LEFT:.*]] = tile.slice %[[TO:.*]][%{{.*}}, %{{.*}}] sizes [64, 64]
// CHECK: %[[ROWS:.*]] = tgpu.convert_layout %[[LEFT]] : {{.*}} -> tensor<64x64xf16, #tgpu.fragment<"64x64 reg 2,0:4,0:8,0:16,0:32,0 lane 0,1:0,2:0,4:0,8:0,16 warp 0,32:1,0">>
// CHECK: tgpu.store %[[ROWS]], %[[TO_LEFT]] {bytes = 2 : i32, cache = #tile.cache<evict_first>, path = #tgpu.path<vector>}
// CHECK: tgpu.fragment_slice %[[ACC]][0, 64]
// CHECK: tile.slice %[[TO]]
// CHECK: tgpu.convert_layout
// CHECK: tgpu.store
// CHECK-NOT: tgpu.store
tgpu.kernel @panels(%f: !acc, %g: !g) attributes {threads = 128 : i32, target = "sm_90a"} {
  // expected-remark@+1 {{stores neighbours of a row together instead of what a product leaves in a warp's lanes: 512 pieces of 32 bytes, not 2048; 72 accesses, 72 instructions a thread; 32768 bytes through shared memory, 2 barriers}}
  tgpu.store %f, %g {path = #tgpu.path<vector>, bytes = 2 : i32, cache = #tile.cache<evict_first>} : !acc, !g
  tgpu.return
}

// -----

// Columns that different warps have cannot be cut in the same registers: the tile goes as a whole.
!acc = tensor<64x64xf16, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0:0,32">>
!g = !tile.global<64x64xf16>
// CHECK-LABEL: tgpu.kernel @whole
// CHECK-NOT: fragment_slice
// CHECK: tgpu.convert_layout
// CHECK: tgpu.store
tgpu.kernel @whole(%f: !acc, %g: !g) attributes {threads = 256 : i32, target = "sm_80"} {
  // expected-remark@+1 {{stores neighbours of a row together}}
  tgpu.store %f, %g {path = #tgpu.path<vector>, bytes = 2 : i32} : !acc, !g
  tgpu.return
}

// -----

// Where accesses may be wide lanes exchange words until each has neighbours for one: 64 bytes of a row in four lanes, not 16 or 32. That
// needs nothing of other warps, so a role's do it, too.
!acc = tensor<64x64xf16, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!role = tensor<64x64xf16, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0 from 4">>
!wide = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<64x64xf16>
!gw = !tile.global<64x64xf32>
// CHECK-LABEL: tgpu.kernel @lanes
// CHECK: %[[F:.*]] = tgpu.convert_layout %{{.*}} -> tensor<64x64xf16, #tgpu.fragment<"64x64 reg 0,1:0,2:0,4:8,0:0,32 lane 0,8:0,16:1,0:2,0:4,0 warp 16,0:32,0">>
// CHECK: tgpu.store %[[F]], {{.*}}bytes = 16
// CHECK: tgpu.convert_layout %{{.*}} -> tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:0,2:8,0:0,16:0,32 lane 0,8:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
// CHECK: tgpu.store
// CHECK: tgpu.convert_layout %{{.*}} -> tensor<64x64xf16, {{.*}} from 4">>
// CHECK: tgpu.store
tgpu.kernel @lanes(%f: !acc, %w: !wide, %r: !role, %g: !g, %gw: !gw) attributes {threads = 256 : i32, target = "sm_90a"} {
  // expected-remark@+1 {{lanes exchange what a product leaves in them, so that each stores 8 neighbours of a row: 128 clocks of accesses, not 512; 16 shuffles, 64 instructions a thread}}
  tgpu.store %f, %g {path = #tgpu.path<vector>, bytes = 16 : i32} : !acc, !g
  // expected-remark@+1 {{each stores 4 neighbours of a row: 256 clocks of accesses, not 512; 16 shuffles, 64 instructions a thread}}
  tgpu.store %w, %gw {path = #tgpu.path<vector>, bytes = 16 : i32} : !wide, !gw
  // expected-remark@+1 {{each stores 8 neighbours of a row}}
  tgpu.store %r, %g {path = #tgpu.path<vector>, bytes = 16 : i32} : !role, !g
  tgpu.return
}

// -----

// Panels begin where wide accesses may: of 48 bytes in a row, three accesses, no half is cut off.
!acc = tensor<128x48xi8, #tgpu.fragment<"128x48 reg 0,1:8,0:0,8 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0 rep reg*3@1+16:reg*2@0+64">>
!g = !tile.global<128x48xi8>
// CHECK-LABEL: tgpu.kernel @thirds
// CHECK-NOT: fragment_slice
// CHECK: tgpu.convert_layout
// CHECK: tgpu.store {{.*}}bytes = 16
tgpu.kernel @thirds(%f: !acc, %g: !g) attributes {threads = 128 : i32, target = "sm_90a"} {
  // expected-remark@+1 {{neighbours of a row}}
  tgpu.store %f, %g {path = #tgpu.path<vector>, bytes = 16 : i32} : !acc, !g
  tgpu.return
}

// -----

// What stays: accesses that fill half of what they touch, layouts that follow rows, what goes by TMA, what is to have no exchange, a
// part of the tile in each thread.
!acc = tensor<64x64xf16, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!wide = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!rows = tensor<64x64xf16, #tgpu.fragment<"64x64 reg 2,0:4,0:8,0:16,0:32,0 lane 0,1:0,2:0,4:0,8:0,16 warp 0,32:1,0">>
!g = !tile.global<64x64xf16>
!gw = !tile.global<64x64xf32>
// CHECK-LABEL: tgpu.kernel @stay
// CHECK-NOT: convert_layout
tgpu.kernel @stay(%f: !acc, %w: !wide, %r: !rows, %g: !g, %gw: !gw) attributes {threads = 128 : i32, target = "sm_90a"} {
  tgpu.store %f, %g {path = #tgpu.path<vector>, bytes = 16 : i32, require = ["no_exchange"]} : !acc, !g
  tgpu.store %w, %gw {path = #tgpu.path<vector>, bytes = 8 : i32} : !wide, !gw
  tgpu.store %r, %g {path = #tgpu.path<vector>, bytes = 2 : i32} : !rows, !g
  tgpu.store %f, %g {path = #tgpu.path<tma>, bytes = 2 : i32} : !acc, !g
  tgpu.store %f, %g {path = #tgpu.path<vector>, bytes = 2 : i32, require = ["no_exchange"]} : !acc, !g
  tgpu.return
}

// -----

// Without room in shared memory, or where a block fewer would be on a multiprocessor, it stays, too.
!acc = tensor<64x64xf16, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<64x64xf16>
!s = !tgpu.smem<224x512xf16, #tgpu.shared<"224x512 b16 contig 1 panel 512">>
// CHECK-LABEL: tgpu.kernel @full
// CHECK-NOT: convert_layout
tgpu.kernel @full(%f: !acc, %g: !g, %h: !tile.global<224x512xf16>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %s = tgpu.alloc_shared "s" : !s
  tgpu.copy %h to %s {path = #tgpu.path<vector>, bytes = 2 : i32} : !tile.global<224x512xf16>, !s
  tgpu.store %f, %g {path = #tgpu.path<vector>, bytes = 2 : i32} : !acc, !g
  tgpu.copy %s to %h {path = #tgpu.path<vector>, bytes = 2 : i32} : !s, !tile.global<224x512xf16>
  tgpu.return
}
