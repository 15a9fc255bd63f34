#include "Elements.h"

#include "../../support/Floats.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <initializer_list>

namespace tile_emu {

namespace {
struct Info {
  std::string_view name;
  unsigned bits;
  bool isFloat;
};
/// By number of the enumerator.
constexpr std::array<Info, 13> kInfos = {{{"f16", 16, true},
                                          {"bf16", 16, true},
                                          {"tf32", 32, true},
                                          {"f32", 32, true},
                                          {"f64", 64, true},
                                          {"e4m3", 8, true},
                                          {"e5m2", 8, true},
                                          {"s32", 32, false},
                                          {"s8", 8, false},
                                          {"u8", 8, false},
                                          {"s4", 4, false},
                                          {"u4", 4, false},
                                          {"b1", 1, false}}};

/// Bit operations only, so that the loop around it is vectorised.
inline float halfToFloat(uint16_t half) {
  uint32_t magnitude = uint32_t(half & 0x7fff) << 13;
  // Moves the exponent by 112 = 127 - 15; subnormal halves come out right by the same product.
  uint32_t scaled = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) * 0x1p112f);
  uint32_t special = (half & 0x7c00) == 0x7c00 ? 0x7f800000u : 0u;
  return std::bit_cast<float>(scaled | special | uint32_t(half & 0x8000) << 16);
}

using Table = std::array<float, 256>;
Table makeTable(tile_rt::DType type) {
  Table table;
  for (unsigned bits = 0; bits < 256; ++bits) {
    table[bits] = float(tile_rt::decodeFloat(type, bits));
  }
  return table;
}
const Table &tableOf(Element element) {
  static const Table e4m3 = makeTable(tile_rt::DType::E4M3), e5m2 = makeTable(tile_rt::DType::E5M2);
  return element == Element::E4M3 ? e4m3 : e5m2;
}

bool isOneOf(Element element, std::initializer_list<Element> elements) {
  return std::find(elements.begin(), elements.end(), element) != elements.end();
}

template <typename Bits>
Bits at(const uint8_t *bytes, unsigned i) {
  Bits bits;
  std::memcpy(&bits, bytes + i * sizeof(Bits), sizeof(Bits));
  return bits;
}
} // namespace

std::optional<Element> elementNamed(std::string_view name) {
  for (unsigned i = 0; i < kInfos.size(); ++i) {
    if (kInfos[i].name == name) {
      return Element(i);
    }
  }
  return std::nullopt;
}

unsigned bitsOf(Element element) { return kInfos[unsigned(element)].bits; }
bool isFloat(Element element) { return kInfos[unsigned(element)].isFloat; }

void unpack(Element element, const uint8_t *bytes, unsigned count, float *out) {
  switch (element) {
  case Element::F16:
    for (unsigned i = 0; i < count; ++i) {
      out[i] = halfToFloat(at<uint16_t>(bytes, i));
    }
    return;
  case Element::BF16:
    for (unsigned i = 0; i < count; ++i) {
      out[i] = std::bit_cast<float>(uint32_t(at<uint16_t>(bytes, i)) << 16);
    }
    return;
  case Element::TF32:
    for (unsigned i = 0; i < count; ++i) {
      out[i] = std::bit_cast<float>(at<uint32_t>(bytes, i) & ~uint32_t(0x1fff));
    }
    return;
  case Element::E4M3:
  case Element::E5M2: {
    const Table &table = tableOf(element);
    for (unsigned i = 0; i < count; ++i) {
      out[i] = table[bytes[i]];
    }
    return;
  }
  default: // f32
    std::memcpy(out, bytes, count * sizeof(float));
  }
}

void unpack(Element, const uint8_t *bytes, unsigned count, double *out) {
  std::memcpy(out, bytes, count * sizeof(double));
}

void unpack(Element element, const uint8_t *bytes, unsigned count, int32_t *out) {
  for (unsigned i = 0; i < count; ++i) {
    switch (element) {
    case Element::S8:
      out[i] = (bytes[i] ^ 0x80) - 0x80; // with its sign
      break;
    case Element::U8:
      out[i] = bytes[i];
      break;
    case Element::S4:
    case Element::U4: {
      int32_t nibble = bytes[i / 2] >> (i % 2 * 4) & 15;
      out[i] = element == Element::S4 && nibble >= 8 ? nibble - 16 : nibble;
      break;
    }
    case Element::B1:
      out[i] = bytes[i / 8] >> (i % 8) & 1;
      break;
    default: // s32
      out[i] = at<int32_t>(bytes, i);
    }
  }
}

bool multipliable(Element a, Element b) {
  for (auto group : {std::initializer_list<Element>{Element::E4M3, Element::E5M2},
                     {Element::S8, Element::U8},
                     {Element::S4, Element::U4}}) {
    if (isOneOf(a, group)) {
      return isOneOf(b, group);
    }
  }
  return a == b &&
         isOneOf(a, {Element::F16, Element::BF16, Element::TF32, Element::F64, Element::B1});
}

bool accumulates(Element product, Element sum) {
  switch (product) {
  case Element::F16:
  case Element::E4M3:
  case Element::E5M2:
    return sum == Element::F16 || sum == Element::F32;
  case Element::BF16:
  case Element::TF32:
    return sum == Element::F32;
  case Element::F64:
    return sum == Element::F64;
  default:
    return sum == Element::S32;
  }
}

} // namespace tile_emu
