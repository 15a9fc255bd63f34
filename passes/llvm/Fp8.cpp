//===- Fp8.cpp - 8-bit floats: e4m3 and e5m2 -----------------------------===//
//
// The formats are those of OFP8: e5m2 is the upper half of a binary16, e4m3 has bias 7 and one NaN
// per sign. Targets whose cvt does not know them (PTX ISA 9.7.9.21: before sm_89) compute the codes;
// a binary16 holds all numbers of both.
//
//===----------------------------------------------------------------------===//
#include "passes/llvm/KernelLowering.h"

using namespace mlir;

namespace tilec::lowering {

static Value index(OpBuilder &b, Location loc, int64_t i) {
  return LLVM::ConstantOp::create(b, loc, b.getI32IntegerAttr(i));
}

namespace {

/// To 8-bit floats, where cvt does not know them.
struct Fp8Arithmetic {
  OpBuilder &b;
  Location loc;
  bool isE4M3;

  Value i(int64_t value, unsigned bits = 32) {
    return arith::ConstantIntOp::create(b, loc, value, bits);
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
    Fragment codes(values), result;
    codes.resize(llvm::alignTo(values.size(), 4), values.back());
    for (Value word : packWords(codes)) {
      for (Value pair : fp8WordToHalves(word, from)) {
        unpackWord(pair, b.getF16Type(), result);
      }
    }
    result.resize(values.size());
    return result;
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

std::array<Value, 2> KernelLowering::fp8WordToHalves(Value word, Type from) {
  Type bits = b.getI32Type();
  auto bitsOf = [&](Value x) { return LLVM::BitcastOp::create(b, loc, bits, x).getResult(); };
  auto decoded = [&](int64_t selector) -> Value {
    // Each code becomes the upper byte of a half.
    Value pair = NVVM::PermuteOp::create(b, loc, bits, word, i32(0), i32(selector),
                                         NVVM::PermuteMode::DEFAULT);
    if (isa<Float8E5M2Type>(from)) {
      return pair;
    }
    // Exponent and mantissa at their places in a binary16, whose bias is 8 more.
    Value sign = arith::AndIOp::create(b, loc, pair, i32(0x80008000));
    Value rest = arith::ShRUIOp::create(b, loc, pair, i32(1));
    rest = arith::AndIOp::create(b, loc, rest, i32(0x3f803f80));
    Value small = LLVM::BitcastOp::create(b, loc, VectorType::get({2}, b.getF16Type()),
                                          arith::OrIOp::create(b, loc, sign, rest));
    Value number = fmaPair(small, 256, pairOf(small.getType(), -0.0));
    // NaN is the code that would be 480, the one that 140 takes beyond the largest binary16: with
    // infinity in place of it, 0 times that is NaN, and the number's own zero of all others.
    Value beyond = fmaPair(small, 256 * 140, pairOf(small.getType(), -0.0));
    return bitsOf(fmaPair(beyond, 0, number));
  };
  return {decoded(0x1404), decoded(0x3424)};
}

} // namespace tilec::lowering
