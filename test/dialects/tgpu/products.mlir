// A product of fragments is verified: each owner of an element of the result accumulates each k exactly once.
// RUN: tile-opt %s -verify-diagnostics -split-input-file

// Two warpgroups share the columns, but each holds other rows of A: half of the result is nobody's.
!a = tensor<128x16xf16, #tgpu.fragment<"128x16 reg 0,1:8,0:0,8 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0:64,0">>
!b = !tgpu.smem<16x128xf16, #tgpu.shared<"16x128 b16 contig 1 panel 64 swizzle 128">>
!acc = tensor<128x128xf32, #tgpu.fragment<"128x128 reg 0,1:8,0:0,8:0,16:0,32:64,0 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0:0,64">>
tgpu.kernel @rows(%a: !a, %b: !b, %c: !acc) attributes {threads = 256 : i32} {
  // expected-error@+1 {{does not compute the product: an operand has other registers or warps than the instructions}}
  %p = tgpu.wgmma %a, %b, %c {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 2>} : !a, !b, !acc -> !tgpu.pending<!acc>
  tgpu.return
}

// -----

// The same with as many registers: the second warpgroup has the blocks of rows in another order.
!a = tensor<128x16xf16, #tgpu.fragment<"128x16 reg 0,1:8,0:0,8:64,0 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0:64,0">>
!b = !tgpu.smem<16x128xf16, #tgpu.shared<"16x128 b16 contig 1 panel 64 swizzle 128">>
!acc = tensor<128x128xf32, #tgpu.fragment<"128x128 reg 0,1:8,0:0,8:0,16:0,32:64,0 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0:0,64">>
tgpu.kernel @order(%a: !a, %b: !b, %c: !acc) attributes {threads = 256 : i32} {
  // expected-error@+1 {{does not compute the product: warp 4 multiplies other rows of A than it accumulates, or k in another order}}
  %p = tgpu.wgmma %a, %b, %c {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 2>} : !a, !b, !acc -> !tgpu.pending<!acc>
  tgpu.return
}

// -----

// Replicated over the warpgroups along n: right.
!a = tensor<128x16xf16, #tgpu.fragment<"128x16 reg 0,1:8,0:0,8:64,0 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0:0,0">>
!b = !tgpu.smem<16x128xf16, #tgpu.shared<"16x128 b16 contig 1 panel 64 swizzle 128">>
!acc = tensor<128x128xf32, #tgpu.fragment<"128x128 reg 0,1:8,0:0,8:0,16:0,32:64,0 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0:0,64">>
tgpu.kernel @replicated(%a: !a, %b: !b, %c: !acc) attributes {threads = 256 : i32} {
  %p = tgpu.wgmma %a, %b, %c {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 2>} : !a, !b, !acc -> !tgpu.pending<!acc>
  tgpu.return
}

// -----

// mma.sync: B holds k as the instruction does, A with neighbours exchanged.
!a = tensor<16x16xf16, #tgpu.fragment<"16x16 reg 0,8:8,0:0,1 lane 0,2:0,4:1,0:2,0:4,0 warp -">>
!b = tensor<16x8xf16, #tgpu.fragment<"16x8 reg 1,0:8,0 lane 2,0:4,0:0,1:0,2:0,4 warp -">>
!acc = tensor<16x8xf32, #tgpu.fragment<"16x8 reg 0,1:8,0 lane 0,2:0,4:1,0:2,0:4,0 warp -">>
tgpu.kernel @depth(%a: !a, %b: !b, %c: !acc) attributes {threads = 32 : i32} {
  // expected-error@+1 {{warp 0 multiplies other columns of B than it accumulates, or k in another order than A}}
  %d = tgpu.mma %a, %b, %c {mma = #tgpu.mma<mma_sync, 16, 8, 16, warps = 1, 1>} : !a, !b, !acc -> !acc
  tgpu.return
}

// -----

// An accumulator that the instruction would not write so.
!a = tensor<16x16xf16, #tgpu.fragment<"16x16 reg 0,1:8,0:0,8 lane 0,2:0,4:1,0:2,0:4,0 warp -">>
!b = tensor<16x8xf16, #tgpu.fragment<"16x8 reg 1,0:8,0 lane 2,0:4,0:0,1:0,2:0,4 warp -">>
!acc = tensor<16x8xf32, #tgpu.fragment<"16x8 reg 8,0:0,1 lane 0,2:0,4:1,0:2,0:4,0 warp -">>
tgpu.kernel @accumulator(%a: !a, %b: !b, %c: !acc) attributes {threads = 32 : i32} {
  // expected-error@+1 {{warp 0 does not hold the accumulator as the instruction writes it}}
  %d = tgpu.mma %a, %b, %c {mma = #tgpu.mma<mma_sync, 16, 8, 16, warps = 1, 1>} : !a, !b, !acc -> !acc
  tgpu.return
}

// -----

!a = tensor<16x8xf16, #tgpu.fragment<"16x8 reg 0,1:8,0 lane 0,2:0,4:1,0:2,0:4,0 warp -">>
!b = tensor<8x8xf16, #tgpu.fragment<"8x8 reg 1,0 lane 2,0:4,0:0,1:0,2:0,4 warp -">>
!acc = tensor<16x8xf32, #tgpu.fragment<"16x8 reg 0,1:8,0 lane 0,2:0,4:1,0:2,0:4,0 warp -">>
tgpu.kernel @instruction(%a: !a, %b: !b, %c: !acc) attributes {threads = 32 : i32} {
  // expected-error@+1 {{is described by an instruction that there is not: no instruction has 16 rows and 8 elements of k}}
  %d = tgpu.mma %a, %b, %c {mma = #tgpu.mma<mma_sync, 16, 8, 8, warps = 1, 1>} : !a, !b, !acc -> !acc
  tgpu.return
}

// -----

// A part of a fragment is what each thread holds itself.
!whole = tensor<16x32xf16, #tgpu.fragment<"16x32 reg 0,1:8,0:0,8:0,16 lane 0,2:0,4:1,0:2,0:4,0 warp -">>
!part = tensor<16x16xf16, #tgpu.fragment<"16x16 reg 8,0:0,1:0,8 lane 0,2:0,4:1,0:2,0:4,0 warp -">>
!other = tensor<16x16xf16, #tgpu.fragment<"16x16 reg 0,1:0,8:4,0 lane 0,2:0,4:1,0:2,0:8,0 warp -">>
tgpu.kernel @slice(%x: !whole) attributes {threads = 32 : i32} {
  %a = tgpu.fragment_slice %x at [0, 16] : !whole -> !part
  // expected-error@+1 {{has a layout that is not its fragment's: a thread does not hold its elements of the part in the same registers}}
  %b = tgpu.fragment_slice %x at [0, 16] : !whole -> !other
  tgpu.return
}

// -----

// What is replaced has no padding, and is nowhere else in the thread's registers.
!whole = tensor<16x32xf16, #tgpu.fragment<"16x32 reg 0,1:8,0:0,8:0,16 lane 0,2:0,4:1,0:2,0:4,0 warp -">>
!part = tensor<16x16xf16, #tgpu.fragment<"16x16 reg 0,1:8,0:0,8 lane 0,2:0,4:1,0:2,0:4,0 warp -">>
!padded = tensor<16x16xf16, #tgpu.fragment<"16x16 reg 0,1:8,0:0,8:0,16 lane 0,2:0,4:1,0:2,0:4,0 warp -">>
tgpu.kernel @insert(%x: !whole, %p: !part, %q: !padded) attributes {threads = 32 : i32} {
  %a = tgpu.fragment_insert %p into %x at [0, 16] : !part -> !whole
  // expected-error@+1 {{has a layout that is not its fragment's: the part has padding, which would replace elements that are none of its own}}
  %b = tgpu.fragment_insert %q into %x at [0, 0] : !padded -> !whole
  tgpu.return
}

// -----

!part = tensor<16x16xf16, #tgpu.fragment<"16x16 reg 0,1:8,0:0,8 lane 0,2:0,4:1,0:2,0:4,0 warp -">>
!twice = tensor<16x32xf16, #tgpu.fragment<"16x32 reg 0,1:8,0:0,8:0,16:0,0 lane 0,2:0,4:1,0:2,0:4,0 warp -">>
tgpu.kernel @insert(%p: !part, %t: !twice) attributes {threads = 32 : i32} {
  // expected-error@+1 {{has a layout that is not its fragment's: a thread holds an element of the part in other registers too}}
  %b = tgpu.fragment_insert %p into %t at [0, 0] : !part -> !twice
  tgpu.return
}

// -----

tgpu.kernel @fma(%a: !tgpu.smem<8x4xf32>, %b: !tgpu.smem<8x4xf32>, %c: tensor<8x4xf32>) attributes {threads = 32 : i32} {
  // expected-error@+1 {{shapes do not agree: 8x4 times 8x4 into 8x4}}
  %d = tgpu.fma %a, %b, %c : !tgpu.smem<8x4xf32>, !tgpu.smem<8x4xf32>, tensor<8x4xf32> -> tensor<8x4xf32>
  tgpu.return
}
