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
    Value pair = buildVector(values.slice(i, 2));
    takeVector(LLVM::FPTruncOp::create(b, loc, VectorType::get({2}, to), pair), result);
  }
  for (; i < values.size(); ++i) {
    result.push_back(arith::TruncFOp::create(b, loc, to, values[i]));
  }
  return result;
}

namespace {

/// 8-bit floats by integer arithmetic, for targets whose cvt does not know them (PTX ISA 9.7.9.21:
/// sm_89 and later). The formats are those of OFP8: e4m3 has bias 7 and one NaN per sign, e5m2 is
/// the upper half of a binary16.
struct Fp8Arithmetic {
  OpBuilder &b;
  Location loc;
  bool isE4M3;

  Value i(int64_t value, unsigned bits = 32) {
    return arith::ConstantIntOp::create(b, loc, value, bits);
  }

  /// Exact.
  Value toHalf(Value byte) {
    Type i16 = b.getI16Type(), f16 = b.getF16Type();
    Value word = arith::ExtUIOp::create(b, loc, i16, byte);
    if (!isE4M3) {
      return LLVM::BitcastOp::create(b, loc, f16, arith::ShLIOp::create(b, loc, word, i(8, 16)));
    }
    // Exponent and mantissa at their place in a binary16, whose bias is 8 more.
    Value magnitude = arith::AndIOp::create(b, loc, word, i(0x7f, 16));
    Value small =
        LLVM::BitcastOp::create(b, loc, f16, arith::ShLIOp::create(b, loc, magnitude, i(7, 16)));
    Value scale = arith::ConstantOp::create(b, loc, b.getFloatAttr(f16, 256.0));
    Value scaled =
        LLVM::BitcastOp::create(b, loc, i16, arith::MulFOp::create(b, loc, small, scale));
    Value isNan = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, magnitude, i(0x7f, 16));
    scaled = arith::SelectOp::create(b, loc, isNan, i(0x7fff, 16), scaled);
    Value sign = arith::AndIOp::create(b, loc, word, i(0x80, 16));
    sign = arith::ShLIOp::create(b, loc, sign, i(8, 16));
    return LLVM::BitcastOp::create(b, loc, f16, arith::OrIOp::create(b, loc, scaled, sign));
  }

  /// Rounds a float to nearest even and saturates; NaN gives 0x7f.
  Value fromFloat(Value value) {
    const int64_t mantissa = isE4M3 ? 3 : 2, bias = isE4M3 ? 7 : 15, dropped = 23 - mantissa;
    const int64_t largest = isE4M3 ? 0x7e : 0x7b;
    Type i32 = b.getI32Type();
    Value bits = LLVM::BitcastOp::create(b, loc, i32, value);
    Value magnitude = arith::AndIOp::create(b, loc, bits, i(0x7fffffff));
    // Normal: half a unit of the last place kept, to even, then the biases differ.
    Value odd =
        arith::AndIOp::create(b, loc, arith::ShRUIOp::create(b, loc, magnitude, i(dropped)), i(1));
    Value rounded = arith::AddIOp::create(b, loc, magnitude, i((1 << (dropped - 1)) - 1));
    rounded = arith::AddIOp::create(b, loc, rounded, odd);
    rounded = arith::ShRUIOp::create(b, loc, rounded, i(dropped));
    rounded = arith::SubIOp::create(b, loc, rounded, i((127 - bias) << mantissa));
    rounded = arith::MinUIOp::create(b, loc, rounded, i(largest));
    // Below: next to 2^(23 - e) a float has the units of 2^-e of the subnormals, and rounds itself.
    const int64_t unit = bias - 1 + mantissa, anchor = (127 + 23 - unit) << 23;
    Value next =
        arith::AddFOp::create(b, loc, LLVM::BitcastOp::create(b, loc, b.getF32Type(), magnitude),
                              LLVM::BitcastOp::create(b, loc, b.getF32Type(), i(anchor)));
    Value small =
        arith::SubIOp::create(b, loc, LLVM::BitcastOp::create(b, loc, i32, next), i(anchor));
    Value isSmall = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, magnitude,
                                          i((127 - bias + 1) << 23));
    Value code = arith::SelectOp::create(b, loc, isSmall, small, rounded);
    Value sign =
        arith::AndIOp::create(b, loc, arith::ShRUIOp::create(b, loc, bits, i(24)), i(0x80));
    code = arith::OrIOp::create(b, loc, code, sign);
    Value isNan =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ugt, magnitude, i(0x7f800000));
    code = arith::SelectOp::create(b, loc, isNan, i(0x7f), code);
    return arith::TruncIOp::create(b, loc, b.getI8Type(), code);
  }
};

} // namespace

Fragment KernelLowering::floatToFp8(ArrayRef<Value> values, Type to) {
  if (arch < 89) {
    Fp8Arithmetic arithmetic{b, loc, isa<Float8E4M3FNType>(to)};
    return llvm::map_to_vector<8>(values, [&](Value v) { return arithmetic.fromFloat(v); });
  }
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
  if (arch < 89) {
    Fp8Arithmetic arithmetic{b, loc, isa<Float8E4M3FNType>(from)};
    return llvm::map_to_vector<8>(values, [&](Value v) { return arithmetic.toHalf(v); });
  }
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

/// 2^(x - 127) of an e8m0: an f32's exponent, the least of which is a subnormal; 255 is NaN.
Value KernelLowering::powerOfTwo(Value byte) {
  Type i32 = b.getI32Type();
  auto number = [&](int64_t value) { return constant(value, i32); };
  Value code = arith::ExtUIOp::create(b, loc, i32, byte);
  auto is = [&](int64_t value) { return compare(arith::CmpIPredicate::eq, code, number(value)); };
  Value bits = arith::ShLIOp::create(b, loc, code, number(23));
  bits = arith::SelectOp::create(b, loc, is(0), number(0x00400000), bits);
  bits = arith::SelectOp::create(b, loc, is(255), number(0x7fffffff), bits);
  return LLVM::BitcastOp::create(b, loc, b.getF32Type(), bits);
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
  if (tile::isPacked(from)) {
    return convertFromPacked(op, values, {}, from, to, srcUnsigned, dstUnsigned);
  }
  if (tile::isPacked(to)) {
    return convertToPacked(op, values, from, to, srcUnsigned, dstUnsigned);
  }
  if (isFp8(from) || isFp8(to)) {
    if (isFp8(from)) {
      Fragment halves = fp8ToHalf(values, from);
      return convertAll(op, halves, b.getF16Type(), to, srcUnsigned, dstUnsigned);
    }
    FailureOr<Fragment> floats =
        convertAll(op, values, from, b.getF32Type(), srcUnsigned, dstUnsigned);
    return failed(floats) ? floats : FailureOr<Fragment>(floatToFp8(*floats, to));
  }
  if (isa<Float8E8M0FNUType>(from)) {
    Fragment floats = llvm::map_to_vector<8>(values, [&](Value v) { return powerOfTwo(v); });
    return convertAll(op, floats, b.getF32Type(), to, srcUnsigned, dstUnsigned);
  }
  auto known = [](Type type) {
    return type.isF16() || type.isBF16() || type.isF32() || type.isF64() || type.isInteger();
  };
  if (!known(from) || !known(to)) {
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
  if (failed(values)) {
    return failure();
  }
  Type from = getElementTypeOrSelf(op.getInput().getType());
  Type to = getElementTypeOrSelf(op.getResult().getType());
  const Fragment bytes = packedSource(op.getInput());
  FailureOr<Fragment> result =
      bytes.empty() ? convertAll(op, *values, from, to, op.getSrcUnsigned(), op.getDstUnsigned())
                    : convertFromPacked(op, *values, bytes, from, to, op.getSrcUnsigned(),
                                        op.getDstUnsigned());
  if (failed(result)) {
    return failure();
  }
  scalars[op.getResult()] = *result;
  return success();
}

} // namespace tilec::lowering
