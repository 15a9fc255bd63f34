#include "Reduction.h"

#include "../../support/Floats.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace tile_emu {

using ptx::Type;

static bool isHalf(Type type) { return type == Type::F16 || type == Type::BF16; }
static bool isFloat(Type type) { return isHalf(type) || type == Type::F32 || type == Type::F64; }
static bool isSigned(Type type) { return type == Type::S32 || type == Type::S64; }
static bool isWord(Type type) {
  return isSigned(type) || type == Type::U32 || type == Type::U64 || type == Type::B32 ||
         type == Type::B64;
}

bool Reduction::isPossible() const {
  switch (kind) {
  case ReductionKind::Add:
    return isFloat(type) || (isWord(type) && type != Type::B32 && type != Type::B64);
  case ReductionKind::Min:
  case ReductionKind::Max:
    return isHalf(type) || (isWord(type) && type != Type::B32 && type != Type::B64);
  case ReductionKind::Inc:
  case ReductionKind::Dec:
    return type == Type::U32;
  default:
    return isWord(type);
  }
}

static tile_rt::DType dtypeOf(Type type) {
  return type == Type::F16    ? tile_rt::DType::F16
         : type == Type::BF16 ? tile_rt::DType::BF16
         : type == Type::F32  ? tile_rt::DType::F32
                              : tile_rt::DType::F64;
}

static uint64_t addFloats(Type type, uint64_t a, uint64_t b) {
  if (type == Type::F32) {
    float sum = std::bit_cast<float>(uint32_t(a)) + std::bit_cast<float>(uint32_t(b));
    return std::bit_cast<uint32_t>(sum);
  }
  tile_rt::DType dtype = dtypeOf(type);
  return tile_rt::encodeFloat(dtype,
                              tile_rt::decodeFloat(dtype, a) + tile_rt::decodeFloat(dtype, b));
}

/// The other one if one is NaN.
static uint64_t selectFloat(Type type, uint64_t a, uint64_t b, bool least) {
  tile_rt::DType dtype = dtypeOf(type);
  double x = tile_rt::decodeFloat(dtype, a), y = tile_rt::decodeFloat(dtype, b);
  if (std::isnan(x) || std::isnan(y)) {
    return std::isnan(x) ? b : a;
  }
  bool firstIsLess = x < y || (x == y && std::signbit(x) && !std::signbit(y));
  return firstIsLess == least ? a : b;
}

static uint64_t selectInteger(Type type, uint64_t a, uint64_t b, bool least) {
  bool firstIsLess = a < b;
  if (type == Type::S32) {
    firstIsLess = int32_t(a) < int32_t(b);
  } else if (type == Type::S64) {
    firstIsLess = int64_t(a) < int64_t(b);
  }
  return firstIsLess == least ? a : b;
}

uint64_t Reduction::apply(uint64_t old, uint64_t value) const {
  uint64_t mask = bytes() == 8 ? ~uint64_t(0) : (uint64_t(1) << 8 * bytes()) - 1;
  switch (kind) {
  case ReductionKind::Add:
    return isFloat(type) ? addFloats(type, old, value) : (old + value) & mask;
  case ReductionKind::Min:
  case ReductionKind::Max: {
    bool least = kind == ReductionKind::Min;
    return isFloat(type) ? selectFloat(type, old, value, least)
                         : selectInteger(type, old, value, least);
  }
  case ReductionKind::Inc:
    return old >= value ? 0 : old + 1;
  case ReductionKind::Dec:
    return old == 0 || old > value ? value : old - 1;
  case ReductionKind::And:
    return old & value;
  case ReductionKind::Or:
    return old | value;
  case ReductionKind::Xor:
    return old ^ value;
  }
  return old;
}

ReductionKind takeReductionKind(Decoder &d) {
  std::optional<unsigned> kind =
      d.takeOneOf({"add", "min", "max", "inc", "dec", "and", "or", "xor"});
  if (!kind) {
    d.unsupported("operation `." + std::string(d.peek()) + "`");
  }
  return ReductionKind(*kind);
}

void reduceInto(const MemoryRange &to, const MemoryRange &from, const Reduction &reduction) {
  unsigned bytes = reduction.bytes();
  for (uint64_t i = 0; i + bytes <= to.bytes; i += bytes) {
    MemoryRange target{to.region, to.offset + i, bytes};
    MemoryRange source{from.region, from.offset + i, bytes};
    uint64_t old = 0, value = 0;
    std::memcpy(&old, target.data(), bytes);
    std::memcpy(&value, source.data(), bytes);
    uint64_t result = reduction.apply(old, value);
    bool defined = Checker::isDefined(target) && Checker::isDefined(source);
    std::memcpy(target.data(), &result, bytes);
    Checker::setDefined(target, defined);
  }
}

} // namespace tile_emu
