#include "AtomicOperation.h"

#include "../../support/Floats.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

namespace tile_emu {

using ptx::Type;
using tile_rt::DType;

namespace {

//===----------------------------------------------------------------------===//
// Integers and bits
//===----------------------------------------------------------------------===//

template <typename T>
uint64_t bitsOf(T value) {
  return static_cast<std::make_unsigned_t<T>>(value);
}

template <typename T>
uint64_t add(uint64_t old, uint64_t operand, uint64_t) {
  return bitsOf<std::make_unsigned_t<T>>(std::make_unsigned_t<T>(old + operand));
}
template <typename T>
uint64_t minimum(uint64_t old, uint64_t operand, uint64_t) {
  return bitsOf(std::min(T(old), T(operand)));
}
template <typename T>
uint64_t maximum(uint64_t old, uint64_t operand, uint64_t) {
  return bitsOf(std::max(T(old), T(operand)));
}
uint64_t increment(uint64_t old, uint64_t operand, uint64_t) {
  return old >= operand ? 0 : old + 1;
}
uint64_t decrement(uint64_t old, uint64_t operand, uint64_t) {
  return old == 0 || old > operand ? operand : old - 1;
}
uint64_t bitAnd(uint64_t old, uint64_t operand, uint64_t) { return old & operand; }
uint64_t bitOr(uint64_t old, uint64_t operand, uint64_t) { return old | operand; }
uint64_t bitXor(uint64_t old, uint64_t operand, uint64_t) { return old ^ operand; }
uint64_t exchange(uint64_t, uint64_t operand, uint64_t) { return operand; }
uint64_t compareAndSwap(uint64_t old, uint64_t operand, uint64_t compare) {
  return old == compare ? operand : old;
}

template <typename T>
Combine integerCombine(AtomicOp op) {
  switch (op) {
  case AtomicOp::Add:
    return add<T>;
  case AtomicOp::Min:
    return minimum<T>;
  case AtomicOp::Max:
    return maximum<T>;
  default:
    return nullptr;
  }
}

Combine bitCombine(AtomicOp op, unsigned bits) {
  bool isWord = bits == 32 || bits == 64;
  switch (op) {
  case AtomicOp::And:
    return isWord ? bitAnd : nullptr;
  case AtomicOp::Or:
    return isWord ? bitOr : nullptr;
  case AtomicOp::Xor:
    return isWord ? bitXor : nullptr;
  case AtomicOp::Exch:
    return isWord ? exchange : nullptr;
  case AtomicOp::Cas:
    return compareAndSwap;
  default:
    return nullptr;
  }
}

//===----------------------------------------------------------------------===//
// Floating point
//===----------------------------------------------------------------------===//

float flush(float value) {
  return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(0.0F, value) : value;
}

constexpr uint32_t kCanonicalNaN = 0x7fff'ffff;

template <bool Flushes>
uint64_t addF32(uint64_t old, uint64_t operand, uint64_t) {
  float a = std::bit_cast<float>(uint32_t(old)), b = std::bit_cast<float>(uint32_t(operand));
  float sum = Flushes ? flush(flush(a) + flush(b)) : a + b;
  return std::isnan(sum) ? kCanonicalNaN : std::bit_cast<uint32_t>(sum);
}

uint64_t addF64(uint64_t old, uint64_t operand, uint64_t) {
  return std::bit_cast<uint64_t>(std::bit_cast<double>(old) + std::bit_cast<double>(operand));
}

/// Half-precision sums are exact in double, so they are rounded once.
template <DType T>
uint64_t addHalf(uint64_t old, uint64_t operand, uint64_t) {
  return tile_rt::encodeFloat(T, tile_rt::decodeFloat(T, old & 0xffff) +
                                     tile_rt::decodeFloat(T, operand & 0xffff));
}

/// The other operand where one is NaN; -0 is below +0.
template <DType T, bool Largest>
uint64_t extremeHalf(uint64_t old, uint64_t operand, uint64_t) {
  uint64_t x = old & 0xffff, y = operand & 0xffff;
  double a = tile_rt::decodeFloat(T, x), b = tile_rt::decodeFloat(T, y);
  if (std::isnan(a) || std::isnan(b)) {
    return std::isnan(a) && std::isnan(b) ? 0x7fff : std::isnan(a) ? y : x;
  }
  bool less = a < b || (a == b && std::signbit(a) && !std::signbit(b));
  return less == Largest ? y : x;
}

template <Combine Half>
uint64_t onHalves(uint64_t old, uint64_t operand, uint64_t) {
  return Half(old & 0xffff, operand & 0xffff, 0) | Half(old >> 16, operand >> 16, 0) << 16;
}

template <DType T>
Combine halfCombine(AtomicOp op, bool isPair) {
  switch (op) {
  case AtomicOp::Add:
    return isPair ? onHalves<addHalf<T>> : addHalf<T>;
  case AtomicOp::Min:
    return isPair ? onHalves<extremeHalf<T, false>> : extremeHalf<T, false>;
  case AtomicOp::Max:
    return isPair ? onHalves<extremeHalf<T, true>> : extremeHalf<T, true>;
  default:
    return nullptr;
  }
}

} // namespace

Combine combineOf(AtomicOp op, Type type, bool flushes) {
  switch (type) {
  case Type::B16:
    return op == AtomicOp::Cas ? compareAndSwap : nullptr;
  case Type::B32:
  case Type::B64:
    return bitCombine(op, ptx::bitsOf(type));
  case Type::U32:
    return op == AtomicOp::Inc   ? increment
           : op == AtomicOp::Dec ? decrement
                                 : integerCombine<uint32_t>(op);
  case Type::S32:
    return integerCombine<int32_t>(op);
  case Type::U64:
    return integerCombine<uint64_t>(op);
  case Type::S64:
    return integerCombine<int64_t>(op);
  case Type::F32:
    return op != AtomicOp::Add ? nullptr : flushes ? addF32<true> : addF32<false>;
  case Type::F64:
    return op == AtomicOp::Add ? addF64 : nullptr;
  case Type::F16:
  case Type::F16x2:
    return halfCombine<DType::F16>(op, type == Type::F16x2);
  case Type::BF16:
  case Type::BF16x2:
    return halfCombine<DType::BF16>(op, type == Type::BF16x2);
  default:
    return nullptr;
  }
}

} // namespace tile_emu
