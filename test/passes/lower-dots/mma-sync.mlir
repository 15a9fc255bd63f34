// A product on mma.sync: for each k-step the operands' parts, read before the mma of the step before; a stored transpose is read as it is stored.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-lower-dots))' -verify-diagnostics -split-input-file | FileCheck %s

!a = !tgpu.smem<64x32xf16, #tgpu.shared<"64x32 b16 contig 1 panel 32 swizzle 64">>
!b = !tgpu.smem<32x64xf16, #tgpu.shared<"32x64 b16 contig 1 panel 64 swizzle 128">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:16,0 lane 0,2:0,4:1,0:2,0:4,0 warp 32,0:0,32">>
// CHECK-LABEL: tgpu.kernel @shared
// CHECK-SAME: %[[A:[a-z0-9]+]]: !tgpu.smem{{[^%]*}}%[[B:[a-z0-9]+]]: !tgpu.smem{{[^%]*}}%[[C:[a-z0-9]+]]: tensor
// CHECK: %[[PA:.*]] = tgpu.subview %[[A]] at [0, 0] {{.*}} -> !tgpu.smem<64x16xf16
// CHECK: %[[FA:.*]] = tgpu.local_load %[[PA]] {{.*}} -> tensor<64x16xf16, #tgpu.fragment
// CHECK: %[[PB:.*]] = tgpu.subview %[[B]] at [0, 0] {{.*}} -> !tgpu.smem<16x64xf16
// CHECK: %[[FB:.*]] = tgpu.local_load %[[PB]] {{.*}} -> tensor<16x64xf16, #tgpu.fragment
// CHECK: tgpu.subview %[[A]] at [0, 16]
// CHECK: tgpu.subview %[[B]] at [16, 0]
// CHECK: %[[D0:.*]] = tgpu.mma %[[FA]], %[[FB]], %[[C]]
// CHECK: %[[D1:.*]] = tgpu.mma {{.*}}, %[[D0]]
// CHECK: tgpu.store %[[D1]]
tgpu.kernel @shared(%a: !a, %b: !b, %c: !acc, %g: !tile.global<64x64xf32>) attributes {threads = 128 : i32} {
  %d = tgpu.dot %a, %b, %c {mma = #tgpu.mma<mma_sync, 16, 8, 16, warps = 2, 2>} : !a, !b, !acc -> !acc
  tgpu.store %d, %g : !acc, !tile.global<64x64xf32>
  tgpu.return
}

// -----

!a = !tgpu.smem<16x64xf16, #tgpu.shared<"16x64 b16 contig 1 panel 64 swizzle 128">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:16,0 lane 0,2:0,4:1,0:2,0:4,0 warp 32,0:0,32">>
// CHECK-LABEL: tgpu.kernel @transposed
// CHECK: %[[X:.*]] = tgpu.local_load %{{.*}} -> tensor<16x64xf16, #tgpu.fragment<"16x64 reg 1,0:0,8:8,0:0,16 lane 2,0:4,0:0,1:0,2:0,4 warp 0,32:0,0">>
// CHECK: %[[T:.*]] = tile.transpose %[[X]] : {{.*}} -> tensor<64x16xf16, #tgpu.fragment<"64x16 reg 0,1:8,0:0,8:16,0 lane 0,2:0,4:1,0:2,0:4,0 warp 32,0:0,0">>
// CHECK: tgpu.mma %[[T]]
tgpu.kernel @transposed(%a: !a, %c: !acc) attributes {threads = 128 : i32} {
  %d = tgpu.dot %a, %a, %c {transpose_a, mma = #tgpu.mma<mma_sync, 16, 8, 16, warps = 2, 2>} : !a, !a, !acc -> !acc
  tgpu.return
}

// -----

!a = tensor<64x32xf16, #tgpu.fragment<"64x32 reg 0,1:8,0:0,8:16,0:0,16 lane 0,2:0,4:1,0:2,0:4,0 warp 32,0:0,0">>
!b = !tgpu.smem<32x64xf16, #tgpu.shared<"32x64 b16 contig 1 panel 64 swizzle 128">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:16,0 lane 0,2:0,4:1,0:2,0:4,0 warp 32,0:0,32">>
// An operand in registers is cut; without `accumulate` the first product adds to zero.
// CHECK-LABEL: tgpu.kernel @registers
// CHECK: %[[Z:.*]] = tile.splat
// CHECK: tgpu.fragment_slice %{{.*}} at [0, 0] {{.*}} -> tensor<64x16xf16
// CHECK: tgpu.fragment_slice %{{.*}} at [0, 16]
// CHECK: tgpu.mma {{.*}}, %[[Z]]
// CHECK: tgpu.mma
tgpu.kernel @registers(%a: !a, %b: !b, %c: !acc) attributes {threads = 128 : i32} {
  %d = tgpu.dot %a, %b, %c {accumulate = false, mma = #tgpu.mma<mma_sync, 16, 8, 16, warps = 2, 2>} : !a, !b, !acc -> !acc
  tgpu.return
}

// -----

// The last step of a k that is no multiple of the instruction's reads what there is; its layouts are padded.
!a = !tgpu.smem<64x24xf16, #tgpu.shared<"64x24 b16 contig 1 panel 24">>
!b = !tgpu.smem<24x64xf16, #tgpu.shared<"24x64 b16 contig 1 panel 64 swizzle 128">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:16,0 lane 0,2:0,4:1,0:2,0:4,0 warp 32,0:0,32">>
// CHECK-LABEL: tgpu.kernel @rest
// CHECK: tgpu.local_load %{{.*}} -> tensor<64x16xf16, #tgpu.fragment
// CHECK: tgpu.local_load %{{.*}} -> tensor<16x64xf16, #tgpu.fragment
// CHECK: tgpu.subview %{{.*}} at [0, 16] {{.*}} -> !tgpu.smem<64x8xf16
// CHECK: tgpu.local_load %{{.*}} -> tensor<64x8xf16, #tgpu.fragment
// CHECK: tgpu.subview %{{.*}} at [16, 0] {{.*}} -> !tgpu.smem<8x64xf16
// CHECK: tgpu.local_load %{{.*}} -> tensor<8x64xf16, #tgpu.fragment
// CHECK-COUNT-2: tgpu.mma
tgpu.kernel @rest(%a: !a, %b: !b, %c: !acc) attributes {threads = 128 : i32} {
  %d = tgpu.dot %a, %b, %c {mma = #tgpu.mma<mma_sync, 16, 8, 16, warps = 2, 2>} : !a, !b, !acc -> !acc
  tgpu.return
}
