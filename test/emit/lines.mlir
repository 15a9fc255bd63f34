// With -g each instruction has its line; the file is named without its folder. Optimisation stays on.
// REQUIRES: tilec
// RUN: tilec %s --emit=ptx -g -o - | FileCheck %s
// RUN: tilec %s --emit=ptx -o - | FileCheck %s --check-prefix=WITHOUT
// CHECK: .target sm_90a{{$}}
// CHECK: .loc 1 10
// CHECK: .file 1 "lines.mlir"
// WITHOUT-NOT: .loc
module {
  llvm.func @k(%p: !llvm.ptr<1>, %x: f32) attributes {nvvm.kernel} {
    llvm.store %x, %p : f32, !llvm.ptr<1>
    llvm.return
  }
}
