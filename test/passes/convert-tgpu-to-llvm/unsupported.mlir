// What the lowering cannot do is an error at the operation, not a crash.
// RUN: tile-opt --convert-tgpu-to-llvm --split-input-file --verify-diagnostics %s

#as = #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">
tgpu.kernel @noOffset() attributes {threads = 128 : i32, target = "sm_90a"} {
  // expected-error @below {{a buffer without an address or layout is not supported yet on `sm_90a` [not-supported]}}
  %s = tgpu.alloc_shared : !tgpu.smem<64x64xf16, #as>
  tgpu.return
}

// -----

#as = #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">
tgpu.kernel @misaligned() attributes {threads = 128 : i32, target = "sm_90a"} {
  // expected-error @below {{offset 128 is not a multiple of 1024}}
  %s = tgpu.alloc_shared {offset = 128 : i64} : !tgpu.smem<64x64xf16, #as>
  tgpu.return
}

// -----

#acc = #tgpu.fragment<"64x8 reg 0,1:8,0 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">
#a = #tgpu.shared<"64x16 b16 contig 1 panel 16 swizzle 32">
#b = #tgpu.shared<"16x8 b16 contig 1 panel 8">
tgpu.kernel @wrongTarget() attributes {threads = 128 : i32, target = "sm_80"} {
  %a = tgpu.alloc_shared {offset = 0 : i64} : !tgpu.smem<64x16xf16, #a>
  %b = tgpu.alloc_shared {offset = 4096 : i64} : !tgpu.smem<16x8xf16, #b>
  %z = arith.constant dense<0.0> : tensor<64x8xf32, #acc>
  // expected-error @below {{wgmma on this target is not supported yet on `sm_80` [not-supported]}}
  %p = tgpu.wgmma %a, %b, %z {mma = #tgpu.mma<wgmma, 64, 8, 16, warps = 1, 1>} : !tgpu.smem<64x16xf16, #a>, !tgpu.smem<16x8xf16, #b>, tensor<64x8xf32, #acc> -> !tgpu.pending<tensor<64x8xf32, #acc>>
  tgpu.return
}

// -----

tgpu.kernel @unknownOp(%x: !tile.global<?xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  // expected-error @below {{this operation in a kernel is not supported yet on `sm_90a` [not-supported]}}
  %c = tile.reshape %x : !tile.global<?xf32> -> !tile.global<4x4xf32>
  tgpu.return
}

// -----

// The whole warp waits, so that what one thread has loaded before is out of reach.
!ch = !tgpu.channel<1>
!v = !tile.global<?xi32>
tgpu.kernel @kept(%A: !v, %n: i32, %p: i32) attributes {threads = 128 : i32, target = "sm_90a", shared_bytes = 16 : i64} {
  %v = tgpu.view %A extents(%n : i32) strides() : !v -> !v
  %ch = tgpu.channel "ch" {producers = 1 : i32, consumers = 4 : i32, offset = 0 : i64} : !ch
  tgpu.one_thread {
    %x = tile.load %v[%p : i32] : !v -> i32
    tgpu.acquire %ch[%p] : !ch
    // expected-error @below {{a value of one thread that is used after a wait is not supported yet on `sm_90a` [not-supported]}}
    tile.store %x, %v[%p : i32] : i32, !v
  }
  tgpu.return
}

// -----

!v = !tile.global<?xi32>
tgpu.kernel @other_type(%A: !v, %n: i32) attributes {threads = 128 : i32, target = "sm_90a"} {
  %v = tgpu.view %A extents(%n : i32) strides() : !v -> !v
  // expected-error @below {{`bitcast` of a tensor or buffer is not supported yet on `sm_90a` [not-supported]}}
  %f = tile.bitcast_view %v : !v -> !tile.global<?xf32>
  tgpu.return
}

// -----

// Between other passes a kernel may take buffers.
// expected-error @below {{a kernel takes views of global memory and scalars, not '!tgpu.smem<16xf32>'}}
tgpu.kernel @takesBuffers(%s: !tgpu.smem<16xf32>) attributes {threads = 32 : i32, target = "sm_80"} {
  tgpu.return
}
