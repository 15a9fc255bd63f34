// The loop of a fast decoder with latent attention, as tgpu says it: three roles that split one loop by operation. `scores`
// computes P and hands it over in the place of the rope keys that it has read; it does so in the middle of the next
// product, between two pieces of one group. `left` and `right` own half of the columns of O and refill what they have
// read: no thread only loads, and no empty barriers. Position 0 of the rings is Q.
// RUN: tile-opt %s -o %t
// RUN: tile-opt %t | diff %t -
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-verify-sync))' | FileCheck %s
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-allocate-shared,tgpu-verify-sync))' | FileCheck %s --check-prefix=BYTES
// RUN: %python %S/../../passes/verify-sync/Inputs/remove_each.py %s

// BYTES: shared_bytes = 230{{[0-9]+}} : i64
// CHECK: role "scores" warps 0, 4 registers 184
// CHECK: scf.for
// CHECK: tgpu.fence_async
// CHECK: tgpu.wgmma_fence
// CHECK-COUNT-4: tgpu.wgmma %
// CHECK-NEXT: tgpu.publish
// CHECK: tgpu.wgmma %
// CHECK-NEXT: tgpu.wgmma_commit
// CHECK: role "left" warps 4, 4 registers 160
// CHECK: role "right" warps 8, 4 registers 160
// CHECK: tgpu.tma_load {{.*}} tgpu.refill

#s = #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">
#q = #tgpu.fragment<"64x128 reg 0,1:8,0:0,8:0,16:0,32:0,64 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">
#row = #tgpu.fragment<"64 reg 8 lane 0:0:1:2:4 warp 16:32">
#sum = #tgpu.fragment<"64 reg 8 lane 0:0:1:2:4 warp 16:32 partial sum lanes 3 warps 1">
#o1 = #tgpu.fragment<"64x256 reg 0,1:8,0:0,8:0,16:0,32:0,64:0,128 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0 from 4">
#o2 = #tgpu.fragment<"64x256 reg 0,1:8,0:0,8:0,16:0,32:0,64:0,128 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0 from 8">
#row1 = #tgpu.fragment<"64 reg 8 lane 0:0:1:2:4 warp 16:32 from 4">
#row2 = #tgpu.fragment<"64 reg 8 lane 0:0:1:2:4 warp 16:32 from 8">
#mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>
#half = #tgpu.shared<"64x256 b16 contig 1 panel 64 swizzle 128">
!halves = !tgpu.smem<3x64x256xf16, #tgpu.shared<"3x64x256 b16 contig 2 panel 64 swizzle 128">>
!half = !tgpu.smem<64x256xf16, #half>
!part = !tgpu.smem<64x128xf16, #half>
!ropes = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!rope = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!qs = !tgpu.smem<64x128xf16, #tgpu.shared<"64x128 b16 contig 1 panel 64 swizzle 128">>
!factors = !tgpu.smem<64xf32, #tgpu.shared<"64 b32 contig 0 panel 64">>
!twofactors = !tgpu.smem<2x64xf32, #tgpu.shared<"2x64 b32 contig 1 panel 64">>
!s = tensor<64x64xf32, #s>
!sp = !tgpu.pending<!s>
!p = tensor<64x64xf16, #s>
!q = tensor<64x128xf16, #q>
!row = tensor<64xf32, #row>
!sum = tensor<64xf32, #sum>
!row1 = tensor<64xf32, #row1>
!row2 = tensor<64xf32, #row2>
!o1 = tensor<64x256xf32, #o1>
!o2 = tensor<64x256xf32, #o2>
!gh = !tile.global<64x256xf16>
!gr = !tile.global<64x64xf16>
!one = !tgpu.channel<1>
!two = !tgpu.channel<2>
!three = !tgpu.channel<3>

tgpu.kernel @mla(%Kleft: !gh, %Kright: !gh, %Krope: !gr, %blocks: i32 {tgpu.range = array<i64: 1, 16777216>}) attributes {threads = 384 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c3 = arith.constant 3 : i32
  %left = tgpu.alloc_shared "left" : !halves
  %right = tgpu.alloc_shared "right" : !halves
  %rope = tgpu.alloc_shared "rope" : !ropes
  %qs = tgpu.alloc_shared "Q" : !qs
  %factors = tgpu.alloc_shared "factors" : !twofactors
  %cl = tgpu.channel "left" {producers = 1 : i32, consumers = 0 : i32} : !three
  %cr = tgpu.channel "right" {producers = 1 : i32, consumers = 0 : i32} : !three
  %ce = tgpu.channel "rope" {producers = 1 : i32, consumers = 0 : i32} : !two
  %pfull = tgpu.channel "P" {producers = 128 : i32, consumers = 0 : i32} : !two
  %pread = tgpu.channel "P read" {producers = 128 : i32, consumers = 0 : i32} : !two
  tgpu.roles role "scores" warps 0, 4 registers 184 {
    %zf = arith.constant 0.0 : f32
    %zero = tile.splat %zf : f32 -> !s
    %zerosum = tgpu.begin_partial -> !sum
    // Seven of nine panels of Q stay in registers, two go to shared memory.
    tgpu.wait %cl[%c0] : !three
    tgpu.wait %cr[%c0] : !three
    tgpu.wait %ce[%c0] : !two
    %l0 = tgpu.slot %left[%c0] : !halves -> !half
    %r0 = tgpu.slot %right[%c0] : !halves -> !half
    %e0 = tgpu.slot %rope[%c0] : !ropes -> !rope
    %l00 = tgpu.subview %l0 at [0, 0] : !half -> !part
    %l01 = tgpu.subview %l0 at [0, 128] : !half -> !part
    %r00 = tgpu.subview %r0 at [0, 0] : !half -> !part
    %r01 = tgpu.subview %r0 at [0, 128] : !half -> !part
    %qa = tgpu.local_load %l00 : !part -> !q
    tgpu.local_store %qa, %qs : !q, !qs
    %qb = tgpu.local_load %l01 : !part -> !q
    %qc = tgpu.local_load %r00 : !part -> !q
    %qd = tgpu.local_load %r01 : !part -> !q
    %qe = tgpu.local_load %e0 : !rope -> !p
    // Before Q's place is filled again, and before products read the part of Q that is in shared memory.
    tgpu.fence_async
    tgpu.publish %pfull[%c0] : !two
    tgpu.barrier {id = 1 : i32, threads = 128 : i32}
    %l_first = tgpu.slot %left[%c1] : !halves -> !half
    %l1_first = tgpu.subview %l_first at [0, 0] : !half -> !part
    %l2_first = tgpu.subview %l_first at [0, 128] : !half -> !part
    %r_first = tgpu.slot %right[%c1] : !halves -> !half
    %r1_first = tgpu.subview %r_first at [0, 0] : !half -> !part
    %r2_first = tgpu.subview %r_first at [0, 128] : !half -> !part
    %k_first = tgpu.slot %rope[%c1] : !ropes -> !rope
    tgpu.wait %cl[%c1] : !three
    tgpu.wgmma_fence
    %s1_first = tgpu.wgmma %qs, %l1_first, %zero {transpose_b, accumulate = false, mma = #mma} : !qs, !part, !s -> !sp
    %s2_first = tgpu.wgmma %qb, %l2_first, %s1_first {transpose_b, mma = #mma} : !q, !part, !sp -> !sp
    tgpu.wait %cr[%c1] : !three
    %s3_first = tgpu.wgmma %qc, %r1_first, %s2_first {transpose_b, mma = #mma} : !q, !part, !sp -> !sp
    %s4_first = tgpu.wgmma %qd, %r2_first, %s3_first {transpose_b, mma = #mma} : !q, !part, !sp -> !sp
    tgpu.wait %ce[%c1] : !two
    %s5_first = tgpu.wgmma %qe, %k_first, %s4_first {transpose_b, mma = #mma} : !p, !rope, !sp -> !sp
    tgpu.wgmma_commit
    %sn_first = tgpu.wgmma_wait 0, %s5_first : !sp -> !s reads %qb, %qc, %qd, %qe : !q, !q, !q, !p
    %s, %sums = scf.for %g = %c1 to %blocks step %c1 iter_args(%si = %sn_first, %li = %zerosum) -> (!s, !sum) : i32 {
      // P takes the place of the rope keys of its block, which the last product of all four warps has read.
      %e = math.exp2 %si : !s
      %ln = tgpu.accumulate_partial %e axes [1] into %li : !s, !sum -> !sum
      %p = tile.convert %e : !s to !p
      %max = tile.reduce <max> %si axis 1 : !s -> !row
      %grow = math.exp2 %max : !row
      %old = tgpu.slot %rope[%g] : !ropes -> !rope
      tgpu.barrier {id = 1 : i32, threads = 128 : i32}
      tgpu.local_store %p, %old : !p, !rope
      %f = tgpu.slot %factors[%g] : !twofactors -> !factors
      tgpu.local_store %grow, %f : !row, !factors
      tgpu.fence_async
      %next = arith.addi %g, %c1 : i32
      %l = tgpu.slot %left[%next] : !halves -> !half
      %l1 = tgpu.subview %l at [0, 0] : !half -> !part
      %l2 = tgpu.subview %l at [0, 128] : !half -> !part
      %r = tgpu.slot %right[%next] : !halves -> !half
      %r1 = tgpu.subview %r at [0, 0] : !half -> !part
      %r2 = tgpu.subview %r at [0, 128] : !half -> !part
      %k = tgpu.slot %rope[%next] : !ropes -> !rope
      tgpu.wait %cl[%next] : !three
      tgpu.wgmma_fence
      %s1 = tgpu.wgmma %qs, %l1, %zero {transpose_b, accumulate = false, mma = #mma} : !qs, !part, !s -> !sp
      %s2 = tgpu.wgmma %qb, %l2, %s1 {transpose_b, mma = #mma} : !q, !part, !sp -> !sp
      tgpu.wait %cr[%next] : !three
      %s3 = tgpu.wgmma %qc, %r1, %s2 {transpose_b, mma = #mma} : !q, !part, !sp -> !sp
      %s4 = tgpu.wgmma %qd, %r2, %s3 {transpose_b, mma = #mma} : !q, !part, !sp -> !sp
      // The values may start: their products then run beside the next softmax.
      tgpu.publish %pfull[%g] : !two
      tgpu.wait %ce[%next] : !two
      %s5 = tgpu.wgmma %qe, %k, %s4 {transpose_b, mma = #mma} : !p, !rope, !sp -> !sp
      tgpu.wgmma_commit
      %sn = tgpu.wgmma_wait 0, %s5 : !sp -> !s reads %qb, %qc, %qd, %qe : !q, !q, !q, !p
      scf.yield %sn, %ln : !s, !sum
    }
    %e_last = math.exp2 %s : !s
    %ln_last = tgpu.accumulate_partial %e_last axes [1] into %sums : !s, !sum -> !sum
    %p_last = tile.convert %e_last : !s to !p
    %max_last = tile.reduce <max> %s axis 1 : !s -> !row
    %grow_last = math.exp2 %max_last : !row
    %old_last = tgpu.slot %rope[%blocks] : !ropes -> !rope
    tgpu.barrier {id = 1 : i32, threads = 128 : i32}
    tgpu.local_store %p_last, %old_last : !p, !rope
    %f_last = tgpu.slot %factors[%blocks] : !twofactors -> !factors
    tgpu.local_store %grow_last, %f_last : !row, !factors
    tgpu.fence_async
    tgpu.publish %pfull[%blocks] : !two
  } role "left" warps 4, 4 registers 160 {
    %zf = arith.constant 0.0 : f32
    %zero = tile.splat %zf : f32 -> !o1
    tgpu.one_thread attributes {warp = 4 : i32} {
      scf.for %i = %c0 to %c3 step %c1 : i32 {
        tgpu.acquire %cl[%i] : !three
        tgpu.expect %cl[%i] bytes 32768 : !three
        %slot = tgpu.slot %left[%i] : !halves -> !half
        tgpu.tma_load %Kleft to %slot on %cl[%i] {map = 0 : i32} : !gh, !half, !three
      }
    }
    // Q is taken: block 3 goes where it was.
    tgpu.wait %pfull[%c0] : !two
    tgpu.one_thread attributes {warp = 4 : i32} {
      tgpu.expect %cl[%c3] bytes 32768 : !three
      %slot = tgpu.slot %left[%c3] : !halves -> !half
      tgpu.tma_load %Kleft to %slot on %cl[%c3] {map = 0 : i32, tgpu.refill} : !gh, !half, !three
    }
    tgpu.publish %pread[%c0] : !two
    %o = scf.for %g = %c1 to %blocks step %c1 iter_args(%oi = %zero) -> (!o1) : i32 {
      %p = tgpu.slot %rope[%g] : !ropes -> !rope
      %f = tgpu.slot %factors[%g] : !twofactors -> !factors
      %v = tgpu.slot %left[%g] : !halves -> !half
      tgpu.wait %pfull[%g] : !two
      %grow = tgpu.local_load %f : !factors -> !row1
      tgpu.wait %cl[%g] : !three
      tgpu.wgmma_fence
      %op = tgpu.wgmma %p, %v, %oi {mma = #tgpu.mma<wgmma, 64, 256, 16, warps = 1, 1>} : !rope, !half, !o1 -> !tgpu.pending<!o1>
      tgpu.wgmma_commit
      %on = tgpu.wgmma_wait 0, %op : !tgpu.pending<!o1> -> !o1
      tgpu.publish %pread[%g] : !two
      tgpu.barrier {id = 2 : i32, threads = 128 : i32}
      %next = arith.addi %g, %c3 : i32
      tgpu.one_thread attributes {warp = 4 : i32} {
        tgpu.expect %cl[%next] bytes 32768 : !three
        %slot = tgpu.slot %left[%next] : !halves -> !half
        tgpu.tma_load %Kleft to %slot on %cl[%next] {map = 0 : i32, tgpu.refill} : !gh, !half, !three
      }
      scf.yield %on : !o1
    }
  } role "right" warps 8, 4 registers 160 {
    %zf = arith.constant 0.0 : f32
    %zero = tile.splat %zf : f32 -> !o2
    tgpu.one_thread attributes {warp = 8 : i32} {
      scf.for %i = %c0 to %c3 step %c1 : i32 {
        tgpu.acquire %cr[%i] : !three
        tgpu.expect %cr[%i] bytes 32768 : !three
        %slot = tgpu.slot %right[%i] : !halves -> !half
        tgpu.tma_load %Kright to %slot on %cr[%i] {map = 1 : i32} : !gh, !half, !three
      }
      scf.for %i = %c0 to %c2 step %c1 : i32 {
        tgpu.acquire %ce[%i] : !two
        tgpu.expect %ce[%i] bytes 8192 : !two
        %slot = tgpu.slot %rope[%i] : !ropes -> !rope
        tgpu.tma_load %Krope to %slot on %ce[%i] {map = 2 : i32} : !gr, !rope, !two
      }
    }
    // Q is taken: block 3 goes where it was.
    tgpu.wait %pfull[%c0] : !two
    tgpu.one_thread attributes {warp = 8 : i32} {
      tgpu.expect %cr[%c3] bytes 32768 : !three
      %slot = tgpu.slot %right[%c3] : !halves -> !half
      tgpu.tma_load %Kright to %slot on %cr[%c3] {map = 1 : i32, tgpu.refill} : !gh, !half, !three
      tgpu.wait %pread[%c0] : !two
      %rnext = arith.addi %c0, %c2 : i32
      tgpu.expect %ce[%rnext] bytes 8192 : !two
      %rslot = tgpu.slot %rope[%rnext] : !ropes -> !rope
      tgpu.tma_load %Krope to %rslot on %ce[%rnext] {map = 2 : i32, tgpu.refill} : !gr, !rope, !two
    }
    %o = scf.for %g = %c1 to %blocks step %c1 iter_args(%oi = %zero) -> (!o2) : i32 {
      %p = tgpu.slot %rope[%g] : !ropes -> !rope
      %f = tgpu.slot %factors[%g] : !twofactors -> !factors
      %v = tgpu.slot %right[%g] : !halves -> !half
      tgpu.wait %pfull[%g] : !two
      %grow = tgpu.local_load %f : !factors -> !row2
      tgpu.wait %cr[%g] : !three
      tgpu.wgmma_fence
      %op = tgpu.wgmma %p, %v, %oi {mma = #tgpu.mma<wgmma, 64, 256, 16, warps = 1, 1>} : !rope, !half, !o2 -> !tgpu.pending<!o2>
      tgpu.wgmma_commit
      %on = tgpu.wgmma_wait 0, %op : !tgpu.pending<!o2> -> !o2
      tgpu.barrier {id = 3 : i32, threads = 128 : i32}
      %next = arith.addi %g, %c3 : i32
      tgpu.one_thread attributes {warp = 8 : i32} {
        tgpu.expect %cr[%next] bytes 32768 : !three
        %slot = tgpu.slot %right[%next] : !halves -> !half
        tgpu.tma_load %Kright to %slot on %cr[%next] {map = 1 : i32, tgpu.refill} : !gh, !half, !three
        tgpu.wait %pread[%g] : !two
        %rnext = arith.addi %g, %c2 : i32
        tgpu.expect %ce[%rnext] bytes 8192 : !two
        %rslot = tgpu.slot %rope[%rnext] : !ropes -> !rope
        tgpu.tma_load %Krope to %rslot on %ce[%rnext] {map = 2 : i32, tgpu.refill} : !gr, !rope, !two
      }
      scf.yield %on : !o2
    }
  }
  tgpu.return
}
