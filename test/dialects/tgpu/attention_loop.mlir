// The loop of a fast attention kernel, as tgpu says it: products of two iterations in flight at once, two waits inside
// one stream of element-wise work, after 37 % of it, probabilities that stay in registers, and row sums that stay partial
// until the end. Roles: one thread that loads, two warpgroups that compute 64 rows each. A block has 128 queries of one head, and
// lengths are multiples of 128, at least 128: Q and O are [heads * queries, 128], K and V [heads * keys, 128]; `scale` is times log2(e).
// test/e2e/attention-loop.test runs it.
// RUN: tile-opt %s -o %t
// RUN: tile-opt %t | diff %t -
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-verify-sync))' | FileCheck %s
// RUN: %python %S/../../passes/verify-sync/Inputs/remove_each.py %s

// CHECK: role "load" warps 8, 4 registers 24
// CHECK: role "compute" warps 0, 8 registers 240
// CHECK: scf.for
// CHECK: tgpu.wgmma_fence
// CHECK: tgpu.wgmma_wait 1, %{{.*}}, %{{.*}} -> tensor<128x128xf32, {{.*}}>, !tgpu.pending<
// CHECK: tgpu.stream {
// CHECK: } at 37 {
// CHECK-NEXT: tgpu.wait
// CHECK-NEXT: tgpu.wgmma_wait 0
// CHECK-NEXT: tgpu.release
// CHECK: partial sum lanes 3 warps 1

#acc = #tgpu.fragment<"128x128 reg 0,1:8,0:0,8:0,16:0,32:0,64 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0:64,0">
#row = #tgpu.fragment<"128 reg 8 lane 0:0:1:2:4 warp 16:32:64">
#sum = #tgpu.fragment<"128 reg 8 lane 0:0:1:2:4 warp 16:32:64 partial sum lanes 3 warps 1">
!tile = !tgpu.smem<128x128xf16, #tgpu.shared<"128x128 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<2x128x128xf16, #tgpu.shared<"2x128x128 b16 contig 2 panel 64 swizzle 128">>
!acc = tensor<128x128xf32, #acc>
!pending = !tgpu.pending<!acc>
!p = tensor<128x128xf16, #acc>
!row = tensor<128xf32, #row>
!sum = tensor<128xf32, #sum>
!parts = tensor<128x4xf32, #tgpu.fragment<"128x4 reg 8,0 lane 0,1:0,2:1,0:2,0:4,0 warp 16,0:32,0:64,0">>
!g = !tile.global<?x128xf16>
!part = !tile.global<128x128xf16>
!one = !tgpu.channel<1>
!two = !tgpu.channel<2>

tgpu.kernel @attention(%Q: !g, %K: !g, %V: !g, %O: !g, %rows: i32, %keyrows: i32, %tiles: i32, %blocks: i32 {tgpu.range = array<i64: 1, 16777216>}, %scale: f32) attributes {
    threads = 256 : i32, block_threads = 384 : i32, target = "sm_90a", fast_math,
    tensor_maps = [#tgpu.tensor_map<0, extents = [-129, 4], strides = [-2, -129], box = [64, 128], swizzle = 128>,
                   #tgpu.tensor_map<1, extents = [-129, 5], strides = [-2, -129], box = [64, 128], swizzle = 128>,
                   #tgpu.tensor_map<2, extents = [-129, 5], strides = [-2, -129], box = [64, 128], swizzle = 128>]} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c128 = arith.constant 128 : i32
  %vq = tgpu.view %Q extents(%rows, %c128 : i32, i32) strides(%c128 : i32) : !g -> !g
  %vk = tgpu.view %K extents(%keyrows, %c128 : i32, i32) strides(%c128 : i32) : !g -> !g
  %vv = tgpu.view %V extents(%keyrows, %c128 : i32, i32) strides(%c128 : i32) : !g -> !g
  %vo = tgpu.view %O extents(%rows, %c128 : i32, i32) strides(%c128 : i32) : !g -> !g
  %id = tgpu.block_id
  %row = arith.muli %id, %c128 : i32
  %head = arith.divui %id, %tiles : i32
  %skipped = arith.muli %head, %blocks : i32
  %last = arith.subi %blocks, %c1 : i32
  %q = tgpu.alloc_shared "Q" : !tile
  %k = tgpu.alloc_shared "K" : !ring
  %v = tgpu.alloc_shared "V" : !ring
  %cq = tgpu.channel "Q" {producers = 1 : i32, consumers = 8 : i32} : !one
  %ck = tgpu.channel "K" {producers = 1 : i32, consumers = 8 : i32} : !two
  %cv = tgpu.channel "V" {producers = 1 : i32, consumers = 8 : i32} : !two
  tgpu.roles role "load" warps 8, 4 registers 24 {
    tgpu.one_thread attributes {warp = 8 : i32} {
      tgpu.acquire %cq[%c0] : !one
      tgpu.expect %cq[%c0] bytes 32768 : !one
      %gq = tile.slice %vq[%row, %c0] sizes [128, 128] : !g, i32, i32 -> !part
      tgpu.tma_load %gq to %q on %cq[%c0] {map = 0 : i32} : !part, !tile, !one
      scf.for %n = %c0 to %blocks step %c1 : i32 {
        %block = arith.addi %skipped, %n : i32
        %key = arith.muli %block, %c128 : i32
        tgpu.acquire %ck[%n] : !two
        tgpu.expect %ck[%n] bytes 32768 : !two
        %sk = tgpu.slot %k[%n] : !ring -> !tile
        %gk = tile.slice %vk[%key, %c0] sizes [128, 128] : !g, i32, i32 -> !part
        tgpu.tma_load %gk to %sk on %ck[%n] {map = 1 : i32} : !part, !tile, !two
        tgpu.acquire %cv[%n] : !two
        tgpu.expect %cv[%n] bytes 32768 : !two
        %sv = tgpu.slot %v[%n] : !ring -> !tile
        %gv = tile.slice %vv[%key, %c0] sizes [128, 128] : !g, i32, i32 -> !part
        tgpu.tma_load %gv to %sv on %cv[%n] {map = 2 : i32} : !part, !tile, !two
      }
    }
  } role "compute" warps 0, 8 registers 240 {
    %zf = arith.constant 0.0 : f32
    %negative = arith.negf %scale : f32
    %zero = tile.splat %zf : f32 -> !acc
    %factor = tile.splat %scale : f32 -> !acc
    %rowfactor = tile.splat %scale : f32 -> !row
    %downfactor = tile.splat %negative : f32 -> !row

    // The first block: its scores alone.
    tgpu.wait %cq[%c0] : !one
    tgpu.wait %ck[%c0] : !two
    %k0 = tgpu.slot %k[%c0] : !ring -> !tile
    tgpu.wgmma_fence
    %s0p = tgpu.wgmma %q, %k0, %zero {transpose_b, accumulate = false, mma = #tgpu.mma<wgmma, 64, 128, 16, warps = 2, 1>} : !tile, !tile, !acc -> !pending
    tgpu.wgmma_commit
    %s0 = tgpu.wgmma_wait 0, %s0p : !pending -> !acc
    tgpu.release %ck[%c0] : !two
    %m0 = tile.reduce <max> %s0 axis 1 : !acc -> !row
    %d0 = arith.mulf %m0, %downfactor : !row
    %d0b = tile.broadcast %d0 along [1] : !row -> !acc
    %s0s = math.fma %s0, %factor, %d0b : !acc
    %e0 = math.exp2 %s0s fastmath<afn> : !acc
    %none = tgpu.begin_partial -> !sum
    %l0 = tgpu.accumulate_partial %e0 axes [1] into %none : !acc, !sum -> !sum
    %p0 = tile.convert %e0 : !acc to !p
    tgpu.wait %cv[%c0] : !two

    %p, %m, %l, %o = scf.for %n = %c1 to %blocks step %c1
        iter_args(%pi = %p0, %mi = %m0, %li = %l0, %oi = %zero) -> (!p, !row, !sum, !acc) : i32 {
      %before = arith.subi %n, %c1 : i32
      tgpu.wait %ck[%n] : !two
      %sk = tgpu.slot %k[%n] : !ring -> !tile
      %sv = tgpu.slot %v[%before] : !ring -> !tile
      tgpu.wgmma_fence
      %sp = tgpu.wgmma %q, %sk, %zero {transpose_b, accumulate = false, mma = #tgpu.mma<wgmma, 64, 128, 16, warps = 2, 1>} : !tile, !tile, !acc -> !pending
      tgpu.wgmma_commit
      %op = tgpu.wgmma %pi, %sv, %oi {mma = #tgpu.mma<wgmma, 64, 128, 16, warps = 2, 1>} : !p, !tile, !acc -> !pending
      tgpu.wgmma_commit
      %s, %op1 = tgpu.wgmma_wait 1, %sp, %op : !pending, !pending -> !acc, !pending
      tgpu.release %ck[%n] : !two
      %mb = tile.reduce <max> %s axis 1 : !acc -> !row
      %mn = arith.maxnumf %mi, %mb : !row
      %dn = arith.mulf %mn, %downfactor : !row
      %ds = math.fma %mi, %rowfactor, %dn : !row
      %grow = math.exp2 %ds fastmath<afn> : !row
      %e, %ow = tgpu.stream {
        %dnb = tile.broadcast %dn along [1] : !row -> !acc
        %scaled = math.fma %s, %factor, %dnb : !acc
        %weights = math.exp2 %scaled fastmath<afn> : !acc
        tgpu.yield %weights : !acc
      } at 37 {
        tgpu.wait %cv[%n] : !two
        %done = tgpu.wgmma_wait 0, %op1 : !pending -> !acc reads %pi : !p
        tgpu.release %cv[%before] : !two
        tgpu.yield %done : !acc
      } : !acc, !acc
      // Sums of a thread's own columns; lanes of a quad are added after the loop.
      %lg = tgpu.scale_partial %li by %grow : !sum, !row -> !sum
      %ln = tgpu.accumulate_partial %e axes [1] into %lg : !acc, !sum -> !sum
      %pn = tile.convert %e : !acc to !p
      %growb = tile.broadcast %grow along [1] : !row -> !acc
      %on = arith.mulf %ow, %growb : !acc
      scf.yield %pn, %mn, %ln, %on : !p, !row, !sum, !acc
    }
    tgpu.release %cq[%c0] : !one

    %vl = tgpu.slot %v[%last] : !ring -> !tile
    tgpu.wgmma_fence
    %olp = tgpu.wgmma %p, %vl, %o {mma = #tgpu.mma<wgmma, 64, 128, 16, warps = 2, 1>} : !p, !tile, !acc -> !pending
    tgpu.wgmma_commit
    %ol = tgpu.wgmma_wait 0, %olp : !pending -> !acc reads %p : !p
    tgpu.release %cv[%last] : !two
    %parts = tgpu.partial_parts %l axes [1] : !sum -> !parts
    %sums = tile.reduce <sum> %parts axis 1 : !parts -> !row
    %sumsb = tile.broadcast %sums along [1] : !row -> !acc
    %quotient = arith.divf %ol, %sumsb fastmath<afn> : !acc
    %half = tile.convert %quotient : !acc to !p
    %go = tile.slice %vo[%row, %c0] sizes [128, 128] : !g, i32, i32 -> !part
    tgpu.store %half, %go {path = #tgpu.path<vector>, bytes = 4 : i32} : !p, !part
  }
  tgpu.return
}
