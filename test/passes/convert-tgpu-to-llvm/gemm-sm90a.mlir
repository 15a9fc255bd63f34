// A persistent GEMM of 128 x 256 tiles on two warpgroups: TMA into a ring of three stages, wgmma with one group in
// flight, stmatrix and TMA out. Hopper's assembler must keep the accumulators in place: no spills, no serialised wgmma.
// RUN: tile-opt --convert-tgpu-to-llvm %s | FileCheck %s

// CHECK: llvm.mlir.global external @tilec_shared_memory() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
// CHECK-LABEL: llvm.func @gemm
// CHECK-SAME: !llvm.ptr<1> {llvm.align = 16 : i64, llvm.noalias, llvm.noundef, llvm.readonly}
// CHECK-SAME: llvm.byval = !llvm.array<128 x i8>, llvm.noundef, nvvm.grid_constant
// CHECK-SAME: nvvm.kernel
// CHECK-SAME: nvvm.reqntid = array<i32: 256, 1, 1>
// CHECK: nvvm.prefetch
// CHECK-COUNT-6: nvvm.mbarrier.init
// CHECK: nvvm.fence.mbarrier.init
// CHECK: nvvm.barrier
// CHECK: nvvm.elect.sync
// CHECK: nvvm.mbarrier.try_wait
// CHECK: nvvm.mbarrier.arrive.expect_tx
// One box of A (64 columns are a panel), four of B.
// CHECK-COUNT-5: nvvm.cp.async.bulk.tensor.shared.cluster.global {{.*}} {isCTAOnly = true}
// CHECK: nvvm.wgmma.fence.aligned
// CHECK: setp.ne.b32 p, 0, 0;{{.*}}wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 {{.*}}, p, 1, 1, 0, 1;
// CHECK-COUNT-3: setp.ne.b32 p, 1, 0;{{.*}}wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16
// CHECK: nvvm.wgmma.commit.group.sync.aligned
// CHECK: nvvm.wgmma.wait.group.sync.aligned 1
// CHECK: wgmma.wait_group.sync.aligned 0;
// CHECK-COUNT-64: llvm.fptrunc {{.*}} : vector<2xf32> to vector<2xf16>
// CHECK: nvvm.cp.async.bulk.wait_group 0 {read}
// CHECK-COUNT-16: nvvm.stmatrix
// CHECK: nvvm.fence.proxy
// CHECK-COUNT-4: nvvm.cp.async.bulk.tensor.global.shared.cta

#acc = #tgpu.fragment<"128x256 reg 0,1:8,0 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0:64,0 rep reg*32@1+8">
#as = #tgpu.shared<"3x128x64 b16 contig 2 panel 64 swizzle 128">
#a = #tgpu.shared<"128x64 b16 contig 1 panel 64 swizzle 128">
#bs = #tgpu.shared<"3x64x256 b16 contig 2 panel 64 swizzle 128">
#b = #tgpu.shared<"64x256 b16 contig 1 panel 64 swizzle 128">
#c = #tgpu.shared<"128x256 b16 contig 1 panel 64 swizzle 128">
!as = !tgpu.smem<3x128x64xf16, #as>
!a = !tgpu.smem<128x64xf16, #a>
!bs = !tgpu.smem<3x64x256xf16, #bs>
!b = !tgpu.smem<64x256xf16, #b>
!c = !tgpu.smem<128x256xf16, #c>
!g = !tile.global<?x?xf16>
!acc = tensor<128x256xf32, #acc>
!pending = !tgpu.pending<tensor<128x256xf32, #acc>>
!ch = !tgpu.channel<3>

tgpu.kernel @gemm(%A: !g, %B: !g, %C: !g, %M: i32, %N: i32, %K: i32, %gx: i32, %gy: i32) attributes {
    threads = 256 : i32, target = "sm_90a", persistent = 1 : i32, shared_bytes = 213040 : i64,
    tensor_maps = [#tgpu.tensor_map<0, extents = [5, 3], strides = [-2, 5], box = [64, 128], swizzle = 128>,
                   #tgpu.tensor_map<1, extents = [4, 5], strides = [-2, 4], box = [64, 64], swizzle = 128>,
                   #tgpu.tensor_map<2, extents = [4, 3], strides = [-2, 4], box = [64, 128], swizzle = 128>]} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c63 = arith.constant 63 : i32
  %c64 = arith.constant 64 : i32
  %c128 = arith.constant 128 : i32
  %c256 = arith.constant 256 : i32
  %a = tgpu.view %A extents(%M, %K : i32, i32) strides(%K : i32) : !g -> !g
  %b = tgpu.view %B extents(%K, %N : i32, i32) strides(%N : i32) : !g -> !g
  %c = tgpu.view %C extents(%M, %N : i32, i32) strides(%N : i32) : !g -> !g
  %as = tgpu.alloc_shared "As" {offset = 0 : i64} : !as
  %bs = tgpu.alloc_shared "Bs" {offset = 49152 : i64} : !bs
  %cs = tgpu.alloc_shared "Cs" {offset = 147456 : i64} : !c
  %ch = tgpu.channel "ring" {producers = 1 : i32, consumers = 8 : i32, offset = 212992 : i64} : !ch
  %kr = arith.addi %K, %c63 : i32
  %kt = arith.divui %kr, %c64 : i32
  %tiles = arith.muli %gx, %gy : i32
  %id = tgpu.block_id
  %nb = tgpu.num_blocks
  %zero = arith.constant 0.0 : f32
  %end = scf.for %t = %id to %tiles step %nb iter_args(%it = %c0) -> (i32) : i32 {
    %group = arith.constant 8 : i32
    %x, %y = tgpu.grid_point %t in (%gx, %gy) group(%group) : i32, i32
    %col = arith.muli %x, %c256 : i32
    %row = arith.muli %y, %c128 : i32
    %first = arith.minsi %kt, %c2 : i32
    tgpu.one_thread {
      scf.for %k = %c0 to %first step %c1 : i32 {
        %pos = arith.addi %it, %k : i32
        %kk = arith.muli %k, %c64 : i32
        %sa = tile.slice %a[%row, %kk] sizes [128, 64] : !g, i32, i32 -> !tile.global<128x64xf16>
        %sb = tile.slice %b[%kk, %col] sizes [64, 256] : !g, i32, i32 -> !tile.global<64x256xf16>
        %ta = tgpu.slot %as[%pos] : !as -> !a
        %tb = tgpu.slot %bs[%pos] : !bs -> !b
        tgpu.acquire %ch[%pos] : !ch
        tgpu.expect %ch[%pos] bytes 49152 : !ch
        tgpu.tma_load %sa to %ta on %ch[%pos] {map = 0 : i32} : !tile.global<128x64xf16>, !a, !ch
        tgpu.tma_load %sb to %tb on %ch[%pos] {map = 1 : i32} : !tile.global<64x256xf16>, !b, !ch
      }
    }
    %init = tile.splat %zero : f32 -> !acc
    tgpu.wait %ch[%it] : !ch
    tgpu.wgmma_fence
    %ta0 = tgpu.slot %as[%it] : !as -> !a
    %tb0 = tgpu.slot %bs[%it] : !bs -> !b
    %p0 = tgpu.wgmma %ta0, %tb0, %init {accumulate = false, mma = #tgpu.mma<wgmma, 64, 256, 16, warps = 2, 1>} : !a, !b, !acc -> !pending
    tgpu.wgmma_commit
    tgpu.one_thread {
      %more = arith.cmpi sgt, %kt, %c2 : i32
      scf.if %more {
        %pos = arith.addi %it, %c2 : i32
        %sa = tile.slice %a[%row, %c128] sizes [128, 64] : !g, i32, i32 -> !tile.global<128x64xf16>
        %sb = tile.slice %b[%c128, %col] sizes [64, 256] : !g, i32, i32 -> !tile.global<64x256xf16>
        %ta = tgpu.slot %as[%pos] : !as -> !a
        %tb = tgpu.slot %bs[%pos] : !bs -> !b
        tgpu.acquire %ch[%pos] : !ch
        tgpu.expect %ch[%pos] bytes 49152 : !ch
        tgpu.tma_load %sa to %ta on %ch[%pos] {map = 0 : i32} : !tile.global<128x64xf16>, !a, !ch
        tgpu.tma_load %sb to %tb on %ch[%pos] {map = 1 : i32} : !tile.global<64x256xf16>, !b, !ch
      }
    }
    %p = scf.for %k = %c1 to %kt step %c1 iter_args(%acc = %p0) -> (!pending) : i32 {
      %pos = arith.addi %it, %k : i32
      tgpu.wait %ch[%pos] : !ch
      tgpu.wgmma_fence
      %ta = tgpu.slot %as[%pos] : !as -> !a
      %tb = tgpu.slot %bs[%pos] : !bs -> !b
      %p1 = tgpu.wgmma %ta, %tb, %acc {mma = #tgpu.mma<wgmma, 64, 256, 16, warps = 2, 1>} : !a, !b, !pending -> !pending
      tgpu.wgmma_commit
      %p2 = tgpu.wgmma_wait 1, %p1 : !pending -> !pending
      %prev = arith.subi %pos, %c1 : i32
      tgpu.release %ch[%prev] : !ch
      tgpu.one_thread {
        %nk = arith.addi %k, %c2 : i32
        %more = arith.cmpi slt, %nk, %kt : i32
        scf.if %more {
          %npos = arith.addi %pos, %c2 : i32
          %kk = arith.muli %nk, %c64 : i32
          %sa = tile.slice %a[%row, %kk] sizes [128, 64] : !g, i32, i32 -> !tile.global<128x64xf16>
          %sb = tile.slice %b[%kk, %col] sizes [64, 256] : !g, i32, i32 -> !tile.global<64x256xf16>
          %na = tgpu.slot %as[%npos] : !as -> !a
          %nbuf = tgpu.slot %bs[%npos] : !bs -> !b
          tgpu.acquire %ch[%npos] : !ch
          tgpu.expect %ch[%npos] bytes 49152 : !ch
          tgpu.tma_load %sa to %na on %ch[%npos] {map = 0 : i32} : !tile.global<128x64xf16>, !a, !ch
          tgpu.tma_load %sb to %nbuf on %ch[%npos] {map = 1 : i32} : !tile.global<64x256xf16>, !b, !ch
        }
      }
      scf.yield %p2 : !pending
    }
    %acc = tgpu.wgmma_wait 0, %p : !pending -> !acc
    %next = arith.addi %it, %kt : i32
    %last = arith.subi %next, %c1 : i32
    tgpu.release %ch[%last] : !ch
    %h = tile.convert %acc : !acc to tensor<128x256xf16, #acc>
    tgpu.one_thread {
      tgpu.tma_store_wait 0 {read}
    }
    tgpu.barrier
    tgpu.local_store %h, %cs : tensor<128x256xf16, #acc>, !c
    tgpu.fence_async
    tgpu.barrier
    %sc = tile.slice %c[%row, %col] sizes [128, 256] : !g, i32, i32 -> !tile.global<128x256xf16>
    tgpu.one_thread {
      tgpu.tma_store %cs to %sc {map = 2 : i32} : !c, !tile.global<128x256xf16>
      tgpu.tma_store_commit
    }
    scf.yield %next : i32
  }
  tgpu.one_thread {
    tgpu.tma_store_wait 0 {read}
  }
  tgpu.return
}
