// Element types of tensors and scalars, numbered as tile_dtype in tile.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tile_rt {

enum class DType : uint8_t {
  F64,
  F32,
  F16,
  BF16,
  I64,
  I32,
  I16,
  I8,
  U64,
  U32,
  U16,
  U8,
  Bool,
  E4M3,
  E5M2,
  E8M0,
  E2M1,
  I4,
  U4,
};
constexpr int kNumDTypes = 19;

/// How values of a type are computed with on the host.
enum class ValueKind : uint8_t { Int, Float, Bool };

/// "f16"; the spelling of the language.
const char *dtypeName(DType type);
std::optional<DType> dtypeFromName(std::string_view name);
/// Size in bits: 4 for the packed types, 8 for bool.
unsigned dtypeBits(DType type);
/// e8m0 and the other small formats count as floats.
ValueKind dtypeKind(DType type);
bool dtypeIsSigned(DType type);
/// The integer type of that size without sign; any other type is returned as it is.
DType dtypeWithoutSign(DType type);
/// Two elements to a byte.
inline bool dtypeIsPacked(DType type) { return dtypeBits(type) == 4; }
/// Types of scalar parameters: all but the storage types.
inline bool dtypeIsScalar(DType type) { return type <= DType::Bool; }
/// Bytes that hold `count` elements; packed types round up.
inline uint64_t dtypeBytes(DType type, uint64_t count) { return (count * dtypeBits(type) + 7) / 8; }

} // namespace tile_rt
