//===- Convert.cpp - T(x) of the language (docs/language.md section 4) ---===//
//
// Float to float rounds to nearest even; 8-bit floats saturate. Float to integer truncates,
// saturates, NaN gives 0. Pairs of slots go through the packed instructions.
//
//===----------------------------------------------------------------------===//
#include "passes/llvm/KernelLowering.h"

using namespace mlir;

namespace tilec::lowering {

static bool isFp8(Type type) { return isa<Float8E4M3FNType, Float8E5M2Type>(type); }

static Value index(OpBuilder &b, Location loc, int64_t i) {
  return LLVM::ConstantOp::create(b, loc, b.getI32IntegerAttr(i));
}

Fragment KernelLowering::truncatePairs(ArrayRef<Value> values, Type to) {
  Fragment result;
  size_t i = 0;
  Type from = values[0].getType();
  for (; from.isF32() && i + 1 < values.size(); i += 2) {
    Value pair = LLVM::UndefOp::create(b, loc, VectorType::get({2}, from));
    pair = LLVM::InsertElementOp::create(b, loc, pair, values[i], index(b, loc, 0));
    pair = LLVM::InsertElementOp::create(b, loc, pair, values[i + 1], index(b, loc, 1));
    pair = LLVM::FPTruncOp::create(b, loc, VectorType::get({2}, to), pair);
    result.push_back(LLVM::ExtractElementOp::create(b, loc, pair, index(b, loc, 0)));
    result.push_back(LLVM::ExtractElementOp::create(b, loc, pair, index(b, loc, 1)));
  }
  for (; i < values.size(); ++i) {
    result.push_back(arith::TruncFOp::create(b, loc, to, values[i]));
  }
  return result;
}

Fragment KernelLowering::floatToFp8(ArrayRef<Value> values, Type to) {
  Fragment result;
  auto bytes = VectorType::get({2}, b.getI8Type());
  for (size_t i = 0; i < values.size(); i += 2) {
    Value low = values[i], high = values[std::min(i + 1, values.size() - 1)];
    // The first operand becomes the high half.
    Value pair = NVVM::ConvertF32x2ToF8x2Op::create(
        b, loc, b.getI16Type(), high, low, NVVM::FPRoundingMode::RN,
        NVVM::SaturationMode::SATFINITE, /*relu=*/false, to);
    Value vector = LLVM::BitcastOp::create(b, loc, bytes, pair);
    for (size_t j = 0; j < 2 && i + j < values.size(); ++j) {
      result.push_back(LLVM::ExtractElementOp::create(b, loc, vector, index(b, loc, j)));
    }
  }
  return result;
}

Fragment KernelLowering::fp8ToHalf(ArrayRef<Value> values, Type from) {
  Fragment result;
  auto bytes = VectorType::get({2}, b.getI8Type());
  for (size_t i = 0; i < values.size(); i += 2) {
    Value vector = LLVM::UndefOp::create(b, loc, bytes);
    for (size_t j = 0; j < 2; ++j) {
      Value value = values[std::min(i + j, values.size() - 1)];
      vector = LLVM::InsertElementOp::create(b, loc, vector, value, index(b, loc, j));
    }
    Value pair = NVVM::ConvertF8x2ToF16x2Op::create(b, loc, VectorType::get({2}, b.getF16Type()),
                                                    vector, /*relu=*/false, from);
    for (size_t j = 0; j < 2 && i + j < values.size(); ++j) {
      result.push_back(LLVM::ExtractElementOp::create(b, loc, pair, index(b, loc, j)));
    }
  }
  return result;
}

Value KernelLowering::floatToInteger(Value value, Type to, bool isUnsigned) {
  StringRef name = isUnsigned ? "llvm.fptoui.sat" : "llvm.fptosi.sat";
  return LLVM::CallIntrinsicOp::create(b, loc, to, b.getStringAttr(name), ValueRange{value})
      .getResult(0);
}

FailureOr<Fragment> KernelLowering::convertAll(Operation *op, ArrayRef<Value> values, Type from,
                                               Type to, bool srcUnsigned, bool dstUnsigned) {
  if (from == to || values.empty()) {
    return Fragment(values);
  }
  if (isFp8(from) || isFp8(to)) {
    if (arch < 89) {
      return unsupported(op, "conversions of 8-bit floats on this target");
    }
    if (isFp8(from)) {
      Fragment halves = fp8ToHalf(values, from);
      return convertAll(op, halves, b.getF16Type(), to, srcUnsigned, dstUnsigned);
    }
    FailureOr<Fragment> floats =
        convertAll(op, values, from, b.getF32Type(), srcUnsigned, dstUnsigned);
    return failed(floats) ? floats : FailureOr<Fragment>(floatToFp8(*floats, to));
  }
  auto known = [](Type type) {
    return type.isF16() || type.isBF16() || type.isF32() || type.isF64() || type.isInteger();
  };
  if (!known(from) || !known(to) || from.isInteger(4) || to.isInteger(4)) {
    return unsupported(op, "a conversion between these types");
  }
  if (isa<FloatType>(from) && isa<FloatType>(to)) {
    const unsigned fromBits = from.getIntOrFloatBitWidth(), toBits = to.getIntOrFloatBitWidth();
    if (fromBits == toBits) { // f16 and bf16
      FailureOr<Fragment> wide = convertAll(op, values, from, b.getF32Type(), false, false);
      return failed(wide) ? wide : FailureOr<Fragment>(truncatePairs(*wide, to));
    }
    if (fromBits > toBits) {
      return truncatePairs(values, to);
    }
  }
  Fragment result;
  for (Value value : values) {
    if (isa<FloatType>(from) && isa<FloatType>(to)) {
      result.push_back(b.createOrFold<arith::ExtFOp>(loc, to, value));
    } else if (isa<FloatType>(from)) {
      result.push_back(floatToInteger(value, to, dstUnsigned));
    } else if (isa<FloatType>(to)) {
      const bool isUnsigned = srcUnsigned || from.isInteger(1);
      result.push_back(isUnsigned ? b.createOrFold<arith::UIToFPOp>(loc, to, value)
                                  : b.createOrFold<arith::SIToFPOp>(loc, to, value));
    } else if (from.getIntOrFloatBitWidth() > to.getIntOrFloatBitWidth()) {
      result.push_back(b.createOrFold<arith::TruncIOp>(loc, to, value));
    } else {
      const bool isUnsigned = srcUnsigned || from.isInteger(1);
      result.push_back(isUnsigned ? b.createOrFold<arith::ExtUIOp>(loc, to, value)
                                  : b.createOrFold<arith::ExtSIOp>(loc, to, value));
    }
  }
  return result;
}

LogicalResult KernelLowering::lowerConvert(tile::ConvertOp op) {
  FailureOr<Fragment> values = flatten(op, op.getInput());
  if (failed(values) || isa<VectorType>(op.getInput().getType())) {
    return unsupported(op, "a conversion of such a value");
  }
  FailureOr<Fragment> result = convertAll(
      op, *values, getElementTypeOrSelf(op.getInput().getType()),
      getElementTypeOrSelf(op.getResult().getType()), op.getSrcUnsigned(), op.getDstUnsigned());
  if (failed(result)) {
    return failure();
  }
  scalars[op.getResult()] = *result;
  return success();
}

} // namespace tilec::lowering
