// Two blocks that multiply different rows by the same columns load the columns for each other.
// RUN: %python %S/Inputs/remove_each.py %s | FileCheck %s
// CHECK: all {{[0-9]+}} removals noticed

// DEFINE: %{verify} = tile-opt %t.mlir --pass-pipeline='builtin.module(tgpu.kernel(tgpu-verify-sync))'
// What is loaded depends on the block.
// RUN: sed 's/{map = 0 : i32}/{map = 0 : i32, across = array<i32: 0>}/' %s > %t.mlir
// RUN: not %{verify} 2>&1 | FileCheck %s --check-prefix=TILES
// TILES: error: 'tgpu.tma_load' op is `across` dimensions along which blocks load different tiles
// RUN: sed 's/{map = 1 : i32, across = array<i32: 0>}/{map = 1 : i32}/' %s > %t.mlir
// RUN: %{verify} -o /dev/null
// So does how often, whether, or where: a loop, a branch, a position; a number that a loop carries, or an atomic operation gives.
// RUN: sed 's/for .k = .c0 to .n step .c1 : i32/for %%k = %%c0 to %%m step %%c1 : i32/' %s > %t.mlir
// RUN: not %{verify} 2>&1 | FileCheck %s --check-prefix=ALIKE
// RUN: sed 's/addi .base, .n : i32/addi %%base, %%m : i32/' %s > %t.mlir
// RUN: not %{verify} 2>&1 | FileCheck %s --check-prefix=ALIKE
// RUN: sed 's/addi .base, .k : i32/addi %%m, %%k : i32/' %s > %t.mlir
// RUN: not %{verify} 2>&1 | FileCheck %s --check-prefix=ALIKE
// RUN: sed 's/.cluster = tgpu.cluster_id/%%cluster = tgpu.block_id/; s/to .tiles step/to %%m step/' %s > %t.mlir
// RUN: not %{verify} 2>&1 | FileCheck %s --check-prefix=ALIKE
// ALIKE: error: 'tgpu.channel' op has slots that other blocks fill: a loop or a branch around its loads differs between blocks
// The kernel writes what is loaded.
// RUN: sed 's/.c: !ga, .n: i32/%%c: !ga {tile.name = "C"}, %%n: i32/; s/.b: !gb, .c/%%b: !gb {tile.name = "B", tile.may_alias = ["C"]}, %%c/' %s > %t.mlir
// RUN: not %{verify} 2>&1 | FileCheck %s --check-prefix=CHANGES
// CHANGES: error: 'tgpu.channel' op has slots that other blocks fill: blocks load different tiles
// A fence behind acquire is one that the other blocks, who may fill the slot from there on, do not wait for.
// RUN: sed 's/\(.*tgpu.expect .*\)/tgpu.fence_async\n\1/' %s > %t.mlir
// RUN: not %{verify} 2>&1 | FileCheck %s --check-prefix=LATE
// LATE: error: 'tgpu.channel' op has slots that other blocks fill: its ring is written otherwise, too, or loaded without being acquired just before

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

tgpu.kernel @gemm(%wide: !tile.global<?x?xf16>, %b: !gb, %c: !ga, %n: i32, %tiles: i32, %rows: i32)
    attributes {threads = 256 : i32, block_threads = 384 : i32, target = "sm_90a", cluster = array<i32: 2>} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %cluster = tgpu.cluster_id
  %m = tgpu.grid_point %cluster in(%rows) {cluster = array<i32: 2>} : i32
  %as = tgpu.alloc_shared "As" : !as
  %bs = tgpu.alloc_shared "Bs" : !bs
  %staging = tgpu.alloc_shared "staging" : !two
  %ch = tgpu.channel "ring" {producers = 1 : i32, consumers = 8 : i32, across = array<i32: 0>} : !ch
  tgpu.roles role "load" warps 8, 4 registers 24 {
    tgpu.one_thread attributes {warp = 8 : i32} {
      %end = scf.for %tile = %c0 to %tiles step %c1 iter_args(%base = %c0) -> (i32) : i32 {
        scf.for %k = %c0 to %n step %c1 : i32 {
          %pos = arith.addi %base, %k : i32
          tgpu.acquire %ch[%pos] : !ch
          tgpu.expect %ch[%pos] bytes 49152 : !ch
          %sa = tgpu.slot %as[%pos] : !as -> !a
          %a = tile.slice %wide[%m, %k] sizes [128, 64] : !tile.global<?x?xf16>, i32, i32 -> !ga
          tgpu.tma_load %a to %sa on %ch[%pos] {map = 0 : i32} : !ga, !a, !ch
          %sb = tgpu.slot %bs[%pos] : !bs -> !b
          tgpu.tma_load %b to %sb on %ch[%pos] {map = 1 : i32, across = array<i32: 0>} : !gb, !b, !ch
        }
        %after = arith.addi %base, %n : i32
        scf.yield %after : i32
      }
    }
  } role "compute" warps 0, 8 registers 240 {
    %z = arith.constant 0.0 : f32
    %zh = arith.constant 0.0 : f16
    %panel = tile.splat %zh : f16 -> !panel
    %end = scf.for %tile = %c0 to %tiles step %c1 iter_args(%base = %c0) -> (i32) : i32 {
      %point = tgpu.grid_point %tile in(%tiles) : i32
      %zero = tile.splat %z : f32 -> !acc
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
      %done = tgpu.wgmma_wait 0, %sum : !pending -> !acc
      %after = arith.addi %base, %n : i32
      %any = arith.cmpi sgt, %n, %c0 : i32
      scf.if %any {
        %last = arith.subi %after, %c1 : i32
        tgpu.release %ch[%last] : !ch
      }
      tgpu.one_thread {
        tgpu.tma_store_wait 1 {read}
      }
      tgpu.barrier {id = 2 : i32, threads = 256 : i32}
      %slot = tgpu.slot %staging[%tile] : !two -> !a
      tgpu.local_store %panel, %slot : !panel, !a
      tgpu.fence_async
      tgpu.barrier {id = 2 : i32, threads = 256 : i32}
      tgpu.one_thread {
        tgpu.tma_store %slot to %c {map = 2 : i32} : !a, !ga
        tgpu.tma_store_commit
      }
      scf.yield %after : i32
    }
    tgpu.one_thread {
      tgpu.tma_store_wait 0 {read}
    }
  }
  tgpu.return
}
