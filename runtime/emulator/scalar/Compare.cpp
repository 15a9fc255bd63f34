// Comparisons and selections. PTX ISA, "Comparison and Selection Instructions", "Half Precision
// Comparison Instructions".
#include "Float.h"
#include "Scalar.h"

namespace tile_emu {

using ptx::Type;

namespace {

/// How two values relate: exactly one of these.
enum Relation : unsigned { Less = 1, Equal = 2, Greater = 4, Unordered = 8 };

/// A comparison holds for a set of relations.
struct Comparison {
  std::string_view name;
  unsigned holds;
  enum { Any, Float, Unsigned } types = Any;
};
constexpr Comparison kComparisons[] = {
    {"eq", Equal},
    {"ne", Less | Greater},
    {"lt", Less},
    {"le", Less | Equal},
    {"gt", Greater},
    {"ge", Greater | Equal},
    {"lo", Less, Comparison::Unsigned},
    {"ls", Less | Equal, Comparison::Unsigned},
    {"hi", Greater, Comparison::Unsigned},
    {"hs", Greater | Equal, Comparison::Unsigned},
    {"equ", Equal | Unordered, Comparison::Float},
    {"neu", Less | Greater | Unordered, Comparison::Float},
    {"ltu", Less | Unordered, Comparison::Float},
    {"leu", Less | Equal | Unordered, Comparison::Float},
    {"gtu", Greater | Unordered, Comparison::Float},
    {"geu", Greater | Equal | Unordered, Comparison::Float},
    {"num", Less | Equal | Greater, Comparison::Float},
    {"nan", Unordered, Comparison::Float},
};

template <typename T>
unsigned relate(T a, T b) {
  return a < b ? Less : a == b ? Equal : a > b ? Greater : Unordered;
}

enum class Combine : uint8_t { None, And, Or, Xor };

bool combined(Combine combine, bool t, bool c) {
  switch (combine) {
  case Combine::And:
    return t && c;
  case Combine::Or:
    return t || c;
  case Combine::Xor:
    return t != c;
  default:
    return t;
  }
}

/// What setp and set have before their types: CmpOp{.BoolOp}{.ftz}.
struct Modifiers {
  const Comparison *comparison = nullptr;
  Combine combine = Combine::None;
  bool ftz = false;
};

Modifiers takeModifiers(Decoder &d) {
  Modifiers result;
  for (const Comparison &comparison : kComparisons) {
    if (d.take(comparison.name)) {
      result.comparison = &comparison;
      break;
    }
  }
  if (!result.comparison) {
    d.unsupported("comparison ." + std::string(d.peek()));
  }
  if (std::optional<unsigned> combine = d.takeOneOf({"and", "or", "xor"})) {
    result.combine = static_cast<Combine>(*combine + 1);
  }
  result.ftz = d.take("ftz");
  return result;
}

bool isFloat(Type type) {
  Type element = elementOf(type);
  return element == Type::F16 || element == Type::BF16 || element == Type::F32 ||
         element == Type::F64;
}

void checkComparison(Decoder &d, const Modifiers &modifiers, Type type) {
  bool isUnsigned = type == Type::U16 || type == Type::U32 || type == Type::U64;
  bool isBits = type == Type::B16 || type == Type::B32 || type == Type::B64;
  const Comparison &comparison = *modifiers.comparison;
  bool fits = comparison.types == Comparison::Any ||
              (comparison.types == Comparison::Float ? isFloat(type) : isUnsigned);
  if (isBits && comparison.name != "eq" && comparison.name != "ne") {
    fits = false;
  }
  if (!fits || (modifiers.ftz && (!isFloat(type) || type == Type::F64))) {
    d.unsupported("comparison of type ." + std::string(ptx::typeName(type)));
  }
}

/// Calls f with a function from the bits of two elements of `type` to their relation.
template <typename F>
Execute withRelation(Decoder &d, Type type, bool ftz, F f) {
  auto ofFloats = [&]<FloatFormat Format>() {
    return f([ftz](uint64_t a, uint64_t b) {
      return relate(decode<Format>(a, ftz), decode<Format>(b, ftz));
    });
  };
  switch (elementOf(type)) {
  case Type::F64:
    return ofFloats.template operator()<kF64>();
  case Type::F32:
    return ofFloats.template operator()<kF32>();
  case Type::F16:
    return ofFloats.template operator()<kF16>();
  case Type::BF16:
    return ofFloats.template operator()<kBF16>();
  default:
    return withWideInteger(d, type, [&](auto zero) {
      using T = decltype(zero);
      return f([](uint64_t a, uint64_t b) { return relate(fromBits<T>(a), fromBits<T>(b)); });
    });
  }
}

/// The predicate that a comparison is combined with; a row of no meaning if there is none.
struct With {
  Row row = kSinkRow;
  bool negated = false;
};
With takeWith(Decoder &d, Combine combine) {
  expectOperands(d, combine == Combine::None ? 3 : 4);
  With with;
  if (combine != Combine::None) {
    with.row = exactSource(d, 3, Type::Pred, &with.negated);
  }
  return with;
}

} // namespace

/// p|q get the comparison and its opposite, or, of packed types, the two halves' comparisons.
Execute decodeSetp(Decoder &d) {
  Modifiers modifiers = takeModifiers(d);
  Type type = d.takeType();
  checkComparison(d, modifiers, type);
  With with = takeWith(d, modifiers.combine);
  d.op.propagatesUndefined = true;
  const ptx::Operand &to = d.operand(0);
  bool pair = to.kind == ptx::Operand::Kind::Pair && to.elements.size() == 2;
  bool packed = elementOf(type) != type;
  if (packed && !pair) {
    d.invalid("has a destination p|q");
  }
  Row p = exactDestination(d, pair ? to.elements[0] : to, Type::Pred);
  Row q = pair ? exactDestination(d, to.elements[1], Type::Pred) : p;
  Row a = exactSource(d, 1, type), b = exactSource(d, 2, type);
  unsigned holds = modifiers.comparison->holds;
  Combine combine = modifiers.combine;
  return withRelation(d, type, modifiers.ftz, [&](auto relation) -> Execute {
    if (!pair && combine == Combine::None) {
      return perLane(p, std::array{a, b}, [=](uint64_t x, uint64_t y) -> uint64_t {
        return (relation(x, y) & holds) != 0;
      });
    }
    return [=](Step &step) {
      step.forLanes([&](unsigned lane) {
        uint64_t x = step.get(a, lane), y = step.get(b, lane);
        bool c = (step.get(with.row, lane) != 0) != with.negated;
        constexpr uint64_t half = 0xffff;
        bool first = relation(packed ? x & half : x, packed ? y & half : y) & holds;
        bool second = packed ? relation(x >> 16 & half, y >> 16 & half) & holds : !first;
        step.set(q, lane, combined(combine, second, c));
        step.set(p, lane, combined(combine, first, c));
      });
      return Outcome::Next;
    };
  });
}

/// The value for "true" in a destination: 1.0 or all ones.
static uint64_t trueOf(Decoder &d, Type type) {
  switch (type) {
  case Type::F32:
    return toBits(1.0f);
  case Type::F16:
    return 0x3c00;
  case Type::BF16:
    return 0x3f80;
  case Type::F16x2:
    return 0x3c003c00;
  case Type::BF16x2:
    return 0x3f803f80;
  case Type::U16:
  case Type::S16:
    return 0xffff;
  case Type::U32:
  case Type::S32:
    return 0xffffffff;
  default:
    d.unsupported("destination of type ." + std::string(ptx::typeName(type)));
  }
}

Execute decodeSet(Decoder &d) {
  Modifiers modifiers = takeModifiers(d);
  Type toType = d.takeType(), type = d.takeType();
  checkComparison(d, modifiers, type);
  bool packed = elementOf(type) != type;
  uint64_t yes = trueOf(d, toType);
  if (packed != (elementOf(toType) != toType) && !(packed && bitsOf(toType) == 32)) {
    d.unsupported("these two types together");
  }
  With with = takeWith(d, modifiers.combine);
  d.op.propagatesUndefined = true;
  Row to = exactDestination(d, 0, toType), a = exactSource(d, 1, type), b = exactSource(d, 2, type);
  unsigned holds = modifiers.comparison->holds;
  Combine combine = modifiers.combine;
  return withRelation(d, type, modifiers.ftz, [&](auto relation) -> Execute {
    auto f = [=](uint64_t x, uint64_t y, uint64_t predicate) -> uint64_t {
      bool c = (predicate != 0) != with.negated;
      if (!packed) {
        return combined(combine, relation(x, y) & holds, c) ? yes : 0;
      }
      auto compare = [&](uint64_t u, uint64_t v) -> uint64_t {
        return combined(combine, relation(u, v) & holds, c) ? 0xffff : 0;
      };
      return onPair<16>(compare)(x, y) & yes;
    };
    return perLane(to, std::array{a, b, with.row}, f);
  });
}

/// Reads only the value it chooses, so that only that one needs to be defined.
Execute decodeSelp(Decoder &d) {
  Type type = takeTypeOf(d, {Type::B16, Type::B32, Type::B64, Type::U16, Type::U32, Type::U64,
                             Type::S16, Type::S32, Type::S64, Type::F32, Type::F64});
  expectOperands(d, 4);
  d.op.tracksUndefined = true;
  Row to = exactDestination(d, 0, type);
  Row a = exactSource(d, 1, type), b = exactSource(d, 2, type), p = exactSource(d, 3, Type::Pred);
  Execute select = perLane(to, std::array{a, b, p},
                           [](uint64_t x, uint64_t y, uint64_t which) { return which ? x : y; });
  return [=](Step &step) {
    const std::vector<LaneMask> &defined = step.warp.defined;
    if (step.lanes & ~(defined[a] & defined[b] & defined[p])) {
      step.forLanes([&](unsigned lane) {
        step.undefine(to, lane,
                      step.isDefined(p, lane) ? step.undefinedBits(step.get(p, lane) ? a : b, lane)
                                              : ~uint64_t{0});
      });
    }
    return select(step);
  };
}

Execute decodeSlct(Decoder &d) {
  bool ftz = d.take("ftz");
  Type type = takeTypeOf(d, {Type::B16, Type::B32, Type::B64, Type::U16, Type::U32, Type::U64,
                             Type::S16, Type::S32, Type::S64, Type::F32, Type::F64});
  Type by = takeTypeOf(d, {Type::S32, Type::F32});
  if (ftz && by != Type::F32) {
    d.unsupported("modifier .ftz of type .s32");
  }
  bool isFloatBy = by == Type::F32;
  auto f = [=](uint64_t a, uint64_t b, uint64_t c) {
    // -0 is not below 0, and with .ftz no subnormal is; a NaN chooses b.
    bool first = isFloatBy ? decode<kF32>(c, ftz) >= 0 : fromBits<int32_t>(c) >= 0;
    return first ? a : b;
  };
  return laneOp(d, type, f, type, type, by);
}

} // namespace tile_emu
