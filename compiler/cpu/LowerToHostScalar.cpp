//===- LowerToHostScalar.cpp - arithmetic, element by element -------------===//
//
// f32 and f64 are the host's; narrow floats are computed in f64 and rounded once. Functions are
// computed in f64 and rounded to f32 first for the narrow ones, as docs/language.md section 13
// says.
//
//===----------------------------------------------------------------------===//
#include "compiler/cpu/HostCodegen.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/IR/Intrinsics.h"

namespace tilec::cpu {

using namespace mlir;

static uint64_t bitsOf(const APFloat &value) { return value.bitcastToAPInt().getZExtValue(); }
static uint64_t bitsOf(const APInt &value) { return value.getZExtValue(); }

LogicalResult HostCodegen::emitConstant(Operation *op, Attribute attribute) {
  mlir::Value result = op->getResult(0);
  if (auto number = dyn_cast<FloatAttr>(attribute)) {
    set(result, scalarOf(result.getType(), bitsOf(number.getValue())));
    return success();
  }
  if (auto integer = dyn_cast<IntegerAttr>(attribute)) {
    set(result, scalarOf(result.getType(), bitsOf(integer.getValue())));
    return success();
  }
  auto elements = dyn_cast<DenseElementsAttr>(attribute);
  if (!elements) {
    return op->emitOpError("has a value that the cpu target does not know");
  }
  Type element = elements.getElementType();
  SmallVector<llvm::Constant *> constants;
  auto add = [&](uint64_t bits) {
    HostValue value = scalarOf(element, bits);
    constants.push_back(element.isInteger(1) ? cast<llvm::Constant>(b.getInt8(bits & 1))
                                             : cast<llvm::Constant>(value));
  };
  if (isa<FloatType>(element)) {
    for (const APFloat &value : elements.getValues<APFloat>()) {
      add(bitsOf(value));
    }
  } else {
    for (const APInt &value : elements.getValues<APInt>()) {
      add(bitsOf(value));
    }
  }
  auto *type = llvm::ArrayType::get(memoryType(element), constants.size());
  set(result, new llvm::GlobalVariable(module, type, /*isConstant=*/true,
                                       llvm::GlobalValue::InternalLinkage,
                                       llvm::ConstantArray::get(type, constants), "constants"));
  return success();
}

/// An operation on scalars, or the same on each element of tiles; scalars among tiles serve every
/// element.
LogicalResult HostCodegen::emitElementwise(Operation *op) {
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    return emitConstant(op, constant.getValue());
  }
  SmallVector<HostValue> in;
  SmallVector<HostValue> out;
  for (mlir::Value operand : op->getOperands()) {
    in.push_back(get(operand));
  }
  if (!isTile(op->getResult(0).getType())) {
    if (failed(emitScalar(op, in, out))) {
      return failure();
    }
    for (auto [result, value] : llvm::zip_equal(op->getResults(), out)) {
      set(result, value);
    }
    return success();
  }
  SmallVector<HostValue> results;
  for (mlir::Value result : op->getResults()) {
    results.push_back(newTile(result.getType()));
    set(result, results.back());
  }
  LogicalResult status = success();
  int64_t count = ShapedType::getNumElements(shapeOf(op->getResult(0).getType()));
  loop(word(0), word(count), word(1), [&](HostValue i) {
    SmallVector<HostValue> elements;
    for (auto [operand, value] : llvm::zip_equal(op->getOperands(), in)) {
      Type type = operand.getType();
      elements.push_back(isTile(type) ? loadTile(elementTypeOf(type), value, i) : value);
    }
    status = emitScalar(op, elements, out);
    if (succeeded(status)) {
      for (auto [result, base, value] : llvm::zip_equal(op->getResults(), results, out)) {
        storeTile(elementTypeOf(result.getType()), base, i, value);
      }
    }
  });
  return status;
}

LogicalResult HostCodegen::emitScalar(Operation *op, ArrayRef<HostValue> in,
                                      SmallVectorImpl<HostValue> &out) {
  out.clear();
  if (auto conversion = dyn_cast<tile::ConvertOp>(op)) {
    Type from = elementTypeOf(conversion.getInput().getType());
    Type to = elementTypeOf(conversion.getType());
    std::optional<DType> fromType = dtypeOf(from, conversion.getSrcUnsigned());
    std::optional<DType> toType = dtypeOf(to, conversion.getDstUnsigned());
    if (!fromType || !toType || *toType == DType::E8M0) {
      return op->emitOpError("has no conversion from ") << from << " to " << to;
    }
    if (isa<FloatType>(from) && isa<FloatType>(to)) {
      out.push_back(narrow(to, widen(from, in[0])));
      return success();
    }
    HostValue bits = call("tile_host_convert", i64,
                          {word((int64_t)*fromType), word((int64_t)*toType), toBits(in[0])},
                          /*pure=*/true);
    out.push_back(fromBits(to, bits));
    return success();
  }
  if (isa<arith::MulSIExtendedOp, arith::MulUIExtendedOp>(op)) {
    bool isUnsigned = isa<arith::MulUIExtendedOp>(op);
    unsigned width = in[0]->getType()->getIntegerBitWidth();
    llvm::Type *wide = b.getIntNTy(2 * width);
    auto extend = [&](HostValue x) {
      return isUnsigned ? b.CreateZExt(x, wide) : b.CreateSExt(x, wide);
    };
    HostValue product = b.CreateMul(extend(in[0]), extend(in[1]));
    out.push_back(b.CreateTrunc(product, in[0]->getType()));
    out.push_back(b.CreateTrunc(b.CreateLShr(product, width), in[0]->getType()));
    return success();
  }
  HostValue value = emitDivisionOrShift(op, in);
  value = value ? value : emitInteger(op, in);
  value = value ? value : emitFloat(op, in);
  value = value ? value : emitMath(op, in);
  if (!value) {
    return op->emitOpError("is not supported by the cpu target");
  }
  out.push_back(value);
  return success();
}

//===----------------------------------------------------------------------===//
// Floats
//===----------------------------------------------------------------------===//

HostValue HostCodegen::emitCompare(arith::CmpFPredicate predicate, HostValue a, HostValue b2) {
  // The predicates of arith are those of LLVM, one by one.
  static constexpr llvm::CmpInst::Predicate table[] = {
      llvm::CmpInst::FCMP_FALSE, llvm::CmpInst::FCMP_OEQ, llvm::CmpInst::FCMP_OGT,
      llvm::CmpInst::FCMP_OGE,   llvm::CmpInst::FCMP_OLT, llvm::CmpInst::FCMP_OLE,
      llvm::CmpInst::FCMP_ONE,   llvm::CmpInst::FCMP_ORD, llvm::CmpInst::FCMP_UEQ,
      llvm::CmpInst::FCMP_UGT,   llvm::CmpInst::FCMP_UGE, llvm::CmpInst::FCMP_ULT,
      llvm::CmpInst::FCMP_ULE,   llvm::CmpInst::FCMP_UNE, llvm::CmpInst::FCMP_UNO,
      llvm::CmpInst::FCMP_TRUE};
  return b.CreateFCmp(table[(unsigned)predicate], a, b2);
}

/// Arithmetic, comparisons and conversions of floats; null if `op` is none.
HostValue HostCodegen::emitFloat(Operation *op, ArrayRef<HostValue> in) {
  Type source = elementTypeOf(op->getOperand(0).getType());
  Type result = elementTypeOf(op->getResult(0).getType());
  auto operand = [&](unsigned i) { return widen(source, in[i]); };
  // The larger of two, or the smaller; `propagate`: NaN if either is, else the one that is a
  // number.
  auto extreme = [&](bool larger, bool propagate) {
    HostValue x = operand(0), y = operand(1);
    HostValue take = larger ? b.CreateFCmpOGT(x, y) : b.CreateFCmpOLT(x, y);
    HostValue ordered = b.CreateSelect(take, x, y);
    HostValue xNan = b.CreateFCmpUNO(x, x), yNan = b.CreateFCmpUNO(y, y);
    HostValue value = propagate ? b.CreateSelect(xNan, x, b.CreateSelect(yNan, y, ordered))
                                : b.CreateSelect(xNan, y, b.CreateSelect(yNan, x, ordered));
    return narrow(result, value);
  };
  return llvm::TypeSwitch<Operation *, HostValue>(op)
      .Case<arith::AddFOp>(
          [&](auto) { return narrow(result, b.CreateFAdd(operand(0), operand(1))); })
      .Case<arith::SubFOp>(
          [&](auto) { return narrow(result, b.CreateFSub(operand(0), operand(1))); })
      .Case<arith::MulFOp>(
          [&](auto) { return narrow(result, b.CreateFMul(operand(0), operand(1))); })
      .Case<arith::DivFOp>(
          [&](auto) { return narrow(result, b.CreateFDiv(operand(0), operand(1))); })
      .Case<arith::RemFOp>([&](auto) {
        return narrow(result, call("tile_host_fmod", f64,
                                   {decodeTo(source, in[0], f64), decodeTo(source, in[1], f64)},
                                   /*pure=*/true));
      })
      .Case<arith::NegFOp>([&](auto) { return narrow(result, b.CreateFNeg(operand(0))); })
      .Case<arith::MaxNumFOp>([&](auto) { return extreme(true, false); })
      .Case<arith::MinNumFOp>([&](auto) { return extreme(false, false); })
      .Case<arith::MaximumFOp>([&](auto) { return extreme(true, true); })
      .Case<arith::MinimumFOp>([&](auto) { return extreme(false, true); })
      .Case<arith::CmpFOp>(
          [&](auto compare) { return emitCompare(compare.getPredicate(), operand(0), operand(1)); })
      .Case<arith::ExtFOp, arith::TruncFOp>([&](auto) { return narrow(result, operand(0)); })
      .Case<arith::SIToFPOp, arith::UIToFPOp, arith::FPToSIOp, arith::FPToUIOp>([&](auto) {
        bool isUnsigned = isa<arith::UIToFPOp, arith::FPToUIOp>(op);
        HostValue bits = call("tile_host_convert", i64,
                              {word((int64_t)*dtypeOf(source)), word(isUnsigned),
                               word((int64_t)*dtypeOf(result)), word(isUnsigned), toBits(in[0])},
                              /*pure=*/true);
        return fromBits(result, bits);
      })
      .Default([](Operation *) { return nullptr; });
}

/// Functions of floats, computed in f64; null if `op` is none that is known.
HostValue HostCodegen::emitMath(Operation *op, ArrayRef<HostValue> in) {
  Type source = elementTypeOf(op->getOperand(0).getType());
  Type result = elementTypeOf(op->getResult(0).getType());
  if (!isa<FloatType>(source)) {
    return nullptr;
  }
  SmallVector<HostValue> wide;
  for (auto [operand, value] : llvm::zip_equal(op->getOperands(), in)) {
    Type type = elementTypeOf(operand.getType());
    if (!isa<FloatType>(type)) {
      return nullptr;
    }
    wide.push_back(decodeTo(type, value, f64));
  }
  auto infinity = [&] { return llvm::ConstantFP::getInfinity(f64); };
  auto magnitude = [&] { return b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, wide[0]); };
  if (isa<math::IsNaNOp>(op)) {
    return b.CreateFCmpUNO(wide[0], wide[0]);
  }
  if (isa<math::IsInfOp>(op)) {
    return b.CreateFCmpOEQ(magnitude(), infinity());
  }
  if (isa<math::IsFiniteOp>(op)) {
    return b.CreateFCmpOLT(magnitude(), infinity());
  }
  if (isa<math::AbsFOp>(op)) {
    return narrow(result, magnitude());
  }
  if (isa<math::FmaOp>(op) && result.isF32()) {
    return b.CreateIntrinsic(llvm::Intrinsic::fma, {f32}, {in[0], in[1], in[2]});
  }
  if (isa<math::ClampFOp>(op)) {
    HostValue low = b.CreateSelect(b.CreateFCmpOLT(wide[0], wide[1]), wide[1], wide[0]);
    return narrow(result, b.CreateSelect(b.CreateFCmpOGT(low, wide[2]), wide[2], low));
  }
  llvm::StringRef name =
      llvm::StringSwitch<llvm::StringRef>(op->getName().stripDialect())
          .Case("powf", "pow")
          .Cases({"exp",   "exp2",  "expm1", "log",       "log2",  "log10",    "log1p", "sqrt",
                  "rsqrt", "sin",   "cos",   "tan",       "tanh",  "atan",     "erf",   "floor",
                  "ceil",  "trunc", "round", "roundeven", "atan2", "copysign", "fma"},
                 op->getName().stripDialect())
          .Default("");
  if (name.empty()) {
    return nullptr;
  }
  HostValue value = call("tile_host_" + name.str(), f64, wide, /*pure=*/true);
  bool exact = name == "sqrt" || name == "fma" || result.isF64();
  return narrow(result, exact ? value : b.CreateFPCast(value, f32));
}

} // namespace tilec::cpu
