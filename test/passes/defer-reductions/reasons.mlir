// Why a reduction is completed in each iteration, and what would help. What is no reduction of the loop, or comes back at another
// place, needs no reason.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-defer-reductions))' -verify-diagnostics -split-input-file | FileCheck %s --implicit-check-not=begin_partial

// What the reduction gives is not what is combined; the program wants it so.
!acc = tensor<64x16xf32, #tgpu.fragment<"64x16 reg 0,1:8,0:0,8 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!h = tensor<64x16xf16, #tgpu.fragment<"64x16 reg 0,1:8,0:0,8 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!row = tensor<64xf32, #tgpu.fragment<"64 reg 8 lane 0:0:1:2:4 warp 16:32">>
!hrow = tensor<64xf16, #tgpu.fragment<"64 reg 8 lane 0:0:1:2:4 warp 16:32">>
// CHECK-LABEL: tgpu.kernel @changed
tgpu.kernel @changed(%n: i32, %x: !acc, %h: !h, %f: !row, %start: !row, %hstart: !hrow) attributes {threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %l:4 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %start, %b = %start, %c = %start, %d = %hstart) -> (!row, !row, !row, !hrow) : i32 {
    // expected-remark-re@+1 {{line {{[0-9]+}} multiplies it by a factor: with that inside of it or behind the loop it could wait}}
    %r = tile.reduce <sum> %x axis 1 : !acc -> !row
    %rf = arith.mulf %f, %r : !row
    %a1 = arith.addf %rf, %a : !row
    // expected-remark-re@+1 {{line {{[0-9]+}} converts it: a reduction of what is converted could wait}}
    %q = tile.reduce <max> %h axis 1 : !h -> !hrow
    %qw = arith.extf %q : !hrow to !row
    %b1 = arith.maxnumf %b, %qw : !row
    // expected-remark-re@+1 {{line {{[0-9]+}} changes the value by something else than a reduction or a factor}}
    %t = tile.reduce <sum> %x axis 1 : !acc -> !row
    %c2 = arith.addf %c, %t : !row
    %c3 = arith.addf %c2, %f : !row
    // A difference of f16 would be rounded, too.
    // expected-remark@+1 {{each iteration rounds to f16}}
    %u = tile.reduce <sum> %h axis 1 : !h -> !hrow
    %d1 = arith.subf %d, %u : !hrow
    scf.yield %a1, %b1, %c3, %d1 : !row, !row, !row, !hrow
  }
  scf.for %i = %c0 to %n step %c1 iter_args(%a = %start) -> (!row) : i32 {
    // expected-remark@+1 {{`@require(no_partial)` asks for it}}
    %r = tile.reduce <sum> %x axis 1 : !acc -> !row
    %u = arith.addf %a, %r : !row
    scf.yield %u : !row
  } {require = ["no_partial"]}
  tgpu.return
}

// A branch combines what was reduced in front of it.
// CHECK-LABEL: tgpu.kernel @in_front
tgpu.kernel @in_front(%n: i32, %x: !acc, %start: !row, %c: i1) attributes {threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %l = scf.for %i = %c0 to %n step %c1 iter_args(%s = %start) -> (!row) : i32 {
    // expected-remark-re@+1 {{line {{[0-9]+}} combines it in a branch: made there, it could wait}}
    %r = tile.reduce <sum> %x axis 1 : !acc -> !row
    %b = scf.if %c -> (!row) {
      %u = arith.addf %s, %r : !row
      scf.yield %u : !row
    } else {
      scf.yield %s : !row
    }
    scf.yield %b : !row
  }
  tgpu.return
}

// -----

// Two reductions of one value: of different kinds, of tiles whose parts are in different threads. A factor elsewhere than the parts.
!x = tensor<8x64xi32, #tgpu.fragment<"8x64 reg 0,32:4,0 lane 0,1:0,2:0,4:0,8:0,16 warp 1,0:2,0">>
!y = tensor<8x64xi32, #tgpu.fragment<"8x64 reg 0,1:0,2:0,4 lane 0,8:0,16:0,32:1,0:2,0 warp 4,0:0,0">>
!xrow = tensor<8xi32, #tgpu.fragment<"8 reg 4 lane 0:0:0:0:0 warp 1:2">>
!yrow = tensor<8xi32, #tgpu.fragment<"8 reg - lane 0:0:0:1:2 warp 4:0">>
// CHECK-LABEL: tgpu.kernel @apart
tgpu.kernel @apart(%n: i32, %x: !x, %y: !y, %start: !xrow, %f: !yrow) attributes {threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %l:3 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %c0, %b = %start, %c = %start) -> (i32, !xrow, !xrow) : i32 {
    // expected-remark@+1 {{the loop combines reductions of different kinds in one value}}
    %r = tile.reduce <sum> %x : !x -> i32
    %a1 = arith.addi %a, %r : i32
    %q = tile.reduce <xor> %x : !x -> i32
    %a2 = arith.xori %a1, %q : i32
    // expected-remark@+1 {{the reductions that the loop combines in one value leave their parts in different threads}}
    %t = tile.reduce <sum> %x axis 1 : !x -> !xrow
    %b1 = arith.addi %b, %t : !xrow
    %u = tile.reduce <sum> %y axis 1 : !y -> !yrow
    %uc = tgpu.convert_layout %u : !yrow -> !xrow
    %b2 = arith.addi %b1, %uc : !xrow
    // expected-remark@+1 {{a factor of the value lies in other threads than the parts}}
    %v = tile.reduce <sum> %y axis 1 : !y -> !yrow
    %vc = tgpu.convert_layout %v : !yrow -> !xrow
    %c2 = arith.muli %c, %start : !xrow
    %c3 = arith.addi %c2, %vc : !xrow
    scf.yield %a2, %b2, %c3 : i32, !xrow, !xrow
  }
  tgpu.return
}

// -----

// Functions of the program's own, applied to tiles and to scalars: of two parts, either part first; one that is built in.
!x = tensor<64x16xf32, #tgpu.fragment<"64x16 reg 0,1:8,0:0,8 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!at = tensor<64x16xi32, #tgpu.fragment<"64x16 reg 0,1:8,0:0,8 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!row = tensor<64xf32, #tgpu.fragment<"64 reg 8 lane 0:0:1:2:4 warp 16:32">>
!rowat = tensor<64xi32, #tgpu.fragment<"64 reg 8 lane 0:0:1:2:4 warp 16:32">>
// CHECK-LABEL: tgpu.kernel @own
tgpu.kernel @own(%n: i32, %x: !x, %at: !at, %start: !row, %startat: !rowat, %z: f32) attributes {threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %l:5 = scf.for %i = %c0 to %n step %c1 iter_args(%p = %start, %q = %startat, %v = %z, %k = %c0, %top = %start) -> (!row, !rowat, f32, i32, !row) : i32 {
    // expected-remark@+1 {{parts would begin with a neutral element, which nobody knows of a function; it can be applied to whole tiles in the loop, `t = f(t, x)`, and the tile be reduced behind it}}
    %r:2 = tile.reduce_with %x, %at axis 1 : !x, !at -> !row, !rowat {
    ^bb0(%av: f32, %ai: i32, %bv: f32, %bi: i32):
      %more = arith.cmpf ogt, %av, %bv : f32
      %v1 = arith.select %more, %av, %bv : f32
      %i1 = arith.select %more, %ai, %bi : i32
      tile.yield %v1, %i1 : f32, i32
    }
    %m:2 = tile.map %p, %q, %r#0, %r#1 : !row, !rowat, !row, !rowat -> !row, !rowat {
    ^bb0(%av: f32, %ai: i32, %bv: f32, %bi: i32):
      %more = arith.cmpf ogt, %av, %bv : f32
      %v1 = arith.select %more, %av, %bv : f32
      %i1 = arith.select %more, %ai, %bi : i32
      tile.yield %v1, %i1 : f32, i32
    }
    // expected-remark@+1 {{which nobody knows of a function; it can be applied}}
    %s:2 = tile.reduce_with %x, %at : !x, !at -> f32, i32 {
    ^bb0(%av: f32, %ai: i32, %bv: f32, %bi: i32):
      %more = arith.cmpf ogt, %av, %bv : f32
      %v1 = arith.select %more, %av, %bv : f32
      %sum = arith.addi %ai, %bi : i32
      tile.yield %v1, %sum : f32, i32
    }
    %more = arith.cmpf ogt, %s#0, %v : f32
    %v1 = arith.select %more, %s#0, %v : f32
    %k1 = arith.addi %k, %s#1 : i32
    // expected-remark@+1 {{which nobody knows of a function: `reduce_max` could wait}}
    %t = tile.reduce_with %x axis 1 : !x -> !row {
    ^bb0(%a: f32, %b: f32):
      %greater = arith.maxnumf %a, %b : f32
      tile.yield %greater : f32
    }
    %top1 = arith.maxnumf %t, %top : !row
    scf.yield %m#0, %m#1, %v1, %k1, %top1 : !row, !rowat, f32, i32, !row
  }
  tgpu.return
}

// No remark: another function than the reduction's, carried at each other's places, one of the parts alone, and what is only added up.
// CHECK-LABEL: tgpu.kernel @no_reason
tgpu.kernel @no_reason(%n: i32, %x: !x, %at: !at, %start: !row, %z: f32) attributes {threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %l:5 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %z, %b = %z, %c = %z, %d = %z, %e = %start) -> (f32, f32, f32, f32, !row) : i32 {
    %r = tile.reduce_with %x : !x -> f32 {
    ^bb0(%p: f32, %q: f32):
      %s = arith.maxnumf %p, %q : f32
      tile.yield %s : f32
    }
    %a1 = arith.minnumf %a, %r : f32
    %b1 = arith.maxnumf %c, %r : f32
    %c2 = arith.maxnumf %b, %r : f32
    %s:2 = tile.reduce_with %x, %at : !x, !at -> f32, i32 {
    ^bb0(%av: f32, %ai: i32, %bv: f32, %bi: i32):
      %more = arith.cmpf ogt, %av, %bv : f32
      %v1 = arith.select %more, %av, %bv : f32
      %i1 = arith.select %more, %ai, %bi : i32
      tile.yield %v1, %i1 : f32, i32
    }
    %more = arith.cmpf ogt, %d, %s#0 : f32
    %d1 = arith.select %more, %d, %s#0 : f32
    %e1 = arith.addf %e, %start : !row
    scf.yield %a1, %b1, %c2, %d1, %e1 : f32, f32, f32, f32, !row
  }
  tgpu.return
}
