// With warps that load, the others store small results from their registers: 16 bytes a lane, after lanes have changed parts of
// their rows. Large ones go through shared memory unless one exchange is enough, and so do those of kernels with one role.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-lower-copies))' -verify-diagnostics | FileCheck %s

#acc = #tgpu.fragment<"128x128 reg 0,1:8,0:0,8:0,16:0,32:0,64 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0:64,0">
#wide = #tgpu.fragment<"128x256 reg 0,1:8,0:0,8:0,16:0,32:0,64:0,128 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0:64,0">
!f = tensor<128x128xf16, #acc>
!s = tensor<128x128xf32, #acc>
!w = tensor<128x256xf16, #wide>
!v = !tile.global<?x?xf16>
!vs = !tile.global<?x?xf32>
!g = !tile.global<128x128xf16>
!gs = !tile.global<128x128xf32>
!gw = !tile.global<128x256xf16>
!ws = tensor<128x256xf32, #wide>
!gws = !tile.global<128x256xf32>

// CHECK-LABEL: tgpu.kernel @small
// CHECK: %[[RUNS:.*]] = tgpu.convert_layout %{{.*}} -> tensor<128x128xf16, #tgpu.fragment<"128x128 reg 0,1:0,2:0,4:8,0:0,32:0,64 lane 0,8:0,16:1,0:2,0:4,0 warp 16,0:32,0:64,0">>
// CHECK-NEXT: tgpu.store %[[RUNS]], %{{.*}} {bytes = 16 : i32, path = #tgpu.path<vector>}
// CHECK-NOT: tma_store
tgpu.kernel @small(%y: !v {tgpu.align = 16 : i64}, %m: i32, %n: i32 {tgpu.divisible = 8 : i64}, %x: !f) attributes {threads = 256 : i32, target = "sm_90a", warp_specialize = "producer"} {
  %c0 = arith.constant 0 : i32
  %view = tgpu.view %y extents(%m, %n : i32, i32) strides(%n : i32) : !v -> !v
  %here = tile.slice %view[%c0, %c0] sizes [128, 128] : !v, i32, i32 -> !g
  // expected-remark@+1 {{each warp stores its rows from registers, 16 bytes a lane: warps do not wait for each other}}
  tgpu.store %x, %here {path = #tgpu.path<tma>, bytes = 16 : i32} : !f, !g
  tgpu.return
}

// 64 words a thread.
// CHECK-LABEL: tgpu.kernel @large
// CHECK: tgpu.tma_store
tgpu.kernel @large(%y: !v {tgpu.align = 16 : i64}, %m: i32, %n: i32 {tgpu.divisible = 8 : i64}, %x: !w) attributes {threads = 256 : i32, target = "sm_90a", warp_specialize = "producer"} {
  %c0 = arith.constant 0 : i32
  %view = tgpu.view %y extents(%m, %n : i32, i32) strides(%n : i32) : !v -> !v
  %here = tile.slice %view[%c0, %c0] sizes [128, 256] : !v, i32, i32 -> !gw
  tgpu.store %x, %here {path = #tgpu.path<tma>, bytes = 16 : i32} : !w, !gw
  tgpu.return
}

// 128 words a thread, of 32 bits: one exchange makes runs of 16 bytes.
// CHECK-LABEL: tgpu.kernel @large_words
// CHECK: %[[RUNS:.*]] = tgpu.convert_layout
// CHECK-NEXT: tgpu.store %[[RUNS]], %{{.*}} {bytes = 16 : i32, path = #tgpu.path<vector>}
// CHECK-NOT: tma_store
tgpu.kernel @large_words(%y: !vs {tgpu.align = 16 : i64}, %m: i32, %n: i32 {tgpu.divisible = 4 : i64}, %x: !ws) attributes {threads = 256 : i32, target = "sm_90a", warp_specialize = "producer"} {
  %c0 = arith.constant 0 : i32
  %view = tgpu.view %y extents(%m, %n : i32, i32) strides(%n : i32) : !vs -> !vs
  %here = tile.slice %view[%c0, %c0] sizes [128, 256] : !vs, i32, i32 -> !gws
  // expected-remark@+1 {{each warp stores its rows from registers, 16 bytes a lane: warps do not wait for each other}}
  tgpu.store %x, %here {path = #tgpu.path<tma>, bytes = 16 : i32} : !ws, !gws
  tgpu.return
}

// CHECK-LABEL: tgpu.kernel @one_role
// CHECK: tgpu.tma_store
tgpu.kernel @one_role(%y: !v {tgpu.align = 16 : i64}, %m: i32, %n: i32 {tgpu.divisible = 8 : i64}, %x: !f) attributes {threads = 256 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %view = tgpu.view %y extents(%m, %n : i32, i32) strides(%n : i32) : !v -> !v
  %here = tile.slice %view[%c0, %c0] sizes [128, 128] : !v, i32, i32 -> !g
  tgpu.store %x, %here {path = #tgpu.path<tma>, bytes = 16 : i32} : !f, !g
  tgpu.return
}
