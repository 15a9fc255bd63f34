// A product by multiply-adds is a loop over k whose length only the accumulator decides.
// RUN: tile-opt --convert-tgpu-to-llvm --split-input-file %s | FileCheck %s

// Rows one after the other: 16 slots, so 16 elements of k a trip; four of A in one access.
#s = #tgpu.shared<"32x32 b32 contig 1 panel 32">
#acc = #tgpu.fragment<"32x32 reg 0,1:0,2:16,0:0,16 lane 1,0:2,0:4,0:8,0:0,4 warp 0,8">
!s = !tgpu.smem<32x32xf32, #s>
// CHECK-LABEL: llvm.func @rows
// CHECK: llvm.cond_br
// CHECK: llvm.load {{.*}}vector<4xf32>
// CHECK-COUNT-256: llvm.intr.fma
// CHECK-NOT: llvm.intr.fma
// CHECK: llvm.return
tgpu.kernel @rows(%x: f32, %c: !tile.global<32x32xf32>) attributes {threads = 64 : i32, target = "sm_80"} {
  %as = tgpu.alloc_shared {offset = 0 : i64} : !s
  %bs = tgpu.alloc_shared {offset = 4096 : i64} : !s
  %zero = tile.splat %x : f32 -> tensor<32x32xf32, #acc>
  %r = tgpu.fma %as, %bs, %zero : !s, !s, tensor<32x32xf32, #acc> -> tensor<32x32xf32, #acc>
  tgpu.local_store %r, %as : tensor<32x32xf32, #acc>, !s
  tgpu.return
}

// -----

// A swizzle along k: chunks of 16 bytes are exchanged by a XOR in the loop.
#a = #tgpu.shared<"32x32 b32 contig 1 panel 32 swizzle 128">
#b = #tgpu.shared<"32x32 b32 contig 1 panel 32">
#acc = #tgpu.fragment<"32x32 reg 0,1:0,2:16,0:0,16 lane 1,0:2,0:4,0:8,0:0,4 warp 0,8">
!a = !tgpu.smem<32x32xf32, #a>
!b = !tgpu.smem<32x32xf32, #b>
// CHECK-LABEL: llvm.func @swizzled
// CHECK: llvm.cond_br
// CHECK: llvm.xor
// CHECK-COUNT-256: llvm.intr.fma
// CHECK-NOT: llvm.intr.fma
// CHECK: llvm.return
tgpu.kernel @swizzled(%x: f32) attributes {threads = 64 : i32, target = "sm_80"} {
  %as = tgpu.alloc_shared {offset = 0 : i64} : !a
  %bs = tgpu.alloc_shared {offset = 4096 : i64} : !b
  %zero = tile.splat %x : f32 -> tensor<32x32xf32, #acc>
  %r = tgpu.fma %as, %bs, %zero : !a, !b, tensor<32x32xf32, #acc> -> tensor<32x32xf32, #acc>
  tgpu.local_store %r, %bs : tensor<32x32xf32, #acc>, !b
  tgpu.return
}

// -----

// 128 slots: 8 elements of k a trip; what is left of 35 follows the loop. Twice as deep is no longer.
#a = #tgpu.shared<"64x35 b32 contig 1 panel 35">
#b = #tgpu.shared<"35x64 b32 contig 1 panel 64">
#c = #tgpu.shared<"64x67 b32 contig 1 panel 67">
#d = #tgpu.shared<"67x64 b32 contig 1 panel 64">
#acc = #tgpu.fragment<"64x64 reg 0,1:0,2:0,4:16,0:32,0:0,16:0,32 lane 1,0:2,0:4,0:8,0:0,8 warp -">
!a = !tgpu.smem<64x35xf32, #a>
!b = !tgpu.smem<35x64xf32, #b>
!c = !tgpu.smem<64x67xf32, #c>
!d = !tgpu.smem<67x64xf32, #d>
!o = !tgpu.smem<64x64xf32, #tgpu.shared<"64x64 b32 contig 1 panel 64">>
// CHECK-LABEL: llvm.func @rest
// CHECK: llvm.cond_br
// CHECK-COUNT-1408: llvm.intr.fma
// CHECK-NOT: llvm.intr.fma
// CHECK: llvm.return
// CHECK-LABEL: llvm.func @deeper
// CHECK: llvm.cond_br
// CHECK-COUNT-1408: llvm.intr.fma
// CHECK-NOT: llvm.intr.fma
// CHECK: llvm.return
tgpu.kernel @rest(%x: f32) attributes {threads = 32 : i32, target = "sm_80"} {
  %as = tgpu.alloc_shared {offset = 0 : i64} : !a
  %bs = tgpu.alloc_shared {offset = 16384 : i64} : !b
  %zero = tile.splat %x : f32 -> tensor<64x64xf32, #acc>
  %r = tgpu.fma %as, %bs, %zero : !a, !b, tensor<64x64xf32, #acc> -> tensor<64x64xf32, #acc>
  %os = tgpu.alloc_shared {offset = 65536 : i64} : !o
  tgpu.local_store %r, %os : tensor<64x64xf32, #acc>, !o
  tgpu.return
}
tgpu.kernel @deeper(%x: f32) attributes {threads = 32 : i32, target = "sm_80"} {
  %as = tgpu.alloc_shared {offset = 0 : i64} : !c
  %bs = tgpu.alloc_shared {offset = 32768 : i64} : !d
  %zero = tile.splat %x : f32 -> tensor<64x64xf32, #acc>
  %r = tgpu.fma %as, %bs, %zero : !c, !d, tensor<64x64xf32, #acc> -> tensor<64x64xf32, #acc>
  %os = tgpu.alloc_shared {offset = 65536 : i64} : !o
  tgpu.local_store %r, %os : tensor<64x64xf32, #acc>, !o
  tgpu.return
}

// -----

// Padding of the accumulator reads the last row and column instead of what lies behind the buffers.
#a = #tgpu.shared<"12x8 b32 contig 1 panel 8">
#b = #tgpu.shared<"8x6 b32 contig 1 panel 6">
#acc = #tgpu.fragment<"12x6 reg 8,0 lane 0,1:0,2:0,4:1,0:2,0 warp 4,0">
!a = !tgpu.smem<12x8xf32, #a>
!b = !tgpu.smem<8x6xf32, #b>
!o = !tgpu.smem<12x6xf32, #tgpu.shared<"12x6 b32 contig 1 panel 6">>
// CHECK-LABEL: llvm.func @padded
// CHECK-DAG: %[[C5:.*]] = llvm.mlir.constant(5 : i32)
// CHECK-DAG: %[[C11:.*]] = llvm.mlir.constant(11 : i32)
// CHECK-DAG: llvm.intr.smin(%{{.*}}, %[[C5]])
// CHECK-DAG: llvm.intr.smin(%{{.*}}, %[[C11]])
// CHECK: llvm.return
tgpu.kernel @padded(%x: f32) attributes {threads = 64 : i32, target = "sm_80"} {
  %as = tgpu.alloc_shared {offset = 0 : i64} : !a
  %bs = tgpu.alloc_shared {offset = 1024 : i64} : !b
  %zero = tile.splat %x : f32 -> tensor<12x6xf32, #acc>
  %r = tgpu.fma %as, %bs, %zero : !a, !b, tensor<12x6xf32, #acc> -> tensor<12x6xf32, #acc>
  %os = tgpu.alloc_shared {offset = 2048 : i64} : !o
  tgpu.local_store %r, %os : tensor<12x6xf32, #acc>, !o
  tgpu.return
}

// -----

// 20 elements of k are 5 trips of 4, not one of 16 and a rest.
#a = #tgpu.shared<"32x20 b32 contig 1 panel 20">
#b = #tgpu.shared<"20x32 b32 contig 1 panel 32">
#acc = #tgpu.fragment<"32x32 reg 0,1:0,2:16,0:0,16 lane 1,0:2,0:4,0:8,0:0,4 warp 0,8">
!a = !tgpu.smem<32x20xf32, #a>
!b = !tgpu.smem<20x32xf32, #b>
// CHECK-LABEL: llvm.func @even
// CHECK: llvm.cond_br
// CHECK-COUNT-64: llvm.intr.fma
// CHECK-NOT: llvm.intr.fma
// CHECK: llvm.return
tgpu.kernel @even(%x: f32) attributes {threads = 64 : i32, target = "sm_80"} {
  %as = tgpu.alloc_shared {offset = 0 : i64} : !a
  %bs = tgpu.alloc_shared {offset = 4096 : i64} : !b
  %os = tgpu.alloc_shared {offset = 8192 : i64} : !tgpu.smem<32x32xf32, #tgpu.shared<"32x32 b32 contig 1 panel 32">>
  %zero = tile.splat %x : f32 -> tensor<32x32xf32, #acc>
  %r = tgpu.fma %as, %bs, %zero : !a, !b, tensor<32x32xf32, #acc> -> tensor<32x32xf32, #acc>
  tgpu.local_store %r, %os : tensor<32x32xf32, #acc>, !tgpu.smem<32x32xf32, #tgpu.shared<"32x32 b32 contig 1 panel 32">>
  tgpu.return
}

// -----

// Trips of 4 rows meet another phase of the swizzle each, which is a XOR of the trip: what the slots add is below or above it.
#a = #tgpu.shared<"32x20 b32 contig 1 panel 20">
#b = #tgpu.shared<"20x32 b32 contig 1 panel 32 swizzle 128">
#acc = #tgpu.fragment<"32x32 reg 0,1:0,2:16,0:0,16 lane 1,0:2,0:4,0:8,0:0,4 warp 0,8">
!a = !tgpu.smem<32x20xf32, #a>
!b = !tgpu.smem<20x32xf32, #b>
// CHECK-LABEL: llvm.func @uneven
// CHECK: llvm.cond_br
// CHECK: llvm.xor
// CHECK-COUNT-64: llvm.intr.fma
// CHECK-NOT: llvm.intr.fma
// CHECK: llvm.return
tgpu.kernel @uneven(%x: f32) attributes {threads = 64 : i32, target = "sm_80"} {
  %as = tgpu.alloc_shared {offset = 0 : i64} : !a
  %bs = tgpu.alloc_shared {offset = 4096 : i64} : !b
  %os = tgpu.alloc_shared {offset = 8192 : i64} : !tgpu.smem<32x32xf32, #tgpu.shared<"32x32 b32 contig 1 panel 32">>
  %zero = tile.splat %x : f32 -> tensor<32x32xf32, #acc>
  %r = tgpu.fma %as, %bs, %zero : !a, !b, tensor<32x32xf32, #acc> -> tensor<32x32xf32, #acc>
  tgpu.local_store %r, %os : tensor<32x32xf32, #acc>, !tgpu.smem<32x32xf32, #tgpu.shared<"32x32 b32 contig 1 panel 32">>
  tgpu.return
}
