// A loop carries bytes that were loaded as words as these words, four to a register; what is computed by elements stays so, unless
// there are too many: then integers of 8 and 16 bits share registers.
// RUN: tile-opt --convert-tgpu-to-llvm --split-input-file %s | FileCheck %s

#acc = #tgpu.fragment<"16x8 reg 0,1:8,0 lane 0,2:0,4:1,0:2,0:4,0 warp -">
#a8 = #tgpu.fragment<"16x32 reg 0,1:0,2:8,0:0,16 lane 0,4:0,8:1,0:2,0:4,0 warp -">
#b8 = #tgpu.fragment<"32x8 reg 1,0:2,0:16,0 lane 4,0:8,0:0,1:0,2:0,4 warp -">
#sa8 = #tgpu.shared<"16x32 b8 contig 1 panel 32 swizzle 32">
#sb8 = #tgpu.shared<"32x8 b8 contig 0 panel 32 swizzle 32">
!g = !tile.global<?x?xi32>
!a = tensor<16x32xi8, #a8>
!c = tensor<16x8xi32, #acc>

// The counter, four slots of the accumulator, four words of A, and sixteen bytes that are computed.
// CHECK-LABEL: llvm.func @carried
// CHECK: llvm.br ^[[LOOP:bb[0-9]+]](%{{.*}} : i32, i32, i32, i32, i32, i32, i32, i32, i32, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8, i8)
// CHECK: ^[[LOOP]](
// CHECK: llvm.bitcast %{{.*}} : i32 to vector<4xi8>
// CHECK: llvm.br ^[[LOOP]](%{{.*}} : i32, i32, i32, i32, i32, i32, i32, i32, i32, i8,
tgpu.kernel @carried(%C: !g, %n: i32) attributes {threads = 32 : i32, target = "sm_80", shared_bytes = 2048 : i64} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %sa = tgpu.alloc_shared {offset = 0 : i64} : !tgpu.smem<16x32xi8, #sa8>
  %sb = tgpu.alloc_shared {offset = 1024 : i64} : !tgpu.smem<32x8xi8, #sb8>
  %zero = arith.constant dense<0> : !c
  %none = arith.constant dense<0> : !a
  %b = tgpu.local_load %sb : !tgpu.smem<32x8xi8, #sb8> -> tensor<32x8xi8, #b8>
  %first = tgpu.local_load %sa : !tgpu.smem<16x32xi8, #sa8> -> !a
  %sum:3 = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero, %a = %first, %seen = %none) -> (!c, !a, !a) : i32 {
    %more = tgpu.mma %a, %b, %acc {mma = #tgpu.mma<mma_sync, 16, 8, 32, warps = 1, 1>} : !a, tensor<32x8xi8, #b8>, !c -> !c
    %all = arith.addi %seen, %a : !a
    %next = tgpu.local_load %sa : !tgpu.smem<16x32xi8, #sa8> -> !a
    scf.yield %more, %next, %all : !c, !a, !a
  }
  %rest = tgpu.mma %sum#2, %b, %sum#0 {mma = #tgpu.mma<mma_sync, 16, 8, 32, warps = 1, 1>} : !a, tensor<32x8xi8, #b8>, !c -> !c
  %v = tgpu.view %C extents(%n, %n : i32, i32) strides(%n : i32) : !g -> !g
  %t = tile.slice %v[%c0, %c0] sizes [16, 8] : !g, i32, i32 -> !tile.global<16x8xi32>
  tgpu.store %rest, %t : !c, !tile.global<16x8xi32>
  tgpu.return
}

// -----

// 128 bytes, 64 numbers of 16 bits and 4 bytes would take 196 registers of 255: they take 32, 32 and 1.
#bytes = #tgpu.fragment<"32x128 reg 0,1:0,2:0,4:0,8:0,16:0,32:0,64 lane 1,0:2,0:4,0:8,0:16,0 warp -">
#shorts = #tgpu.fragment<"32x64 reg 0,1:0,2:0,4:0,8:0,16:0,32 lane 1,0:2,0:4,0:8,0:16,0 warp -">
#few = #tgpu.fragment<"32x4 reg 0,1:0,2 lane 1,0:2,0:4,0:8,0:16,0 warp -">
!bytes = tensor<32x128xi8, #bytes>
!shorts = tensor<32x64xi16, #shorts>
!few = tensor<32x4xi8, #few>
// CHECK-LABEL: llvm.func @crowded
// CHECK: llvm.br ^[[LOOP:bb[0-9]+]](%{{.*}} : i32{{(, i32){65}[)]}}
// CHECK: llvm.bitcast %{{.*}} : i32 to vector<4xi8>
// CHECK: llvm.bitcast %{{.*}} : i32 to vector<2xi16>
// CHECK: llvm.br ^[[LOOP]](%{{.*}} : i32{{(, i32){65}[)]}}
tgpu.kernel @crowded(%C: !tile.global<?x?xi8>, %D: !tile.global<?x?xi16>, %n: i32, %x: i8, %y: i16) attributes {threads = 32 : i32, target = "sm_80"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %b = tile.splat %x : i8 -> !bytes
  %s = tile.splat %y : i16 -> !shorts
  %f = tile.splat %x : i8 -> !few
  %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%p = %b, %q = %s, %t = %f) -> (!bytes, !shorts, !few) : i32 {
    %p1 = arith.addi %p, %b : !bytes
    %q1 = arith.addi %q, %s : !shorts
    %t1 = arith.addi %t, %f : !few
    scf.yield %p1, %q1, %t1 : !bytes, !shorts, !few
  }
  %v = tgpu.view %C extents(%n, %n : i32, i32) strides(%n : i32) : !tile.global<?x?xi8> -> !tile.global<?x?xi8>
  %to = tile.slice %v[%c0, %c0] sizes [32, 128] : !tile.global<?x?xi8>, i32, i32 -> !tile.global<32x128xi8>
  tgpu.store %r#0, %to : !bytes, !tile.global<32x128xi8>
  %first = tile.slice %v[%c0, %c0] sizes [32, 4] : !tile.global<?x?xi8>, i32, i32 -> !tile.global<32x4xi8>
  tgpu.store %r#2, %first : !few, !tile.global<32x4xi8>
  %w = tgpu.view %D extents(%n, %n : i32, i32) strides(%n : i32) : !tile.global<?x?xi16> -> !tile.global<?x?xi16>
  %there = tile.slice %w[%c0, %c0] sizes [32, 64] : !tile.global<?x?xi16>, i32, i32 -> !tile.global<32x64xi16>
  tgpu.store %r#1, %there : !shorts, !tile.global<32x64xi16>
  tgpu.return
}

// -----

// Numbers of f16 and bf16 pass through loops and branches in words of two: what products take. One alone stays what it is.
#pairs = #tgpu.fragment<"32x4 reg 0,1:0,2 lane 1,0:2,0:4,0:8,0:16,0 warp -">
#single = #tgpu.fragment<"32 reg - lane 1:2:4:8:16 warp -">
!pairs = tensor<32x4xf16, #pairs>
!brain = tensor<32x4xbf16, #pairs>
!single = tensor<32xf16, #single>
// CHECK-LABEL: llvm.func @halves
// CHECK: llvm.br ^[[LOOP:bb[0-9]+]](%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : i32, i32, i32, i32, i32, f16)
// CHECK: ^[[LOOP]](
// CHECK: llvm.br ^[[JOIN:bb[0-9]+]](%{{.*}}, %{{.*}}, %{{.*}} : i32, i32, f16)
// CHECK: llvm.br ^[[JOIN]](%{{.*}}, %{{.*}}, %{{.*}} : i32, i32, f16)
// CHECK: ^[[JOIN]](%{{.*}}: i32, %{{.*}}: i32, %{{.*}}: f16):
// CHECK: llvm.br ^[[LOOP]](%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : i32, i32, i32, i32, i32, f16)
// CHECK: llvm.br ^[[WHILE:bb[0-9]+]](%{{.*}}, %{{.*}}, %{{.*}} : i32, i32, i32)
// CHECK: ^[[WHILE]](
// CHECK: llvm.br ^[[WHILE]](%{{.*}}, %{{.*}}, %{{.*}} : i32, i32, i32)
tgpu.kernel @halves(%C: !tile.global<?xf16>, %n: i32, %x: f16, %y: bf16, %test: i1) attributes {threads = 32 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %a = tile.splat %x : f16 -> !pairs
  %b = tile.splat %y : bf16 -> !brain
  %s = tile.splat %x : f16 -> !single
  %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%p = %a, %q = %b, %t = %s) -> (!pairs, !brain, !single) : i32 {
    %p1, %t1 = scf.if %test -> (!pairs, !single) {
      %p2 = arith.mulf %p, %p : !pairs
      scf.yield %p2, %t : !pairs, !single
    } else {
      %t2 = arith.mulf %t, %t : !single
      scf.yield %p, %t2 : !pairs, !single
    }
    %q1 = arith.mulf %q, %q : !brain
    scf.yield %p1, %q1, %t1 : !pairs, !brain, !single
  }
  %w:2 = scf.while (%i = %c0, %p = %r#0) : (i32, !pairs) -> (i32, !pairs) {
    %more = arith.cmpi slt, %i, %n : i32
    scf.condition(%more) %i, %p : i32, !pairs
  } do {
  ^bb0(%i: i32, %p: !pairs):
    %j = arith.addi %i, %c1 : i32
    %p1 = arith.mulf %p, %p : !pairs
    scf.yield %j, %p1 : i32, !pairs
  }
  %v = tgpu.view %C extents(%n : i32) strides() : !tile.global<?xf16> -> !tile.global<?xf16>
  %brain = tile.convert %r#1 : !brain to !pairs
  %sum = arith.addf %w#1, %brain : !pairs
  %sums = tile.reduce <sum> %sum axis 1 : !pairs -> !single
  %all = arith.addf %sums, %r#2 : !single
  %to = tile.slice %v[%c0] sizes [32] : !tile.global<?xf16>, i32 -> !tile.global<32xf16>
  tgpu.store %all, %to : !single, !tile.global<32xf16>
  tgpu.return
}

// -----

// Halves that were loaded one by one stay apart: a word of two would wait for both at the end of the branch. What is computed of them is
// a word again, and so are many (the last value): each would take a register.
#pair = #tgpu.fragment<"32x2 reg 0,1 lane 1,0:2,0:4,0:8,0:16,0 warp -">
#many = #tgpu.fragment<"32x32 reg 0,1:0,2:0,4:0,8:0,16 lane 1,0:2,0:4,0:8,0:16,0 warp -">
!pair = tensor<32x2xf16, #pair>
!many = tensor<32x32xf16, #many>
!g = !tile.global<?x?xf16>
// CHECK-LABEL: llvm.func @loads_ahead
// CHECK: llvm.cond_br %{{.*}}, ^{{.*}}, ^{{.*}}
// CHECK: llvm.br ^[[FIRST:bb[0-9]+]](%{{.*}}, %{{.*}} : f16, f16)
// CHECK: ^[[FIRST]](%{{.*}}: f16, %{{.*}}: f16):
// CHECK: llvm.br ^[[LOOP:bb[0-9]+]](%{{.*}} : i32, f16, f16, i32{{(, i32){16}[)]}}
// CHECK: ^[[LOOP]](
// CHECK: llvm.br ^[[LOOP]](%{{.*}} : i32, f16, f16, i32{{(, i32){16}[)]}}
tgpu.kernel @loads_ahead(%X: !g, %Y: !g, %n: i32, %test: i1, %x: f16) attributes {threads = 32 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %v = tgpu.view %X extents(%n, %n : i32, i32) strides(%n : i32) : !g -> !g
  %w = tgpu.view %Y extents(%n, %n : i32, i32) strides(%n : i32) : !g -> !g
  %zero = tile.splat %x : f16 -> !pair
  %first = scf.if %test -> (!pair) {
    %t = tile.slice %v[%c0, %c0] sizes [32, 2] : !g, i32, i32 -> !tile.global<32x2xf16>
    %l = tgpu.load %t {bytes = 2 : i32} : !tile.global<32x2xf16> -> !pair
    scf.yield %l : !pair
  } else {
    scf.yield %zero : !pair
  }
  %wide = tile.slice %v[%c0, %c0] sizes [32, 32] : !g, i32, i32 -> !tile.global<32x32xf16>
  %m = tgpu.load %wide {bytes = 2 : i32} : !tile.global<32x32xf16> -> !many
  %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%p = %first, %s = %zero, %q = %m) -> (!pair, !pair, !many) : i32 {
    %t = tile.slice %v[%c0, %i] sizes [32, 2] : !g, i32, i32 -> !tile.global<32x2xf16>
    %l = tgpu.load %t {bytes = 2 : i32} : !tile.global<32x2xf16> -> !pair
    %s1 = arith.addf %s, %p : !pair
    %q1 = arith.mulf %q, %q : !many
    scf.yield %l, %s1, %q1 : !pair, !pair, !many
  }
  %to = tile.slice %w[%c0, %c0] sizes [32, 2] : !g, i32, i32 -> !tile.global<32x2xf16>
  tgpu.store %r#1, %to : !pair, !tile.global<32x2xf16>
  %there = tile.slice %w[%c0, %c1] sizes [32, 32] : !g, i32, i32 -> !tile.global<32x32xf16>
  tgpu.store %r#2, %there : !many, !tile.global<32x32xf16>
  tgpu.return
}
