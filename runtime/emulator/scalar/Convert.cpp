// PTX ISA, "cvt", "cvt.pack": every pair of integer and floating-point types, and the packed small
// formats.
#include "Float.h"
#include "Scalar.h"

#include <algorithm>

namespace tile_emu {

using ptx::Type;

namespace {

/// A type of cvt; packed ones have two elements, the first operand's in the upper half.
struct Number {
  std::string_view name;
  enum Kind : uint8_t { Unsigned, Signed, Float, Exponent } kind;
  unsigned bits; ///< of an element, as it lies in the register
  unsigned lanes = 1;
  FloatFormat format = kF64; ///< Float
  Type inRegister = Type::None;
  unsigned shift = 0; ///< of the format within the element: tf32
};

constexpr Number kNumbers[] = {
    {"u8", Number::Unsigned, 8, 1, {}, Type::U8},
    {"u16", Number::Unsigned, 16, 1, {}, Type::U16},
    {"u32", Number::Unsigned, 32, 1, {}, Type::U32},
    {"u64", Number::Unsigned, 64, 1, {}, Type::U64},
    {"s8", Number::Signed, 8, 1, {}, Type::S8},
    {"s16", Number::Signed, 16, 1, {}, Type::S16},
    {"s32", Number::Signed, 32, 1, {}, Type::S32},
    {"s64", Number::Signed, 64, 1, {}, Type::S64},
    {"f16", Number::Float, 16, 1, kF16, Type::F16},
    {"bf16", Number::Float, 16, 1, kBF16, Type::BF16},
    {"f32", Number::Float, 32, 1, kF32, Type::F32},
    {"f64", Number::Float, 64, 1, kF64, Type::F64},
    {"tf32", Number::Float, 32, 1, kTF32, Type::B32, 13},
    {"f16x2", Number::Float, 16, 2, kF16, Type::B32},
    {"bf16x2", Number::Float, 16, 2, kBF16, Type::B32},
    {"e4m3x2", Number::Float, 8, 2, tile_rt::kE4M3, Type::B16},
    {"e5m2x2", Number::Float, 8, 2, tile_rt::kE5M2, Type::B16},
    {"e2m3x2", Number::Float, 8, 2, tile_rt::kE2M3, Type::B16},
    {"e3m2x2", Number::Float, 8, 2, tile_rt::kE3M2, Type::B16},
    {"e2m1x2", Number::Float, 4, 2, tile_rt::kE2M1, Type::B8},
    {"ue8m0x2", Number::Exponent, 8, 2, {}, Type::B16},
};

const Number &takeNumber(Decoder &d) {
  std::string name = d.takeAny();
  for (const Number &number : kNumbers) {
    if (number.name == name) {
      return number;
    }
  }
  d.unsupported(name.empty() ? "a type is missing" : "type ." + name);
}

struct Conversion {
  Number from, to;
  std::optional<Rounding> rounding;
  bool toIntegral = false; ///< .rni and its like
  bool ftz = false, sat = false, satfinite = false, relu = false;

  bool fromFloat() const { return from.kind == Number::Float; }
  bool toFloat() const { return to.kind == Number::Float; }
  bool fromInteger() const { return from.kind <= Number::Signed; }
  bool toInteger() const { return to.kind <= Number::Signed; }
};

uint64_t maskOf(unsigned bits) { return bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1; }

__int128 minOf(const Number &n) {
  return n.kind == Number::Signed ? -(static_cast<__int128>(1) << (n.bits - 1)) : 0;
}
__int128 maxOf(const Number &n) {
  return (static_cast<__int128>(1) << (n.bits - (n.kind == Number::Signed))) - 1;
}

__int128 integerOf(const Number &n, uint64_t bits) {
  bits &= maskOf(n.bits);
  bool negative = n.kind == Number::Signed && bits >> (n.bits - 1);
  return static_cast<__int128>(bits) - (negative ? static_cast<__int128>(1) << n.bits : 0);
}

double roundToIntegral(double value, Rounding rounding) {
  switch (rounding) {
  case Rounding::Zero:
    return std::trunc(value);
  case Rounding::Down:
    return std::floor(value);
  case Rounding::Up:
    return std::ceil(value);
  default:
    return std::nearbyint(value);
  }
}

bool isSubnormal(const FloatFormat &f, uint64_t bits) {
  uint64_t magnitude = bits & (f.signBit() - 1);
  return magnitude != 0 && magnitude < f.minNormal();
}

/// A floating-point source; .ftz concerns f32 only, and (on the hardware) not on the way to f16.
double floatOf(const Conversion &c, uint64_t bits) {
  bool flushes = c.ftz && c.from.bits == 32 && !(c.toFloat() && c.to.bits == 16);
  if (flushes && isSubnormal(kF32, bits)) {
    bits &= kF32.signBit();
  }
  return tile_rt::decodeFloat(c.from.format, bits >> c.from.shift);
}

/// The ISA's text on NaN: zero, but the smallest signed number where 64 bits are involved.
uint64_t integerOfNan(const Conversion &c) {
  return c.from.bits == 64 || c.to.bits == 64 ? uint64_t{1} << (c.to.bits - 1) : 0;
}

uint64_t floatToInteger(const Conversion &c, double value) {
  if (std::isnan(value)) {
    return integerOfNan(c);
  }
  double whole = roundToIntegral(value, *c.rounding);
  if (std::fabs(whole) >= 0x1p65) {
    return static_cast<uint64_t>(whole > 0 ? maxOf(c.to) : minOf(c.to)) & maskOf(c.to.bits);
  }
  __int128 exact = std::clamp(static_cast<__int128>(whole), minOf(c.to), maxOf(c.to));
  return static_cast<uint64_t>(exact) & maskOf(c.to.bits);
}

/// A NaN in a floating-point destination: the canonical one, but to and from f64 the payload goes
/// along. Conversions that the hardware has as operations on bits (to f64 from itself, to f32 from
/// bf16, to tf32 with .rna) treat NaN as any other pattern.
uint64_t floatOfNan(const Conversion &c, uint64_t bits) {
  const FloatFormat &to = c.to.format, &from = c.from.format;
  if (c.sat || !to.hasNan) {
    return c.sat ? 0 : to.maxFinite();
  }
  if (c.to.shift != 0 && c.rounding == Rounding::NearestAway) {
    uint64_t kept = bits >> c.to.shift << c.to.shift;
    return c.satfinite ? kept - (uint64_t{1} << c.to.shift) : kept;
  }
  if (c.from.bits == 16 && c.to.bits == 32 && from.mantissaBits == kBF16.mantissaBits && !c.ftz) {
    return bits << 16;
  }
  uint64_t canonical = (to.signBit() - 1) << c.to.shift;
  if (c.to.bits != 64 && c.from.bits != 64) {
    return canonical;
  }
  if (c.to.bits == c.from.bits && !c.toIntegral) {
    return bits;
  }
  uint64_t sign = bits & from.signBit() ? to.signBit() : 0, payload = bits & (from.minNormal() - 1);
  if (c.ftz && c.from.bits == 32) { // made canonical on the way
    sign = 0;
    payload = from.minNormal() - 1;
  }
  payload = payload << (52 - from.mantissaBits) >> (52 - to.mantissaBits);
  return sign | payload | to.overflow() | to.minNormal() >> 1;
}

/// Bits of a rounded floating-point result, in its place within the element.
uint64_t finishFloat(const Conversion &c, uint64_t bits) {
  const FloatFormat &f = c.to.format;
  uint64_t one = static_cast<uint64_t>(f.bias) << f.mantissaBits;
  if ((c.sat || c.relu) && bits & f.signBit()) {
    bits = 0;
  } else if (c.sat && bits > one) {
    bits = one;
  }
  return bits << c.to.shift;
}

/// ue8m0 of a value: the exponent of its magnitude's power of two, rounded down or up.
uint64_t toExponent(const Conversion &c, double value) {
  if (std::isnan(value)) {
    return 255;
  }
  double magnitude = std::fabs(value);
  if (magnitude >= 0x1p128) {
    return c.satfinite ? 254 : 255;
  }
  if (magnitude <= 0x1p-127) {
    return 0;
  }
  int exponent; // magnitude is in [2^(exponent - 1), 2^exponent)
  bool exact = std::frexp(magnitude, &exponent) == 0.5;
  int up = *c.rounding == Rounding::Up && !exact ? 1 : 0;
  int result = exponent - 1 + up + 127;
  return result > 254 && !c.satfinite ? 255 : static_cast<uint64_t>(std::min(result, 254));
}

/// One element, as bits in the source's and the destination's width.
uint64_t convertElement(const Conversion &c, uint64_t bits) {
  if (c.fromInteger()) {
    __int128 value = integerOf(c.from, bits);
    if (c.toInteger()) {
      value = c.sat ? std::clamp(value, minOf(c.to), maxOf(c.to)) : value;
      return static_cast<uint64_t>(value) & maskOf(c.to.bits);
    }
    auto magnitude = static_cast<uint64_t>(value < 0 ? -value : value);
    return finishFloat(c, tile_rt::encodeScaled(c.to.format, value < 0, magnitude, 0, *c.rounding,
                                                /*saturate=*/false));
  }
  if (c.from.kind == Number::Exponent) {
    bits &= 0xff;
    double power = bits == 255 ? NAN : std::ldexp(1.0, static_cast<int>(bits) - 127);
    return std::isnan(power) ? maskOf(c.to.bits - 1)
                             : tile_rt::encodeFloat(c.to.format, power, Rounding::NearestEven);
  }
  bits &= maskOf(c.from.bits);
  double value = floatOf(c, bits);
  if (c.to.kind == Number::Exponent) {
    return toExponent(c, value);
  }
  if (c.toInteger()) {
    return floatToInteger(c, value);
  }
  if (std::isnan(value)) {
    return floatOfNan(c, bits);
  }
  if (c.toIntegral) {
    value = roundToIntegral(value, *c.rounding);
  }
  Rounding rounding = c.toIntegral ? Rounding::NearestEven : c.rounding.value_or(Rounding::Zero);
  if (c.ftz && c.to.bits == 32 && isTiny<kF32>(value, rounding)) {
    value = std::copysign(0.0, value);
  }
  return finishFloat(c, tile_rt::encodeFloat(c.to.format, value, rounding, c.satfinite));
}

void takeConversionRounding(Decoder &d, Conversion &c) {
  static constexpr Rounding kModes[] = {
      Rounding::NearestEven, Rounding::Zero, Rounding::Down, Rounding::Up, Rounding::NearestAway,
      Rounding::NearestEven, Rounding::Zero, Rounding::Down, Rounding::Up};
  if (std::optional<unsigned> mode =
          d.takeOneOf({"rn", "rz", "rm", "rp", "rna", "rni", "rzi", "rmi", "rpi"})) {
    c.rounding = kModes[*mode];
    c.toIntegral = *mode >= 5;
  }
}

/// Packed types convert only from f32 and between the pairs that the ISA lists; tf32 is no source.
bool pairExists(const Conversion &c) {
  if (c.from.shift != 0 || (c.to.shift != 0 && c.from.name != "f32")) {
    return false;
  }
  if (c.from.lanes == 1) {
    return c.to.lanes == 1 || c.from.name == "f32";
  }
  bool smallFrom = c.fromFloat() && c.from.bits <= 8, smallTo = c.toFloat() && c.to.bits <= 8;
  return (c.from.name == "f16x2" && smallTo) || (smallFrom && c.to.name == "f16x2") ||
         (c.from.name == "bf16x2" && c.to.kind == Number::Exponent) ||
         (c.from.kind == Number::Exponent && c.to.name == "bf16x2");
}

/// Which rounding a pair of types takes, and modifiers that do not fit it.
void checkConversion(Decoder &d, const Conversion &c) {
  bool narrows = c.fromFloat() && c.toFloat() &&
                 (c.to.format.mantissaBits < c.from.format.mantissaBits ||
                  c.to.format.exponentBits < c.from.format.exponentBits);
  bool integral = c.fromFloat() && c.toInteger();
  bool rounds = narrows || (c.fromInteger() && c.toFloat()) || c.to.kind == Number::Exponent;
  if ((integral && !c.toIntegral) || (rounds && (!c.rounding || c.toIntegral))) {
    d.unsupported("rounding of these types");
  }
  if (c.rounding == Rounding::NearestAway && c.to.shift == 0) {
    d.unsupported("modifier .rna of these types");
  }
  if (c.fromInteger() && c.toInteger() && (c.rounding || c.ftz)) {
    d.unsupported("modifiers of integer types");
  }
  if ((c.satfinite || c.relu) && !c.toFloat() && c.to.kind != Number::Exponent) {
    d.unsupported("modifiers of an integer result");
  }
  bool small = c.toFloat() && c.to.bits <= 8;
  if (small && !c.satfinite) {
    d.unsupported("modifier .satfinite is missing");
  }
  if (!pairExists(c)) {
    d.unsupported("conversion from ." + std::string(c.from.name) + " to ." +
                  std::string(c.to.name));
  }
}

/// Between integers without saturation: cut to the narrower width, extended as its type says.
uint64_t extend(uint64_t bits, unsigned width, bool isSigned) {
  uint64_t top = bits << (64 - width);
  return isSigned ? static_cast<uint64_t>(static_cast<int64_t>(top) >> (64 - width))
                  : top >> (64 - width);
}

/// Integers narrower than the destination's register fill it, extended as their sign says. The
/// conversions that programs are full of have a closure without the general one's distinctions.
Execute scalarConversion(Decoder &d, const Conversion &c) {
  expectOperands(d, 2);
  Row to = d.destination(0, c.to.inRegister);
  std::array<Row, 1> from{d.source(1, c.from.inRegister)};
  bool isSigned = c.to.kind == Number::Signed;
  unsigned declared = bitsOf(d.registerType(d.operand(0)));
  if (declared > 64) {
    d.invalid("converts to registers of at most 64 bits");
  }
  unsigned width = isSigned ? std::max(declared, c.to.bits) : c.to.bits;
  uint64_t mask = maskOf(width);
  bool plain = !c.sat && !c.satfinite && !c.relu && !c.ftz;
  if (plain && c.fromInteger() && c.toInteger()) {
    unsigned narrow = std::min(c.from.bits, c.to.bits);
    bool extendSigned = (c.from.bits < c.to.bits ? c.from.kind : c.to.kind) == Number::Signed;
    auto f = [=](uint64_t a) { return extend(a, narrow, extendSigned) & mask; };
    undefinedResult(d, to, ptx::Type::B64, from, std::array{ptx::Type::B64},
                    undefinedMoved<1, 1>(f));
    return perLane(to, from, f);
  }
  if (plain && c.from.name == "f16" && c.to.name == "f32") {
    return perLane(to, from, [](uint64_t a) {
      auto value = static_cast<float>(decode<kF16>(a & 0xffff));
      return std::isnan(value) ? canonicalNan<kF32>() : toBits(value);
    });
  }
  if (isSigned) {
    return perLane(
        to, from, [=](uint64_t a) { return extend(convertElement(c, a), c.to.bits, true) & mask; });
  }
  return perLane(to, from, [c](uint64_t a) { return convertElement(c, a); });
}

Execute packedConversion(Decoder &d, const Conversion &c) {
  bool two = c.from.lanes == 1; // operands
  expectOperands(d, two ? 3 : 2);
  Row to = d.destination(0, c.to.inRegister);
  Row upper = d.source(1, c.from.inRegister), lower = two ? d.source(2, c.from.inRegister) : upper;
  d.op.undefinedResults = [=](Step &step, unsigned lane) {
    uint64_t fromMask = maskOf(c.from.bits), all = maskOf(c.to.bits);
    uint64_t high = step.undefinedBits(upper, lane) >> (two ? 0 : c.from.bits) & fromMask;
    uint64_t low = step.undefinedBits(lower, lane) & fromMask;
    step.undefine(to, lane, (high ? all << c.to.bits : 0) | (low ? all : 0));
  };
  return perLane(to, std::array{upper, lower}, [=](uint64_t a, uint64_t b) {
    uint64_t high = convertElement(c, two ? a : a >> c.from.bits);
    return high << c.to.bits | convertElement(c, b);
  });
}

/// cvt.pack.sat: two saturated integers side by side, above them what c holds.
Execute decodePack(Decoder &d) {
  static constexpr Number kSmall[] = {{"u2", Number::Unsigned, 2},   {"s2", Number::Signed, 2},
                                      {"u4", Number::Unsigned, 4},   {"s4", Number::Signed, 4},
                                      {"u8", Number::Unsigned, 8},   {"s8", Number::Signed, 8},
                                      {"u16", Number::Unsigned, 16}, {"s16", Number::Signed, 16}};
  d.expect("sat");
  std::optional<unsigned> which = d.takeOneOf({"u2", "s2", "u4", "s4", "u8", "s8", "u16", "s16"});
  if (!which) {
    d.unsupported("type ." + std::string(d.peek()));
  }
  Number to = kSmall[*which];
  d.expect("s32");
  auto packed = [to](uint64_t a, uint64_t b) -> uint64_t {
    auto one = [to](uint64_t bits) {
      __int128 value = std::clamp(__int128{fromBits<int32_t>(bits)}, minOf(to), maxOf(to));
      return static_cast<uint64_t>(value) & maskOf(to.bits);
    };
    return one(a) << to.bits | one(b);
  };
  if (to.bits == 16) {
    return laneOp(d, Type::B32, packed, Type::S32, Type::S32);
  }
  d.expect("b32");
  auto above = [=](uint64_t a, uint64_t b, uint64_t c) -> uint64_t {
    return static_cast<uint32_t>(packed(a, b) | c << 2 * to.bits);
  };
  return laneOp(d, Type::B32, above, Type::S32, Type::S32, Type::B32);
}

} // namespace

Execute decodeConvert(Decoder &d) {
  if (d.take("pack")) {
    return decodePack(d);
  }
  Conversion c;
  takeConversionRounding(d, c);
  // The ISA's order of these differs between the forms.
  bool Conversion::*flags[] = {&Conversion::ftz, &Conversion::satfinite, &Conversion::relu,
                               &Conversion::sat};
  while (std::optional<unsigned> flag = d.takeOneOf({"ftz", "satfinite", "relu", "sat"})) {
    c.*flags[*flag] = true;
  }
  c.to = takeNumber(d);
  c.from = takeNumber(d);
  checkConversion(d, c);
  d.op.propagatesUndefined = true;
  return c.to.lanes == 2 ? packedConversion(d, c) : scalarConversion(d, c);
}

} // namespace tile_emu
