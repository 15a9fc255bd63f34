// Loops and copies that miss what `@require` asks for are errors.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-plan-pipeline))' -verify-diagnostics -split-input-file

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
tgpu.kernel @stages(%a: !g {tgpu.align = 16 : i64}, %n: i32 {tgpu.divisible = 8 : i64}, %z: !acc, %q: i1) attributes {threads = 128 : i32, target = "sm_86"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %v = tgpu.view %a extents(%n, %n : i32, i32) strides(%n : i32) : !g -> !g
  %s = tgpu.alloc_shared "S" : !s
  %o = tgpu.alloc_shared "O" : !tgpu.smem<10x64x64xf16>
  // expected-remark@+2 {{pipelined loop has 2 stages, not 3}}
  // expected-error@+1 {{`stages` is required, but not achieved: only 2 of 3 stages fit shared memory [require]}}
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %z) -> (!acc) : i32 {
    %u = tgpu.local_load %o : !tgpu.smem<10x64x64xf16> -> tensor<10x64x64xf16>
    %t = tile.slice %v[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
    tgpu.copy %t to %s {path = #tgpu.path<cp_async>, bytes = 16 : i32} : !t, !s
    %d = tgpu.fma %s, %s, %c : !s, !s, !acc -> !acc
    scf.yield %d : !acc
  } {tile.stages = 3 : i32, tile.require = ["stages"]}
  tgpu.return
}

// -----

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
tgpu.kernel @pipelined(%a: !g {tgpu.align = 16 : i64}, %n: i32 {tgpu.divisible = 8 : i64}, %z: !acc, %q: i1) attributes {threads = 128 : i32, target = "sm_86"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %v = tgpu.view %a extents(%n, %n : i32, i32) strides(%n : i32) : !g -> !g
  %s = tgpu.alloc_shared "S" : !s
  // expected-error@+1 {{`pipelined` is required, but not achieved: it moves by loads and stores [require]}}
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %z) -> (!acc) : i32 {
    %t = tile.slice %v[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
    tgpu.copy %t to %s {path = #tgpu.path<vector>, bytes = 16 : i32} : !t, !s
    %d = tgpu.fma %s, %s, %c : !s, !s, !acc -> !acc
    scf.yield %d : !acc
  } {tile.stages = 3 : i32, tile.require = ["pipelined"]}
  tgpu.return
}

// -----

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
tgpu.kernel @one_stage(%a: !g {tgpu.align = 16 : i64}, %n: i32 {tgpu.divisible = 8 : i64}, %z: !acc, %q: i1) attributes {threads = 128 : i32, target = "sm_86"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %v = tgpu.view %a extents(%n, %n : i32, i32) strides(%n : i32) : !g -> !g
  %s = tgpu.alloc_shared "S" : !s
  // expected-error@+1 {{`pipelined` is required, but not achieved: one stage overlaps nothing [require]}}
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %z) -> (!acc) : i32 {
    %t = tile.slice %v[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
    tgpu.copy %t to %s {path = #tgpu.path<cp_async>, bytes = 16 : i32} : !t, !s
    %d = tgpu.fma %s, %s, %c : !s, !s, !acc -> !acc
    scf.yield %d : !acc
  } {tile.stages = 1 : i32, tile.require = ["pipelined"]}
  tgpu.return
}

// -----

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
tgpu.kernel @tma(%a: !g {tgpu.align = 16 : i64}, %n: i32 {tgpu.divisible = 8 : i64}, %z: !acc) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %v = tgpu.view %a extents(%n, %n : i32, i32) strides(%n : i32) : !g -> !g
  %s = tgpu.alloc_shared "S" : !s
  scf.execute_region {
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %z) -> (!acc) : i32 {
    %t = tile.slice %v[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
    // expected-error@+1 {{`tma` is required, but not achieved: not all copies of its loop can use TMA [require]}}
    tgpu.copy %t to %s {path = #tgpu.path<tma>, bytes = 16 : i32, require = ["tma"]} : !t, !s
    %d = tgpu.fma %s, %s, %c : !s, !s, !acc -> !acc
    scf.yield %d : !acc
  } {tile.stages = 3 : i32}
  scf.yield
  }
  tgpu.return
}
