// The position of a ring goes on through branches and `while` loops around its loop: where another path is taken, it stays.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-make-channels))' -split-input-file | FileCheck %s

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>

// CHECK-LABEL: tgpu.kernel @branch
// CHECK: scf.for {{.*}} iter_args(%[[P:.*]] = %c0_i32
// CHECK: %[[NEXT:.*]] = scf.if {{.*}} -> (i32) {
// CHECK: %[[TRIPS:.*]] = arith.maxsi
// CHECK: tgpu.tma_load
// CHECK: %[[END:.*]] = arith.addi %[[P]], %[[TRIPS]]
// CHECK: scf.yield %[[END]]
// CHECK: else
// CHECK-NEXT: scf.yield %[[P]]
// CHECK: scf.yield %[[NEXT]]
tgpu.kernel @branch(%a: !g {tgpu.align = 16 : i64}, %m: i32, %n: i32 {tgpu.divisible = 8 : i64}, %z: !acc, %q: i1, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %v = tgpu.view %a extents(%m, %n : i32, i32) strides(%n : i32) : !g -> !g
  %s = tgpu.alloc_shared "S" : !s
  scf.for %j = %c0 to %m step %c1 : i32 {
    scf.if %q {
      %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %z) -> (!acc) : i32 {
        %t = tile.slice %v[%c0, %i] sizes [64, 64] : !g, i32, i32 -> !t
        tgpu.copy %t to %s {path = #tgpu.path<tma>, bytes = 16 : i32, tgpu.schedule = #tgpu.stage<0, 0>} : !t, !s
        %d = tgpu.fma %s, %s, %c {tgpu.schedule = #tgpu.stage<1, 1>} : !s, !s, !acc -> !acc
        scf.yield %d : !acc
      } {tile.stages = 2 : i32, tgpu.pipeline = #tgpu.pipeline<tma, stages = 2>}
      tgpu.store %r, %o : !acc, !tile.global<64x64xf32>
    }
  }
  tgpu.return
}

// -----

!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!acc = tensor<64x64xf32, #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">>
!g = !tile.global<?x?xf16>
!t = !tile.global<64x64xf16>

// CHECK-LABEL: tgpu.kernel @while
// CHECK: scf.while (%[[I:.*]] = {{.*}}, %[[P:.*]] = %c0_i32
// CHECK: scf.condition(%{{.*}}) %[[I]], %[[P]]
// CHECK: ^bb0(%{{.*}}: i32, %[[Q:.*]]: i32):
// CHECK: %[[TRIPS:.*]] = arith.maxsi
// CHECK: tgpu.tma_load
// CHECK: %[[END:.*]] = arith.addi %[[Q]], %[[TRIPS]]
// CHECK: scf.yield %{{.*}}, %[[END]]
tgpu.kernel @while(%a: !g {tgpu.align = 16 : i64}, %m: i32, %n: i32 {tgpu.divisible = 8 : i64}, %z: !acc, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %v = tgpu.view %a extents(%m, %n : i32, i32) strides(%n : i32) : !g -> !g
  %s = tgpu.alloc_shared "S" : !s
  scf.while (%i = %c0) : (i32) -> i32 {
    %more = arith.cmpi slt, %i, %m : i32
    scf.condition(%more) %i : i32
  } do {
  ^bb0(%i: i32):
    %r = scf.for %k = %c0 to %n step %c1 iter_args(%c = %z) -> (!acc) : i32 {
      %t = tile.slice %v[%c0, %k] sizes [64, 64] : !g, i32, i32 -> !t
      tgpu.copy %t to %s {path = #tgpu.path<tma>, bytes = 16 : i32, tgpu.schedule = #tgpu.stage<0, 0>} : !t, !s
      %d = tgpu.fma %s, %s, %c {tgpu.schedule = #tgpu.stage<1, 1>} : !s, !s, !acc -> !acc
      scf.yield %d : !acc
    } {tile.stages = 2 : i32, tgpu.pipeline = #tgpu.pipeline<tma, stages = 2>}
    tgpu.store %r, %o : !acc, !tile.global<64x64xf32>
    %next = arith.addi %i, %c1 : i32
    scf.yield %next : i32
  }
  tgpu.return
}
