// Warp ranges become nested branches on the warp number; setmaxnreg goes down or up from what a thread has at entry
// (65536 / 384 = 168). Rings whose size is no power of two are counted by the loop, not divided in it.
// RUN: tile-opt --convert-tgpu-to-llvm %s | FileCheck %s

#as = #tgpu.shared<"3x64x64 b16 contig 2 panel 64 swizzle 128">
#a = #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">
!as = !tgpu.smem<3x64x64xf16, #as>
!a = !tgpu.smem<64x64xf16, #a>
!ch = !tgpu.channel<3>

// CHECK-LABEL: llvm.func @roles
// CHECK-SAME: nvvm.minctasm = 1 : i32
// CHECK-SAME: nvvm.reqntid = array<i32: 384, 1, 1>
// CHECK: %[[FOUR:.*]] = llvm.mlir.constant(4 : i32)
// CHECK: %[[WARP:.*]] = nvvm.shfl.sync idx
// CHECK: llvm.icmp "ult" %[[WARP]]
// CHECK: nvvm.setmaxregister decrease 40
// CHECK: nvvm.elect.sync
// CHECK-NOT: llvm.urem
// CHECK: nvvm.mbarrier.try_wait
// CHECK: nvvm.mbarrier.arrive.expect_tx
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global
// CHECK-NOT: llvm.urem
// CHECK: nvvm.setmaxregister increase 232
// CHECK-NOT: llvm.urem
// CHECK: nvvm.mbarrier.try_wait
// CHECK: nvvm.mbarrier.arrive
// CHECK: llvm.select
// CHECK: nvvm.barrier id = {{.*}} number_of_threads
// CHECK: llvm.return
tgpu.kernel @roles(%A: !tile.global<?x?xf16>, %M: i32, %K: i32, %kt: i32) attributes {
    threads = 256 : i32, block_threads = 384 : i32, target = "sm_90a", shared_bytes = 24640 : i64,
    tensor_maps = [#tgpu.tensor_map<0, extents = [2, 1], strides = [-2, 2], box = [64, 64], swizzle = 128>]} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %a = tgpu.view %A extents(%M, %K : i32, i32) strides(%K : i32) : !tile.global<?x?xf16> -> !tile.global<?x?xf16>
  %as = tgpu.alloc_shared "As" {offset = 0 : i64} : !as
  %ch = tgpu.channel "As" {producers = 1 : i32, consumers = 8 : i32, offset = 24576 : i64} : !ch
  tgpu.roles
  role "producer" warps 0, 4 registers 40 {
    tgpu.one_thread {
      scf.for %k = %c0 to %kt step %c1 : i32 {
        %kk = arith.muli %k, %c64 : i32
        %s = tile.slice %a[%c0, %kk] sizes [64, 64] : !tile.global<?x?xf16>, i32, i32 -> !tile.global<64x64xf16>
        %slot = tgpu.slot %as[%k] : !as -> !a
        tgpu.acquire %ch[%k] : !ch
        tgpu.expect %ch[%k] bytes 8192 : !ch
        tgpu.tma_load %s to %slot on %ch[%k] {map = 0 : i32, cache = #tile.cache<evict_first>} : !tile.global<64x64xf16>, !a, !ch
      }
    }
  }
  role "consumer" warps 4, 8 registers 232 {
    scf.for %k = %c0 to %kt step %c1 : i32 {
      tgpu.wait %ch[%k] : !ch
      tgpu.release %ch[%k] : !ch
    }
    tgpu.barrier {id = 1 : i32, threads = 256 : i32}
  }
  tgpu.return
}
