// LLVM aborts where it cannot select an instruction. That is an internal error with status 4 and a way to reproduce
// it, never a signal.
// REQUIRES: tilec
// RUN: bash -c 'tilec %s --arch=sm_80 --emit=ptx -o %t.ptx 2>&1; echo "status $?"' | FileCheck %s
// RUN: not ls %t.ptx
// CHECK: error: internal error: {{.*}}Cannot select{{.*}} (during code generation of `{{.*}}abort.mlir`) [internal]
// CHECK: it is reproduced by: sh {{.*}}/run.sh
// CHECK: status 4
module {
  llvm.func @k(%p: !llvm.ptr<3>, %n: i32) attributes {nvvm.kernel} {
    nvvm.tcgen05.alloc %p, %n : !llvm.ptr<3>, i32
    llvm.return
  }
}
