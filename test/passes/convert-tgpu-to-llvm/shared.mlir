// Shared memory: swizzled addresses whose constant part is the instruction's immediate, ordinary copies, scalar products,
// layout conversions.
// RUN: tile-opt --convert-tgpu-to-llvm %s | FileCheck %s

#acc = #tgpu.fragment<"32x32 reg 0,1:0,2:8,0:16,0 lane 0,4:0,8:0,16:1,0:2,0 warp 4,0:0,0">
#rows = #tgpu.fragment<"32x32 reg 0,1:0,2:0,4 lane 0,8:0,16:1,0:2,0:4,0 warp 8,0:16,0">
#s = #tgpu.shared<"32x32 b32 contig 1 panel 32 swizzle 128">
!s = !tgpu.smem<32x32xf32, #s>
!g = !tile.global<?x?xf32>
!t = !tile.global<32x32xf32>

// CHECK-LABEL: llvm.func @fma
// CHECK: @$5 ld.global.v4.b32
// CHECK: llvm.store %{{.*}} {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<3>
// CHECK: nvvm.barrier
// CHECK-COUNT-256: llvm.intr.fma
// CHECK: @$5 st.global.v4.b32
tgpu.kernel @fma(%A: !g, %B: !g, %C: !g, %n: i32 {tgpu.divisible = 4 : i64}) attributes {threads = 128 : i32, target = "sm_80", shared_bytes = 8192 : i64} {
  %c0 = arith.constant 0 : i32
  %zero = arith.constant dense<0.0> : tensor<32x32xf32, #acc>
  %a = tgpu.view %A extents(%n, %n : i32, i32) strides(%n : i32) : !g -> !g
  %b = tgpu.view %B extents(%n, %n : i32, i32) strides(%n : i32) : !g -> !g
  %c = tgpu.view %C extents(%n, %n : i32, i32) strides(%n : i32) : !g -> !g
  %as = tgpu.alloc_shared {offset = 0 : i64} : !s
  %bs = tgpu.alloc_shared {offset = 4096 : i64} : !s
  %sa = tile.slice %a[%c0, %c0] sizes [32, 32] : !g, i32, i32 -> !t
  %sb = tile.slice %b[%c0, %c0] sizes [32, 32] : !g, i32, i32 -> !t
  %sc = tile.slice %c[%c0, %c0] sizes [32, 32] : !g, i32, i32 -> !t
  tgpu.copy %sa to %as {path = #tgpu.path<vector>, bytes = 16 : i32} : !t, !s
  tgpu.copy %sb to %bs {path = #tgpu.path<vector>, bytes = 16 : i32} : !t, !s
  tgpu.barrier
  %r = tgpu.fma %as, %bs, %zero : !s, !s, tensor<32x32xf32, #acc> -> tensor<32x32xf32, #acc>
  tgpu.store %r, %sc {bytes = 16 : i32} : tensor<32x32xf32, #acc>, !t
  tgpu.return
}

// The barrier in front of a conversion is tgpu-insert-sync's.
// CHECK-LABEL: llvm.func @convert
// CHECK-NOT: nvvm.barrier
// CHECK: llvm.store {{.*}}!llvm.ptr<3>
// CHECK: nvvm.barrier
// CHECK: llvm.load {{.*}}!llvm.ptr<3>
tgpu.kernel @convert(%C: !g, %n: i32) attributes {threads = 128 : i32, target = "sm_80", shared_bytes = 8192 : i64} {
  %c0 = arith.constant 0 : i32
  %bs = tgpu.alloc_shared {offset = 0 : i64} : !s
  %c = tgpu.view %C extents(%n, %n : i32, i32) strides(%n : i32) : !g -> !g
  %sc = tile.slice %c[%c0, %c0] sizes [32, 32] : !g, i32, i32 -> !t
  %v = tgpu.local_load %bs : !s -> tensor<32x32xf32, #rows>
  %w = tgpu.convert_layout %v {scratch = 4096 : i64} : tensor<32x32xf32, #rows> -> tensor<32x32xf32, #acc>
  tgpu.store %w, %sc {bytes = 4 : i32} : tensor<32x32xf32, #acc>, !t
  tgpu.return
}

// Panels of 20 rows are no power of two apart, but what the swizzle XORs is below 128 bytes: an address for each of its 8 phases,
// immediates for the rest of 20 rows.
#panels = #tgpu.shared<"20x96 b32 contig 1 panel 32 swizzle 128">
#columns = #tgpu.fragment<"20x96 reg - lane 0,1:0,2:0,4:0,8:0,16 warp - rep reg*20@0+1:warp*3@1+32">
#rows20 = #tgpu.shared<"20x96 b32 contig 1 panel 96">
// CHECK-LABEL: llvm.func @phases
// CHECK-COUNT-8: llvm.xor
// CHECK-NOT: llvm.xor
// CHECK: llvm.return
tgpu.kernel @phases() attributes {threads = 96 : i32, target = "sm_80", shared_bytes = 16384 : i64} {
  %from = tgpu.alloc_shared {offset = 0 : i64} : !tgpu.smem<20x96xf32, #rows20>
  %to = tgpu.alloc_shared {offset = 8192 : i64} : !tgpu.smem<20x96xf32, #panels>
  %v = tgpu.local_load %from : !tgpu.smem<20x96xf32, #rows20> -> tensor<20x96xf32, #columns>
  tgpu.local_store %v, %to : tensor<20x96xf32, #columns>, !tgpu.smem<20x96xf32, #panels>
  tgpu.return
}

// Zeros outside of a box: a loop of 16 bytes a thread where each is inside or outside as a whole, element by element where a bound may
// be anywhere in a row. 32 x 32 floats in a swizzled buffer: 256 of 16 bytes are two for each of 128 threads.
// CHECK-LABEL: llvm.func @zero
// CHECK-SAME: %[[M:[a-z0-9]+]]: i32
// CHECK: %[[ROW:.*]] = llvm.udiv
// CHECK: llvm.icmp "slt" %[[ROW]], %[[M]]
// CHECK: llvm.store %{{.*}} {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<3>
// CHECK: llvm.icmp "sge"
// CHECK: llvm.store %{{.*}} {alignment = 4 : i64} : f32, !llvm.ptr<3>
// CHECK: llvm.return
tgpu.kernel @zero(%m: i32) attributes {threads = 128 : i32, target = "sm_90a", shared_bytes = 8192 : i64} {
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %b = tgpu.alloc_shared {offset = 0 : i64} : !s
  tgpu.zero_beyond %b from(%c0, %c0) to(%m, %c32) : !s
  tgpu.barrier
  tgpu.zero_beyond %b from(%c0, %m) to(%c32, %c32) : !s
  tgpu.return
}
