// Division, roots and transcendental functions. PTX ISA, "Floating Point Instructions". What is
// `.approx` there is computed more exactly here than the ISA promises.
#include "Float.h"
#include "Scalar.h"

namespace tile_emu {

using ptx::Type;

namespace {

// As in Float.cpp: on the host's types, and to odd for operands of at most 32 bits. The remainder
// of a quotient or root, which fma gives exactly, says on which side of it the exact result lies.
struct Divide {
  template <typename T>
  static T host(T a, T b) {
    return a / b;
  }
  static double exact(double a, double b) {
    double quotient = a / b, rest = std::fma(-quotient, b, a);
    return toOdd(quotient, rest == 0 ? 0 : (rest > 0) == (b > 0) ? 1 : -1);
  }
};
struct Reciprocal {
  template <typename T>
  static T host(T a) {
    return T{1} / a;
  }
  static double exact(double a) { return Divide::exact(1, a); }
};
struct Root {
  template <typename T>
  static T host(T a) {
    return std::sqrt(a);
  }
  static double exact(double a) {
    double root = std::sqrt(a);
    return toOdd(root, std::fma(-root, root, a));
  }
};
struct ReciprocalRoot {
  template <typename T>
  static T host(T a) {
    return T{1} / std::sqrt(a);
  }
  static double exact(double a) { return 1 / std::sqrt(a); }
};

uint64_t encodeReversed(double result, double a, double b) { return encodeF64(result, b, a); }
uint64_t encodeReversed(double result, double a) { return encodeF64(result, a); }

template <size_t N, typename Operation>
Execute quotient(Decoder &d, Type type, const FloatMode &mode) {
  if (type == Type::F64) {
    return laneOpOf<N>(d, type, [mode](auto... bits) {
      auto host = [](auto... v) { return Operation::host(v...); };
      double result = inDirection(mode.rounding, host, decode<kF64>(bits)...);
      return encodeReversed(result, decode<kF64>(bits)...);
    });
  }
  return laneOpOf<N>(d, type, [mode](auto... bits) {
    return encode<kF32>(Operation::exact(decode<kF32>(bits, mode.ftz)...), mode);
  });
}

/// div.approx: quotients by very large divisors are lost.
Execute approximateDivision(Decoder &d, const FloatMode &mode) {
  return laneOpOf<2>(d, Type::F32, [mode](uint64_t a, uint64_t b) {
    double x = decode<kF32>(a, mode.ftz), y = decode<kF32>(b, mode.ftz);
    if (std::fabs(y) > 0x1p126 && std::isfinite(y)) {
      double zero = std::copysign(0.0, y);
      return encode<kF32>(x * zero, mode);
    }
    return encode<kF32>(Divide::exact(x, y), mode);
  });
}

/// rcp.approx.ftz.f64, rsqrt.approx.ftz.f64: the upper half of the result; the lower one is 0.
template <typename Operation>
Execute upperHalf(Decoder &d) {
  return laneOpOf<1>(d, Type::F64, [](uint64_t a) {
    constexpr uint64_t upper = ~uint64_t{0xffffffff};
    double x = decode<kF64>(flush<kF64>(a & upper), false);
    double result = Operation::host(x);
    return std::isnan(result) ? uint64_t{0x7fffffff} << 32
                              : flush<kF64>(std::bit_cast<uint64_t>(result) & upper);
  });
}

template <size_t N, typename Operation>
Execute decodeQuotient(Decoder &d) {
  const std::string &name = d.mnemonic();
  FloatMode mode;
  bool approximate = d.take("approx"), full = !approximate && name == "div" && d.take("full");
  if (!approximate && !full) {
    std::optional<Rounding> rounding = takeRounding(d);
    if (!rounding || name == "rsqrt") {
      d.unsupported("rounding is missing or not possible");
    }
    mode.rounding = *rounding;
  }
  mode.ftz = d.take("ftz");
  Type type = takeTypeOf(d, {Type::F32, Type::F64});
  if (type == Type::F64) {
    bool half = approximate && mode.ftz && (name == "rcp" || name == "rsqrt");
    if constexpr (N == 1) {
      if (half) {
        return upperHalf<Operation>(d);
      }
    }
    if (mode.ftz || full || (approximate && name != "rsqrt")) {
      d.unsupported("modifiers of .f64");
    }
  }
  if (approximate && name == "div") {
    return approximateDivision(d, mode);
  }
  return quotient<N, Operation>(d, type, mode);
}

using Function = float (*)(float);

/// The functions by name, and which of them have .ftz in f32.
struct Transcendental {
  std::string_view name;
  Function function;
  bool ftz, small; ///< has .ftz in f32; exists in f16 and bf16
};
constexpr Transcendental kTranscendental[] = {
    {"ex2", [](float x) { return std::exp2(x); }, true, true},
    {"lg2", [](float x) { return std::log2(x); }, true, false},
    {"sin", [](float x) { return std::sin(x); }, true, false},
    {"cos", [](float x) { return std::cos(x); }, true, false},
    {"tanh", [](float x) { return std::tanh(x); }, false, true},
};

} // namespace

Execute decodeFloatDivide(Decoder &d) {
  const std::string &name = d.mnemonic();
  return name == "div"    ? decodeQuotient<2, Divide>(d)
         : name == "rcp"  ? decodeQuotient<1, Reciprocal>(d)
         : name == "sqrt" ? decodeQuotient<1, Root>(d)
                          : decodeQuotient<1, ReciprocalRoot>(d);
}

Execute decodeTranscendental(Decoder &d) {
  const Transcendental *entry = kTranscendental;
  while (entry->name != d.mnemonic()) {
    ++entry;
  }
  d.expect("approx");
  FloatMode mode;
  mode.ftz = d.take("ftz");
  Type type = d.takeType();
  Type scalar = elementOf(type);
  bool packedF32 = type == Type::F32x2;
  // ex2 of bf16 always flushes, of f16 never does.
  bool ftzFits = scalar == Type::F32 ? !mode.ftz || entry->ftz
                                     : mode.ftz == (scalar == Type::BF16 && entry->ftz);
  if (type == Type::F64 || packedF32 || (scalar != Type::F32 && !entry->small) || !ftzFits) {
    d.unsupported("type and modifiers");
  }
  return floatOp<1>(d, type, [&]<FloatFormat F>() {
    return [mode, function = entry->function](uint64_t bits) {
      auto argument = static_cast<float>(decode<F>(bits, mode.ftz));
      return encode<F>(double{function(argument)}, mode);
    };
  });
}

} // namespace tile_emu
