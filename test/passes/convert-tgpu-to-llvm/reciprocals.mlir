// Division by a number of which the host passes factor, addend and shift: a product and shifts, with the sign behind it where there is
// one. By 0 the quotient is 0 by itself, a remainder is selected.
// RUN: tile-opt --convert-tgpu-to-llvm --canonicalize --cse %s | FileCheck %s

// CHECK-LABEL: llvm.func @positive
// CHECK-SAME: %[[X:[a-z0-9]+]]: i32
// CHECK-SAME: %[[D:[a-z0-9]+]]: i32 {{[^,]*}}, %[[F:[a-z0-9]+]]: i32 {{[^,]*}}, %[[A:[a-z0-9]+]]: i32 {{[^,]*}}, %[[S:[a-z0-9]+]]: i32
// CHECK-NOT: llvm.sdiv
// CHECK-DAG: %[[WX:.*]] = llvm.zext %[[X]] : i32 to i64
// CHECK-DAG: %[[WF:.*]] = llvm.zext %[[F]] : i32 to i64
// CHECK: %[[P:.*]] = llvm.mul %[[WX]], %[[WF]] : i64
// CHECK: %[[WA:.*]] = llvm.zext %[[A]] : i32 to i64
// CHECK: %[[SUM:.*]] = llvm.add %[[P]], %[[WA]] : i64
// CHECK: %[[HIGH:.*]] = llvm.lshr %[[SUM]], %{{.*}} : i64
// CHECK: %[[LOW:.*]] = llvm.trunc %[[HIGH]] : i64 to i32
// CHECK: %[[Q:.*]] = llvm.lshr %[[LOW]], %[[S]] : i32
// CHECK: llvm.store %[[Q]]
// CHECK: llvm.return
tgpu.kernel @positive(%x: i32 {tgpu.range = array<i64: 0, 100>},
    %d: i32 {tgpu.range = array<i64: 0, 2147483647>, tgpu.reciprocal = array<i64: 2, 0>}, %f: i32, %a: i32, %s: i32)
    attributes {threads = 32 : i32, target = "sm_80"} {
  %c0 = arith.constant 0 : i32
  %q = tile.div %x, %d : i32
  %one = tgpu.alloc_shared {offset = 0 : i64} : !tgpu.smem<1xi32, #tgpu.shared<"1 b32 contig 0 panel 1">>
  tgpu.store_element %q, %one[%c0 : i32] : i32, !tgpu.smem<1xi32, #tgpu.shared<"1 b32 contig 0 panel 1">>
  tgpu.return
}

// CHECK-LABEL: llvm.func @sign
// CHECK: llvm.xor
// CHECK: llvm.mul %{{.*}} : i64
// CHECK: llvm.mul %{{.*}} : i32
// CHECK: %[[ZERO:.*]] = llvm.icmp "eq" %{{.*}}, %{{.*}} : i32
// CHECK: llvm.select %[[ZERO]]
// CHECK-NOT: llvm.srem
// A divisor read in the other way is divided by.
// CHECK: llvm.udiv
// CHECK: llvm.return
tgpu.kernel @sign(%x: i32, %d: i32 {tgpu.reciprocal = array<i64: 2, 0>}, %f: i32, %a: i32, %s: i32)
    attributes {threads = 32 : i32, target = "sm_80"} {
  %c0 = arith.constant 0 : i32
  %r = tile.rem %x, %d : i32
  %u = tile.div %r, %d {is_unsigned} : i32
  %one = tgpu.alloc_shared {offset = 0 : i64} : !tgpu.smem<1xi32, #tgpu.shared<"1 b32 contig 0 panel 1">>
  tgpu.store_element %u, %one[%c0 : i32] : i32, !tgpu.smem<1xi32, #tgpu.shared<"1 b32 contig 0 panel 1">>
  tgpu.return
}

// 64 bits: 0 or 1 is added to the dividend, and where that wraps the high half of the product is the factor.
// CHECK-LABEL: llvm.func @wide
// CHECK-SAME: %[[F:[a-z0-9]+]]: i64 {{[^,]*}}, %[[A:[a-z0-9]+]]: i32 {{[^,]*}}, %[[S:[a-z0-9]+]]: i32
// CHECK-NOT: llvm.udiv
// CHECK-DAG: %[[WA:.*]] = llvm.zext %[[A]] : i32 to i64
// CHECK: %[[NEXT:.*]] = llvm.add %[[X:.*]], %[[WA]] : i64
// CHECK: %[[P:.*]] = llvm.mul %{{.*}}, %{{.*}} : i128
// CHECK: %[[HIGH:.*]] = llvm.trunc %{{.*}} : i128 to i64
// CHECK: %[[WRAPS:.*]] = llvm.icmp "ult" %[[NEXT]], %[[WA]] : i64
// CHECK: %[[FULL:.*]] = llvm.select %[[WRAPS]], %[[F]], %[[HIGH]]
// CHECK: llvm.lshr %[[FULL]], %{{.*}} : i64
// A dividend that is not negative does not wrap.
// CHECK: llvm.mul %{{.*}} : i128
// CHECK-NOT: llvm.icmp "ult"
// CHECK: llvm.return
tgpu.kernel @wide(%x: i64, %y: i64 {tgpu.range = array<i64: 0, 100>}, %d: i64 {tgpu.reciprocal = array<i64: 3, 1>}, %f: i64, %a: i32, %s: i32)
    attributes {threads = 32 : i32, target = "sm_80"} {
  %c0 = arith.constant 0 : i32
  %q = tile.div %x, %d {is_unsigned} : i64
  %p = tile.div %y, %d {is_unsigned} : i64
  %both = arith.addi %q, %p : i64
  %one = tgpu.alloc_shared {offset = 0 : i64} : !tgpu.smem<1xi64, #tgpu.shared<"1 b64 contig 0 panel 1">>
  tgpu.store_element %both, %one[%c0 : i32] : i64, !tgpu.smem<1xi64, #tgpu.shared<"1 b64 contig 0 panel 1">>
  tgpu.return
}

// 16 bits are divided as 32.
// CHECK-LABEL: llvm.func @narrow
// CHECK-NOT: llvm.sdiv
// CHECK-DAG: llvm.sext %{{.*}} : i16 to i32
// CHECK: llvm.mul %{{.*}} : i64
// CHECK: llvm.trunc %{{.*}} : i32 to i16
// CHECK: llvm.return
tgpu.kernel @narrow(%x: i16, %d: i16 {tgpu.reciprocal = array<i64: 2, 0>}, %f: i32, %a: i32, %s: i32)
    attributes {threads = 32 : i32, target = "sm_80"} {
  %c0 = arith.constant 0 : i32
  %q = tile.div %x, %d {rounding = #tile.rounding<down>} : i16
  %one = tgpu.alloc_shared {offset = 0 : i64} : !tgpu.smem<1xi16, #tgpu.shared<"1 b16 contig 0 panel 1">>
  tgpu.store_element %q, %one[%c0 : i32] : i16, !tgpu.smem<1xi16, #tgpu.shared<"1 b16 contig 0 panel 1">>
  tgpu.return
}
