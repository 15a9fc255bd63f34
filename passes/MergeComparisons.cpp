//===- MergeComparisons.cpp - one bound for tiles that are compared with two -===//
//
// Masks ask two things of an element's place: `col >= SK || col > diag + i`. Either holds where the place lies
// above the lesser bound, and that is one for each row: a comparison of each element instead of two, and what
// joins them. So does `and` with the greater one, and both below a bound.
//
// A comparison that includes its bound becomes one that does not, or the other way round, if that cannot wrap.
//
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/Analysis.h"
#include "passes/Passes.h"

#include "llvm/ADT/SetVector.h"

namespace tilec {
#define GEN_PASS_DEF_MERGECOMPARISONS
#include "passes/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;
using arith::CmpIPredicate;

namespace {

/// A tile as what it repeats: `value` has the dimensions `dims` of the tile, in order. A scalar has none.
struct Repeated {
  Value value;
  SmallVector<int64_t> dims;

  bool operator==(const Repeated &other) const {
    return value == other.value && dims == other.dims;
  }
  /// These are dimensions of what `other` repeats, too.
  bool within(const Repeated &other) const {
    return llvm::all_of(dims, [&](int64_t dim) { return llvm::is_contained(other.dims, dim); });
  }
};

Repeated repeatedBy(Value tile) {
  SmallVector<int64_t> dims =
      llvm::to_vector(llvm::seq<int64_t>(0, cast<RankedTensorType>(tile.getType()).getRank()));
  while (true) {
    if (auto op = tile.getDefiningOp<tile::BroadcastOp>()) {
      for (int64_t axis : llvm::reverse(op.getAxes())) {
        dims.erase(dims.begin() + axis);
      }
      tile = op.getInput();
    } else if (auto op = tile.getDefiningOp<tile::SplatOp>()) {
      return {op.getInput(), {}};
    } else {
      return {tile, dims};
    }
  }
}

/// `place` is above `bound`, or below it, or may be equal to it.
struct Comparison {
  arith::CmpIOp op; ///< in the form `place predicate bound`, or with both exchanged
  Repeated place, bound;
  bool above, inclusive, isSigned, exchanged;
};

CmpIPredicate predicateOf(bool above, bool inclusive, bool isSigned) {
  if (isSigned) {
    return above ? (inclusive ? CmpIPredicate::sge : CmpIPredicate::sgt)
                 : (inclusive ? CmpIPredicate::sle : CmpIPredicate::slt);
  }
  return above ? (inclusive ? CmpIPredicate::uge : CmpIPredicate::ugt)
               : (inclusive ? CmpIPredicate::ule : CmpIPredicate::ult);
}

/// Both ways to read a comparison that orders, with the dimensions of `condition`, which may repeat it.
SmallVector<Comparison, 2> readings(Value condition) {
  const Repeated repeated = repeatedBy(condition);
  auto op = repeated.value.getDefiningOp<arith::CmpIOp>();
  if (!op || !isa<RankedTensorType>(op.getLhs().getType())) {
    return {};
  }
  const auto operand = [&](Value value) {
    Repeated side = repeatedBy(value);
    for (int64_t &dim : side.dims) {
      dim = repeated.dims[dim];
    }
    return side;
  };
  const CmpIPredicate predicate = op.getPredicate();
  if (predicate == CmpIPredicate::eq || predicate == CmpIPredicate::ne) {
    return {};
  }
  const auto isOneOf = [&](std::initializer_list<CmpIPredicate> these) {
    return llvm::is_contained(these, predicate);
  };
  using enum CmpIPredicate;
  const bool above = isOneOf({sgt, sge, ugt, uge}), inclusive = isOneOf({sge, sle, uge, ule}),
             isSigned = isOneOf({sgt, sge, slt, sle});
  const Repeated lhs = operand(op.getLhs()), rhs = operand(op.getRhs());
  return {{op, lhs, rhs, above, inclusive, isSigned, false},
          {op, rhs, lhs, !above, inclusive, isSigned, true}};
}

/// What a tree of `and`, or of `or`, joins.
template <typename Join>
void collect(Join root, SmallVectorImpl<Value> &joined) {
  for (Value side : {root.getLhs(), root.getRhs()}) {
    auto inner = side.getDefiningOp<Join>();
    if (inner && inner->hasOneUse()) {
      collect(inner, joined);
    } else {
      joined.push_back(side);
    }
  }
}

class Merger {
public:
  explicit Merger(const IntegerAnalysis &integers) : integers(integers) {}

  /// One condition for both, or null. `isOr`: where either holds, else where both do.
  Value merge(Value one, Value other, bool isOr, OpBuilder &builder) {
    for (Comparison a : readings(one)) {
      for (Comparison b : readings(other)) {
        if (!(a.place == b.place) || a.above != b.above || a.isSigned != b.isSigned) {
          continue;
        }
        // The one whose bound has more dimensions stays, if it is a comparison of whole tiles.
        const bool first = b.bound.within(a.bound) && a.op.getType() == one.getType();
        if (first || (a.bound.within(b.bound) && b.op.getType() == other.getType())) {
          if (Value merged = first ? join(a, b, isOr, builder) : join(b, a, isOr, builder)) {
            return merged;
          }
        }
      }
    }
    return {};
  }

private:
  /// `scalar` + `by`, if that cannot wrap.
  Value moved(Value scalar, int64_t by, OpBuilder &builder) {
    const IntegerRange range = integers.range(scalar);
    const unsigned width = cast<IntegerType>(scalar.getType()).getWidth();
    if (by < 0 ? range.low <= llvm::minIntN(width) : range.high >= llvm::maxIntN(width)) {
      return {};
    }
    Location loc = scalar.getLoc();
    auto amount =
        arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(scalar.getType(), by));
    return arith::AddIOp::create(builder, loc, scalar, amount);
  }

  /// `kept` with the bound of both.
  Value join(const Comparison &kept, const Comparison &gone, bool isOr, OpBuilder &builder) {
    arith::CmpIOp op = kept.op;
    Value bound = kept.bound.value, other = gone.bound.value;
    if (kept.inclusive != gone.inclusive) {
      // x >= b is x > b - 1, and x > b is x >= b + 1. Scalars only: what they may be is known.
      if (!kept.isSigned || !other.getType().isInteger()) {
        return {};
      }
      other = moved(other, kept.above == kept.inclusive ? 1 : -1, builder);
      if (!other) {
        return {};
      }
    }
    if (bound.getType() != other.getType()) {
      other = spread(other, gone.bound, kept.bound, builder, op.getLoc());
    }
    const bool lesser = isOr == kept.above;
    Value both;
    if (kept.isSigned) {
      both = lesser ? arith::MinSIOp::create(builder, op.getLoc(), bound, other).getResult()
                    : arith::MaxSIOp::create(builder, op.getLoc(), bound, other).getResult();
    } else {
      both = lesser ? arith::MinUIOp::create(builder, op.getLoc(), bound, other).getResult()
                    : arith::MaxUIOp::create(builder, op.getLoc(), bound, other).getResult();
    }
    Value side = kept.exchanged ? op.getLhs() : op.getRhs();
    both = again(both, side, builder);
    Value place = kept.exchanged ? op.getRhs() : op.getLhs();
    return arith::CmpIOp::create(
        builder, op.getLoc(), predicateOf(kept.above, kept.inclusive, kept.isSigned), place, both);
  }

  /// `value`, which has the dimensions of `from`, with those of `to`.
  static Value spread(Value value, const Repeated &from, const Repeated &to, OpBuilder &builder,
                      Location loc) {
    Type type = to.value.getType();
    if (from.dims.empty()) {
      return tile::SplatOp::create(builder, loc, type, value);
    }
    SmallVector<int64_t> axes;
    for (auto [axis, dim] : llvm::enumerate(to.dims)) {
      if (!llvm::is_contained(from.dims, dim)) {
        axes.push_back(axis);
      }
    }
    return tile::BroadcastOp::create(builder, loc, type, value, axes);
  }

  /// `value` repeated as `side` repeats another of its type.
  static Value again(Value value, Value side, OpBuilder &builder) {
    if (side.getType() == value.getType()) {
      return value;
    }
    Type type = side.getType();
    if (auto op = side.getDefiningOp<tile::BroadcastOp>()) {
      return tile::BroadcastOp::create(builder, op.getLoc(), type,
                                       again(value, op.getInput(), builder), op.getAxes());
    }
    return tile::SplatOp::create(builder, side.getLoc(), type, value);
  }

  const IntegerAnalysis &integers;
};

struct MergeComparisons : tilec::impl::MergeComparisonsBase<MergeComparisons> {
  void runOnOperation() override {
    Merger merger(getAnalysis<IntegerAnalysis>());
    simplifyAll<arith::OrIOp>(merger);
    simplifyAll<arith::AndIOp>(merger);
  }

  template <typename Join>
  void simplifyAll(Merger &merger) {
    SmallVector<Join> roots;
    getOperation().walk([&](Join op) {
      auto tile = dyn_cast<RankedTensorType>(op.getType());
      const bool isPart = op->hasOneUse() && isa<Join>(*op->user_begin());
      if (tile && tile.getElementType().isInteger(1) && !isPart) {
        roots.push_back(op);
      }
    });
    for (Join root : roots) {
      simplify(root, merger);
    }
  }

  /// With all that only it needed: what is left here is priced.
  static void eraseUnused(Operation *root) {
    llvm::SetVector<Operation *> unused;
    unused.insert(root);
    while (!unused.empty()) {
      Operation *op = unused.pop_back_val();
      if (isOpTriviallyDead(op)) {
        for (Value operand : op->getOperands()) {
          if (Operation *from = operand.getDefiningOp()) {
            unused.insert(from);
          }
        }
        op->erase();
      }
    }
  }

  template <typename Join>
  static void simplify(Join root, Merger &merger) {
    SmallVector<Value> joined;
    collect(root, joined);
    OpBuilder builder(root);
    bool isChanged = false;
    for (size_t i = 0; i < joined.size(); ++i) {
      for (size_t k = i + 1; k < joined.size();) {
        Value merged =
            merger.merge(joined[i], joined[k], std::is_same_v<Join, arith::OrIOp>, builder);
        if (!merged) {
          ++k;
          continue;
        }
        joined[i] = merged;
        joined.erase(joined.begin() + k);
        k = i + 1; // what is new may go together with others
        isChanged = true;
      }
    }
    if (!isChanged) {
      return;
    }
    Value condition = joined.front();
    for (Value next : llvm::drop_begin(joined)) {
      condition = Join::create(builder, root.getLoc(), condition, next);
    }
    root.getResult().replaceAllUsesWith(condition);
    eraseUnused(root);
  }
};

} // namespace
