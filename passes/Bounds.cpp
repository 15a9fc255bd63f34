//===- Bounds.cpp - which dimensions of an access stay inside its tensor -===//
//
// A tile that begins at index * size, with the extent a multiple of size, is either inside the
// tensor or past its end; it is inside when index < extent / size. Indices are bounded by the grid
// (tgpu.grid_point) and by loops (scf.for), when these bounds are constants. So fixed dimensions
// that the tiles divide need no guards.
//
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "passes/Analysis.h"
#include "passes/Passes.h"

namespace tilec {
#define GEN_PASS_DEF_BOUNDS
#include "passes/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;

namespace {

/// Inclusive range of the values of an integer; everything unknown when empty.
struct Range {
  int64_t low, high;
};

constexpr int kMaxDepth = 64; // of an expression; deeper ones count as unknown

std::optional<int64_t> constantOf(Value value) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)) && constant.getSignificantBits() <= 63) {
    return constant.getSExtValue();
  }
  return std::nullopt;
}

std::optional<Range> rangeOf(Value value, int depth = 0);

/// Induction variables and grid indices begin at 0 or a constant and end before a constant.
std::optional<Range> rangeOfIndex(Value value, int depth) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    if (!loop || argument != loop.getInductionVar()) {
      return std::nullopt;
    }
    std::optional<Range> low = rangeOf(loop.getLowerBound(), depth + 1);
    std::optional<Range> high = rangeOf(loop.getUpperBound(), depth + 1);
    return low && high ? std::optional<Range>(Range{low->low, high->high - 1}) : std::nullopt;
  }
  auto point = value.getDefiningOp<tgpu::GridPointOp>();
  if (!point) {
    return std::nullopt;
  }
  std::optional<int64_t> extent =
      constantOf(point.getExtents()[cast<OpResult>(value).getResultNumber()]);
  return extent ? std::optional<Range>(Range{0, *extent - 1}) : std::nullopt;
}

/// Range of a product; nothing if it may overflow.
std::optional<Range> multiply(Range a, Range b) {
  int64_t corners[4];
  if (__builtin_mul_overflow(a.low, b.low, &corners[0]) ||
      __builtin_mul_overflow(a.low, b.high, &corners[1]) ||
      __builtin_mul_overflow(a.high, b.low, &corners[2]) ||
      __builtin_mul_overflow(a.high, b.high, &corners[3])) {
    return std::nullopt;
  }
  return Range{*llvm::min_element(corners), *llvm::max_element(corners)};
}

std::optional<Range> rangeOf(Value value, int depth) {
  if (depth > kMaxDepth) {
    return std::nullopt;
  }
  if (std::optional<int64_t> constant = constantOf(value)) {
    return Range{*constant, *constant};
  }
  if (std::optional<Range> index = rangeOfIndex(value, depth)) {
    return index;
  }
  Operation *op = value.getDefiningOp();
  if (!isa_and_nonnull<arith::AddIOp, arith::MulIOp, arith::ExtSIOp>(op)) {
    return std::nullopt;
  }
  std::optional<Range> a = rangeOf(op->getOperand(0), depth + 1);
  if (!a || isa<arith::ExtSIOp>(op)) {
    return a;
  }
  std::optional<Range> b = rangeOf(op->getOperand(1), depth + 1);
  if (!b) {
    return std::nullopt;
  }
  if (isa<arith::MulIOp>(op)) {
    return multiply(*a, *b);
  }
  Range sum;
  if (__builtin_add_overflow(a->low, b->low, &sum.low) ||
      __builtin_add_overflow(a->high, b->high, &sum.high)) {
    return std::nullopt;
  }
  return sum;
}

struct Bounds : tilec::impl::BoundsBase<Bounds> {
  void runOnOperation() override {
    getOperation().walk([&](Operation *op) {
      if (!isa<tgpu::CopyOp, tgpu::LoadOp, tgpu::StoreOp>(op)) {
        return;
      }
      for (Value operand : op->getOperands()) {
        if (isa<tile::GlobalType>(operand.getType())) {
          annotate(op, analyseSlice(operand));
        }
      }
    });
  }

  /// Notes for each dimension of the slice whether it stays inside the tensor.
  void annotate(Operation *op, GlobalSlice slice) {
    if (!slice.view || slice.hasInnerBounds) {
      return;
    }
    SmallVector<bool> inside;
    for (int64_t dim : slice.kept) {
      std::optional<int64_t> extent = constantOf(slice.view.getExtents()[dim]);
      std::optional<Range> first =
          slice.offset[dim] ? rangeOf(slice.offset[dim]) : std::optional<Range>(Range{0, 0});
      int64_t size = slice.sizes[dim];
      inside.push_back(extent && first && !ShapedType::isDynamic(size) && first->low >= 0 &&
                       first->high <= *extent - size);
    }
    if (llvm::is_contained(inside, true)) {
      tgpu::kInBounds.set(op, DenseBoolArrayAttr::get(op->getContext(), inside));
      ++numInBounds;
    }
  }
};

} // namespace
