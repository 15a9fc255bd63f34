//===- ConstantArrays.cpp - reads of constant arrays ----------------------===//
#include "passes/ConstantArrays.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilec;

void tilec::convertLookups(tgpu::KernelOp kernel) {
  IRRewriter rewriter(kernel.getContext());
  kernel.walk([&](tile::LoadOp load) {
    if (auto array = load.getSource().getDefiningOp<tile::ConstantArrayOp>()) {
      rewriter.setInsertionPoint(load);
      auto lookup = [&](Type type, Value index) -> Value {
        return tgpu::LookupOp::create(rewriter, load.getLoc(), type, array.getValue(), index);
      };
      Value first = load.getIndices()[0];
      auto vec = dyn_cast<VectorType>(load.getType());
      if (!vec) {
        rewriter.replaceOp(load, lookup(load.getType(), first));
        return;
      }
      SmallVector<Value> elements;
      for (int64_t i = 0; i < vec.getNumElements(); ++i) {
        Value place = arith::AddIOp::create(
            rewriter, load.getLoc(), first,
            arith::ConstantOp::create(rewriter, load.getLoc(),
                                      rewriter.getIntegerAttr(first.getType(), i)));
        elements.push_back(lookup(vec.getElementType(), place));
      }
      rewriter.replaceOpWithNewOp<vector::FromElementsOp>(load, vec, elements);
    }
  });
}
