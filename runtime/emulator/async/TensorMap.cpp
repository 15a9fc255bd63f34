#include "TensorMap.h"

#include <algorithm>
#include <cstring>
#include <iterator>

namespace tile_emu {

namespace {

[[noreturn]] void refuse(const std::string &what, Report::Kind kind = Report::Kind::Invalid) {
  throw Fault({.kind = kind, .message = "tensor map: " + what, .parties = {}, .notes = {}});
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// Of CUtensorMapDataType, by its numbers; None: flushes denormals, which is not modelled.
constexpr ptx::Type kTypes[] = {ptx::Type::U8,  ptx::Type::U16,  ptx::Type::U32,  ptx::Type::S32,
                                ptx::Type::U64, ptx::Type::S64,  ptx::Type::F16,  ptx::Type::F32,
                                ptx::Type::F64, ptx::Type::BF16, ptx::Type::None, ptx::Type::TF32,
                                ptx::Type::None};

int dataTypeOf(ptx::Type type) {
  const auto *found = std::find(std::begin(kTypes), std::end(kTypes), type);
  if (type == ptx::Type::None || found == std::end(kTypes)) {
    refuse("none has elements of type ." + std::string(ptx::typeName(type)));
  }
  return int(found - kTypes);
}

//===----------------------------------------------------------------------===//
// The bytes
//===----------------------------------------------------------------------===//

constexpr char kMark[8] = {'t', 'i', 'l', 'e', 'm', 'a', 'p', '1'};
constexpr size_t kMaxRank = 5;

struct Content {
  char mark[8];
  uint64_t base;
  uint64_t strides[kMaxRank - 1];
  uint32_t lastIndex[kMaxRank]; ///< size - 1 of every dimension
  uint16_t box[kMaxRank];
  uint8_t elementStrides[kMaxRank];
  uint8_t rank, type, swizzle, interleave, nanFill;
  uint64_t checksum; ///< of all before it
};
static_assert(sizeof(Content) <= kTensorMapBytes);

/// FNV-1a, 64 bits.
uint64_t checksumOf(const Content &content) {
  uint64_t hash = 0xcbf29ce484222325;
  const auto *bytes = reinterpret_cast<const uint8_t *>(&content);
  for (size_t i = 0; i != offsetof(Content, checksum); ++i) {
    hash = (hash ^ bytes[i]) * 0x100000001b3;
  }
  return hash;
}

} // namespace

std::array<uint8_t, 128> encodeTensorMap(const tile_rt::TensorMapArguments &arguments) {
  if (std::string why = tile_rt::whyRefused(arguments); !why.empty()) {
    refuse(why);
  }
  if (kTypes[arguments.dataType] == ptx::Type::None) {
    refuse("elements that flush denormals", Report::Kind::Unsupported);
  }
  Content content;
  std::memset(&content, 0, sizeof(content));
  std::memcpy(content.mark, kMark, sizeof(kMark));
  content.base = arguments.address;
  for (size_t i = 0; i != arguments.rank; ++i) {
    content.lastIndex[i] = uint32_t(arguments.dims[i] - 1);
    content.box[i] = uint16_t(arguments.box[i]);
    content.elementStrides[i] = uint8_t(arguments.elementStrides[i]);
  }
  std::copy_n(arguments.strides, arguments.rank - 1, content.strides);
  content.rank = uint8_t(arguments.rank);
  content.type = uint8_t(kTypes[arguments.dataType]);
  content.swizzle = uint8_t(arguments.swizzle ? 16 << arguments.swizzle : 0);
  content.interleave = uint8_t(arguments.interleave ? 8 << arguments.interleave : 0);
  content.nanFill = arguments.fill == 1;
  content.checksum = checksumOf(content);
  std::array<uint8_t, 128> bytes{};
  std::memcpy(bytes.data(), &content, sizeof(content));
  return bytes;
}

std::array<uint8_t, 128> encodeTensorMap(const TensorMapRecipe &recipe) {
  size_t rank = recipe.dims.size();
  if (rank != recipe.box.size() || rank != recipe.elementStrides.size() ||
      rank != recipe.strides.size() + 1) {
    refuse("its box and element strides have as many dimensions as the tensor, its strides have "
           "one less");
  }
  static constexpr uint64_t noStrides[] = {0}; // what a caller of the driver would give for rank 1
  return encodeTensorMap({.dataType = dataTypeOf(recipe.type),
                          .rank = uint32_t(rank),
                          .address = recipe.base,
                          .dims = recipe.dims.data(),
                          .strides = rank == 1 ? noStrides : recipe.strides.data(),
                          .box = recipe.box.data(),
                          .elementStrides = recipe.elementStrides.data(),
                          .interleave = tile_rt::tensorMapInterleave(recipe.interleave),
                          .swizzle = tile_rt::tensorMapSwizzle(recipe.swizzle),
                          .l2Promotion = 0,
                          .fill = recipe.nanFill});
}

std::optional<TensorMapRecipe> decodeTensorMap(const uint8_t *bytes) {
  Content content;
  std::memcpy(&content, bytes, sizeof(content));
  if (std::memcmp(content.mark, kMark, sizeof(kMark)) != 0 ||
      content.checksum != checksumOf(content) || content.rank < 1 || content.rank > kMaxRank) {
    return std::nullopt;
  }
  TensorMapRecipe recipe;
  recipe.base = content.base;
  recipe.type = ptx::Type(content.type);
  recipe.swizzle = content.swizzle;
  recipe.interleave = content.interleave;
  recipe.nanFill = content.nanFill != 0;
  for (unsigned i = 0; i != content.rank; ++i) {
    recipe.dims.push_back(uint64_t(content.lastIndex[i]) + 1);
    recipe.box.push_back(content.box[i]);
    recipe.elementStrides.push_back(content.elementStrides[i]);
    if (i + 1 != content.rank) {
      recipe.strides.push_back(content.strides[i]);
    }
  }
  return recipe;
}

} // namespace tile_emu
