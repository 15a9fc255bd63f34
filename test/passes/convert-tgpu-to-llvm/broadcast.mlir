// A row statistic over its rows costs nothing: each thread uses the value it holds. Partial sums are scaled lane by lane.
// RUN: tile-opt %s --convert-tgpu-to-llvm | FileCheck %s

#acc = #tgpu.fragment<"64x16 reg 0,1:8,0:0,8 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">
!acc = tensor<64x16xf32, #acc>
!row = tensor<64xf32, #tgpu.fragment<"64 reg 8 lane 0:0:1:2:4 warp 16:32">>
!sum = tensor<64xf32, #tgpu.fragment<"64 reg 8 lane 0:0:1:2:4 warp 16:32 partial sum lanes 3 warps 1">>
!g = !tile.global<64x16xf32>
// CHECK-LABEL: llvm.func @broadcast
// CHECK-NOT: shfl.sync bfly
// CHECK: llvm.fmul
// CHECK: st.global.v2.b32
tgpu.kernel @broadcast(%A: !g, %C: !g, %f: f32) attributes {threads = 128 : i32, target = "sm_90a", shared_bytes = 0 : i64} {
  %c16 = arith.constant 16 : i32
  %c64 = arith.constant 64 : i32
  %a = tgpu.view %A extents(%c64, %c16 : i32, i32) strides(%c16 : i32) : !g -> !g
  %c = tgpu.view %C extents(%c64, %c16 : i32, i32) strides(%c16 : i32) : !g -> !g
  %x = tgpu.load %a {bytes = 8 : i32} : !g -> !acc
  %r = tile.splat %f : f32 -> !row
  %s = tgpu.begin_partial -> !sum
  %p = tgpu.scale_partial %s by %r : !sum, !row -> !sum
  %q = tgpu.scale_partial %p by %r : !sum, !row -> !sum
  %b = tile.broadcast %r along [1] : !row -> !acc
  %y = arith.mulf %x, %b : !acc
  tgpu.store %y, %c {path = #tgpu.path<vector>, bytes = 8 : i32} : !acc, !g
  tgpu.return
}
