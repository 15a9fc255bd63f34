// What stays complete in the loop: nothing here changes, and a remark says why.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-defer-reductions))' -verify-diagnostics -split-input-file | FileCheck %s --implicit-check-not=partial

!acc = tensor<64x16xf32, #tgpu.fragment<"64x16 reg 0,1:8,0:0,8 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!row = tensor<64xf32, #tgpu.fragment<"64 reg 8 lane 0:0:1:2:4 warp 16:32">>
// The online softmax's row maximum: the loop reads it.
// CHECK-LABEL: tgpu.kernel @read
tgpu.kernel @read(%n: i32, %x: !acc, %start: !row) attributes {threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %l:2 = scf.for %i = %c0 to %n step %c1 iter_args(%m = %start, %d = %start) -> (!row, !row) : i32 {
    // expected-remark-re@+1 {{the loop completes this reduction in each iteration, not once behind it: line {{[0-9]+}} reads what the loop has combined so far}}
    %r = tile.reduce <max> %x axis 1 : !acc -> !row
    %u = arith.maxnumf %m, %r : !row
    %e = arith.subf %m, %u : !row
    scf.yield %u, %e : !row, !row
  }
  tgpu.return
}

// Another reader of the reduction: it has to be complete in each iteration all the same. Of the sum: so has that.
// CHECK-LABEL: tgpu.kernel @other_reader
tgpu.kernel @other_reader(%n: i32, %x: !acc, %start: !row) attributes {threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %l:3 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %start, %t = %start, %d = %start) -> (!row, !row, !row) : i32 {
    // expected-remark-re@+1 {{line {{[0-9]+}} takes its result, too}}
    %r = tile.reduce <sum> %x axis 1 : !acc -> !row
    %u = arith.addf %s, %r : !row
    // expected-remark-re@+1 {{line {{[0-9]+}} reads what the loop has combined so far}}
    %q = tile.reduce <max> %x axis 1 : !acc -> !row
    %v = arith.maxnumf %t, %q : !row
    %w = arith.subf %r, %v : !row
    scf.yield %u, %v, %w : !row, !row, !row
  }
  tgpu.return
}

// Other steps: a sum that is combined by maximum, a scaled maximum, a difference, a reduction of before the loop.
// CHECK-LABEL: tgpu.kernel @other_steps
tgpu.kernel @other_steps(%n: i32, %x: !acc, %start: !row, %f: !row) attributes {threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %before = tile.reduce <sum> %x axis 1 : !acc -> !row
  %l:4 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %start, %b = %start, %c = %start, %d = %start) -> (!row, !row, !row, !row) : i32 {
    %r = tile.reduce <sum> %x axis 1 : !acc -> !row
    %a1 = arith.maxnumf %a, %r : !row
    // expected-remark@+1 {{the loop multiplies the value, too, and factors distribute over sums only}}
    %q = tile.reduce <max> %x axis 1 : !acc -> !row
    %b1 = arith.mulf %b, %f : !row
    %b2 = arith.maxnumf %b1, %q : !row
    // expected-remark-re@+1 {{line {{[0-9]+}} subtracts it: a sum of what is negated could wait}}
    %t = tile.reduce <sum> %x axis 1 : !acc -> !row
    %c2 = arith.subf %c, %t : !row
    %d1 = arith.addf %d, %before : !row
    scf.yield %a1, %b2, %c2, %d1 : !row, !row, !row, !row
  }
  tgpu.return
}

// Places that change: what is summed is another value in the next iteration.
// CHECK-LABEL: tgpu.kernel @exchanged
tgpu.kernel @exchanged(%n: i32, %x: !acc, %start: !row) attributes {threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %l:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %start, %b = %start) -> (!row, !row) : i32 {
    %r = tile.reduce <sum> %x axis 1 : !acc -> !row
    %a1 = arith.addf %a, %r : !row
    scf.yield %b, %a1 : !row, !row
  }
  tgpu.return
}

// The factor of a product of floats may make it overflow where the whole does not; nor are parts of an f16 sum rounded as it is.
!h = tensor<64x16xf16, #tgpu.fragment<"64x16 reg 0,1:8,0:0,8 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!hrow = tensor<64xf16, #tgpu.fragment<"64 reg 8 lane 0:0:1:2:4 warp 16:32">>
// CHECK-LABEL: tgpu.kernel @kinds
tgpu.kernel @kinds(%n: i32, %x: !acc, %h: !h, %start: !row, %hstart: !hrow) attributes {threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %l:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %start, %b = %hstart) -> (!row, !hrow) : i32 {
    // expected-remark@+1 {{a product of one thread's floats may overflow where the whole does not}}
    %r = tile.reduce <prod> %x axis 1 : !acc -> !row
    %a1 = arith.mulf %a, %r : !row
    // expected-remark@+1 {{each iteration rounds to f16: a sum of f32, `reduce_sum(f32(x))`, could wait}}
    %q = tile.reduce <sum> %h axis 1 : !h -> !hrow
    %b1 = arith.addf %b, %q : !hrow
    scf.yield %a1, %b1 : !row, !hrow
  }
  tgpu.return
}

// A row that one thread has: there is nothing to put off. A `while` whose condition reads the sum, one that is its condition.
!own = tensor<128x4xf32, #tgpu.fragment<"128x4 reg 0,1:0,2 lane 1,0:2,0:4,0:8,0:16,0 warp 32,0:64,0">>
!ownrow = tensor<128xf32, #tgpu.fragment<"128 reg - lane 1:2:4:8:16 warp 32:64">>
// CHECK-LABEL: tgpu.kernel @nothing_to_do
tgpu.kernel @nothing_to_do(%n: i32, %x: !own, %start: !ownrow, %y: !acc, %limit: f32) attributes {threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %l = scf.for %i = %c0 to %n step %c1 iter_args(%s = %start) -> (!ownrow) : i32 {
    // expected-remark@+1 {{the loop completes this reduction in each iteration, not once behind it: each thread has all the elements, so that nothing would be saved}}
    %r = tile.reduce <sum> %x axis 1 : !own -> !ownrow
    %u = arith.addf %s, %r : !ownrow
    scf.yield %u : !ownrow
  }
  %w = scf.while (%s = %limit) : (f32) -> (f32) {
    %more = arith.cmpf olt, %s, %limit : f32
    scf.condition(%more) %s : f32
  } do {
  ^bb0(%s: f32):
    // expected-remark@+1 {{the loop's condition reads what it has combined so far}}
    %r = tile.reduce <sum> %y : !acc -> f32
    %u = arith.addf %s, %r : f32
    scf.yield %u : f32
  }
  %true = arith.constant true
  %b = arith.constant dense<true> : tensor<64x16xi1>
  scf.while (%more = %true) : (i1) -> () {
    scf.condition(%more)
  } do {
    %r = tile.reduce <and> %b : tensor<64x16xi1> -> i1
    scf.yield %r : i1
  }
  tgpu.return
}

// -----

// Of branches: one that begins anew, one that reads the sum, one that hands it on at another place, and one that it decides on.
!x = tensor<8x64xi32, #tgpu.fragment<"8x64 reg 0,32:4,0 lane 0,1:0,2:0,4:0,8:0,16 warp 1,0:2,0">>
!flags = tensor<8x64xi1, #tgpu.fragment<"8x64 reg 0,32:4,0 lane 0,1:0,2:0,4:0,8:0,16 warp 1,0:2,0">>
// CHECK-LABEL: tgpu.kernel @branches
tgpu.kernel @branches(%n: i32, %x: !x, %f: !flags, %c: i1) attributes {threads = 128 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %false = arith.constant false
  %l:5 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %c0, %t = %c0, %v = %c0, %w = %c0, %any = %false) -> (i32, i32, i32, i32, i1) : i32 {
    %a = scf.if %c -> (i32) {
      // expected-remark-re@+1 {{the branch of line {{[0-9]+}} may set the value to something else}}
      %r = tile.reduce <sum> %x : !x -> i32
      %u = arith.addi %s, %r : i32
      scf.yield %u : i32
    } else {
      scf.yield %c0 : i32
    }
    %b = scf.if %c -> (i32) {
      // expected-remark-re@+1 {{line {{[0-9]+}} reads what the loop has combined so far}}
      %r = tile.reduce <sum> %x : !x -> i32
      %u = arith.addi %t, %r : i32
      scf.yield %u : i32
    } else {
      %u = arith.subi %n, %t : i32
      scf.yield %u : i32
    }
    %d:2 = scf.if %c -> (i32, i32) {
      // expected-remark@+1 {{another variable takes what the loop has combined so far}}
      %r = tile.reduce <sum> %x : !x -> i32
      %u = arith.addi %v, %r : i32
      scf.yield %u, %w : i32, i32
    } else {
      scf.yield %w, %v : i32, i32
    }
    %e = scf.if %any -> (i1) {
      // expected-remark-re@+1 {{line {{[0-9]+}} reads what the loop has combined so far}}
      %r = tile.reduce <or> %f : !flags -> i1
      %u = arith.ori %any, %r : i1
      scf.yield %u : i1
    } else {
      scf.yield %any : i1
    }
    scf.yield %a, %b, %d#0, %d#1, %e : i32, i32, i32, i32, i1
  }
  tgpu.return
}
