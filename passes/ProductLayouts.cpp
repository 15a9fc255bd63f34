//===- ProductLayouts.cpp - what products demand of fragments ------------===//
#include "passes/ProductLayouts.h"

using namespace mlir;
using namespace tilec;
using layout::Answer;
using layout::RegisterLayout;
using tgpu::DotOp;
using tgpu::MmaKind;

/// How warps share a product on a matrix instruction.
static Answer<layout::MatrixProduct> productOf(DotOp dot) {
  auto smem = dyn_cast<tgpu::SmemType>(dot.getA().getType());
  auto tensor = dyn_cast<RankedTensorType>(dot.getA().getType());
  ArrayRef<int64_t> shape = smem ? smem.getShape() : tensor.getShape();
  ArrayRef<int64_t> acc = dot.getResult().getType().getShape();
  return tgpu::matrixProduct(*dot.getMma(), smem ? smem.getElementType() : tensor.getElementType(),
                             acc[0], acc[1], shape[dot.getTransposeA() ? 0 : 1]);
}

Answer<RegisterLayout> tilec::accumulatorLayout(DotOp dot, int64_t warps) {
  if (dot.getMma()->getKind() == MmaKind::Fma) {
    RegisterLayout::BlockedOptions options;
    options.warpsOutermost = true; // rows and columns of a thread are a constant apart
    return RegisterLayout::blocked(dot.getResult().getType().getShape(), 1, warps, options);
  }
  Answer<layout::MatrixProduct> product = productOf(dot);
  return product ? product->accumulator() : layout::Refusal{product.reason()};
}

Answer<RegisterLayout> tilec::operandLayout(DotOp dot, bool isA) {
  Answer<layout::MatrixProduct> product = productOf(dot);
  if (!product) {
    return layout::Refusal{product.reason()};
  }
  Answer<RegisterLayout> wanted = isA ? product->a() : product->b();
  const bool transposed = isA ? dot.getTransposeA() : dot.getTransposeB();
  return wanted && transposed ? Answer<RegisterLayout>(wanted->transposed()) : wanted;
}
