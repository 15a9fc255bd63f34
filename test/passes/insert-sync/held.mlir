// What a role does to a slot while it has it: fences and barriers of the role's threads between, and a fence before others fill it again.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-insert-sync,tgpu-verify-sync))' | FileCheck %s

#acc = #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">
!b = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!h = tensor<64x64xf16, #acc>
!other = tensor<64x64xf16>
!f = tensor<64x64xf32, #acc>
!pending = !tgpu.pending<!f>
!g = !tile.global<64x64xf16>
!one = !tgpu.channel<1>
!two = !tgpu.channel<2>

// CHECK-LABEL: tgpu.kernel @twice
// CHECK: tgpu.acquire
// CHECK-NEXT: tgpu.local_store
// CHECK-NEXT: tgpu.barrier {id = 1 : i32, threads = 128 : i32}
// CHECK-NEXT: tgpu.local_store
// CHECK-NEXT: tgpu.fence_async
// CHECK-NEXT: tgpu.barrier {id = 1 : i32, threads = 128 : i32}
// CHECK-NEXT: tgpu.wgmma_fence
// CHECK: tgpu.wgmma_wait
// CHECK-NEXT: tgpu.barrier {id = 1 : i32, threads = 128 : i32}
// CHECK-NEXT: tgpu.local_store
// CHECK-NEXT: tgpu.fence_async
// CHECK-NEXT: tgpu.publish
// CHECK-NOT: {{tgpu.barrier|tgpu.fence_async}}
// CHECK: tgpu.return
tgpu.kernel @twice(%g: !g, %n: i32) attributes {threads = 128 : i32, block_threads = 256 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %a = tgpu.alloc_shared "a" : !b
  %ch = tgpu.channel "a" {producers = 128 : i32, consumers = 4 : i32} : !one
  tgpu.roles role "writer" warps 0, 4 {
    %z = arith.constant 0.0 : f16
    %zf = arith.constant 0.0 : f32
    %v = tile.splat %z : f16 -> !h
    %w = tile.splat %z : f16 -> !other
    %acc = tile.splat %zf : f32 -> !f
    scf.for %p = %c0 to %n step %c1 : i32 {
      tgpu.acquire %ch[%p] : !one
      tgpu.local_store %v, %a : !h, !b
      tgpu.local_store %w, %a : !other, !b
      tgpu.wgmma_fence
      %y = tgpu.wgmma %a, %a, %acc {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !b, !b, !f -> !pending
      tgpu.wgmma_commit
      %d = tgpu.wgmma_wait 0, %y : !pending -> !f
      tgpu.local_store %v, %a : !h, !b
      tgpu.publish %ch[%p] : !one
    }
  } role "reader" warps 4, 4 {
    scf.for %p = %c0 to %n step %c1 : i32 {
      tgpu.wait %ch[%p] : !one
      %x = tgpu.local_load %a : !b -> !other
      tgpu.release %ch[%p] : !one
    }
  }
  tgpu.return
}

// CHECK-LABEL: tgpu.kernel @refills
// CHECK: tgpu.wait
// CHECK-NEXT: tgpu.local_load
// CHECK-NEXT: tgpu.fence_async
// CHECK-NEXT: tgpu.barrier {id = 1 : i32, threads = 128 : i32}
// CHECK-NEXT: tgpu.one_thread
// CHECK: role "reader"
// CHECK: tgpu.local_load
// CHECK-NEXT: tgpu.fence_async
// CHECK-NEXT: tgpu.publish
// CHECK-NOT: {{tgpu.barrier|tgpu.fence_async}}
// CHECK: tgpu.return
tgpu.kernel @refills(%g: !g, %n: i32) attributes {threads = 128 : i32, block_threads = 256 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c3 = arith.constant 3 : i32
  %ring = tgpu.alloc_shared "a" : !ring
  %ch = tgpu.channel "a" {producers = 1 : i32, consumers = 0 : i32} : !two
  %heard = tgpu.channel "heard" {producers = 128 : i32, consumers = 0 : i32} : !two
  tgpu.roles role "owner" warps 0, 4 {
    tgpu.one_thread {
      scf.for %i = %c0 to %c2 step %c1 : i32 {
        tgpu.acquire %ch[%i] : !two
        tgpu.expect %ch[%i] bytes 8192 : !two
        %s = tgpu.slot %ring[%i] : !ring -> !b
        tgpu.tma_load %g to %s on %ch[%i] {map = 0 : i32} : !g, !b, !two
      }
    }
    scf.for %p = %c0 to %n step %c1 : i32 {
      %next = arith.addi %p, %c2 : i32
      %own = tgpu.slot %ring[%p] : !ring -> !b
      tgpu.wait %ch[%p] : !two
      %y = tgpu.local_load %own : !b -> !h
      tgpu.one_thread {
        tgpu.wait %heard[%p] : !two
        tgpu.expect %ch[%next] bytes 8192 : !two
        %slot = tgpu.slot %ring[%next] : !ring -> !b
        tgpu.tma_load %g to %slot on %ch[%next] {map = 0 : i32, tgpu.refill} : !g, !b, !two
      }
    }
  } role "reader" warps 4, 4 {
    scf.for %p = %c0 to %n step %c1 : i32 {
      %s = tgpu.slot %ring[%p] : !ring -> !b
      tgpu.wait %ch[%p] : !two
      %x = tgpu.local_load %s : !b -> !h
      tgpu.publish %heard[%p] : !two
    }
  }
  tgpu.return
}
