// Accesses under `@cache`: ld and st with hints for L1 and a policy for L2, cp.async without. What nothing writes
// is read by .nc.
// RUN: tile-opt --convert-tgpu-to-llvm %s | FileCheck %s

// CHECK-LABEL: llvm.func @kernel
!g = !tile.global<?xf32>
!t = !tile.global<512xf32>
!f = tensor<512xf32, #tgpu.fragment<"512 reg 1:2 lane 4:8:16:32:64 warp 128:256">>
!s = !tgpu.smem<512xf32, #tgpu.shared<"512 b32 contig 0 panel 512">>
tgpu.kernel @kernel(%x: !g {tile.name = "X"}, %y: !g {tile.name = "Y"}, %n: i32 {tgpu.divisible = 4 : i64})
    attributes {threads = 128 : i32, target = "sm_80"} {
  %c0 = arith.constant 0 : i32
  %xv = tgpu.view %x extents(%n : i32) strides() : !g -> !g
  %yv = tgpu.view %y extents(%n : i32) strides() : !g -> !g
  %xs = tile.slice %xv[%c0] sizes [512] : !g, i32 -> !t
  %ys = tile.slice %yv[%c0] sizes [512] : !g, i32 -> !t
  // CHECK: createpolicy.fractional.L2::evict_first.b64 $0, 1.0;
  // CHECK: mov.b32 $0, 0; mov.b32 $1, 0; mov.b32 $2, 0; mov.b32 $3, 0; @$5 ld.global.nc.L1::evict_first.L2::cache_hint.v4.b32 {$0,$1,$2,$3}, [$4], $6;", "=&r,=&r,=&r,=&r,l,b,l"
  %a = tgpu.load %xs {bytes = 16 : i32, cache = #tile.cache<evict_first>} : !t -> !f
  // CHECK: @$3 ld.global.L1::no_allocate.v2.b32 {$0,$1}, [$2];", "=&r,=&r,l,b,~{memory}"
  // CHECK: ld.global.L1::no_allocate.v2.b32
  %b = tgpu.load %ys {bytes = 8 : i32, cache = #tile.cache<no_allocate>} : !t -> !f
  %c = arith.addf %a, %b : !f
  // CHECK: createpolicy.fractional.L2::evict_last.b64
  // CHECK: @$2 st.global.L1::evict_last.L2::cache_hint.b32 [$0], $1, $3;", "l,r,b,l,~{memory}"
  tgpu.store %c, %ys {bytes = 4 : i32, cache = #tile.cache<evict_last>} : !f, !t
  // A policy of cp.async is an illegal instruction on an H200.
  // CHECK: nvvm.cp.async.shared.global
  %s = tgpu.alloc_shared {offset = 0 : i64} : !s
  tgpu.cp_async %xs to %s {bytes = 16 : i32, cache = #tile.cache<evict_first>} : !t, !s
  // TMA and 16-byte cp.async pass by L1 anyhow.
  // CHECK: nvvm.cp.async.shared.global
  tgpu.cp_async %xs to %s {bytes = 16 : i32, cache = #tile.cache<no_allocate>} : !t, !s
  tgpu.return
}

// Elements, neighbours, gathers, scatters and atomic operations have it as a fact.
// CHECK-LABEL: llvm.func @elements
!i = !tile.global<?xi32>
!l = tensor<256xi32, #tgpu.fragment<"256 reg 128 lane 1:2:4:8:16 warp 32:64">>
tgpu.kernel @elements(%x: !g {tile.name = "X"}, %y: !i {tile.name = "Y"}, %n: i32 {tgpu.divisible = 4 : i64})
    attributes {threads = 128 : i32, target = "sm_80"} {
  %xv = tgpu.view %x extents(%n : i32) strides() : !g -> !g
  %yv = tgpu.view %y extents(%n : i32) strides() : !i -> !i
  %one = arith.constant 1 : i32
  %at = tgpu.coordinate : !l
  // CHECK: ld.global.L1::evict_first.L2::cache_hint.b32
  %a = tile.load %xv[%one : i32] {tile.cache = #tile.cache<evict_first>} : !g -> f32
  // CHECK: st.global.L1::evict_last.L2::cache_hint.b32
  tile.store %a, %xv[%one : i32] {tile.cache = #tile.cache<evict_last>} : f32, !g
  // CHECK: ld.global.L1::no_allocate.b32
  %b = tgpu.gather %yv[%at] {tile.cache = #tile.cache<no_allocate>} : !i[!l] -> !l
  // CHECK: st.global.L1::evict_first.L2::cache_hint.b32
  tgpu.scatter %b, %yv[%at] {tile.cache = #tile.cache<evict_first>} : !l, !i[!l]
  // CHECK: red.relaxed.gpu.global.add.L2::cache_hint.u32 [$0], $1, $2;", "l,r,l,~{memory}"
  tgpu.atomic <add> %b, %yv[%at] {tile.cache = #tile.cache<evict_last>} : !l, !i[!l]
  // CHECK: red.relaxed.gpu.global.max.s32 [$0], $1;", "l,r,~{memory}"
  tgpu.atomic <max> %b, %yv[%at] {tile.cache = #tile.cache<no_allocate>} : !l, !i[!l]
  tgpu.return
}
