// Logic, shifts and fields of bits. PTX ISA, "Logic and Shift Instructions", "Integer Arithmetic
// Instructions" (popc to szext), "prmt".
#include "Lanes.h"
#include "Scalar.h"

#include <algorithm>

namespace tile_emu {

using ptx::Type;

namespace {

/// Decodes the type that comes next; f is generic in the integer type.
template <size_t N, typename F>
Execute bitsOp(Decoder &d, std::initializer_list<Type> types, F f) {
  Type type = takeTypeOf(d, types);
  return withWideInteger(
      d, type, [&](auto zero) { return laneOpOf<N>(d, type, onBits<decltype(zero)>(f)); });
}

/// The low `length` bits, all for 64 and more.
uint64_t lowBits(uint64_t length) {
  return length >= 64 ? ~uint64_t{0} : (uint64_t{1} << length) - 1;
}

/// One of the operations of two operands, on bits or predicates.
template <typename F>
Execute logicOp(Decoder &d, Type type, F f) {
  expectOperands(d, 3);
  d.op.propagatesUndefined = true;
  bool negated[2] = {false, false}, predicate = type == Type::Pred;
  Row to = exactDestination(d, 0, type);
  std::array<Row, 2> from{exactSource(d, 1, type, predicate ? &negated[0] : nullptr),
                          exactSource(d, 2, type, predicate ? &negated[1] : nullptr)};
  uint64_t flipA = negated[0], flipB = negated[1], mask = widthMask(type);
  auto apply = [=](uint64_t a, uint64_t b) -> uint64_t { return f(a ^ flipA, b ^ flipB) & mask; };
  undefinedResult(d, to, type, from, std::array{type, type}, undefinedBitwise<2>(apply));
  return perLane(to, from, apply);
}

} // namespace

Execute decodeLogic(Decoder &d) {
  const std::string &name = d.mnemonic();
  if (name == "cnot") {
    return bitsOp<1>(d, {Type::B16, Type::B32, Type::B64},
                     [](auto a) { return static_cast<decltype(a)>(a == 0); });
  }
  Type type = takeTypeOf(d, {Type::Pred, Type::B16, Type::B32, Type::B64});
  if (name == "not") {
    uint64_t mask = widthMask(type);
    auto f = [mask](uint64_t a) -> uint64_t { return ~a & mask; };
    Execute result = laneOpOf<1>(d, type, f);
    Row to = exactDestination(d, 0, type);
    std::array<Row, 1> from{exactSource(d, 1, type)};
    undefinedResult(d, to, type, from, std::array{type}, undefinedBitwise<1>(f));
    return result;
  }
  if (name == "and") {
    return logicOp(d, type, [](uint64_t a, uint64_t b) { return a & b; });
  }
  if (name == "or") {
    return logicOp(d, type, [](uint64_t a, uint64_t b) { return a | b; });
  }
  return logicOp(d, type, [](uint64_t a, uint64_t b) { return a ^ b; });
}

Execute decodeLop3(Decoder &d) {
  std::optional<unsigned> combine = d.takeOneOf({"or", "and"});
  takeTypeOf(d, {Type::B32});
  expectOperands(d, combine ? 6 : 5);
  d.op.propagatesUndefined = true;
  const ptx::Operand &first = d.operand(0);
  if (combine && (first.kind != ptx::Operand::Kind::Pair || first.elements.size() != 2)) {
    d.invalid("has a destination d|p");
  }
  Row to = exactDestination(d, combine ? first.elements[0] : first, Type::B32);
  std::array<Row, 3> from{exactSource(d, 1, Type::B32), exactSource(d, 2, Type::B32),
                          exactSource(d, 3, Type::B32)};
  int64_t immediate = d.immediate(4);
  if (immediate < 0 || immediate > 255) {
    d.invalid("has a table of 8 bits");
  }
  auto table = static_cast<uint32_t>(immediate);
  auto f = [table](uint64_t a, uint64_t b, uint64_t c) -> uint64_t {
    uint64_t result = 0;
    for (unsigned row = 0; row < 8; ++row) {
      if (table >> row & 1) {
        result |= (row & 4 ? a : ~a) & (row & 2 ? b : ~b) & (row & 1 ? c : ~c);
      }
    }
    return static_cast<uint32_t>(result);
  };
  Execute main = perLane(to, from, f);
  if (!combine) {
    std::array types{Type::B32, Type::B32, Type::B32};
    undefinedResult(d, to, Type::B32, from, types, undefinedBitwise<3>(f));
    return main;
  }
  bool isAnd = *combine == 1, negated = false;
  Row predicate = exactDestination(d, first.elements[1], Type::Pred);
  Row with = exactSource(d, 5, Type::Pred, &negated);
  // The predicate first: the destination of the value may be one of the sources.
  return [=](Step &step) {
    step.forLanes([&](unsigned lane) {
      bool any = f(step.get(from[0], lane), step.get(from[1], lane), step.get(from[2], lane)) != 0;
      bool q = (step.get(with, lane) != 0) != negated;
      step.set(predicate, lane, isAnd ? any && q : any || q);
    });
    return main(step);
  };
}

Execute decodeShift(Decoder &d) {
  bool left = d.mnemonic() == "shl";
  Type type = left ? takeTypeOf(d, {Type::B16, Type::B32, Type::B64})
                   : takeTypeOf(d, {Type::B16, Type::B32, Type::B64, Type::U16, Type::U32,
                                    Type::U64, Type::S16, Type::S32, Type::S64});
  return withWideInteger(d, type, [&](auto zero) {
    using T = decltype(zero);
    constexpr unsigned bits = 8 * sizeof(T);
    if (left) {
      return moveOp<1>(
          d, type,
          [](uint64_t a, uint64_t b) {
            uint64_t amount = static_cast<uint32_t>(b);
            return amount >= bits ? 0 : toBits(static_cast<T>(a << amount));
          },
          type, Type::U32);
    }
    return moveOp<1>(
        d, type,
        [](uint64_t a, uint64_t b) {
          uint64_t amount = static_cast<uint32_t>(b);
          T value = fromBits<T>(a);
          T fill = static_cast<T>(value < T{0} ? -1 : 0);
          return toBits(amount >= bits ? fill : static_cast<T>(value >> amount));
        },
        type, Type::U32);
  });
}

Execute decodeFunnelShift(Decoder &d) {
  std::optional<unsigned> direction = d.takeOneOf({"l", "r"}),
                          mode = d.takeOneOf({"clamp", "wrap"});
  if (!direction || !mode) {
    d.unsupported("direction or mode");
  }
  takeTypeOf(d, {Type::B32});
  bool right = *direction == 1, wrap = *mode == 1;
  auto f = [=](uint64_t a, uint64_t b, uint64_t c) -> uint64_t {
    unsigned n = wrap ? c & 31 : static_cast<unsigned>(std::min<uint64_t>(c, 32));
    uint64_t both = b << 32 | a;
    return static_cast<uint32_t>(right ? both >> n : both << n >> 32);
  };
  return moveOp<2>(d, Type::B32, f, Type::B32, Type::B32, Type::B32);
}

Execute decodeCount(Decoder &d) {
  Type type = takeTypeOf(d, {Type::B32, Type::B64});
  unsigned bits = bitsOf(type);
  const std::string &name = d.mnemonic();
  if (name == "popc") {
    return laneOp(
        d, Type::U32, [](uint64_t a) { return static_cast<uint64_t>(std::popcount(a)); }, type);
  }
  if (name == "clz") {
    return laneOp(
        d, Type::U32,
        [bits](uint64_t a) { return static_cast<uint64_t>(std::countl_zero(a)) - (64 - bits); },
        type);
  }
  auto reverse = [bits](uint64_t a) {
    uint64_t reversed = 0;
    for (unsigned i = 0; i < bits; ++i) {
      reversed = reversed << 1 | (a >> i & 1);
    }
    return reversed;
  };
  return moveOp<1>(d, type, reverse, type);
}

/// Position or length of a field: eight bits count, except that for fields of 64 bits the hardware
/// looks at all.
static uint64_t fieldOperand(uint64_t value, unsigned bits) {
  return bits == 32 ? value & 0xff : value;
}

static constexpr std::initializer_list<Type> kWideTypes = {Type::U32, Type::U64, Type::S32,
                                                           Type::S64};

Execute decodeBfind(Decoder &d) {
  bool shift = d.take("shiftamt");
  Type type = takeTypeOf(d, kWideTypes);
  return withWideInteger(d, type, [&](auto zero) {
    using T = decltype(zero);
    auto f = [shift](uint64_t bits) -> uint64_t {
      T value = fromBits<T>(bits);
      uint64_t magnitude = toBits(static_cast<T>(value < T{0} ? ~value : value));
      if (magnitude == 0) {
        return 0xffffffff;
      }
      unsigned top = 63 - static_cast<unsigned>(std::countl_zero(magnitude));
      return shift ? 8 * sizeof(T) - 1 - top : top;
    };
    return laneOp(d, Type::U32, f, type);
  });
}

Execute decodeFns(Decoder &d) {
  takeTypeOf(d, {Type::B32});
  auto f = [](uint64_t mask, uint64_t base, uint64_t offsetBits) -> uint64_t {
    auto offset = static_cast<int32_t>(offsetBits);
    int64_t position = static_cast<int32_t>(base), step = offset < 0 ? -1 : 1;
    int64_t toFind = offset == 0 ? 1 : std::abs(int64_t{offset});
    for (; position >= 0 && position < 32; position += step) {
      if (mask >> position & 1 && --toFind == 0) {
        return static_cast<uint64_t>(position);
      }
      if (offset == 0) {
        break;
      }
    }
    return 0xffffffff;
  };
  return laneOp(d, Type::B32, f, Type::B32, Type::B32, Type::S32);
}

Execute decodeBfe(Decoder &d) {
  Type type = takeTypeOf(d, kWideTypes);
  unsigned bits = bitsOf(type);
  bool isSigned = type == Type::S32 || type == Type::S64;
  auto f = [=](uint64_t a, uint64_t b, uint64_t c) -> uint64_t {
    uint64_t position = fieldOperand(b, bits), length = fieldOperand(c, bits);
    uint64_t field = position >= bits ? 0 : a >> position & lowBits(length);
    if (!isSigned || length == 0) {
      return field;
    }
    uint64_t signAt = std::min<uint64_t>(position + length, bits) - 1;
    uint64_t present = position >= bits ? 0 : std::min<uint64_t>(length, bits - position);
    uint64_t fill = a >> signAt & 1 ? ~lowBits(present) & lowBits(bits) : 0;
    return field | fill;
  };
  return moveOp<1>(d, type, f, type, Type::U32, Type::U32);
}

Execute decodeBfi(Decoder &d) {
  Type type = takeTypeOf(d, {Type::B32, Type::B64});
  unsigned bits = bitsOf(type);
  uint64_t mask = widthMask(type);
  auto f = [=](uint64_t a, uint64_t b, uint64_t c, uint64_t d) -> uint64_t {
    uint64_t position = fieldOperand(c, bits), length = fieldOperand(d, bits);
    if (position >= 64) {
      return b;
    }
    uint64_t field = lowBits(length) << position & mask;
    return (b & ~field) | (a << position & field);
  };
  return moveOp<2>(d, type, f, type, type, Type::U32, Type::U32);
}

Execute decodeBmsk(Decoder &d) {
  bool clamp = d.take("clamp");
  if (!clamp) {
    d.expect("wrap");
  }
  takeTypeOf(d, {Type::B32});
  auto f = [clamp](uint64_t a, uint64_t b) -> uint64_t {
    if (clamp && a >= 32) {
      return 0;
    }
    uint64_t length = clamp && b >= 32 ? 32 : b & 31;
    return static_cast<uint32_t>(lowBits(length) << (a & 31));
  };
  return laneOpOf<2>(d, Type::B32, f);
}

Execute decodeSzext(Decoder &d) {
  bool clamp = d.take("clamp");
  if (!clamp) {
    d.expect("wrap");
  }
  bool isSigned = takeTypeOf(d, {Type::U32, Type::S32}) == Type::S32;
  auto f = [=](uint64_t a, uint64_t b) -> uint64_t {
    if (clamp && b >= 32) {
      return a;
    }
    unsigned width = b & 31;
    uint64_t low = a & lowBits(width);
    bool sign = isSigned && width != 0 && low >> (width - 1);
    return sign ? static_cast<uint32_t>(low | ~lowBits(width)) : low;
  };
  return moveOp<1>(d, isSigned ? Type::S32 : Type::U32, f, Type::U32, Type::U32);
}

Execute decodePrmt(Decoder &d) {
  takeTypeOf(d, {Type::B32});
  // Which bytes each mode takes for the four values of the selector's low two bits.
  static constexpr uint16_t kSelectors[6][4] = {
      {0x3210, 0x4321, 0x5432, 0x6543}, // f4e
      {0x5670, 0x6701, 0x7012, 0x0123}, // b4e
      {0x0000, 0x1111, 0x2222, 0x3333}, // rc8
      {0x3210, 0x3211, 0x3222, 0x3333}, // ecl
      {0x0000, 0x1110, 0x2210, 0x3210}, // ecr
      {0x1010, 0x3232, 0x1010, 0x3232}, // rc16
  };
  std::optional<unsigned> mode = d.takeOneOf({"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"});
  const uint16_t *table = mode ? kSelectors[*mode] : nullptr;
  auto f = [table](uint64_t a, uint64_t b, uint64_t c) -> uint64_t {
    uint64_t bytes = b << 32 | a, result = 0;
    uint64_t selector = table ? table[c & 3] : c;
    for (unsigned i = 0; i < 4; ++i) {
      uint64_t select = selector >> 4 * i & 0xf;
      uint64_t byte = bytes >> 8 * (select & 7) & 0xff;
      if (select & 8) {
        byte = byte & 0x80 ? 0xff : 0;
      }
      result |= byte << 8 * i;
    }
    return result;
  };
  return moveOp<2>(d, Type::B32, f, Type::B32, Type::B32, Type::B32);
}

} // namespace tile_emu
