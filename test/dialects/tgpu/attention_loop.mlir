// The loop of a fast attention kernel, as tgpu says it: products of two iterations in flight at once, two waits inside
// one stream of element-wise work, the second one placed by `hold`, probabilities that stay in registers, and row sums
// that stay partial until the end. Roles: one thread that loads, two warpgroups that compute 64 rows each.
// RUN: tile-opt %s -o %t
// RUN: tile-opt %t | diff %t -
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-verify-sync))' | FileCheck %s
// RUN: %python %S/../../passes/verify-sync/Inputs/remove_each.py %s

// CHECK: role "load" warps 8, 4 registers 24
// CHECK: role "compute" warps 0, 8 registers 240
// CHECK: scf.for
// CHECK: tgpu.wgmma_fence
// CHECK: tgpu.wgmma_wait 1, %{{.*}}, %{{.*}} -> tensor<128x128xf32, {{.*}}>, !tgpu.pending<
// CHECK: tgpu.wait {{.*}} {tgpu.schedule = #tgpu.stage<1, 6, hold = 37>}
// CHECK: tgpu.wgmma_wait 0, {{.*}} {tgpu.schedule = #tgpu.stage<1, 7, hold = 37>}
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
!g = !tile.global<128x128xf16>
!one = !tgpu.channel<1>
!two = !tgpu.channel<2>

tgpu.kernel @attention(%Q: !g, %K: !g, %V: !g, %O: !g, %blocks: i32, %scale: f32) attributes {
    threads = 256 : i32, block_threads = 384 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
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
      tgpu.tma_load %Q to %q on %cq[%c0] {map = 0 : i32} : !g, !tile, !one
      scf.for %n = %c0 to %blocks step %c1 : i32 {
        tgpu.acquire %ck[%n] : !two
        tgpu.expect %ck[%n] bytes 32768 : !two
        %sk = tgpu.slot %k[%n] : !ring -> !tile
        tgpu.tma_load %K to %sk on %ck[%n] {map = 1 : i32} : !g, !tile, !two
        tgpu.acquire %cv[%n] : !two
        tgpu.expect %cv[%n] bytes 32768 : !two
        %sv = tgpu.slot %v[%n] : !ring -> !tile
        tgpu.tma_load %V to %sv on %cv[%n] {map = 2 : i32} : !g, !tile, !two
      }
    }
  } role "compute" warps 0, 8 registers 240 {
    %zf = arith.constant 0.0 : f32
    %zero = tile.splat %zf : f32 -> !acc
    %factor = tile.splat %scale : f32 -> !acc
    %rowfactor = tile.splat %scale : f32 -> !row

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
    %m0b = tile.broadcast %m0 along [1] : !row -> !acc
    %s0m = arith.subf %s0, %m0b : !acc
    %s0s = arith.mulf %s0m, %factor : !acc
    %e0 = math.exp2 %s0s : !acc
    %none = tgpu.begin_partial -> !sum
    %l0 = tgpu.accumulate_partial %e0 axes [1] into %none : !acc, !sum -> !sum
    %p0 = tile.convert %e0 : !acc to !p
    tgpu.wait %cv[%c0] : !two

    %p, %m, %l, %o = scf.for %n = %c1 to %blocks step %c1
        iter_args(%pi = %p0, %mi = %m0, %li = %l0, %oi = %zero) -> (!p, !row, !sum, !acc) : i32 {
      %before = arith.subi %n, %c1 : i32
      tgpu.wait %ck[%n] {tgpu.schedule = #tgpu.stage<0, 0>} : !two
      %sk = tgpu.slot %k[%n] : !ring -> !tile
      %sv = tgpu.slot %v[%before] : !ring -> !tile
      tgpu.wgmma_fence
      %sp = tgpu.wgmma %q, %sk, %zero {transpose_b, accumulate = false, mma = #tgpu.mma<wgmma, 64, 128, 16, warps = 2, 1>, tgpu.schedule = #tgpu.stage<0, 1>} : !tile, !tile, !acc -> !pending
      tgpu.wgmma_commit
      %op = tgpu.wgmma %pi, %sv, %oi {mma = #tgpu.mma<wgmma, 64, 128, 16, warps = 2, 1>, tgpu.schedule = #tgpu.stage<1, 2>} : !p, !tile, !acc -> !pending
      tgpu.wgmma_commit
      %s, %op1 = tgpu.wgmma_wait 1, %sp, %op : !pending, !pending -> !acc, !pending {tgpu.schedule = #tgpu.stage<0, 3>}
      tgpu.release %ck[%n] : !two
      %mb = tile.reduce <max> %s axis 1 : !acc -> !row
      %mn = arith.maximumf %mi, %mb : !row
      %dm = arith.subf %mi, %mn : !row
      %ds = arith.mulf %dm, %rowfactor : !row
      %grow = math.exp2 %ds : !row
      %mb2 = tile.broadcast %mn along [1] : !row -> !acc
      %shifted = arith.subf %s, %mb2 : !acc
      %scaled = arith.mulf %shifted, %factor : !acc
      %e = math.exp2 %scaled : !acc
      tgpu.wait %cv[%n] {tgpu.schedule = #tgpu.stage<1, 6, hold = 37>} : !two
      %ow = tgpu.wgmma_wait 0, %op1 : !pending -> !acc reads %pi : !p {tgpu.schedule = #tgpu.stage<1, 7, hold = 37>}
      tgpu.release %cv[%before] : !two
      // Sums of a thread's own columns; lanes of a quad are added after the loop.
      %lg = tgpu.scale_partial %li by %grow : !sum, !row -> !sum
      %ln = tgpu.accumulate_partial %e axes [1] into %lg : !acc, !sum -> !sum
      %pn = tile.convert %e : !acc to !p
      %growb = tile.broadcast %grow along [1] : !row -> !acc
      %on = arith.mulf %ow, %growb : !acc
      scf.yield %pn, %mn, %ln, %on : !p, !row, !sum, !acc
    }
    tgpu.release %cq[%c0] : !one

    %last = arith.subi %blocks, %c1 : i32
    %vl = tgpu.slot %v[%last] : !ring -> !tile
    tgpu.wgmma_fence
    %olp = tgpu.wgmma %p, %vl, %o {mma = #tgpu.mma<wgmma, 64, 128, 16, warps = 2, 1>} : !p, !tile, !acc -> !pending
    tgpu.wgmma_commit
    %ol = tgpu.wgmma_wait 0, %olp : !pending -> !acc reads %p : !p
    tgpu.release %cv[%last] : !two
    %parts = tgpu.partial_parts %l axes [1] : !sum -> !parts
    %sums = tile.reduce <sum> %parts axis 1 : !parts -> !row
    %sumsb = tile.broadcast %sums along [1] : !row -> !acc
    %quotient = arith.divf %ol, %sumsb : !acc
    %half = tile.convert %quotient : !acc to !p
    tgpu.store %half, %O {path = #tgpu.path<vector>, bytes = 4 : i32} : !p, !g
  }
  tgpu.return
}
