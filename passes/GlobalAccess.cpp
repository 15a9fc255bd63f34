//===- GlobalAccess.cpp - which part of global memory an access touches --===//
#include "passes/GlobalAccess.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tilec;

//===----------------------------------------------------------------------===//
// Kernel arguments
//===----------------------------------------------------------------------===//

bool tilec::mayOverlap(BlockArgument a, BlockArgument b) {
  return !a || !b || tgpu::mayAlias(a, b);
}

Value tilec::writtenGlobal(Operation *op) {
  Value place =
      llvm::TypeSwitch<Operation *, Value>(op)
          .Case<tgpu::CopyOp, tgpu::StoreOp, tgpu::TmaStoreOp, tgpu::ScatterOp, tile::StoreOp,
                tgpu::AtomicOp, tgpu::AtomicTileOp>([](auto store) { return store.getDest(); })
          .Case<tile::AtomicOp, tile::AtomicCasOp, tile::AtomicTileOp>(
              [](auto atomic) { return atomic.getPlace(); })
          .Default([](Operation *) { return Value(); });
  return place && isa<tile::GlobalType>(place.getType()) ? place : Value();
}

bool tilec::ordersGlobal(Operation *op) {
  auto isAcqRel = [](auto atomic) {
    return atomic.getOrder() == tile::MemoryOrder::AcqRel && writtenGlobal(atomic);
  };
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<tile::AtomicOp, tile::AtomicCasOp, tile::AtomicTileOp, tgpu::AtomicOp,
            tgpu::AtomicTileOp>(isAcqRel)
      .Default(false);
}

bool tilec::mayChange(Operation *op, Value global) {
  Value written = writtenGlobal(op);
  return ordersGlobal(op) || (written && mayOverlap(tgpu::getBase(written), tgpu::getBase(global)));
}

bool tilec::mayChangeIn(tgpu::KernelOp kernel, Value global) {
  return kernel
      .walk([&](Operation *op) {
        return mayChange(op, global) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

/// Sum of a bound and a number; no bound stays none.
static int64_t plus(int64_t bound, int64_t number) {
  int64_t sum;
  if (bound == IndexRange::kLowest || bound == IndexRange::kHighest) {
    return bound;
  }
  if (__builtin_add_overflow(bound, number, &sum)) {
    return number < 0 ? IndexRange::kLowest : IndexRange::kHighest;
  }
  return sum;
}

static IndexRange constantIndex(int64_t number) { return {{}, number, plus(number, 1)}; }

/// `range` times `factor`; nothing where that overflows.
static std::optional<IndexRange> times(IndexRange range, int64_t factor) {
  int64_t number;
  if (__builtin_mul_overflow(range.low, factor, &number)) {
    return std::nullopt;
  }
  for (IndexRange::Term &term : range.terms) {
    if (__builtin_mul_overflow(term.second, factor, &term.second)) {
      return std::nullopt;
    }
  }
  if (factor == 0) {
    range.terms.clear();
  }
  range.low = number;
  range.high = plus(number, 1);
  return range;
}

namespace {

/// Takes indices apart; values that several sums share once.
class Terms {
public:
  IndexRange of(Value value, int depth) {
    auto it = known.find(value);
    if (it != known.end()) {
      return it->second;
    }
    IndexRange leaf{{{value, 1}}, 0, 1};
    IndexRange result = depth > kMaxDepth ? leaf : split(value, depth).value_or(leaf);
    known[value] = result;
    return result;
  }

private:
  static constexpr int kMaxDepth = 64; // deeper expressions are terms of their own

  std::optional<IndexRange> split(Value value, int depth) {
    APInt constant;
    if (matchPattern(value, m_ConstantInt(&constant))) {
      return constant.getSignificantBits() <= 63
                 ? std::optional(constantIndex(constant.getSExtValue()))
                 : std::nullopt;
    }
    Operation *op = value.getDefiningOp();
    if (isa_and_nonnull<arith::ExtSIOp, arith::IndexCastOp>(op)) {
      return of(op->getOperand(0), depth + 1);
    }
    if (!isa_and_nonnull<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op)) {
      return std::nullopt;
    }
    IndexRange a = of(op->getOperand(0), depth + 1), b = of(op->getOperand(1), depth + 1);
    if (isa<arith::MulIOp>(op)) {
      if (!a.terms.empty() && !b.terms.empty()) {
        return std::nullopt;
      }
      return a.terms.empty() ? times(b, a.low) : times(a, b.low);
    }
    if (isa<arith::SubIOp>(op)) {
      std::optional<IndexRange> negative = times(b, -1);
      if (!negative) {
        return std::nullopt;
      }
      b = *negative;
    }
    a.add(b);
    return a.isBounded() ? std::optional(a) : std::nullopt;
  }

  llvm::DenseMap<Value, IndexRange> known;
};

} // namespace

IndexRange IndexRange::of(Value value) { return Terms().of(value, 0); }

void IndexRange::extend(int64_t size) {
  high = ShapedType::isDynamic(size) || low == kLowest ? kHighest
                                                       : plus(low, std::max<int64_t>(size, 0));
  const bool isBlock =
      size > 0 && low != kLowest && low % size == 0 &&
      llvm::all_of(terms, [&](const Term &term) { return term.second % size == 0; });
  block = isBlock ? size : 0;
}

void IndexRange::add(const IndexRange &other) {
  for (const Term &term : other.terms) {
    auto *it = llvm::find_if(terms, [&](const Term &mine) { return mine.first == term.first; });
    int64_t factor = term.second;
    if (it != terms.end()) {
      if (__builtin_add_overflow(factor, it->second, &factor)) {
        return forget();
      }
      terms.erase(it);
    }
    if (factor != 0) {
      terms.push_back({term.first, factor});
    }
  }
  llvm::sort(terms, [](const Term &a, const Term &b) {
    return a.first.getAsOpaquePointer() < b.first.getAsOpaquePointer();
  });
  bool noLow = low == kLowest || other.low == kLowest;
  bool noHigh = high == kHighest || other.high == kHighest;
  low = noLow ? kLowest : plus(low, other.low);
  high = noHigh ? kHighest : plus(plus(high, other.high), -1); // of two sets that are half open
}

void IndexRange::shift(int64_t least, int64_t most) {
  low = least == kLowest ? kLowest : plus(low, least);
  high = most == kHighest ? kHighest : plus(high, most);
}

bool IndexRange::isApart(const IndexRange &other) const {
  return terms == other.terms && (high <= other.low || other.high <= low);
}

bool IndexRange::covers(const IndexRange &other) const {
  bool everything = low == kLowest && high == kHighest;
  return (block == 0 || block == other.block) &&
         (everything || (terms == other.terms && low <= other.low && other.high <= high));
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

GlobalRegion GlobalRegion::of(Value global) { return of(global, {}); }

GlobalRegion GlobalRegion::of(Value global, ValueRange element) {
  GlobalRegion region;
  region.base = tgpu::getBase(global);
  SmallVector<tile::SliceOp> slices;
  while (auto slice = global.getDefiningOp<tile::SliceOp>()) {
    slices.push_back(slice);
    global = slice.getSource();
  }
  auto view = global.getDefiningOp<tgpu::ViewOp>();
  if (!view) {
    return region; // renumbered or reinterpreted
  }
  region.view = view;
  SmallVector<int64_t> sizes(view.getResult().getType().getShape());
  region.indices.assign(sizes.size(), constantIndex(0));
  region.kept = llvm::to_vector<2>(llvm::seq<int64_t>(0, sizes.size()));
  auto moveBy = [&](int64_t dim, Value offset) {
    region.indices[dim].add(isa<RankedTensorType>(offset.getType()) ? IndexRange()
                                                                    : IndexRange::of(offset));
  };
  for (tile::SliceOp slice : llvm::reverse(slices)) {
    SmallVector<int64_t, 2> kept;
    for (auto [axis, dim] : llvm::enumerate(region.kept)) {
      moveBy(dim, slice.getOffsets()[axis]);
      sizes[dim] = slice.isDropped(axis) ? 1 : slice.getStaticSizes()[axis];
      if (!slice.isDropped(axis)) {
        kept.push_back(dim);
      }
    }
    region.kept = kept;
  }
  for (auto [dim, index] : llvm::zip(region.kept, element)) {
    moveBy(dim, index);
    sizes[dim] = 1;
  }
  for (auto [index, size] : llvm::zip_equal(region.indices, sizes)) {
    index.extend(size);
  }
  return region;
}

/// True if an index means the same place in both: one view, or the views of tensors that are the
/// same if they share memory at all: as they are, not as the program renumbers them.
static bool countAlike(const GlobalRegion &a, const GlobalRegion &b) {
  if (!a.view || !b.view || !a.base || !b.base || a.indices.size() != b.indices.size()) {
    return false;
  }
  auto first = cast<tgpu::ViewOp>(a.view), second = cast<tgpu::ViewOp>(b.view);
  bool sameType = first.getResult().getType() == second.getResult().getType();
  bool sameExtents = llvm::equal(first.getExtents(), second.getExtents()) &&
                     llvm::equal(first.getStrides(), second.getStrides());
  bool areTensors = !first.getReshaped() && !second.getReshaped();
  return first == second || (sameType && (sameExtents || (a.base != b.base && areTensors)));
}

bool GlobalRegion::overlaps(const GlobalRegion &other) const {
  if (!mayOverlap(base, other.base)) {
    return false;
  }
  return !countAlike(*this, other) ||
         llvm::none_of(llvm::zip_equal(indices, other.indices), [](const auto &pair) {
           return std::get<0>(pair).isApart(std::get<1>(pair));
         });
}

bool GlobalRegion::isOfSameGrid(const GlobalRegion &other) const {
  return countAlike(*this, other) && kept == other.kept &&
         llvm::all_of(llvm::zip_equal(indices, other.indices), [](const auto &pair) {
           const IndexRange &mine = std::get<0>(pair), &its = std::get<1>(pair);
           return (mine == its && mine.isBounded()) || (mine.block != 0 && mine.block == its.block);
         });
}

bool GlobalRegion::covers(const GlobalRegion &other) const {
  if (base != other.base || (view && view != other.view)) {
    return false;
  }
  return !view || llvm::all_of(llvm::zip_equal(indices, other.indices), [](const auto &pair) {
    return std::get<0>(pair).covers(std::get<1>(pair));
  });
}

bool GlobalRegion::widen(const GlobalRegion &before) {
  auto sameTerms = [](const auto &pair) {
    return std::get<0>(pair).terms == std::get<1>(pair).terms;
  };
  if (base != before.base || view != before.view ||
      !llvm::all_of(llvm::zip_equal(indices, before.indices), sameTerms)) {
    return false;
  }
  for (auto [index, old] : llvm::zip_equal(indices, before.indices)) {
    index.block = index.block == old.block ? index.block : 0;
    index.low = index.low < old.low ? IndexRange::kLowest : old.low;
    index.high = index.high > old.high ? IndexRange::kHighest : old.high;
  }
  return true;
}
