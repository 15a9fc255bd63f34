//===- ConstantArrays.cpp - reads of constant arrays ----------------------===//
#include "passes/ConstantArrays.h"

using namespace mlir;
using namespace tilec;

void tilec::convertLookups(tgpu::KernelOp kernel) {
  IRRewriter rewriter(kernel.getContext());
  kernel.walk([&](tile::LoadOp load) {
    if (auto array = load.getSource().getDefiningOp<tile::ConstantArrayOp>()) {
      rewriter.setInsertionPoint(load);
      rewriter.replaceOpWithNewOp<tgpu::LookupOp>(load, load.getType(), array.getValue(),
                                                  load.getIndices()[0]);
    }
  });
}
