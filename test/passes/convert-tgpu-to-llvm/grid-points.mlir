// The number of a point is multiplied by what the host computed for each divisor: of a panel, of its height or the last one's. By constants
// is divided, which costs no division.
// RUN: tile-opt %s --convert-tgpu-to-llvm --canonicalize --cse | FileCheck %s

// CHECK-LABEL: llvm.func @panels(
// CHECK: %[[N:.*]] = nvvm.read.ptx.sreg.ctaid.x
// CHECK: %[[G:.*]] = llvm.intr.umin(%{{.*}}, %{{.*}}) : (i32, i32) -> i32
// CHECK: %[[PANEL:.*]] = llvm.mul %{{.*}}, %[[G]] : i32
// CHECK: %[[WIDE:.*]] = llvm.zext %[[N]] : i32 to i64
// CHECK: %[[TOP:.*]] = llvm.lshr %{{.*}}, %{{.*}} : i64
// CHECK: %[[TOP32:.*]] = llvm.trunc %[[TOP]]
// CHECK: %[[TOP64:.*]] = llvm.zext %[[TOP32]]
// CHECK: %[[HIGH:.*]] = llvm.mul %[[WIDE]], %[[TOP64]] : i64
// CHECK: %[[LOW:.*]] = llvm.mul %[[WIDE]], %{{.*}} : i64
// CHECK: %[[CARRY:.*]] = llvm.lshr %[[LOW]]
// CHECK: %[[SUM:.*]] = llvm.add %[[HIGH]], %[[CARRY]]
// CHECK: %[[SHIFTED:.*]] = llvm.lshr %[[SUM]]
// CHECK: %[[Q:.*]] = llvm.trunc %[[SHIFTED]] : i64 to i32
// CHECK: %[[BEFORE:.*]] = llvm.mul %[[Q]], %[[PANEL]]
// CHECK: llvm.sub %[[N]], %[[BEFORE]]
// CHECK: %[[FULL:.*]] = llvm.icmp "uge" %{{.*}}, %[[G]]
// CHECK: llvm.select %[[FULL]], %{{.*}}, %{{.*}} : i1, i64
// CHECK-NOT: llvm.udiv
tgpu.kernel @panels(%m: i32, %n: i32, %group: i32, %panel: i64, %height: i64, %last: i64, %o: !tile.global<?xi32> {tgpu.align = 16 : i64}) attributes {threads = 32 : i32, target = "sm_90a"} {
  %id = tgpu.block_id
  %x, %y = tgpu.grid_point %id in (%m, %n) group(%group) inverses(%panel, %height, %last) : i32, i32
  tile.store %x, %o[%y : i32] : i32, !tile.global<?xi32>
  tgpu.return
}

// CHECK-LABEL: llvm.func @constant(
// CHECK-NOT: llvm.lshr
// CHECK: llvm.udiv
tgpu.kernel @constant(%n: i32, %inverse: i64, %o: !tile.global<?xi32> {tgpu.align = 16 : i64}) attributes {threads = 32 : i32, target = "sm_90a"} {
  %id = tgpu.block_id
  %m = arith.constant 12 : i32
  %x, %y = tgpu.grid_point %id in (%m, %n) inverses(%inverse) : i32, i32
  tile.store %x, %o[%y : i32] : i32, !tile.global<?xi32>
  tgpu.return
}
