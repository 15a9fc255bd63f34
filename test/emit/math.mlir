// Functions that the backend cannot select: by an instruction where that is precise enough, else by libdevice.
// RUN: tilec %s --emit=ptx -o - | FileCheck %s
// REQUIRES: tilec, libdevice
module {
  // CHECK-LABEL: .entry approximate(
  // CHECK: ex2.approx
  // CHECK: lg2.approx
  // CHECK: ret;
  llvm.func @approximate(%p: !llvm.ptr<1>, %x: f32) attributes {nvvm.kernel} {
    %e = llvm.intr.exp(%x) {fastmathFlags = #llvm.fastmath<afn>} : (f32) -> f32
    %l = llvm.intr.log(%e) {fastmathFlags = #llvm.fastmath<afn>} : (f32) -> f32
    llvm.store %l, %p : f32, !llvm.ptr<1>
    llvm.return
  }
  // CHECK-LABEL: .entry exact(
  // CHECK-NOT: call
  // CHECK: fma.rn.f32
  // CHECK: ret;
  llvm.func @exact(%p: !llvm.ptr<1>, %x: vector<2xf32>, %h: bf16) attributes {nvvm.kernel} {
    %e = llvm.intr.exp(%x) : (vector<2xf32>) -> vector<2xf32>
    %s = llvm.intr.sin(%h) : (bf16) -> bf16
    llvm.store %e, %p : vector<2xf32>, !llvm.ptr<1>
    llvm.store %s, %p : bf16, !llvm.ptr<1>
    llvm.return
  }
}
