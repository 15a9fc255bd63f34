// All that a loop carries passes from the first loop to the second; places are computed with 64 bits, and the other side of the branch that is
// gone is done in its place.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-split-loops,canonicalize))' -verify-diagnostics | FileCheck %s

#acc = #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">
!s = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!f = tensor<64x64xf32, #acc>
!p = !tgpu.pending<!f>

// CHECK-LABEL: tgpu.kernel @before(
// CHECK-SAME: %[[LO:[a-z0-9]+]]: i32, %[[HI:[a-z0-9]+]]: i32, %[[B:[a-z0-9]+]]: i32, %[[E:[a-z0-9]+]]: i32, %[[Z:[a-z0-9]+]]: tensor
// 64 j + b > e: floor((e - b) / 64) + 1, between the bounds.
// CHECK-DAG: %[[LEAST:.*]] = arith.constant -2147483648 : i64
// CHECK-DAG: %[[B64:.*]] = arith.extsi %[[B]] : i32 to i64
// CHECK-DAG: %[[E64:.*]] = arith.extsi %[[E]] : i32 to i64
// CHECK-DAG: %[[LO64:.*]] = arith.extsi %[[LO]] : i32 to i64
// CHECK-DAG: %[[HI64:.*]] = arith.extsi %[[HI]] : i32 to i64
// CHECK: %[[D:.*]] = arith.subi %[[E64]], %[[B64]] : i64
// CHECK: %[[Q:.*]] = arith.floordivsi %[[D]], %c64_i64 : i64
// CHECK: %[[C:.*]] = arith.addi %[[Q]], %c1_i64 : i64
// CHECK: %[[MAX:.*]] = arith.maxsi %[[C]], %[[LO64]] : i64
// CHECK: %[[MIN:.*]] = arith.minsi %[[MAX]], %[[HI64]] : i64
// No iteration counts where the least number, that of the first one, does not fit.
// CHECK: %[[M:.*]] = arith.muli %[[LO64]], %c64_i64 : i64
// CHECK: %[[FIRST:.*]] = arith.addi %[[M]], %[[B64]] : i64
// CHECK: %[[EXACT:.*]] = arith.cmpi sge, %[[FIRST]], %[[LEAST]] : i64
// CHECK: %[[PLACE64:.*]] = arith.select %[[EXACT]], %[[MIN]], %[[LO64]] : i64
// CHECK: %[[PLACE32:.*]] = arith.trunci %[[PLACE64]] : i64 to i32
// CHECK: %[[ABOVE:.*]] = arith.maxsi %[[PLACE32]], %[[LO]] : i32
// CHECK: %[[PLACE:.*]] = arith.minsi %[[ABOVE]], %[[HI]] : i32
// CHECK: %[[R:.*]]:3 = scf.for %[[I:.*]] = %[[LO]] to %[[PLACE]] step %c1_i32 iter_args(%[[SUM:.*]] = %[[Z]], %[[COUNT:.*]] = %c0_i32, %[[OLD:.*]] = %c1_i32)
// CHECK: %[[W:.*]] = tgpu.wgmma_wait
// CHECK-NOT: arith.cmpi
// CHECK: %[[NEG:.*]] = arith.negf %[[W]]
// CHECK: %[[NEXT:.*]] = arith.addi %[[COUNT]], %[[I]]
// CHECK: scf.yield %[[NEG]], %[[NEXT]], %[[COUNT]]
// CHECK: } {tgpu.pipeline = #tgpu.pipeline<tma, stages = 2>}
// CHECK: %[[L:.*]]:3 = scf.for %[[J:.*]] = %[[PLACE]] to %[[HI]] step %c1_i32 iter_args(%[[SUM:.*]] = %[[R]]#0, %[[COUNT:.*]] = %[[R]]#1, %[[OLD:.*]] = %[[R]]#2)
// CHECK: %[[U:.*]] = arith.muli %[[J]], %c64_i32
// CHECK: %[[V:.*]] = arith.addi %[[U]], %[[B]]
// CHECK: %[[T:.*]] = arith.cmpi sgt, %[[V]], %[[E]]
// CHECK: %[[X:.*]]:2 = scf.if %[[T]]
// CHECK: math.exp2
// CHECK: } else {
// CHECK: arith.negf
// CHECK: scf.yield %[[X]]#0, %[[X]]#1, %[[COUNT]]
// CHECK: } {tgpu.pipeline = #tgpu.pipeline<tma, stages = 2>}
// CHECK: tgpu.store %[[L]]#0
// CHECK: tile.store %[[L]]#1, %{{.*}}[%[[L]]#2 : i32]
tgpu.kernel @before(%lo: i32, %hi: i32, %b: i32, %e: i32, %z: !f, %o: !tile.global<64x64xf32>, %g: !tile.global<?xi32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %a = tgpu.alloc_shared "A" : !s
  %r:3 = scf.for %j = %lo to %hi step %c1 iter_args(%c = %z, %count = %c0, %old = %c1) -> (!f, i32, i32) : i32 {
    %q = tgpu.wgmma %a, %a, %c {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !s, !s, !f -> !p
    %d = tgpu.wgmma_wait 0, %q : !p -> !f
    %u = arith.muli %j, %c64 : i32
    %v = arith.addi %u, %b : i32
    %t = arith.cmpi sgt, %v, %e : i32
    // expected-remark @+1 {{the loop is cut where this condition turns: no test and no branch before}}
    %x:2 = scf.if %t -> (!f, i32) {
      %y = math.exp2 %d : !f
      scf.yield %y, %old : !f, i32
    } else {
      %n = arith.negf %d : !f
      %next = arith.addi %count, %j : i32
      scf.yield %n, %next : !f, i32
    }
    scf.yield %x#0, %x#1, %count : !f, i32, i32
  } {tgpu.pipeline = #tgpu.pipeline<tma, stages = 2>}
  tgpu.store %r#0, %o : !f, !tile.global<64x64xf32>
  tile.store %r#1, %g[%r#2 : i32] : i32, !tile.global<?xi32>
  tgpu.return
}

// The last side: b - 3 j >= e up to floor((b - e) / 3). Its last iteration, hi - 1, has the least number.
// CHECK-LABEL: tgpu.kernel @behind(
// CHECK-SAME: %[[LO:[a-z0-9]+]]: i32, %[[HI:[a-z0-9]+]]: i32, %[[B:[a-z0-9]+]]: i32, %[[E:[a-z0-9]+]]: i32, %[[Z:[a-z0-9]+]]: tensor
// CHECK-DAG: %[[LEAST:.*]] = arith.constant -2147483648 : i64
// CHECK-DAG: %[[B64:.*]] = arith.extsi %[[B]] : i32 to i64
// CHECK-DAG: %[[E64:.*]] = arith.extsi %[[E]] : i32 to i64
// CHECK-DAG: %[[LO64:.*]] = arith.extsi %[[LO]] : i32 to i64
// CHECK-DAG: %[[HI64:.*]] = arith.extsi %[[HI]] : i32 to i64
// CHECK-DAG: %[[LIMIT:.*]] = arith.subi %[[E64]], %c1_i64 : i64
// CHECK: %[[D:.*]] = arith.subi %[[LIMIT]], %[[B64]] : i64
// CHECK: %[[MINUS:.*]] = arith.subi %c0_i64, %[[D]] : i64
// CHECK: %[[C:.*]] = arith.ceildivsi %[[MINUS]], %c3_i64 : i64
// CHECK: %[[MAX:.*]] = arith.maxsi %[[C]], %[[LO64]] : i64
// CHECK: %[[MIN:.*]] = arith.minsi %[[MAX]], %[[HI64]] : i64
// CHECK: %[[END:.*]] = arith.subi %[[HI64]], %c1_i64 : i64
// CHECK: %[[M:.*]] = arith.muli %[[END]], %c-3_i64 : i64
// CHECK: %[[LAST:.*]] = arith.addi %[[M]], %[[B64]] : i64
// CHECK: %[[EXACT:.*]] = arith.cmpi sge, %[[LAST]], %[[LEAST]] : i64
// CHECK: arith.select %[[EXACT]], %[[MIN]], %[[HI64]] : i64
// CHECK: %[[R:.*]] = scf.for
// CHECK: arith.cmpi sge
// CHECK: scf.if
// CHECK: %[[L:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %[[R]])
// CHECK-NOT: scf.if
// CHECK: tgpu.store %[[L]]
tgpu.kernel @behind(%lo: i32, %hi: i32, %b: i32, %e: i32, %z: !f, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c1 = arith.constant 1 : i32
  %c3 = arith.constant 3 : i32
  %a = tgpu.alloc_shared "A" : !s
  %r = scf.for %j = %lo to %hi step %c1 iter_args(%c = %z) -> (!f) : i32 {
    %q = tgpu.wgmma %a, %a, %c {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !s, !s, !f -> !p
    %d = tgpu.wgmma_wait 0, %q : !p -> !f
    %u = arith.muli %c3, %j : i32
    %v = arith.subi %b, %u : i32
    %t = arith.cmpi sge, %v, %e : i32
    // expected-remark @+1 {{the loop is cut where this condition turns: no test and no branch behind}}
    %x = scf.if %t -> (!f) {
      %y = math.exp2 %d : !f
      scf.yield %y : !f
    } else {
      scf.yield %d : !f
    }
    scf.yield %x : !f
  }
  tgpu.store %r, %o : !f, !tile.global<64x64xf32>
  tgpu.return
}

// Of numbers that are above the bound on the side without the branch the largest has to fit.
// CHECK-LABEL: tgpu.kernel @greatest(
// CHECK-DAG: %[[MOST:.*]] = arith.constant 2147483647 : i64
// CHECK: arith.cmpi sle, %{{.*}}, %[[MOST]] : i64
// CHECK: arith.select
// CHECK: scf.for
// CHECK: arith.cmpi slt
// CHECK: scf.if
// CHECK: scf.for
// CHECK-NOT: scf.if
// CHECK: tgpu.return
tgpu.kernel @greatest(%lo: i32, %hi: i32, %b: i32, %e: i32, %z: !f, %o: !tile.global<64x64xf32>) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c1 = arith.constant 1 : i32
  %a = tgpu.alloc_shared "A" : !s
  %r = scf.for %j = %lo to %hi step %c1 iter_args(%c = %z) -> (!f) : i32 {
    %q = tgpu.wgmma %a, %a, %c {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !s, !s, !f -> !p
    %d = tgpu.wgmma_wait 0, %q : !p -> !f
    %v = arith.addi %j, %b : i32
    %t = arith.cmpi slt, %v, %e : i32
    // expected-remark @+1 {{the loop is cut where this condition turns: no test and no branch behind}}
    %x = scf.if %t -> (!f) {
      %y = math.exp2 %d : !f
      scf.yield %y : !f
    } else {
      scf.yield %d : !f
    }
    scf.yield %x : !f
  }
  tgpu.store %r, %o : !f, !tile.global<64x64xf32>
  tgpu.return
}
