// A failed check: one thread claims the record and fills it in; no trap, no barrier in the branch. Two more parameters.
// RUN: tile-opt --convert-tgpu-to-llvm %s | FileCheck %s
// RUN: tile-opt --convert-tgpu-to-llvm %s | FileCheck %s --check-prefix=NONE

// NONE-NOT: trap

// CHECK-LABEL: llvm.func @scalar
// CHECK-SAME: %arg0: i32 {llvm.noundef}, %arg1: f32 {llvm.noundef}, %arg2: !llvm.ptr<1> {llvm.align = 8 : i64, llvm.noalias, llvm.noundef}, %arg3: i32 {llvm.noundef})
tgpu.kernel @scalar(%n: i32, %x: f32) attributes {threads = 64 : i32, target = "sm_80"} {
  %c8 = arith.constant 8 : i32
  %ok = arith.cmpi slt, %n, %c8 : i32
  // CHECK: llvm.cond_br %{{.*}}, ^[[FAILS:.*]], ^[[ON:.*]]
  // CHECK: ^[[FAILS]]:
  // CHECK: %[[OLD:.*]] = llvm.cmpxchg %{{.*}}, %{{.*}}, %{{.*}} monotonic monotonic : !llvm.ptr<1>, i32
  // CHECK: %[[CLAIMED:.*]] = llvm.extractvalue %[[OLD]][0]
  // CHECK: llvm.icmp "eq" %[[CLAIMED]]
  // CHECK: %[[PLACE:.*]] = llvm.add %arg3, %{{.*}} : i32
  // CHECK: llvm.store %[[PLACE]], %{{.*}} : i32, !llvm.ptr<1>
  // CHECK: nvvm.read.ptx.sreg.ctaid.x
  // CHECK: %[[N:.*]] = llvm.zext %arg0 : i32 to i64
  // CHECK: llvm.store %[[N]], %{{.*}} : i64, !llvm.ptr<1>
  // CHECK: %[[X:.*]] = llvm.bitcast %arg1 : f32 to i32
  // CHECK: llvm.zext %[[X]] : i32 to i64
  // CHECK: llvm.store %{{.*}}, %{{.*}} atomic release {alignment = 4 : i64} : i32, !llvm.ptr<1>
  // CHECK: nvvm.bar.warp.sync
  tile.verify %ok, 5 "n is {}, x {}", %n, %x : i32, f32 : i1
  tgpu.return
}

// A tile of 100 elements in 128 slots: the padding is no element. The warp enters the branch as a whole.
// CHECK-LABEL: llvm.func @tile
!t = tensor<100xi1, #tgpu.fragment<"100 reg 1 lane 2:4:8:16:32 warp 64">>
!f = tensor<100xf32, #tgpu.fragment<"100 reg 1 lane 2:4:8:16:32 warp 64">>
tgpu.kernel @tile(%x: f32, %y: f32) attributes {threads = 64 : i32, target = "sm_90a"} {
  %t = tile.splat %x : f32 -> !f
  %u = tile.splat %y : f32 -> !f
  %ok = arith.cmpf olt, %t, %u : !f
  // CHECK: llvm.icmp "ult"
  // CHECK: %[[ANY:.*]] = nvvm.vote.sync any %{{.*}}, %{{.*}} -> i1
  // CHECK: llvm.cond_br %[[ANY]]
  // CHECK: llvm.cmpxchg
  // CHECK: nvvm.bar.warp.sync
  tile.verify %ok, 0 "wrong" : !t
  tgpu.return
}

// The elements of a map are tested one by one, and the first of a thread's that failed is reported behind it: one branch, with
// the value of that element.
// CHECK-LABEL: llvm.func @map
!i = tensor<100xi32, #tgpu.fragment<"100 reg 1 lane 2:4:8:16:32 warp 64">>
tgpu.kernel @map(%x: i32, %p: !tile.global<?xi32>, %n: i32) attributes {threads = 64 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %v = tgpu.view %p extents(%n : i32) strides() : !tile.global<?xi32> -> !tile.global<?xi32>
  %s = tile.slice %v[%c0] sizes [100] : !tile.global<?xi32>, i32 -> !tile.global<100xi32>
  %t = tgpu.load %s : !tile.global<100xi32> -> !i
  // CHECK: %[[OK0:.*]] = llvm.icmp "slt" %[[E0:.*]], %arg0
  // CHECK: %[[BAD0:.*]] = llvm.icmp "eq" %[[OK0]], %{{.*}} : i1
  // CHECK: %[[FAULT0:.*]] = llvm.and %[[BAD0]], %{{.*}} : i1
  // CHECK: %[[OK1:.*]] = llvm.icmp "slt" %[[E1:.*]], %arg0
  // CHECK: %[[BAD1:.*]] = llvm.icmp "eq" %[[OK1]], %{{.*}} : i1
  // CHECK: %[[FAULT1:.*]] = llvm.and %[[BAD1]], %{{.*}} : i1
  // CHECK: %[[FIRST:.*]] = llvm.select %[[FAULT0]], %[[E0]], %[[E1]] : i1, i32
  // CHECK: %[[FAILS:.*]] = llvm.or %[[FAULT0]], %[[FAULT1]] : i1
  // CHECK: %[[ANY:.*]] = nvvm.vote.sync any %{{.*}}, %[[FAILS]] -> i1
  // CHECK: llvm.cond_br %[[ANY]]
  // CHECK: llvm.cond_br %[[FAILS]]
  // CHECK: llvm.cmpxchg
  // CHECK: llvm.zext %[[FIRST]] : i32 to i64
  // CHECK-NOT: llvm.cmpxchg
  // CHECK: nvvm.bar.warp.sync
  // CHECK: llvm.return
  %m = tile.map %t : !i -> !i {
  ^bb0(%e: i32):
    %ok = arith.cmpi slt, %e, %x : i32
    tile.verify %ok, 0 "element {}", %e : i32 : i1
    tile.yield %e : i32
  }
  tgpu.store %m, %s : !i, !tile.global<100xi32>
  tgpu.return
}

// What is tested under a condition of an element, or in a loop over it, is reported there.
// CHECK-LABEL: llvm.func @branch
tgpu.kernel @branch(%x: i32) attributes {threads = 64 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %t = tile.splat %x : i32 -> !i
  // CHECK-COUNT-2: llvm.cmpxchg
  // CHECK-NOT: llvm.cmpxchg
  tile.map %t : !i {
  ^bb0(%e: i32):
    %positive = arith.cmpi sgt, %e, %c0 : i32
    scf.if %positive {
      %ok = arith.cmpi slt, %e, %x : i32
      tile.verify %ok, 0 "element {}", %e : i32 : i1
    }
    tile.yield
  }
  tgpu.return
}
