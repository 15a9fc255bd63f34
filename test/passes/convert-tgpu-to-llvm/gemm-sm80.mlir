// A GEMM of 128 x 128 tiles on four warps: cp.async into a ring of four stages, ldmatrix of k-slices, mma.sync,
// guarded stores from registers.
// RUN: tile-opt --convert-tgpu-to-llvm %s | FileCheck %s

// CHECK-LABEL: llvm.func @gemm
// CHECK-SAME: nvvm.reqntid = array<i32: 128, 1, 1>
// CHECK-NOT: mbarrier
// CHECK: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 16, cache =  cg, %{{.*}} : !llvm.ptr<3>, !llvm.ptr<1>, i32
// CHECK: nvvm.cp.async.commit.group
// CHECK: nvvm.cp.async.wait.group 2
// CHECK: nvvm.barrier
// CHECK-COUNT-4: nvvm.ldmatrix {{.*}} layout = #nvvm.mma_layout<row>, num = 4 : i32
// CHECK-COUNT-4: nvvm.ldmatrix {{.*}} layout = #nvvm.mma_layout<col>, num = 4 : i32
// CHECK-COUNT-32: llvm.call_intrinsic "llvm.nvvm.mma.m16n8k16.row.col.f32.f32"
// CHECK: @$3 st.global.v2.b32 [$0], {$1,$2};

#acc = #tgpu.fragment<"128x128 reg 0,1:8,0:0,8:0,16:0,32:16,0:32,0 lane 0,2:0,4:1,0:2,0:4,0 warp 64,0:0,64">
#fa = #tgpu.fragment<"128x16 reg 0,1:8,0:0,8:16,0:32,0 lane 0,2:0,4:1,0:2,0:4,0 warp 64,0:0,0">
#fb = #tgpu.fragment<"16x128 reg 1,0:8,0:0,8:0,16:0,32 lane 2,0:4,0:0,1:0,2:0,4 warp 0,0:0,64">
#as = #tgpu.shared<"4x128x32 b16 contig 2 panel 32 swizzle 64">
#a = #tgpu.shared<"128x32 b16 contig 1 panel 32 swizzle 64">
#bs = #tgpu.shared<"4x32x128 b16 contig 2 panel 64 swizzle 128">
#b = #tgpu.shared<"32x128 b16 contig 1 panel 64 swizzle 128">
!as = !tgpu.smem<4x128x32xf16, #as>
!a = !tgpu.smem<128x32xf16, #a>
!ak = !tgpu.smem<128x16xf16, #a>
!bs = !tgpu.smem<4x32x128xf16, #bs>
!b = !tgpu.smem<32x128xf16, #b>
!bk = !tgpu.smem<16x128xf16, #b>
!g = !tile.global<?x?xf16>
!gf = !tile.global<?x?xf32>
!acc = tensor<128x128xf32, #acc>
!fa = tensor<128x16xf16, #fa>
!fb = tensor<16x128xf16, #fb>

tgpu.kernel @gemm(%A: !g, %B: !g, %C: !gf, %M: i32, %N: i32 {tgpu.divisible = 8 : i64}, %K: i32 {tgpu.divisible = 8 : i64}, %gx: i32, %gy: i32) attributes {
    threads = 128 : i32, target = "sm_80", shared_bytes = 65536 : i64} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c3 = arith.constant 3 : i32
  %c31 = arith.constant 31 : i32
  %c32 = arith.constant 32 : i32
  %c128 = arith.constant 128 : i32
  %a = tgpu.view %A extents(%M, %K : i32, i32) strides(%K : i32) : !g -> !g
  %b = tgpu.view %B extents(%K, %N : i32, i32) strides(%N : i32) : !g -> !g
  %c = tgpu.view %C extents(%M, %N : i32, i32) strides(%N : i32) : !gf -> !gf
  %as = tgpu.alloc_shared "As" {offset = 0 : i64} : !as
  %bs = tgpu.alloc_shared "Bs" {offset = 32768 : i64} : !bs
  %kr = arith.addi %K, %c31 : i32
  %kt = arith.divui %kr, %c32 : i32
  %id = tgpu.block_id
  %group = arith.constant 8 : i32
  %x, %y = tgpu.grid_point %id in (%gx, %gy) group(%group) : i32, i32
  %col = arith.muli %x, %c128 : i32
  %row = arith.muli %y, %c128 : i32
  scf.for %k = %c0 to %c3 step %c1 : i32 {
    %more = arith.cmpi slt, %k, %kt : i32
    scf.if %more {
      %kk = arith.muli %k, %c32 : i32
      %sa = tile.slice %a[%row, %kk] sizes [128, 32] : !g, i32, i32 -> !tile.global<128x32xf16>
      %sb = tile.slice %b[%kk, %col] sizes [32, 128] : !g, i32, i32 -> !tile.global<32x128xf16>
      %ta = tgpu.slot %as[%k] : !as -> !a
      %tb = tgpu.slot %bs[%k] : !bs -> !b
      tgpu.cp_async %sa to %ta {bytes = 16 : i32} : !tile.global<128x32xf16>, !a
      tgpu.cp_async %sb to %tb {bytes = 16 : i32} : !tile.global<32x128xf16>, !b
    }
    tgpu.cp_async_commit
  }
  %zero = arith.constant 0.0 : f32
  %init = tile.splat %zero : f32 -> !acc
  %r = scf.for %k = %c0 to %kt step %c1 iter_args(%acc = %init) -> (!acc) : i32 {
    tgpu.cp_async_wait 2
    tgpu.barrier
    %next = arith.addi %k, %c3 : i32
    %more = arith.cmpi slt, %next, %kt : i32
    scf.if %more {
      %kk = arith.muli %next, %c32 : i32
      %sa = tile.slice %a[%row, %kk] sizes [128, 32] : !g, i32, i32 -> !tile.global<128x32xf16>
      %sb = tile.slice %b[%kk, %col] sizes [32, 128] : !g, i32, i32 -> !tile.global<32x128xf16>
      %na = tgpu.slot %as[%next] : !as -> !a
      %nb = tgpu.slot %bs[%next] : !bs -> !b
      tgpu.cp_async %sa to %na {bytes = 16 : i32} : !tile.global<128x32xf16>, !a
      tgpu.cp_async %sb to %nb {bytes = 16 : i32} : !tile.global<32x128xf16>, !b
    }
    tgpu.cp_async_commit
    %ta = tgpu.slot %as[%k] : !as -> !a
    %tb = tgpu.slot %bs[%k] : !bs -> !b
    %a0 = tgpu.subview %ta at [0, 0] : !a -> !ak
    %b0 = tgpu.subview %tb at [0, 0] : !b -> !bk
    %fa0 = tgpu.local_load %a0 : !ak -> !fa
    %fb0 = tgpu.local_load %b0 : !bk -> !fb
    %d0 = tgpu.mma %fa0, %fb0, %acc {mma = #tgpu.mma<mma_sync, 16, 8, 16, warps = 2, 2>} : !fa, !fb, !acc -> !acc
    %a1 = tgpu.subview %ta at [0, 16] : !a -> !ak
    %b1 = tgpu.subview %tb at [16, 0] : !b -> !bk
    %fa1 = tgpu.local_load %a1 : !ak -> !fa
    %fb1 = tgpu.local_load %b1 : !bk -> !fb
    %d1 = tgpu.mma %fa1, %fb1, %d0 {mma = #tgpu.mma<mma_sync, 16, 8, 16, warps = 2, 2>} : !fa, !fb, !acc -> !acc
    scf.yield %d1 : !acc
  }
  %sc = tile.slice %c[%row, %col] sizes [128, 128] : !gf, i32, i32 -> !tile.global<128x128xf32>
  tgpu.store %r, %sc {bytes = 8 : i32} : !acc, !tile.global<128x128xf32>
  tgpu.return
}
