// The next launch may begin at once; this one waits in front of the first operation that accesses global memory, or has one inside
// that does.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-overlap-launches))' | FileCheck %s

// Between two others: shared memory is filled before the wait.
// CHECK-LABEL: tgpu.kernel @middle
// CHECK-NEXT: tgpu.launch_dependents
// CHECK-NEXT: tgpu.block_id
// CHECK-NEXT: arith.constant
// CHECK-NEXT: tgpu.view
// CHECK-NEXT: tile.slice
// CHECK-NEXT: tgpu.alloc_shared
// CHECK-NEXT: arith.constant
// CHECK-NEXT: tgpu.local_store
// CHECK-NEXT: tgpu.wait_for_launches
// CHECK-NEXT: tgpu.load
tgpu.kernel @middle(%w: !tile.global<64xf32>) attributes {threads = 32 : i32, target = "sm_90a", precedes, follows} {
  %b = tgpu.block_id
  %e = arith.constant 64 : i32
  %v = tgpu.view %w extents(%e : i32) strides() : !tile.global<64xf32> -> !tile.global<64xf32>
  %t = tile.slice %v[%b] sizes [32] : !tile.global<64xf32>, i32 -> !tile.global<32xf32>
  %s = tgpu.alloc_shared "s" : !tgpu.smem<32xf32>
  %zero = arith.constant dense<0.0> : tensor<32xf32>
  tgpu.local_store %zero, %s : tensor<32xf32>, !tgpu.smem<32xf32>
  %x = tgpu.load %t : !tile.global<32xf32> -> tensor<32xf32>
  tgpu.store %x, %t : tensor<32xf32>, !tile.global<32xf32>
  tgpu.return
}

// The access is in a loop, of a persistent kernel, say: the wait is in front of that.
// CHECK-LABEL: tgpu.kernel @loop
// CHECK-NOT: tgpu.launch_dependents
// CHECK: tgpu.wait_for_launches
// CHECK-NEXT: scf.for
// CHECK-NOT: tgpu.wait_for_launches
tgpu.kernel @loop(%w: !tile.global<64xf32>, %n: i32) attributes {threads = 32 : i32, target = "sm_90a", follows} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  scf.for %i = %zero to %n step %one : i32 {
    %v = tgpu.view %w extents(%n : i32) strides() : !tile.global<64xf32> -> !tile.global<64xf32>
    %t = tile.slice %v[%i] sizes [32] : !tile.global<64xf32>, i32 -> !tile.global<32xf32>
    %x = tgpu.load %t : !tile.global<32xf32> -> tensor<32xf32>
  }
  tgpu.return
}

// Messages and failed checks are written to global memory, too.
// CHECK-LABEL: tgpu.kernel @print
// CHECK-NEXT: tgpu.wait_for_launches
// CHECK-NEXT: tile.print
tgpu.kernel @print(%n: i32) attributes {threads = 32 : i32, target = "sm_90a", follows} {
  tile.print "n {}", %n : i32 {place = 0 : i32}
  tgpu.return
}

// Who accesses nothing waits all the same: the launch behind it takes its end for that of all before it.
// CHECK-LABEL: tgpu.kernel @nothing
// CHECK-NEXT: tgpu.wait_for_launches
// CHECK-NEXT: tgpu.return
tgpu.kernel @nothing() attributes {threads = 32 : i32, target = "sm_90a", follows} {
  tgpu.return
}

// CHECK-LABEL: tgpu.kernel @first
// CHECK-NEXT: tgpu.launch_dependents
// CHECK-NEXT: tgpu.return
tgpu.kernel @first() attributes {threads = 32 : i32, target = "sm_90a", precedes} {
  tgpu.return
}

// Neither before sm_90 nor in a call's only launch.
// CHECK-LABEL: tgpu.kernel @older
// CHECK-NEXT: tgpu.return
tgpu.kernel @older() attributes {threads = 32 : i32, target = "sm_80", precedes, follows} {
  tgpu.return
}
// CHECK-LABEL: tgpu.kernel @alone
// CHECK-NEXT: tgpu.return
tgpu.kernel @alone() attributes {threads = 32 : i32, target = "sm_90a"} {
  tgpu.return
}
