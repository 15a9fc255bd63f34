// A conversion through shared memory has one barrier, between writing and reading its scratch space. Another one comes before it
// only where threads may still use that space.
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-insert-sync))' | FileCheck %s
// RUN: tile-opt %s --pass-pipeline='builtin.module(tgpu.kernel(tgpu-insert-sync,tgpu-verify-sync))' -o /dev/null

#sums = #tgpu.fragment<"8 reg - lane 0:0:0:0:0 warp 1:2:4">
#all = #tgpu.fragment<"8 reg 1:2:4 lane 0:0:0:0:0 warp 0:0:0">
!sums = tensor<8xf32, #sums>
!all = tensor<8xf32, #all>
!s = !tgpu.smem<256xf32, #tgpu.shared<"256 b32 contig 0 panel 256">>
!t = tensor<256xf32, #tgpu.fragment<"256 reg - lane 1:2:4:8:16 warp 32:64:128">>

// CHECK-LABEL: tgpu.kernel @apart
// CHECK-NOT: tgpu.barrier
// CHECK: tgpu.return
tgpu.kernel @apart(%x: f32) attributes {threads = 256 : i32, target = "sm_90a", shared_bytes = 64 : i64} {
  %a = tile.splat %x : f32 -> !sums
  %0 = tgpu.convert_layout %a {scratch = 0 : i64} : !sums -> !all
  %1 = tgpu.convert_layout %a {scratch = 32 : i64} : !sums -> !all
  tgpu.return
}

// The third writes what the first read, but the barrier of the second is in between.
// CHECK-LABEL: tgpu.kernel @in_turn
// CHECK-NOT: tgpu.barrier
// CHECK: tgpu.return
tgpu.kernel @in_turn(%x: f32) attributes {threads = 256 : i32, target = "sm_90a", shared_bytes = 64 : i64} {
  %a = tile.splat %x : f32 -> !sums
  %0 = tgpu.convert_layout %a {scratch = 0 : i64} : !sums -> !all
  %1 = tgpu.convert_layout %a {scratch = 32 : i64} : !sums -> !all
  %2 = tgpu.convert_layout %a {scratch = 0 : i64} : !sums -> !all
  tgpu.return
}

// CHECK-LABEL: tgpu.kernel @same
// CHECK: tgpu.convert_layout
// CHECK-NEXT: tgpu.barrier
// CHECK-NEXT: tgpu.convert_layout
// CHECK-NEXT: tgpu.return
tgpu.kernel @same(%x: f32) attributes {threads = 256 : i32, target = "sm_90a", shared_bytes = 32 : i64} {
  %a = tile.splat %x : f32 -> !sums
  %0 = tgpu.convert_layout %a {scratch = 0 : i64} : !sums -> !all
  %1 = tgpu.convert_layout %a {scratch = 0 : i64} : !sums -> !all
  tgpu.return
}

// Each iteration but the first writes what the one before reads.
// CHECK-LABEL: tgpu.kernel @loop
// CHECK: scf.for
// CHECK-NEXT: tgpu.barrier
// CHECK-NEXT: tgpu.convert_layout
// CHECK-NOT: tgpu.barrier
// CHECK: tgpu.return
tgpu.kernel @loop(%x: f32, %n: i32) attributes {threads = 256 : i32, target = "sm_90a", shared_bytes = 32 : i64} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %a = tile.splat %x : f32 -> !sums
  scf.for %i = %c0 to %n step %c1 : i32 {
    %0 = tgpu.convert_layout %a {scratch = 0 : i64} : !sums -> !all
  }
  tgpu.return
}

// What was written before is ordered by the barrier inside.
// CHECK-LABEL: tgpu.kernel @orders_others
// CHECK: tgpu.local_store
// CHECK-NEXT: tgpu.convert_layout
// CHECK-NEXT: tgpu.local_load
// CHECK-NEXT: tgpu.return
tgpu.kernel @orders_others(%x: f32) attributes {threads = 256 : i32, target = "sm_90a", shared_bytes = 1056 : i64} {
  %a = tile.splat %x : f32 -> !sums
  %t = tile.splat %x : f32 -> !t
  %s = tgpu.alloc_shared "s" {offset = 0 : i64} : !s
  tgpu.local_store %t, %s : !t, !s
  %0 = tgpu.convert_layout %a {scratch = 1024 : i64} : !sums -> !all
  %1 = tgpu.local_load %s : !s -> !t
  tgpu.return
}

// A buffer overlaid by the scratch space is read before it is written.
// CHECK-LABEL: tgpu.kernel @overlaid
// CHECK: tgpu.local_load
// CHECK-NEXT: tgpu.barrier
// CHECK-NEXT: tgpu.convert_layout
tgpu.kernel @overlaid(%x: f32) attributes {threads = 256 : i32, target = "sm_90a", shared_bytes = 1024 : i64} {
  %a = tile.splat %x : f32 -> !sums
  %s = tgpu.alloc_shared "s" {offset = 0 : i64} : !s
  %1 = tgpu.local_load %s : !s -> !t
  %0 = tgpu.convert_layout %a {scratch = 512 : i64} : !sums -> !all
  tgpu.return
}

// The loop's only iteration may be the first one, which does not come by the barrier in it.
// CHECK-LABEL: tgpu.kernel @behind_first_iteration
// CHECK: scf.for
// CHECK: scf.if
// CHECK-NEXT: tgpu.barrier
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: tgpu.barrier
// CHECK-NEXT: tgpu.convert_layout
tgpu.kernel @behind_first_iteration(%x: f32, %n: i32) attributes {threads = 256 : i32, target = "sm_90a", shared_bytes = 64 : i64} {
  %a = tile.splat %x : f32 -> !sums
  %first = arith.constant 0 : i32
  %step = arith.constant 1 : i32
  scf.for %k = %first to %n step %step : i32 {
    %0 = tgpu.convert_layout %a {scratch = 0 : i64} : !sums -> !all
    %isLater = arith.cmpi sgt, %k, %first : i32
    scf.if %isLater {
      tgpu.barrier
    }
  }
  %1 = tgpu.convert_layout %a {scratch = 0 : i64} : !sums -> !all
  tgpu.return
}

// With two iterations at least it does.
// CHECK-LABEL: tgpu.kernel @behind_two_iterations
// CHECK: scf.if
// CHECK-NEXT: tgpu.barrier
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: tgpu.convert_layout
tgpu.kernel @behind_two_iterations(%x: f32) attributes {threads = 256 : i32, target = "sm_90a", shared_bytes = 64 : i64} {
  %a = tile.splat %x : f32 -> !sums
  %first = arith.constant 0 : i32
  %step = arith.constant 1 : i32
  %n = arith.constant 2 : i32
  scf.for %k = %first to %n step %step : i32 {
    %0 = tgpu.convert_layout %a {scratch = 0 : i64} : !sums -> !all
    %isLater = arith.cmpi sgt, %k, %first : i32
    scf.if %isLater {
      tgpu.barrier
    }
  }
  %1 = tgpu.convert_layout %a {scratch = 0 : i64} : !sums -> !all
  tgpu.return
}
