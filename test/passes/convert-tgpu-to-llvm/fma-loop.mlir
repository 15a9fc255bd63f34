// A product by multiply-adds is a loop over k, of as many elements as the swizzle takes to repeat.
// RUN: tile-opt --convert-tgpu-to-llvm --split-input-file %s | FileCheck %s

// Rows one after the other: 4 elements of k a trip, 16 slots each.
#s = #tgpu.shared<"32x32 b32 contig 1 panel 32">
#acc = #tgpu.fragment<"32x32 reg 0,1:0,2:16,0:0,16 lane 1,0:2,0:4,0:8,0:0,4 warp 0,8">
!s = !tgpu.smem<32x32xf32, #s>
// CHECK-LABEL: llvm.func @rows
// CHECK: llvm.cond_br
// CHECK-COUNT-64: llvm.intr.fma
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

// A swizzle of 64 bytes in A: 16 elements of k a trip.
#a = #tgpu.shared<"32x32 b32 contig 1 panel 16 swizzle 64">
#b = #tgpu.shared<"32x32 b32 contig 1 panel 32">
#acc = #tgpu.fragment<"32x32 reg 0,1:0,2:16,0:0,16 lane 1,0:2,0:4,0:8,0:0,4 warp 0,8">
!a = !tgpu.smem<32x32xf32, #a>
!b = !tgpu.smem<32x32xf32, #b>
// CHECK-LABEL: llvm.func @swizzled
// CHECK: llvm.cond_br
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
