// PTX ISA, "mov": from registers, constants, special registers and addresses, and between a scalar
// and a vector of its parts.
#include "Lanes.h"
#include "Scalar.h"

namespace tile_emu {

using ptx::Operand, ptx::Type;

namespace {

/// A value of up to 128 bits.
using Wide = unsigned __int128;

/// Rows of a value of `bits`: two for 128.
Wide load(Step &step, Row row, unsigned bits, unsigned lane) {
  Wide value = step.get(row, lane);
  return bits == 128 ? value | Wide{step.get(row + 1, lane)} << 64 : value;
}
void store(Step &step, Row row, unsigned bits, unsigned lane, Wide value) {
  step.set(row, lane, static_cast<uint64_t>(value));
  if (bits == 128) {
    step.set(row + 1, lane, static_cast<uint64_t>(value >> 64));
  }
}

Wide undefinedBits(Step &step, Row row, unsigned bits, unsigned lane) {
  Wide undefined = step.undefinedBits(row, lane);
  if (bits == 128) {
    return undefined | Wide{step.undefinedBits(row + 1, lane)} << 64;
  }
  return undefined & ((Wide{1} << bits) - 1);
}
void undefine(Step &step, Row row, unsigned bits, unsigned lane, Wide undefined) {
  step.undefine(row, lane, static_cast<uint64_t>(undefined));
  if (bits == 128) {
    step.undefine(row + 1, lane, static_cast<uint64_t>(undefined >> 64));
  }
}

Type bitType(Decoder &d, unsigned bits) {
  switch (bits) {
  case 8:
    return Type::B8;
  case 16:
    return Type::B16;
  case 32:
    return Type::B32;
  case 64:
    return Type::B64;
  default:
    d.unsupported("a vector whose elements have " + std::to_string(bits) + " bits");
  }
}

/// Rows of a vector's elements, which have `bits` / their number bits each. Parts of an unpacked
/// value may be `_`.
struct Parts {
  std::vector<Row> rows;
  unsigned bits = 0; ///< of each
};
Parts parts(Decoder &d, const Operand &vector, unsigned bits, bool isSource) {
  size_t count = vector.elements.size();
  if (count != 2 && count != 4) {
    d.unsupported("a vector of " + std::to_string(count) + " elements");
  }
  Parts result;
  result.bits = bits / static_cast<unsigned>(count);
  Type type = bitType(d, result.bits);
  result.rows = isSource ? d.sources(vector, type) : d.destinations(vector, type);
  return result;
}

Execute pack(Decoder &d, Type type) {
  unsigned bits = bitsOf(type);
  Row to = exactDestination(d, 0, type);
  Parts from = parts(d, d.operand(1), bits, /*isSource=*/true);
  d.op.undefinedResults = [=](Step &step, unsigned lane) {
    Wide undefined = 0, mask = (Wide{1} << from.bits) - 1;
    for (size_t i = 0; i < from.rows.size(); ++i) {
      undefined |= (step.undefinedBits(from.rows[i], lane) & mask) << i * from.bits;
    }
    undefine(step, to, bits, lane, undefined);
  };
  if (from.rows.size() == 2 && bits <= 64) {
    uint64_t mask = (uint64_t{1} << from.bits) - 1;
    return perLane(to, std::array{from.rows[0], from.rows[1]},
                   [mask, shift = from.bits](uint64_t a, uint64_t b) {
                     return (a & mask) | (b & mask) << shift;
                   });
  }
  return [=](Step &step) {
    step.forLanes([&](unsigned lane) {
      Wide value = 0, mask = (Wide{1} << from.bits) - 1;
      for (size_t i = 0; i < from.rows.size(); ++i) {
        value |= (step.get(from.rows[i], lane) & mask) << i * from.bits;
      }
      store(step, to, bits, lane, value);
    });
    return Outcome::Next;
  };
}

Execute unpack(Decoder &d, Type type) {
  unsigned bits = bitsOf(type);
  Parts to = parts(d, d.operand(0), bits, /*isSource=*/false);
  Row from = exactSource(d, 1, type);
  d.op.undefinedResults = [=](Step &step, unsigned lane) {
    Wide undefined = undefinedBits(step, from, bits, lane), mask = (Wide{1} << to.bits) - 1;
    for (size_t i = 0; i < to.rows.size(); ++i) {
      step.undefine(to.rows[i], lane, static_cast<uint64_t>(undefined >> i * to.bits & mask));
    }
  };
  return [=](Step &step) {
    step.forLanes([&](unsigned lane) {
      Wide value = load(step, from, bits, lane), mask = (Wide{1} << to.bits) - 1;
      for (size_t i = 0; i < to.rows.size(); ++i) {
        step.set(to.rows[i], lane, static_cast<uint64_t>(value >> i * to.bits & mask));
      }
    });
    return Outcome::Next;
  };
}

} // namespace

Execute decodeMov(Decoder &d) {
  Type type =
      takeTypeOf(d, {Type::Pred, Type::B16, Type::B32, Type::B64, Type::B128, Type::U16, Type::U32,
                     Type::U64, Type::S16, Type::S32, Type::S64, Type::F32, Type::F64});
  expectOperands(d, 2);
  d.op.propagatesUndefined = true;
  if (d.operand(1).kind == Operand::Kind::Vector) {
    return pack(d, type);
  }
  if (d.operand(0).kind == Operand::Kind::Vector) {
    return unpack(d, type);
  }
  Row to = exactDestination(d, 0, type);
  bool negated = false;
  Row from = exactSource(d, 1, type, type == Type::Pred ? &negated : nullptr);
  d.op.undefinedResults = [=, bits = type == Type::Pred ? 1 : bitsOf(type)](Step &step,
                                                                            unsigned lane) {
    undefine(step, to, bits, lane, undefinedBits(step, from, bits, lane));
  };
  if (type == Type::B128) {
    return [=](Step &step) {
      step.forLanes(
          [&](unsigned lane) { store(step, to, 128, lane, load(step, from, 128, lane)); });
      return Outcome::Next;
    };
  }
  return perLane(to, std::array{from}, [flip = uint64_t{negated}](uint64_t a) { return a ^ flip; });
}

} // namespace tile_emu
