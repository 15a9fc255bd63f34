// A store by TMA: panels as wide as the swizzle go to a ring of two buffers, one thread stores them; two of them together.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-lower-copies))' -verify-diagnostics -split-input-file | FileCheck %s

!f = tensor<64x128xf16, #tgpu.fragment<"64x128 reg 0,1:8,0:0,8:0,16:0,32:0,64 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<?x?xf16>
// CHECK-LABEL: tgpu.kernel @panels
// CHECK-SAME: tensor_maps = [#tgpu.tensor_map<0, extents = [2, 1], strides = [-2, 2], box = [64, 64], swizzle = 128>]
// CHECK: %[[RING:.*]] = tgpu.alloc_shared "staging" : !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
// CHECK: tgpu.one_thread {
// CHECK-NEXT: tgpu.tma_store_wait 0 {read}
// CHECK: %[[S0:.*]] = tgpu.slot %[[RING]][%{{.*}}]
// CHECK: %[[P0:.*]] = tgpu.fragment_slice %{{.*}} at [0, 0] : {{.*}} -> tensor<64x64xf16, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
// CHECK: tgpu.local_store %[[P0]], %[[S0]]
// CHECK: tile.slice %{{.*}}[%{{.*}}, %{{.*}}] sizes [64, 64]
// CHECK: %[[S1:.*]] = tgpu.slot %[[RING]][%{{.*}}]
// CHECK: tgpu.fragment_slice %{{.*}} at [0, 64]
// CHECK: tgpu.local_store %{{.*}}, %[[S1]]
// CHECK: tgpu.one_thread {
// CHECK-NEXT: tgpu.tma_store %[[S0]] to %{{.*}} {cache = #tile.cache<evict_first>, map = 0 : i32}
// CHECK-NEXT: tgpu.tma_store %[[S1]] to
// CHECK-NEXT: tgpu.tma_store_commit
// Before the end all buffers have been read.
// CHECK: tgpu.tma_store_wait 0 {read}
// CHECK: tgpu.return
tgpu.kernel @panels(%a: !g {tgpu.align = 16 : i64}, %m: i32, %n: i32 {tgpu.divisible = 8 : i64}, %f: !f) attributes {threads = 128 : i32, target = "sm_90a"} {
  %v = tgpu.view %a extents(%m, %n : i32, i32) strides(%n : i32) : !g -> !g
  %t = tile.slice %v[%m, %n] sizes [64, 128] : !g, i32, i32 -> !tile.global<64x128xf16>
  tgpu.store %f, %t {path = #tgpu.path<tma>, cache = #tile.cache<evict_first>, bytes = 16 : i32} : !f, !tile.global<64x128xf16>
  tgpu.return
}

// -----

// Four panels take turns in two buffers: before one is written again its store has read it.
!f = tensor<64x256xf16, #tgpu.fragment<"64x256 reg 0,1:8,0:0,8:0,16:0,32:0,64:0,128 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<?x?xf16>
// CHECK-LABEL: tgpu.kernel @turns
// CHECK: %[[RING:.*]] = tgpu.alloc_shared "staging" : !tgpu.smem<2x64x64xf16
// CHECK-COUNT-4: tgpu.tma_store_wait 1 {read}
// CHECK: tgpu.local_store
// CHECK: tgpu.tma_store %
// CHECK-NEXT: tgpu.tma_store_commit
// CHECK: tgpu.tma_store_wait 0 {read}
tgpu.kernel @turns(%a: !g {tgpu.align = 16 : i64}, %m: i32, %n: i32 {tgpu.divisible = 8 : i64}, %f: !f) attributes {threads = 128 : i32, target = "sm_90a"} {
  %v = tgpu.view %a extents(%m, %n : i32, i32) strides(%n : i32) : !g -> !g
  %t = tile.slice %v[%m, %n] sizes [64, 256] : !g, i32, i32 -> !tile.global<64x256xf16>
  tgpu.store %f, %t {path = #tgpu.path<tma>, bytes = 16 : i32} : !f, !tile.global<64x256xf16>
  tgpu.return
}

// -----

// One panel needs one buffer, also of two stores of such panels. A whole tensor is a slice from its start; equal maps are one.
!f = tensor<64x64xf16, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<64x64xf16>
// CHECK-LABEL: tgpu.kernel @whole
// CHECK-SAME: tensor_maps = [#tgpu.tensor_map<0, extents = [-65, -65], strides = [-2, -65], box = [64, 64], swizzle = 128>], threads
// CHECK: tgpu.alloc_shared "staging" : !tgpu.smem<1x64x64xf16
// CHECK-NOT: tgpu.alloc_shared
// CHECK: tgpu.tma_store_wait 0 {read}
// CHECK-NOT: tgpu.fragment_slice
// CHECK: tile.slice %{{.*}} sizes [64, 64]
// CHECK: tgpu.tma_store {{.*}} {map = 0 : i32}
// CHECK: tgpu.tma_store {{.*}} {map = 0 : i32}
tgpu.kernel @whole(%a: !g {tgpu.align = 16 : i64}, %f: !f) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c64 = arith.constant 64 : i32
  %v = tgpu.view %a extents(%c64, %c64 : i32, i32) strides(%c64 : i32) : !g -> !g
  tgpu.store %f, %v {path = #tgpu.path<tma>, bytes = 16 : i32} : !f, !g
  tgpu.store %f, %v {path = #tgpu.path<tma>, bytes = 16 : i32} : !f, !g
  tgpu.return
}

// -----

// Two warpgroups, each with rows of its own, in a block that goes on with another tile: each waits, writes, meets and stores by itself, a box of half the rows.
!f = tensor<128x128xf16, #tgpu.fragment<"128x128 reg 0,1:8,0:0,8:0,16:0,32:0,64 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0:64,0">>
!g = !tile.global<?x?xf16>
// CHECK-LABEL: tgpu.kernel @groups
// CHECK-SAME: tensor_maps = [#tgpu.tensor_map<0, extents = [2, 1], strides = [-2, 2], box = [64, 64], swizzle = 128>]
// CHECK: tgpu.alloc_shared "staging" : !tgpu.smem<2x128x64xf16
// CHECK: tgpu.one_thread attributes {groups = 2 : i32} {
// CHECK-NEXT: tgpu.tma_store_wait 0 {read}
// CHECK: tgpu.barrier {groups = 2 : i32}
// CHECK-COUNT-2: tgpu.local_store {{.*}} {groups = 2 : i32}
// CHECK: tgpu.fence_async
// CHECK-NEXT: tgpu.barrier {groups = 2 : i32}
// CHECK-NEXT: tgpu.one_thread attributes {groups = 2 : i32} {
// CHECK-COUNT-2: tgpu.tma_store
// CHECK: tgpu.tma_store_commit
// CHECK: tgpu.one_thread attributes {groups = 2 : i32} {
// CHECK-NEXT: tgpu.tma_store_wait 0 {read}
tgpu.kernel @groups(%a: !g {tgpu.align = 16 : i64}, %m: i32, %n: i32 {tgpu.divisible = 8 : i64}, %f: !f) attributes {persistent = 1 : i32, threads = 256 : i32, target = "sm_90a"} {
  %v = tgpu.view %a extents(%m, %n : i32, i32) strides(%n : i32) : !g -> !g
  %t = tile.slice %v[%m, %n] sizes [128, 128] : !g, i32, i32 -> !tile.global<128x128xf16>
  tgpu.store %f, %t {path = #tgpu.path<tma>, bytes = 16 : i32} : !f, !tile.global<128x128xf16>
  tgpu.return
}

// -----

// Two warpgroups side by side: no panel is of one of them alone, rows are of both.
!f = tensor<64x256xf16, #tgpu.fragment<"64x256 reg 0,1:8,0:0,8:0,16:0,32:0,128 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0:0,64">>
!g = !tile.global<?x?xf16>
// CHECK-LABEL: tgpu.kernel @side_by_side
// CHECK-NOT: groups
// CHECK: tgpu.return
tgpu.kernel @side_by_side(%a: !g {tgpu.align = 16 : i64}, %m: i32, %n: i32 {tgpu.divisible = 8 : i64}, %f: !f) attributes {persistent = 1 : i32, threads = 256 : i32, target = "sm_90a"} {
  %v = tgpu.view %a extents(%m, %n : i32, i32) strides(%n : i32) : !g -> !g
  %t = tile.slice %v[%m, %n] sizes [64, 256] : !g, i32, i32 -> !tile.global<64x256xf16>
  // expected-remark @+1 {{copy stores from registers, not by TMA: a panel of columns is not the same registers in every thread}}
  tgpu.store %f, %t {path = #tgpu.path<tma>, bytes = 16 : i32} : !f, !tile.global<64x256xf16>
  tgpu.return
}
