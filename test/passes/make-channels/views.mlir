// What TMA loads from beyond the bounds of a view becomes zero once it has landed, before the first reader; in a branch, so that other
// tiles do not pay.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-make-channels))' -verify-diagnostics -split-input-file | FileCheck %s

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
// The same rows in all iterations: computed once. The columns are the tensor's.
// CHECK-LABEL: tgpu.kernel @rows
// CHECK-SAME: %[[FROM:[a-z0-9]+]]: i32, %[[ROWS:[a-z0-9]+]]: i32, %[[ROW:[a-z0-9]+]]: i32
// CHECK-DAG: %[[R:.*]] = arith.extsi %[[ROW]] : i32 to i64
// CHECK-DAG: %[[S:.*]] = arith.extsi %[[ROWS]] : i32 to i64
// CHECK: %[[LOW:.*]] = arith.subi %{{.*}}, %[[R]] : i64
// CHECK: %[[HIGH:.*]] = arith.subi %[[S]], %[[R]] : i64
// CHECK: %[[L:.*]] = arith.trunci
// CHECK: %[[H:.*]] = arith.trunci
// CHECK: %[[BEFORE:.*]] = arith.cmpi sgt, %[[LOW]], %{{.*}} : i64
// CHECK: %[[BEHIND:.*]] = arith.cmpi slt, %[[HIGH]], %{{.*}} : i64
// CHECK: %[[PART:.*]] = arith.ori %[[BEFORE]], %[[BEHIND]] : i1
// CHECK: scf.for
// CHECK: tgpu.tma_load
// CHECK: tgpu.wait
// CHECK: %[[SLOT:.*]] = tgpu.slot
// CHECK-NOT: arith.extsi
// CHECK: scf.if %[[PART]] {
// CHECK-NEXT: tgpu.zero_beyond %[[SLOT]] from(%[[L]], %{{.*}}) to(%[[H]], %{{.*}})
// CHECK-NEXT: }
// CHECK: tgpu.fma
// CHECK: tgpu.release
tgpu.kernel @rows(%a: !g {tgpu.align = 16 : i64}, %from: i32, %rows: i32, %row: i32, %m: i32, %n: i32 {tgpu.divisible = 8 : i64}, %z: !acc, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %v = tgpu.view %a extents(%m, %n : i32, i32) strides(%n : i32) : !g -> !g
  %part = tile.slice %v[%from, %c0] sizes [-9223372036854775808, -9223372036854775808](%rows, %n : i32, i32) : !g, i32, i32 -> !g
  %s = tgpu.alloc_shared "S" : !s
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %z) -> (!acc) : i32 {
    %k = arith.muli %i, %c64 : i32
    %t = tile.slice %part[%row, %k] sizes [64, 64] : !g, i32, i32 -> !t
    // expected-remark @+1 {{what TMA loads from beyond the bounds of the view is set to zero when it has landed}}
    tgpu.copy %t to %s {path = #tgpu.path<tma>, bytes = 16 : i32, tgpu.schedule = #tgpu.stage<0, 0>} : !t, !s
    %d = tgpu.fma %s, %s, %c {tgpu.schedule = #tgpu.stage<1, 1>} : !s, !s, !acc -> !acc
    scf.yield %d : !acc
  } {tile.stages = 2 : i32, tgpu.pipeline = #tgpu.pipeline<tma, stages = 2>}
  tgpu.store %r, %o : !acc, !tile.global<64x64xf32>
  tgpu.return
}

// -----

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<?x?x?xf16>
!h = !tile.global<5x?x100xf16>
!t = !tile.global<64x64xf16>
// Columns and a matrix that the loop chooses: computed in each iteration. A matrix outside
// of the view is zero as a whole.
// CHECK-LABEL: tgpu.kernel @columns
// CHECK: scf.for %[[J:[a-z0-9]+]] =
// CHECK: %[[K:.*]] = arith.muli %[[J]], %{{.*}} : i32
// CHECK: tgpu.wait
// CHECK: %[[N:.*]] = arith.extsi %[[J]] : i32 to i64
// CHECK: %[[FIRST:.*]] = arith.cmpi sge, %[[N]], %{{.*}} : i64
// CHECK: %[[LAST:.*]] = arith.cmpi slt, %[[N]], %{{.*}} : i64
// CHECK: %[[IN:.*]] = arith.andi %[[FIRST]], %[[LAST]] : i1
// CHECK: arith.extsi %[[K]] : i32 to i64
// CHECK: %[[ROWS:.*]] = arith.select %[[IN]], %{{.*}}, %{{.*}} : i32
// CHECK: arith.xori %[[IN]]
// CHECK: scf.if
// CHECK-NEXT: tgpu.zero_beyond %{{.*}} from(%{{.*}}, %{{.*}}) to(%[[ROWS]], %{{.*}})
tgpu.kernel @columns(%a: !g {tgpu.align = 16 : i64}, %l: i32, %m: i32, %n: i32 {tgpu.divisible = 8 : i64}, %z: !acc, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %v = tgpu.view %a extents(%l, %m, %n : i32, i32, i32) strides(%n, %n : i32, i32) : !g -> !g
  %part = tile.slice %v[%c1, %c0, %c64] sizes [5, -9223372036854775808, 100](%m : i32) : !g, i32, i32, i32 -> !h
  %s = tgpu.alloc_shared "S" : !s
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %z) -> (!acc) : i32 {
    %k = arith.muli %i, %c64 : i32
    %t = tile.slice %part[%i, %c0, %k] sizes [-1, 64, 64] : !h, i32, i32, i32 -> !t
    // expected-remark @+1 {{what TMA loads from beyond the bounds of the view is set to zero when it has landed}}
    tgpu.copy %t to %s {path = #tgpu.path<tma>, bytes = 16 : i32, tgpu.schedule = #tgpu.stage<0, 0>} : !t, !s
    %d = tgpu.fma %s, %s, %c {tgpu.schedule = #tgpu.stage<1, 1>} : !s, !s, !acc -> !acc
    scf.yield %d : !acc
  } {tile.stages = 2 : i32, tgpu.pipeline = #tgpu.pipeline<tma, stages = 2>}
  tgpu.store %r, %o : !acc, !tile.global<64x64xf32>
  tgpu.return
}

// -----

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<?x?xf16>
!h = !tile.global<100x?xf16>
!t = !tile.global<64x64xf16>
// The loop around chooses the rows; it is another loop once it carries the position of the ring.
// CHECK-LABEL: tgpu.kernel @rows_of_a_loop_around
// CHECK: scf.for %[[J:[a-z0-9]+]] = {{.*}} iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}})
// CHECK: %[[R:.*]] = arith.extsi %[[J]] : i32 to i64
// CHECK: arith.subi %{{.*}}, %[[R]] : i64
// CHECK: arith.subi %{{.*}}, %[[R]] : i64
// CHECK: scf.for
// CHECK: tgpu.wait
// CHECK: scf.if
// CHECK-NEXT: tgpu.zero_beyond
tgpu.kernel @rows_of_a_loop_around(%a: !g {tgpu.align = 16 : i64}, %m: i32, %n: i32 {tgpu.divisible = 8 : i64}, %z: !acc, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %v = tgpu.view %a extents(%m, %n : i32, i32) strides(%n : i32) : !g -> !g
  %part = tile.slice %v[%c0, %c0] sizes [100, -9223372036854775808](%n : i32) : !g, i32, i32 -> !h
  %all = scf.for %j = %c0 to %m step %c1 iter_args(%b = %z) -> (!acc) : i32 {
    %s = tgpu.alloc_shared "S" : !s
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %b) -> (!acc) : i32 {
      %k = arith.muli %i, %c64 : i32
      %t = tile.slice %part[%j, %k] sizes [64, 64] : !h, i32, i32 -> !t
      // expected-remark @+1 {{what TMA loads from beyond the bounds of the view is set to zero when it has landed}}
      tgpu.copy %t to %s {path = #tgpu.path<tma>, bytes = 16 : i32, tgpu.schedule = #tgpu.stage<0, 0>} : !t, !s
      %d = tgpu.fma %s, %s, %c {tgpu.schedule = #tgpu.stage<1, 1>} : !s, !s, !acc -> !acc
      scf.yield %d : !acc
    } {tile.stages = 2 : i32, tgpu.pipeline = #tgpu.pipeline<tma, stages = 2>}
    scf.yield %r : !acc
  }
  tgpu.store %all, %o : !acc, !tile.global<64x64xf32>
  tgpu.return
}
