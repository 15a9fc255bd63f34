//===- FragmentSteps.cpp - taking operations on fragments apart ----------===//
#include "passes/FragmentSteps.h"

#include "dialects/support/Diagnostics.h"

using namespace mlir;
using namespace tilec;
using layout::RegisterLayout;

LogicalResult tilec::emitUnsupported(Operation *op, const Twine &what) {
  auto kernel = op->getParentOfType<tgpu::KernelOp>();
  return emitError(op->getLoc(),
                   diag::formatDiagnostic(diag::Id::NotSupportedTarget, what.str(),
                                          kernel.getTarget().value_or("this target")));
}

const RegisterLayout &FragmentSteps::layoutOf(Value fragment) {
  return *tgpu::getLayout(fragment.getType());
}

Value FragmentSteps::converted(Value value, Type element) {
  Type type = element;
  if (auto tensor = dyn_cast<RankedTensorType>(value.getType())) {
    type = tensor.clone(element);
  }
  return value.getType() == type ? value
                                 : Value(tile::ConvertOp::create(builder, op->getLoc(), type, value,
                                                                 /*src_unsigned=*/false,
                                                                 /*dst_unsigned=*/false));
}

Value FragmentSteps::inLayout(Value fragment, const RegisterLayout &layout) {
  RankedTensorType type = tgpu::withLayout(cast<RankedTensorType>(fragment.getType()), layout);
  return fragment.getType() == type ? fragment
                                    : Value(tgpu::ConvertLayoutOp::create(
                                          builder, op->getLoc(), type, fragment, IntegerAttr()));
}
