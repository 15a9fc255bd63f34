// Integer arithmetic. PTX ISA, "Integer Arithmetic Instructions" and "Extended-Precision Integer
// Arithmetic Instructions". Sums and products wrap: they are computed as unsigned 64-bit ones.
#include "Lanes.h"
#include "Scalar.h"

#include <algorithm>
#include <limits>

namespace tile_emu {

using ptx::Type;

namespace {

bool hasModifier(const Decoder &d, std::string_view name) {
  const std::vector<std::string> &parts = d.instruction.opcode;
  return std::find(parts.begin() + 1, parts.end(), name) != parts.end();
}

/// A function generic in the integer type, of N values of the type that comes next; its result has
/// that type too.
template <size_t N, typename F>
Execute integerOp(Decoder &d, std::initializer_list<Type> types, F f) {
  Type type = takeTypeOf(d, types);
  return withWideInteger(
      d, type, [&](auto zero) { return laneOpOf<N>(d, type, onBits<decltype(zero)>(f)); });
}

constexpr std::initializer_list<Type> kAll = {Type::U16, Type::U32, Type::U64,
                                              Type::S16, Type::S32, Type::S64},
                                      kSigned = {Type::S16, Type::S32, Type::S64};

/// integerOp, or the same on two halves of a register where the type is u16x2 or s16x2.
template <size_t N, typename F>
Execute packedOrInteger(Decoder &d, std::initializer_list<Type> types, F f) {
  if (d.take("u16x2")) {
    return laneOpOf<N>(d, Type::B32, onPair<16>(onBits<uint16_t>(f)));
  }
  if (d.take("s16x2")) {
    return laneOpOf<N>(d, Type::B32, onPair<16>(onBits<int16_t>(f)));
  }
  return integerOp<N>(d, types, f);
}

int32_t saturate(int64_t value) {
  return static_cast<int32_t>(std::clamp<int64_t>(value, std::numeric_limits<int32_t>::min(),
                                                  std::numeric_limits<int32_t>::max()));
}

template <typename T>
T wrapAdd(T a, T b) {
  return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
template <typename T>
T lowProduct(T a, T b) {
  return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}
template <typename T>
T highProduct(T a, T b) {
  return static_cast<T>(static_cast<Twice<T>>(a) * static_cast<Twice<T>>(b) >> 8 * sizeof(T));
}

/// mul.wide, mad.wide: the result and the addend are twice as wide.
template <bool Add>
Execute decodeWide(Decoder &d) {
  Type type = takeTypeOf(d, {Type::U16, Type::S16, Type::U32, Type::S32});
  Type wide = bitsOf(type) == 16 ? (type == Type::S16 ? Type::S32 : Type::U32)
                                 : (type == Type::S32 ? Type::S64 : Type::U64);
  return withWideInteger(d, type, [&](auto zero) -> Execute {
    using T = decltype(zero);
    if constexpr (sizeof(T) == 8) {
      d.unsupported("64-bit operands");
    } else {
      auto product = [](uint64_t a, uint64_t b) {
        using W = Twice<T>;
        return static_cast<W>(static_cast<W>(fromBits<T>(a)) * static_cast<W>(fromBits<T>(b)));
      };
      if constexpr (Add) {
        auto f = [product](uint64_t a, uint64_t b, uint64_t c) {
          return toBits(wrapAdd(product(a, b), fromBits<Twice<T>>(c)));
        };
        return laneOp(d, wide, f, type, type, wide);
      } else {
        auto f = [product](uint64_t a, uint64_t b) { return toBits(product(a, b)); };
        return laneOp(d, wide, f, type, type);
      }
    }
  });
}

} // namespace

Execute decodeIntegerAdd(Decoder &d) {
  if (hasModifier(d, "cc")) {
    return decodeCarry(d);
  }
  bool subtract = d.mnemonic() == "sub";
  if (d.take("sat")) {
    auto add = [](int32_t a, int32_t b) { return saturate(int64_t{a} + b); };
    auto sub = [](int32_t a, int32_t b) { return saturate(int64_t{a} - b); };
    takeTypeOf(d, {Type::S32});
    return subtract ? laneOpOf<2>(d, Type::S32, onBits<int32_t>(sub))
                    : laneOpOf<2>(d, Type::S32, onBits<int32_t>(add));
  }
  if (subtract) {
    return packedOrInteger<2>(d, kAll, [](auto a, auto b) {
      return static_cast<decltype(a)>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
    });
  }
  return packedOrInteger<2>(d, kAll, [](auto a, auto b) { return wrapAdd(a, b); });
}

Execute decodeIntegerMultiply(Decoder &d) {
  if (hasModifier(d, "cc")) {
    return decodeCarry(d);
  }
  bool add = d.mnemonic() == "mad";
  if (d.take("wide")) {
    return add ? decodeWide<true>(d) : decodeWide<false>(d);
  }
  if (d.take("hi")) {
    if (add && d.take("sat")) {
      takeTypeOf(d, {Type::S32});
      return laneOpOf<3>(d, Type::S32, onBits<int32_t>([](int32_t a, int32_t b, int32_t c) {
                           return saturate(int64_t{highProduct(a, b)} + c);
                         }));
    }
    return add ? integerOp<3>(d, kAll,
                              [](auto a, auto b, auto c) { return wrapAdd(highProduct(a, b), c); })
               : integerOp<2>(d, kAll, [](auto a, auto b) { return highProduct(a, b); });
  }
  d.expect("lo");
  return add ? integerOp<3>(d, kAll,
                            [](auto a, auto b, auto c) { return wrapAdd(lowProduct(a, b), c); })
             : integerOp<2>(d, kAll, [](auto a, auto b) { return lowProduct(a, b); });
}

Execute decodeIntegerDivide(Decoder &d) {
  // The ISA leaves division by zero open; the code that ptxas emits gives all ones for quotient
  // and remainder.
  bool remainder = d.mnemonic() == "rem";
  auto run = [&](auto f) {
    return integerOp<2>(d, kAll, [f](auto a, auto b) {
      using T = decltype(a);
      if (b == 0) {
        return static_cast<T>(-1);
      }
      if (std::is_signed_v<T> && b == static_cast<T>(-1)) {
        return static_cast<T>(f(uint64_t{0} - static_cast<uint64_t>(a), uint64_t{1}));
      }
      return static_cast<T>(f(a, b));
    });
  };
  return remainder ? run([](auto a, auto b) { return a % b; })
                   : run([](auto a, auto b) { return a / b; });
}

Execute decodeIntegerMinMax(Decoder &d) {
  auto run = [&](auto f) {
    if (d.take("relu")) {
      return packedOrInteger<2>(d, {Type::S32},
                                [f](auto a, auto b) { return std::max(f(a, b), decltype(a){0}); });
    }
    return packedOrInteger<2>(d, kAll, f);
  };
  return d.mnemonic() == "min" ? run([](auto a, auto b) { return std::min(a, b); })
                               : run([](auto a, auto b) { return std::max(a, b); });
}

Execute decodeIntegerUnary(Decoder &d) {
  auto negated = [](auto a) { return static_cast<decltype(a)>(-static_cast<uint64_t>(a)); };
  if (d.mnemonic() == "neg") {
    return integerOp<1>(d, kSigned, negated);
  }
  return integerOp<1>(d, kSigned, [negated](auto a) { return a < 0 ? negated(a) : a; });
}

/// {add,sub}.cc, {add,sub}c{.cc}, mad.{lo,hi}.cc, madc.{lo,hi}{.cc}: x + y + carry, x being a
/// product for mad. CC.CF is Warp::carry. Subtraction adds the complement, as the hardware does:
/// the flag is then set where nothing was borrowed.
Execute decodeCarry(Decoder &d) {
  bool multiply = d.mnemonic().starts_with("mad"), subtract = d.mnemonic().starts_with("sub");
  bool high = multiply && d.take("hi");
  if (multiply && !high) {
    d.expect("lo");
  }
  bool reads = d.mnemonic().ends_with("c"), writes = d.take("cc");
  Type type = takeTypeOf(d, {Type::U32, Type::S32, Type::U64, Type::S64});
  expectOperands(d, multiply ? 4 : 3);
  d.op.propagatesUndefined = true;
  Row to = exactDestination(d, 0, type), a = exactSource(d, 1, type), b = exactSource(d, 2, type);
  Row c = multiply ? exactSource(d, 3, type) : b;
  return withWideInteger(d, type, [&](auto zero) -> Execute {
    using T = decltype(zero);
    return [=](Step &step) {
      step.forLanes([&](unsigned lane) {
        T x = fromBits<T>(step.get(a, lane)), y = fromBits<T>(step.get(b, lane));
        if (multiply) {
          x = high ? highProduct(x, y) : lowProduct(x, y);
          y = fromBits<T>(step.get(c, lane));
        }
        LaneMask bit = LaneMask{1} << lane;
        bool carry = reads ? step.warp.carry & bit : subtract;
        T addend = subtract ? static_cast<T>(~y) : y;
        auto sum = static_cast<unsigned __int128>(toBits(x)) + toBits(addend) + carry;
        step.set(to, lane, toBits(static_cast<T>(sum)));
        if (writes) {
          bool out = sum >> 8 * sizeof(T) & 1;
          step.warp.carry = out ? step.warp.carry | bit : step.warp.carry & ~bit;
        }
      });
      return Outcome::Next;
    };
  });
}

Execute decodeMultiply24(Decoder &d) {
  bool add = d.mnemonic() == "mad24", high = d.take("hi");
  if (!high) {
    d.expect("lo");
  }
  bool sat = add && high && d.take("sat");
  Type type = sat ? takeTypeOf(d, {Type::S32}) : takeTypeOf(d, {Type::U32, Type::S32});
  bool isSigned = type == Type::S32;
  auto product = [high, isSigned](uint64_t a, uint64_t b) {
    auto operand = [isSigned](uint64_t bits) {
      auto top = static_cast<int32_t>(static_cast<uint32_t>(bits) << 8);
      return isSigned ? int64_t{top >> 8} : static_cast<int64_t>(bits & 0xffffff);
    };
    return static_cast<uint32_t>(operand(a) * operand(b) >> (high ? 16 : 0));
  };
  if (!add) {
    return laneOpOf<2>(d, type,
                       [product](uint64_t a, uint64_t b) -> uint64_t { return product(a, b); });
  }
  return laneOpOf<3>(d, type, [product, sat](uint64_t a, uint64_t b, uint64_t c) -> uint64_t {
    uint32_t p = product(a, b), addend = static_cast<uint32_t>(c);
    int64_t exact = int64_t{static_cast<int32_t>(p)} + static_cast<int32_t>(addend);
    return sat ? static_cast<uint32_t>(saturate(exact)) : p + addend;
  });
}

Execute decodeSad(Decoder &d) {
  return integerOp<3>(d, kAll, [](auto a, auto b, auto c) {
    using T = decltype(a);
    uint64_t difference = a < b ? static_cast<uint64_t>(b) - static_cast<uint64_t>(a)
                                : static_cast<uint64_t>(a) - static_cast<uint64_t>(b);
    return static_cast<T>(static_cast<uint64_t>(c) + difference);
  });
}

/// dp4a: four products of bytes; dp2a: two of a half of a with a byte of b's lower or upper half.
Execute decodeDotProduct(Decoder &d) {
  bool two = d.mnemonic() == "dp2a", high = two && d.take("hi");
  if (two && !high) {
    d.expect("lo");
  }
  Type aType = takeTypeOf(d, {Type::U32, Type::S32}), bType = takeTypeOf(d, {Type::U32, Type::S32});
  bool aSigned = aType == Type::S32, bSigned = bType == Type::S32;
  Type sumType = aSigned || bSigned ? Type::S32 : Type::U32;
  auto element = [](uint64_t bits, unsigned index, unsigned width, bool isSigned) {
    int64_t value = static_cast<int64_t>(bits >> index * width & ((1u << width) - 1));
    return isSigned && value >> (width - 1) ? value - (int64_t{1} << width) : value;
  };
  auto f = [=](uint64_t a, uint64_t b, uint64_t c) -> uint64_t {
    int64_t sum = static_cast<int64_t>(c);
    for (unsigned i = 0; i < (two ? 2 : 4); ++i) {
      sum += element(a, i, two ? 16 : 8, aSigned) * element(b, i + (high ? 2 : 0), 8, bSigned);
    }
    return static_cast<uint32_t>(sum);
  };
  return laneOp(d, sumType, f, aType, bType, sumType);
}

} // namespace tile_emu
