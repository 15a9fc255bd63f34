//===- PartsOfGathers.cpp - parts of dimensions that index tiles gather ---===//
//
// An index of a tile goes through the slices of its dimension from the last one to the first that
// gathers: each adds an offset, or exchanges the index for the one that its tile has there. It is
// valid as long as each slice has it. Tiles are read at these indices in shared memory, since
// threads hold other elements than those that they ask for.
//
//===----------------------------------------------------------------------===//
#include "passes/PartsOfGathers.h"

#include "passes/Analysis.h"

using namespace mlir;
using namespace tilec;
using arith::CmpIPredicate;
using tile::GlobalType;
using tile::SliceOp;

namespace {

/// The slices of one view, the first one first, and where its dimensions are in each of them.
struct Chain {
  SmallVector<SliceOp> slices;
  SmallVector<SmallVector<int64_t>>
      axes; ///< by slice and dimension of the view; -1: dropped before

  explicit Chain(SliceOp last) {
    for (SliceOp slice = last; slice; slice = slice.getSource().getDefiningOp<SliceOp>()) {
      slices.insert(slices.begin(), slice);
    }
    const int64_t rank = cast<GlobalType>(slices[0].getSource().getType()).getRank();
    auto kept = llvm::to_vector(llvm::seq<int64_t>(0, rank));
    for (SliceOp slice : slices) {
      SmallVector<int64_t> next, at(rank, -1);
      for (auto [axis, dim] : llvm::enumerate(kept)) {
        at[dim] = int64_t(axis);
        if (!slice.isDropped(axis)) {
          next.push_back(dim);
        }
      }
      axes.push_back(at);
      kept = next;
    }
  }
  /// The first slice that gathers a dimension of which another one takes a part; -1: none does.
  int64_t firstGather(int64_t dim) const {
    int64_t first = -1;
    bool takesPart = false;
    for (size_t depth = 0; depth < slices.size(); ++depth) {
      SliceOp slice = slices[depth];
      const int64_t axis = axes[depth][dim];
      if (axis < 0) {
        break;
      }
      takesPart |= first >= 0 && !takesWhole(slice, axis);
      if (first < 0 && slice.isGather(axis)) {
        first = int64_t(depth);
      }
    }
    return takesPart ? first : -1;
  }
};

class Composer {
public:
  explicit Composer(tgpu::KernelOp kernel) : b(kernel.getContext()) {}

  /// The same elements without parts of gathered dimensions; null where their number is not constant.
  Value compose(SliceOp last) {
    if (ShapedType::isDynamicShape(cast<GlobalType>(last.getResult().getType()).getShape())) {
      return {};
    }
    const Chain chain(last);
    b.setInsertionPoint(last);
    loc = last.getLoc();
    SmallVector<int64_t> gathers; // by dimension
    SmallVector<Value> indices;
    for (size_t dim = 0; dim < chain.axes[0].size(); ++dim) {
      gathers.push_back(chain.firstGather(int64_t(dim)));
      indices.push_back(gathers.back() < 0 ? Value()
                                           : indexOf(chain, int64_t(dim), gathers.back()));
    }
    SliceOp outermost = chain.slices[0];
    Value result = outermost.getSource();
    for (size_t depth = 0; depth < chain.slices.size(); ++depth) {
      result = rebuild(chain, int64_t(depth), result, gathers, indices);
    }
    return result;
  }

private:
  /// A slice of `source` with the same name, of what is left of the dimensions.
  Value rebuild(const Chain &chain, int64_t depth, Value source, ArrayRef<int64_t> gathers,
                ArrayRef<Value> indices) {
    SliceOp slice = chain.slices[depth];
    SmallVector<Value> offsets, sizes;
    SmallVector<int64_t> staticSizes, shape;
    for (int64_t axis = 0; axis < int64_t(slice.getStaticSizes().size()); ++axis) {
      const auto at = llvm::find(chain.axes[depth], axis);
      const int64_t dim = at - chain.axes[depth].begin();
      Value offset = slice.getOffsets()[axis];
      int64_t size = slice.getStaticSizes()[axis];
      if (Value index = indices[dim]; index && depth >= gathers[dim]) {
        auto tile = dyn_cast<RankedTensorType>(index.getType());
        if (!tile && depth > gathers[dim]) {
          continue; // dropped where it is gathered
        }
        offset = depth == gathers[dim] ? index : number(b.getI32Type(), 0);
        size = tile ? tile.getShape()[0] : SliceOp::kDropped;
      } else if (Value dynamic = slice.getDynamicSize(axis)) {
        sizes.push_back(dynamic);
      }
      offsets.push_back(offset);
      staticSizes.push_back(size);
      if (size != SliceOp::kDropped) {
        shape.push_back(size);
      }
    }
    auto type =
        GlobalType::get(b.getContext(), shape, cast<GlobalType>(source.getType()).getElementType());
    return SliceOp::create(b, loc, type, source, offsets, sizes, staticSizes);
  }

  /// The indices that the first gather of a dimension is left with: a tile, or a scalar where the
  /// dimension is dropped.
  Value indexOf(const Chain &chain, int64_t dim, int64_t first) {
    int64_t depth = int64_t(chain.slices.size()) - 1;
    while (chain.axes[depth][dim] < 0) {
      --depth;
    }
    Value index, valid;
    auto step = [&](bool isLast) {
      SliceOp slice = chain.slices[depth];
      const int64_t axis = chain.axes[depth][dim];
      Value offset = slice.getOffsets()[axis];
      if (isLast && slice.isDropped(axis)) {
        index = wide(offset);
        return;
      }
      if (isLast) {
        auto type = RankedTensorType::get({sizeOf(slice, axis)}, b.getI64Type());
        index = tgpu::CoordinateOp::create(b, loc, type);
      } else {
        Value size = slice.getDynamicSize(axis);
        requireBelow(index, size ? wide(size) : number(b.getI64Type(), sizeOf(slice, axis)), valid);
      }
      index = slice.isGather(axis)
                  ? wide(lookUp(offset, index, valid))
                  : arith::AddIOp::create(b, loc, index, like(index, wide(offset)));
    };
    step(/*isLast=*/true);
    for (--depth; depth > first; --depth) {
      step(/*isLast=*/false);
    }
    SliceOp gather = chain.slices[first];
    Value tile = gather.getOffsets()[chain.axes[first][dim]];
    const int64_t length = cast<RankedTensorType>(tile.getType()).getShape()[0];
    requireBelow(index, number(b.getI64Type(), length), valid);
    Value found = lookUp(tile, index, valid);
    Value none = like(found, number(getElementTypeOrSelf(found), -1));
    return arith::SelectOp::create(b, loc, valid, found, none);
  }
  static int64_t sizeOf(SliceOp slice, int64_t axis) { return slice.getStaticSizes()[axis]; }

  void requireBelow(Value index, Value size, Value &valid) {
    Value low = like(index, number(b.getI64Type(), 0));
    Value inside = arith::CmpIOp::create(b, loc, CmpIPredicate::sge, index, low);
    Value below = arith::CmpIOp::create(b, loc, CmpIPredicate::slt, index, like(index, size));
    inside = arith::AndIOp::create(b, loc, inside, below);
    valid = valid ? Value(arith::AndIOp::create(b, loc, valid, inside)) : inside;
  }

  /// Elements of an index tile, of which shared memory has a copy from where it is computed on.
  Value lookUp(Value tile, Value index, Value valid) {
    auto type = cast<RankedTensorType>(tile.getType());
    Value &shared = copies[tile];
    if (!shared) {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointAfterValue(tile);
      auto buffer = tile::BufferType::get(b.getContext(), type.getShape(), type.getElementType(),
                                          tile::Scope::Shared);
      shared = tile::AllocOp::create(b, loc, buffer, b.getStringAttr("exchange"), StringAttr());
      tile::WriteOp::create(b, loc, tile, shared);
      emitRemark(loc, "exchange between threads: the indices of which a part is taken go through ")
          << type.getNumElements() * type.getElementTypeBitWidth() / 8 << " bytes of shared memory";
    }
    auto tensor = dyn_cast<RankedTensorType>(index.getType());
    Type result = tensor ? Type(tensor.clone(type.getElementType())) : type.getElementType();
    return tgpu::GatherOp::create(b, loc, result, shared, index, valid);
  }

  Value number(Type type, int64_t value) {
    return arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, value));
  }
  Value wide(Value value) {
    Type type = b.getI64Type();
    if (auto tensor = dyn_cast<RankedTensorType>(value.getType())) {
      type = tensor.clone(type);
    }
    return value.getType() == type ? value : Value(arith::ExtSIOp::create(b, loc, type, value));
  }
  /// A scalar as a tile where `other` is one.
  Value like(Value other, Value scalar) {
    auto tensor = dyn_cast<RankedTensorType>(other.getType());
    return tensor ? Value(tile::SplatOp::create(b, loc, tensor.clone(scalar.getType()), scalar))
                  : scalar;
  }

  OpBuilder b;
  Location loc = b.getUnknownLoc();
  DenseMap<Value, Value> copies; ///< of index tiles in shared memory; looked up only
};

} // namespace

void tilec::composeGathers(tgpu::KernelOp kernel) {
  SmallVector<SliceOp> slices; // of gathers
  kernel.walk([&](SliceOp slice) {
    if (isa<GlobalType>(slice.getSource().getType()) && isGather(slice.getResult())) {
      slices.push_back(slice);
    }
  });
  Composer composer(kernel);
  for (SliceOp slice : slices) {
    bool takesPart = false;
    for (SliceOp at = slice; at; at = at.getSource().getDefiningOp<SliceOp>()) {
      takesPart |= takesPartOfGather(at);
    }
    const bool isMoved = !llvm::all_of(slice->getUsers(), llvm::IsaPred<SliceOp>);
    if (Value composed = takesPart && isMoved ? composer.compose(slice) : Value()) {
      slice.getResult().replaceUsesWithIf(
          composed, [](OpOperand &use) { return !isa<SliceOp>(use.getOwner()); });
    }
  }
  for (SliceOp slice : llvm::reverse(slices)) {
    if (slice->use_empty()) {
      slice.erase();
    }
  }
}
