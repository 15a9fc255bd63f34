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

/// f64 or integers of 32 or 64 bits as f32, of which rounding makes the same narrower float as of the values themselves: towards zero, and where that
/// was not exact the last bit is set, so that no half of a unit comes about that was none (Boldo and Melquiond, "When double rounding is odd").
static Fragment roundedToOdd(OpBuilder &b, Location loc, ArrayRef<Value> values, bool isUnsigned) {
  Type from = values[0].getType(), f32 = b.getF32Type(), i32 = b.getI32Type();
  const bool isWide = from.getIntOrFloatBitWidth() == 64;
  const StringRef name = from.isF64() ? "llvm.nvvm.d2f.rz"
                         : isUnsigned ? (isWide ? "llvm.nvvm.ull2f.rz" : "llvm.nvvm.ui2f.rz")
                                      : (isWide ? "llvm.nvvm.ll2f.rz" : "llvm.nvvm.i2f.rz");
  return llvm::map_to_vector<8>(values, [&](Value value) -> Value {
    Value cut =
        LLVM::CallIntrinsicOp::create(b, loc, f32, b.getStringAttr(name), value).getResult(0);
    Value isInexact; // of a NaN it is not
    if (from.isF64()) {
      isInexact = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::ONE,
                                        arith::ExtFOp::create(b, loc, from, cut), value);
    } else {
      Value back = isUnsigned ? arith::FPToUIOp::create(b, loc, from, cut).getResult()
                              : arith::FPToSIOp::create(b, loc, from, cut).getResult();
      isInexact = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, back, value);
    }
    Value last = arith::ExtUIOp::create(b, loc, i32, isInexact);
    Value bits = arith::OrIOp::create(b, loc, LLVM::BitcastOp::create(b, loc, i32, cut), last);
    return LLVM::BitcastOp::create(b, loc, f32, bits);
  });
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
    if (from.isF64()) {
      return floatToFp8(roundedToOdd(b, loc, values, /*isUnsigned=*/false), to);
    }
    FailureOr<Fragment> floats = // of an integer exact, or beyond what `to` holds
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
  if (to.isBF16() && arch < 90 && from.isInteger() && from.getIntOrFloatBitWidth() > 16) {
    return truncatePairs(roundedToOdd(b, loc, values, srcUnsigned), to);
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
