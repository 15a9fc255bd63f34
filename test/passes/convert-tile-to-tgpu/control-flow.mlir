// Loops and branches carry the fragments and variables that they assign, and no others.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(convert-tile-to-tgpu))' | FileCheck %s

// CHECK-LABEL: tgpu.kernel @for
// CHECK: %[[A0:.*]] = tgpu.load
// CHECK: %[[B0:.*]] = tgpu.load
// CHECK: %[[R:.*]]:2 = scf.for %{{.*}} iter_args(%[[OWN:.*]] = %{{.*}}, %[[A:.*]] = %[[A0]]) -> (i32, tensor<64xf32>)
// CHECK: %[[A1:.*]] = arith.addf %[[A]], %[[B0]]
// CHECK: %[[OWN1:.*]] = arith.addi %[[OWN]]
// CHECK: scf.yield %[[OWN1]], %[[A1]]
// CHECK: } {tile.stages = 3 : i32}
// CHECK: tgpu.store %[[R]]#1
// CHECK: tgpu.store %[[B0]]
// CHECK: tile.store %[[R]]#0
tgpu.kernel @for(%g: !tile.global<64xf32>, %h: !tile.global<?xi32>, %n: i32) attributes {threads = 64 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %a = tile.alloc "a" : !tile.buffer<64xf32, fragment>
  %b = tile.alloc "b" : !tile.buffer<64xf32, fragment>
  tile.copy %g to %a : !tile.global<64xf32>, !tile.buffer<64xf32, fragment>
  tile.copy %g to %b : !tile.global<64xf32>, !tile.buffer<64xf32, fragment>
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%own = %c0) -> (i32) : i32 {
    %x = tile.read %a : !tile.buffer<64xf32, fragment> -> tensor<64xf32>
    %y = tile.read %b : !tile.buffer<64xf32, fragment> -> tensor<64xf32>
    %t = tile.alloc "t" : !tile.buffer<64xf32, fragment>
    %z = arith.addf %x, %y : tensor<64xf32>
    tile.write %z, %t : tensor<64xf32>, !tile.buffer<64xf32, fragment>
    tile.copy %t to %a : !tile.buffer<64xf32, fragment>, !tile.buffer<64xf32, fragment>
    %next = arith.addi %own, %i : i32
    scf.yield %next : i32
  } {tile.stages = 3 : i32}
  tile.copy %a to %g : !tile.buffer<64xf32, fragment>, !tile.global<64xf32>
  tile.copy %b to %g : !tile.buffer<64xf32, fragment>, !tile.global<64xf32>
  tile.store %sum, %h[%c0 : i32] : i32, !tile.global<?xi32>
  tgpu.return
}

// A branch without `else` gives the old value on the other path.
// CHECK-LABEL: tgpu.kernel @if
// CHECK: %[[V0:.*]] = arith.constant 7 : i32
// CHECK: %[[R:.*]] = scf.if %{{.*}} -> (i32) {
// CHECK: %[[V1:.*]] = arith.addi %[[V0]]
// CHECK: scf.yield %[[V1]] : i32
// CHECK: } else {
// CHECK: scf.yield %[[V0]] : i32
// CHECK: %[[Q:.*]] = scf.if %{{.*}} -> (i32) {
// CHECK: scf.yield %[[R]] : i32
// CHECK: } else {
// CHECK: %[[W:.*]] = arith.muli %[[R]]
// CHECK: scf.yield %[[W]] : i32
// CHECK: tile.store %[[Q]]
tgpu.kernel @if(%h: !tile.global<?xi32>, %p: i1, %n: i32) attributes {threads = 64 : i32} {
  %v = tile.alloc "v" : !tile.buffer<i32, uniform>
  %c7 = arith.constant 7 : i32
  tile.store %c7, %v[] : i32, !tile.buffer<i32, uniform>
  scf.if %p {
    %x = tile.load %v[] : !tile.buffer<i32, uniform> -> i32
    %y = arith.addi %x, %n : i32
    tile.store %y, %v[] : i32, !tile.buffer<i32, uniform>
  }
  scf.if %p {
  } else {
    %x = tile.load %v[] : !tile.buffer<i32, uniform> -> i32
    %y = arith.muli %x, %n : i32
    tile.store %y, %v[] : i32, !tile.buffer<i32, uniform>
  }
  %z = tile.load %v[] : !tile.buffer<i32, uniform> -> i32
  tile.store %z, %h[%n : i32] : i32, !tile.global<?xi32>
  tgpu.return
}

// A branch that assigns nothing keeps its form.
// CHECK-LABEL: tgpu.kernel @plain_if
// CHECK: scf.if %{{.*}} {
// CHECK-NEXT: tile.store
// CHECK-NEXT: }
// CHECK-NEXT: tgpu.return
tgpu.kernel @plain_if(%h: !tile.global<?xi32>, %p: i1, %n: i32) attributes {threads = 64 : i32} {
  scf.if %p {
    tile.store %n, %h[%n : i32] : i32, !tile.global<?xi32>
  }
  tgpu.return
}

// A while loop: what its condition reads and what its body assigns is carried through both regions.
// CHECK-LABEL: tgpu.kernel @while
// CHECK-SAME: %[[N:[a-z0-9]+]]: i32)
// CHECK: %[[F0:.*]] = tgpu.load
// CHECK: %[[R:.*]]:2 = scf.while (%[[V:.*]] = %[[N]], %[[F:.*]] = %[[F0]]) : (i32, tensor<64xf32>) -> (i32, tensor<64xf32>) {
// CHECK: %[[C:.*]] = arith.cmpi sgt, %[[V]]
// CHECK: scf.condition(%[[C]]) %[[V]], %[[F]]
// CHECK: ^bb0(%[[V2:.*]]: i32, %[[F2:.*]]: tensor<64xf32>):
// CHECK: %[[V3:.*]] = arith.subi %[[V2]]
// CHECK: %[[F3:.*]] = arith.addf %[[F2]], %[[F2]]
// CHECK: scf.yield %[[V3]], %[[F3]]
// CHECK: tgpu.store %[[R]]#1
tgpu.kernel @while(%g: !tile.global<64xf32>, %n: i32) attributes {threads = 64 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %v = tile.alloc "v" : !tile.buffer<i32, uniform>
  tile.store %n, %v[] : i32, !tile.buffer<i32, uniform>
  %f = tile.alloc "f" : !tile.buffer<64xf32, fragment>
  tile.copy %g to %f : !tile.global<64xf32>, !tile.buffer<64xf32, fragment>
  scf.while : () -> () {
    %x = tile.load %v[] : !tile.buffer<i32, uniform> -> i32
    %c = arith.cmpi sgt, %x, %c0 : i32
    scf.condition(%c)
  } do {
    %x = tile.load %v[] : !tile.buffer<i32, uniform> -> i32
    %y = arith.subi %x, %c1 : i32
    tile.store %y, %v[] : i32, !tile.buffer<i32, uniform>
    %a = tile.read %f : !tile.buffer<64xf32, fragment> -> tensor<64xf32>
    %b = arith.addf %a, %a : tensor<64xf32>
    tile.write %b, %f : tensor<64xf32>, !tile.buffer<64xf32, fragment>
    scf.yield
  }
  tile.copy %f to %g : !tile.buffer<64xf32, fragment>, !tile.global<64xf32>
  tgpu.return
}

// Nested: the inner loop's value is the outer one's.
// CHECK-LABEL: tgpu.kernel @nested
// CHECK: %[[O:.*]] = scf.for %{{.*}} iter_args(%[[A:.*]] = %{{.*}}) -> (i32)
// CHECK: %[[I:.*]] = scf.for %{{.*}} iter_args(%[[B:.*]] = %[[A]]) -> (i32)
// CHECK: %[[J:.*]] = scf.if %{{.*}} -> (i32)
// CHECK: scf.yield %[[J]]
// CHECK: scf.yield %[[I]]
// CHECK: tile.store %[[O]]
tgpu.kernel @nested(%h: !tile.global<?xi32>, %n: i32, %p: i1) attributes {threads = 64 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %v = tile.alloc "v" : !tile.buffer<i32, uniform>
  tile.store %n, %v[] : i32, !tile.buffer<i32, uniform>
  scf.for %i = %c0 to %n step %c1 : i32 {
    scf.for %j = %c0 to %n step %c1 : i32 {
      scf.if %p {
        %x = tile.load %v[] : !tile.buffer<i32, uniform> -> i32
        %y = arith.addi %x, %j : i32
        tile.store %y, %v[] : i32, !tile.buffer<i32, uniform>
      }
    }
  }
  %z = tile.load %v[] : !tile.buffer<i32, uniform> -> i32
  tile.store %z, %h[%n : i32] : i32, !tile.global<?xi32>
  tgpu.return
}
