// Products whose A operand is in registers: the wait that ends one uses the fragment, or LLVM gives its registers away.
// RUN: tile-opt %s -split-input-file -verify-diagnostics --pass-pipeline='builtin.module(tgpu.kernel(tgpu-verify-sync))'

#acc = #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">
!b = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!f = tensor<64x64xf32, #acc>
!h = tensor<64x64xf16, #acc>
!pending = !tgpu.pending<!f>
tgpu.kernel @kept(%zero: !f, %x: !h) attributes {threads = 128 : i32} {
  %a = tgpu.alloc_shared "a" : !b
  tgpu.wgmma_fence
  %0 = tgpu.wgmma %x, %a, %zero {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !h, !b, !f -> !pending
  tgpu.wgmma_commit
  %1 = tgpu.wgmma_wait 0, %0 : !pending -> !f reads %x : !h
  tgpu.return
}

// -----

#acc = #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">
!b = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!f = tensor<64x64xf32, #acc>
!h = tensor<64x64xf16, #acc>
!pending = !tgpu.pending<!f>
tgpu.kernel @dead(%zero: !f, %x: !h) attributes {threads = 128 : i32} {
  %a = tgpu.alloc_shared "a" : !b
  // expected-note @+1 {{the fragment}}
  %y = arith.addf %x, %x : !h
  tgpu.wgmma_fence
  %0 = tgpu.wgmma %y, %a, %zero {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !h, !b, !f -> !pending
  tgpu.wgmma_commit
  // expected-error @+1 {{ends a product without using the fragment that it reads until here}}
  %1 = tgpu.wgmma_wait 0, %0 : !pending -> !f
  tgpu.return
}

// -----

// The wait for the older of two products keeps its own operand; that of the younger one is kept by the wait that ends it.
#acc = #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">
!b = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!f = tensor<64x64xf32, #acc>
!h = tensor<64x64xf16, #acc>
!pending = !tgpu.pending<!f>
tgpu.kernel @two(%zero: !f, %x: !h, %y: !h) attributes {threads = 128 : i32} {
  %a = tgpu.alloc_shared "a" : !b
  tgpu.wgmma_fence
  %0 = tgpu.wgmma %x, %a, %zero {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !h, !b, !f -> !pending
  tgpu.wgmma_commit
  %1 = tgpu.wgmma %y, %a, %zero {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !h, !b, !f -> !pending
  tgpu.wgmma_commit
  %2 = tgpu.wgmma_wait 1, %0 : !pending -> !f reads %x : !h
  // expected-error @+1 {{ends a product without using the fragment that it reads until here}}
  %3 = tgpu.wgmma_wait 0, %1 : !pending -> !f reads %x : !h
  tgpu.return
}

// -----

// Over the back edge: the next iteration writes its operand while the product of this one reads.
#acc = #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">
!b = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!f = tensor<64x64xf32, #acc>
!h = tensor<64x64xf16, #acc>
!pending = !tgpu.pending<!f>
tgpu.kernel @carried(%zero: !f, %x: !h, %n: i32) attributes {threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %a = tgpu.alloc_shared "a" : !b
  %begin = tgpu.wgmma_begin %zero : !f -> !pending
  %r, %last = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %begin, %old = %x) -> (!pending, !h) : i32 {
    // expected-note @+1 {{the fragment}}
    %y = arith.addf %old, %old : !h
    tgpu.wgmma_fence
    %0 = tgpu.wgmma %y, %a, %acc {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !h, !b, !pending -> !pending
    tgpu.wgmma_commit
    %1 = tgpu.wgmma_wait 1, %0 : !pending -> !pending reads %old : !h
    // expected-error @+1 {{begins the next iteration while a product in flight reads registers}}
    scf.yield %1, %y : !pending, !h
  }
  // expected-error @+1 {{ends a product without using the fragment that it reads until here}}
  %2 = tgpu.wgmma_wait 0, %r : !pending -> !f reads %last : !h
  tgpu.return
}

// -----

// What threads write into a slot that TMA fills no channel orders.
!b = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!g = !tile.global<64x64xf16>
!ch = !tgpu.channel<1>
tgpu.kernel @filled(%g: !g, %n: i32, %v: tensor<64x64xf16>) attributes {threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %a = tgpu.alloc_shared "a" : !b
  %ch = tgpu.channel "a" {producers = 1 : i32, consumers = 4 : i32} : !ch
  scf.for %p = %c0 to %n step %c1 : i32 {
    tgpu.one_thread {
      tgpu.acquire %ch[%p] : !ch
      tgpu.expect %ch[%p] bytes 8192 : !ch
      tgpu.tma_load %g to %a on %ch[%p] {map = 0 : i32} : !g, !b, !ch
    }
    tgpu.wait %ch[%p] : !ch
    // expected-note @+1 {{written here}}
    tgpu.local_store %v, %a : tensor<64x64xf16>, !b
    // expected-error @+1 {{lets TMA overwrite a slot of `a` without tgpu.fence_async after threads wrote it}}
    tgpu.release %ch[%p] : !ch
  }
  tgpu.return
}
