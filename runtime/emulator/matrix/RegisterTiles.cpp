#include "RegisterTiles.h"

#include "../../support/Floats.h"
#include "Fragments.h"

namespace tile_emu {

namespace {
/// 32 bits for all types but f64.
unsigned registerBits(Element element) { return element == Element::F64 ? 64 : 32; }

/// Values of a register in one lane: up to 32 of one bit.
template <typename T>
struct Values {
  T values[32];
  Values(Element element, uint64_t bits) {
    uint8_t bytes[8];
    std::memcpy(bytes, &bits, 8);
    unpack(element, bytes, registerBits(element) / bitsOf(element), values);
  }
};

/// The value of an accumulator that fills its register.
template <typename T>
T wholeRegister(uint64_t bits) {
  if constexpr (sizeof(T) == 8) {
    return std::bit_cast<T>(bits);
  } else {
    return std::bit_cast<T>(uint32_t(bits));
  }
}

uint64_t halfBits(float value) { return tile_rt::encodeFloat(tile_rt::DType::F16, double(value)); }

uint64_t accumulatorBits(Element element, float first, float second) {
  if (element == Element::F16) {
    return halfBits(first) | halfBits(second) << 16;
  }
  return std::bit_cast<uint32_t>(first);
}
uint64_t accumulatorBits(Element, double value, double) { return std::bit_cast<uint64_t>(value); }
uint64_t accumulatorBits(Element, int32_t value, int32_t) { return uint32_t(value); }
} // namespace

template <typename T>
void readA(Step &step, Element element, unsigned rows, unsigned k,
           const std::vector<Row> &registers, Operands<T> &to) {
  unsigned perRegister = registerBits(element) / bitsOf(element);
  for (unsigned r = 0; r < registers.size(); ++r) {
    for (unsigned lane = 0; lane < kWarpSize; ++lane) {
      Values<T> values(element, step.get(registers[r], lane));
      MatrixPosition at = positionInA(rows, perRegister, lane, r, 0);
      std::copy_n(values.values, perRegister, to.a + at.row * k + at.column);
      if (!step.isDefined(registers[r], lane)) {
        to.undefinedRows |= 1u << at.row;
      }
    }
  }
}

template <typename T>
void readB(Step &step, Element element, const std::vector<Row> &registers, Operands<T> &to) {
  constexpr unsigned kColumns = 8;
  unsigned perRegister = registerBits(element) / bitsOf(element);
  for (unsigned r = 0; r < registers.size(); ++r) {
    for (unsigned lane = 0; lane < kWarpSize; ++lane) {
      Values<T> values(element, step.get(registers[r], lane));
      MatrixPosition at = positionInB(perRegister, lane, r, 0);
      for (unsigned e = 0; e < perRegister; ++e) {
        to.b[(at.row + e) * kColumns + at.column] = values.values[e];
      }
      if (!step.isDefined(registers[r], lane)) {
        to.columnUndefined(at.column);
      }
    }
  }
}

template <typename T>
void readC(Step &step, const AccumulatorLayout &layout, const std::vector<Row> &registers,
           Operands<T> &to) {
  unsigned perRegister = layout.perRegister();
  for (unsigned r = 0; r < registers.size(); ++r) {
    const uint64_t *bits = step.row(registers[r]);
    for (unsigned lane = 0; lane < kWarpSize; ++lane) {
      MatrixPosition at = positionInC(layout.rows, lane, r * perRegister);
      if (perRegister == 1) {
        to.c[at.row * layout.columns + at.column] = wholeRegister<T>(bits[lane]);
        continue;
      }
      Values<T> values(layout.element, bits[lane]);
      std::copy_n(values.values, perRegister, to.c + at.row * layout.columns + at.column);
    }
  }
}

template <typename T>
void writeD(Step &step, const AccumulatorLayout &layout, const std::vector<Row> &registers,
            const Operands<T> &from) {
  unsigned perRegister = layout.perRegister();
  for (unsigned r = 0; r < registers.size(); ++r) {
    for (unsigned lane = 0; lane < kWarpSize; ++lane) {
      MatrixPosition at = positionInC(layout.rows, lane, r * perRegister);
      const T *values = from.c + at.row * layout.columns + at.column;
      step.set(registers[r], lane,
               accumulatorBits(layout.element, values[0], values[perRegister - 1]));
    }
  }
}

template <typename T>
uint64_t undefinedBits(const AccumulatorLayout &layout, unsigned r, unsigned lane,
                       const Operands<T> &operands, uint64_t undefinedC) {
  unsigned perRegister = layout.perRegister();
  MatrixPosition at = positionInC(layout.rows, lane, r * perRegister);
  uint64_t result = 0, element = perRegister == 1 ? ~uint64_t(0) : 0xffff;
  for (unsigned e = 0; e < perRegister; ++e) {
    uint64_t bits = element << 16 * e;
    result |= operands.undefined(at.row, at.column + e) || (undefinedC & bits) ? bits : 0;
  }
  return result;
}

#define INSTANTIATE(T)                                                                             \
  template void readA(Step &, Element, unsigned, unsigned, const std::vector<Row> &,               \
                      Operands<T> &);                                                              \
  template void readB(Step &, Element, const std::vector<Row> &, Operands<T> &);                   \
  template void readC(Step &, const AccumulatorLayout &, const std::vector<Row> &, Operands<T> &); \
  template void writeD(Step &, const AccumulatorLayout &, const std::vector<Row> &,                \
                       const Operands<T> &);                                                       \
  template uint64_t undefinedBits(const AccumulatorLayout &, unsigned, unsigned,                   \
                                  const Operands<T> &, uint64_t);
INSTANTIATE(float)
INSTANTIATE(double)
INSTANTIATE(int32_t)
#undef INSTANTIATE

} // namespace tile_emu
