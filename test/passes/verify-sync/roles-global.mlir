// Roles touch global memory apart from each other, at any of their iterations.
// RUN: tile-opt %s -split-input-file -verify-diagnostics --pass-pipeline='builtin.module(tgpu.kernel(tgpu-verify-sync))'

#acc = #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">
#late = #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0 from 4">
!f = tensor<64x64xf32, #acc>
!l = tensor<64x64xf32, #late>
!g = !tile.global<?x128xf32>
!t = !tile.global<64x64xf32>
// Two roles store beside each other, at whatever row, and each in its own view of the tensor.
tgpu.kernel @roles_apart(%g: !g, %n: i32) attributes {threads = 128 : i32, block_threads = 256 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %c128 = arith.constant 128 : i32
  %zero = arith.constant 0.0 : f32
  tgpu.roles role "first" warps 0, 4 {
    %x = tile.splat %zero : f32 -> !f
    %v = tgpu.view %g extents(%n, %c128 : i32, i32) strides(%c128 : i32) : !g -> !g
    scf.for %i = %c0 to %n step %c1 : i32 {
      %r = arith.muli %i, %c64 : i32
      %s = tile.slice %v[%r, %c0] sizes [64, 64] : !g, i32, i32 -> !t
      tgpu.store %x, %s {bytes = 4 : i32, path = #tgpu.path<vector>} : !f, !t
    }
  } role "second" warps 4, 4 {
    %x = tile.splat %zero : f32 -> !l
    %v = tgpu.view %g extents(%n, %c128 : i32, i32) strides(%c128 : i32) : !g -> !g
    scf.for %i = %c0 to %n step %c1 : i32 {
      %r = arith.muli %i, %c64 : i32
      %s = tile.slice %v[%r, %c64] sizes [64, 64] : !g, i32, i32 -> !t
      tgpu.store %x, %s {bytes = 4 : i32, path = #tgpu.path<vector>} : !l, !t
    }
  }
  tgpu.return
}

// -----

#acc = #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">
#late = #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0 from 4">
!f = tensor<64x64xf32, #acc>
!l = tensor<64x64xf32, #late>
!g = !tile.global<?x128xf32>
!t = !tile.global<64x64xf32>
// In rows that another iteration of the other role stores to.
tgpu.kernel @roles_meet(%g: !g, %n: i32) attributes {threads = 128 : i32, block_threads = 256 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %c128 = arith.constant 128 : i32
  %zero = arith.constant 0.0 : f32
  tgpu.roles role "first" warps 0, 4 {
    %x = tile.splat %zero : f32 -> !f
    %v = tgpu.view %g extents(%n, %c128 : i32, i32) strides(%c128 : i32) : !g -> !g
    scf.for %i = %c0 to %n step %c1 : i32 {
      %r = arith.muli %i, %c64 : i32
      %s = tile.slice %v[%r, %c0] sizes [64, 64] : !g, i32, i32 -> !t
      // expected-note @+1 {{by the other role here}}
      tgpu.store %x, %s {bytes = 4 : i32, path = #tgpu.path<vector>} : !f, !t
    }
  } role "second" warps 4, 4 {
    %x = tile.splat %zero : f32 -> !l
    %v = tgpu.view %g extents(%n, %c128 : i32, i32) strides(%c128 : i32) : !g -> !g
    scf.for %i = %c0 to %n step %c1 : i32 {
      %r = arith.muli %i, %c64 : i32
      %q = arith.addi %r, %c64 : i32
      %s = tile.slice %v[%q, %c0] sizes [64, 64] : !g, i32, i32 -> !t
      // expected-error @+1 {{touches global memory that another role touches, too: nothing orders them}}
      tgpu.store %x, %s {bytes = 4 : i32, path = #tgpu.path<vector>} : !l, !t
    }
  }
  tgpu.return
}
