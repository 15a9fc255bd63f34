// Atomics of `parallel` loops: one for each iteration, whatever the operands depend on; a slice where they run along it and return
// nothing. What they return passes through shared memory.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-raise-parallel))' 2>%t.remarks | FileCheck %s
// RUN: FileCheck --check-prefix=REMARK %s <%t.remarks

!g = !tile.global<?xi32>
// CHECK-LABEL: tgpu.kernel @slice
// CHECK: %[[PART:.*]] = tile.slice %{{.*}} sizes [8]
// CHECK: tgpu.atomic_tile <max> %{{.*}}, %[[PART]] {is_unsigned} : tensor<8xi32>, !tile.global<8xi32>
// CHECK: tgpu.atomic <add> %{{.*}}, %{{.*}}[%{{.*}}] : tensor<8xi32>, !tile.global<?xi32>[tensor<8xi32>]
// CHECK: %[[OLD:.*]] = tile.alloc "old" : !tile.buffer<8xi32, shared>
// CHECK: tgpu.atomic <exchange> %{{.*}} expecting %{{.*}}, %{{.*}}[%{{.*}}] if %{{.*}} old %[[OLD]]
// CHECK: %[[TILE:.*]] = tile.read %[[OLD]] : !tile.buffer<8xi32, shared> -> tensor<8xi32>
// CHECK: tgpu.atomic <xor> %[[TILE]], {{.*}} if
// REMARK: remark: exchange between threads: what an atomic operation returns goes through 32 bytes of shared memory
tgpu.kernel @slice(%g: !g, %n: i32) attributes {threads = 64 : i32, target = "sm_90a"} {
  %a = tgpu.view %g extents(%n : i32) strides() : !g -> !g
  %eight = arith.constant 8 : i32
  tile.parallel(%eight : i32) {
  ^bb0(%i: i32):
    %at = arith.addi %i, %n : i32
    %0 = tile.atomic <max> %i, %a[%at : i32] {is_unsigned} : i32, !g -> i32
    %1 = tile.atomic <add> %n, %a[%n : i32] : i32, !g -> i32
    %c = arith.cmpi slt, %i, %n : i32
    scf.if %c {
      %2 = tile.atomic_cas %i, %n, %a[%n : i32] : i32, i32, !g -> i32
      %3 = tile.atomic <xor> %2, %a[%i : i32] : i32, !g -> i32
    }
  }
  tgpu.return
}
