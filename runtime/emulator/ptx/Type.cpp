#include "Module.h"

#include <algorithm>
#include <iterator>

namespace tile_emu::ptx {

namespace {

struct TypeInfo {
  Type type;
  std::string_view name;
  unsigned bits;
};

// In the order of the enumeration.
constexpr TypeInfo kTypes[] = {
    {Type::None, "", 0},          {Type::B8, "b8", 8},          {Type::B16, "b16", 16},
    {Type::B32, "b32", 32},       {Type::B64, "b64", 64},       {Type::B128, "b128", 128},
    {Type::U8, "u8", 8},          {Type::U16, "u16", 16},       {Type::U32, "u32", 32},
    {Type::U64, "u64", 64},       {Type::S8, "s8", 8},          {Type::S16, "s16", 16},
    {Type::S32, "s32", 32},       {Type::S64, "s64", 64},       {Type::F16, "f16", 16},
    {Type::F16x2, "f16x2", 32},   {Type::BF16, "bf16", 16},     {Type::BF16x2, "bf16x2", 32},
    {Type::TF32, "tf32", 32},     {Type::F32, "f32", 32},       {Type::F32x2, "f32x2", 64},
    {Type::F64, "f64", 64},       {Type::E4M3, "e4m3", 8},      {Type::E5M2, "e5m2", 8},
    {Type::E4M3x2, "e4m3x2", 16}, {Type::E5M2x2, "e5m2x2", 16}, {Type::Pred, "pred", 1},
};
static_assert(std::size(kTypes) == size_t(Type::Pred) + 1);

} // namespace

std::optional<Type> typeNamed(std::string_view name) {
  const auto *found = std::find_if(std::begin(kTypes) + 1, std::end(kTypes),
                                   [&](const TypeInfo &info) { return info.name == name; });
  return found == std::end(kTypes) ? std::nullopt : std::optional(found->type);
}

std::string_view typeName(Type type) { return kTypes[size_t(type)].name; }

unsigned bitsOf(Type type) { return kTypes[size_t(type)].bits; }

const Function *Module::find(std::string_view name) const {
  auto found = std::find_if(functions.begin(), functions.end(),
                            [&](const Function &function) { return function.name == name; });
  return found == functions.end() ? nullptr : &*found;
}

} // namespace tile_emu::ptx
