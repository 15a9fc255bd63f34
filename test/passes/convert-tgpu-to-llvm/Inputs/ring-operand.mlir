// A product whose first operand is a slot of a ring, in a loop around the one that multiplies.
#acc = #tgpu.fragment<"128x64 reg 0,1:8,0:0,8:0,16:0,32:64,0 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">
!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<2x128x64xf16, #tgpu.shared<"2x128x64 b16 contig 2 panel 64 swizzle 128">>
!acc = tensor<128x64xf32, #acc>
!a = !tgpu.smem<128x64xf16, #tgpu.shared<"128x64 b16 contig 1 panel 64 swizzle 128">>
!g = !tile.global<?x?xf32>
tgpu.kernel @ring(%C: !g, %n: i32, %m: i32) attributes {threads = 128 : i32, target = "sm_90a", shared_bytes = 40960 : i64} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %as = tgpu.alloc_shared {offset = 0 : i64} : !ring
  %b = tgpu.alloc_shared {offset = 32768 : i64} : !s
  %z = arith.constant dense<0.0> : !acc
  %c = tgpu.view %C extents(%m, %n : i32, i32) strides(%n : i32) : !g -> !g
  scf.for %i = %c0 to %m step %c1 : i32 {
    %a = tgpu.slot %as[%i] : !ring -> !a
    %r = scf.for %j = %c0 to %n step %c1 iter_args(%x = %z) -> (!acc) : i32 {
      tgpu.wgmma_fence
      %p = tgpu.wgmma %a, %b, %x {transpose_b, mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !a, !s, !acc -> !tgpu.pending<!acc>
      tgpu.wgmma_commit
      %d = tgpu.wgmma_wait 0, %p : !tgpu.pending<!acc> -> !acc
      scf.yield %d : !acc
    }
    %d = tile.slice %c[%i, %c0] sizes [128, 64] : !g, i32, i32 -> !tile.global<128x64xf32>
    tgpu.store %r, %d {bytes = 4 : i32} : !acc, !tile.global<128x64xf32>
  }
  tgpu.return
}
