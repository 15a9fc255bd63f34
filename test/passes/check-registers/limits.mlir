// Fragments that the registers of a thread cannot hold are refused, with a list; what just fits is left alone.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-check-registers))' -verify-diagnostics -split-input-file | FileCheck %s

#row = #tgpu.fragment<"128x256 reg 0,1:0,2:0,4:0,8:0,16:0,32:0,64:0,128 lane 1,0:2,0:4,0:8,0:16,0 warp 32,0:64,0">
!a = !tgpu.smem<128x32xf32>
!b = !tgpu.smem<32x256xf32>
!t = tensor<128x256xf32, #row>
// expected-error@+1 {{fragments need 256 registers per thread, but there are 255 [fragment-too-large]}}
tgpu.kernel @sum(%a: !a, %b: !b, %x: f32) attributes {threads = 128 : i32, target = "sm_80"} {
  %z = tile.splat %x : f32 -> !t
  // expected-note@+1 {{256 registers: 128x256 f32}}
  %d = tgpu.dot %a, %b, %z {mma = #tgpu.mma<fma, 1, 1, 1, warps = 1, 4>} : !a, !b, !t -> !t
  tgpu.return
}

// -----

// Elements of 16 bits share registers.
#row = #tgpu.fragment<"128x256 reg 0,1:0,2:0,4:0,8:0,16:0,32:0,64:0,128 lane 1,0:2,0:4,0:8,0:16,0 warp 32,0:64,0">
!a = !tgpu.smem<128x32xf16>
!b = !tgpu.smem<32x256xf16>
!t = tensor<128x256xf16, #row>
// CHECK-LABEL: tgpu.kernel @packed
tgpu.kernel @packed(%a: !a, %b: !b, %x: f16) attributes {threads = 128 : i32, target = "sm_80"} {
  %z = tile.splat %x : f16 -> !t
  %d = tgpu.dot %a, %b, %z {mma = #tgpu.mma<fma, 1, 1, 1, warps = 1, 4>} : !a, !b, !t -> !t
  tgpu.return
}

// -----

// What is computed and stored piece by piece may be larger, within bounds.
#row = #tgpu.fragment<"128x256 reg 0,1:0,2:0,4:0,8:0,16:0,32:0,64:0,128 lane 1,0:2,0:4,0:8,0:16,0 warp 32,0:64,0">
// CHECK-LABEL: tgpu.kernel @streams
tgpu.kernel @streams(%x: f32) attributes {threads = 128 : i32, target = "sm_80"} {
  %a = tile.splat %x : f32 -> tensor<128x256xf32, #row>
  tgpu.return
}

// -----

#row = #tgpu.fragment<"128x1024 reg 0,1:0,2:0,4:0,8:0,16:0,32:0,64:0,128:0,256:0,512 lane 1,0:2,0:4,0:8,0:16,0 warp 32,0:64,0">
// expected-error@+1 {{fragments need 1024 registers per thread, but there are 255 [fragment-too-large]}}
tgpu.kernel @huge(%x: f32) attributes {threads = 128 : i32, target = "sm_80"} {
  // expected-note@+1 {{1024 registers: 128x1024 f32}}
  %a = tile.splat %x : f32 -> tensor<128x1024xf32, #row>
  tgpu.return
}

// -----

// Elements that are computed have a register each on their way, also narrow ones.
#row = #tgpu.fragment<"128x128 reg 0,1:0,2:0,4:0,8:0,16:0,32:0,64:32,0:64,0 lane 1,0:2,0:4,0:8,0:16,0 warp -">
// expected-error@+1 {{fragments need 512 registers per thread, but there are 255 [fragment-too-large]}}
tgpu.kernel @narrow(%x: tensor<128x128xf16, #row>) attributes {threads = 32 : i32, target = "sm_80"} {
  // expected-note@+1 {{512 registers: 128x128 f16}}
  %a = math.log %x : tensor<128x128xf16, #row>
  tgpu.return
}

// -----

// What a loop carries lives at one time.
#row = #tgpu.fragment<"128x128 reg 0,1:0,2:0,4:0,8:0,16:0,32:0,64 lane 1,0:2,0:4,0:8,0:16,0 warp 32,0:64,0">
!t = tensor<128x128xf32, #row>
// expected-error@+1 {{fragments need 256 registers per thread, but there are 255 [fragment-too-large]}}
tgpu.kernel @loop(%x: f32, %n: i32) attributes {threads = 128 : i32, target = "sm_80"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  // expected-note@+1 {{128 registers: 128x128 f32}}
  %a = tile.splat %x : f32 -> !t
  // expected-note@+1 {{128 registers: 128x128 f32}}
  %b = arith.addf %a, %a : !t
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%p = %a, %q = %b) -> (!t, !t) : i32 {
    %s = arith.addf %p, %q : !t
    scf.yield %q, %s : !t, !t
  }
  tgpu.return
}

// -----

// Bytes that a loop carries share registers where they have to; those of a `while` have one each.
#row = #tgpu.fragment<"128x256 reg 0,1:0,2:0,4:0,8:0,16:0,32:0,64:0,128 lane 1,0:2,0:4,0:8,0:16,0 warp 32,0:64,0">
!t = tensor<128x256xi8, #row>
// CHECK-LABEL: tgpu.kernel @bytes
tgpu.kernel @bytes(%x: i8, %n: i32) attributes {threads = 128 : i32, target = "sm_80"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %a = tile.splat %x : i8 -> !t
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%p = %a) -> (!t) : i32 {
    %s = arith.addi %p, %p : !t
    scf.yield %s : !t
  }
  tgpu.return
}

// -----

#row = #tgpu.fragment<"128x256 reg 0,1:0,2:0,4:0,8:0,16:0,32:0,64:0,128 lane 1,0:2,0:4,0:8,0:16,0 warp 32,0:64,0">
!t = tensor<128x256xi8, #row>
// expected-error@+1 {{fragments need 256 registers per thread, but there are 255 [fragment-too-large]}}
tgpu.kernel @bytes_of_a_while(%x: i8, %n: i32) attributes {threads = 128 : i32, target = "sm_80"} {
  %c1 = arith.constant 1 : i32
  %a = tile.splat %x : i8 -> !t
  // expected-note@+1 {{256 registers: 128x256 i8}}
  %r:2 = scf.while (%p = %a, %i = %n) : (!t, i32) -> (!t, i32) {
    %more = arith.cmpi sgt, %i, %c1 : i32
    scf.condition(%more) %p, %i : !t, i32
  } do {
  ^bb0(%q: !t, %j: i32):
    %s = arith.addi %q, %q : !t
    %k = arith.subi %j, %c1 : i32
    scf.yield %s, %k : !t, i32
  }
  tgpu.return
}

// -----

// The more threads, the fewer registers for each.
#row = #tgpu.fragment<"1024x128 reg 0,1:0,2:0,4:0,8:0,16:0,32:0,64 lane 1,0:2,0:4,0:8,0:16,0 warp 32,0:64,0:128,0:256,0:512,0">
!t = tensor<1024x128xf32, #row>
// expected-error@+1 {{fragments need 128 registers per thread, but there are 64 [fragment-too-large]}}
tgpu.kernel @share(%x: f32, %n: i32) attributes {threads = 1024 : i32, target = "sm_80"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  // expected-note@+1 {{128 registers}}
  %a = tile.splat %x : f32 -> !t
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%p = %a) -> (!t) : i32 {
    %s = arith.addf %p, %p : !t
    scf.yield %s : !t
  }
  tgpu.return
}

// -----

// expected-error@+1 {{`@min_blocks` wants 4 blocks of 512 threads, but a multiprocessor of `sm_89` holds 1536 threads [annotation]}}
tgpu.kernel @crowd() attributes {threads = 512 : i32, min_blocks = 4 : i32, target = "sm_89"} {
  tgpu.return
}

// -----

// What passes through may be more than there is, but less of it where each element takes long code.
#half = #tgpu.fragment<"128x128 reg 0,1:0,2:0,4:0,8:0,16:0,32:0,64:1,0 lane 2,0:4,0:8,0:16,0:32,0 warp 64,0">
!t = tensor<128x128xf32, #half>
// expected-error@+1 {{fragments need 768 registers per thread, but there are 255 [fragment-too-large]}}
tgpu.kernel @long_code(%x: f32) attributes {threads = 64 : i32, target = "sm_80"} {
  %a = tile.splat %x : f32 -> !t
  %b = math.exp %a : !t
  // expected-note@+1 {{768 registers}}
  %c = math.cos %b : !t
  tgpu.return
}
