//===- InsertChecks.cpp - tests of what `--check` promises ----------------===//
//
// Writes in front of each operation of a launch that can be an error of the program
// (docs/language.md) a `tile.verify` of the condition under which it is none. It runs before any
// other pass, so that each operation is tested as it was written, where it was written, whether its
// result is used or not; what later passes prove they may drop. The conditions and messages are
// those of the cpu target (compiler/cpu).
//
//===----------------------------------------------------------------------===//
#include "dialects/tile/FailureRecord.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "passes/Passes.h"

#include "llvm/ADT/TypeSwitch.h"

namespace tilec {
#define GEN_PASS_DEF_INSERTCHECKS
#include "passes/Passes.h.inc"
} // namespace tilec

using namespace mlir;
using namespace tilec;

namespace {

/// The operation runs for single elements of tiles: what divides by zero there is no error.
bool isPerElement(Operation *op) {
  return isa<RankedTensorType>(op->getResult(0).getType()) || op->getParentOfType<tile::MapOp>() ||
         op->getParentOfType<tile::ReduceWithOp>() || op->getParentOfType<tile::ScanWithOp>();
}

/// Name in the source of the buffer or array that `storage` is part of.
StringRef nameOf(Value storage) {
  while (Operation *definition = storage.getDefiningOp()) {
    if (auto alloc = dyn_cast<tile::AllocOp>(definition)) {
      return alloc.getName().value_or("buffer");
    }
    if (StringAttr name = tile::kName.get(definition)) { // a constant array
      return name.getValue();
    }
    if (!isa<tile::SliceOp, tile::ReshapeOp, tile::BitcastViewOp>(definition)) {
      break;
    }
    storage = definition->getOperand(0);
  }
  return "tile";
}

class Inserter {
public:
  explicit Inserter(tile::KernelOp kernel) : kernel(kernel), b(kernel.getContext()) {}

  void run() {
    SmallVector<Operation *> ops;
    kernel.walk([&](tile::LaunchOp launch) {
      launch.getBody().walk([&](Operation *op) { ops.push_back(op); });
    });
    for (Operation *op : ops) {
      b.setInsertionPoint(op);
      visit(op);
    }
  }

private:
  void visit(Operation *op);
  void verify(Operation *op, Value condition, const Twine &text, ValueRange values = {});
  void checkArithmetic(Operation *op, arith::IntegerOverflowFlags flags);
  Value resultFits(Operation *op, Value x, Value y);
  Value productFits(Value x, Value y);
  void checkDivision(Operation *op, bool isSigned);
  void checkShift(Operation *op);
  void checkAssert(tile::AssertOp op);
  void checkStep(scf::ForOp loop);
  void checkIndices(Operation *op, Value storage, ValueRange indices);
  void checkSlice(tile::SliceOp op);
  void checkEven(Operation *op, Value index);
  void checkNeighbours(Operation *op, Type type, ValueRange indices);
  void checkIndex(Operation *op, Value storage, unsigned axis, Value index, int64_t last);

  Value constant(Type type, int64_t value) {
    Attribute attribute = b.getIntegerAttr(getElementTypeOrSelf(type), value);
    if (auto tensor = dyn_cast<RankedTensorType>(type)) {
      attribute = DenseElementsAttr::get(tensor, attribute);
    }
    return arith::ConstantOp::create(b, loc, cast<TypedAttr>(attribute));
  }
  Value compare(arith::CmpIPredicate predicate, Value x, Value y) {
    return arith::CmpIOp::create(b, loc, predicate, x, y);
  }

  tile::KernelOp kernel;
  OpBuilder b;
  Location loc = UnknownLoc::get(kernel.getContext());
  int32_t places = 0;
};

constexpr StringRef kPackedSlice =
    "a slice of packed elements starts at an odd index [packed-slice]";

/// `type` with elements of `bits` bits.
Type withWidth(Type type, unsigned bits) {
  Type element = IntegerType::get(type.getContext(), bits);
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? RankedTensorType::get(tensor.getShape(), element) : element;
}

} // namespace

void Inserter::verify(Operation *op, Value condition, const Twine &text, ValueRange values) {
  tile::VerifyOp::create(b, op->getLoc(), condition, places++, b.getStringAttr(text), values,
                         DenseI32ArrayAttr());
}

void Inserter::visit(Operation *op) {
  loc = op->getLoc();
  llvm::TypeSwitch<Operation *>(op)
      .Case<arith::AddIOp, arith::SubIOp, arith::MulIOp>(
          [&](auto sum) { checkArithmetic(op, sum.getOverflowFlags()); })
      .Case<arith::DivSIOp, arith::RemSIOp, arith::CeilDivSIOp, arith::FloorDivSIOp>(
          [&](auto) { checkDivision(op, /*isSigned=*/true); })
      .Case<arith::DivUIOp, arith::RemUIOp, arith::CeilDivUIOp>(
          [&](auto) { checkDivision(op, /*isSigned=*/false); })
      .Case<tile::DivOp, tile::RemOp>(
          [&](auto division) { checkDivision(op, /*isSigned=*/!division.getIsUnsigned()); })
      .Case<arith::ShLIOp, arith::ShRSIOp, arith::ShRUIOp, tile::ShlOp, tile::ShrOp>(
          [&](auto) { checkShift(op); })
      .Case([&](tile::AssertOp assertion) { checkAssert(assertion); })
      .Case([&](tile::AssumeOp assume) {
        verify(op, assume.getCondition(), "what `assume` says is not true [assume]");
      })
      .Case([&](scf::ForOp loop) { checkStep(loop); })
      .Case([&](tile::LoadOp load) {
        checkIndices(op, load.getSource(), load.getIndices());
        checkNeighbours(op, load.getResult().getType(), load.getIndices());
      })
      .Case([&](tile::StoreOp store) {
        checkIndices(op, store.getDest(), store.getIndices());
        checkNeighbours(op, store.getValue().getType(), store.getIndices());
      })
      .Case<tile::AtomicOp, tile::AtomicCasOp>(
          [&](auto atomic) { checkIndices(op, atomic.getPlace(), atomic.getIndices()); })
      .Case([&](tile::SliceOp slice) { checkSlice(slice); });
}

/// `+ - *` that the program may not let overflow. Sums: overflow gives the result a sign that
/// differs from those of both operands (of the minuend and the negated subtrahend).
void Inserter::checkArithmetic(Operation *op, arith::IntegerOverflowFlags flags) {
  Value x = op->getOperand(0), y = op->getOperand(1);
  Type type = x.getType();
  if (!arith::bitEnumContainsAny(flags, arith::IntegerOverflowFlags::nsw) ||
      !isa<IntegerType>(getElementTypeOrSelf(type)) ||
      getElementTypeOrSelf(type).getIntOrFloatBitWidth() < 8) {
    return;
  }
  Value fits;
  if (auto vec = dyn_cast<VectorType>(type)) {
    for (int64_t i = 0; i < vec.getNumElements(); ++i) {
      Value one = resultFits(op, vector::ExtractOp::create(b, loc, x, i),
                             vector::ExtractOp::create(b, loc, y, i));
      fits = fits ? Value(arith::AndIOp::create(b, loc, fits, one)) : one;
    }
  } else {
    fits = resultFits(op, x, y);
  }
  verify(op, fits, "signed integer overflow");
}

/// Whether `op` of x and y, which are its operands or elements of them, does not overflow.
Value Inserter::resultFits(Operation *op, Value x, Value y) {
  if (isa<arith::MulIOp>(op)) {
    return productFits(x, y);
  }
  bool adds = isa<arith::AddIOp>(op);
  Value sum = adds ? Value(arith::AddIOp::create(b, loc, x, y))
                   : Value(arith::SubIOp::create(b, loc, x, y));
  Value first = arith::XOrIOp::create(b, loc, x, sum);
  Value second = adds ? arith::XOrIOp::create(b, loc, y, sum) : arith::XOrIOp::create(b, loc, x, y);
  Value signs = arith::AndIOp::create(b, loc, first, second);
  return compare(arith::CmpIPredicate::sge, signs, constant(x.getType(), 0));
}

Value Inserter::productFits(Value x, Value y) {
  Type type = x.getType();
  const unsigned bits = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
  if (bits < 64) {
    Type wide = withWidth(type, 2 * bits);
    Value product = arith::MulIOp::create(b, loc, arith::ExtSIOp::create(b, loc, wide, x),
                                          arith::ExtSIOp::create(b, loc, wide, y));
    Value low = arith::TruncIOp::create(b, loc, type, product);
    return compare(arith::CmpIPredicate::eq, arith::ExtSIOp::create(b, loc, wide, low), product);
  }
  auto product = arith::MulSIExtendedOp::create(b, loc, x, y);
  Value sign = arith::ShRSIOp::create(b, loc, product.getLow(), constant(type, bits - 1));
  return compare(arith::CmpIPredicate::eq, product.getHigh(), sign);
}

void Inserter::checkDivision(Operation *op, bool isSigned) {
  Value x = op->getOperand(0), y = op->getOperand(1);
  APInt divisor;
  const bool known = matchPattern(y, m_ConstantInt(&divisor));
  if (isPerElement(op) || isa<VectorType>(x.getType())) {
    return;
  }
  if (!known || divisor.isZero()) {
    verify(op, compare(arith::CmpIPredicate::ne, y, constant(y.getType(), 0)),
           "integer division by zero");
  }
  if (isSigned && (!known || divisor.isAllOnes())) {
    const int64_t least =
        APInt::getSignedMinValue(x.getType().getIntOrFloatBitWidth()).getSExtValue();
    Value other = compare(arith::CmpIPredicate::ne, x, constant(x.getType(), least));
    Value plain = compare(arith::CmpIPredicate::ne, y, constant(y.getType(), -1));
    verify(op, arith::OrIOp::create(b, loc, other, plain), "signed integer overflow in a division");
  }
}

void Inserter::checkShift(Operation *op) {
  Value count = op->getOperand(1);
  if (isPerElement(op) || isa<VectorType>(count.getType())) {
    return;
  }
  const unsigned width = count.getType().getIntOrFloatBitWidth();
  APInt known;
  if (matchPattern(count, m_ConstantInt(&known)) && known.ult(width)) {
    return;
  }
  verify(op, compare(arith::CmpIPredicate::ult, count, constant(count.getType(), width)),
         "shift by the width of the type or more");
}

/// The record of a failure holds scalars; tiles in the text show as `[...]`, as do values that it
/// has no room for.
void Inserter::checkAssert(tile::AssertOp op) {
  std::string text = "assertion failed";
  text += op.getFormat().empty() ? "" : ": ";
  SmallVector<Value> values;
  SmallVector<int32_t> unsignedValues;
  std::optional<ArrayRef<int32_t>> unsignedArgs = op.getUnsignedValues();
  StringRef format = op.getFormat();
  for (auto [i, value] : llvm::enumerate(op.getValues())) {
    size_t at = format.find("{}");
    text += format.take_front(at);
    format = format.drop_front(at + 2);
    const bool isScalar = value.getType().isIntOrFloat();
    if (!isScalar || values.size() == tile::FailureRecord::kMaxValues) {
      text += isScalar ? "..." : "[...]";
      continue;
    }
    text += "{}";
    if (unsignedArgs && llvm::is_contained(*unsignedArgs, int32_t(i))) {
      unsignedValues.push_back(values.size());
    }
    values.push_back(value);
  }
  text += format;
  text += " [assert]";
  // An assertion over a tile holds where it holds for each element: each thread looks at its own.
  Value condition = op.getCondition();
  auto all = condition.getDefiningOp<tile::ReduceOp>();
  if (all && all.getKind() == tile::CombineKind::And && !all.getAxis() &&
      isa<RankedTensorType>(all.getInput().getType())) {
    condition = all.getInput();
  }
  tile::VerifyOp::create(b, loc, condition, places++, b.getStringAttr(text), values,
                         unsignedValues.empty() ? DenseI32ArrayAttr()
                                                : b.getDenseI32ArrayAttr(unsignedValues));
}

/// A step that is not positive is 1 from here on, so that the loop ends.
void Inserter::checkStep(scf::ForOp loop) {
  Value step = loop.getStep();
  APInt known;
  if (matchPattern(step, m_ConstantInt(&known)) && known.isStrictlyPositive()) {
    return;
  }
  const bool isUnsigned = loop.getUnsignedCmp();
  auto above = isUnsigned ? arith::CmpIPredicate::ugt : arith::CmpIPredicate::sgt;
  verify(loop, compare(above, step, constant(step.getType(), 0)),
         "the step of the loop is not positive [loop-step]");
  Value one = constant(step.getType(), 1);
  loop.getStepMutable().assign(isUnsigned ? arith::MaxUIOp::create(b, loc, step, one).getResult()
                                          : arith::MaxSIOp::create(b, loc, step, one).getResult());
}

/// Indices of what has no bounds of its own in the language: buffers, arrays and tiles.
void Inserter::checkIndices(Operation *op, Value storage, ValueRange indices) {
  if (isa<tile::GlobalType>(storage.getType())) {
    return;
  }
  int64_t neighbours = 1;
  if (auto vector = dyn_cast<VectorType>(op->getNumResults() ? op->getResult(0).getType()
                                                             : op->getOperand(0).getType())) {
    neighbours = vector.getNumElements();
  }
  for (auto [axis, index] : llvm::enumerate(indices)) {
    checkIndex(op, storage, axis, index, axis + 1 == indices.size() ? neighbours : 1);
  }
}

/// Packed elements are sliced at whole bytes.
void Inserter::checkEven(Operation *op, Value index) {
  APInt known;
  if (matchPattern(index, m_ConstantInt(&known))) {
    return; // diagnosed
  }
  Type type = index.getType();
  Value odd = arith::AndIOp::create(b, loc, index, constant(type, 1));
  verify(op, compare(arith::CmpIPredicate::eq, odd, constant(type, 0)), kPackedSlice);
}

/// Several neighbours are a slice.
void Inserter::checkNeighbours(Operation *op, Type type, ValueRange indices) {
  auto vector = dyn_cast<VectorType>(type);
  if (vector && tile::isPacked(vector.getElementType())) {
    checkEven(op, indices.back());
  }
}

void Inserter::checkSlice(tile::SliceOp op) {
  const size_t last = op.getStaticSizes().size() - 1; // there is one
  Type element = llvm::TypeSwitch<Type, Type>(op.getSource().getType())
                     .Case<tile::GlobalType, tile::BufferType, RankedTensorType>(
                         [](auto type) { return type.getElementType(); })
                     .Default([](Type type) { return type; });
  if (tile::isPacked(element) && !op.isDropped(last) && !op.isGather(last)) {
    checkEven(op, op.getOffsets()[last]);
  }
  if (isa<tile::GlobalType>(op.getSource().getType())) {
    return;
  }
  for (auto [axis, offset] : llvm::enumerate(op.getOffsets())) {
    if (!op.isGather(axis) && !op.getDynamicSize(axis)) {
      checkIndex(op, op.getSource(), axis, offset,
                 op.isDropped(axis) ? 1 : op.getStaticSizes()[axis]);
    }
  }
}

/// `count` indices from `index` on are in range.
void Inserter::checkIndex(Operation *op, Value storage, unsigned axis, Value index, int64_t count) {
  ArrayRef<int64_t> shape =
      llvm::TypeSwitch<Type, ArrayRef<int64_t>>(storage.getType())
          .Case<tile::BufferType, RankedTensorType>([](auto type) { return type.getShape(); })
          .Default([](Type) { return ArrayRef<int64_t>(); });
  APInt known;
  if (axis >= shape.size() || count > shape[axis] ||
      (matchPattern(index, m_ConstantInt(&known)) && known.ule(shape[axis] - count))) {
    return;
  }
  Type wide = b.getI64Type();
  Value at = index;
  if (index.getType().isIndex()) {
    at = arith::IndexCastOp::create(b, loc, wide, index);
  } else if (index.getType().getIntOrFloatBitWidth() < 64) {
    at = arith::ExtSIOp::create(b, loc, wide, index);
  }
  Value inside = compare(arith::CmpIPredicate::ule, at, constant(wide, shape[axis] - count));
  Value negative = compare(arith::CmpIPredicate::slt, at, constant(wide, 0));
  Value last = arith::AddIOp::create(b, loc, at, constant(wide, count - 1));
  Value wrong = arith::SelectOp::create(b, loc, negative, at, last);
  verify(op, inside,
         "index {} of `" + nameOf(storage) + "` is out of range: dimension " + Twine(axis) +
             " has extent " + Twine(shape[axis]) + " [out-of-range]",
         wrong);
}

namespace {
struct InsertChecks : tilec::impl::InsertChecksBase<InsertChecks> {
  void runOnOperation() override { Inserter(getOperation()).run(); }
};
} // namespace
