//===- PackedElements.cpp - elements of 4 bits: u4, i4, e2m1 -------------===//
//
// A slot is an integer of 4 bits. What comes out of memory is decoded from its bytes, a word of eight
// elements at a time, without shifting each into place: two of them go to the low ends of a word's
// halves, where they are the mantissas of two f16 or bf16 whose exponent makes a unit of the last
// place 1; taking that number's own value away leaves theirs. Signed ones carry a bias of 8 then. The
// exponent and mantissa of an e2m1 are bits of a float of its own, too small by the difference of the
// biases: one product puts that right, subnormals and zeros too.
//
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Math/IR/Math.h"
#include "passes/llvm/KernelLowering.h"

using namespace mlir;

namespace tilec::lowering {

namespace {

/// The eight elements of a word, in order, as numbers of another type.
struct WordDecoder {
  KernelLowering &lowering;
  Type from, to; ///< f16, bf16 or i8
  bool isUnsigned;

  OpBuilder &b = lowering.builder();
  Location loc = lowering.location();

  Value number(int64_t value) { return lowering.i32(value); }
  Value both(Value x, int64_t mask) { return arith::AndIOp::create(b, loc, x, number(mask)); }
  Value right(Value x, int64_t n) { return arith::ShRUIOp::create(b, loc, x, number(n)); }
  Value left(Value x, int64_t n) { return arith::ShLIOp::create(b, loc, x, number(n)); }
  Value permute(Value low, Value high, int64_t selector) {
    return NVVM::PermuteOp::create(b, loc, b.getI32Type(), low, high, number(selector),
                                   NVVM::PermuteMode::DEFAULT);
  }
  bool isFloat() const { return isa<FloatType>(from); }

  /// x * scale + offset for two halves, rounded once, which is exact here. A product of bf16 alone
  /// is no instruction before sm_90.
  Value halves(Value word, double scale, double offset) {
    auto pair = VectorType::get({2}, to);
    Value x = LLVM::BitcastOp::create(b, loc, pair, word);
    return lowering.fmaPair(x, scale, lowering.pairOf(pair, offset));
  }

  /// (x & mask) ^ y. Of two constants ptxas would make two instructions, since one of LOP3's operands can be one.
  Value maskedXor(Value x, int64_t mask, Value y) {
    static_assert(((0xf0 & 0xcc) ^ 0xaa) == 0x6a); // the table of PTX ISA, "lop3"
    return LLVM::InlineAsmOp::create(
               b, loc, b.getI32Type(), ValueRange{x, number(mask), y},
               "lop3.b32 $0, $1, $2, $3, 0x6a;", "=r,r,n,r",
               /*has_side_effects=*/false, /*is_align_stack=*/false, LLVM::TailCallKind::None,
               LLVM::AsmDialectAttr::get(b.getContext(), LLVM::AsmDialect::AD_ATT), ArrayAttr())
        .getResult(0);
  }

  /// Byte i of a word holds elements 2i and 2i + 1.
  Value decodeInteger(Value word, Value shifted, int64_t i) {
    Value pair = permute(word, shifted, 0x4400 + 0x1111 * i);
    const int64_t unit = to.isF16() ? 0x6400 : 0x4300, bias = isUnsigned ? 0 : 8;
    // The mask's bits are clear in the exponent, so that XOR puts it there, and turns the sign.
    Value bits = maskedXor(pair, 0x000f000f, number((unit | bias) * 0x10001));
    return halves(bits, 1.0, -double((to.isF16() ? 1024 : 128) + bias));
  }

  Value decodeFloat(Value word, Value shifted, int64_t i) {
    // Sign, exponent and mantissa at the upper end of each half.
    Value pair = permute(shifted, word, 0x4400 + 0x1111 * i);
    const int64_t places = to.isF16() ? 3 : 6, magnitude = to.isF16() ? 0x0e00 : 0x01c0;
    Value bits = arith::OrIOp::create(b, loc, both(pair, 0x80008000),
                                      both(right(pair, places), magnitude * 0x10001));
    return halves(bits, to.isF16() ? 0x1p14 : 0x1p126, -0.0);
  }

  void decodeToHalves(Value word, Fragment &result) {
    Value shifted = isFloat() ? left(word, 4) : right(word, 4);
    for (int64_t i = 0; i < 4; ++i) {
      Value pair = isFloat() ? decodeFloat(word, shifted, i) : decodeInteger(word, shifted, i);
      lowering.takeVector(pair, result);
    }
  }

  void decodeToBytes(Value word, Fragment &result) {
    auto extended = [&](Value bytes) -> Value {
      if (isUnsigned) {
        return bytes;
      }
      // 8 * 30 = 0xf0: no byte carries into the next one.
      Value signs = both(bytes, 0x08080808);
      return arith::AddIOp::create(b, loc, bytes, arith::MulIOp::create(b, loc, signs, number(30)));
    };
    Value even = extended(both(word, 0x0f0f0f0f)), odd = extended(both(right(word, 4), 0x0f0f0f0f));
    for (int64_t selector : {0x5140, 0x7362}) {
      lowering.unpackWord(permute(even, odd, selector), b.getI8Type(), result);
    }
  }

  Fragment run(Value word) {
    Fragment result;
    to.isInteger(8) ? decodeToBytes(word, result) : decodeToHalves(word, result);
    return result;
  }
};

} // namespace

/// The word that `byte` was taken out of, and its place there; null if it was not.
static std::pair<Value, int64_t> wordOf(Value byte) {
  auto extract = byte.getDefiningOp<LLVM::ExtractElementOp>();
  auto bitcast = extract ? extract.getVector().getDefiningOp<LLVM::BitcastOp>() : nullptr;
  auto position = extract ? extract.getPosition().getDefiningOp<LLVM::ConstantOp>() : nullptr;
  if (!bitcast || !position || !bitcast.getArg().getType().isInteger(32)) {
    return {};
  }
  return {bitcast.getArg(), cast<IntegerAttr>(position.getValue()).getInt()};
}

Fragment KernelLowering::decodeBytes(ArrayRef<Value> bytes, Type from, Type to, bool isUnsigned) {
  WordDecoder decoder{*this, from, to, isUnsigned};
  DenseMap<Value, Fragment> known; // by word; looked up only
  auto decoded = [&](Value word) -> const Fragment & {
    Fragment &elements = known[word];
    if (elements.empty()) {
      elements = decoder.run(word);
    }
    return elements;
  };
  Fragment result(2 * bytes.size()), rest;
  SmallVector<size_t> places; // of the rest
  for (auto [i, byte] : llvm::enumerate(bytes)) {
    auto [word, place] = wordOf(byte);
    if (!word) {
      rest.push_back(byte);
      places.push_back(i);
      continue;
    }
    const Fragment &elements = decoded(word);
    result[2 * i] = elements[2 * place];
    result[2 * i + 1] = elements[2 * place + 1];
  }
  while (rest.size() % 4 != 0) {
    rest.push_back(rest.back());
  }
  Fragment words = rest.empty() ? Fragment() : packWords(rest);
  for (auto [k, place] : llvm::enumerate(places)) {
    const Fragment &elements = decoded(words[k / 4]);
    result[2 * place] = elements[2 * (k % 4)];
    result[2 * place + 1] = elements[2 * (k % 4) + 1];
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Bytes and slots
//===----------------------------------------------------------------------===//

LogicalResult KernelLowering::lowerUnpack(tgpu::UnpackOp op) {
  FailureOr<Fragment> bytes = flatten(op, op.getSource());
  if (failed(bytes)) {
    return failure();
  }
  Type slot = b.getIntegerType(4);
  Fragment slots;
  for (Value byte : *bytes) {
    slots.push_back(arith::TruncIOp::create(b, loc, slot, byte));
    Value high = arith::ShRUIOp::create(b, loc, byte, constant(4, byte.getType()));
    slots.push_back(arith::TruncIOp::create(b, loc, slot, high));
  }
  scalars[op.getResult()] = slots;
  return success();
}

Fragment KernelLowering::packPairs(ArrayRef<Value> elements) {
  Type byte = b.getI8Type();
  Fragment bytes;
  for (size_t i = 0; i < elements.size(); i += 2) {
    Value low = arith::ExtUIOp::create(b, loc, byte, elements[i]);
    if (i + 1 < elements.size()) {
      Value high = arith::ExtUIOp::create(b, loc, byte, elements[i + 1]);
      high = arith::ShLIOp::create(b, loc, high, constant(4, byte));
      low = arith::OrIOp::create(b, loc, low, high);
    }
    bytes.push_back(low);
  }
  return bytes;
}

LogicalResult KernelLowering::lowerPack(tgpu::PackOp op) {
  FailureOr<Fragment> elements = flatten(op, op.getSource());
  if (failed(elements)) {
    return failure();
  }
  scalars[op.getResult()] = packPairs(*elements);
  return success();
}

Fragment KernelLowering::packedSource(Value value) {
  auto unpack = value.getDefiningOp<tgpu::UnpackOp>();
  return unpack ? scalars.lookup(unpack.getSource()) : Fragment();
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

FailureOr<Fragment> KernelLowering::convertFromPacked(Operation *op, ArrayRef<Value> values,
                                                      ArrayRef<Value> bytes, Type from, Type to,
                                                      bool srcUnsigned, bool dstUnsigned) {
  const Fragment packed = bytes.empty() ? packPairs(values) : Fragment(bytes);
  auto decode = [&](Type type) {
    Fragment result = decodeBytes(packed, from, type, srcUnsigned);
    result.resize(values.size());
    return result;
  };
  if (isa<IntegerType>(from) && isa<IntegerType>(to)) {
    return convertAll(op, decode(b.getI8Type()), b.getI8Type(), to, srcUnsigned, dstUnsigned);
  }
  Type half = to.isBF16() ? b.getBF16Type() : b.getF16Type(); // both hold all of them
  return convertAll(op, decode(half), half, to, srcUnsigned, dstUnsigned);
}

/// The bits of the nearest of 0, 0.5, 1, 1.5, 2, 3, 4 and 6 to a number, which is how many of the
/// bounds between them it passes; what lies on a bound goes to the even one. NaN gives 6.
static Value roundToE2M1(OpBuilder &b, Location loc, Value value) {
  auto type = cast<FloatType>(value.getType());
  Type i4 = b.getIntegerType(4);
  auto constant = [&](double x) -> Value {
    return arith::ConstantOp::create(b, loc, b.getFloatAttr(type, x));
  };
  auto number = [&](int64_t x) -> Value { return arith::ConstantIntOp::create(b, loc, x, 4); };
  Value magnitude = math::AbsFOp::create(b, loc, value);
  Value code = number(0);
  int64_t below = 0;
  for (double bound : {0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5.0}) {
    // Unordered comparisons: NaN passes all.
    const auto passes = below++ % 2 == 0 ? arith::CmpFPredicate::UGT : arith::CmpFPredicate::UGE;
    Value isAbove = arith::CmpFOp::create(b, loc, passes, magnitude, constant(bound));
    code = arith::AddIOp::create(b, loc, code, arith::ExtUIOp::create(b, loc, i4, isAbove));
  }
  const unsigned width = type.getWidth();
  Value bits = LLVM::BitcastOp::create(b, loc, b.getIntegerType(width), value);
  Value zero = arith::ConstantIntOp::create(b, loc, 0, width);
  Value isNegative = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, bits, zero);
  Value isNumber = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::ORD, value, value);
  Value hasSign = arith::AndIOp::create(b, loc, isNegative, isNumber);
  Value sign = arith::SelectOp::create(b, loc, hasSign, number(-8), number(0));
  return arith::OrIOp::create(b, loc, code, sign);
}

FailureOr<Fragment> KernelLowering::convertToPacked(Operation *op, ArrayRef<Value> values,
                                                    Type from, Type to, bool srcUnsigned,
                                                    bool dstUnsigned) {
  if (isa<IntegerType>(from) && isa<IntegerType>(to)) {
    return llvm::map_to_vector<8>(values, [&](Value value) -> Value {
      return from.isInteger(1) ? Value(arith::ExtUIOp::create(b, loc, to, value))
                               : Value(arith::TruncIOp::create(b, loc, to, value));
    });
  }
  Fragment floats(values);
  if (isa<IntegerType>(from) || from.getIntOrFloatBitWidth() < 16) {
    // Integers beyond what f32 holds exactly are beyond 6 all the same.
    FailureOr<Fragment> wide =
        convertAll(op, values, from, b.getF32Type(), srcUnsigned, dstUnsigned);
    if (failed(wide)) {
      return failure();
    }
    floats = *wide;
  }
  if (isa<FloatType>(to)) {
    return llvm::map_to_vector<8>(floats, [&](Value v) { return roundToE2M1(b, loc, v); });
  }
  Type byte = b.getI8Type();
  return llvm::map_to_vector<8>(floats, [&](Value value) -> Value {
    Value whole = floatToInteger(value, byte, dstUnsigned);
    if (dstUnsigned) {
      whole = arith::MinUIOp::create(b, loc, whole, constant(15, byte));
    } else {
      whole = arith::MinSIOp::create(b, loc, whole, constant(7, byte));
      whole = arith::MaxSIOp::create(b, loc, whole, constant(-8, byte));
    }
    return arith::TruncIOp::create(b, loc, to, whole);
  });
}

} // namespace tilec::lowering
