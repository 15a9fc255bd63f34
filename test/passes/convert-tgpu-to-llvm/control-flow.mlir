// Loops and branches become blocks, whatever stands in which region of which.
// RUN: tile-opt %s --convert-tgpu-to-llvm | FileCheck %s

// CHECK-LABEL: llvm.func @nested
// CHECK-NOT: scf.
// CHECK: llvm.br ^[[TEST:bb[0-9]+]](%{{.*}} : i32)
// CHECK: ^[[TEST]](%[[I:.*]]: i32):
// CHECK: llvm.cond_br %{{.*}}, ^[[ASKED:bb[0-9]+]], ^[[JOIN:bb[0-9]+]]
// CHECK: ^[[ASKED]]:
// CHECK: @$2 st.global.b32 [$0], $1;
// CHECK: ^[[STORED:bb[0-9]+]]:
// CHECK-NEXT: llvm.br ^[[JOIN]]
// CHECK: ^[[JOIN]]:
// CHECK: %[[MORE:.*]] = llvm.icmp "slt" %[[I]], %arg2
// CHECK: llvm.cond_br %[[MORE]], ^[[BODY:bb[0-9]+]](%[[I]] : i32), ^[[END:bb[0-9]+]]
// CHECK: ^[[BODY]](%[[J:.*]]: i32):
// CHECK: llvm.br ^[[LOOP:bb[0-9]+]](%{{.*}}, %[[J]] : i32, i32)
// CHECK: ^[[LOOP]](%[[K:.*]]: i32, %[[SUM:.*]]: i32):
// CHECK: llvm.cond_br %{{.*}}, ^[[TRIP:bb[0-9]+]], ^[[AFTER:bb[0-9]+]]
// CHECK: ^[[TRIP]]:
// CHECK: llvm.cond_br %{{.*}}, ^{{bb[0-9]+}}, ^{{bb[0-9]+}}
// CHECK: llvm.br ^[[LOOP]](%{{.*}}, %{{.*}} : i32, i32)
// CHECK: ^[[AFTER]]:
// CHECK: llvm.add %[[SUM]]
// CHECK: llvm.br ^[[TEST]](%{{.*}} : i32)
// CHECK: ^[[END]]:
// CHECK: llvm.return
tgpu.kernel @nested(%a: !tile.global<?xi32>, %n: i32, %x: i32, %y: i32) attributes {target = "sm_80", threads = 32 : i32} {
  %v = tgpu.view %a extents(%n : i32) strides() : !tile.global<?xi32> -> !tile.global<?xi32>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %end = scf.while (%i = %c0) : (i32) -> i32 {
    %asked = arith.cmpi eq, %i, %y : i32
    scf.if %asked {
      tile.store %i, %v[%c0 : i32] : i32, !tile.global<?xi32>
    }
    %more = arith.cmpi slt, %i, %x : i32
    scf.condition(%more) %i : i32
  } do {
  ^bb0(%j: i32):
    %sum = scf.for %k = %c0 to %y step %c1 iter_args(%s = %j) -> (i32) : i32 {
      %same = arith.cmpi eq, %k, %x : i32
      %next = scf.if %same -> i32 {
        tile.store %k, %v[%c1 : i32] : i32, !tile.global<?xi32>
        scf.yield %s : i32
      } else {
        %t = arith.addi %s, %k : i32
        scf.yield %t : i32
      }
      scf.yield %next : i32
    }
    %up = arith.addi %sum, %c1 : i32
    scf.yield %up : i32
  }
  tgpu.return
}
