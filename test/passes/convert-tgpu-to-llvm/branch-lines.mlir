// A branch with results has the line of its condition, not that of what was lowered last in it.
// RUN: tile-opt --convert-tgpu-to-llvm --mlir-print-debuginfo --mlir-print-local-scope %s | FileCheck %s

#one = #tgpu.fragment<"32 reg - lane 1:2:4:8:16 warp -">
!one = tensor<32xf32, #one>
// CHECK-LABEL: llvm.func @branch
// CHECK: llvm.cond_br %{{.*}} loc("k.tile":5:1)
// CHECK: llvm.fmul {{.*}} loc("k.tile":9:1)
tgpu.kernel @branch(%C: !tile.global<?xf32>, %n: i32, %x: f32, %test: i1) attributes {threads = 32 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %a = tile.splat %x : f32 -> !one
  %r = scf.if %test -> (!one) {
    %p = arith.mulf %a, %a : !one loc("k.tile":9:1)
    scf.yield %p : !one loc("k.tile":9:1)
  } else {
    scf.yield %a : !one loc("k.tile":9:1)
  } loc("k.tile":5:1)
  %v = tgpu.view %C extents(%n : i32) strides() : !tile.global<?xf32> -> !tile.global<?xf32>
  %to = tile.slice %v[%c0] sizes [32] : !tile.global<?xf32>, i32 -> !tile.global<32xf32>
  tgpu.store %r, %to : !one, !tile.global<32xf32>
  tgpu.return
}
