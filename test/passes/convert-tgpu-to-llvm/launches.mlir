// Launches that overlap. What an earlier one may still write is neither `noalias` nor `readonly`: LLVM would load it by .nc, and in
// front of the wait.
// RUN: tile-opt %s --convert-tgpu-to-llvm | FileCheck %s

// CHECK-LABEL: llvm.func @middle(
// CHECK-SAME: %{{[a-z0-9]+}}: !llvm.ptr<1> {llvm.align = 16 : i64, llvm.noundef},
// CHECK-SAME: %{{[a-z0-9]+}}: !llvm.ptr<1> {llvm.align = 16 : i64, llvm.noalias, llvm.noundef, llvm.readonly}
// CHECK: nvvm.griddepcontrol {{ ?}}launch_dependents
// CHECK-NOT: ld.global
// CHECK: nvvm.griddepcontrol {{ ?}}wait
// CHECK: llvm.inline_asm has_side_effects {{.*}}ld.global.b32 {{.*}}~{memory}"
// CHECK: llvm.inline_asm asm_dialect {{.*}}ld.global.b32
// CHECK: st.global
tgpu.kernel @middle(%w: !tile.global<64xf32> {tgpu.written_before}, %x: !tile.global<64xf32>, %y: !tile.global<64xf32>, %i: i32)
    attributes {threads = 32 : i32, target = "sm_90a", precedes, follows} {
  tgpu.launch_dependents
  %e = arith.constant 64 : i32
  %vw = tgpu.view %w extents(%e : i32) strides() : !tile.global<64xf32> -> !tile.global<64xf32>
  %vx = tgpu.view %x extents(%e : i32) strides() : !tile.global<64xf32> -> !tile.global<64xf32>
  %vy = tgpu.view %y extents(%e : i32) strides() : !tile.global<64xf32> -> !tile.global<64xf32>
  tgpu.wait_for_launches
  %a = tile.load %vw[%i : i32] : !tile.global<64xf32> -> f32
  %b = tile.load %vx[%i : i32] : !tile.global<64xf32> -> f32
  %c = arith.addf %a, %b : f32
  tile.store %c, %vy[%i : i32] : f32, !tile.global<64xf32>
  tgpu.return
}
