// Fragments are one scalar for each slot; accesses to global memory carry the conditions that nothing proves.
// RUN: tile-opt --convert-tgpu-to-llvm %s | FileCheck %s

#l = #tgpu.fragment<"32x8 reg 0,1 lane 0,2:0,4:1,0:2,0:4,0 warp 8,0:16,0">
#v = #tgpu.fragment<"1024 reg 1:2:4 lane 8:16:32:64:128 warp 256:512">

// The bound is a multiple of four and offsets are multiples of 128, so no vector straddles it; `tgpu.in_bounds` drops the
// check altogether.
// CHECK-LABEL: llvm.func @copy
// CHECK-NOT: llvm.cond_br
// CHECK-COUNT-2: mov.b32 $0, 0; mov.b32 $1, 0; mov.b32 $2, 0; mov.b32 $3, 0; @$5 ld.global.v4.b32 {$0,$1,$2,$3}, [$4];", "=&r,=&r,=&r,=&r,l,b"
// CHECK-NOT: ld.global
// CHECK-COUNT-8: llvm.fadd
// CHECK-NOT: llvm.cond_br
// CHECK: llvm.store %{{.*}} {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<1>
// CHECK-NOT: llvm.store %{{.*}} : f32
// CHECK: llvm.return
tgpu.kernel @copy(%X: !tile.global<?xf32>, %Y: !tile.global<?xf32>, %n: i32 {tgpu.divisible = 4 : i64}) attributes {threads = 128 : i32, target = "sm_80"} {
  %c1024 = arith.constant 1024 : i32
  %x = tgpu.view %X extents(%n : i32) strides() : !tile.global<?xf32> -> !tile.global<?xf32>
  %y = tgpu.view %Y extents(%n : i32) strides() : !tile.global<?xf32> -> !tile.global<?xf32>
  %id = tgpu.block_id
  %o = arith.muli %id, %c1024 : i32
  %s = tile.slice %x[%o] sizes [1024] : !tile.global<?xf32>, i32 -> !tile.global<1024xf32>
  %d = tile.slice %y[%o] sizes [1024] : !tile.global<?xf32>, i32 -> !tile.global<1024xf32>
  %v = tgpu.load %s {bytes = 16 : i32} : !tile.global<1024xf32> -> tensor<1024xf32, #v>
  %w = arith.addf %v, %v : tensor<1024xf32, #v>
  tgpu.store %w, %d {bytes = 16 : i32, tgpu.in_bounds = array<i1: true>} : tensor<1024xf32, #v>, !tile.global<1024xf32>
  tgpu.return
}

// Nothing is known of the extent: whole vectors where they fit; in threads whose vector the end cuts, single elements, in a
// block of their own.
// CHECK-LABEL: llvm.func @tail
// CHECK-NOT: llvm.cond_br
// CHECK: @$5 ld.global.v4.b32 {$0,$1,$2,$3}, [$4];
// CHECK: llvm.cond_br
// CHECK-COUNT-8: mov.b16 $0, 0; @$2 ld.global.b16 $0, [$1];
// CHECK: @$5 st.global.v4.b32 [$0], {$1,$2,$3,$4};
// CHECK: llvm.cond_br
// CHECK-COUNT-8: @$2 st.global.b16 [$0], $1;
// CHECK: llvm.return
tgpu.kernel @tail(%X: !tile.global<?xf16>, %Y: !tile.global<?xf16>, %n: i32) attributes {threads = 128 : i32, target = "sm_80"} {
  %c1024 = arith.constant 1024 : i32
  %x = tgpu.view %X extents(%n : i32) strides() : !tile.global<?xf16> -> !tile.global<?xf16>
  %y = tgpu.view %Y extents(%n : i32) strides() : !tile.global<?xf16> -> !tile.global<?xf16>
  %id = tgpu.block_id
  %o = arith.muli %id, %c1024 : i32
  %s = tile.slice %x[%o] sizes [1024] : !tile.global<?xf16>, i32 -> !tile.global<1024xf16>
  %d = tile.slice %y[%o] sizes [1024] : !tile.global<?xf16>, i32 -> !tile.global<1024xf16>
  %v = tgpu.load %s {bytes = 16 : i32} : !tile.global<1024xf16> -> tensor<1024xf16, #v>
  tgpu.store %v, %d {bytes = 16 : i32} : tensor<1024xf16, #v>, !tile.global<1024xf16>
  tgpu.return
}

// Conversions go pair by pair; a loop carries one value for each slot.
// CHECK-LABEL: llvm.func @carried
// CHECK-SAME: %{{.*}}: i8 {llvm.noundef}
// CHECK: llvm.br ^bb1(%{{.*}}, %{{.*}}, %{{.*}} : i32, f32, f32)
// CHECK: nvvm.convert.f32x2.to.f8x2
// CHECK: @$2 st.global.b16 [$0], $1;", "l,h,b,~{memory}"
tgpu.kernel @carried(%Y: !tile.global<?x8xf8E4M3FN>, %n: i32, %m: i32, %flag: i1) attributes {threads = 128 : i32, target = "sm_90a"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c8 = arith.constant 8 : i32
  %y = tgpu.view %Y extents(%n, %c8 : i32, i32) strides(%c8 : i32) : !tile.global<?x8xf8E4M3FN> -> !tile.global<?x8xf8E4M3FN>
  %one = arith.constant dense<1.0> : tensor<32x8xf32, #l>
  %two = arith.constant dense<2.0> : tensor<32x8xf32, #l>
  %r = scf.for %i = %c0 to %m step %c1 iter_args(%acc = %one) -> (tensor<32x8xf32, #l>) : i32 {
    %next = arith.mulf %acc, %two : tensor<32x8xf32, #l>
    scf.yield %next : tensor<32x8xf32, #l>
  }
  %chosen = arith.select %flag, %r, %one : tensor<32x8xf32, #l>
  %q = tile.convert %chosen : tensor<32x8xf32, #l> to tensor<32x8xf8E4M3FN, #l>
  %d = tile.slice %y[%c0, %c0] sizes [32, 8] : !tile.global<?x8xf8E4M3FN>, i32, i32 -> !tile.global<32x8xf8E4M3FN>
  tgpu.store %q, %d {bytes = 2 : i32, tgpu.in_bounds = array<i1: false, true>} : tensor<32x8xf8E4M3FN, #l>, !tile.global<32x8xf8E4M3FN>
  tgpu.return
}

// A slice of a slice obeys the bounds of both; a dropped dimension is checked once.
// CHECK-LABEL: llvm.func @nested
// CHECK: llvm.intr.smin
// CHECK: llvm.icmp "ult"
// CHECK: llvm.return
tgpu.kernel @nested(%X: !tile.global<?x?xf32>, %Y: !tile.global<?xf32>, %n: i32, %m: i32, %i: i32, %len: i32) attributes {threads = 128 : i32, target = "sm_80"} {
  %x = tgpu.view %X extents(%n, %m : i32, i32) strides(%m : i32) : !tile.global<?x?xf32> -> !tile.global<?x?xf32>
  %y = tgpu.view %Y extents(%m : i32) strides() : !tile.global<?xf32> -> !tile.global<?xf32>
  %c0 = arith.constant 0 : i32
  %row = tile.slice %x[%i, %i] sizes [-1, -9223372036854775808] (%len : i32) : !tile.global<?x?xf32>, i32, i32 -> !tile.global<?xf32>
  %s = tile.slice %row[%i] sizes [1024] : !tile.global<?xf32>, i32 -> !tile.global<1024xf32>
  %v = tgpu.load %s {bytes = 4 : i32} : !tile.global<1024xf32> -> tensor<1024xf32, #v>
  %d = tile.slice %y[%c0] sizes [1024] : !tile.global<?xf32>, i32 -> !tile.global<1024xf32>
  tgpu.store %v, %d {bytes = 4 : i32} : tensor<1024xf32, #v>, !tile.global<1024xf32>
  %e = tile.load %row[%c0 : i32] : !tile.global<?xf32> -> f32
  tile.store %e, %y[%c0 : i32] : f32, !tile.global<?xf32>
  tgpu.return
}

// The same when the first slice begins at a constant: its own 64 elements bound what the second one sees.
// CHECK-LABEL: llvm.func @constantOffset
// CHECK: %[[END:.*]] = llvm.mlir.constant(80 : i32)
// CHECK: llvm.intr.smin(%{{.*}}, %[[END]])
// CHECK: llvm.return
tgpu.kernel @constantOffset(%X: !tile.global<?xf32>, %Y: !tile.global<?xf32>, %n: i32, %i: i32) attributes {threads = 128 : i32, target = "sm_80"} {
  %c0 = arith.constant 0 : i32
  %c16 = arith.constant 16 : i32
  %x = tgpu.view %X extents(%n : i32) strides() : !tile.global<?xf32> -> !tile.global<?xf32>
  %y = tgpu.view %Y extents(%n : i32) strides() : !tile.global<?xf32> -> !tile.global<?xf32>
  %part = tile.slice %x[%c16] sizes [64] : !tile.global<?xf32>, i32 -> !tile.global<64xf32>
  %s = tile.slice %part[%i] sizes [1024] : !tile.global<64xf32>, i32 -> !tile.global<1024xf32>
  %v = tgpu.load %s {bytes = 4 : i32} : !tile.global<1024xf32> -> tensor<1024xf32, #v>
  %d = tile.slice %y[%c0] sizes [1024] : !tile.global<?xf32>, i32 -> !tile.global<1024xf32>
  tgpu.store %v, %d {bytes = 4 : i32} : tensor<1024xf32, #v>, !tile.global<1024xf32>
  tgpu.return
}
