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

// Sums of warps are a few words: their conversions have places of their own, so that none waits for readers of the one before.
#sums = #tgpu.fragment<"8 reg - lane 0:0:0:0:0 warp 1:2:4">
#all = #tgpu.fragment<"8 reg 1:2:4 lane 0:0:0:0:0 warp 0:0:0">
// CHECK-LABEL: tgpu.kernel @few_words
// CHECK-SAME: shared_bytes = 160 : i64
// CHECK: tgpu.convert_layout %{{.*}} {scratch = 0 : i64}
// CHECK: tgpu.convert_layout %{{.*}} {scratch = 128 : i64}
tgpu.kernel @few_words(%x: f32) attributes {threads = 256 : i32, target = "sm_90a"} {
  %a = tile.splat %x : f32 -> tensor<8xf32, #sums>
  %0 = tgpu.convert_layout %a : tensor<8xf32, #sums> -> tensor<8xf32, #all>
  %1 = tgpu.convert_layout %a : tensor<8xf32, #sums> -> tensor<8xf32, #all>
  tgpu.return
}

// But not where a multiprocessor would hold fewer blocks for it: of 75 KB, with 1 KB for the system, three.
!large = !tgpu.smem<19200xf32, #tgpu.shared<"19200 b32 contig 0 panel 19200">>
!row = tensor<19200xf32, #tgpu.fragment<"19200 reg 1024:2048:4096:8192:16384 lane 1:2:4:8:16 warp 32:64:128:256:512">>
// CHECK-LABEL: tgpu.kernel @no_block_less
// CHECK-SAME: shared_bytes = 76800 : i64
// CHECK: tgpu.convert_layout %{{.*}} {scratch = 0 : i64}
// CHECK: tgpu.convert_layout %{{.*}} {scratch = 0 : i64}
tgpu.kernel @no_block_less(%x: f32) attributes {threads = 256 : i32, target = "sm_90a"} {
  %s = tgpu.alloc_shared "s" : !large
  %0 = tgpu.local_load %s : !large -> !row
  %a = tile.splat %x : f32 -> tensor<8xf32, #sums>
  %1 = tgpu.convert_layout %a : tensor<8xf32, #sums> -> tensor<8xf32, #all>
  %2 = tgpu.convert_layout %a : tensor<8xf32, #sums> -> tensor<8xf32, #all>
  tgpu.return
}
