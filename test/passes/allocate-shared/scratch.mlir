// A conversion that goes through shared memory gets scratch space for the moment of the conversion.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-allocate-shared))' | FileCheck %s

#rows = #tgpu.fragment<"128x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0:64,0">
#coalesced = #tgpu.fragment<"128x64 reg 0,1:0,2:0,4:32,0:64,0 lane 0,8:0,16:0,32:1,0:2,0 warp 4,0:8,0:16,0">
!b = !tgpu.smem<128x64xf16, #tgpu.shared<"128x64 b16 contig 1 panel 64 swizzle 128">>

// CHECK-LABEL: tgpu.kernel @scratch
// CHECK: alloc_shared "before" {offset = [[BEFORE:[0-9]+]] : i64}
// CHECK: alloc_shared "around" {offset = [[AROUND:[0-9]+]] : i64}
// The one that is dead by then lends its place.
// CHECK: tgpu.convert_layout %{{.*}} {scratch = [[BEFORE]] : i64}
// The same layout needs none.
// CHECK: tgpu.convert_layout
// CHECK-NOT: scratch
tgpu.kernel @scratch(%x: i32) attributes {threads = 256 : i32, target = "sm_90a"} {
  %a = tgpu.alloc_shared "before" : !b
  %b = tgpu.alloc_shared "around" : !b
  %z = arith.constant 0.0 : f16
  %zero = tile.splat %z : f16 -> tensor<128x64xf16, #rows>
  tgpu.local_store %zero, %b : tensor<128x64xf16, #rows>, !b
  %0 = tgpu.local_load %a : !b -> tensor<128x64xf16, #rows>
  %1 = tgpu.convert_layout %0 : tensor<128x64xf16, #rows> -> tensor<128x64xf16, #coalesced>
  %2 = tgpu.convert_layout %1 : tensor<128x64xf16, #coalesced> -> tensor<128x64xf16, #coalesced>
  %3 = tgpu.local_load %b : !b -> tensor<128x64xf16, #rows>
  tgpu.return
}

// A print of a tile needs a word, one of scalars none.
// CHECK-LABEL: tgpu.kernel @prints
// CHECK-SAME: shared_bytes = 8 : i64
// CHECK: tile.print "{}", %{{.*}} {place = 0 : i32}
// CHECK: tile.print "{}", %{{.*}} {place = 1 : i32, scratch = 0 : i64}
tgpu.kernel @prints(%n: i32, %x: tensor<64xf32>) attributes {threads = 64 : i32, target = "sm_80"} {
  tile.print "{}", %n : i32 {place = 0 : i32}
  tile.print "{}", %x : tensor<64xf32> {place = 1 : i32}
  tgpu.return
}
