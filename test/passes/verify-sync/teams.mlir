// A product by teams: one thread loads for all tiles of its block, two teams of eight warps have every other tile each. A team waits for the turn
// before its own, and hands its own on when it has waited for its last slot; its staging panel is not that of the other.
// RUN: %python %S/Inputs/remove_each.py %s | FileCheck %s
// CHECK: all {{[0-9]+}} removals noticed

// Panels by the number of the tile: those of a team are all the same one, which the store before may still read.
// RUN: sed 's/staging\[.c0\]/staging[%%tile]/; s/tma_store_wait 0 {read} .. before/tma_store_wait 1 {read}/' %s > %t.mlir
// RUN: not tile-opt %t.mlir --pass-pipeline='builtin.module(tgpu.kernel(tgpu-verify-sync))' 2>&1 | FileCheck %s --check-prefix=PANELS
// PANELS: error: 'tgpu.local_store' op

// A barrier of another role with the number of the second team's.
// RUN: sed 's/\(.*tgpu.one_thread attributes {warp = 16 : i32} {\)/    tgpu.barrier {id = 3 : i32, threads = 128 : i32}\n\1/' %s > %t.mlir
// RUN: not tile-opt %t.mlir --pass-pipeline='builtin.module(tgpu.kernel(tgpu-verify-sync))' 2>&1 | FileCheck %s --check-prefix=BARRIER
// BARRIER: error: 'tgpu.barrier' op meets at barrier 3 in another team, but the number is used elsewhere, too

// Who has the turn is not asked, or another team is.
// RUN: sed 's/cmpi eq, .turn, .team/cmpi ne, %%turn, %%team/' %s > %t.mlir
// RUN: not tile-opt %t.mlir --pass-pipeline='builtin.module(tgpu.kernel(tgpu-verify-sync))' 2>&1 | FileCheck %s --check-prefix=TURN
// RUN: sed 's/remui .tile, .c2/remui %%tile, %%n/' %s > %t.mlir
// RUN: not tile-opt %t.mlir --pass-pipeline='builtin.module(tgpu.kernel(tgpu-verify-sync))' 2>&1 | FileCheck %s --check-prefix=TURN
// RUN: sed 's/.turns = tgpu.channel "turns" \(.*\)<2>/%%turns = tgpu.channel "turns" \1<4>/; s/\(turns.*\) : !turns/\1 : !tgpu.channel<4>/' %s > %t.mlir
// RUN: not tile-opt %t.mlir --pass-pipeline='builtin.module(tgpu.kernel(tgpu-verify-sync))' 2>&1 | FileCheck %s --check-prefix=TURN
// One thread hands the turn on for all: those that are behind may wait for the turn before when it comes round again.
// RUN: sed 's/\(tgpu.publish .turns.*\)/tgpu.one_thread { \1 }/; s/producers = 256/producers = 1/' %s > %t.mlir
// RUN: not tile-opt %t.mlir --pass-pipeline='builtin.module(tgpu.kernel(tgpu-verify-sync))' 2>&1 | FileCheck %s --check-prefix=TURN
// TURN: error: 'tgpu.wait' op waits for a phase of `ring` outside of its team's turn: that the phase before is complete only those know who waited for it

#acc = #tgpu.fragment<"128x256 reg 0,1:8,0:0,8:0,16:0,32:0,64:0,128 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0:64,0">
!as = !tgpu.smem<4x128x64xf16, #tgpu.shared<"4x128x64 b16 contig 2 panel 64 swizzle 128">>
!a = !tgpu.smem<128x64xf16, #tgpu.shared<"128x64 b16 contig 1 panel 64 swizzle 128">>
!bs = !tgpu.smem<4x64x256xf16, #tgpu.shared<"4x64x256 b16 contig 2 panel 64 swizzle 128">>
!b = !tgpu.smem<64x256xf16, #tgpu.shared<"64x256 b16 contig 1 panel 64 swizzle 128">>
!two = !tgpu.smem<2x128x64xf16, #tgpu.shared<"2x128x64 b16 contig 2 panel 64 swizzle 128">>
!panel = tensor<128x64xf16>
!acc = tensor<128x256xf32, #acc>
!pending = !tgpu.pending<!acc>
!ga = !tile.global<128x64xf16>
!gb = !tile.global<64x256xf16>
!ch = !tgpu.channel<4>
!turns = !tgpu.channel<2>

tgpu.kernel @teams(%a: !ga, %b: !gb, %c: !ga, %n: i32, %tiles: i32) attributes {threads = 256 : i32, block_threads = 640 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %as = tgpu.alloc_shared "As" : !as
  %bs = tgpu.alloc_shared "Bs" : !bs
  %staging = tgpu.alloc_shared "staging" : !two
  %ch = tgpu.channel "ring" {producers = 1 : i32, consumers = 8 : i32} : !ch
  %turns = tgpu.channel "turns" {producers = 256 : i32, consumers = 0 : i32} : !tgpu.channel<2>
  tgpu.roles role "load" warps 16, 4 {
    tgpu.one_thread attributes {warp = 16 : i32} {
      %end = scf.for %tile = %c0 to %tiles step %c1 iter_args(%base = %c0) -> (i32) : i32 {
        scf.for %k = %c0 to %n step %c1 : i32 {
          %pos = arith.addi %base, %k : i32
          tgpu.acquire %ch[%pos] : !ch
          tgpu.expect %ch[%pos] bytes 49152 : !ch
          %sa = tgpu.slot %as[%pos] : !as -> !a
          tgpu.tma_load %a to %sa on %ch[%pos] {map = 0 : i32} : !ga, !a, !ch
          %sb = tgpu.slot %bs[%pos] : !bs -> !b
          tgpu.tma_load %b to %sb on %ch[%pos] {map = 1 : i32} : !gb, !b, !ch
        }
        %after = arith.addi %base, %n : i32
        scf.yield %after : i32
      }
    }
  } role "compute" warps 0, 8 teams 2 {
    %team = tgpu.team
    %z = arith.constant 0.0 : f32
    %zh = arith.constant 0.0 : f16
    %panel = tile.splat %zh : f16 -> !panel
    %end = scf.for %tile = %c0 to %tiles step %c1 iter_args(%base = %c0) -> (i32) : i32 {
      %point = tgpu.grid_point %tile in(%tiles) : i32
      %turn = arith.remui %tile, %c2 : i32
      %isOwn = arith.cmpi eq, %turn, %team : i32
      %next = scf.if %isOwn -> (i32) {
        %zero = tile.splat %z : f32 -> !acc
        %isBehind = arith.cmpi ne, %tile, %c0 : i32
        scf.if %isBehind {
          %one = arith.subi %tile, %c1 : i32
          tgpu.wait %turns[%one] : !turns
        }
        %begin = tgpu.wgmma_begin %zero : !acc -> !pending
        %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %begin) -> (!pending) : i32 {
          %pos = arith.addi %base, %k : i32
          tgpu.wait %ch[%pos] : !ch
          %sa = tgpu.slot %as[%pos] : !as -> !a
          %sb = tgpu.slot %bs[%pos] : !bs -> !b
          tgpu.wgmma_fence
          %issued = tgpu.wgmma %sa, %sb, %acc {mma = #tgpu.mma<wgmma, 64, 256, 16, warps = 2, 1>} : !a, !b, !pending -> !pending
          tgpu.wgmma_commit
          %kept = tgpu.wgmma_wait 1, %issued : !pending -> !pending
          %later = arith.cmpi sgt, %k, %c0 : i32
          scf.if %later {
            %before = arith.subi %pos, %c1 : i32
            tgpu.release %ch[%before] : !ch
          }
          scf.yield %kept : !pending
        }
        tgpu.publish %turns[%tile] : !turns
        %done = tgpu.wgmma_wait 0, %sum : !pending -> !acc
        %after = arith.addi %base, %n : i32
        %any = arith.cmpi sgt, %n, %c0 : i32
        scf.if %any {
          %last = arith.subi %after, %c1 : i32
          tgpu.release %ch[%last] : !ch
        }
        tgpu.one_thread {
          tgpu.tma_store_wait 0 {read} // before
        }
        tgpu.barrier {id = 2 : i32, threads = 256 : i32}
        %slot = tgpu.slot %staging[%c0] : !two -> !a
        tgpu.local_store %panel, %slot : !panel, !a
        tgpu.fence_async
        tgpu.barrier {id = 2 : i32, threads = 256 : i32}
        tgpu.one_thread {
          tgpu.tma_store %slot to %c {map = 2 : i32} : !a, !ga
          tgpu.tma_store_commit
        }
        scf.yield %after : i32
      } else {
        %skipped = arith.addi %base, %n : i32
        scf.yield %skipped : i32
      }
      scf.yield %next : i32
    }
    tgpu.one_thread {
      tgpu.tma_store_wait 0 {read}
    }
  }
  tgpu.return
}
