// LLVM takes memory behind a noalias argument for the thread's own, which no barrier concerns: only tensors that the kernel does not
// write are that.
// RUN: tile-opt %s --convert-tgpu-to-llvm | FileCheck %s
// CHECK: llvm.func @k(%arg0: !llvm.ptr<1> {llvm.align = 16 : i64, llvm.noalias, llvm.noundef, llvm.readonly}, %arg1: !llvm.ptr<1> {llvm.align = 16 : i64, llvm.noundef},
tgpu.kernel @k(%x: !tile.global<?xf32> {tgpu.align = 16 : i64, tile.name = "X"}, %y: !tile.global<?xf32> {tgpu.align = 16 : i64, tile.name = "Y"}, %n: i32)
    attributes {threads = 32 : i32, target = "sm_90a"} {
  %from = tgpu.view %x extents(%n : i32) strides() : !tile.global<?xf32> -> !tile.global<?xf32>
  %to = tgpu.view %y extents(%n : i32) strides() : !tile.global<?xf32> -> !tile.global<?xf32>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %0 = tile.load %from[%c0 : i32] : !tile.global<?xf32> -> f32
  tile.store %0, %to[%c1 : i32] : f32, !tile.global<?xf32>
  tgpu.barrier
  %1 = tile.load %to[%c1 : i32] : !tile.global<?xf32> -> f32
  tile.store %1, %to[%c0 : i32] : f32, !tile.global<?xf32>
  tgpu.return
}
