// No finite half is greater than 65504: a widened one that is compared with more is compared with infinity. libdevice's way for large
// arguments of the sine goes with that; f32 and bf16 keep theirs.
// RUN: tilec %s --emit=ptx -o - | FileCheck %s
// REQUIRES: tilec, libdevice
module {
  // CHECK-LABEL: .entry beyond(
  // CHECK: mov.b16 [[INF:%rs[0-9]+]], 0x7C00;
  // CHECK: setp.eq.f16 {{.*}}, [[INF]];
  // CHECK: setp.eq.f16 {{.*}}, [[INF]];
  // CHECK: setp.neu.f16 {{.*}}, [[INF]];
  // CHECK-NOT: setp
  // CHECK: ret;
  llvm.func @beyond(%p: !llvm.ptr<1>, %h: f16) attributes {nvvm.kernel} {
    %large = llvm.mlir.constant(65504.5 : f32) : f32
    %x = llvm.fpext %h : f16 to f32
    %a = llvm.intr.fabs(%x) : (f32) -> f32
    %0 = llvm.fcmp "oge" %x, %large : f32
    %1 = llvm.fcmp "ogt" %a, %large : f32
    %2 = llvm.fcmp "ult" %x, %large : f32
    llvm.store volatile %0, %p : i1, !llvm.ptr<1>
    llvm.store volatile %1, %p : i1, !llvm.ptr<1>
    llvm.store volatile %2, %p : i1, !llvm.ptr<1>
    llvm.return
  }
  // What a half can be, below or above, and what is unordered, stays.
  // CHECK-LABEL: .entry within(
  // CHECK-NOT: 0x7C00
  // CHECK: setp.ge.f16
  // CHECK: setp.ge.f32 {{.*}}, 0f477FE080;
  // CHECK: setp.gt.f32 {{.*}}, 0fC77FE080;
  // CHECK: setp.gtu.f32 {{.*}}, 0f477FE080;
  // CHECK: setp.lt.f32 {{.*}}, 0f477FE080;
  // CHECK: ret;
  llvm.func @within(%p: !llvm.ptr<1>, %h: f16, %b: bf16) attributes {nvvm.kernel} {
    %large = llvm.mlir.constant(65504.5 : f32) : f32
    %low = llvm.mlir.constant(-65504.5 : f32) : f32
    %greatest = llvm.mlir.constant(65504.0 : f32) : f32
    %x = llvm.fpext %h : f16 to f32
    %wide = llvm.fpext %b : bf16 to f32
    %0 = llvm.fcmp "oge" %x, %greatest : f32
    %1 = llvm.fcmp "oge" %wide, %large : f32
    %2 = llvm.fcmp "ogt" %x, %low : f32
    %3 = llvm.fcmp "ugt" %x, %large : f32
    %4 = llvm.fcmp "olt" %x, %large : f32
    llvm.store volatile %0, %p : i1, !llvm.ptr<1>
    llvm.store volatile %1, %p : i1, !llvm.ptr<1>
    llvm.store volatile %2, %p : i1, !llvm.ptr<1>
    llvm.store volatile %3, %p : i1, !llvm.ptr<1>
    llvm.store volatile %4, %p : i1, !llvm.ptr<1>
    llvm.return
  }
  // CHECK-LABEL: .entry sine(
  // CHECK-NOT: i2opi
  // CHECK: ret;
  llvm.func @sine(%p: !llvm.ptr<1>, %h: f16) attributes {nvvm.kernel} {
    %s = llvm.intr.sin(%h) : (f16) -> f16
    %c = llvm.intr.cos(%h) : (f16) -> f16
    llvm.store volatile %s, %p : f16, !llvm.ptr<1>
    llvm.store volatile %c, %p : f16, !llvm.ptr<1>
    llvm.return
  }
  // CHECK-LABEL: .entry wide_sine(
  // CHECK: i2opi
  // CHECK: ret;
  llvm.func @wide_sine(%p: !llvm.ptr<1>, %b: bf16) attributes {nvvm.kernel} {
    %s = llvm.intr.sin(%b) : (bf16) -> bf16
    llvm.store volatile %s, %p : bf16, !llvm.ptr<1>
    llvm.return
  }
}
