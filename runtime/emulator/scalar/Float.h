// Arithmetic on PTX's floating-point formats, bit by bit as the ISA defines it. Results are
// computed in double, rounded to odd, so that rounding once more to 32 bits or less is right in
// every direction; f64 itself is computed by the host in the direction asked for.
#pragma once

#include "../../support/FloatFormat.h"
#include "Lanes.h"

#include <cmath>

namespace tile_emu {

using tile_rt::FloatFormat, tile_rt::Rounding;
using tile_rt::kBF16, tile_rt::kF16, tile_rt::kF32, tile_rt::kF64, tile_rt::kTF32;

/// What an instruction says about rounding and its result.
struct FloatMode {
  Rounding rounding = Rounding::NearestEven;
  bool ftz = false;  ///< subnormal inputs and results become zeros of their sign
  bool sat = false;  ///< into [0, 1], NaN to 0
  bool relu = false; ///< negative results to 0
};

/// Takes .rn, .rz, .rm or .rp.
std::optional<Rounding> takeRounding(Decoder &d);

/// The NaN that instructions make: all ones but the sign; for f64, as the hardware has it, another.
/// There, NaN operands pass through with their payload, made quiet.
template <FloatFormat F>
constexpr uint64_t canonicalNan() {
  return F.bits() == 64 ? 0xfff8000000000000 : F.signBit() - 1;
}
constexpr uint64_t kQuietF64 = uint64_t{1} << 51;

template <FloatFormat F>
constexpr bool isNan(uint64_t bits) {
  return (bits & (F.signBit() - 1)) > F.overflow();
}

template <FloatFormat F>
constexpr uint64_t flush(uint64_t bits) {
  return (bits & (F.signBit() - 1)) < F.minNormal() ? bits & F.signBit() : bits;
}

template <FloatFormat F>
double decode(uint64_t bits) {
  if constexpr (F.bits() == 64) {
    return std::bit_cast<double>(bits);
  } else if constexpr (F.bits() == 32) {
    return double{fromBits<float>(bits)};
  } else {
    return tile_rt::decodeFloat(F, bits);
  }
}

/// Makes an operand of a register's bits.
template <FloatFormat F>
double decode(uint64_t bits, bool ftz) {
  return decode<F>(ftz ? flush<F>(bits) : bits);
}

/// .sat and .relu of a result that is no NaN.
template <FloatFormat F>
uint64_t clampResult(uint64_t bits, const FloatMode &mode) {
  constexpr uint64_t one = uint64_t{F.bias} << F.mantissaBits;
  if ((mode.sat || mode.relu) && bits & F.signBit()) {
    return 0;
  }
  return mode.sat && bits > one ? one : bits;
}

/// Whether a result counts as subnormal: rounded as if there were more exponents below, it is less
/// than the smallest normal value (IEEE 754, "tininess after rounding").
template <FloatFormat F>
bool isTiny(double value, Rounding rounding) {
  constexpr double minNormal = tile_rt::decodeFloat(F, F.minNormal());
  if (std::fabs(value) >= minNormal) {
    return false;
  }
  constexpr uint64_t limit = tile_rt::encodeFloat(F, 4 * minNormal, Rounding::Zero);
  return (tile_rt::encodeFloat(F, 4 * value, rounding) & (F.signBit() - 1)) < limit;
}

/// A result, exact or rounded to odd, in format F.
template <FloatFormat F>
uint64_t encode(double value, const FloatMode &mode) {
  if (std::isnan(value)) {
    return mode.sat ? 0 : canonicalNan<F>();
  }
  if (mode.ftz && isTiny<F>(value, mode.rounding)) {
    return clampResult<F>(std::signbit(value) ? F.signBit() : 0, mode);
  }
  uint64_t bits;
  if (F.bits() == 32 && mode.rounding == Rounding::NearestEven) {
    bits = toBits(static_cast<float>(value));
  } else {
    bits = tile_rt::encodeFloat(F, value, mode.rounding);
  }
  return clampResult<F>(bits, mode);
}

/// `value`, rounded to nearest, moved to the neighbour that rounding to odd gives, if the exact
/// result is larger (error > 0) or smaller than it.
inline double toOdd(double value, double error) {
  uint64_t bits = std::bit_cast<uint64_t>(value);
  if (error == 0 || bits & 1 || !std::isfinite(value) || value == 0) {
    return value;
  }
  return std::bit_cast<double>((error > 0) == (value > 0) ? bits + 1 : bits - 1);
}

/// a + b rounded to odd. An exact zero of unlike signs is -0 when rounding down.
inline double addToOdd(double a, double b, Rounding rounding) {
  double sum = a + b;
  if (sum == 0) {
    bool unlike = std::signbit(a) != std::signbit(b);
    return unlike && rounding == Rounding::Down ? -0.0 : sum;
  }
  double bPart = sum - a, aPart = sum - bPart;
  return toOdd(sum, (a - aPart) + (b - bPart));
}

/// Sets the host's direction of rounding; gives back the old one, for restoreHostRounding.
int setHostRounding(Rounding rounding);
void restoreHostRounding(int old);

/// f(args...) on the host's f64 in a direction of rounding.
template <typename F, typename... Args>
double inDirection(Rounding rounding, F f, Args... args) {
  if (rounding == Rounding::NearestEven) {
    return f(args...);
  }
  // Volatile: the compiler does not know that the calls change what lies between them.
  volatile double in[] = {args...};
  int old = setHostRounding(rounding);
  volatile double result = [&]<size_t... I>(std::index_sequence<I...>) {
    return f(double{in[I]}...);
  }(std::index_sequence_for<Args...>());
  restoreHostRounding(old);
  return result;
}

/// Bits of a result of f64. Of several NaN operands the second goes before the third before the
/// first; of division, whose caller gives the operands in reverse, the first.
template <typename... Args>
uint64_t encodeF64(double result, Args... args) {
  if (!std::isnan(result)) {
    return std::bit_cast<uint64_t>(result);
  }
  std::array<double, sizeof...(args)> operands{args...};
  for (size_t i : {1, 2, 0}) {
    if (i < operands.size() && std::isnan(operands[i])) {
      return std::bit_cast<uint64_t>(operands[i]) | kQuietF64;
    }
  }
  return canonicalNan<kF64>();
}

/// laneOpOf for a floating-point type: `make` is a template on the format that gives the function
/// on the bits of one element; packed types apply it to both of theirs.
template <size_t N, typename Make>
Execute floatOp(Decoder &d, ptx::Type type, Make make) {
  using ptx::Type;
  switch (type) {
  case Type::F64:
    return laneOpOf<N>(d, type, make.template operator()<kF64>());
  case Type::F32:
    return laneOpOf<N>(d, type, make.template operator()<kF32>());
  case Type::F16:
    return laneOpOf<N>(d, type, make.template operator()<kF16>());
  case Type::BF16:
    return laneOpOf<N>(d, type, make.template operator()<kBF16>());
  case Type::F32x2:
    return laneOpOf<N>(d, type, onPair<32>(make.template operator()<kF32>()));
  case Type::F16x2:
    return laneOpOf<N>(d, type, onPair<16>(make.template operator()<kF16>()));
  case Type::BF16x2:
    return laneOpOf<N>(d, type, onPair<16>(make.template operator()<kBF16>()));
  default:
    d.unsupported("type ." + std::string(ptx::typeName(type)));
  }
}

/// min.f32 or max.f32; `nan` for .NaN.
uint64_t chooseF32(uint64_t a, uint64_t b, bool max, bool nan);

/// Element type of a packed type, or the type itself.
ptx::Type elementOf(ptx::Type type);

} // namespace tile_emu
