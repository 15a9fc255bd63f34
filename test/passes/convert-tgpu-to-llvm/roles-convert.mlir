// Conversions through shared memory in two roles that run side by side: each waits on a barrier of its own.
// RUN: tile-opt --convert-tgpu-to-llvm %s | FileCheck %s

!a1 = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!b1 = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:16,0 lane 0,2:0,4:1,0:2,0:4,0 warp 32,0:0,32">>
!a2 = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0 from 4">>
!b2 = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:16,0 lane 0,2:0,4:1,0:2,0:4,0 warp 32,0:0,32 from 4">>
// CHECK-LABEL: llvm.func @convert
// CHECK: nvvm.barrier id = %[[A:[0-9]+]] number_of_threads
// CHECK-NOT: nvvm.barrier id = %[[A]] number_of_threads
// CHECK: nvvm.barrier id = %[[B:[0-9]+]] number_of_threads
// CHECK-NOT: nvvm.barrier
tgpu.kernel @convert(%x: f32) attributes {threads = 256 : i32, target = "sm_90a", shared_bytes = 40960 : i64} {
  tgpu.roles
  role "first" warps 0, 4 {
    %a = tile.splat %x : f32 -> !a1
    %b = tgpu.convert_layout %a {scratch = 0 : i64} : !a1 -> !b1
  }
  role "second" warps 4, 4 {
    %a = tile.splat %x : f32 -> !a2
    %b = tgpu.convert_layout %a {scratch = 20480 : i64} : !a2 -> !b2
  }
  tgpu.return
}
