// Accesses that run along the loop's indices are of whole tiles or slices; all others gather and scatter.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-raise-parallel,canonicalize,cse))' -split-input-file -verify-diagnostics | FileCheck %s

// A sum with an index is where a slice begins; a transposed read is a transposition.
// CHECK-LABEL: tgpu.kernel @slices
// CHECK: %[[S:.*]] = tile.slice %{{.*}}[%{{.*}}, %{{.*}}] sizes [16, 8]
// CHECK: %[[T:.*]] = tgpu.load %[[S]] : {{.*}} -> tensor<16x8xf32>
// CHECK: %[[V:.*]] = tile.transpose %[[T]] : tensor<16x8xf32> -> tensor<8x16xf32>
// CHECK: %[[D:.*]] = tile.slice %{{.*}}[%{{.*}}, %{{.*}}] sizes [8, 16]
// CHECK: tgpu.store %[[V]], %[[D]]
tgpu.kernel @slices(%g: !tile.global<?x?xf32>, %o: !tile.global<?x?xf32>, %n: i32, %m: i32) attributes {threads = 64 : i32, target = "sm_80"} {
  %a = tgpu.view %g extents(%n, %n : i32, i32) strides(%n : i32) : !tile.global<?x?xf32> -> !tile.global<?x?xf32>
  %b = tgpu.view %o extents(%n, %n : i32, i32) strides(%n : i32) : !tile.global<?x?xf32> -> !tile.global<?x?xf32>
  %eight = arith.constant 8 : i32
  %sixteen = arith.constant 16 : i32
  tile.parallel(%eight, %sixteen : i32, i32) {
  ^bb0(%i: i32, %j: i32):
    %mi = arith.addi %m, %i : i32
    %mj = arith.subi %j, %m : i32
    %e = tile.load %a[%mj, %mi : i32, i32] : !tile.global<?x?xf32> -> f32
    tile.store %e, %b[%mi, %j : i32, i32] : f32, !tile.global<?x?xf32>
  }
  tgpu.return
}

// -----

// A masked store, and one at a computed index, element by element; a computed load needs no mask, for a tensor has bounds.
// CHECK-LABEL: tgpu.kernel @computed
// CHECK: %[[G:.*]] = tgpu.gather %{{.*}}[%[[X:.*]]] : !tile.global<?xf32>[tensor<8xi32>] -> tensor<8xf32>
// CHECK: tgpu.scatter %[[G]], %{{.*}}[%{{.*}}] if %{{.*}} : tensor<8xf32>, !tile.global<?xf32>[tensor<8xi32>] if tensor<8xi1>
// CHECK: tgpu.scatter %[[G]], %{{.*}}[%[[X]]] : tensor<8xf32>, !tile.global<?xf32>[tensor<8xi32>]
tgpu.kernel @computed(%g: !tile.global<?xf32>, %o: !tile.global<?xf32>, %n: i32) attributes {threads = 32 : i32, target = "sm_80"} {
  %a = tgpu.view %g extents(%n : i32) strides() : !tile.global<?xf32> -> !tile.global<?xf32>
  %b = tgpu.view %o extents(%n : i32) strides() : !tile.global<?xf32> -> !tile.global<?xf32>
  %eight = arith.constant 8 : i32
  tile.parallel(%eight : i32) {
  ^bb0(%i: i32):
    %two = arith.muli %i, %i : i32
    %in = arith.cmpi slt, %i, %n : i32
    %e = tile.load %a[%two : i32] : !tile.global<?xf32> -> f32
    scf.if %in {
      tile.store %e, %b[%i : i32] : f32, !tile.global<?xf32>
    }
    tile.store %e, %b[%two : i32] : f32, !tile.global<?xf32>
  }
  tgpu.return
}

// -----

// Masked iterations do not read what the kernel writes: another one may be writing it.
// CHECK-LABEL: tgpu.kernel @written
// CHECK: tgpu.gather %{{.*}}[%{{.*}}] if %{{.*}} :
tgpu.kernel @written(%g: !tile.global<?xf32>, %n: i32) attributes {threads = 32 : i32, target = "sm_80"} {
  %a = tgpu.view %g extents(%n : i32) strides() : !tile.global<?xf32> -> !tile.global<?xf32>
  %eight = arith.constant 8 : i32
  tile.parallel(%eight : i32) {
  ^bb0(%i: i32):
    %in = arith.cmpi slt, %i, %n : i32
    scf.if %in {
      %e = tile.load %a[%i : i32] : !tile.global<?xf32> -> f32
      tile.store %e, %a[%i : i32] : f32, !tile.global<?xf32>
    }
  }
  tgpu.return
}

// -----

// What other threads hold comes through shared memory; reads of shared memory, which has no bounds, happen under the mask.
// CHECK-LABEL: tgpu.kernel @exchange
// CHECK: %[[E:.*]] = tile.alloc "exchange" : !tile.buffer<8xf32, shared>
// CHECK: tile.write %{{.*}}, %[[E]]
// CHECK: tgpu.gather %[[E]][%{{.*}}] if %{{.*}} : !tile.buffer<8xf32, shared>[tensor<8xi32>] if tensor<8xi1> -> tensor<8xf32>
tgpu.kernel @exchange(%n: i32) attributes {threads = 32 : i32, target = "sm_80"} {
  %x = tile.alloc "x" : !tile.buffer<8xf32, fragment>
  %y = tile.alloc "y" : !tile.buffer<8xf32, fragment>
  %eight = arith.constant 8 : i32
  %one = arith.constant 1 : i32
  tile.parallel(%eight : i32) {
  ^bb0(%i: i32):
    %p = arith.subi %i, %one : i32
    %in = arith.cmpi sge, %p, %one : i32
    scf.if %in {
      // expected-remark@+1 {{exchange between threads: elements of a fragment at other than the loop's own indices go through 32 bytes of shared memory}}
      %e = tile.load %x[%p : i32] : !tile.buffer<8xf32, fragment> -> f32
      tile.store %e, %y[%i : i32] : f32, !tile.buffer<8xf32, fragment>
    }
  }
  tgpu.return
}

// -----

// One column of a fragment.
// CHECK-LABEL: tgpu.kernel @column
// CHECK: %[[J:.*]] = tgpu.coordinate : tensor<4xi32>
// CHECK: %[[HERE:.*]] = arith.cmpi eq, %[[J]], %{{.*}} : tensor<4xi32>
// CHECK: %[[M:.*]] = tile.broadcast %[[HERE]] along [0] : tensor<4xi1> -> tensor<8x4xi1>
// CHECK: arith.select %[[M]]
tgpu.kernel @column(%c: i32, %v: f32) attributes {threads = 32 : i32, target = "sm_80"} {
  %x = tile.alloc "x" : !tile.buffer<8x4xf32, fragment>
  %eight = arith.constant 8 : i32
  tile.parallel(%eight : i32) {
  ^bb0(%i: i32):
    tile.store %v, %x[%i, %c : i32, i32] : f32, !tile.buffer<8x4xf32, fragment>
  }
  tgpu.return
}

// -----

// Extents that are not known, of what no tile is indexed by: piece by piece, the last one cut off by its slice.
// CHECK-LABEL: tgpu.kernel @pieces
// CHECK: scf.for %[[I:.*]] = %{{.*}} to %[[N:.*]] step %c512_i32
// CHECK: %[[LEFT:.*]] = arith.subi %[[N]], %[[I]]
// CHECK: %[[P:.*]] = tile.slice %{{.*}}[%[[I]]] sizes [-9223372036854775808](%[[LEFT]] : i32)
// CHECK: %[[W:.*]] = tile.slice %[[P]][%{{.*}}] sizes [512]
// CHECK: tgpu.store %{{.*}}, %[[W]]
tgpu.kernel @pieces(%g: !tile.global<?xf32>, %n: i32, %v: f32) attributes {threads = 32 : i32, target = "sm_80"} {
  %a = tgpu.view %g extents(%n : i32) strides() : !tile.global<?xf32> -> !tile.global<?xf32>
  tile.parallel(%n : i32) {
  ^bb0(%i: i32):
    tile.store %v, %a[%i : i32] : f32, !tile.global<?xf32>
  }
  tgpu.return
}

// -----

// A tile that is read in the loop: what the threads of a region have.
// CHECK-LABEL: tgpu.kernel @read_inside
// CHECK: %[[ALL:.*]] = tile.read %{{.*}} : !tile.buffer<f32, local> -> tensor<64xf32>
// CHECK: tile.write %[[ALL]], %[[SHARED:.*]] :
// CHECK: tgpu.gather %[[SHARED]]
tgpu.kernel @read_inside(%g: !tile.global<64xf32>) attributes {threads = 64 : i32, target = "sm_80"} {
  %c64 = arith.constant 64 : i32
  %c63 = arith.constant 63 : i32
  %l = tile.alloc "l" : !tile.buffer<f32, local>
  tile.parallel(%c64 : i32) {
  ^bb0(%i: i32):
    %all = tile.read %l : !tile.buffer<f32, local> -> tensor<64xf32>
    %at = arith.subi %c63, %i : i32
    // expected-remark@+1 {{exchange between threads: elements of a fragment at other than the loop's own indices go through 256 bytes}}
    %x = tile.load %all[%at : i32] : tensor<64xf32> -> f32
    tile.store %x, %g[%i : i32] : f32, !tile.global<64xf32>
  }
  tgpu.return
}

// -----

// Rows at computed places are slices that gather, since a row is contiguous: read, written and added to. What the loop's
// end cuts off is at places out of range.
// CHECK-LABEL: tgpu.kernel @rows
// CHECK: %[[P:.*]] = arith.muli %{{.*}} : tensor<64xi32>
// CHECK: %[[IN:.*]] = arith.cmpi slt, %{{.*}}, %{{.*}} : tensor<64xi32>
// CHECK: %[[Q:.*]] = arith.select %[[IN]], %[[P]], %{{.*}} : tensor<64xi1>, tensor<64xi32>
// CHECK: %[[S:.*]] = tile.slice %{{.*}}[%[[Q]], %{{.*}}] sizes [64, 16] : {{.*}}, tensor<64xi32>, i32 ->
// CHECK: %[[T:.*]] = tgpu.load %[[S]] : {{.*}} -> tensor<64x16xf32>
// CHECK: %[[D:.*]] = tile.slice %{{.*}}[%[[Q]], %{{.*}}] sizes [64, 16]
// CHECK: tgpu.store %[[T]], %[[D]]
// CHECK: tgpu.atomic_tile <add> %[[T]], %[[D]]
tgpu.kernel @rows(%g: !tile.global<?x?xf32>, %o: !tile.global<?x?xf32>, %n: i32) attributes {threads = 64 : i32, target = "sm_80"} {
  %a = tgpu.view %g extents(%n, %n : i32, i32) strides(%n : i32) : !tile.global<?x?xf32> -> !tile.global<?x?xf32>
  %b = tgpu.view %o extents(%n, %n : i32, i32) strides(%n : i32) : !tile.global<?x?xf32> -> !tile.global<?x?xf32>
  %eight = arith.constant 8 : i32
  %sixteen = arith.constant 16 : i32
  tile.parallel(%n, %sixteen : i32, i32) {
  ^bb0(%i: i32, %j: i32):
    %row = arith.muli %i, %n : i32
    %e = tile.load %a[%row, %j : i32, i32] : !tile.global<?x?xf32> -> f32
    tile.store %e, %b[%row, %j : i32, i32] : f32, !tile.global<?x?xf32>
    %old = tile.atomic <add> %e, %b[%row, %j : i32, i32] : f32, !tile.global<?x?xf32> -> f32
  }
  tgpu.return
}

// -----

// Columns at computed places, and places of two indices of the loop, go element by element.
// CHECK-LABEL: tgpu.kernel @columns
// CHECK: tgpu.gather
// CHECK: tgpu.gather
// CHECK-NOT: tgpu.load
tgpu.kernel @columns(%g: !tile.global<?x?xf32>, %o: !tile.buffer<8x16xf32, shared>, %n: i32) attributes {threads = 64 : i32, target = "sm_80"} {
  %a = tgpu.view %g extents(%n, %n : i32, i32) strides(%n : i32) : !tile.global<?x?xf32> -> !tile.global<?x?xf32>
  %eight = arith.constant 8 : i32
  %sixteen = arith.constant 16 : i32
  tile.parallel(%eight, %sixteen : i32, i32) {
  ^bb0(%i: i32, %j: i32):
    %column = arith.muli %j, %n : i32
    %e = tile.load %a[%i, %column : i32, i32] : !tile.global<?x?xf32> -> f32
    %both = arith.muli %i, %j : i32
    %f = tile.load %a[%both, %j : i32, i32] : !tile.global<?x?xf32> -> f32
    %s = arith.addf %e, %f : f32
    tile.store %s, %o[%i, %j : i32, i32] : f32, !tile.buffer<8x16xf32, shared>
  }
  tgpu.return
}
