// Where f32 flushes subnormals, comparisons of bf16 do not: ptxas knows no such instruction.
// REQUIRES: tilec, ptxas
// RUN: tilec %s --arch=sm_90a --emit=ptx -o %t.ptx
// RUN: FileCheck %s < %t.ptx
// RUN: tilec %s --arch=sm_90a -o %t.cubin
// CHECK-NOT: .ftz.bf16
// CHECK: setp.{{[a-z]+}}.bf16
// CHECK-NOT: .ftz.bf16
module {
  llvm.func @k(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {nvvm.kernel, passthrough = [["denormal-fp-math-f32", "preserve-sign,preserve-sign"]]} {
    %x = llvm.load %p : !llvm.ptr<1> -> bf16
    %y = llvm.load %q : !llvm.ptr<1> -> bf16
    %c = llvm.fcmp "olt" %y, %x : bf16
    %z = llvm.select %c, %y, %x : i1, bf16
    llvm.store %z, %p : bf16, !llvm.ptr<1>
    llvm.return
  }
}
