//===- ProductLayouts.cpp - what products demand of fragments ------------===//
#include "passes/ProductLayouts.h"

#include "dialects/layout/RegisterSpec.h"

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

/// What a scalar product reads: operands in shared memory, whose rows are taken to be contiguous. A run
/// is what one access of 16 bytes reads, but not so long that threads share too little of a tile of
/// small elements.
static RegisterLayout::OuterProduct readsOf(DotOp dot) {
  auto bytes = [](Value operand) {
    auto smem = dyn_cast<tgpu::SmemType>(operand.getType());
    Type element =
        smem ? smem.getElementType() : cast<RankedTensorType>(operand.getType()).getElementType();
    return std::max<int64_t>(1, tile::getStorageBits(element) / 8);
  };
  auto run = [](int64_t bytes) { return std::min<int64_t>(4, 16 / bytes); };
  RegisterLayout::OuterProduct reads;
  reads.rowBytes = bytes(dot.getA());
  reads.columnBytes = bytes(dot.getB());
  reads.rowRun = dot.getTransposeA() ? run(reads.rowBytes) : 1;
  reads.columnRun = dot.getTransposeB() ? 1 : run(reads.columnBytes);
  return reads;
}

Answer<RegisterLayout> tilec::accumulatorLayout(DotOp dot, int64_t warps) {
  if (dot.getMma()->getKind() == MmaKind::Fma) {
    ArrayRef<int64_t> shape = dot.getResult().getType().getShape();
    return RegisterLayout::outerProduct(shape[0], shape[1], warps, readsOf(dot));
  }
  Answer<layout::MatrixProduct> product = productOf(dot);
  return product ? product->accumulator() : layout::Refusal{product.reason()};
}

Answer<RegisterLayout> tilec::scalarReads(DotOp dot, bool isA) {
  const RegisterLayout *acc = tgpu::getLayout(dot.getResult().getType());
  if (!acc || acc->rank() != 2) {
    return layout::Refusal{"the accumulator has no layout yet"};
  }
  const bool transposed = isA ? dot.getTransposeA() : dot.getTransposeB();
  const unsigned kDim = isA == transposed ? 0 : 1;
  auto shape = cast<tgpu::SmemType>((isA ? dot.getA() : dot.getB()).getType()).getShape();
  RegisterLayout::Spec spec = layout::specOf(acc->sliceDim(isA ? 1 : 0).insertDim(kDim));
  // Those that one access of 16 bytes reads along k.
  const RegisterLayout::OuterProduct reads = readsOf(dot);
  const int64_t run = std::min<int64_t>(16 / (isA ? reads.rowBytes : reads.columnBytes),
                                        shape[kDim] & -shape[kDim]);
  spec.shape.assign(shape.begin(), shape.end());
  if (kDim == 1) {
    spec.repeats.insert(spec.repeats.begin(), {layout::HwDim::Register, 1, run, 1});
  }
  return RegisterLayout::get(std::move(spec));
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
