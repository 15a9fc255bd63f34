// Operators, choices and conversions.
#include "compiler/lower/Lowering.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilec;
using namespace tilec::lower;
using sema::BinaryOp;
using sema::Scalar;

//===----------------------------------------------------------------------===//
// Any expression
//===----------------------------------------------------------------------===//

Value Lowering::lowerValue(const sema::Expr &expr) {
  At at(*this, expr.range);
  Value value = lowerValueInner(expr);
  // A conversion that keeps all bits is the value that it converts, which has its own sign.
  const bool isConversion =
      expr.kind == sema::Expr::Kind::Convert || expr.kind == sema::Expr::Kind::BitcastValue;
  if (threads == 0 && !isConversion && sema::isUnsignedInteger(expr.type.elem)) {
    noteUnsigned(value);
  }
  return value;
}

/// Of host values the manifest says how they are read; operations that keep or count bits do not, so that it is noted on them.
void Lowering::noteUnsigned(Value value) {
  auto result = dyn_cast<OpResult>(value);
  if (!result ||
      !isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::AndIOp, arith::OrIOp, arith::XOrIOp,
           arith::SelectOp, scf::IfOp, math::CtPopOp, math::CountLeadingZerosOp>(
          result.getOwner())) {
    return;
  }
  if (auto flagged = dyn_cast<arith::ArithIntegerOverflowFlagsInterface>(result.getOwner());
      flagged && (flagged.hasNoSignedWrap() || flagged.hasNoUnsignedWrap())) {
    return; // it says so itself
  }
  SmallVector<int32_t> numbers;
  if (DenseI32ArrayAttr known = tile::kUnsigned.get(result.getOwner())) {
    llvm::append_range(numbers, known.asArrayRef());
  }
  const auto number = int32_t(result.getResultNumber());
  if (!llvm::is_contained(numbers, number)) {
    numbers.push_back(number);
    tile::kUnsigned.set(result.getOwner(), b.getDenseI32ArrayAttr(numbers));
  }
}

Value Lowering::lowerValueInner(const sema::Expr &expr) {
  using Kind = sema::Expr::Kind;
  switch (expr.kind) {
  case Kind::Constant:
    return constant(llvm::cast<sema::ConstantExpr>(expr));
  case Kind::Unary:
    return lowerUnary(llvm::cast<sema::UnaryExpr>(expr));
  case Kind::Binary:
    return lowerBinary(llvm::cast<sema::BinaryExpr>(expr));
  case Kind::Select:
    return lowerSelect(llvm::cast<sema::SelectExpr>(expr));
  case Kind::Broadcast:
    return lowerBroadcast(llvm::cast<sema::BroadcastExpr>(expr));
  case Kind::Convert: {
    const sema::Expr &operand = *llvm::cast<sema::ConvertExpr>(expr).operand;
    return convert(lowerValue(operand), operand.type.elem, expr.type.elem);
  }
  case Kind::BitcastValue:
    return lowerBitcast(llvm::cast<sema::BitcastValueExpr>(expr));
  case Kind::VecElement:
    return lowerVecElement(llvm::cast<sema::VecElementExpr>(expr));
  case Kind::Math:
    return lowerMath(llvm::cast<sema::MathExpr>(expr));
  case Kind::Call:
  case Kind::Block:
  case Kind::ReduceFn:
  case Kind::ScanFn:
    return lowerResults(expr).front();
  case Kind::Reduce:
    return lowerReduce(llvm::cast<sema::ReduceExpr>(expr));
  case Kind::Scan:
    return lowerScan(llvm::cast<sema::ScanExpr>(expr));
  case Kind::Transpose:
    return lowerTranspose(llvm::cast<sema::TransposeExpr>(expr));
  case Kind::Atomic:
    return lowerAtomic(llvm::cast<sema::AtomicExpr>(expr));
  case Kind::Warp:
    return lowerWarp(llvm::cast<sema::WarpExpr>(expr));
  case Kind::Stride: {
    const auto &stride = llvm::cast<sema::StrideExpr>(expr);
    return tile::StrideOp::create(b, b.getI64Type(), values.lookup(stride.tensor), stride.axis);
  }
  case Kind::SmCount:
    return tile::SmCountOp::create(b, b.getI32Type());
  case Kind::Present:
    return tile::PresentOp::create(b, b.getI1Type(),
                                   values.lookup(llvm::cast<sema::PresentExpr>(expr).tensor));
  case Kind::ExtentOf:
    return lowerExtentOf(llvm::cast<sema::ExtentOfExpr>(expr));
  case Kind::Element: {
    const auto &element = llvm::cast<sema::ElementExpr>(expr);
    return load(lowerAccess(*element.base, element.indices, expr.type), expr.type);
  }
  case Kind::VecAccess: {
    const auto &access = llvm::cast<sema::VecAccessExpr>(expr);
    return load(lowerAccess(*access.base, access.indices, expr.type), expr.type);
  }
  case Kind::Ref: {
    const auto &ref = llvm::cast<sema::RefExpr>(expr);
    if (ref.decl->kind == sema::Decl::Kind::Var) {
      return readVariable({ref.decl, kVariable});
    }
    return readPlace(lowerPlaceRef(ref));
  }
  case Kind::Slice:
  case Kind::Origin:
  case Kind::Reshape:
  case Kind::BitcastView:
    return readPlace(lowerPlace(expr));
  }
  llvm_unreachable("no such expression");
}

Values Lowering::lowerResults(const sema::Expr &expr) {
  At at(*this, expr.range);
  switch (expr.kind) {
  case sema::Expr::Kind::Call:
    return lowerCall(llvm::cast<sema::CallExpr>(expr));
  case sema::Expr::Kind::Block:
    return lowerBlockExpr(llvm::cast<sema::BlockExpr>(expr));
  case sema::Expr::Kind::ReduceFn:
    return lowerReduceFn(llvm::cast<sema::ReduceFnExpr>(expr));
  case sema::Expr::Kind::ScanFn:
    return lowerScanFn(llvm::cast<sema::ScanFnExpr>(expr));
  default:
    return {lowerValueInner(expr)};
  }
}

Values Lowering::lowerBlockExpr(const sema::BlockExpr &expr) {
  llvm::SaveAndRestore savedCall(callSite, std::optional<Location>(b.getLoc()));
  lowerBlock(expr.body);
  Values results;
  for (const sema::Expr *result : expr.results) {
    results.push_back(lowerValue(*result));
  }
  return results;
}

Value Lowering::lowerBroadcast(const sema::BroadcastExpr &expr) {
  Value input = lowerValue(*expr.operand);
  Type type = valueType(expr.type);
  if (!isa<RankedTensorType>(input.getType())) {
    return splat(input, type);
  }
  if (input.getType() == type) {
    return input; // all its new dimensions are open
  }
  SmallVector<int64_t> axes;
  int64_t axis = 0;
  for (auto [from, to] : llvm::zip_equal(expr.operand->type.shape, expr.type.shape)) {
    if (to == sema::kOpen) {
      continue;
    }
    if (from == sema::kOpen) {
      axes.push_back(axis);
    }
    ++axis;
  }
  return tile::BroadcastOp::create(b, type, input, axes);
}

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

/// Marks what must not overflow: signed arithmetic, in the host part unsigned too (TileDialect.td).
/// Not where threads compute what may go unused; the host computes what a call needs (docs/pack.md).
arith::IntegerOverflowFlags Lowering::overflow(Scalar elem) const {
  if (speculating && threads != 0) {
    return arith::IntegerOverflowFlags::none;
  }
  if (sema::isSignedInteger(elem)) {
    return arith::IntegerOverflowFlags::nsw;
  }
  return threads == 0 ? arith::IntegerOverflowFlags::nuw : arith::IntegerOverflowFlags::none;
}

arith::FastMathFlags Lowering::approximate() const {
  return fastMath ? contract() | arith::FastMathFlags::afn : arith::FastMathFlags::none;
}

Value Lowering::lowerUnary(const sema::UnaryExpr &expr) {
  Value x = lowerValue(*expr.operand);
  Scalar elem = expr.operand->type.elem;
  switch (expr.op) {
  case sema::UnaryOp::Neg:
    if (sema::isFloat(elem)) {
      return arith::NegFOp::create(b, x);
    }
    return arith::SubIOp::create(b, constantLike(x.getType(), 0), x, overflow(elem));
  case sema::UnaryOp::Not:
  case sema::UnaryOp::BitNot:
    return arith::XOrIOp::create(b, x, constantLike(x.getType(), -1));
  }
  llvm_unreachable("no such operator");
}

Value Lowering::lowerBinary(const sema::BinaryExpr &expr) {
  if (expr.op == BinaryOp::LogicalAnd || expr.op == BinaryOp::LogicalOr) {
    return lowerLogical(expr);
  }
  Value lhs = lowerValue(*expr.lhs);
  Value rhs = lowerValue(*expr.rhs);
  Scalar elem = expr.lhs->type.elem;
  switch (expr.op) {
  case BinaryOp::Eq:
  case BinaryOp::Ne:
  case BinaryOp::Lt:
  case BinaryOp::Le:
  case BinaryOp::Gt:
  case BinaryOp::Ge:
    return comparison(expr.op, lhs, rhs, elem);
  default:
    return arithmetic(expr.op, lhs, rhs, elem, expr.rhs->type.elem);
  }
}

static Value floatArithmetic(ImplicitLocOpBuilder &b, BinaryOp op, Value lhs, Value rhs,
                             arith::FastMathFlags contract, arith::FastMathFlags approximate) {
  switch (op) {
  case BinaryOp::Add:
    return arith::AddFOp::create(b, lhs, rhs, contract);
  case BinaryOp::Sub:
    return arith::SubFOp::create(b, lhs, rhs, contract);
  case BinaryOp::Mul:
    return arith::MulFOp::create(b, lhs, rhs, contract);
  case BinaryOp::Div:
    return arith::DivFOp::create(b, lhs, rhs, approximate);
  default:
    llvm_unreachable("no such operator on floats");
  }
}

Value Lowering::arithmetic(BinaryOp op, Value lhs, Value rhs, Scalar elem, Scalar countElem) {
  if (sema::isFloat(elem)) {
    bool isF32 = elem == Scalar::F32;
    return floatArithmetic(b, op, lhs, rhs, contract(),
                           isF32 ? approximate() : arith::FastMathFlags::none);
  }
  bool isUnsigned = !sema::isSignedInteger(elem);
  switch (op) {
  case BinaryOp::Add:
    return arith::AddIOp::create(b, lhs, rhs, overflow(elem));
  case BinaryOp::Sub:
    return arith::SubIOp::create(b, lhs, rhs, overflow(elem));
  case BinaryOp::Mul:
    return arith::MulIOp::create(b, lhs, rhs, overflow(elem));
  case BinaryOp::Div:
    return tile::createDiv(b, b.getLoc(), lhs, rhs, tile::Rounding::Zero, isUnsigned);
  case BinaryOp::Rem:
    return tile::createRem(b, b.getLoc(), lhs, rhs, tile::Rounding::Zero, isUnsigned);
  case BinaryOp::And:
    return arith::AndIOp::create(b, lhs, rhs);
  case BinaryOp::Or:
    return arith::OrIOp::create(b, lhs, rhs);
  case BinaryOp::Xor:
    return arith::XOrIOp::create(b, lhs, rhs);
  case BinaryOp::Shl:
  case BinaryOp::Shr:
    return shift(op == BinaryOp::Shl, lhs, shiftCount(rhs, countElem, lhs.getType()), elem);
  default:
    llvm_unreachable("no such operator on integers");
  }
}

Value Lowering::shift(bool left, Value x, Value count, Scalar elem) {
  bool isUnsigned = !sema::isSignedInteger(elem);
  if (!left) {
    return tile::createShr(b, b.getLoc(), x, count, isUnsigned);
  }
  if (tile::isSafeShift(count)) {
    auto flags = threads == 0 ? overflow(elem) : arith::IntegerOverflowFlags::none;
    return arith::ShLIOp::create(b, x, count, flags);
  }
  return tile::ShlOp::create(b, x, count, isUnsigned);
}

/// A count in the type of what is shifted. One that does not fit it is the width: too many, as it
/// was.
Value Lowering::shiftCount(Value count, Scalar from, Type type) {
  unsigned width = sema::scalarBits(from);
  unsigned wanted = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
  if (width > wanted) {
    Value most = constantLike(count.getType(), wanted);
    count = b.createOrFold<arith::MinUIOp>(count, most);
  }
  return resizeInteger(count, from, type);
}

/// Comparisons with NaN are false, `!=` is true.
Value Lowering::comparison(BinaryOp op, Value lhs, Value rhs, Scalar elem) {
  using F = arith::CmpFPredicate;
  using I = arith::CmpIPredicate;
  bool isUnsigned = !sema::isSignedInteger(elem);
  struct Predicates {
    F ofFloats;
    I ofSigned, ofUnsigned;
  };
  auto predicates = [&]() -> Predicates {
    switch (op) {
    case BinaryOp::Eq:
      return {F::OEQ, I::eq, I::eq};
    case BinaryOp::Ne:
      return {F::UNE, I::ne, I::ne};
    case BinaryOp::Lt:
      return {F::OLT, I::slt, I::ult};
    case BinaryOp::Le:
      return {F::OLE, I::sle, I::ule};
    case BinaryOp::Gt:
      return {F::OGT, I::sgt, I::ugt};
    case BinaryOp::Ge:
      return {F::OGE, I::sge, I::uge};
    default:
      llvm_unreachable("not a comparison");
    }
  }();
  if (sema::isFloat(elem)) {
    return arith::CmpFOp::create(b, predicates.ofFloats, lhs, rhs);
  }
  return arith::CmpIOp::create(b, isUnsigned ? predicates.ofUnsigned : predicates.ofSigned, lhs,
                               rhs);
}

/// Scalars evaluate the right side only if they need it, or if that makes no difference.
Value Lowering::lowerLogical(const sema::BinaryExpr &expr) {
  bool isAnd = expr.op == BinaryOp::LogicalAnd;
  Value lhs = lowerValue(*expr.lhs);
  if (expr.type.isScalar() && !isSpeculatable(*expr.rhs)) {
    auto rhs = [&] { return Values{lowerValue(*expr.rhs)}; };
    auto known = [&] { return Values{boolConstant(!isAnd)}; };
    return isAnd ? emitChoice(lhs, b.getI1Type(), rhs, known)[0]
                 : emitChoice(lhs, b.getI1Type(), known, rhs)[0];
  }
  Value rhs = lowerSpeculated(*expr.rhs);
  return isAnd ? arith::AndIOp::create(b, lhs, rhs).getResult()
               : arith::OrIOp::create(b, lhs, rhs).getResult();
}

Value Lowering::lowerSelect(const sema::SelectExpr &expr) {
  Value condition = lowerValue(*expr.cond);
  bool isScalarChoice = expr.cond->type.isScalar();
  if (isScalarChoice && !(isSpeculatable(*expr.ifTrue) && isSpeculatable(*expr.ifFalse))) {
    return emitChoice(
        condition, valueType(expr.type), [&] { return Values{lowerValue(*expr.ifTrue)}; },
        [&] { return Values{lowerValue(*expr.ifFalse)}; })[0];
  }
  Value ifTrue = lowerSpeculated(*expr.ifTrue);
  Value ifFalse = lowerSpeculated(*expr.ifFalse);
  return arith::SelectOp::create(b, condition, ifTrue, ifFalse);
}

//===----------------------------------------------------------------------===//
// Speculation
//===----------------------------------------------------------------------===//

Value Lowering::lowerSpeculated(const sema::Expr &expr) {
  llvm::SaveAndRestore saved(speculating, true);
  return lowerValue(expr);
}

/// A constant that may divide any number without overflow.
static bool isSafeDivisor(const sema::Expr &expr) {
  const sema::Expr *operand = &expr;
  if (auto *broadcast = llvm::dyn_cast<sema::BroadcastExpr>(operand)) {
    operand = broadcast->operand;
  }
  auto *constant = llvm::dyn_cast<sema::ConstantExpr>(operand);
  return constant && constant->intValue != 0 && constant->intValue != -1;
}

bool Lowering::isSpeculatableBinary(const sema::BinaryExpr &expr) {
  bool divides = expr.op == BinaryOp::Div || expr.op == BinaryOp::Rem;
  if (divides && !sema::isFloat(expr.type.elem)) {
    return isSafeDivisor(*expr.rhs) && isSpeculatable(*expr.lhs);
  }
  if (expr.op == BinaryOp::Shl || expr.op == BinaryOp::Shr) {
    return llvm::isa<sema::ConstantExpr>(expr.rhs) && isSpeculatable(*expr.lhs);
  }
  return isSpeculatable(*expr.lhs) && isSpeculatable(*expr.rhs);
}

/// Elements of tiles whose subscripts are certainly in range.
bool Lowering::isSpeculatableElement(const sema::ElementExpr &expr) {
  sema::Space space = expr.base->space;
  bool isTile = space == sema::Space::Value || space == sema::Space::Shared ||
                space == sema::Space::Fragment || space == sema::Space::ConstArray;
  if (!isTile || !llvm::isa<sema::RefExpr>(expr.base)) {
    return false;
  }
  for (auto [index, extent] : llvm::zip_equal(expr.indices, expr.base->type.shape)) {
    int64_t limit = INT64_MAX; // indices are below
    if (auto *constant = llvm::dyn_cast<sema::ConstantExpr>(index)) {
      limit = constant->intValue >= 0 ? constant->intValue + 1 : INT64_MAX;
    } else if (auto *ref = llvm::dyn_cast<sema::RefExpr>(index)) {
      auto known = parallelExtents.find(ref->decl);
      limit = known != parallelExtents.end() ? known->second : INT64_MAX;
    }
    if (limit > extent) {
      return false;
    }
  }
  return true;
}

bool Lowering::isSpeculatable(const sema::Expr &expr) {
  using Kind = sema::Expr::Kind;
  auto all = [&](ArrayRef<const sema::Expr *> list) {
    return llvm::all_of(list, [&](const sema::Expr *e) { return isSpeculatable(*e); });
  };
  switch (expr.kind) {
  case Kind::Constant:
  case Kind::Ref:
  case Kind::Stride:
  case Kind::SmCount:
  case Kind::Present:
  case Kind::ExtentOf:
    return true;
  case Kind::Unary:
    return isSpeculatable(*llvm::cast<sema::UnaryExpr>(expr).operand);
  case Kind::Binary:
    return isSpeculatableBinary(llvm::cast<sema::BinaryExpr>(expr));
  case Kind::Select: {
    const auto &select = llvm::cast<sema::SelectExpr>(expr);
    return all({select.cond, select.ifTrue, select.ifFalse});
  }
  case Kind::Broadcast:
    return isSpeculatable(*llvm::cast<sema::BroadcastExpr>(expr).operand);
  case Kind::Convert:
    return isSpeculatable(*llvm::cast<sema::ConvertExpr>(expr).operand);
  case Kind::BitcastValue:
    return isSpeculatable(*llvm::cast<sema::BitcastValueExpr>(expr).operand);
  case Kind::Math: {
    const auto &math = llvm::cast<sema::MathExpr>(expr);
    bool divides = math.fn == sema::MathFn::CeilDiv || math.fn == sema::MathFn::FloorDiv ||
                   math.fn == sema::MathFn::FloorMod;
    return all(math.args) && (!divides || isSafeDivisor(*math.args[1]));
  }
  case Kind::Element:
    return isSpeculatableElement(llvm::cast<sema::ElementExpr>(expr));
  default:
    return false;
  }
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

/// `like` with another element type.
static Type withElement(Type like, Type element) {
  if (auto shaped = dyn_cast<ShapedType>(like)) {
    return shaped.clone(element);
  }
  return element;
}

Value Lowering::resizeInteger(Value value, Scalar from, Type type) {
  unsigned width = getElementTypeOrSelf(value.getType()).getIntOrFloatBitWidth();
  unsigned wanted = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
  if (width == wanted) {
    return value;
  }
  if (width > wanted) {
    return b.createOrFold<arith::TruncIOp>(type, value);
  }
  return sema::isSignedInteger(from) ? b.createOrFold<arith::ExtSIOp>(type, value)
                                     : b.createOrFold<arith::ExtUIOp>(type, value);
}

/// Integers of different width by `arith`, everything else by `tile.convert`.
Value Lowering::convert(Value value, Scalar from, Scalar to) {
  Type type = withElement(value.getType(), elementType(to));
  bool fromInteger = sema::isInteger(from) || from == Scalar::Bool;
  if (from == to || (fromInteger && sema::isInteger(to) && type == value.getType())) {
    return value;
  }
  if (fromInteger && sema::isInteger(to)) {
    return resizeInteger(value, from, type);
  }
  auto isUnsigned = [](Scalar s) {
    return sema::isUnsignedInteger(s) || s == Scalar::U4 || s == Scalar::Bool;
  };
  return tile::ConvertOp::create(b, type, value, isUnsigned(from), isUnsigned(to));
}

Value Lowering::lowerBitcast(const sema::BitcastValueExpr &expr) {
  Value value = lowerValue(*expr.operand);
  Type type = valueType(expr.type);
  if (value.getType() == type) {
    return value;
  }
  if (expr.operand->type.elem == Scalar::Bool) { // a byte in memory, a bit as a value
    return arith::ExtUIOp::create(b, type, value);
  }
  if (expr.type.elem == Scalar::Bool) {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::ne, value,
                                 constantLike(value.getType(), 0));
  }
  if (isa<VectorType>(type) && isa<VectorType>(value.getType())) {
    return vector::BitCastOp::create(b, type, value);
  }
  return arith::BitcastOp::create(b, type, value);
}

/// Element `index` of a `vec`; of a variable in memory only that element is read.
Value Lowering::lowerVecElement(const sema::VecElementExpr &expr) {
  auto *ref = llvm::dyn_cast<sema::RefExpr>(expr.vec);
  if (ref && ref->decl->kind == sema::Decl::Kind::Var && !isSsa({ref->decl, kVariable})) {
    Value index = lowerIndex(*expr.index);
    return tile::LoadOp::create(b, valueType(expr.type), variables.lookup({ref->decl, kVariable}),
                                index);
  }
  Value vec = lowerValue(*expr.vec);
  if (auto *constant = llvm::dyn_cast<sema::ConstantExpr>(expr.index)) {
    return vector::ExtractOp::create(b, vec, constant->intValue);
  }
  Value index = lowerIndex(*expr.index);
  Value position = arith::IndexCastOp::create(b, b.getIndexType(), index);
  return vector::ExtractOp::create(b, vec, OpFoldResult(position));
}
