//===- MakeVariants.cpp - clone kernels under alignment assumptions ------===//
#include "dialects/support/RowKind.h"
#include "dialects/support/Target.h"
#include "dialects/tgpu/Cluster.h"
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

/// The argument of the kernel that `value` is, through extensions.
BlockArgument argumentOf(Value value) {
  Operation *op = value.getDefiningOp();
  if (isa_and_nonnull<arith::ExtSIOp, arith::ExtUIOp>(op)) {
    return argumentOf(op->getOperand(0));
  }
  auto argument = dyn_cast<BlockArgument>(value);
  return argument && isa<tgpu::KernelOp>(argument.getOwner()->getParentOp()) ? argument
                                                                             : BlockArgument();
}

/// Whether `value` is a multiple of `divisor` under the assumptions made so far.
bool isMultiple(Value value, int64_t divisor, const IntegerAnalysis &integers,
                const Assumptions &assumptions) {
  if (integers.divisor(value) % divisor == 0) {
    return true;
  }
  if (BlockArgument argument = argumentOf(value)) {
    auto assumed = assumptions.find(argument.getArgNumber());
    return assumed != assumptions.end() && assumed->second % divisor == 0;
  }
  Operation *op = value.getDefiningOp();
  return isa_and_nonnull<arith::ExtSIOp, arith::ExtUIOp, arith::MulIOp>(op) &&
         llvm::any_of(op->getOperands(), [&](Value operand) {
           return isMultiple(operand, divisor, integers, assumptions);
         });
}

/// Adds what makes `value` a multiple of `divisor`, unless it is one already: itself if it is an
/// argument, one factor if it is a product. False when nothing does.
bool assumeMultiple(Value value, int64_t divisor, const IntegerAnalysis &integers,
                    Assumptions &assumptions) {
  if (isMultiple(value, divisor, integers, assumptions)) {
    return true;
  }
  if (BlockArgument argument = argumentOf(value)) {
    int64_t &known = assumptions[argument.getArgNumber()];
    known = std::lcm(std::max<int64_t>(known, 1), divisor);
    return true;
  }
  Operation *op = value.getDefiningOp();
  if (isa_and_nonnull<arith::ExtSIOp, arith::ExtUIOp>(op)) {
    return assumeMultiple(op->getOperand(0), divisor, integers, assumptions);
  }
  if (isa_and_nonnull<arith::MulIOp>(op)) {
    return assumeMultiple(op->getOperand(1), divisor, integers, assumptions) ||
           assumeMultiple(op->getOperand(0), divisor, integers, assumptions);
  }
  return false;
}

/// Adds what makes all strides of a tensor multiples of `divisor`. Outer strides are often products of inner ones, which
/// come last: with these assumed, nothing is left to assume for the others.
void assumeMultiples(tgpu::ViewOp view, int64_t divisor, const IntegerAnalysis &integers,
                     Assumptions &assumptions) {
  for (Value stride : llvm::reverse(view.getStrides())) {
    assumeMultiple(stride, divisor, integers, assumptions);
  }
}

/// Rows in which neighbours are aligned to one access of `most` bytes or less, if the index in the row is.
void alignNeighbours(const NeighbourAccess &access, const IntegerAnalysis &integers, int64_t most,
                     Assumptions &assumptions) {
  const int64_t bytes = std::min(access.alignedBytes(integers, /*anyRows=*/true), most);
  GlobalSlice slice = analyseSlice(access.global);
  if (bytes <= access.elementBytes || !slice.view) {
    return;
  }
  assumeMultiples(slice.view, bytes / access.elementBytes, integers, assumptions);
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

/// What lets tiles be copied from and to every tensor by accesses of so many bytes, and what aligns the
/// accesses of neighbours by single threads as far. Tiles of less than a sixteenth of the largest one have no
/// say: a factor for each row of a matrix is no reason to read the matrix by elements.
Assumptions rowAlignment(tgpu::KernelOp kernel, const IntegerAnalysis &integers, int64_t most) {
  int64_t largest = 0;
  kernel.walk([&](Operation *op) {
    for (Value tile : tilesOf(op)) {
      largest = std::max(largest, elementsOf(tile));
    }
  });
  Assumptions assumptions;
  kernel.walk([&](Operation *op) {
    if (auto access = NeighbourAccess::of(op)) {
      return alignNeighbours(*access, integers, most, assumptions);
    }
    for (Value tile : tilesOf(op)) {
      GlobalSlice slice = analyseSliceOrGather(tile);
      if (slice.view && elementsOf(tile) >= largest / 16) {
        Type element = cast<tile::GlobalType>(tile.getType()).getElementType();
        int64_t divisor = std::max<int64_t>(1, most * 8 / tile::getStorageBits(element));
        assumeMultiples(slice.view, divisor, integers, assumptions);
      }
    }
  });
  return assumptions;
}

/// Why no variant for clusters of blocks can be made, or nothing; adds what it assumes.
std::string refuseClusters(tgpu::KernelOp kernel, tgpu::GridPointOp point,
                           ArrayRef<int32_t> cluster, const IntegerAnalysis &integers,
                           Assumptions &assumptions) {
  const Target *target = findTarget(kernel.getTarget().value_or(""));
  if (!target || !target->hasTma) {
    return "the architecture has none";
  }
  if (!point || point->getParentOp() != kernel) {
    return "it has no grid";
  }
  for (BlockArgument argument : kernel.getArguments()) {
    if (tgpu::kPointCounter.has(kernel, argument.getArgNumber())) {
      return "a counter deals the points of its grid to single blocks";
    }
  }
  for (auto [dim, extent] : llvm::enumerate(cluster)) {
    if (extent == 1) {
      continue;
    }
    if (dim >= point.getExtents().size()) {
      return "the grid has fewer dimensions";
    }
    APInt constant;
    if (!assumeMultiple(point.getExtents()[dim], extent, integers, assumptions)) {
      const bool isConstant = matchPattern(point.getExtents()[dim], m_ConstantInt(&constant));
      return "extent " + std::to_string(dim) + " of the grid is " +
             (isConstant ? std::to_string(constant.getSExtValue()) + ", not" : "not known to be") +
             " a multiple of " + std::to_string(extent);
    }
  }
  return "";
}

/// Copies of tiles into shared memory whose rows are not known to be such that cp.async can.
unsigned narrowCopies(tgpu::KernelOp kernel) {
  IntegerAnalysis integers(kernel);
  unsigned count = 0;
  kernel.walk([&](tgpu::CopyOp copy) {
    auto tile = dyn_cast<tile::GlobalType>(copy.getSource().getType());
    count += tile && alignedAccessBytes(analyseSliceOrGather(copy.getSource()),
                                        tile::getStorageBits(tile.getElementType()),
                                        integers) < alignmentOf(RowKind::Words);
  });
  return count;
}

struct MakeVariants : tilec::impl::MakeVariantsBase<MakeVariants> {
  using MakeVariantsBase::MakeVariantsBase;

  void runOnOperation() override {
    // All launches of a call have such a variant, or none has, and so all are of one kind.
    hasWords = words &&
               llvm::any_of(llvm::to_vector(getOperation().getOps<tgpu::KernelOp>()), gainsByWords);
    for (auto kernel : llvm::make_early_inc_range(getOperation().getOps<tgpu::KernelOp>())) {
      IntegerAnalysis integers(kernel);
      Assumptions assumptions = rowAlignment(kernel, integers, alignmentOf(RowKind::Aligned));
      if (kernel.getGuard()) {
        continue;
      }
      if (mlir::failed(makeClusters(kernel, integers, assumptions))) {
        return signalPassFailure();
      }
      if (!assumptions.empty()) {
        split(kernel, integers, assumptions);
      }
    }
  }

  /// A copy of the kernel, to be preferred to it, under assumptions about its arguments.
  static tgpu::KernelOp cloneUnder(tgpu::KernelOp kernel, StringRef variant,
                                   const IntegerAnalysis &integers,
                                   const Assumptions &assumptions) {
    OpBuilder builder(kernel);
    auto clone = cast<tgpu::KernelOp>(builder.clone(*kernel));
    SmallVector<Attribute> guard;
    for (auto [argument, divisor] : assumptions) {
      int64_t known = integers.divisor(kernel.getArgument(argument));
      tgpu::kDivisible.set(clone, argument, builder.getI64IntegerAttr(std::lcm(known, divisor)));
      guard.push_back(tgpu::DivisibleAttr::get(builder.getContext(), argument, divisor));
    }
    if (!guard.empty()) {
      clone.setGuardAttr(builder.getArrayAttr(guard));
    }
    clone.setVariant(variant);
    clone.setSymName((kernel.getSymName() + "_" + variant).str());
    return clone;
  }

  /// Whether cp.async can copy more under the assumption that rows are at multiples of 4 bytes.
  static bool gainsByWords(tgpu::KernelOp kernel) {
    const unsigned narrow = narrowCopies(kernel);
    if (narrow == 0) {
      return false;
    }
    IntegerAnalysis integers(kernel);
    tgpu::KernelOp assuming =
        cloneUnder(kernel, variantOf(RowKind::Words), integers,
                   rowAlignment(kernel, integers, alignmentOf(RowKind::Words)));
    const bool gains = narrowCopies(assuming) < narrow;
    assuming.erase();
    return gains;
  }

  /// Where the program asks for clusters: a variant whose blocks are in such, for grids of whole ones and aligned rows, without
  /// which nothing is loaded by TMA. The kernel itself has none.
  static LogicalResult makeClusters(tgpu::KernelOp kernel, const IntegerAnalysis &integers,
                                    Assumptions assumptions) {
    const DenseI32ArrayAttr cluster = kernel.getClusterAttr();
    kernel.removeClusterAttr();
    if (!cluster || tgpu::blocksOfCluster(cluster) == 1) {
      return checkRequiredInside(kernel, "cluster",
                                 "the launch has no `@cluster` of several blocks");
    }
    const std::string reason =
        refuseClusters(kernel, findGridPoint(kernel), cluster, integers, assumptions);
    if (!reason.empty()) {
      tile::remarkOn(kernel.getSymName(), kernel.getLoc())
          << "@cluster: no clusters are formed: " << reason;
      return checkRequiredInside(kernel, "cluster", reason);
    }
    tgpu::KernelOp clustered = cloneUnder(kernel, "clustered", integers, assumptions);
    clustered.setClusterAttr(cluster);
    clustered.walk([&](tgpu::GridPointOp op) {
      op.setClusterAttr(cluster);
      op.getInversesMutable().clear(); // of points, not of boxes
      OpBuilder builder(op);
      op.getLinearMutable().assign(
          tgpu::ClusterIdOp::create(builder, op.getLoc(), builder.getI32Type()));
    });
    return success();
  }

  void split(tgpu::KernelOp kernel, const IntegerAnalysis &integers,
             const Assumptions &assumptions) {
    tile::remarkOn(kernel.getSymName(), kernel.getLoc()) // while it has the name of all
        << (hasWords ? "three variants: one for rows that start at multiples of 16 bytes, one for "
                       "multiples of 4, one for any shape"
                     : "two variants: one for rows that start at multiples of 16 bytes, one for "
                       "any shape");
    cloneUnder(kernel, variantOf(RowKind::Aligned), integers, assumptions);
    if (hasWords) {
      cloneUnder(kernel, variantOf(RowKind::Words), integers,
                 rowAlignment(kernel, integers, alignmentOf(RowKind::Words)));
    }
    kernel.setVariant(variantOf(RowKind::Any));
    kernel.setSymName((kernel.getSymName() + "_" + variantOf(RowKind::Any)).str());
  }

  bool hasWords = false;
};

} // namespace
