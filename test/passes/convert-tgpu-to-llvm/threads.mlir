// The code of single threads: axes, lanes, elements of shared memory in any layout, arrays of each thread, neighbours.
// RUN: tile-opt --convert-tgpu-to-llvm %s | FileCheck %s

!v = !tile.global<?xf32>
!swizzled = !tgpu.smem<32x64xf16, #tgpu.shared<"32x64 b16 contig 1 panel 64 swizzle 128">>
!turned = !tgpu.smem<32x64xf32, #tgpu.shared<"32x64 b32 contig 0 panel 32">>
!ring = !tgpu.smem<2x64xf32, #tgpu.shared<"2x64 b32 contig 1 panel 64">>

// A first axis of 32 is the lane, what is left of the warp's number the others. Behind the region the warp is one again.
// CHECK-LABEL: llvm.func @axes
// CHECK: %[[TID:.*]] = nvvm.read.ptx.sreg.tid.x
// CHECK: %[[LANE:.*]] = llvm.and %[[TID]]
// CHECK: %[[WARP:.*]] = nvvm.shfl.sync idx
// CHECK: %[[Y:.*]] = llvm.urem %[[WARP]]
// CHECK: %[[Z:.*]] = llvm.udiv %[[WARP]]
// CHECK: llvm.add %[[LANE]], %[[Y]]
// CHECK: nvvm.bar.warp.sync
// CHECK: nvvm.barrier
tgpu.kernel @axes(%g: !v, %n: i32) attributes {threads = 128 : i32, target = "sm_80"} {
  %view = tgpu.view %g extents(%n : i32) strides() : !v -> !v
  tile.threads [32, 2, 2] {
  ^bb0(%x: i32, %y: i32, %z: i32):
    %a = arith.addi %x, %y : i32
    %b = arith.addi %a, %z : i32
    %f = arith.sitofp %b : i32 to f32
    tile.store %f, %view[%a : i32] : f32, !v
  }
  tgpu.barrier
  tgpu.return
}

// CHECK-LABEL: llvm.func @lanes
// CHECK-COUNT-3: nvvm.shfl.sync bfly
// CHECK-NOT: nvvm.shfl.sync bfly
// CHECK: nvvm.vote.sync any
// CHECK: nvvm.vote.sync ballot
// CHECK: nvvm.shfl.sync bfly
// Up and down find the lane itself outside of their group.
// CHECK: llvm.icmp "ult"
// CHECK: llvm.select
// CHECK: nvvm.shfl.sync idx
// CHECK: nvvm.vote.sync ballot
// CHECK: nvvm.bar.warp.sync
// CHECK: llvm.return
tgpu.kernel @lanes(%g: !v, %n: i32) attributes {threads = 32 : i32, target = "sm_80"} {
  %c3 = arith.constant 3 : i32
  %view = tgpu.view %g extents(%n : i32) strides() : !v -> !v
  tile.threads [32] {
  ^bb0(%x: i32):
    %v = tile.load %view[%x : i32] : !v -> f32
    %sum = tile.warp <sum> %v {width = 8 : i32} : f32
    %c = arith.cmpf ogt, %sum, %v : f32
    %any = tile.warp <any> %c : i1
    %all = tile.warp <all> %any {width = 4 : i32} : i1
    %s = tile.shuffle <shuffle_xor> %v, %c3 : f32, i32 -> f32
    %u = tile.shuffle <shuffle_up> %s, %c3 : f32, i32 -> f32
    %b = tile.ballot %all
    %l = tile.lane
    tile.sync_warp
    %at = arith.addi %b, %l : i32
    tile.store %u, %view[%at : i32] : f32, !v
  }
  tgpu.return
}

// An index that may be outside is brought inside for a load, and guards a store. Neighbours that are not neighbours in
// memory move one by one; of swizzled rows 16 bytes stay together, if the first is at a multiple.
// CHECK-LABEL: llvm.func @shared
// CHECK: llvm.intr.umin
// CHECK: llvm.load %{{.*}} : !llvm.ptr<3> -> f16
// CHECK-NOT: llvm.intr.umin
// CHECK: llvm.xor
// CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<8xf16>
// CHECK-COUNT-4: llvm.load %{{.*}} : !llvm.ptr<3> -> f32
// CHECK: llvm.icmp "ule"
// CHECK: llvm.cond_br
// CHECK: llvm.store %{{.*}} {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<3>
tgpu.kernel @shared(%i: i32, %p: i32) attributes {threads = 32 : i32, target = "sm_80", shared_bytes = 16384 : i64} {
  %c4 = arith.constant 4 : i32
  %c8 = arith.constant 8 : i32
  %s = tgpu.alloc_shared {offset = 0 : i64} : !swizzled
  %t = tgpu.alloc_shared {offset = 4096 : i64} : !turned
  %r = tgpu.alloc_shared {offset = 12288 : i64} : !ring
  %slot = tgpu.slot %r[%p] : !ring -> !tgpu.smem<64xf32, #tgpu.shared<"64 b32 contig 0 panel 64">>
  tile.threads [8, 4] {
  ^bb0(%x: i32, %y: i32):
    %a = tgpu.load_element %s[%x, %i : i32, i32] : !swizzled -> f16
    %x8 = arith.muli %x, %c8 : i32
    %b = tgpu.load_element %s[%y, %x8 : i32, i32] : !swizzled -> vector<8xf16>
    %c = tgpu.load_element %t[%y, %x8 : i32, i32] : !turned -> vector<4xf32>
    %i4 = arith.muli %i, %c4 : i32
    tgpu.store_element %c, %slot[%i4 : i32] : vector<4xf32>, !tgpu.smem<64xf32, #tgpu.shared<"64 b32 contig 0 panel 64">>
    tgpu.store_element %a, %s[%x, %i : i32, i32] : f16, !swizzled
    tgpu.store_element %b, %s[%y, %x8 : i32, i32] : vector<8xf16>, !swizzled
  }
  tgpu.return
}

// An array is memory at the begin of the function. What is read of it is one value, whether it was written or not.
// CHECK-LABEL: llvm.func @local
// CHECK: llvm.alloca %{{.*}} x !llvm.array<6 x f32>
// CHECK: llvm.intr.umin
// CHECK: llvm.getelementptr
// CHECK: llvm.load
// CHECK-NEXT: llvm.freeze
// CHECK: llvm.icmp "ule"
// CHECK: llvm.cond_br
// CHECK-COUNT-2: llvm.store
// CHECK: llvm.return
tgpu.kernel @local(%i: i32) attributes {threads = 32 : i32, target = "sm_80"} {
  tile.threads [32] {
  ^bb0(%x: i32):
    %l = tile.alloc "l" : !tile.buffer<2x3xf32, local>
    %y = arith.constant 1 : i32
    %a = tile.load %l[%y, %i : i32, i32] : !tile.buffer<2x3xf32, local> -> vector<2xf32>
    tile.store %a, %l[%i, %y : i32, i32] : vector<2xf32>, !tile.buffer<2x3xf32, local>
  }
  tgpu.return
}

// What is all inside or all outside has one condition; else whole accesses where all are inside, and parts at an end.
// CHECK-LABEL: llvm.func @neighbours
// CHECK: mov.b32 $0, 0; mov.b32 $1, 0; mov.b32 $2, 0; mov.b32 $3, 0; @$5 ld.global.v4.b32 {$0,$1,$2,$3}, [$4];
// CHECK: llvm.cond_br
// CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xi32>
// CHECK-COUNT-4: mov.b32 $0, 0; @$2 ld.global.b32 $0, [$1];
// CHECK-NOT: llvm.load %{{.*}} !llvm.ptr<1>
// CHECK: @$5 st.global.v4.b32 [$0], {$1,$2,$3,$4};
// CHECK: llvm.return
tgpu.kernel @neighbours(%g: !v, %h: !v, %n: i32 {tgpu.divisible = 4 : i64}, %m: i32) attributes {threads = 32 : i32, target = "sm_80"} {
  %c4 = arith.constant 4 : i32
  %whole = tgpu.view %g extents(%n : i32) strides() : !v -> !v
  %ragged = tgpu.view %h extents(%m : i32) strides() : !v -> !v
  tile.threads [32] {
  ^bb0(%x: i32):
    %x4 = arith.muli %x, %c4 : i32
    %a = tile.load %whole[%x4 : i32] {tgpu.access_bytes = 16 : i32} : !v -> vector<4xf32>
    %b = tile.load %ragged[%x4 : i32] {tgpu.access_bytes = 16 : i32} : !v -> vector<4xf32>
    %c = arith.addf %a, %b : vector<4xf32>
    tile.store %c, %whole[%x4 : i32] {tgpu.access_bytes = 16 : i32} : vector<4xf32>, !v
  }
  tgpu.return
}

// A `vec` is a scalar for each element.
// CHECK-LABEL: llvm.func @vectors
// CHECK-COUNT-2: llvm.select
// CHECK-COUNT-2: llvm.fadd
// CHECK-NEXT: llvm.select
// CHECK-COUNT-2: llvm.fadd
// CHECK: llvm.return
tgpu.kernel @vectors(%g: !v, %n: i32, %i: i32) attributes {threads = 32 : i32, target = "sm_80"} {
  %view = tgpu.view %g extents(%n : i32) strides() : !v -> !v
  %one = arith.constant 1.0 : f32
  %k = arith.index_cast %i : i32 to index
  tile.threads [32] {
  ^bb0(%x: i32):
    %ones = tile.splat %one : f32 -> vector<2xf32>
    %a = tile.load %view[%x : i32] : !v -> vector<2xf32>
    %b = vector.insert %one, %a[%k] : f32 into vector<2xf32>
    %c = arith.addf %b, %ones : vector<2xf32>
    %d = vector.extract %c[%k] : f32 from vector<2xf32>
    %s = tile.reduce <sum> %c : vector<2xf32> -> f32
    %e = arith.addf %s, %d : f32
    tile.store %e, %view[%x : i32] : f32, !v
  }
  tgpu.return
}
