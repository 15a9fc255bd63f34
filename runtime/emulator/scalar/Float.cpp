#include "Float.h"

#include "Scalar.h"

#include <cfenv>

namespace tile_emu {

using ptx::Type;

std::optional<Rounding> takeRounding(Decoder &d) {
  static constexpr Rounding kModes[] = {Rounding::NearestEven, Rounding::Zero, Rounding::Down,
                                        Rounding::Up};
  std::optional<unsigned> mode = d.takeOneOf({"rn", "rz", "rm", "rp"});
  return mode ? std::optional(kModes[*mode]) : std::nullopt;
}

int setHostRounding(Rounding rounding) {
  int old = std::fegetround();
  std::fesetround(rounding == Rounding::Zero   ? FE_TOWARDZERO
                  : rounding == Rounding::Down ? FE_DOWNWARD
                  : rounding == Rounding::Up   ? FE_UPWARD
                                               : FE_TONEAREST);
  return old;
}
void restoreHostRounding(int old) { std::fesetround(old); }

Type elementOf(Type type) {
  switch (type) {
  case Type::F32x2:
    return Type::F32;
  case Type::F16x2:
    return Type::F16;
  case Type::BF16x2:
    return Type::BF16;
  default:
    return type;
  }
}

//===----------------------------------------------------------------------===//
// add, sub, mul, fma
//===----------------------------------------------------------------------===//

namespace {

// Each operation on the host's types, and on operands of at most 32 bits as doubles, rounded to
// odd. Products of the latter are exact.
struct Add {
  template <typename T>
  static T host(T a, T b) {
    return a + b;
  }
  static double toOdd(Rounding r, double a, double b) { return addToOdd(a, b, r); }
};
struct Sub {
  template <typename T>
  static T host(T a, T b) {
    return a - b;
  }
  static double toOdd(Rounding r, double a, double b) { return addToOdd(a, -b, r); }
};
struct Mul {
  template <typename T>
  static T host(T a, T b) {
    return a * b;
  }
  static double toOdd(Rounding, double a, double b) { return a * b; }
};
struct Fma {
  template <typename T>
  static T host(T a, T b, T c) {
    return std::fma(a, b, c);
  }
  static double toOdd(Rounding r, double a, double b, double c) { return addToOdd(a * b, c, r); }
};

template <FloatFormat F, typename Operation>
auto element(const FloatMode &mode) {
  if constexpr (F.bits() == 64) {
    return [mode](auto... bits) {
      auto host = [](auto... v) { return Operation::host(v...); };
      return encodeF64(inDirection(mode.rounding, host, decode<F>(bits)...), decode<F>(bits)...);
    };
  } else {
    return [mode](auto... bits) {
      return encode<F>(Operation::toOdd(mode.rounding, decode<F>(bits, mode.ftz)...), mode);
    };
  }
}

/// f32 to nearest with nothing else: what most programs compute with, by the host's own f32.
template <typename Operation>
auto plainF32() {
  return [](auto... bits) -> uint64_t {
    float result = Operation::host(fromBits<float>(bits)...);
    return std::isnan(result) ? canonicalNan<kF32>() : toBits(result);
  };
}

/// fma.oob: a factor that is the NaN of elements out of bounds (found by trying all) makes the
/// result 0.
template <FloatFormat F>
auto outOfBoundsElement(const FloatMode &mode) {
  auto plain = element<F, Fma>(mode);
  return [plain](uint64_t a, uint64_t b, uint64_t c) -> uint64_t {
    auto outOfBounds = [](uint64_t x) { return (x & 0x7fff) == 0x7ff7; };
    return outOfBounds(a) || outOfBounds(b) ? 0 : plain(a, b, c);
  };
}

/// Types that have .ftz.
bool canFlush(Type type) { return elementOf(type) == Type::F32 || elementOf(type) == Type::F16; }

/// What a type allows; the ISA's syntax lines in one place.
void checkMode(Decoder &d, Type type, const FloatMode &mode, bool isFma) {
  bool half = bitsOf(elementOf(type)) == 16, bfloat = elementOf(type) == Type::BF16;
  if (half && mode.rounding != Rounding::NearestEven) {
    d.unsupported("rounding of 16-bit types");
  }
  if ((mode.ftz && !canFlush(type)) ||
      (mode.sat && (type == Type::F64 || type == Type::F32x2 || bfloat)) ||
      (mode.relu && !(isFma && half))) {
    d.unsupported("modifiers of this type");
  }
}

template <size_t N, typename Operation>
Execute arithmetic(Decoder &d, Type type, const FloatMode &mode) {
  bool plain = mode.rounding == Rounding::NearestEven && !mode.ftz && !mode.sat;
  if (type == Type::F32 && plain) {
    return laneOpOf<N>(d, type, plainF32<Operation>());
  }
  if (type == Type::F32x2 && plain) {
    return laneOpOf<N>(d, type, onPair<32>(plainF32<Operation>()));
  }
  return floatOp<N>(d, type, [&]<FloatFormat F>() { return element<F, Operation>(mode); });
}

/// add.f32.f16 d, a, c and its like: f32 with 16-bit factors or first operand.
template <FloatFormat A>
Execute mixedArithmetic(Decoder &d, Type narrow, const FloatMode &mode) {
  if (d.mnemonic() == "fma") {
    auto f = [mode](uint64_t a, uint64_t b, uint64_t c) {
      return encode<kF32>(Fma::toOdd(mode.rounding, decode<A>(a), decode<A>(b), decode<kF32>(c)),
                          mode);
    };
    return laneOp(d, Type::F32, f, narrow, narrow, Type::F32);
  }
  double sign = d.mnemonic() == "sub" ? -1 : 1;
  auto f = [mode, sign](uint64_t a, uint64_t c) {
    return encode<kF32>(addToOdd(decode<A>(a), sign * decode<kF32>(c), mode.rounding), mode);
  };
  return laneOp(d, Type::F32, f, narrow, Type::F32);
}

} // namespace

Execute decodeFloatArithmetic(Decoder &d) {
  const std::string &name = d.mnemonic();
  bool isFma = name == "fma" || name == "mad";
  FloatMode mode;
  std::optional<Rounding> rounding = takeRounding(d);
  if (isFma && !rounding) {
    d.unsupported("a rounding modifier is missing");
  }
  mode.rounding = rounding.value_or(Rounding::NearestEven);
  bool outOfBounds = name == "fma" && d.take("oob");
  mode.ftz = d.take("ftz");
  mode.sat = d.take("sat");
  mode.relu = d.take("relu");
  Type type = d.takeType();
  checkMode(d, type, mode, isFma);
  if (type == Type::F32 && !d.atEnd() && name != "mul" && name != "mad") {
    Type narrow = takeTypeOf(d, {Type::F16, Type::BF16});
    return narrow == Type::F16 ? mixedArithmetic<kF16>(d, narrow, mode)
                               : mixedArithmetic<kBF16>(d, narrow, mode);
  }
  if (outOfBounds) {
    if (bitsOf(elementOf(type)) != 16) {
      d.unsupported("modifier .oob of this type");
    }
    return floatOp<3>(d, type, [&]<FloatFormat F>() { return outOfBoundsElement<F>(mode); });
  }
  if (isFma) {
    return arithmetic<3, Fma>(d, type, mode);
  }
  return name == "add"   ? arithmetic<2, Add>(d, type, mode)
         : name == "sub" ? arithmetic<2, Sub>(d, type, mode)
                         : arithmetic<2, Mul>(d, type, mode);
}

//===----------------------------------------------------------------------===//
// min, max and what only touches the sign
//===----------------------------------------------------------------------===//

namespace {

struct Choice {
  bool max = false, ftz = false, nan = false, xorSign = false, abs = false;
};

/// Bits in the order of their values, -0 below +0.
template <FloatFormat F>
uint64_t orderOf(uint64_t bits) {
  return bits & F.signBit() ? ~bits & (F.signBit() * 2 - 1) : bits | F.signBit();
}

template <FloatFormat F>
uint64_t choose(uint64_t a, uint64_t b, const Choice &choice) {
  if (choice.ftz) {
    a = flush<F>(a);
    b = flush<F>(b);
  }
  uint64_t sign = choice.xorSign ? (a ^ b) & F.signBit() : 0;
  if (choice.xorSign || choice.abs) {
    a &= ~F.signBit();
    b &= ~F.signBit();
  }
  bool aNan = isNan<F>(a), bNan = isNan<F>(b);
  if ((aNan && bNan) || (choice.nan && (aNan || bNan))) {
    return F.bits() == 64 ? b | kQuietF64 : canonicalNan<F>();
  }
  if (aNan || bNan) {
    return (aNan ? b : a) | sign;
  }
  return ((orderOf<F>(a) < orderOf<F>(b)) != choice.max ? a : b) | sign;
}

} // namespace

uint64_t chooseF32(uint64_t a, uint64_t b, bool max, bool nan) {
  return choose<kF32>(a, b, {.max = max, .nan = nan});
}

Execute decodeFloatMinMax(Decoder &d) {
  Choice choice;
  choice.max = d.mnemonic() == "max";
  choice.ftz = d.take("ftz");
  choice.nan = d.take("NaN");
  choice.xorSign = d.take("xorsign");
  if (choice.xorSign) {
    d.expect("abs");
  } else {
    choice.abs = d.take("abs");
  }
  Type type = d.takeType();
  if (d.numOperands() == 4) {
    if (type != Type::F32 || choice.xorSign) {
      d.unsupported("three operands of this form");
    }
    return laneOpOf<3>(d, type, [choice](uint64_t a, uint64_t b, uint64_t c) {
      return choose<kF32>(choose<kF32>(a, b, choice), c, choice);
    });
  }
  if (choice.abs || (choice.ftz && !canFlush(type)) ||
      (type == Type::F64 && (choice.nan || choice.xorSign))) {
    d.unsupported("modifiers of this form");
  }
  return floatOp<2>(d, type, [&]<FloatFormat F>() {
    return [choice](uint64_t a, uint64_t b) { return choose<F>(a, b, choice); };
  });
}

Execute decodeFloatSign(Decoder &d) {
  bool negate = d.mnemonic() == "neg", ftz = d.take("ftz");
  Type type = d.takeType();
  if (ftz && !canFlush(type)) {
    d.unsupported("modifier .ftz of this type");
  }
  return floatOp<1>(d, type, [&]<FloatFormat F>() {
    return [negate, ftz](uint64_t a) {
      uint64_t bits = ftz ? flush<F>(a) : a;
      if (isNan<F>(bits)) {
        return F.bits() == 64 ? bits | kQuietF64 : canonicalNan<F>();
      }
      return negate ? bits ^ F.signBit() : bits & ~F.signBit();
    };
  });
}

Execute decodeCopysign(Decoder &d) {
  return floatOp<2>(d, takeTypeOf(d, {Type::F32, Type::F64}), []<FloatFormat F>() {
    return [](uint64_t a, uint64_t b) { return (a & F.signBit()) | (b & ~F.signBit()); };
  });
}

Execute decodeTestp(Decoder &d) {
  std::optional<unsigned> test =
      d.takeOneOf({"finite", "infinite", "number", "notanumber", "normal", "subnormal"});
  if (!test) {
    d.unsupported("test ." + std::string(d.peek()));
  }
  Type type = takeTypeOf(d, {Type::F32, Type::F64});
  FloatFormat format = type == Type::F32 ? kF32 : kF64;
  auto f = [test = *test, format](uint64_t bits) -> uint64_t {
    uint64_t magnitude = bits & (format.signBit() - 1);
    bool finite = magnitude <= format.maxFinite(), nan = magnitude > format.overflow();
    bool subnormal = magnitude != 0 && magnitude < format.minNormal();
    bool answers[] = {finite, !finite && !nan, !nan, nan, finite && !subnormal, subnormal};
    return answers[test];
  };
  return laneOp(d, Type::Pred, f, type);
}

} // namespace tile_emu
