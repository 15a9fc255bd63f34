// A sum takes the place of that of the iteration before. Where LLVM may compute what comes of that one behind the product, it has
// registers of their own behind the wait: else LLVM would copy sums in flight.
// RUN: tile-opt --convert-tgpu-to-llvm %s | FileCheck %s

#acc = #tgpu.fragment<"64x64 reg 0,1:8,0:0,8:0,16:0,32 lane 0,2:0,4:1,0:2,0:4,0 warp 16,0:32,0">
#s = #tgpu.shared<"64x64 b16 contig 1 panel 64 swizzle 128">
!s = !tgpu.smem<64x64xf16, #s>
!acc = tensor<64x64xf32, #acc>
!p = !tgpu.pending<!acc>
!t = !tile.global<64x64xf32>

// CHECK-LABEL: llvm.func @used_behind
// CHECK: wgmma.wait_group
// CHECK-COUNT-32: "mov.b32 $0, $1;"
tgpu.kernel @used_behind(%o: !t, %n: i32) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %f = arith.constant 0.0 : f32
  %z = tile.splat %f : f32 -> !acc
  %x = tgpu.alloc_shared "X" {offset = 0 : i64} : !s
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%c = %z, %m = %z) -> (!acc, !acc) : i32 {
    %e = math.exp2 %c : !acc
    tgpu.wgmma_fence
    %p = tgpu.wgmma %x, %x, %z {accumulate = false, mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !s, !s, !acc -> !p
    tgpu.wgmma_commit
    %d = tgpu.wgmma_wait 0, %p : !p -> !acc
    scf.yield %d, %e : !acc, !acc
  }
  tgpu.store %r#1, %o {bytes = 4 : i32} : !acc, !t
  tgpu.return
}

// What is stored before the product cannot sink.
// CHECK-LABEL: llvm.func @stored_before
// CHECK: wgmma.wait_group
// CHECK-NOT: "mov.b32 $0, $1;"
tgpu.kernel @stored_before(%o: !t, %n: i32) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %f = arith.constant 0.0 : f32
  %z = tile.splat %f : f32 -> !acc
  %x = tgpu.alloc_shared "X" {offset = 0 : i64} : !s
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %z) -> (!acc) : i32 {
    %e = math.exp2 %c : !acc
    tgpu.store %e, %o {bytes = 4 : i32} : !acc, !t
    tgpu.wgmma_fence
    %p = tgpu.wgmma %x, %x, %z {accumulate = false, mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !s, !s, !acc -> !p
    tgpu.wgmma_commit
    %d = tgpu.wgmma_wait 0, %p : !p -> !acc
    scf.yield %d : !acc
  }
  tgpu.store %r, %o {bytes = 4 : i32} : !acc, !t
  tgpu.return
}

// Neither can what the product begins with.
// CHECK-LABEL: llvm.func @scaled
// CHECK: wgmma.wait_group
// CHECK-NOT: "mov.b32 $0, $1;"
tgpu.kernel @scaled(%o: !t, %n: i32) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %f = arith.constant 0.0 : f32
  %z = tile.splat %f : f32 -> !acc
  %x = tgpu.alloc_shared "X" {offset = 0 : i64} : !s
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %z) -> (!acc) : i32 {
    %e = math.exp2 %c : !acc
    tgpu.wgmma_fence
    %p = tgpu.wgmma %x, %x, %e {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !s, !s, !acc -> !p
    tgpu.wgmma_commit
    %d = tgpu.wgmma_wait 0, %p : !p -> !acc
    scf.yield %d : !acc
  }
  tgpu.store %r, %o {bytes = 4 : i32} : !acc, !t
  tgpu.return
}

// Here what the product begins with is there while the sum of before is still read: LLVM has two registers for them.
// CHECK-LABEL: llvm.func @read_besides
// CHECK: wgmma.wait_group
// CHECK-COUNT-32: "mov.b32 $0, $1;"
tgpu.kernel @read_besides(%o: !t, %n: i32) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %f = arith.constant 0.0 : f32
  %z = tile.splat %f : f32 -> !acc
  %x = tgpu.alloc_shared "X" {offset = 0 : i64} : !s
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %z) -> (!acc) : i32 {
    %e = math.exp2 %c : !acc
    tgpu.store %c, %o {bytes = 4 : i32} : !acc, !t
    tgpu.wgmma_fence
    %p = tgpu.wgmma %x, %x, %e {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !s, !s, !acc -> !p
    tgpu.wgmma_commit
    %d = tgpu.wgmma_wait 0, %p : !p -> !acc
    scf.yield %d : !acc
  }
  tgpu.store %r, %o {bytes = 4 : i32} : !acc, !t
  tgpu.return
}

// The place is that of a branch that is not taken: what is made of it before may sink into this one.
// CHECK-LABEL: llvm.func @in_a_branch
// CHECK: wgmma.wait_group
// CHECK-COUNT-32: "mov.b32 $0, $1;"
tgpu.kernel @in_a_branch(%o: !t, %n: i32, %y: i1) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %f = arith.constant 0.0 : f32
  %z = tile.splat %f : f32 -> !acc
  %x = tgpu.alloc_shared "X" {offset = 0 : i64} : !s
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %z) -> (!acc) : i32 {
    %e = math.exp2 %c : !acc
    %w = scf.if %y -> !acc {
      tgpu.wgmma_fence
      %p = tgpu.wgmma %x, %x, %z {accumulate = false, mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !s, !s, !acc -> !p
      tgpu.wgmma_commit
      %d = tgpu.wgmma_wait 0, %p : !p -> !acc
      tgpu.store %e, %o {bytes = 4 : i32} : !acc, !t
      scf.yield %d : !acc
    } else {
      scf.yield %c : !acc
    }
    scf.yield %w : !acc
  }
  tgpu.store %r, %o {bytes = 4 : i32} : !acc, !t
  tgpu.return
}

// The sum goes on as something else, in whose register LLVM would have it: it has its own before the fence, too.
// CHECK-LABEL: llvm.func @goes_on_as_another
// CHECK-COUNT-32: "mov.b32 $0, $1;"
// CHECK: wgmma.fence
tgpu.kernel @goes_on_as_another(%o: !t, %n: i32) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %f = arith.constant 1.0 : f32
  %z = tile.splat %f : f32 -> !acc
  %x = tgpu.alloc_shared "X" {offset = 0 : i64} : !s
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%c = %z, %m = %z) -> (!acc, !acc) : i32 {
    tgpu.wgmma_fence
    %p = tgpu.wgmma %x, %x, %c {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !s, !s, !acc -> !p
    tgpu.wgmma_commit
    %e = math.exp2 %m : !acc
    %d = tgpu.wgmma_wait 0, %p : !p -> !acc
    %h = arith.addf %d, %m : !acc
    scf.yield %e, %h : !acc, !acc
  }
  tgpu.store %r#1, %o {bytes = 4 : i32} : !acc, !t
  tgpu.return
}

// A branch hands on what the loop carries: LLVM copies that, too, at a place of its choice.
// CHECK-LABEL: llvm.func @carried_by_a_branch
// CHECK: "mov.b32 $0, $1;"
// CHECK: wgmma.wait_group
tgpu.kernel @carried_by_a_branch(%o: !t, %n: i32) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %f = arith.constant 0.0 : f32
  %z = tile.splat %f : f32 -> !acc
  %x = tgpu.alloc_shared "X" {offset = 0 : i64} : !s
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %z) -> (!acc) : i32 {
    %early = arith.cmpi slt, %i, %c1 : i32
    %b = scf.if %early -> (!acc) {
      %e = math.exp2 %c : !acc
      scf.yield %e : !acc
    } else {
      scf.yield %c : !acc
    }
    tgpu.wgmma_fence
    %p = tgpu.wgmma %x, %x, %b {mma = #tgpu.mma<wgmma, 64, 64, 16, warps = 1, 1>} : !s, !s, !acc -> !p
    tgpu.wgmma_commit
    %d = tgpu.wgmma_wait 0, %p : !p -> !acc
    scf.yield %d : !acc
  }
  tgpu.store %r, %o {bytes = 4 : i32} : !acc, !t
  tgpu.return
}
