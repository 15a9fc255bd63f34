// Where f32 flushes subnormals, which LLVM says of f16 too, f16 keeps them: in scalars, pairs, comparisons.
// REQUIRES: tilec, ptxas
// RUN: tilec %s --arch=sm_80 --emit=ptx -o %t.ptx
// RUN: FileCheck %s < %t.ptx
// RUN: tilec %s --arch=sm_80 -o %t.cubin
// CHECK-NOT: .ftz.f16
// CHECK: mul{{(.rn)?}}.f16x2
// CHECK-NOT: .ftz.f16
// CHECK: {{(add|sub)(.rn)?}}.f16
// CHECK-NOT: .ftz.f16
// CHECK: {{mul(.rn)?}}.ftz.f32
module {
  llvm.func @k(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) attributes {nvvm.kernel, passthrough = [["denormal-fp-math-f32", "preserve-sign,preserve-sign"]]} {
    %v = llvm.load %p : !llvm.ptr<1> -> vector<2xf16>
    %w = llvm.fmul %v, %v : vector<2xf16>
    %zero = llvm.mlir.constant(0 : i32) : i32
    %x = llvm.extractelement %w[%zero : i32] : vector<2xf16>
    %h = llvm.load %q : !llvm.ptr<1> -> f16
    %y = llvm.fsub %x, %h : f16
    %c = llvm.fcmp "olt" %y, %x : f16
    %z = llvm.select %c, %y, %x : i1, f16
    llvm.store %z, %p : f16, !llvm.ptr<1>
    %f = llvm.load %q : !llvm.ptr<1> -> f32
    %g = llvm.fmul %f, %f : f32
    llvm.store %g, %q : f32, !llvm.ptr<1>
    llvm.return
  }
}
