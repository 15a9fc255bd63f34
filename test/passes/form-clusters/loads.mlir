// Blocks of a cluster do for each other what loads they do alike: along the dimensions that neither the source nor the way to the load depend on.
// A kernel without any goes, with its cost; so does another variant for the same calls. It costs no more than one for other calls.
// RUN: tile-opt %s --tgpu-form-clusters -verify-diagnostics -split-input-file | FileCheck %s

!g = !tile.global<?x?xf16>
!a = !tile.global<64x64xf16>
!ring = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!slot = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!c = !tgpu.channel<2>
#map = #tgpu.tensor_map<0, extents = [1, 1], strides = [-2, 1], box = [64, 64], swizzle = 128>
// Rows are those of the first index, columns of the second. Each load has a box of 64 rows; blocks that share it load a part each. Boxes of the old
// size nobody uses any more.
// CHECK-LABEL: tile.kernel @host
// CHECK-NOT: @both_aligned
// CHECK: tgpu.cost @both_clustered
// CHECK-NEXT: %[[OWN:.*]] = arith.constant 1.0
// CHECK-NEXT: %[[OTHERS:.*]] = arith.constant 2.0
// CHECK-NEXT: %[[LESS:.*]] = arith.minnumf %[[OWN]], %[[OTHERS]]
// CHECK-NEXT: tgpu.yield %[[LESS]], %[[OWN]]
// CHECK: tgpu.cost @both_any
// CHECK: tgpu.kernel @both_clustered(
// CHECK-SAME: tensor_maps = [#tgpu.tensor_map<{{.*}}box = [64, 16]{{.*}}>, #tgpu.tensor_map<{{.*}}box = [64, 32]{{.*}}>]
// CHECK: tgpu.channel "AB" {across = array<i32: 0, 1>
// CHECK: tgpu.tma_load {{.*}} {across = array<i32: 1>, map = 0 : i32}
// CHECK: tgpu.tma_load {{.*}} {across = array<i32: 0>, map = 1 : i32}
// CHECK-NOT: @both_aligned
// CHECK: tgpu.kernel @both_any
tile.kernel @host(%x: !g {tile.name = "X", tile.direction = "in", tile.dtype = "f16"}) {
  tgpu.cost @both_clustered terms ["latency"] {
    %one = arith.constant 1.0 : f64
    tgpu.yield %one, %one : f64, f64
  }
  tgpu.cost @both_any terms ["latency"] {
    %two = arith.constant 2.0 : f64
    tgpu.yield %two, %two : f64, f64
  }
  tile.return
}
// expected-remark @+1 {{blocks of a cluster load for each other: 2 of 2 loads are multicast}}
tgpu.kernel @both_clustered(%g: !g, %n: i32, %x: i32, %y: i32) attributes {threads = 128 : i32, block_threads = 256 : i32, target = "sm_90a", launch = "k",
    cluster = array<i32: 2, 4>, guard = [#tgpu.divisible<1, 8>], tensor_maps = [#map]} {
  %v = tgpu.view %g extents(%n, %n : i32, i32) strides(%n : i32) : !g -> !g
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %id = tgpu.cluster_id
  %i, %j = tgpu.grid_point %id in (%x, %y) {cluster = array<i32: 2, 4>} : i32, i32
  %as = tgpu.alloc_shared "A" : !ring
  %bs = tgpu.alloc_shared "B" : !ring
  %ch = tgpu.channel "AB" {producers = 1 : i32, consumers = 4 : i32} : !c
  tgpu.roles role "load" warps 4, 4 {
    scf.for %k = %c0 to %n step %c1 : i32 {
      tgpu.one_thread attributes {warp = 4 : i32} {
        tgpu.acquire %ch[%k] : !c
        tgpu.expect %ch[%k] bytes 16384 : !c
        %a = tile.slice %v[%i, %k] sizes [64, 64] : !g, i32, i32 -> !a
        %sa = tgpu.slot %as[%k] : !ring -> !slot
        tgpu.tma_load %a to %sa on %ch[%k] {map = 0 : i32} : !a, !slot, !c
        %b = tile.slice %v[%k, %j] sizes [64, 64] : !g, i32, i32 -> !a
        %sb = tgpu.slot %bs[%k] : !ring -> !slot
        tgpu.tma_load %b to %sb on %ch[%k] {map = 0 : i32} : !a, !slot, !c
      }
    }
  } role "compute" warps 0, 4 {
    scf.for %k = %c0 to %n step %c1 : i32 {
      tgpu.wait %ch[%k] : !c
      tgpu.release %ch[%k] : !c
    }
  }
  tgpu.return
}
tgpu.kernel @both_any(%g: !g, %n: i32, %x: i32, %y: i32) attributes {threads = 128 : i32, target = "sm_90a", launch = "k"} {
  tgpu.return
}

// -----

!g = !tile.global<?x?xf16>
!a = !tile.global<64x64xf16>
!ring = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!slot = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!c = !tgpu.channel<2>
#map = #tgpu.tensor_map<0, extents = [1, 1], strides = [-2, 1], box = [64, 64], swizzle = 128>

// A variant for the same calls would never be taken. A load whose slots blocks go through alike along one dimension alone is shared along that: how
// many there are depends on the second index, so that the first is left, on which the source does not depend.
// CHECK-LABEL: tile.kernel @host
// CHECK-NOT: tgpu.cost
// CHECK: tgpu.kernel @one_clustered(
// CHECK: tgpu.channel "B" {across = array<i32: 0>
// CHECK: tgpu.tma_load {{.*}} {across = array<i32: 0>
// CHECK-NOT: @one_aligned
// CHECK-NOT: @other_clustered
// CHECK: tgpu.kernel @other_aligned
tile.kernel @host(%x: !g {tile.name = "X", tile.direction = "in", tile.dtype = "f16"}) {
  tgpu.cost @one_aligned terms ["latency"] {
    %two = arith.constant 2.0 : f64
    tgpu.yield %two, %two : f64, f64
  }
  tgpu.cost @other_clustered terms ["latency"] {
    %two = arith.constant 2.0 : f64
    tgpu.yield %two, %two : f64, f64
  }
  tile.return
}
// expected-remark @+1 {{blocks of a cluster load for each other: 1 of 1 loads are multicast}}
tgpu.kernel @one_clustered(%g: !g, %n: i32, %x: i32, %y: i32) attributes {threads = 128 : i32, block_threads = 256 : i32, target = "sm_90a", launch = "k",
    cluster = array<i32: 2, 2>, guard = [#tgpu.divisible<1, 8>], tensor_maps = [#map]} {
  %v = tgpu.view %g extents(%n, %n : i32, i32) strides(%n : i32) : !g -> !g
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %id = tgpu.cluster_id
  %i, %j = tgpu.grid_point %id in (%x, %y) {cluster = array<i32: 2, 2>} : i32, i32
  %even = arith.cmpi sgt, %j, %c1 : i32
  %end = scf.if %even -> (i32) {
    scf.yield %n : i32
  } else {
    scf.yield %c1 : i32
  }
  %bs = tgpu.alloc_shared "B" : !ring
  %ch = tgpu.channel "B" {producers = 1 : i32, consumers = 4 : i32} : !c
  tgpu.roles role "load" warps 4, 4 {
    scf.for %k = %c0 to %end step %c1 : i32 {
      tgpu.one_thread attributes {warp = 4 : i32} {
        tgpu.acquire %ch[%k] : !c
        tgpu.expect %ch[%k] bytes 8192 : !c
        %b = tile.slice %v[%k, %k] sizes [64, 64] : !g, i32, i32 -> !a
        %sb = tgpu.slot %bs[%k] : !ring -> !slot
        tgpu.tma_load %b to %sb on %ch[%k] {map = 0 : i32} : !a, !slot, !c
      }
    }
  } role "compute" warps 0, 4 {
    scf.for %k = %c0 to %end step %c1 : i32 {
      tgpu.wait %ch[%k] : !c
      tgpu.release %ch[%k] : !c
    }
  }
  tgpu.return
}
tgpu.kernel @one_aligned(%g: !g, %n: i32, %x: i32, %y: i32) attributes {threads = 128 : i32, target = "sm_90a", launch = "k", guard = [#tgpu.divisible<1, 8>]} {
  tgpu.return
}

// expected-remark @+1 {{@cluster: no clusters are formed: nothing is loaded by TMA}}
tgpu.kernel @other_clustered(%n: i32, %x: i32) attributes {threads = 128 : i32, target = "sm_90a", launch = "l", cluster = array<i32: 2>} {
  %id = tgpu.cluster_id
  %i = tgpu.grid_point %id in (%x) {cluster = array<i32: 2>} : i32
  tgpu.return
}
tgpu.kernel @other_aligned(%n: i32, %x: i32) attributes {threads = 128 : i32, target = "sm_90a", launch = "l"} {
  tgpu.return
}

// -----

!g = !tile.global<?x?xf16>
!a = !tile.global<64x64xf16>
!ring = !tgpu.smem<2x64x64xf16, #tgpu.shared<"2x64x64 b16 contig 2 panel 64 swizzle 128">>
!slot = !tgpu.smem<64x64xf16, #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">>
!c = !tgpu.channel<2>
#map = #tgpu.tensor_map<0, extents = [1, 1], strides = [-2, 1], box = [64, 64], swizzle = 128>

// No warps load alone: all threads have waited for a slot when it is filled again, but not those of other blocks.
// expected-remark @+1 {{@cluster: no clusters are formed: only warps that load alone (@warp_specialize) do it for other blocks}}
tgpu.kernel @barriers(%g: !g, %n: i32, %x: i32) attributes {threads = 128 : i32, target = "sm_90a", launch = "k", cluster = array<i32: 2>} {
  %v = tgpu.view %g extents(%n, %n : i32, i32) strides(%n : i32) : !g -> !g
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %bs = tgpu.alloc_shared "B" : !ring
  %ch = tgpu.channel "B" {producers = 1 : i32, consumers = 0 : i32} : !c
  scf.for %k = %c0 to %n step %c1 : i32 {
    tgpu.one_thread {
      tgpu.expect %ch[%k] bytes 8192 : !c
      %b = tile.slice %v[%k, %k] sizes [64, 64] : !g, i32, i32 -> !a
      %sb = tgpu.slot %bs[%k] : !ring -> !slot
      tgpu.tma_load %b to %sb on %ch[%k] {map = 0 : i32} : !a, !slot, !c
    }
    tgpu.wait %ch[%k] : !c
    tgpu.barrier
  }
  tgpu.return
}
// Threads write the ring, too: other blocks would not know.
// expected-remark @+1 {{@cluster: no clusters are formed: its ring is written otherwise, too, or loaded without being acquired just before}}
tgpu.kernel @writers(%g: !g, %n: i32, %x: i32) attributes {threads = 128 : i32, target = "sm_90a", launch = "k", cluster = array<i32: 2>} {
  %v = tgpu.view %g extents(%n, %n : i32, i32) strides(%n : i32) : !g -> !g
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant 0.0 : f16
  %z = tile.splat %zero : f16 -> tensor<64x64xf16>
  %bs = tgpu.alloc_shared "B" : !ring
  %ch = tgpu.channel "B" {producers = 1 : i32, consumers = 4 : i32} : !c
  %first = tgpu.slot %bs[%c0] : !ring -> !slot
  tgpu.local_store %z, %first : tensor<64x64xf16>, !slot
  scf.for %k = %c0 to %n step %c1 : i32 {
    tgpu.one_thread {
      tgpu.acquire %ch[%k] : !c
      tgpu.expect %ch[%k] bytes 8192 : !c
      %b = tile.slice %v[%k, %k] sizes [64, 64] : !g, i32, i32 -> !a
      %sb = tgpu.slot %bs[%k] : !ring -> !slot
      tgpu.tma_load %b to %sb on %ch[%k] {map = 0 : i32} : !a, !slot, !c
    }
    tgpu.wait %ch[%k] : !c
    tgpu.release %ch[%k] : !c
  }
  tgpu.return
}
// Four heads share keys: what divides the head by four divides the place in a cluster of two off, but not three.
// CHECK-LABEL: tgpu.kernel @groups(
// CHECK: tgpu.tma_load {{.*}} {across = array<i32: 0>, map = 0 : i32}
// CHECK: tgpu.tma_load {{.*}} {map = 1 : i32}
// expected-remark @+1 {{blocks of a cluster load for each other: 1 of 2 loads are multicast}}
tgpu.kernel @groups(%g: !g, %n: i32, %x: i32) attributes {threads = 128 : i32, target = "sm_90a", launch = "m", cluster = array<i32: 2>,
    tensor_maps = [#map, #map]} {
  %v = tgpu.view %g extents(%n, %n : i32, i32) strides(%n : i32) : !g -> !g
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c3 = arith.constant 3 : i32
  %c4 = arith.constant 4 : i32
  %id = tgpu.cluster_id
  %h = tgpu.grid_point %id in (%x) {cluster = array<i32: 2>} : i32
  %four = arith.divsi %h, %c4 : i32
  %three = arith.divsi %h, %c3 : i32
  %as = tgpu.alloc_shared "A" : !ring
  %bs = tgpu.alloc_shared "B" : !ring
  %ch = tgpu.channel "AB" {producers = 1 : i32, consumers = 4 : i32} : !c
  scf.for %k = %c0 to %n step %c1 : i32 {
    tgpu.one_thread {
      tgpu.acquire %ch[%k] : !c
      tgpu.expect %ch[%k] bytes 16384 : !c
      %a = tile.slice %v[%four, %k] sizes [64, 64] : !g, i32, i32 -> !a
      %sa = tgpu.slot %as[%k] : !ring -> !slot
      tgpu.tma_load %a to %sa on %ch[%k] {map = 0 : i32} : !a, !slot, !c
      %b = tile.slice %v[%three, %k] sizes [64, 64] : !g, i32, i32 -> !a
      %sb = tgpu.slot %bs[%k] : !ring -> !slot
      tgpu.tma_load %b to %sb on %ch[%k] {map = 1 : i32} : !a, !slot, !c
    }
    tgpu.wait %ch[%k] : !c
    tgpu.release %ch[%k] : !c
  }
  tgpu.return
}
// The point of each block is dealt by an atomic operation, or its own number is asked for.
// expected-remark @+1 {{@cluster: no clusters are formed: a loop or a branch around its loads differs between blocks}}
tgpu.kernel @numbers(%g: !g, %n: i32, %x: i32) attributes {threads = 128 : i32, target = "sm_90a", launch = "k", cluster = array<i32: 2>} {
  %v = tgpu.view %g extents(%n, %n : i32, i32) strides(%n : i32) : !g -> !g
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %id = tgpu.block_id
  %bs = tgpu.alloc_shared "B" : !ring
  %ch = tgpu.channel "B" {producers = 1 : i32, consumers = 4 : i32} : !c
  scf.for %k = %c0 to %id step %c1 : i32 {
    tgpu.one_thread {
      tgpu.acquire %ch[%k] : !c
      tgpu.expect %ch[%k] bytes 8192 : !c
      %b = tile.slice %v[%k, %k] sizes [64, 64] : !g, i32, i32 -> !a
      %sb = tgpu.slot %bs[%k] : !ring -> !slot
      tgpu.tma_load %b to %sb on %ch[%k] {map = 0 : i32} : !a, !slot, !c
    }
    tgpu.wait %ch[%k] : !c
    tgpu.release %ch[%k] : !c
  }
  tgpu.return
}
