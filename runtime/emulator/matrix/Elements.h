// Element types of matrix operands: their names in PTX and their values.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tile_emu {

enum class Element : uint8_t { F16, BF16, TF32, F32, F64, E4M3, E5M2, S32, S8, U8, S4, U4, B1 };

/// By the name in the opcode, "e4m3".
std::optional<Element> elementNamed(std::string_view name);
/// Bits that one element takes in registers and memory; 32 for tf32.
unsigned bitsOf(Element element);
/// Of the types that are multiplied as numbers with a fraction; false for integers and bits.
bool isFloat(Element element);

/// May matrices of these types be multiplied by one another, and the products be summed in a type?
bool multipliable(Element a, Element b);
bool accumulates(Element product, Element sum);

/// Values of `count` elements packed from `bytes`, the first in the low bits. The types of a
/// destination: float for floats of up to 32 bits (the low 13 bits of tf32 are ignored), double for
/// f64, int32_t for integers and bits. All conversions are exact.
void unpack(Element element, const uint8_t *bytes, unsigned count, float *out);
void unpack(Element element, const uint8_t *bytes, unsigned count, double *out);
void unpack(Element element, const uint8_t *bytes, unsigned count, int32_t *out);

} // namespace tile_emu
