// The forms of wgmma: transposed and column-split operands, A from registers, run-time scale-d, 8-bit and tf32 types.
// RUN: tile-opt --convert-tgpu-to-llvm %s | FileCheck %s

#acc = #tgpu.fragment<"128x64 reg 0,1:8,0:0,8:0,16:0,32:64,0 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">
#fa = #tgpu.fragment<"128x64 reg 0,1:8,0:0,8:0,16:0,32:64,0 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">
#s = #tgpu.shared<"128x64 b16 contig 1 panel 64 swizzle 128">
#k = #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">
!a = !tgpu.smem<128x64xbf16, #s>
!b = !tgpu.smem<64x64xbf16, #k>
!acc = tensor<128x64xf32, #acc>
!p = !tgpu.pending<tensor<128x64xf32, #acc>>
!g = !tile.global<?x?xf32>

// Two blocks of 64 rows, B stored [N, K] (K-major: no transposition), A from shared memory first, then from registers
// whose words are packed before the fence. Both, words and sums, are its operands, so that they are in registers by then, constants too.
// CHECK-LABEL: llvm.func @forms
// CHECK: llvm.bitcast %{{.*}} : vector<2xbf16> to i32
// CHECK: %[[SUMS:.*]] = llvm.inline_asm has_side_effects asm_dialect = att "wgmma.fence.sync.aligned;", "=f{{.*}},63{{(,r)+}},~{memory}"
// CHECK: llvm.extractvalue %[[SUMS]][0]
// Of a descriptor with a swizzle and K contiguous the low half is no 0, which ptxas does not survive: 1 << 16 where the
// hardware ignores it. LLVM does not see the bits, or it adds constants of 64 bits, of which ptxas drops the high half.
// CHECK-NOT: 4611686293305294848
// CHECK: llvm.inline_asm asm_dialect = att "or.b64 $0, $1, 4611686293305360384;", "=l,l"
// CHECK-NOT: llvm.bitcast
// The first step of each block of rows asks the predicate, the others always add.
// CHECK-COUNT-2: "{\0Awgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {{.*}}, $65, $66, $64, 1, 1, 0, 0;{{.*}},b,l,l
// CHECK-COUNT-6: setp.ne.b32 p, 1, 0;\0Awgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {{.*}}, $64, $65, p, 1, 1, 0, 0;
// CHECK-NOT: llvm.bitcast
// CHECK-COUNT-8: {{.*}}m64n64k16.f32.bf16.bf16 {{.*}}, {$64, $65, $66, $67}, $68, p, 1, 1, 0;
// The words of A live until the wait.
// CHECK: wgmma.wait_group.sync.aligned 0;", {{.*}},63{{(,r)+}},~{memory}
tgpu.kernel @forms(%C: !g, %m: i32, %n: i32, %use: i1) attributes {threads = 128 : i32, target = "sm_90a", shared_bytes = 40960 : i64} {
  %c0 = arith.constant 0 : i32
  %a = tgpu.alloc_shared {offset = 0 : i64} : !a
  %b = tgpu.alloc_shared {offset = 16384 : i64} : !b
  %init = arith.constant dense<1.0> : !acc
  %half = tile.convert %init : !acc to tensor<128x64xbf16, #fa>
  tgpu.wgmma_fence
  %p0 = tgpu.wgmma %a, %b, %init if %use {transpose_b, mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !a, !b, !acc -> !p
  %p1 = tgpu.wgmma %half, %b, %p0 {transpose_b, mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : tensor<128x64xbf16, #fa>, !b, !p -> !p
  tgpu.wgmma_commit
  %r = tgpu.wgmma_wait 0, %p1 : !p -> !acc reads %half : tensor<128x64xbf16, #fa>
  %c = tgpu.view %C extents(%m, %n : i32, i32) strides(%n : i32) : !g -> !g
  %d = tile.slice %c[%c0, %c0] sizes [128, 64] : !g, i32, i32 -> !tile.global<128x64xf32>
  tgpu.store %r, %d {bytes = 4 : i32} : !acc, !tile.global<128x64xf32>
  tgpu.return
}

#acc8 = #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0:0,32">
#i8 = #tgpu.shared<"64x128 b8 contig 1 panel 128 swizzle 128">

// Two warpgroups side by side: each takes 32 columns, 32 rows of B further on.
// CHECK-LABEL: llvm.func @types
// Adding to zeros is left out.
// CHECK: setp.ne.b32 p, 0, 0;{{.*}}m64n32k32.f32.e4m3.e5m2 {{.*}}, p, 1, 1;
// CHECK-COUNT-3: setp.ne.b32 p, 1, 0;{{.*}}m64n32k32.f32.e4m3.e5m2 {{.*}}, p, 1, 1;
// CHECK-COUNT-4: m64n32k32.s32.s8.u8 {{.*}}, $33, p;
// CHECK: llvm.return
tgpu.kernel @types(%C: !g, %D: !tile.global<?x?xi32>, %n: i32) attributes {threads = 256 : i32, target = "sm_90a", shared_bytes = 40960 : i64} {
  %c0 = arith.constant 0 : i32
  %a = tgpu.alloc_shared {offset = 0 : i64} : !tgpu.smem<64x128xf8E4M3FN, #i8>
  %b = tgpu.alloc_shared {offset = 8192 : i64} : !tgpu.smem<64x128xf8E5M2, #i8>
  %x = tgpu.alloc_shared {offset = 16384 : i64} : !tgpu.smem<64x128xi8, #i8>
  %y = tgpu.alloc_shared {offset = 24576 : i64} : !tgpu.smem<64x128xi8, #i8>
  %f = arith.constant dense<0.0> : tensor<64x64xf32, #acc8>
  %i = arith.constant dense<0> : tensor<64x64xi32, #acc8>
  tgpu.wgmma_fence
  %p = tgpu.wgmma %a, %b, %f {transpose_b, mma = #tgpu.mma<wgmma, 64, 32, 32, warps = 1, 2>} : !tgpu.smem<64x128xf8E4M3FN, #i8>, !tgpu.smem<64x128xf8E5M2, #i8>, tensor<64x64xf32, #acc8> -> !tgpu.pending<tensor<64x64xf32, #acc8>>
  %q = tgpu.wgmma %x, %y, %i {transpose_b, b_unsigned, mma = #tgpu.mma<wgmma, 64, 32, 32, warps = 1, 2>} : !tgpu.smem<64x128xi8, #i8>, !tgpu.smem<64x128xi8, #i8>, tensor<64x64xi32, #acc8> -> !tgpu.pending<tensor<64x64xi32, #acc8>>
  tgpu.wgmma_commit
  %r, %s = tgpu.wgmma_wait 0, %p, %q : !tgpu.pending<tensor<64x64xf32, #acc8>>, !tgpu.pending<tensor<64x64xi32, #acc8>> -> tensor<64x64xf32, #acc8>, tensor<64x64xi32, #acc8>
  %c = tgpu.view %C extents(%n, %n : i32, i32) strides(%n : i32) : !g -> !g
  %e = tgpu.view %D extents(%n, %n : i32, i32) strides(%n : i32) : !tile.global<?x?xi32> -> !tile.global<?x?xi32>
  %d = tile.slice %c[%c0, %c0] sizes [64, 64] : !g, i32, i32 -> !tile.global<64x64xf32>
  %h = tile.slice %e[%c0, %c0] sizes [64, 64] : !tile.global<?x?xi32>, i32, i32 -> !tile.global<64x64xi32>
  tgpu.store %r, %d {bytes = 4 : i32} : tensor<64x64xf32, #acc8>, !tile.global<64x64xf32>
  tgpu.store %s, %h {bytes = 4 : i32} : tensor<64x64xi32, #acc8>, !tile.global<64x64xi32>
  tgpu.return
}
