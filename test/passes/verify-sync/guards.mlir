// A publish gives away what its channel guards, and nothing else, wherever it stands in the text.
// RUN: tile-opt %s -split-input-file -verify-diagnostics --pass-pipeline='builtin.module(tgpu.kernel(tgpu-verify-sync))'

#acc = #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">
!b = !tgpu.smem<64x64xf32, #tgpu.shared<"64x64 b32 contig 1 panel 64">>
!ring = !tgpu.smem<2x64x64xf32, #tgpu.shared<"2x64x64 b32 contig 2 panel 64">>
!f = tensor<64x64xf32, #acc>
!two = !tgpu.channel<2>
// Right: `there` is read again behind the publish of `back`, and stored behind one of another ring.
tgpu.kernel @guards(%n: i32) attributes {threads = 128 : i32, block_threads = 256 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant 0.0 : f32
  %there = tgpu.alloc_shared "there" : !ring
  %back = tgpu.alloc_shared "back" : !ring
  %ct = tgpu.channel "there" guards(%there : !ring) {producers = 128 : i32, consumers = 4 : i32} : !two
  %cb = tgpu.channel "back" guards(%back : !ring) {producers = 128 : i32, consumers = 4 : i32} : !two
  tgpu.roles role "first" warps 0, 4 {
    %x = tile.splat %zero : f32 -> !f
    scf.for %i = %c0 to %n step %c1 : i32 {
      %t = tgpu.slot %there[%i] : !ring -> !b
      tgpu.acquire %ct[%i] : !two
      tgpu.local_store %x, %t : !f, !b
      tgpu.publish %ct[%i] : !two
      %s = tgpu.slot %back[%i] : !ring -> !b
      tgpu.wait %cb[%i] : !two
      %y = tgpu.local_load %s : !b -> !f
      tgpu.release %cb[%i] : !two
    }
  } role "second" warps 4, 4 {
    scf.for %i = %c0 to %n step %c1 : i32 {
      %t = tgpu.slot %there[%i] : !ring -> !b
      %s = tgpu.slot %back[%i] : !ring -> !b
      tgpu.wait %ct[%i] : !two
      %x = tgpu.local_load %t : !b -> tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0 from 4">>
      tgpu.acquire %cb[%i] : !two
      tgpu.local_store %x, %s : tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0 from 4">>, !b
      tgpu.publish %cb[%i] : !two
      %y = tgpu.local_load %t : !b -> tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0 from 4">>
      tgpu.release %ct[%i] : !two
    }
  }
  tgpu.return
}

// -----

#acc = #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">
!b = !tgpu.smem<64x64xf32, #tgpu.shared<"64x64 b32 contig 1 panel 64">>
!ring = !tgpu.smem<2x64x64xf32, #tgpu.shared<"2x64x64 b32 contig 2 panel 64">>
!f = tensor<64x64xf32, #acc>
!two = !tgpu.channel<2>
// Wrong: the other role may give the slot back, and its writer fill it again.
tgpu.kernel @read_late(%n: i32) attributes {threads = 128 : i32, block_threads = 256 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant 0.0 : f32
  %there = tgpu.alloc_shared "there" : !ring
  // expected-note @+1 {{the channel}}
  %ct = tgpu.channel "there" guards(%there : !ring) {producers = 128 : i32, consumers = 4 : i32} : !two
  tgpu.roles role "first" warps 0, 4 {
    %x = tile.splat %zero : f32 -> !f
    scf.for %i = %c0 to %n step %c1 : i32 {
      %t = tgpu.slot %there[%i] : !ring -> !b
      tgpu.acquire %ct[%i] : !two
      tgpu.local_store %x, %t : !f, !b
      tgpu.publish %ct[%i] : !two
    }
  } role "second" warps 4, 4 {
    scf.for %i = %c0 to %n step %c1 : i32 {
      %t = tgpu.slot %there[%i] : !ring -> !b
      tgpu.wait %ct[%i] : !two
      tgpu.release %ct[%i] : !two
      // expected-error @+1 {{uses a slot of `there` without tgpu.wait on its channel at the same position}}
      %y = tgpu.local_load %t : !b -> tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0 from 4">>
    }
  }
  tgpu.return
}

// -----

!b = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!ring = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!f = tensor<64x64xf16, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!late = tensor<64x64xf16, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0 from 4">>
!g = !tile.global<64x64xf16>
!two = !tgpu.channel<2>
// Wrong: TMA has filled the slot, but what the other role sets to zero there may not be zero yet.
tgpu.kernel @repaired(%g: !g, %n: i32) attributes {threads = 128 : i32, block_threads = 256 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant 0.0 : f16
  %ring = tgpu.alloc_shared "K" : !ring
  %ch = tgpu.channel "K" {producers = 1 : i32, consumers = 8 : i32} : !two
  // expected-note @+1 {{the channel}}
  %in = tgpu.channel "K in bounds" guards(%ring : !ring) {producers = 128 : i32, consumers = 0 : i32} : !two
  tgpu.roles role "first" warps 0, 4 {
    %x = tile.splat %zero : f16 -> !f
    scf.for %i = %c0 to %n step %c1 : i32 {
      tgpu.one_thread {
        tgpu.acquire %ch[%i] : !two
        tgpu.expect %ch[%i] bytes 8192 : !two
        %slot = tgpu.slot %ring[%i] : !ring -> !b
        tgpu.tma_load %g to %slot on %ch[%i] {map = 0 : i32} : !g, !b, !two
      }
      %s = tgpu.slot %ring[%i] : !ring -> !b
      tgpu.wait %ch[%i] : !two
      tgpu.local_store %x, %s : !f, !b
      tgpu.fence_async
      tgpu.publish %in[%i] : !two
      tgpu.release %ch[%i] : !two
    }
  } role "second" warps 4, 4 {
    scf.for %i = %c0 to %n step %c1 : i32 {
      %s = tgpu.slot %ring[%i] : !ring -> !b
      tgpu.wait %ch[%i] : !two
      // expected-error @+1 {{uses a slot of `K` without tgpu.wait on its channel at the same position}}
      %y = tgpu.local_load %s : !b -> !late
      tgpu.wait %in[%i] : !two
      %z = tgpu.local_load %s : !b -> !late
      tgpu.fence_async
      tgpu.release %ch[%i] : !two
    }
  }
  tgpu.return
}
