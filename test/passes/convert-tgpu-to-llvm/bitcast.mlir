// The bits of a 16-bit float go through a move: ptxas 13.0 would convert the number where its register is stored as 8 bits.
// RUN: tile-opt --convert-tgpu-to-llvm %s | FileCheck %s

// CHECK-LABEL: llvm.func @bits
// CHECK: %[[B:.*]] = llvm.bitcast %{{.*}} : bf16 to i16
// CHECK: %[[M:.*]] = llvm.inline_asm asm_dialect = att "mov.b16 $0, $1;", "=h,h" %[[B]] : (i16) -> i16
// CHECK: llvm.trunc %[[M]] : i16 to i8
// What is no 16-bit float needs none.
// CHECK-NOT: mov.b
// CHECK: llvm.return
tgpu.kernel @bits(%Y: !tile.global<?xi8>, %Z: !tile.global<?xi8>, %n: i32, %x: bf16, %y: f32) attributes {threads = 32 : i32, target = "sm_80"} {
  %c0 = arith.constant 0 : i32
  %v = tgpu.view %Y extents(%n : i32) strides() : !tile.global<?xi8> -> !tile.global<?xi8>
  %b = arith.bitcast %x : bf16 to i16
  %t = arith.trunci %b : i16 to i8
  tile.store %t, %v[%c0 : i32] : i8, !tile.global<?xi8>
  %w = tgpu.view %Z extents(%n : i32) strides() : !tile.global<?xi8> -> !tile.global<?xi8>
  %c = arith.bitcast %y : f32 to i32
  %u = arith.trunci %c : i32 to i8
  tile.store %u, %w[%c0 : i32] : i8, !tile.global<?xi8>
  tgpu.return
}
