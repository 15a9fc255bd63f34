// A fragment that does not divide into panels is stored from registers, with a remark.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-lower-copies))' -verify-diagnostics -split-input-file | FileCheck %s

!f = tensor<64x32xf16, #tgpu.fragment<"64x32 reg 0,1:8,0:0,8:0,16 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<?x?xf16>
// CHECK-LABEL: tgpu.kernel @narrow
// CHECK: tgpu.store {{.*}} path = #tgpu.path<vector>
// CHECK-NOT: tma_store
// CHECK: tgpu.return
tgpu.kernel @narrow(%a: !g {tgpu.align = 16 : i64}, %m: i32, %n: i32 {tgpu.divisible = 8 : i64}, %f: !f) attributes {threads = 128 : i32, target = "sm_90a"} {
  %v = tgpu.view %a extents(%m, %n : i32, i32) strides(%n : i32) : !g -> !g
  %t = tile.slice %v[%m, %n] sizes [64, 32] : !g, i32, i32 -> !tile.global<64x32xf16>
  // expected-remark@+1 {{copy stores from registers, not by TMA: its columns are not multiples of a panel of 64}}
  tgpu.store %f, %t {path = #tgpu.path<tma>, bytes = 16 : i32} : !f, !tile.global<64x32xf16>
  tgpu.return
}

// -----

// Two warpgroups side by side: a panel is one's alone.
!f = tensor<64x128xf16, #tgpu.fragment<"64x128 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0:0,64">>
!g = !tile.global<?x?xf16>
// CHECK-LABEL: tgpu.kernel @columns
// CHECK: tgpu.store {{.*}} path = #tgpu.path<vector>
tgpu.kernel @columns(%a: !g {tgpu.align = 16 : i64}, %m: i32, %n: i32 {tgpu.divisible = 8 : i64}, %f: !f) attributes {threads = 256 : i32, target = "sm_90a"} {
  %v = tgpu.view %a extents(%m, %n : i32, i32) strides(%n : i32) : !g -> !g
  %t = tile.slice %v[%m, %n] sizes [64, 128] : !g, i32, i32 -> !tile.global<64x128xf16>
  // expected-remark@+1 {{copy stores from registers, not by TMA: a panel of columns is not the same registers in every thread}}
  tgpu.store %f, %t {path = #tgpu.path<tma>, bytes = 16 : i32} : !f, !tile.global<64x128xf16>
  tgpu.return
}
