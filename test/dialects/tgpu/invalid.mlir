// What the verifiers of the dialect refuse.
// RUN: tile-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{runs whole warps, up to 1024 threads}}
tgpu.kernel @threads(%x: i32) attributes {threads = 100 : i32} {
  tgpu.return
}

// -----

tgpu.kernel @overlap(%x: i32) attributes {threads = 256 : i32} {
  // expected-error @+1 {{roles "a" and "b" share warps}}
  tgpu.roles role "a" warps 0, 4 {
  } role "b" warps 3, 4 {
  }
  tgpu.return
}

// -----

tgpu.kernel @teams_overlap() attributes {threads = 128 : i32, block_threads = 256 : i32} {
  // expected-error @+1 {{roles "a" and "b" share warps}}
  tgpu.roles role "a" warps 0, 4 teams 2 {
  } role "b" warps 4, 4 {
  }
  tgpu.return
}

// -----

tgpu.kernel @roles_of_teams() attributes {threads = 128 : i32, block_threads = 512 : i32} {
  // expected-error @+1 {{has one role of several teams at most}}
  tgpu.roles role "a" warps 0, 4 teams 2 {
  } role "b" warps 8, 4 teams 2 {
  }
  tgpu.return
}

// -----

tgpu.kernel @no_team() attributes {threads = 128 : i32} {
  // expected-error @+1 {{role "a" has no warps}}
  tgpu.roles role "a" warps 0, 4 teams 0 {
  }
  tgpu.return
}

// -----

tgpu.kernel @registers(%x: i32) attributes {threads = 256 : i32} {
  // expected-error @+1 {{role "a" sets registers for parts of a warpgroup}}
  tgpu.roles role "a" warps 0, 2 registers 24 {
  }
  tgpu.return
}

// -----

tgpu.kernel @crossing(%x: tensor<64xf32>) attributes {threads = 128 : i32} {
  %b = tgpu.alloc_shared : !tgpu.smem<64xf32>
  tgpu.roles role "a" warps 0, 4 {
    // expected-error @+1 {{uses a fragment from outside its role}}
    tgpu.local_store %x, %b : tensor<64xf32>, !tgpu.smem<64xf32>
  }
  tgpu.return
}

// -----

tgpu.kernel @slot(%p: i32) attributes {threads = 128 : i32} {
  %b = tgpu.alloc_shared : !tgpu.smem<2x64x64xf16>
  // expected-error @+1 {{gives one buffer of a ring}}
  %s = tgpu.slot %b[%p] : !tgpu.smem<2x64x64xf16> -> !tgpu.smem<64x32xf16>
  tgpu.return
}

// -----

#ring = #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">
#other = #tgpu.shared<"64x64 b16 contig 1 panel 64">
tgpu.kernel @slot_layout(%p: i32) attributes {threads = 128 : i32} {
  %b = tgpu.alloc_shared : !tgpu.smem<2x64x64xf16, #ring>
  // expected-error @+1 {{layout of the slot is not that of the ring}}
  %s = tgpu.slot %b[%p] : !tgpu.smem<2x64x64xf16, #ring> -> !tgpu.smem<64x64xf16, #other>
  tgpu.return
}

// -----

tgpu.kernel @subview(%p: i32) attributes {threads = 128 : i32} {
  %b = tgpu.alloc_shared : !tgpu.smem<64x64xf16>
  // expected-error @+1 {{reaches beyond its buffer}}
  %s = tgpu.subview %b at [0, 48] : !tgpu.smem<64x64xf16> -> !tgpu.smem<64x32xf16>
  tgpu.return
}

// -----

tgpu.kernel @copy(%p: i32) attributes {threads = 128 : i32} {
  %b = tgpu.alloc_shared : !tgpu.smem<64x64xf16>
  // expected-error @+1 {{copies between global and shared memory}}
  tgpu.copy %b to %b : !tgpu.smem<64x64xf16>, !tgpu.smem<64x64xf16>
  tgpu.return
}

// -----

tgpu.kernel @product(%acc: tensor<64x64xf32>) attributes {threads = 128 : i32} {
  %a = tgpu.alloc_shared : !tgpu.smem<64x32xf16>
  %b = tgpu.alloc_shared : !tgpu.smem<64x64xf16>
  // expected-error @+1 {{shapes do not agree: 64x32 times 64x64 into 64x64}}
  %r = tgpu.dot %a, %b, %acc : !tgpu.smem<64x32xf16>, !tgpu.smem<64x64xf16>, tensor<64x64xf32> -> tensor<64x64xf32>
  tgpu.return
}

// -----

!f = tensor<64x64xf32>
!pending = !tgpu.pending<!f>
tgpu.kernel @wait(%acc: !f) attributes {threads = 128 : i32} {
  %p = tgpu.wgmma_begin %acc : !f -> !pending
  // expected-error @+1 {{waits for all groups, so no accumulator stays pending}}
  %r = tgpu.wgmma_wait 0, %p : !pending -> !pending
  tgpu.return
}

// -----

!f = tensor<64x64xf32>
tgpu.kernel @wait_type(%acc: !f) attributes {threads = 128 : i32} {
  %p = tgpu.wgmma_begin %acc : !f -> !tgpu.pending<!f>
  // expected-error @+1 {{keeps the type of an accumulator}}
  %r = tgpu.wgmma_wait 0, %p : !tgpu.pending<!f> -> tensor<64x32xf32>
  tgpu.return
}

// -----

tgpu.kernel @element(%p: i32) attributes {threads = 128 : i32} {
  // expected-error @+1 {{elements of shared memory are numbers, not 'index'}}
  %b = tgpu.alloc_shared : !tgpu.smem<4xindex>
  tgpu.return
}

// -----

// expected-error @+1 {{layout is of another shape than its fragment}}
tgpu.kernel @encoding(%x: tensor<32xf32, #tgpu.fragment<"64 reg 8 lane 0:0:1:2:4 warp 16:32">>) attributes {threads = 64 : i32} {
  tgpu.return
}

// -----

// expected-error @+1 {{malformed register layout}}
tgpu.kernel @text(%x: tensor<64xf32, #tgpu.fragment<"64 words">>) attributes {threads = 64 : i32} {
  tgpu.return
}

// -----

tgpu.kernel @parts_without_layout(%x: tensor<8x64xf32>) attributes {threads = 64 : i32} {
  // expected-error@+1 {{needs layouts}}
  %p = tgpu.reduce_in_warps %x axis 0 by <sum> : tensor<8x64xf32> -> tensor<2x64xf32>
  tgpu.return
}

// -----

tgpu.kernel @parts_of_another_shape(%x: tensor<8x64xf32>) attributes {threads = 64 : i32} {
  // expected-error@+1 {{changes the extent of dimension 0 only}}
  %p = tgpu.reduce_in_warps %x axis 0 by <sum> : tensor<8x64xf32> -> tensor<2x32xf32>
  tgpu.return
}

// -----

// Two warps, each with four rows: two parts, not as many as there are rows of a warp.
!tile = tensor<8x32xf32, #tgpu.fragment<"8x32 reg 2,0:4,0 lane 0,1:0,2:0,4:0,8:0,16 warp 1,0">>
tgpu.kernel @parts_in_another_layout(%x: !tile) attributes {threads = 64 : i32} {
  // expected-error@+1 {{has another layout than its parts}}
  %p = tgpu.reduce_in_warps %x axis 0 by <sum> : !tile -> tensor<2x32xf32, #tgpu.fragment<"2x32 reg - lane 0,1:0,2:0,4:0,8:0,16 warp 0,0">>
  tgpu.return
}

// -----

!tile = tensor<8x32xf32, #tgpu.fragment<"8x32 reg 2,0:4,0 lane 0,1:0,2:0,4:0,8:0,16 warp 1,0">>
!part = tensor<2x32xf32, #tgpu.fragment<"2x32 reg - lane 0,1:0,2:0,4:0,8:0,16 warp 1,0">>
tgpu.kernel @parts_by_two_ways(%x: !tile) attributes {threads = 64 : i32} {
  // expected-error@+1 {{combines one value by a kind, or any number by a region}}
  %p = tgpu.reduce_in_warps %x axis 0 by <sum> : !tile -> !part {
  ^bb0(%a: f32, %b: f32):
    tgpu.yield %a : f32
  }
  tgpu.return
}

// -----

!tile = tensor<8x32xf32, #tgpu.fragment<"8x32 reg 2,0:4,0 lane 0,1:0,2:0,4:0,8:0,16 warp 1,0">>
!part = tensor<2x32xf32, #tgpu.fragment<"2x32 reg - lane 0,1:0,2:0,4:0,8:0,16 warp 1,0">>
tgpu.kernel @parts_of_two_by_one(%x: !tile) attributes {threads = 64 : i32} {
  // expected-error@+1 {{body takes the elements of two parts and yields those of one}}
  %p:2 = tgpu.reduce_in_warps %x, %x axis 0 : !tile, !tile -> !part, !part {
  ^bb0(%a: f32, %b: f32):
    tgpu.yield %a : f32
  }
  tgpu.return
}

// -----

!tile = tensor<8x32xf32, #tgpu.fragment<"8x32 reg 2,0:4,0 lane 0,1:0,2:0,4:0,8:0,16 warp 1,0">>
!other = tensor<8x32xf32, #tgpu.fragment<"8x32 reg 1,0:4,0 lane 0,1:0,2:0,4:0,8:0,16 warp 2,0">>
!part = tensor<2x32xf32, #tgpu.fragment<"2x32 reg - lane 0,1:0,2:0,4:0,8:0,16 warp 1,0">>
tgpu.kernel @parts_of_two_layouts(%x: !tile, %y: !other) attributes {threads = 64 : i32} {
  // expected-error@+1 {{has inputs of one layout}}
  %p:2 = tgpu.reduce_in_warps %x, %y axis 0 : !tile, !other -> !part, !part {
  ^bb0(%a: f32, %c: f32, %b: f32, %d: f32):
    tgpu.yield %a, %c : f32, f32
  }
  tgpu.return
}

// -----

// Two warps take turns along the dimension, so that what one of them holds are no neighbours.
!turns = tensor<256xf32, #tgpu.fragment<"256 reg 1:128 lane 2:4:8:16:32 warp 64">>
!turns_parts = tensor<2xf32, #tgpu.fragment<"2 reg - lane 0:0:0:0:0 warp 1">>
tgpu.kernel @scan_of_turns(%x: !turns) attributes {threads = 64 : i32} {
  // expected-error@+1 {{cannot be done in this layout: other warps hold parts of what a warp holds of the scanned dimension}}
  %s, %t = tgpu.scan_in_warps %x axis 0 by <sum> : !turns -> !turns totals !turns_parts
  tgpu.return
}

// -----

!half = tensor<128xf32, #tgpu.fragment<"128 reg 1 lane 2:4:8:16:32 warp 64">>
!half_parts = tensor<2xf32, #tgpu.fragment<"2 reg - lane 0:0:0:0:0 warp 1">>
tgpu.kernel @exclusive_scan_by_a_function(%x: !half) attributes {threads = 64 : i32} {
  // expected-error@+1 {{needs a kind to be exclusive: a function has no identity}}
  %s, %t = tgpu.scan_in_warps %x axis 0 {exclusive} : !half -> !half totals !half_parts {
  ^bb0(%a: f32, %b: f32):
    tgpu.yield %b : f32
  }
  tgpu.return
}

// -----

!half = tensor<128xf32, #tgpu.fragment<"128 reg 1 lane 2:4:8:16:32 warp 64">>
!half_parts = tensor<2xf32, #tgpu.fragment<"2 reg - lane 0:0:0:0:0 warp 1">>
tgpu.kernel @after_what_warps_do_not_know(%x: !half, %t: !half_parts) attributes {threads = 64 : i32} {
  // expected-error@+1 {{has another layout than its parts: 2 reg 1 lane}}
  %s = tgpu.scan_across_warps %x after %t axis 0 by <sum> : !half after !half_parts -> !half
  tgpu.return
}

// -----

!row = tensor<64xf32, #tgpu.fragment<"64 reg 8 lane 0:0:1:2:4 warp 16:32">>
tgpu.kernel @scale_complete(%r: !row) attributes {threads = 128 : i32} {
  // expected-error@+1 {{scales partial sums by complete factors of the same layout}}
  %x = tgpu.scale_partial %r by %r : !row, !row -> !row
  tgpu.return
}

// -----

// Nothing takes partial values for complete ones: not an element-wise operation, a store, a conversion, a reduction; nor are they made
// otherwise.
!row = tensor<64xf32, #tgpu.fragment<"64 reg 8 lane 0:0:1:2:4 warp 16:32">>
!sum = tensor<64xf32, #tgpu.fragment<"64 reg 8 lane 0:0:1:2:4 warp 16:32 partial sum lanes 3 warps 1">>
tgpu.kernel @exp_of_partial(%s: !row) attributes {threads = 128 : i32} {
  %p = tgpu.begin_partial -> !sum
  // expected-error@+1 {{takes complete values: partial ones have to be combined first}}
  %x = math.exp2 %p : !sum
  tgpu.return
}

// -----

!sum = tensor<64xf32, #tgpu.fragment<"64 reg 8 lane 0:0:1:2:4 warp 16:32 partial sum lanes 3 warps 1">>
tgpu.kernel @store_of_partial(%o: !tile.global<64xf32>) attributes {threads = 128 : i32} {
  %p = tgpu.begin_partial -> !sum
  // expected-error@+1 {{takes complete values}}
  tgpu.store %p, %o {bytes = 4 : i32} : !sum, !tile.global<64xf32>
  tgpu.return
}

// -----

!sum = tensor<64xf32, #tgpu.fragment<"64 reg 8 lane 0:0:1:2:4 warp 16:32 partial sum lanes 3 warps 1">>
!row = tensor<64xf32, #tgpu.fragment<"64 reg 8 lane 0:0:1:2:4 warp 16:32">>
tgpu.kernel @choice_by_element(%c: tensor<64xi1, #tgpu.fragment<"64 reg 8 lane 0:0:1:2:4 warp 16:32">>, %one: i1) attributes {threads = 128 : i32} {
  %p = tgpu.begin_partial -> !sum
  %either = arith.select %one, %p, %p : !sum
  // expected-error@+1 {{takes complete values}}
  %r = arith.select %c, %p, %p : tensor<64xi1, #tgpu.fragment<"64 reg 8 lane 0:0:1:2:4 warp 16:32">>, !sum
  tgpu.return
}

// -----

!sum = tensor<64xf32, #tgpu.fragment<"64 reg 8 lane 0:0:1:2:4 warp 16:32 partial sum lanes 3 warps 1">>
!row = tensor<64xf32, #tgpu.fragment<"64 reg 8 lane 0:0:1:2:4 warp 16:32">>
tgpu.kernel @conversion_of_partial() attributes {threads = 128 : i32} {
  %p = tgpu.begin_partial -> !sum
  // expected-error@+1 {{takes complete values}}
  %r = tgpu.convert_layout %p : !sum -> !row
  tgpu.return
}

// -----

!sum = tensor<64xf32, #tgpu.fragment<"64 reg 8 lane 0:0:1:2:4 warp 16:32 partial sum lanes 3 warps 1">>
tgpu.kernel @partial_splat(%f: f32) attributes {threads = 128 : i32} {
  // expected-error@+1 {{takes complete values}}
  %p = tile.splat %f : f32 -> !sum
  tgpu.return
}

// -----

!row = tensor<64xf32, #tgpu.fragment<"64 reg 8 lane 0:0:1:2:4 warp 16:32">>
tgpu.kernel @begins_complete() attributes {threads = 128 : i32} {
  // expected-error@+1 {{gives partial values}}
  %p = tgpu.begin_partial -> !row
  tgpu.return
}

// -----

!sum = tensor<64xf32, #tgpu.fragment<"64 reg 8 lane 0:0:1:2:4 warp 16:32 partial sum lanes 3 warps 1">>
!other = tensor<64xf32, #tgpu.fragment<"64 reg 32 lane 1:2:4:8:16 warp 0:0">>
tgpu.kernel @begins_elsewhere(%s: !other) attributes {threads = 128 : i32} {
  // expected-error@+1 {{starts with complete values of the same layout}}
  %p = tgpu.begin_partial %s : !other -> !sum
  tgpu.return
}

// -----

// Lanes that hold copies do not contribute twice: the layout says which do.
!acc = tensor<64x16xf32, #tgpu.fragment<"64x16 reg 0,1:8,0:0,8 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!sum = tensor<64xf32, #tgpu.fragment<"64 reg 8 lane 0:0:1:2:4 warp 16:32 partial sum lanes 7 warps 1">>
tgpu.kernel @too_many_lanes(%x: !acc) attributes {threads = 128 : i32} {
  %p = tgpu.begin_partial -> !sum
  // expected-error@+1 {{has partial values of other threads than 64 reg 8 lane 0:0:1:2:4 warp 16:32 partial sum lanes 3 warps 1}}
  %q = tgpu.accumulate_partial %x axes [1] into %p : !acc, !sum -> !sum
  tgpu.return
}

// -----

!acc = tensor<64x16xf32, #tgpu.fragment<"64x16 reg 0,1:8,0:0,8 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!sum = tensor<64xf32, #tgpu.fragment<"64 reg 8 lane 0:0:1:2:4 warp 16:32 partial sum lanes 3 warps 1">>
tgpu.kernel @no_such_axis(%x: !acc) attributes {threads = 128 : i32} {
  %p = tgpu.begin_partial -> !sum
  // expected-error@+1 {{has axes of its tile, in rising order}}
  %q = tgpu.accumulate_partial %x axes [2] into %p : !acc, !sum -> !sum
  tgpu.return
}

// -----

// A thread has one part of a row, not the elements of it.
!acc = tensor<64x16xf32, #tgpu.fragment<"64x16 reg 0,1:8,0:0,8 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!sum = tensor<64xf32, #tgpu.fragment<"64 reg 8 lane 0:0:1:2:4 warp 16:32 partial sum lanes 3 warps 1">>
tgpu.kernel @parts_are_no_elements() attributes {threads = 128 : i32} {
  %p = tgpu.begin_partial -> !sum
  // expected-error@+1 {{gives each thread that contributes a place of its own}}
  %q = tgpu.partial_parts %p axes [1] : !sum -> !acc
  tgpu.return
}

// -----

// Parts that lie behind the end of the tile would be left out.
!three = tensor<64x3xf32, #tgpu.fragment<"64x3 reg 8,0 lane 0,1:0,2:1,0:2,0:4,0 warp 16,0:32,0">>
!sum = tensor<64xf32, #tgpu.fragment<"64 reg 8 lane 0:0:1:2:4 warp 16:32 partial sum lanes 3 warps 1">>
tgpu.kernel @parts_are_left_out() attributes {threads = 128 : i32} {
  %p = tgpu.begin_partial -> !sum
  // expected-error@+1 {{gives each thread that contributes a place of its own}}
  %q = tgpu.partial_parts %p axes [1] : !sum -> !three
  tgpu.return
}

// -----

// Numbers that no pass may be handed.
// expected-error @+1 {{a product is shared by 1 to 32 warps along each dimension}}
#none = #tgpu.mma<wgmma, 64, 64, 16, warps = 0, 1>

// -----

// expected-error @+1 {{no instruction wgmma computes 64x12x16}}
#odd = #tgpu.mma<wgmma, 64, 12, 16, warps = 1, 1>

// -----

// expected-error @+1 {{no instruction mma_sync computes 16x8x0}}
#empty = #tgpu.mma<mma_sync, 16, 8, 0, warps = 1, 1>

// -----

// expected-error @+1 {{`hold` is a percentage}}
#hold = #tgpu.stage<0, 0, hold = 101>

// -----

// expected-error @+1 {{has an extent, a stride and a box extent for each of 1 to 5 dimensions}}
#rank = #tgpu.tensor_map<0, extents = [1, 2], strides = [-2], box = [64, 128], swizzle = 128>

// -----

// expected-error @+1 {{boxes have 1 to 256 elements along each dimension}}
#box = #tgpu.tensor_map<0, extents = [1, 2], strides = [-2, 1], box = [64, 512], swizzle = 128>

// -----

// expected-error @+1 {{swizzles 0, 32, 64 or 128 bytes}}
#swizzle = #tgpu.tensor_map<0, extents = [1, 2], strides = [-2, 1], box = [64, 128], swizzle = 48>

// -----

tgpu.kernel @guards() attributes {threads = 128 : i32} {
  %b = tgpu.alloc_shared : !tgpu.smem<2x64x64xf16>
  // expected-error @+1 {{guards rings of as many slots as it has}}
  %c = tgpu.channel guards(%b : !tgpu.smem<2x64x64xf16>) {producers = 128 : i32, consumers = 4 : i32} : !tgpu.channel<3>
  tgpu.return
}

// -----

// expected-error @+1 {{a channel has 1 to 4096 slots}}
func.func private @channel(!tgpu.channel<0>)

// -----

// expected-error @+1 {{has #tgpu.tensor_maps of its arguments}}
tgpu.kernel @map(%x: !tile.global<?x?xf16>) attributes {threads = 32 : i32,
    tensor_maps = [#tgpu.tensor_map<0, extents = [1, 2], strides = [-2, 1], box = [64, 128], swizzle = 128>]} {
  tgpu.return
}

// -----

// expected-error @+1 {{guards a variant by #tgpu.divisible of its arguments}}
tgpu.kernel @guard(%x: i32) attributes {threads = 32 : i32, guard = [#tgpu.divisible<1, 8>]} {
  tgpu.return
}

// -----

tgpu.kernel @gather(%b: !tgpu.smem<8x8xf32>, %i: tensor<4xi32>) attributes {threads = 32 : i32} {
  // expected-error @+1 {{takes one index for each dimension, and elements of the type there}}
  %x = tgpu.gather %b[%i] : !tgpu.smem<8x8xf32>[tensor<4xi32>] -> tensor<4xf32>
  tgpu.return
}

// -----

tgpu.kernel @gather_scalar(%b: !tgpu.smem<8xf32>, %i: tensor<4xi32>) attributes {threads = 32 : i32} {
  // expected-error @+1 {{takes scalars, and tiles of the shape and layout of its elements}}
  %x = tgpu.gather %b[%i] : !tgpu.smem<8xf32>[tensor<4xi32>] -> f32
  tgpu.return
}

// -----

tgpu.kernel @scatter(%b: !tgpu.smem<8xf32>, %v: f16, %i: i32) attributes {threads = 32 : i32} {
  // expected-error @+1 {{takes one index for each dimension, and elements of the type there}}
  tgpu.scatter %v, %b[%i] : f16, !tgpu.smem<8xf32>[i32]
  tgpu.return
}

// -----

tgpu.kernel @fragment(%i: i32) attributes {threads = 32 : i32} {
  %b = tile.alloc : !tile.buffer<8xf32, fragment>
  // expected-error @+1 {{accesses views and shared buffers}}
  %x = tgpu.gather %b[%i] : !tile.buffer<8xf32, fragment>[i32] -> f32
  tgpu.return
}

// -----

tgpu.kernel @indices(%i: i32) attributes {threads = 64 : i32} {
  %s = tgpu.alloc_shared : !tgpu.smem<8x64xf32>
  // expected-error @+1 {{has 1 indices for rank 2}}
  %x = tgpu.load_element %s[%i : i32] : !tgpu.smem<8x64xf32> -> f32
  tgpu.return
}

// -----

tgpu.kernel @other_element(%i: i32, %x: f16) attributes {threads = 64 : i32} {
  %s = tgpu.alloc_shared : !tgpu.smem<64xf32>
  // expected-error @+1 {{value type is not the element type}}
  tgpu.store_element %x, %s[%i : i32] : f16, !tgpu.smem<64xf32>
  tgpu.return
}

// -----

tgpu.kernel @too_many(%i: i32) attributes {threads = 64 : i32} {
  %s = tgpu.alloc_shared : !tgpu.smem<3xf32>
  // expected-error @+1 {{takes neighbours along the last dimension}}
  %x = tgpu.load_element %s[%i : i32] : !tgpu.smem<3xf32> -> vector<4xf32>
  tgpu.return
}

// -----

tgpu.kernel @compares_what_it_adds(%p: !tile.global<?xi32>, %i: i32) attributes {threads = 64 : i32} {
  %v = tgpu.view %p extents(%i : i32) strides() : !tile.global<?xi32> -> !tile.global<?xi32>
  // expected-error @+1 {{exchanges where the place holds a value of the type that it puts there}}
  tgpu.atomic <add> %i expecting %i, %v[%i] : i32 expecting i32, !tile.global<?xi32>[i32]
  tgpu.return
}

// -----

tgpu.kernel @returns_in_block_code(%p: !tile.global<?xi32>, %i: i32) attributes {threads = 64 : i32} {
  %v = tgpu.view %p extents(%i : i32) strides() : !tile.global<?xi32> -> !tile.global<?xi32>
  // expected-error @+1 {{returns the old value in code of single threads}}
  %0 = tgpu.atomic <add> %i, %v[%i] : i32, !tile.global<?xi32>[i32] -> i32
  tgpu.return
}

// -----

tgpu.kernel @old_elsewhere(%p: !tile.global<?xi32>, %i: i32) attributes {threads = 64 : i32} {
  %v = tgpu.view %p extents(%i : i32) strides() : !tile.global<?xi32> -> !tile.global<?xi32>
  %s = tgpu.alloc_shared : !tgpu.smem<2xi32>
  // expected-error @+1 {{puts the old values into a buffer of their shape and type}}
  tgpu.atomic <add> %i, %v[%i] old %s : i32, !tile.global<?xi32>[i32] old !tgpu.smem<2xi32>
  tgpu.return
}

// -----

tgpu.kernel @other_shape(%p: !tile.global<8xi32>, %x: tensor<4xi32>) attributes {threads = 64 : i32} {
  // expected-error @+1 {{value and place differ in shape or element type}}
  tgpu.atomic_tile <add> %x, %p : tensor<4xi32>, !tile.global<8xi32>
  tgpu.return
}

// -----

tgpu.kernel @exchanges_tiles(%p: !tile.global<8xi32>, %x: tensor<8xi32>) attributes {threads = 64 : i32} {
  // expected-error @+1 {{exchanges single elements only}}
  tgpu.atomic_tile <exchange> %x, %p : tensor<8xi32>, !tile.global<8xi32>
  tgpu.return
}

// -----

tgpu.kernel @other_type(%i: i32) attributes {threads = 64 : i32} {
  // expected-error @+1 {{gives elements of the array's type}}
  %0 = tgpu.lookup dense<[1.0, 2.0]> : tensor<2xf32>[%i] : i32 -> i32
  tgpu.return
}

// -----

tgpu.kernel @no_array(%i: i32) attributes {threads = 64 : i32} {
  // expected-error @+1 {{reads an array of rank 1 that has elements}}
  %0 = tgpu.lookup dense<[[1.0, 2.0]]> : tensor<1x2xf32>[%i] : i32 -> f32
  tgpu.return
}

// -----

tgpu.kernel @bounds(%n: i32) attributes {threads = 128 : i32} {
  %b = tgpu.alloc_shared : !tgpu.smem<64x8xf32>
  // expected-error @+1 {{has bounds of 1 dimensions for rank 2}}
  tgpu.zero_beyond %b from(%n) to(%n) : !tgpu.smem<64x8xf32>
  tgpu.return
}

// -----

// expected-error@+1 {{a buffer in shared memory has an extent of less than 1}}
!none = !tgpu.smem<0x64xf16>
