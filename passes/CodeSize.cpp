//===- CodeSize.cpp - how long repeated code becomes ---------------------===//
#include "passes/CodeSize.h"

#include "passes/Registers.h"

using namespace mlir;
using namespace tilec;

/// Elements that a thread computes in all copies of a body.
constexpr int64_t kMostRepeated = 4096;

/// Of what a thread has of `value`; before there are layouts tiles are taken to be spread evenly.
static int64_t elementsOf(Value value, int64_t threads) {
  if (int64_t registers = registersOf(value, /*apart=*/true)) {
    return registers;
  }
  auto shaped = [&](ArrayRef<int64_t> shape) {
    return llvm::divideCeil(ShapedType::getNumElements(shape), threads);
  };
  if (auto tile = dyn_cast<RankedTensorType>(value.getType())) {
    return shaped(tile.getShape());
  }
  auto buffer = dyn_cast<tgpu::SmemType>(value.getType());
  const bool isMoved = llvm::any_of(
      value.getUsers(), [](Operation *user) { return isa<tgpu::CopyOp, tgpu::DotOp>(user); });
  return buffer && isMoved ? shaped(buffer.getShape()) : 0;
}

/// The code of a region that runs for each element of a tile is there for each of them.
static int64_t elementsIn(Block &block, int64_t threads, int64_t times) {
  int64_t elements = 0;
  for (Operation &op : block) {
    int64_t own = 1;
    for (Value value : llvm::concat<Value>(SmallVector<Value>(op.getOperands()),
                                           SmallVector<Value>(op.getResults()))) {
      own = std::max(own, elementsOf(value, threads));
    }
    elements += own * times;
    const bool isMap = isa<tile::MapOp>(op);
    for (Region &region : op.getRegions()) {
      for (Block &inner : region) {
        elements += elementsIn(inner, threads, isMap ? times * own : times);
      }
    }
  }
  return elements;
}

int64_t tilec::mostCopies(Block &body) {
  auto kernel = body.getParentOp()->getParentOfType<tgpu::KernelOp>();
  return kMostRepeated / elementsIn(body, kernel.getThreads(), 1);
}
