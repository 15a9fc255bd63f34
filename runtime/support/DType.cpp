#include "DType.h"

namespace tile_rt {

namespace {
struct Row {
  const char *name;
  uint8_t bits;
  ValueKind kind;
  bool isSigned;
};
constexpr Row kTable[kNumDTypes] = {
    {"f64", 64, ValueKind::Float, true}, {"f32", 32, ValueKind::Float, true},
    {"f16", 16, ValueKind::Float, true}, {"bf16", 16, ValueKind::Float, true},
    {"i64", 64, ValueKind::Int, true},   {"i32", 32, ValueKind::Int, true},
    {"i16", 16, ValueKind::Int, true},   {"i8", 8, ValueKind::Int, true},
    {"u64", 64, ValueKind::Int, false},  {"u32", 32, ValueKind::Int, false},
    {"u16", 16, ValueKind::Int, false},  {"u8", 8, ValueKind::Int, false},
    {"bool", 8, ValueKind::Bool, false}, {"e4m3", 8, ValueKind::Float, true},
    {"e5m2", 8, ValueKind::Float, true}, {"e8m0", 8, ValueKind::Float, false},
    {"e2m1", 4, ValueKind::Float, true}, {"i4", 4, ValueKind::Int, true},
    {"u4", 4, ValueKind::Int, false},
};
const Row &row(DType type) { return kTable[static_cast<unsigned>(type)]; }
} // namespace

const char *dtypeName(DType type) { return row(type).name; }
unsigned dtypeBits(DType type) { return row(type).bits; }
ValueKind dtypeKind(DType type) { return row(type).kind; }
bool dtypeIsSigned(DType type) { return row(type).isSigned; }

DType dtypeWithoutSign(DType type) {
  switch (type) {
  case DType::I64:
    return DType::U64;
  case DType::I32:
    return DType::U32;
  case DType::I16:
    return DType::U16;
  case DType::I8:
    return DType::U8;
  case DType::I4:
    return DType::U4;
  default:
    return type;
  }
}

std::optional<DType> dtypeFromName(std::string_view name) {
  for (int i = 0; i < kNumDTypes; ++i) {
    if (name == kTable[i].name) {
      return static_cast<DType>(i);
    }
  }
  return std::nullopt;
}

} // namespace tile_rt
