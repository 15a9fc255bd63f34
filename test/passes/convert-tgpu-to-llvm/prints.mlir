// A message: room by compare-and-swap, or one more is lost; then the values, and at last the head. Two more parameters, behind
// those of checks.
// RUN: tile-opt --convert-tgpu-to-llvm %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: llvm.func @scalar
// CHECK-SAME: %arg2: !llvm.ptr<1> {llvm.align = 8 : i64, llvm.noalias, llvm.noundef}, %arg3: i32 {llvm.noundef})
tgpu.kernel @scalar(%n: i32, %x: f16) attributes {threads = 64 : i32, target = "sm_80"} {
  // CHECK: %[[FIRST:.*]] = llvm.icmp "eq" %{{.*}}, %{{.*}} : i32
  // CHECK: llvm.cond_br %[[FIRST]]
  // CHECK: llvm.load %{{.*}} atomic monotonic {alignment = 8 : i64} : !llvm.ptr<1> -> i64
  // CHECK: llvm.load %{{.*}} atomic acquire {alignment = 8 : i64} : !llvm.ptr<1> -> i64
  // CHECK: llvm.icmp "sle"
  // CHECK: llvm.cmpxchg %{{.*}}, %{{.*}}, %{{.*}} monotonic monotonic : !llvm.ptr<1>, i64
  // CHECK: llvm.atomicrmw add %{{.*}}, %{{.*}} monotonic : !llvm.ptr<1>, i64
  // CHECK: llvm.store %arg0, %{{.*}} {alignment = 4 : i64} : i32, !llvm.ptr<1>
  // CHECK: llvm.store %arg1, %{{.*}} {alignment = 2 : i64} : f16, !llvm.ptr<1>
  // CHECK: %[[PLACE:.*]] = llvm.add %arg3, %{{.*}} : i32
  // CHECK: %[[WIDE:.*]] = llvm.zext %[[PLACE]] : i32 to i64
  // CHECK: llvm.shl %[[WIDE]]
  // CHECK: llvm.store %{{.*}}, %{{.*}} atomic release {alignment = 8 : i64} : i64, !llvm.ptr<1>
  // CHECK: nvvm.bar.warp.sync
  tile.print "{} {}", %n, %x : i32, f16 {place = 5 : i32}
  tgpu.return
}

// -----

// Each thread of a region has its message, and lanes that print are not waited for. Those that are there reserve together: an
// exchange each would take minutes for a hundred thousand.
// CHECK-LABEL: llvm.func @region
// CHECK-NOT: nvvm.bar.warp.sync
// CHECK: %[[HERE:.*]] = llvm.call_intrinsic "llvm.nvvm.activemask"()
// CHECK: llvm.cond_br
// CHECK: %[[COUNT:.*]] = llvm.intr.ctpop(%[[HERE]])
// CHECK: llvm.cmpxchg
// CHECK: nvvm.shfl.sync idx %[[HERE]]
// CHECK-NOT: nvvm.bar.warp.sync
// CHECK: llvm.return
tgpu.kernel @region() attributes {threads = 64 : i32, target = "sm_80"} {
  tile.threads [64] {
  ^bb0(%t: i32):
    tile.print "{}", %t : i32 {place = 0 : i32}
  }
  tgpu.return
}

// -----

// Of a tile, whose last 28 slots are none of its elements, each thread writes what it holds.
// CHECK-LABEL: llvm.func @tile
// CHECK: llvm.cmpxchg
// CHECK: llvm.store %{{.*}}, %{{.*}} {alignment = 4 : i64} : i32, !llvm.ptr<3>
// CHECK: nvvm.barrier
// CHECK: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr<3> -> i32
// CHECK: llvm.store %arg0, %{{.*}} {alignment = 4 : i64} : f32, !llvm.ptr<1>
// CHECK: llvm.icmp "ult"
// CHECK: llvm.store %arg0, %{{.*}} {alignment = 4 : i64} : f32, !llvm.ptr<1>
// CHECK: nvvm.barrier
// CHECK: llvm.store %{{.*}}, %{{.*}} atomic release
!f = tensor<100xf32, #tgpu.fragment<"100 reg 1 lane 2:4:8:16:32 warp 64">>
tgpu.kernel @tile(%x: f32) attributes {threads = 64 : i32, target = "sm_90a"} {
  %t = tile.splat %x : f32 -> !f
  tile.print "{}", %t : !f {place = 0 : i32, scratch = 0 : i64}
  tgpu.return
}

// -----

// An element that two warps hold, each thread of them twice, is printed once; the lanes meet behind all of them.
// CHECK-LABEL: llvm.func @element
// CHECK: llvm.cmpxchg
// CHECK-NOT: llvm.cmpxchg
// CHECK: nvvm.bar.warp.sync
// CHECK-NEXT: llvm.return
!r = tensor<32xf32, #tgpu.fragment<"32 reg 0 lane 1:2:4:8:16 warp 0">>
tgpu.kernel @element(%x: f32) attributes {threads = 64 : i32, target = "sm_90a"} {
  %t = tile.splat %x : f32 -> !r
  tile.map %t : !r {
  ^bb0(%e: f32):
    %c = arith.cmpf ogt, %e, %e : f32
    scf.if %c {
      tile.print "{}", %e : f32 {place = 0 : i32}
    }
    tile.yield
  }
  tgpu.return
}

// -----

tgpu.kernel @unnumbered() attributes {threads = 64 : i32, target = "sm_90a"} {
  // expected-error@+1 {{has no number in its kernel}}
  tile.print "text"
  tgpu.return
}
