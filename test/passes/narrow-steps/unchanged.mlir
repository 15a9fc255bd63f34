// Steps that stay as they are.
// RUN: tile-opt --tgpu-narrow-steps %s --verify-diagnostics | FileCheck %s --implicit-check-not=tgpu.fragment_insert

#c = #tgpu.fragment<"128x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0:64,0">
#row = #tgpu.fragment<"128 reg 8 lane 0:0:1:2:4 warp 16:32:64">
#col = #tgpu.fragment<"64 reg 1:8:16:32 lane 2:4:0:0:0 warp 0:0:0">
!a = !tgpu.smem<128x64xf16, #tgpu.shared<"128x64 b16 contig 1 panel 64 swizzle 128">>
!b = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!acc = tensor<128x64xf32, #c>
!int = tensor<128x64xi32, #c>
!rows = tensor<128xi32, #row>
!cols = tensor<64xi32, #col>


// The same in all rows.
// CHECK-LABEL: tgpu.kernel @end_of_columns
tgpu.kernel @end_of_columns(%n: i32, %diag: i32, %fill: f32, %o: !tile.global<128x64xf32>) attributes {threads = 256 : i32, target = "sm_90a"} {
  %x = tgpu.alloc_shared {offset = 0 : i64} : !a
  %y = tgpu.alloc_shared {offset = 16384 : i64} : !b
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c63 = arith.constant 63 : i32
  %c64 = arith.constant 64 : i32
  %z = tile.splat %zero : f32 -> !acc
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%s = %z) -> (!acc) : i32 {
    tgpu.wgmma_fence
    %p = tgpu.wgmma %x, %y, %z {accumulate = false, mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 2, 1>, transpose_b} : !a, !b, !acc -> !tgpu.pending<!acc>
    tgpu.wgmma_commit
    %w = tgpu.wgmma_wait 0, %p : !tgpu.pending<!acc> -> !acc
    %first = arith.muli %k, %c64 : i32
    %last = arith.addi %first, %c63 : i32
    %on = arith.cmpi sgt, %last, %diag : i32
    %m = scf.if %on -> (!acc) {
      %cs = tile.splat %first : i32 -> !cols
      %j = tgpu.coordinate : !cols
      %col = arith.addi %cs, %j : !cols
      %row = tile.splat %diag : i32 -> !rows
      %cb = tile.broadcast %col along [0] : !cols -> !int
      %rb = tile.broadcast %row along [1] : !rows -> !int
      %hit = arith.cmpi sgt, %cb, %rb : !int
      %f = tile.splat %fill : f32 -> !acc
      %r = arith.select %hit, %f, %w : tensor<128x64xi1, #c>, !acc
      scf.yield %r : !acc
    } else {
      scf.yield %w : !acc
    }
    %t = arith.addf %s, %m : !acc
    scf.yield %t : !acc
  }
  tgpu.store %sum, %o {bytes = 4 : i32, path = #tgpu.path<vector>} : !acc, !tile.global<128x64xf32>
  tgpu.return
}

// Bounds of rows out of memory.
// CHECK-LABEL: tgpu.kernel @any_bounds
tgpu.kernel @any_bounds(%n: i32, %diag: i32, %fill: f32, %o: !tile.global<128x64xf32>) attributes {threads = 256 : i32, target = "sm_90a"} {
  %x = tgpu.alloc_shared {offset = 0 : i64} : !a
  %y = tgpu.alloc_shared {offset = 16384 : i64} : !b
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c63 = arith.constant 63 : i32
  %c64 = arith.constant 64 : i32
  %z = tile.splat %zero : f32 -> !acc
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%s = %z) -> (!acc) : i32 {
    tgpu.wgmma_fence
    %p = tgpu.wgmma %x, %y, %z {accumulate = false, mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 2, 1>, transpose_b} : !a, !b, !acc -> !tgpu.pending<!acc>
    tgpu.wgmma_commit
    %w = tgpu.wgmma_wait 0, %p : !tgpu.pending<!acc> -> !acc
    %first = arith.muli %k, %c64 : i32
    %last = arith.addi %first, %c63 : i32
    %on = arith.cmpi sgt, %last, %diag : i32
    %m = scf.if %on -> (!acc) {
      %cs = tile.splat %first : i32 -> !cols
      %j = tgpu.coordinate : !cols
      %col = arith.addi %cs, %j : !cols
      %table = tgpu.alloc_shared {offset = 32768 : i64} : !tgpu.smem<128xi32, #tgpu.shared<"128 b32 contig 0 panel 128">>
      %row = tgpu.local_load %table : !tgpu.smem<128xi32, #tgpu.shared<"128 b32 contig 0 panel 128">> -> !rows
      %cb = tile.broadcast %col along [0] : !cols -> !int
      %rb = tile.broadcast %row along [1] : !rows -> !int
      %hit = arith.cmpi sgt, %cb, %rb : !int
      %f = tile.splat %fill : f32 -> !acc
      %r = arith.select %hit, %f, %w : tensor<128x64xi1, #c>, !acc
      scf.yield %r : !acc
    } else {
      scf.yield %w : !acc
    }
    %t = arith.addf %s, %m : !acc
    scf.yield %t : !acc
  }
  tgpu.store %sum, %o {bytes = 4 : i32, path = #tgpu.path<vector>} : !acc, !tile.global<128x64xf32>
  tgpu.return
}

// Something else reads what the product gave.
// CHECK-LABEL: tgpu.kernel @seen_unmasked
tgpu.kernel @seen_unmasked(%n: i32, %diag: i32, %fill: f32, %o: !tile.global<128x64xf32>) attributes {threads = 256 : i32, target = "sm_90a"} {
  %x = tgpu.alloc_shared {offset = 0 : i64} : !a
  %y = tgpu.alloc_shared {offset = 16384 : i64} : !b
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c63 = arith.constant 63 : i32
  %c64 = arith.constant 64 : i32
  %z = tile.splat %zero : f32 -> !acc
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%s = %z) -> (!acc) : i32 {
    tgpu.wgmma_fence
    %p = tgpu.wgmma %x, %y, %z {accumulate = false, mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 2, 1>, transpose_b} : !a, !b, !acc -> !tgpu.pending<!acc>
    tgpu.wgmma_commit
    %w = tgpu.wgmma_wait 0, %p : !tgpu.pending<!acc> -> !acc
    %first = arith.muli %k, %c64 : i32
    %last = arith.addi %first, %c63 : i32
    %on = arith.cmpi sgt, %last, %diag : i32
    %m = scf.if %on -> (!acc) {
      %cs = tile.splat %first : i32 -> !cols
      %j = tgpu.coordinate : !cols
      %col = arith.addi %cs, %j : !cols
      %rs = tile.splat %diag : i32 -> !rows
      %i = tgpu.coordinate : !rows
      %row = arith.addi %rs, %i : !rows
      %cb = tile.broadcast %col along [0] : !cols -> !int
      %rb = tile.broadcast %row along [1] : !rows -> !int
      %hit = arith.cmpi sgt, %cb, %rb : !int
      %f = tile.splat %fill : f32 -> !acc
      %r = arith.select %hit, %f, %w : tensor<128x64xi1, #c>, !acc
      scf.yield %r : !acc
    } else {
      scf.yield %w : !acc
    }
    %t = arith.addf %w, %m : !acc
    scf.yield %t : !acc
  }
  tgpu.store %sum, %o {bytes = 4 : i32, path = #tgpu.path<vector>} : !acc, !tile.global<128x64xf32>
  tgpu.return
}

// The product adds to something.
// CHECK-LABEL: tgpu.kernel @accumulates
tgpu.kernel @accumulates(%n: i32, %diag: i32, %fill: f32, %o: !tile.global<128x64xf32>) attributes {threads = 256 : i32, target = "sm_90a"} {
  %x = tgpu.alloc_shared {offset = 0 : i64} : !a
  %y = tgpu.alloc_shared {offset = 16384 : i64} : !b
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c63 = arith.constant 63 : i32
  %c64 = arith.constant 64 : i32
  %z = tile.splat %zero : f32 -> !acc
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%s = %z) -> (!acc) : i32 {
    tgpu.wgmma_fence
    %p = tgpu.wgmma %x, %y, %z {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 2, 1>, transpose_b} : !a, !b, !acc -> !tgpu.pending<!acc>
    tgpu.wgmma_commit
    %w = tgpu.wgmma_wait 0, %p : !tgpu.pending<!acc> -> !acc
    %first = arith.muli %k, %c64 : i32
    %last = arith.addi %first, %c63 : i32
    %on = arith.cmpi sgt, %last, %diag : i32
    %m = scf.if %on -> (!acc) {
      %cs = tile.splat %first : i32 -> !cols
      %j = tgpu.coordinate : !cols
      %col = arith.addi %cs, %j : !cols
      %rs = tile.splat %diag : i32 -> !rows
      %i = tgpu.coordinate : !rows
      %row = arith.addi %rs, %i : !rows
      %cb = tile.broadcast %col along [0] : !cols -> !int
      %rb = tile.broadcast %row along [1] : !rows -> !int
      %hit = arith.cmpi sgt, %cb, %rb : !int
      %f = tile.splat %fill : f32 -> !acc
      %r = arith.select %hit, %f, %w : tensor<128x64xi1, #c>, !acc
      scf.yield %r : !acc
    } else {
      scf.yield %w : !acc
    }
    %t = arith.addf %s, %m : !acc
    scf.yield %t : !acc
  }
  tgpu.store %sum, %o {bytes = 4 : i32, path = #tgpu.path<vector>} : !acc, !tile.global<128x64xf32>
  tgpu.return
}

// What is filled in differs from place to place.
// CHECK-LABEL: tgpu.kernel @no_fill
tgpu.kernel @no_fill(%n: i32, %diag: i32, %fill: f32, %o: !tile.global<128x64xf32>) attributes {threads = 256 : i32, target = "sm_90a"} {
  %x = tgpu.alloc_shared {offset = 0 : i64} : !a
  %y = tgpu.alloc_shared {offset = 16384 : i64} : !b
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c63 = arith.constant 63 : i32
  %c64 = arith.constant 64 : i32
  %z = tile.splat %zero : f32 -> !acc
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%s = %z) -> (!acc) : i32 {
    tgpu.wgmma_fence
    %p = tgpu.wgmma %x, %y, %z {accumulate = false, mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 2, 1>, transpose_b} : !a, !b, !acc -> !tgpu.pending<!acc>
    tgpu.wgmma_commit
    %w = tgpu.wgmma_wait 0, %p : !tgpu.pending<!acc> -> !acc
    %first = arith.muli %k, %c64 : i32
    %last = arith.addi %first, %c63 : i32
    %on = arith.cmpi sgt, %last, %diag : i32
    %m = scf.if %on -> (!acc) {
      %cs = tile.splat %first : i32 -> !cols
      %j = tgpu.coordinate : !cols
      %col = arith.addi %cs, %j : !cols
      %rs = tile.splat %diag : i32 -> !rows
      %i = tgpu.coordinate : !rows
      %row = arith.addi %rs, %i : !rows
      %cb = tile.broadcast %col along [0] : !cols -> !int
      %rb = tile.broadcast %row along [1] : !rows -> !int
      %hit = arith.cmpi sgt, %cb, %rb : !int
      %f = tile.splat %fill : f32 -> !acc
      %r = arith.select %hit, %s, %w : tensor<128x64xi1, #c>, !acc
      scf.yield %r : !acc
    } else {
      scf.yield %w : !acc
    }
    %t = arith.addf %s, %m : !acc
    scf.yield %t : !acc
  }
  tgpu.store %sum, %o {bytes = 4 : i32, path = #tgpu.path<vector>} : !acc, !tile.global<128x64xf32>
  tgpu.return
}

// The mask does not choose what the product gave.
// CHECK-LABEL: tgpu.kernel @other_choice
tgpu.kernel @other_choice(%n: i32, %diag: i32, %fill: f32, %o: !tile.global<128x64xf32>) attributes {threads = 256 : i32, target = "sm_90a"} {
  %x = tgpu.alloc_shared {offset = 0 : i64} : !a
  %y = tgpu.alloc_shared {offset = 16384 : i64} : !b
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c63 = arith.constant 63 : i32
  %c64 = arith.constant 64 : i32
  %z = tile.splat %zero : f32 -> !acc
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%s = %z) -> (!acc) : i32 {
    tgpu.wgmma_fence
    %p = tgpu.wgmma %x, %y, %z {accumulate = false, mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 2, 1>, transpose_b} : !a, !b, !acc -> !tgpu.pending<!acc>
    tgpu.wgmma_commit
    %w = tgpu.wgmma_wait 0, %p : !tgpu.pending<!acc> -> !acc
    %first = arith.muli %k, %c64 : i32
    %last = arith.addi %first, %c63 : i32
    %on = arith.cmpi sgt, %last, %diag : i32
    %m = scf.if %on -> (!acc) {
      %cs = tile.splat %first : i32 -> !cols
      %j = tgpu.coordinate : !cols
      %col = arith.addi %cs, %j : !cols
      %rs = tile.splat %diag : i32 -> !rows
      %i = tgpu.coordinate : !rows
      %row = arith.addi %rs, %i : !rows
      %cb = tile.broadcast %col along [0] : !cols -> !int
      %rb = tile.broadcast %row along [1] : !rows -> !int
      %hit = arith.cmpi sgt, %cb, %rb : !int
      %f = tile.splat %fill : f32 -> !acc
      %r = arith.select %hit, %f, %s : tensor<128x64xi1, #c>, !acc
      scf.yield %r : !acc
    } else {
      scf.yield %w : !acc
    }
    %t = arith.addf %s, %m : !acc
    scf.yield %t : !acc
  }
  tgpu.store %sum, %o {bytes = 4 : i32, path = #tgpu.path<vector>} : !acc, !tile.global<128x64xf32>
  tgpu.return
}

// `@require(no_narrow)`.
// CHECK-LABEL: tgpu.kernel @not_to_be_made
tgpu.kernel @not_to_be_made(%n: i32, %diag: i32, %fill: f32, %o: !tile.global<128x64xf32>) attributes {threads = 256 : i32, target = "sm_90a"} {
  %x = tgpu.alloc_shared {offset = 0 : i64} : !a
  %y = tgpu.alloc_shared {offset = 16384 : i64} : !b
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c63 = arith.constant 63 : i32
  %c64 = arith.constant 64 : i32
  %z = tile.splat %zero : f32 -> !acc
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%s = %z) -> (!acc) : i32 {
    tgpu.wgmma_fence
    %p = tgpu.wgmma %x, %y, %z {accumulate = false, mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 2, 1>, transpose_b} : !a, !b, !acc -> !tgpu.pending<!acc>
    tgpu.wgmma_commit
    %w = tgpu.wgmma_wait 0, %p : !tgpu.pending<!acc> -> !acc
    %first = arith.muli %k, %c64 : i32
    %last = arith.addi %first, %c63 : i32
    %on = arith.cmpi sgt, %last, %diag : i32
    %m = scf.if %on -> (!acc) {
      %cs = tile.splat %first : i32 -> !cols
      %j = tgpu.coordinate : !cols
      %col = arith.addi %cs, %j : !cols
      %rs = tile.splat %diag : i32 -> !rows
      %i = tgpu.coordinate : !rows
      %row = arith.addi %rs, %i : !rows
      %cb = tile.broadcast %col along [0] : !cols -> !int
      %rb = tile.broadcast %row along [1] : !rows -> !int
      %hit = arith.cmpi sgt, %cb, %rb : !int
      %f = tile.splat %fill : f32 -> !acc
      %r = arith.select %hit, %f, %w : tensor<128x64xi1, #c>, !acc
      scf.yield %r : !acc
    } else {
      scf.yield %w : !acc
    }
    %t = arith.addf %s, %m : !acc
    scf.yield %t : !acc
  } {tile.require = ["no_narrow"]}
  tgpu.store %sum, %o {bytes = 4 : i32, path = #tgpu.path<vector>} : !acc, !tile.global<128x64xf32>
  tgpu.return
}

// A in registers.
// CHECK-LABEL: tgpu.kernel @a_in_registers
tgpu.kernel @a_in_registers(%n: i32, %diag: i32, %fill: f32, %o: !tile.global<128x64xf32>) attributes {threads = 256 : i32, target = "sm_90a"} {
  %x = tgpu.alloc_shared {offset = 0 : i64} : !a
  %y = tgpu.alloc_shared {offset = 16384 : i64} : !b
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c63 = arith.constant 63 : i32
  %c64 = arith.constant 64 : i32
  %half = arith.constant 0.0 : f16
  %in = tile.splat %half : f16 -> tensor<128x64xf16, #c>
  %z = tile.splat %zero : f32 -> !acc
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%s = %z) -> (!acc) : i32 {
    tgpu.wgmma_fence
    %p = tgpu.wgmma %in, %y, %z {accumulate = false, mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 2, 1>, transpose_b} : tensor<128x64xf16, #c>, !b, !acc -> !tgpu.pending<!acc>
    tgpu.wgmma_commit
    %w = tgpu.wgmma_wait 0, %p : !tgpu.pending<!acc> -> !acc reads %in : tensor<128x64xf16, #c>
    %first = arith.muli %k, %c64 : i32
    %last = arith.addi %first, %c63 : i32
    %on = arith.cmpi sgt, %last, %diag : i32
    %m = scf.if %on -> (!acc) {
      %cs = tile.splat %first : i32 -> !cols
      %j = tgpu.coordinate : !cols
      %col = arith.addi %cs, %j : !cols
      %rs = tile.splat %diag : i32 -> !rows
      %i = tgpu.coordinate : !rows
      %row = arith.addi %rs, %i : !rows
      %cb = tile.broadcast %col along [0] : !cols -> !int
      %rb = tile.broadcast %row along [1] : !rows -> !int
      %hit = arith.cmpi sgt, %cb, %rb : !int
      %f = tile.splat %fill : f32 -> !acc
      %r = arith.select %hit, %f, %w : tensor<128x64xi1, #c>, !acc
      scf.yield %r : !acc
    } else {
      scf.yield %w : !acc
    }
    %t = arith.addf %s, %m : !acc
    scf.yield %t : !acc
  }
  tgpu.store %sum, %o {bytes = 4 : i32, path = #tgpu.path<vector>} : !acc, !tile.global<128x64xf32>
  tgpu.return
}


// One condition for all elements.
// CHECK-LABEL: tgpu.kernel @scalar_condition
tgpu.kernel @scalar_condition(%n: i32, %diag: i32, %fill: f32, %o: !tile.global<128x64xf32>) attributes {threads = 256 : i32, target = "sm_90a"} {
  %x = tgpu.alloc_shared {offset = 0 : i64} : !a
  %y = tgpu.alloc_shared {offset = 16384 : i64} : !b
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c63 = arith.constant 63 : i32
  %c64 = arith.constant 64 : i32
  %z = tile.splat %zero : f32 -> !acc
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%s = %z) -> (!acc) : i32 {
    tgpu.wgmma_fence
    %p = tgpu.wgmma %x, %y, %z {accumulate = false, mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 2, 1>, transpose_b} : !a, !b, !acc -> !tgpu.pending<!acc>
    tgpu.wgmma_commit
    %w = tgpu.wgmma_wait 0, %p : !tgpu.pending<!acc> -> !acc
    %first = arith.muli %k, %c64 : i32
    %last = arith.addi %first, %c63 : i32
    %on = arith.cmpi sgt, %last, %diag : i32
    %m = scf.if %on -> (!acc) {
      %cs = tile.splat %first : i32 -> !cols
      %j = tgpu.coordinate : !cols
      %col = arith.addi %cs, %j : !cols
      %rs = tile.splat %diag : i32 -> !rows
      %i = tgpu.coordinate : !rows
      %row = arith.addi %rs, %i : !rows
      %cb = tile.broadcast %col along [0] : !cols -> !int
      %rb = tile.broadcast %row along [1] : !rows -> !int
      %hit = arith.cmpi sgt, %cb, %rb : !int
      %f = tile.splat %fill : f32 -> !acc
      %all = arith.cmpi sgt, %first, %n : i32
      %r = arith.select %all, %f, %w : !acc
      scf.yield %r : !acc
    } else {
      scf.yield %w : !acc
    }
    %t = arith.addf %s, %m : !acc
    scf.yield %t : !acc
  }
  tgpu.store %sum, %o {bytes = 4 : i32, path = #tgpu.path<vector>} : !acc, !tile.global<128x64xf32>
  tgpu.return
}


// What might not end for a sum that nobody has computed.
// CHECK-LABEL: tgpu.kernel @loop_of_elements
tgpu.kernel @loop_of_elements(%n: i32, %diag: i32, %fill: f32, %o: !tile.global<128x64xf32>) attributes {threads = 256 : i32, target = "sm_90a"} {
  %x = tgpu.alloc_shared {offset = 0 : i64} : !a
  %y = tgpu.alloc_shared {offset = 16384 : i64} : !b
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c63 = arith.constant 63 : i32
  %c64 = arith.constant 64 : i32
  %z = tile.splat %zero : f32 -> !acc
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%s = %z) -> (!acc) : i32 {
    tgpu.wgmma_fence
    %p = tgpu.wgmma %x, %y, %z {accumulate = false, mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 2, 1>, transpose_b} : !a, !b, !acc -> !tgpu.pending<!acc>
    tgpu.wgmma_commit
    %w = tgpu.wgmma_wait 0, %p : !tgpu.pending<!acc> -> !acc
    %first = arith.muli %k, %c64 : i32
    %last = arith.addi %first, %c63 : i32
    %on = arith.cmpi sgt, %last, %diag : i32
    %v = tile.map %w : !acc -> !acc {
    ^bb0(%e: f32):
      %l = scf.while (%d = %e) : (f32) -> f32 {
        %less = arith.cmpf olt, %d, %fill : f32
        scf.condition(%less) %d : f32
      } do {
      ^bb0(%d: f32):
        %twice = arith.addf %d, %d : f32
        scf.yield %twice : f32
      }
      tile.yield %l : f32
    }
    %m = scf.if %on -> (!acc) {
      %cs = tile.splat %first : i32 -> !cols
      %j = tgpu.coordinate : !cols
      %col = arith.addi %cs, %j : !cols
      %rs = tile.splat %diag : i32 -> !rows
      %i = tgpu.coordinate : !rows
      %row = arith.addi %rs, %i : !rows
      %cb = tile.broadcast %col along [0] : !cols -> !int
      %rb = tile.broadcast %row along [1] : !rows -> !int
      %hit = arith.cmpi sgt, %cb, %rb : !int
      %f = tile.splat %fill : f32 -> !acc
      %r = arith.select %hit, %f, %v : tensor<128x64xi1, #c>, !acc
      scf.yield %r : !acc
    } else {
      scf.yield %v : !acc
    }
    %t = arith.addf %s, %m : !acc
    scf.yield %t : !acc
  }
  tgpu.store %sum, %o {bytes = 4 : i32, path = #tgpu.path<vector>} : !acc, !tile.global<128x64xf32>
  tgpu.return
}


// What has no result for a sum that nobody has computed.
// CHECK-LABEL: tgpu.kernel @quotient
tgpu.kernel @quotient(%n: i32, %diag: i32, %fill: f32, %o: !tile.global<128x64xf32>) attributes {threads = 256 : i32, target = "sm_90a"} {
  %x = tgpu.alloc_shared {offset = 0 : i64} : !a
  %y = tgpu.alloc_shared {offset = 16384 : i64} : !b
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c63 = arith.constant 63 : i32
  %c64 = arith.constant 64 : i32
  %z = tile.splat %zero : f32 -> !acc
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%s = %z) -> (!acc) : i32 {
    tgpu.wgmma_fence
    %p = tgpu.wgmma %x, %y, %z {accumulate = false, mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 2, 1>, transpose_b} : !a, !b, !acc -> !tgpu.pending<!acc>
    tgpu.wgmma_commit
    %w = tgpu.wgmma_wait 0, %p : !tgpu.pending<!acc> -> !acc
    %first = arith.muli %k, %c64 : i32
    %last = arith.addi %first, %c63 : i32
    %on = arith.cmpi sgt, %last, %diag : i32
    %whole = arith.fptosi %w : !acc to !int
    %ns = tile.splat %n : i32 -> !int
    %quotient = arith.divsi %ns, %whole : !int
    %v = arith.sitofp %quotient : !int to !acc
    %m = scf.if %on -> (!acc) {
      %cs = tile.splat %first : i32 -> !cols
      %j = tgpu.coordinate : !cols
      %col = arith.addi %cs, %j : !cols
      %rs = tile.splat %diag : i32 -> !rows
      %i = tgpu.coordinate : !rows
      %row = arith.addi %rs, %i : !rows
      %cb = tile.broadcast %col along [0] : !cols -> !int
      %rb = tile.broadcast %row along [1] : !rows -> !int
      %hit = arith.cmpi sgt, %cb, %rb : !int
      %f = tile.splat %fill : f32 -> !acc
      %r = arith.select %hit, %f, %v : tensor<128x64xi1, #c>, !acc
      scf.yield %r : !acc
    } else {
      scf.yield %v : !acc
    }
    %t = arith.addf %s, %m : !acc
    scf.yield %t : !acc
  }
  tgpu.store %sum, %o {bytes = 4 : i32, path = #tgpu.path<vector>} : !acc, !tile.global<128x64xf32>
  tgpu.return
}


// No registers for what comes together behind copies.
// CHECK-LABEL: tgpu.kernel @few_registers
tgpu.kernel @few_registers(%n: i32, %diag: i32, %fill: f32, %o: !tile.global<128x64xf32>) attributes {max_registers = 72 : i32, threads = 256 : i32, target = "sm_90a"} {
  %x = tgpu.alloc_shared {offset = 0 : i64} : !a
  %y = tgpu.alloc_shared {offset = 16384 : i64} : !b
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c63 = arith.constant 63 : i32
  %c64 = arith.constant 64 : i32
  %z = tile.splat %zero : f32 -> !acc
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%s = %z) -> (!acc) : i32 {
    tgpu.wgmma_fence
    %p = tgpu.wgmma %x, %y, %z {accumulate = false, mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 2, 1>, transpose_b} : !a, !b, !acc -> !tgpu.pending<!acc>
    tgpu.wgmma_commit
    %w = tgpu.wgmma_wait 0, %p : !tgpu.pending<!acc> -> !acc
    %first = arith.muli %k, %c64 : i32
    %last = arith.addi %first, %c63 : i32
    %on = arith.cmpi sgt, %last, %diag : i32
    %m = scf.if %on -> (!acc) {
      %cs = tile.splat %first : i32 -> !cols
      %j = tgpu.coordinate : !cols
      %col = arith.addi %cs, %j : !cols
      %rs = tile.splat %diag : i32 -> !rows
      %i = tgpu.coordinate : !rows
      %row = arith.addi %rs, %i : !rows
      %cb = tile.broadcast %col along [0] : !cols -> !int
      %rb = tile.broadcast %row along [1] : !rows -> !int
      %hit = arith.cmpi sgt, %cb, %rb : !int
      %f = tile.splat %fill : f32 -> !acc
      %r = arith.select %hit, %f, %w : tensor<128x64xi1, #c>, !acc
      scf.yield %r : !acc
    } else {
      scf.yield %w : !acc
    }
    %t = arith.addf %s, %m : !acc
    scf.yield %t : !acc
  }
  tgpu.store %sum, %o {bytes = 4 : i32, path = #tgpu.path<vector>} : !acc, !tile.global<128x64xf32>
  tgpu.return
}

// Of a kernel without a target nobody knows how many registers it has.
// CHECK-LABEL: tgpu.kernel @no_target
tgpu.kernel @no_target(%n: i32, %diag: i32, %fill: f32, %o: !tile.global<128x64xf32>) attributes {threads = 256 : i32} {
  %x = tgpu.alloc_shared {offset = 0 : i64} : !a
  %y = tgpu.alloc_shared {offset = 16384 : i64} : !b
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c63 = arith.constant 63 : i32
  %c64 = arith.constant 64 : i32
  %z = tile.splat %zero : f32 -> !acc
  %sum = scf.for %k = %c0 to %n step %c1 iter_args(%s = %z) -> (!acc) : i32 {
    tgpu.wgmma_fence
    %p = tgpu.wgmma %x, %y, %z {accumulate = false, mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 2, 1>, transpose_b} : !a, !b, !acc -> !tgpu.pending<!acc>
    tgpu.wgmma_commit
    %w = tgpu.wgmma_wait 0, %p : !tgpu.pending<!acc> -> !acc
    %first = arith.muli %k, %c64 : i32
    %last = arith.addi %first, %c63 : i32
    %on = arith.cmpi sgt, %last, %diag : i32
    %m = scf.if %on -> (!acc) {
      %cs = tile.splat %first : i32 -> !cols
      %j = tgpu.coordinate : !cols
      %col = arith.addi %cs, %j : !cols
      %rs = tile.splat %diag : i32 -> !rows
      %i = tgpu.coordinate : !rows
      %row = arith.addi %rs, %i : !rows
      %cb = tile.broadcast %col along [0] : !cols -> !int
      %rb = tile.broadcast %row along [1] : !rows -> !int
      %hit = arith.cmpi sgt, %cb, %rb : !int
      %f = tile.splat %fill : f32 -> !acc
      %r = arith.select %hit, %f, %w : tensor<128x64xi1, #c>, !acc
      scf.yield %r : !acc
    } else {
      scf.yield %w : !acc
    }
    %t = arith.addf %s, %m : !acc
    scf.yield %t : !acc
  }
  tgpu.store %sum, %o {bytes = 4 : i32, path = #tgpu.path<vector>} : !acc, !tile.global<128x64xf32>
  tgpu.return
}

