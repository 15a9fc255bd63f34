//===- MakeVariants.cpp - clone kernels under alignment assumptions ------===//
#include "dialects/tile/Remark.h"
#include "mlir/IR/Matchers.h"
#include "passes/Analysis.h"
#include "passes/Passes.h"

#include "llvm/ADT/MapVector.h"

#include <numeric>

namespace tilec {
#define GEN_PASS_DEF_MAKEVARIANTS
#include "passes/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;

namespace {

/// Kernel argument number -> the multiple it has to be.
using Assumptions = llvm::MapVector<unsigned, int64_t>;

/// Adds what makes `value` a multiple of `divisor`: itself if it is an argument, one factor if it
/// is a product. False when nothing does.
bool assumeMultiple(Value value, int64_t divisor, const IntegerAnalysis &integers,
                    Assumptions &assumptions) {
  if (integers.divisor(value) % divisor == 0) {
    return true;
  }
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (!isa<tgpu::KernelOp>(argument.getOwner()->getParentOp())) {
      return false;
    }
    int64_t &known = assumptions[argument.getArgNumber()];
    known = std::lcm(std::max<int64_t>(known, 1), divisor);
    return true;
  }
  Operation *op = value.getDefiningOp();
  if (isa<arith::ExtSIOp, arith::ExtUIOp>(op)) {
    return assumeMultiple(op->getOperand(0), divisor, integers, assumptions);
  }
  if (isa<arith::MulIOp>(op)) {
    return assumeMultiple(op->getOperand(1), divisor, integers, assumptions) ||
           assumeMultiple(op->getOperand(0), divisor, integers, assumptions);
  }
  return false;
}

/// Rows in which neighbours are aligned to one access, if the index in the row is.
void alignNeighbours(const NeighbourAccess &access, const IntegerAnalysis &integers,
                     Assumptions &assumptions) {
  const int64_t bytes = access.alignedBytes(integers, /*anyRows=*/true);
  GlobalSlice slice = analyseSlice(access.global);
  if (bytes <= access.elementBytes || !slice.view) {
    return;
  }
  for (Value stride : slice.view.getStrides()) {
    assumeMultiple(stride, bytes / access.elementBytes, integers, assumptions);
  }
}

/// Adds what makes the rows of `slice` start at multiples of 16 bytes.
void alignRows(GlobalSlice slice, int64_t divisor, const IntegerAnalysis &integers,
               Assumptions &assumptions) {
  for (Value stride : slice.view.getStrides()) {
    assumeMultiple(stride, divisor, integers, assumptions);
  }
}

/// The tiles of tensors that `op` moves.
SmallVector<Value> tilesOf(Operation *op) {
  SmallVector<Value> tiles;
  if (isa<tgpu::CopyOp, tgpu::LoadOp, tgpu::StoreOp, tgpu::AtomicTileOp>(op)) {
    llvm::copy_if(op->getOperands(), std::back_inserter(tiles),
                  [](Value operand) { return isa<tile::GlobalType>(operand.getType()); });
  }
  return tiles;
}

int64_t elementsOf(Value tile) {
  int64_t count = 1;
  for (int64_t extent : cast<tile::GlobalType>(tile.getType()).getShape()) {
    count *= ShapedType::isDynamic(extent) ? 1 : extent;
  }
  return count;
}

/// What lets tiles be copied from and to every tensor by accesses of 16 bytes, and what aligns the
/// accesses of neighbours by single threads. Tiles of less than a sixteenth of the largest one have no
/// say: a factor for each row of a matrix is no reason to read the matrix by elements.
Assumptions rowAlignment(tgpu::KernelOp kernel, const IntegerAnalysis &integers) {
  int64_t largest = 0;
  kernel.walk([&](Operation *op) {
    for (Value tile : tilesOf(op)) {
      largest = std::max(largest, elementsOf(tile));
    }
  });
  Assumptions assumptions;
  kernel.walk([&](Operation *op) {
    if (auto access = NeighbourAccess::of(op)) {
      return alignNeighbours(*access, integers, assumptions);
    }
    for (Value tile : tilesOf(op)) {
      GlobalSlice slice = analyseSliceOrGather(tile);
      if (slice.view && elementsOf(tile) >= largest / 16) {
        Type element = cast<tile::GlobalType>(tile.getType()).getElementType();
        int64_t divisor = std::max<int64_t>(1, 128 / tile::getStorageBits(element));
        alignRows(slice, divisor, integers, assumptions);
      }
    }
  });
  return assumptions;
}

struct MakeVariants : tilec::impl::MakeVariantsBase<MakeVariants> {
  using MakeVariantsBase::MakeVariantsBase;

  void runOnOperation() override {
    if (!only.empty() && only != "aligned" && only != "any") {
      emitError(getOperation().getLoc(), "`only` is `aligned` or `any`");
      return signalPassFailure();
    }
    for (auto kernel : llvm::make_early_inc_range(getOperation().getOps<tgpu::KernelOp>())) {
      IntegerAnalysis integers(kernel);
      Assumptions assumptions = rowAlignment(kernel, integers);
      if (!assumptions.empty() && !kernel.getGuard()) {
        split(kernel, integers, assumptions);
      }
    }
  }

  void split(tgpu::KernelOp kernel, const IntegerAnalysis &integers,
             const Assumptions &assumptions) {
    if (only.empty()) { // while it has the name of both
      tile::remarkOn(kernel.getSymName(), kernel.getLoc())
          << "two variants: one for rows that start at multiples of 16 bytes, one for any shape";
    }
    OpBuilder builder(kernel);
    auto aligned = cast<tgpu::KernelOp>(builder.clone(*kernel));
    SmallVector<Attribute> guard;
    for (auto [argument, divisor] : assumptions) {
      int64_t known = integers.divisor(kernel.getArgument(argument));
      tgpu::kDivisible.set(aligned, argument, builder.getI64IntegerAttr(std::lcm(known, divisor)));
      guard.push_back(tgpu::DivisibleAttr::get(builder.getContext(), argument, divisor));
    }
    aligned.setGuardAttr(builder.getArrayAttr(guard));
    aligned.setVariant("aligned");
    aligned.setSymName((kernel.getSymName() + "_aligned").str());
    kernel.setVariant("any");
    kernel.setSymName((kernel.getSymName() + "_any").str());
    if (only == "aligned") {
      kernel.erase();
    } else if (only == "any") {
      aligned.erase();
    }
  }
};

} // namespace
