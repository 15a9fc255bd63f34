// Loops over the active lanes of a warp, and the types that scalar instructions work in. A family
// is described by a function on values; these make a closure on rows of it.
#pragma once

#include "../exec/Decoder.h"
#include "../exec/Step.h"

#include <bit>
#include <type_traits>
#include <utility>

namespace tile_emu {

/// The value of type T in the low bits of a register. Integers of a register wider than T are cut.
template <typename T>
T fromBits(uint64_t bits) {
  if constexpr (std::is_same_v<T, float>) {
    return std::bit_cast<float>(static_cast<uint32_t>(bits));
  } else if constexpr (std::is_same_v<T, double>) {
    return std::bit_cast<double>(bits);
  } else {
    return static_cast<T>(bits);
  }
}

/// A register's bits of a value: zero above its width, for signed integers too.
template <typename T>
uint64_t toBits(T value) {
  if constexpr (std::is_same_v<T, float>) {
    return std::bit_cast<uint32_t>(value);
  } else if constexpr (std::is_same_v<T, double>) {
    return std::bit_cast<uint64_t>(value);
  } else if constexpr (std::is_same_v<T, bool>) {
    return value;
  } else {
    return static_cast<std::make_unsigned_t<T>>(value);
  }
}

/// A function on values of T as one on registers' bits.
template <typename T, typename F>
auto onBits(F f) {
  return [f](auto... bits) -> uint64_t { return toBits(f(fromBits<T>(bits)...)); };
}

/// A function on bits of one element applied to each of two, side by side in a register.
template <unsigned Bits, typename F>
auto onPair(F f) {
  return [f](auto... bits) -> uint64_t {
    constexpr uint64_t mask = (uint64_t{1} << Bits) - 1;
    return (f((bits & mask)...) & mask) | f((bits >> Bits & mask)...) << Bits;
  };
}

/// `to` = f(from...) in every active lane.
template <size_t N, typename F>
Execute perLane(Row to, const std::array<Row, N> &from, F f) {
  return [to, from, f](Step &step) {
    uint64_t *out = step.row(to);
    std::array<const uint64_t *, N> in;
    for (size_t i = 0; i < N; ++i) {
      in[i] = step.row(from[i]);
    }
    auto lane = [&]<size_t... I>(unsigned l, std::index_sequence<I...>) {
      out[l] = f(in[I][l]...);
    };
    if (step.lanes == ~LaneMask{0}) {
      for (unsigned l = 0; l < kWarpSize; ++l) {
        lane(l, std::make_index_sequence<N>());
      }
    } else {
      step.forLanes([&](unsigned l) { lane(l, std::make_index_sequence<N>()); });
    }
    return Outcome::Next;
  };
}

/// Fault unless there are `count` operands.
inline void expectOperands(Decoder &d, size_t count) {
  if (d.numOperands() != count) {
    d.invalid("takes " + std::to_string(count) + " operands");
  }
}

/// Operands of exactly the type's width: unlike cvt, most instructions neither cut nor extend.
inline void expectWidth(Decoder &d, const ptx::Operand &operand, ptx::Type type) {
  ptx::Type declared = d.registerType(operand);
  if (declared != ptx::Type::None && bitsOf(declared) != bitsOf(type)) {
    d.invalid("a register of type ." + std::string(ptx::typeName(declared)) + " where ." +
              std::string(ptx::typeName(type)) + " is expected");
  }
}
inline Row exactSource(Decoder &d, size_t i, ptx::Type type, bool *negated = nullptr) {
  expectWidth(d, d.operand(i), type);
  return d.source(i, type, negated);
}
inline Row exactDestination(Decoder &d, const ptx::Operand &operand, ptx::Type type) {
  expectWidth(d, operand, type);
  return d.destination(operand, type);
}
inline Row exactDestination(Decoder &d, size_t i, ptx::Type type) {
  return exactDestination(d, d.operand(i), type);
}

/// The bits of a register that hold a value of the type.
inline uint64_t widthMask(ptx::Type type) {
  unsigned bits = type == ptx::Type::Pred ? 1 : ptx::bitsOf(type);
  return bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
}

/// Sets which bits of the result are undefined: `f(values, undefined bits)` of the sources.
template <size_t N, typename F>
void undefinedResult(Decoder &d, Row to, ptx::Type toType, const std::array<Row, N> &from,
                     const std::array<ptx::Type, N> &types, F f) {
  std::array<uint64_t, N> masks;
  for (size_t i = 0; i < N; ++i) {
    masks[i] = widthMask(types[i]);
  }
  d.op.undefinedResults = [=, mask = widthMask(toType)](Step &step, unsigned lane) {
    std::array<uint64_t, N> values, undefined;
    for (size_t i = 0; i < N; ++i) {
      values[i] = step.get(from[i], lane);
      undefined[i] = step.undefinedBits(from[i], lane) & masks[i];
    }
    step.undefine(to, lane, f(values, undefined) & mask);
  };
}

/// For functions that work on each bit by itself: a bit is undefined if it can come out as 0 and
/// as 1.
template <size_t N, typename F>
auto undefinedBitwise(F f) {
  return [f](const std::array<uint64_t, N> &values, const std::array<uint64_t, N> &undefined) {
    auto apply = [&]<size_t... I>(unsigned flipped, std::index_sequence<I...>) -> uint64_t {
      return f((values[I] ^ (flipped >> I & 1 ? undefined[I] : 0))...);
    };
    uint64_t first = apply(0, std::make_index_sequence<N>()), varies = 0;
    for (unsigned flipped = 1; flipped < 1u << N; ++flipped) {
      varies |= apply(flipped, std::make_index_sequence<N>()) ^ first;
    }
    return varies;
  };
}

/// For functions that move the bits of their first `Data` operands as the others say: what is
/// undefined moves alike, unless the others are undefined.
template <size_t Data, size_t N, typename F>
auto undefinedMoved(F f) {
  return [f](const std::array<uint64_t, N> &values,
             const std::array<uint64_t, N> &undefined) -> uint64_t {
    for (size_t i = Data; i < N; ++i) {
      if (undefined[i]) {
        return ~uint64_t{0};
      }
    }
    return [&]<size_t... I>(std::index_sequence<I...>) -> uint64_t {
      return f((I < Data ? undefined[I] : values[I])...);
    }(std::make_index_sequence<N>());
  };
}

/// For functions on each of several elements of `Bits` side by side.
template <unsigned Bits, size_t N>
uint64_t undefinedElements(const std::array<uint64_t, N> &,
                           const std::array<uint64_t, N> &undefined) {
  constexpr uint64_t mask = (uint64_t{1} << Bits) - 1;
  uint64_t any = 0, result = 0;
  for (uint64_t bits : undefined) {
    any |= bits;
  }
  for (unsigned at = 0; at < 64; at += Bits) {
    result |= any >> at & mask ? mask << at : 0;
  }
  return result;
}

/// Decodes `to, from...` of the types given and applies f, whose undefined inputs make undefined
/// outputs: of packed types, of each element by itself.
template <typename F, typename... Types>
Execute laneOp(Decoder &d, ptx::Type to, F f, Types... from) {
  expectOperands(d, 1 + sizeof...(from));
  d.op.propagatesUndefined = true;
  Row out = exactDestination(d, 0, to);
  size_t i = 0;
  constexpr size_t N = sizeof...(from);
  std::array<Row, N> in{exactSource(d, ++i, from)...};
  std::array<ptx::Type, N> types{from...};
  if (to == ptx::Type::F16x2 || to == ptx::Type::BF16x2) {
    undefinedResult(d, out, to, in, types, undefinedElements<16, N>);
  } else if (to == ptx::Type::F32x2) {
    undefinedResult(d, out, to, in, types, undefinedElements<32, N>);
  }
  return perLane(out, in, f);
}

/// laneOp for functions that move bits (see undefinedMoved).
template <size_t Data, typename F, typename... Types>
Execute moveOp(Decoder &d, ptx::Type to, F f, Types... from) {
  constexpr size_t N = sizeof...(from);
  expectOperands(d, 1 + N);
  d.op.propagatesUndefined = true;
  Row out = exactDestination(d, 0, to);
  size_t i = 0;
  std::array<Row, N> in{exactSource(d, ++i, from)...};
  undefinedResult(d, out, to, in, std::array<ptx::Type, N>{from...}, undefinedMoved<Data, N>(f));
  return perLane(out, in, f);
}

/// laneOp with all operands of one type; N sources.
template <size_t N, typename F>
Execute laneOpOf(Decoder &d, ptx::Type type, F f) {
  return [&]<size_t... I>(std::index_sequence<I...>) {
    return laneOp(d, type, f, ((void)I, type)...);
  }(std::make_index_sequence<N>());
}

/// Takes a type, which must be one of `allowed`.
inline ptx::Type takeTypeOf(Decoder &d, std::initializer_list<ptx::Type> allowed) {
  std::string name(d.peek());
  ptx::Type type = d.takeType();
  for (ptx::Type t : allowed) {
    if (t == type) {
      return type;
    }
  }
  d.unsupported("type ." + name);
}

/// Calls f with a value of the integer type that computes in `type` (bit types as unsigned).
template <typename F>
auto withInteger(Decoder &d, ptx::Type type, F f) {
  using ptx::Type;
  switch (type) {
  case Type::B8:
  case Type::U8:
    return f(uint8_t{});
  case Type::S8:
    return f(int8_t{});
  case Type::B16:
  case Type::U16:
    return f(uint16_t{});
  case Type::S16:
    return f(int16_t{});
  case Type::B32:
  case Type::U32:
    return f(uint32_t{});
  case Type::S32:
    return f(int32_t{});
  case Type::B64:
  case Type::U64:
    return f(uint64_t{});
  case Type::S64:
    return f(int64_t{});
  default:
    d.unsupported("type ." + std::string(ptx::typeName(type)));
  }
}

/// The same without the 8-bit types, which most instructions do not have.
template <typename F>
auto withWideInteger(Decoder &d, ptx::Type type, F f) {
  return withInteger(d, type, [&](auto zero) -> Execute {
    if constexpr (sizeof(zero) == 1) {
      d.unsupported("8-bit operands");
    } else {
      return f(zero);
    }
  });
}

/// The integer type twice as wide; __int128 for 64 bits.
template <typename T>
struct TwiceAs;
template <>
struct TwiceAs<uint8_t> : std::type_identity<uint16_t> {};
template <>
struct TwiceAs<int8_t> : std::type_identity<int16_t> {};
template <>
struct TwiceAs<uint16_t> : std::type_identity<uint32_t> {};
template <>
struct TwiceAs<int16_t> : std::type_identity<int32_t> {};
template <>
struct TwiceAs<uint32_t> : std::type_identity<uint64_t> {};
template <>
struct TwiceAs<int32_t> : std::type_identity<int64_t> {};
template <>
struct TwiceAs<uint64_t> : std::type_identity<unsigned __int128> {};
template <>
struct TwiceAs<int64_t> : std::type_identity<__int128> {};
template <typename T>
using Twice = typename TwiceAs<T>::type;

} // namespace tile_emu
