// Atomic operations: one instruction where there is one, `red` where nobody asks for the old value, else a loop around compare
// and exchange. Order and scope are in the name of each.
// RUN: tile-opt --convert-tgpu-to-llvm %s | FileCheck %s

!g = !tile.global<?xi32>
!f = !tile.global<?xf32>
!h = !tile.global<?xf16>
!b = !tile.global<?xbf16>
#s = #tgpu.shared<"64 b32 contig 0 panel 64">
!s = !tgpu.smem<64xi32, #s>
!one = !tgpu.smem<1xi32, #tgpu.shared<"1 b32 contig 0 panel 1">>
#l = #tgpu.fragment<"512 reg 1:2:4 lane 8:16:32:64:128 warp 256">

// In block code one thread runs it, and what it returns goes to shared memory.
// CHECK-LABEL: llvm.func @block
// CHECK: llvm.icmp "eq"
// CHECK: llvm.inline_asm has_side_effects asm_dialect = att "red.relaxed.gpu.global.add.u32 [$0], $1;", "l,r,~{memory}"
// CHECK: "atom.acq_rel.gpu.global.add.u32 $0, [$1], $2;", "=r,l,r,~{memory}"
// CHECK: llvm.store {{.*}} !llvm.ptr<3>
// CHECK: "red.relaxed.gpu.global.max.u32 [$0], $1;"
// CHECK: "red.relaxed.cta.shared.min.s32 [$0], $1;", "r,r,~{memory}"
tgpu.kernel @block(%p: !g, %n: i32, %x: i32) attributes {threads = 32 : i32, target = "sm_80"} {
  %v = tgpu.view %p extents(%n : i32) strides() : !g -> !g
  %sm = tgpu.alloc_shared {offset = 0 : i64} : !s
  %old = tgpu.alloc_shared {offset = 256 : i64} : !one
  tgpu.atomic <add> %x, %v[%x] : i32, !g[i32]
  tgpu.atomic <add> %x, %v[%x] old %old {order = #tile.order<acq_rel>} : i32, !g[i32] old !one
  tgpu.atomic <max> %x, %v[%x] {is_unsigned} : i32, !g[i32]
  tgpu.atomic <min> %x, %sm[%x] : i32, !s[i32]
  tgpu.return
}

// Each thread of a region runs it. bf16 is added by an instruction from sm_90 on, extremes of floats by a loop.
// CHECK-LABEL: llvm.func @region
// CHECK-NOT: llvm.icmp "eq"
// CHECK: "atom.relaxed.gpu.global.cas.b32 $0, [$1], $2, $3;", "=r,l,r,r,~{memory}"
// CHECK: "red.relaxed.gpu.global.add.noftz.f16 [$0], $1;", "l,h,~{memory}"
// CHECK: "ld.relaxed.gpu.global.b16 $0, [$1];"
// CHECK: llvm.fadd {{.*}} : bf16
// CHECK: "atom.relaxed.gpu.global.cas.b16 $0, [$1], $2, $3;"
// CHECK: llvm.cond_br
// CHECK: "ld.relaxed.gpu.global.b32 $0, [$1];"
// CHECK: llvm.intr.minnum
// CHECK: "atom.relaxed.gpu.global.cas.b32 $0, [$1], $2, $3;"
tgpu.kernel @region(%p: !g, %q: !f, %r: !h, %t: !b, %n: i32, %x: i32, %y: f32, %z: f16, %w: bf16) attributes {threads = 32 : i32, target = "sm_80"} {
  %v = tgpu.view %p extents(%n : i32) strides() : !g -> !g
  %f = tgpu.view %q extents(%n : i32) strides() : !f -> !f
  %h = tgpu.view %r extents(%n : i32) strides() : !h -> !h
  %b = tgpu.view %t extents(%n : i32) strides() : !b -> !b
  tile.threads [32] {
  ^bb0(%i: i32):
    %0 = tgpu.atomic <exchange> %x expecting %i, %v[%i] : i32 expecting i32, !g[i32] -> i32
    tgpu.atomic <add> %z, %h[%0] : f16, !h[i32]
    tgpu.atomic <add> %w, %b[%0] : bf16, !b[i32]
    tgpu.atomic <min> %y, %f[%0] : f32, !f[i32]
  }
  tgpu.return
}

// Neighbours by one instruction, as wide as they are aligned; one by one where the tile ends among them.
// CHECK-LABEL: llvm.func @tile
// CHECK: "red.relaxed.gpu.global.add.v4.f32 [$0], {$1,$2,$3,$4};", "l,f,f,f,f,~{memory}"
// CHECK: "red.relaxed.gpu.global.add.f32 [$0], $1;"
// CHECK: "red.relaxed.gpu.global.add.noftz.v4.f16x2 [$0], {$1,$2,$3,$4};", "l,r,r,r,r,~{memory}"
// CHECK: "red.relaxed.gpu.global.add.noftz.f16x2 [$0], $1;", "l,r,~{memory}"
tgpu.kernel @tile(%q: !f {tgpu.align = 16 : i64}, %r: !h {tgpu.align = 16 : i64}, %n: i32, %e: f32, %d: f16) attributes {threads = 64 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %x = tile.splat %e : f32 -> tensor<512xf32, #l>
  %y = tile.splat %d : f16 -> tensor<512xf16, #l>
  %f = tgpu.view %q extents(%n : i32) strides() : !f -> !f
  %h = tgpu.view %r extents(%n : i32) strides() : !h -> !h
  %0 = tile.slice %f[%c0] sizes [512] : !f, i32 -> !tile.global<512xf32>
  %1 = tile.slice %h[%c0] sizes [512] : !h, i32 -> !tile.global<512xf16>
  tgpu.atomic_tile <add> %x, %0 {bytes = 16 : i32} : tensor<512xf32, #l>, !tile.global<512xf32>
  tgpu.atomic_tile <add> %y, %1 {bytes = 16 : i32, tgpu.in_bounds = array<i1: true>} : tensor<512xf16, #l>, !tile.global<512xf16>
  tgpu.atomic_tile <add> %y, %1 {bytes = 4 : i32, tgpu.in_bounds = array<i1: true>} : tensor<512xf16, #l>, !tile.global<512xf16>
  tgpu.return
}
