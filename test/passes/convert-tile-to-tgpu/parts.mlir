// Elements and slices of fragments: coordinates tell which elements are meant. What is read goes through a buffer of its size, and
// what is written makes a new fragment.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(convert-tile-to-tgpu))' --split-input-file 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t

// The nearest element, where the index is outside.
// CHECK-LABEL: tgpu.kernel @element
// CHECK: %[[C3:.*]] = arith.constant 3 : i32
// CHECK: %[[I:.*]] = arith.minui %{{.*}}, %{{.*}} : i32
// CHECK: %[[B:.*]] = tgpu.alloc_shared "part" : !tgpu.smem<1xf32>
// CHECK: %[[X:.*]] = tgpu.coordinate : tensor<8xi32>
// CHECK: arith.cmpi eq, %[[X]], %{{.*}} : tensor<8xi32>
// CHECK: %[[Y:.*]] = tgpu.coordinate : tensor<64xi32>
// CHECK: arith.cmpi eq, %[[Y]], %{{.*}} : tensor<64xi32>
// CHECK: %[[HERE:.*]] = arith.andi %{{.*}}, %{{.*}} : tensor<8x64xi1>
// CHECK: tgpu.scatter %{{.*}}, %[[B]][%[[ZERO:.*]]] if %[[HERE]]
// CHECK: %[[E:.*]] = tgpu.load_element %[[B]][%[[ZERO]] : i32]
// CHECK: tile.store %[[E]]
// REMARK: remark: exchange between threads: one element of a tile goes through 4 bytes of shared memory
tgpu.kernel @element(%g: !tile.global<64xf32>, %v: tensor<8x64xf32>, %n: i32) attributes {threads = 64 : i32, target = "sm_80"} {
  %c3 = arith.constant 3 : i32
  %f = tile.alloc "f" : !tile.buffer<8x64xf32, fragment>
  tile.write %v, %f : tensor<8x64xf32>, !tile.buffer<8x64xf32, fragment>
  %x = tile.load %f[%c3, %n : i32, i32] : !tile.buffer<8x64xf32, fragment> -> f32
  tile.store %x, %g[%n : i32] : f32, !tile.global<64xf32>
  tgpu.return
}

// -----

// Of a slice: an index that is outside of it changes nothing.
// CHECK-LABEL: tgpu.kernel @element_write
// CHECK-SAME: %[[V:[a-z0-9]*]]: tensor<64xf32>
// CHECK: %[[IN:.*]] = arith.cmpi ult, %{{.*}}, %c16{{.*}} : i32
// CHECK: %[[AT:.*]] = arith.select %[[IN]], %{{.*}}, %c-1{{.*}} : i32
// CHECK: %[[WANTED:.*]] = tile.splat %[[AT]]
// CHECK: %[[HERE:.*]] = arith.cmpi eq, %{{.*}}, %[[WANTED]] : tensor<64xi32>
// CHECK: %[[NEW:.*]] = tile.splat %{{.*}} : f32 -> tensor<64xf32>
// CHECK: %[[R:.*]] = arith.select %[[HERE]], %[[NEW]], %[[V]]
// CHECK: tgpu.store %[[R]]
tgpu.kernel @element_write(%g: !tile.global<64xf32>, %v: tensor<64xf32>, %n: i32, %x: f32) attributes {threads = 64 : i32, target = "sm_80"} {
  %c8 = arith.constant 8 : i32
  %f = tile.alloc "f" : !tile.buffer<64xf32, fragment>
  tile.write %v, %f : tensor<64xf32>, !tile.buffer<64xf32, fragment>
  %p = tile.slice %f[%c8] sizes [16] : !tile.buffer<64xf32, fragment>, i32 -> !tile.buffer<16xf32, fragment>
  tile.store %x, %p[%n : i32] : f32, !tile.buffer<16xf32, fragment>
  tile.copy %f to %g : !tile.buffer<64xf32, fragment>, !tile.global<64xf32>
  tgpu.return
}

// -----

// A corner is read, and written; rows that are whole need no exchange.
// CHECK-LABEL: tgpu.kernel @slices
// CHECK: %[[B:.*]] = tgpu.alloc_shared "part" : !tgpu.smem<4x32xf32>
// CHECK: tgpu.scatter %{{.*}}, %[[B]][%{{.*}}, %{{.*}}] if %{{.*}}
// CHECK: %[[PART:.*]] = tgpu.local_load %[[B]]
// CHECK: %[[B2:.*]] = tgpu.alloc_shared "part" : !tgpu.smem<4x32xf32>
// CHECK: tgpu.local_store %[[PART]], %[[B2]]
// CHECK: %[[G:.*]] = tgpu.gather %[[B2]][%{{.*}}, %{{.*}}] if %[[IN:.*]] :
// CHECK: %[[F:.*]] = arith.select %[[IN]], %[[G]], %{{.*}} : tensor<8x64xi1>, tensor<8x64xf32>
// CHECK-NOT: tgpu.alloc_shared
// CHECK: %[[ROWS:.*]] = tile.broadcast %{{.*}} along [0] : tensor<64xf32> -> tensor<8x64xf32>
// CHECK: %[[R:.*]] = arith.select %{{.*}}, %[[ROWS]], %[[F]]
// CHECK: tgpu.store %[[R]]
// REMARK: remark: exchange between threads: a slice of a fragment goes through 512 bytes of shared memory
tgpu.kernel @slices(%g: !tile.global<8x64xf32>, %v: tensor<8x64xf32>, %row: tensor<64xf32>) attributes {threads = 64 : i32, target = "sm_80"} {
  %c0 = arith.constant 0 : i32
  %c2 = arith.constant 2 : i32
  %c4 = arith.constant 4 : i32
  %c32 = arith.constant 32 : i32
  %f = tile.alloc "f" : !tile.buffer<8x64xf32, fragment>
  tile.write %v, %f : tensor<8x64xf32>, !tile.buffer<8x64xf32, fragment>
  %a = tile.slice %f[%c0, %c32] sizes [4, 32] : !tile.buffer<8x64xf32, fragment>, i32, i32 -> !tile.buffer<4x32xf32, fragment>
  %b = tile.slice %f[%c4, %c0] sizes [4, 32] : !tile.buffer<8x64xf32, fragment>, i32, i32 -> !tile.buffer<4x32xf32, fragment>
  %x = tile.read %a : !tile.buffer<4x32xf32, fragment> -> tensor<4x32xf32>
  tile.write %x, %b : tensor<4x32xf32>, !tile.buffer<4x32xf32, fragment>
  %r = tile.slice %f[%c2, %c0] sizes [-1, 64] : !tile.buffer<8x64xf32, fragment>, i32, i32 -> !tile.buffer<64xf32, fragment>
  tile.write %row, %r : tensor<64xf32>, !tile.buffer<64xf32, fragment>
  tile.copy %f to %g : !tile.buffer<8x64xf32, fragment>, !tile.global<8x64xf32>
  tgpu.return
}

// -----

// What is written under a condition to a slice is carried out of the branch as its fragment.
// CHECK-LABEL: tgpu.kernel @branch
// CHECK: %[[R:.*]] = scf.if %{{.*}} -> (tensor<64xf32>)
// CHECK: tgpu.store %[[R]]
tgpu.kernel @branch(%g: !tile.global<64xf32>, %v: tensor<64xf32>, %x: tensor<8xf32>, %c: i1) attributes {threads = 64 : i32, target = "sm_80"} {
  %c8 = arith.constant 8 : i32
  %f = tile.alloc "f" : !tile.buffer<64xf32, fragment>
  tile.write %v, %f : tensor<64xf32>, !tile.buffer<64xf32, fragment>
  scf.if %c {
    %p = tile.slice %f[%c8] sizes [8] : !tile.buffer<64xf32, fragment>, i32 -> !tile.buffer<8xf32, fragment>
    tile.write %x, %p : tensor<8xf32>, !tile.buffer<8xf32, fragment>
  }
  tile.copy %f to %g : !tile.buffer<64xf32, fragment>, !tile.global<64xf32>
  tgpu.return
}

// -----

// Threads of a region find a tile in a buffer in front of it, once.
// CHECK-LABEL: tgpu.kernel @region
// CHECK: %[[B:.*]] = tgpu.alloc_shared "part" : !tgpu.smem<64xf32>
// CHECK-NEXT: tgpu.local_store %{{.*}}, %[[B]]
// CHECK-NEXT: tile.threads
// CHECK: tgpu.load_element %[[B]]
// CHECK-NOT: tgpu.local_store
// CHECK: tgpu.load_element %[[B]]{{.*}} -> vector<2xf32>
tgpu.kernel @region(%g: !tile.global<64xf32>, %v: tensor<64xf32>) attributes {threads = 64 : i32, target = "sm_80"} {
  tile.threads [64] {
  ^bb0(%t: i32):
    %a = tile.load %v[%t : i32] : tensor<64xf32> -> f32
    %b = tile.load %v[%t : i32] : tensor<64xf32> -> vector<2xf32>
    tile.store %a, %g[%t : i32] : f32, !tile.global<64xf32>
    tile.store %b, %g[%t : i32] : vector<2xf32>, !tile.global<64xf32>
  }
  tgpu.return
}
