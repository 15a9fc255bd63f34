//===- Analysis.cpp - questions that several passes ask of tgpu IR -------===//
#include "passes/Analysis.h"

#include "dialects/support/Diagnostics.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "passes/ViewBounds.h"

#include "llvm/ADT/TypeSwitch.h"

#include <numeric>

using namespace mlir;
using namespace tilec;

const Target *tilec::getTarget(tgpu::KernelOp kernel) {
  const Target *target = findTarget(kernel.getTarget().value_or(""));
  if (!target) {
    kernel.emitError("kernel has no known target: set attribute `target`");
  }
  return target;
}

bool tilec::asksForRoles(tgpu::KernelOp kernel) {
  const Target *target = findTarget(kernel.getTarget().value_or(""));
  const StringRef word = kernel.getWarpSpecialize().value_or("auto");
  return target && target->hasTma &&
         llvm::is_contained({"producer", "pingpong", "operations"}, word);
}

int64_t tilec::teamsWanted(tgpu::KernelOp kernel) {
  if (!asksForRoles(kernel) || kernel.getWarpSpecialize() != "pingpong") {
    return 1;
  }
  const bool isFilled = kernel
                            .walk([](Operation *op) {
                              auto copy = dyn_cast<tgpu::CopyOp>(op);
                              const bool fills = isa<tgpu::TmaLoadOp>(op) ||
                                                 (copy && copy.getPath() == tgpu::CopyPath::Tma &&
                                                  isa<tgpu::SmemType>(copy.getDest().getType()));
                              return fills ? WalkResult::interrupt() : WalkResult::advance();
                            })
                            .wasInterrupted();
  return isFilled ? 2 : 1;
}

bool tilec::runsOverGrid(Operation *loop) {
  return isa<scf::ForOp, scf::WhileOp>(loop) &&
         !loop->getRegions().back().front().getOps<tgpu::GridPointOp>().empty();
}

//===----------------------------------------------------------------------===//
// Slices of global memory
//===----------------------------------------------------------------------===//

static bool isZero(Value value) { return !value || matchPattern(value, m_Zero()); }

Type tilec::elementTypeOf(Type type) {
  return llvm::TypeSwitch<Type, Type>(type)
      .Case<tile::GlobalType, tile::BufferType, RankedTensorType, tgpu::SmemType>(
          [](auto shaped) { return shaped.getElementType(); })
      .Default([](Type scalar) { return scalar; });
}

bool tilec::isGather(Value value) {
  for (auto slice = value.getDefiningOp<tile::SliceOp>(); slice;
       slice = slice.getSource().getDefiningOp<tile::SliceOp>()) {
    if (llvm::any_of(slice.getOffsets().getTypes(), llvm::IsaPred<RankedTensorType>)) {
      return true;
    }
  }
  return false;
}

bool tilec::takesPartOfGather(tile::SliceOp slice) {
  auto isGathered = [](Value source, int64_t axis) {
    while (auto outer = source.getDefiningOp<tile::SliceOp>()) {
      // The source's dimension that is number `axis` of those kept.
      int64_t dim = -1;
      for (int64_t left = axis; left >= 0; left -= outer.isDropped(dim) ? 0 : 1) {
        ++dim;
      }
      if (outer.isGather(dim)) {
        return true;
      }
      source = outer.getSource();
      axis = dim;
    }
    return false;
  };
  return llvm::any_of(llvm::seq<unsigned>(0, slice.getStaticSizes().size()), [&](unsigned axis) {
    return isGathered(slice.getSource(), axis) && !takesWhole(slice, axis);
  });
}

GlobalSlice tilec::analyseSlice(Value value) {
  return isGather(value) ? GlobalSlice() : analyseSliceOrGather(value);
}

GlobalSlice tilec::analyseSliceOrGather(Value value) {
  SmallVector<tile::SliceOp> slices;
  while (auto slice = value.getDefiningOp<tile::SliceOp>()) {
    slices.push_back(slice);
    value = slice.getSource();
  }
  GlobalSlice result;
  auto view = value.getDefiningOp<tgpu::ViewOp>();
  if (!view) {
    return result;
  }
  unsigned rank = view.getResult().getType().getRank();
  result.offset.resize(rank);
  result.gathered.resize(rank);
  result.sizes.assign(view.getResult().getType().getShape().begin(),
                      view.getResult().getType().getShape().end());
  for (unsigned axis = 0; axis < rank; ++axis) {
    result.kept.push_back(axis);
  }
  for (auto [depth, slice] : llvm::enumerate(llvm::reverse(slices))) {
    SmallVector<int64_t> kept;
    for (auto [axis, dim] : llvm::enumerate(result.kept)) {
      Value offset = slice.getOffsets()[axis];
      if (slice.isGather(axis) || result.gathered[dim]) {
        result.gathered.set(dim);
        result.offset[dim].clear();
      } else if (!isZero(offset)) {
        result.offset[dim].push_back(offset);
      }
      // The innermost slice's sizes are the copied region's; earlier ones bound it.
      if (depth + 1 < slices.size() && !slice.isDropped(axis) && !coversSource(slice, axis)) {
        result.hasInnerBounds = true;
      }
      result.sizes[dim] = slice.isDropped(axis) ? 1 : slice.getStaticSizes()[axis];
      if (!slice.isDropped(axis)) {
        kept.push_back(dim);
      }
    }
    result.kept = kept;
  }
  result.view = view;
  return result;
}

int64_t tilec::divisorOfSum(ArrayRef<Value> offsets, const IntegerAnalysis &integers) {
  int64_t divisor = 0;
  for (Value offset : offsets) {
    divisor = std::gcd(divisor, integers.divisor(offset));
  }
  return divisor;
}

IntegerRange tilec::rangeOfSum(ArrayRef<Value> offsets, const IntegerAnalysis &integers) {
  IntegerRange sum = {0, 0};
  for (Value offset : offsets) {
    const IntegerRange range = integers.range(offset);
    const bool under = __builtin_add_overflow(sum.low, range.low, &sum.low);
    const bool over = __builtin_add_overflow(sum.high, range.high, &sum.high);
    sum.low = under || over ? INT64_MIN : sum.low;
    sum.high = under || over ? INT64_MAX : sum.high;
  }
  return sum;
}

bool tilec::isHostKnown(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  return (argument && isa<tgpu::KernelOp>(argument.getOwner()->getParentOp())) ||
         matchPattern(value, m_Constant());
}

/// A fact of the kernel argument behind a view; null if there is none.
template <typename AttrT>
static AttrT factOfBase(tgpu::ViewOp view, const Fact<AttrT> &fact) {
  auto base = dyn_cast<BlockArgument>(view.getBase());
  auto kernel = base ? dyn_cast<tgpu::KernelOp>(base.getOwner()->getParentOp()) : tgpu::KernelOp();
  return kernel ? fact.get(kernel, base.getArgNumber()) : AttrT();
}

int64_t tilec::baseAlignment(tgpu::ViewOp view) {
  IntegerAttr attribute = factOfBase(view, tgpu::kAlign);
  return attribute ? attribute.getInt() : 1;
}

bool tilec::mayBeEmpty(tgpu::ViewOp view) { return bool(factOfBase(view, tgpu::kMayBeEmpty)); }

int64_t tilec::alignedAccessBytes(GlobalSlice slice, unsigned elementBits,
                                  const IntegerAnalysis &integers) {
  if (!slice.view || slice.kept.empty() || slice.kept.back() + 1 != (int64_t)slice.offset.size() ||
      slice.gathered[slice.kept.back()]) {
    return 0;
  }
  int64_t align = baseAlignment(slice.view), size = slice.sizes.back();
  SmallVector<Value> mustFit(slice.view.getStrides());
  llvm::append_range(mustFit, slice.offset.back());
  for (int64_t bytes = 16; bytes * 8 >= elementBits && bytes > 0; bytes /= 2) {
    bool fits = align % bytes == 0 &&
                (ShapedType::isDynamic(size) || fitsAccess(size, elementBits, bytes)) &&
                llvm::all_of(mustFit, [&](Value value) {
                  return fitsAccess(integers.divisor(value), elementBits, bytes);
                });
    if (fits) {
      return bytes;
    }
  }
  return 0;
}

std::optional<NeighbourAccess> NeighbourAccess::of(Operation *op) {
  NeighbourAccess access;
  Type type;
  if (auto load = dyn_cast<tile::LoadOp>(op)) {
    access.global = load.getSource();
    access.indices.assign(load.getIndices().begin(), load.getIndices().end());
    type = load.getResult().getType();
  } else if (auto store = dyn_cast<tile::StoreOp>(op)) {
    access.global = store.getDest();
    access.indices.assign(store.getIndices().begin(), store.getIndices().end());
    type = store.getValue().getType();
  }
  auto vector = dyn_cast_if_present<VectorType>(type);
  if (!vector || !isa<tile::GlobalType>(access.global.getType())) {
    return std::nullopt;
  }
  access.count = vector.getNumElements();
  access.elementBytes = llvm::divideCeil(tile::getStorageBits(vector.getElementType()), 8);
  return access;
}

int64_t NeighbourAccess::wantedBytes() const { return std::gcd<int64_t>(16, count * elementBytes); }

int64_t NeighbourAccess::alignedBytes(const IntegerAnalysis &integers, bool anyRows) const {
  GlobalSlice slice = analyseSlice(global);
  if (!slice.view || slice.kept.empty() || slice.kept.back() + 1 != (int64_t)slice.offset.size()) {
    return elementBytes;
  }
  int64_t bytes = std::gcd(wantedBytes(), baseAlignment(slice.view));
  auto divisor = [&](Value value) { return std::gcd<int64_t>(integers.divisor(value), 16); };
  for (auto [dim, offset] : llvm::enumerate(slice.offset)) {
    int64_t coordinate = std::gcd<int64_t>(divisorOfSum(offset, integers), 16);
    for (auto [axis, kept] : llvm::enumerate(slice.kept)) {
      coordinate = kept == int64_t(dim) ? std::gcd(coordinate, divisor(indices[axis])) : coordinate;
    }
    const bool isRow = dim + 1 < slice.offset.size();
    const int64_t stride = isRow ? divisor(slice.view.getStrides()[dim]) : 1;
    bytes = isRow && anyRows ? bytes : std::gcd(bytes, coordinate * stride * elementBytes);
  }
  return std::max(bytes, elementBytes);
}

tgpu::AllocSharedOp tilec::getAllocation(Value buffer) {
  while (buffer) {
    if (auto alloc = buffer.getDefiningOp<tgpu::AllocSharedOp>()) {
      return alloc;
    }
    if (auto slot = buffer.getDefiningOp<tgpu::SlotOp>()) {
      buffer = slot.getRing();
    } else if (auto part = buffer.getDefiningOp<tgpu::SubviewOp>()) {
      buffer = part.getSource();
    } else {
      return {};
    }
  }
  return {};
}

//===----------------------------------------------------------------------===//
// @require
//===----------------------------------------------------------------------===//

/// Calls `see` with each requirement on `op`, innermost first.
static void forEachRequirement(Operation *op, function_ref<void(StringRef)> see) {
  for (; op && !isa<ModuleOp>(op); op = op->getParentOp()) {
    for (StringRef name : {StringRef("require"), StringRef(tile::kRequire.name)}) {
      if (auto list = op->getAttrOfType<ArrayAttr>(name)) {
        llvm::for_each(list.getAsRange<StringAttr>(),
                       [&](StringAttr text) { see(text.getValue()); });
      }
    }
  }
}

bool tilec::isRequired(Operation *op, StringRef what) {
  bool required = false;
  forEachRequirement(op, [&](StringRef text) { required |= text == what; });
  return required;
}

LogicalResult tilec::checkRequired(Operation *op, StringRef what, const Twine &reason) {
  if (!isRequired(op, what)) {
    return success();
  }
  return op->emitError(diag::formatDiagnostic(diag::Id::Require, what, reason.str()));
}

tgpu::GridPointOp tilec::findGridPoint(tgpu::KernelOp kernel) {
  tgpu::GridPointOp found;
  kernel.walk([&](tgpu::GridPointOp point) { found = point; });
  return found;
}

LogicalResult tilec::checkRequiredInside(Operation *op, StringRef what, const Twine &reason) {
  WalkResult result = op->walk<WalkOrder::PreOrder>([&](Operation *inner) {
    return failed(checkRequired(inner, what, reason)) ? WalkResult::interrupt()
                                                      : WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

LogicalResult tilec::checkRequiredVector(Operation *op, int64_t bytes) {
  int64_t wanted = 0;
  forEachRequirement(op, [&](StringRef text) {
    int64_t number = 0;
    if (text.consume_front("vector=") && !text.getAsInteger(10, number)) {
      wanted = std::max(wanted, number);
    }
  });
  if (bytes >= wanted) {
    return success();
  }
  return op->emitError(diag::formatDiagnostic(
      diag::Id::Require, "vector(" + std::to_string(wanted) + ")",
      "one access moves " + std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes")));
}
