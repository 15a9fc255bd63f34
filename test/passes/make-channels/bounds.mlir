// Iterations are counted from zero: lower bound, step and type of the loop's variable come back where it is used.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-make-channels))' -verify-diagnostics -split-input-file | FileCheck %s

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>
// CHECK-LABEL: tgpu.kernel @step
// CHECK-SAME: %[[N:[a-z0-9]+]]: i32 {tgpu.divisible
// CHECK-DAG: %[[C5:.*]] = arith.constant 5 : i32
// CHECK-DAG: %[[C3:.*]] = arith.constant 3 : i32
// CHECK: %[[RUNS:.*]] = arith.cmpi slt, %[[C5]], %[[N]]
// CHECK: %[[D:.*]] = arith.subi %[[N]], %[[C5]]
// CHECK: %[[T:.*]] = arith.ceildivui %[[D]], %[[C3]]
// CHECK: %[[TRIPS:.*]] = arith.select %[[RUNS]], %[[T]], %{{.*}}
// CHECK: scf.for %[[J:[a-z0-9]+]] = %{{.*}} to %[[TRIPS]]
// CHECK: %[[S:.*]] = arith.muli %{{.*}}, %[[C3]]
// CHECK: arith.addi %[[C5]], %[[S]]
tgpu.kernel @step(%a: !g {tgpu.align = 16 : i64}, %m: i32, %n: i32 {tgpu.divisible = 8 : i64}, %z: !acc, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %c5 = arith.constant 5 : i32
  %c3 = arith.constant 3 : i32
  %v = tgpu.view %a extents(%m, %n : i32, i32) strides(%n : i32) : !g -> !g
  %s = tgpu.alloc_shared "S" : !s
  %r = scf.for %i = %c5 to %n step %c3 iter_args(%c = %z) -> (!acc) : i32 {
    %k = arith.muli %i, %c64 : i32
    %t = tile.slice %v[%c0, %k] sizes [64, 64] : !g, i32, i32 -> !t
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
!t = !tile.global<64x64xf16>
// CHECK-LABEL: tgpu.kernel @wide
// CHECK: %[[T:.*]] = arith.maxsi %{{.*}} : i64
// CHECK: arith.trunci %[[T]] : i64 to i32
// CHECK: scf.for
// CHECK: arith.extsi %{{.*}} : i32 to i64
tgpu.kernel @wide(%a: !g {tgpu.align = 16 : i64}, %m: i32, %n: i32 {tgpu.divisible = 8 : i64}, %z: !acc, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %nw = arith.extsi %n : i32 to i64
  %l0 = arith.constant 0 : i64
  %l1 = arith.constant 1 : i64
  %v = tgpu.view %a extents(%m, %n : i32, i32) strides(%n : i32) : !g -> !g
  %s = tgpu.alloc_shared "S" : !s
  %r = scf.for %i = %l0 to %nw step %l1 iter_args(%c = %z) -> (!acc) : i64 {
    %j32 = arith.trunci %i : i64 to i32
    %k = arith.muli %j32, %c64 : i32
    %t = tile.slice %v[%c0, %k] sizes [64, 64] : !g, i32, i32 -> !t
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
!t = !tile.global<64x64xf16>
// CHECK-LABEL: tgpu.kernel @index
// CHECK: %[[T:.*]] = arith.maxsi %{{.*}} : index
// CHECK: arith.index_cast %[[T]] : index to i32
// CHECK: scf.for
// CHECK: arith.index_cast %{{.*}} : i32 to index
tgpu.kernel @index(%a: !g {tgpu.align = 16 : i64}, %m: i32, %n: i32 {tgpu.divisible = 8 : i64}, %z: !acc, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %nw = arith.index_cast %n : i32 to index
  %l0 = arith.constant 0 : index
  %l1 = arith.constant 1 : index
  %v = tgpu.view %a extents(%m, %n : i32, i32) strides(%n : i32) : !g -> !g
  %s = tgpu.alloc_shared "S" : !s
  %r = scf.for %i = %l0 to %nw step %l1 iter_args(%c = %z) -> (!acc) {
    %j32 = arith.index_cast %i : index to i32
    %k = arith.muli %j32, %c64 : i32
    %t = tile.slice %v[%c0, %k] sizes [64, 64] : !g, i32, i32 -> !t
    tgpu.copy %t to %s {path = #tgpu.path<tma>, bytes = 16 : i32, tgpu.schedule = #tgpu.stage<0, 0>} : !t, !s
    %d = tgpu.fma %s, %s, %c {tgpu.schedule = #tgpu.stage<1, 1>} : !s, !s, !acc -> !acc
    scf.yield %d : !acc
  } {tile.stages = 2 : i32, tgpu.pipeline = #tgpu.pipeline<tma, stages = 2>}
  tgpu.store %r, %o : !acc, !tile.global<64x64xf32>
  tgpu.return
}
