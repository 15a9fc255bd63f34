// Elements of four bits: a word of eight at a time, without a shift for each; bytes of products' operands by whole words.
// RUN: tile-opt --convert-tgpu-to-llvm -split-input-file %s | FileCheck %s

#elements = #tgpu.fragment<"64x32 reg 0,1:8,0:0,8:0,16 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">
#bytes = #tgpu.fragment<"64x16 reg 8,0:0,4:0,8 lane 0,1:0,2:1,0:2,0:4,0 warp 16,0:32,0">
!s = !tgpu.smem<64x16xi8, #tgpu.shared<"64x16 b8 contig 1 panel 16">>
// The operand of a product, as decoded: a lane holds a byte of each of a row's four words, which it loads at once.
// CHECK-LABEL: llvm.func @operand
// CHECK: %[[WORDS:.*]] = llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xi32>
// CHECK: nvvm.prmt <default> %[[OWN:[0-9a-z_]*]], %{{.*}}, %{{.*}} : i32
// CHECK: nvvm.prmt <default> %[[OWN]], %{{.*}}, %{{.*}} : i32
// CHECK: %[[BOTH:.*]] = nvvm.prmt
// CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xi32>
// CHECK-NOT: llvm.load
// Two elements of a byte go to the low ends of two halves: 1024 + x, or x + 8 where x has a sign.
// CHECK: %[[HIGH:.*]] = llvm.lshr %[[BOTH]], %{{.*}} : i32
// CHECK: %[[PAIR:.*]] = nvvm.prmt <default> %{{.*}}, %[[BOTH]], %[[HIGH]]
// CHECK: %[[BITS:.*]] = llvm.inline_asm {{.*}}"lop3.b32 $0, $1, $2, $3, 0x6a;", "=r,r,n,r" %[[PAIR]],
// CHECK: %[[HALVES:.*]] = llvm.bitcast %[[BITS]] : i32 to vector<2xf16>
// CHECK: llvm.intr.fma(%[[HALVES]],
// CHECK-COUNT-7: llvm.intr.fma
// CHECK-NOT: llvm.intr.fma
tgpu.kernel @operand(%Y: !tile.global<64x32xf16>, %n: i32) attributes {threads = 128 : i32, target = "sm_90a", shared_bytes = 1024 : i64} {
  %c32 = arith.constant 32 : i32
  %c64 = arith.constant 64 : i32
  %c0 = arith.constant 0 : i32
  %y = tgpu.view %Y extents(%c64, %c32 : i32, i32) strides(%c32 : i32) : !tile.global<64x32xf16> -> !tile.global<64x32xf16>
  %s = tgpu.alloc_shared {offset = 0 : i64} : !s
  %b = tgpu.local_load %s : !s -> tensor<64x16xi8, #bytes>
  %e = tgpu.unpack %b : tensor<64x16xi8, #bytes> -> tensor<64x32xi4, #elements>
  %h = tile.convert %e : tensor<64x32xi4, #elements> to tensor<64x32xf16, #elements>
  tgpu.store %h, %y : tensor<64x32xf16, #elements>, !tile.global<64x32xf16>
  tgpu.return
}

// -----

#elements = #tgpu.fragment<"256 reg 1:2:4 lane 8:16:32:64:128 warp -">
#bytes = #tgpu.fragment<"128 reg 1:2 lane 4:8:16:32:64 warp -">
!g = !tile.global<?xi8>
// Bits of an e2m1 become those of a number that is too small by 2^126; bytes of integers get their signs without borrowing.
// CHECK-LABEL: llvm.func @others
// CHECK: llvm.load %{{.*}} : !llvm.ptr<1> -> vector<4xi8>
// CHECK: llvm.shl
// CHECK-COUNT-4: llvm.intr.fma
// CHECK: %[[EVEN:.*]] = llvm.and %{{.*}}, %{{.*}} : i32
// CHECK: %[[SIGNS:.*]] = llvm.and %[[EVEN]], %{{.*}} : i32
// CHECK: %[[HIGH:.*]] = llvm.mul %[[SIGNS]], %{{.*}} : i32
// CHECK: llvm.add %[[EVEN]], %[[HIGH]] : i32
// CHECK: nvvm.prmt
// CHECK: nvvm.prmt
// CHECK: llvm.sext %{{.*}} : i8 to i32
tgpu.kernel @others(%X: !g, %Y: !tile.global<?xbf16>, %Z: !tile.global<?xi32>, %n: i32) attributes {threads = 32 : i32, target = "sm_80"} {
  %c0 = arith.constant 0 : i32
  %x = tgpu.view %X extents(%n : i32) strides() : !g -> !g
  %y = tgpu.view %Y extents(%n : i32) strides() : !tile.global<?xbf16> -> !tile.global<?xbf16>
  %z = tgpu.view %Z extents(%n : i32) strides() : !tile.global<?xi32> -> !tile.global<?xi32>
  %xs = tile.slice %x[%c0] sizes [128] : !g, i32 -> !tile.global<128xi8>
  %ys = tile.slice %y[%c0] sizes [256] : !tile.global<?xbf16>, i32 -> !tile.global<256xbf16>
  %zs = tile.slice %z[%c0] sizes [256] : !tile.global<?xi32>, i32 -> !tile.global<256xi32>
  %b = tgpu.load %xs {bytes = 4 : i32, tgpu.in_bounds = array<i1: true>} : !tile.global<128xi8> -> tensor<128xi8, #bytes>
  %f = tgpu.unpack %b : tensor<128xi8, #bytes> -> tensor<256xf4E2M1FN, #elements>
  %h = tile.convert %f : tensor<256xf4E2M1FN, #elements> to tensor<256xbf16, #elements>
  tgpu.store %h, %ys {tgpu.in_bounds = array<i1: true>} : tensor<256xbf16, #elements>, !tile.global<256xbf16>
  %e = tgpu.unpack %b : tensor<128xi8, #bytes> -> tensor<256xi4, #elements>
  %i = arith.extsi %e : tensor<256xi4, #elements> to tensor<256xi32, #elements>
  tgpu.store %i, %zs {tgpu.in_bounds = array<i1: true>} : tensor<256xi32, #elements>, !tile.global<256xi32>
  tgpu.return
}
