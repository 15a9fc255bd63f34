// Two tensors of which one may be the other: neither is `noalias` or `readonly`, so that no load of the one moves across a
// store to the other or goes through the read-only cache. The third tensor stays what it was.
// RUN: tile-opt --convert-tgpu-to-llvm %s | FileCheck %s

// CHECK-LABEL: llvm.func @kernel
// CHECK-SAME: (%arg0: !llvm.ptr<1> {llvm.align = 16 : i64, llvm.noundef},
// CHECK-SAME: %arg1: !llvm.ptr<1> {llvm.align = 16 : i64, llvm.noundef},
// CHECK-SAME: %arg2: !llvm.ptr<1> {llvm.align = 16 : i64, llvm.noalias, llvm.noundef, llvm.readonly}
!g = !tile.global<?xf32>
!f = tensor<256xf32, #tgpu.fragment<"256 reg 1 lane 2:4:8:16:32 warp 64:128">>
tgpu.kernel @kernel(%x: !g {tile.name = "X"}, %y: !g {tile.name = "Y", tile.may_alias = ["X"]}, %z: !g {tile.name = "Z"}, %n: i32)
    attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %xv = tgpu.view %x extents(%n : i32) strides() : !g -> !g
  %yv = tgpu.view %y extents(%n : i32) strides() : !g -> !g
  %zv = tgpu.view %z extents(%n : i32) strides() : !g -> !g
  %xs = tile.slice %xv[%c0] sizes [256] : !g, i32 -> !tile.global<256xf32>
  %ys = tile.slice %yv[%c0] sizes [256] : !g, i32 -> !tile.global<256xf32>
  %zs = tile.slice %zv[%c0] sizes [256] : !g, i32 -> !tile.global<256xf32>
  %a = tgpu.load %xs : !tile.global<256xf32> -> !f
  %b = tgpu.load %zs : !tile.global<256xf32> -> !f
  %c = arith.addf %a, %b : !f
  tgpu.store %c, %ys : !f, !tile.global<256xf32>
  tgpu.return
}

// The one that is only read may say it as well.
// CHECK-LABEL: llvm.func @reader
// CHECK-SAME: (%arg0: !llvm.ptr<1> {llvm.align = 16 : i64, llvm.noundef}, %arg1: !llvm.ptr<1> {llvm.align = 16 : i64, llvm.noundef}, %arg2: i32
tgpu.kernel @reader(%x: !g {tile.name = "X", tile.may_alias = ["Y"]}, %y: !g {tile.name = "Y"}, %n: i32)
    attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %xv = tgpu.view %x extents(%n : i32) strides() : !g -> !g
  %yv = tgpu.view %y extents(%n : i32) strides() : !g -> !g
  %xs = tile.slice %xv[%c0] sizes [256] : !g, i32 -> !tile.global<256xf32>
  %ys = tile.slice %yv[%c0] sizes [256] : !g, i32 -> !tile.global<256xf32>
  %a = tgpu.load %xs : !tile.global<256xf32> -> !f
  tgpu.store %a, %ys : !f, !tile.global<256xf32>
  tgpu.return
}
