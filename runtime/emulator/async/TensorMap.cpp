#include "runtime/emulator/async/TensorMap.h"

#include <cstring>

namespace tile_emu {

//===----------------------------------------------------------------------===//
// What the driver accepts: cuda.h, cuTensorMapEncodeTiled
//===----------------------------------------------------------------------===//

namespace {

[[noreturn]] void refuse(const std::string &what) {
  throw Fault({.kind = Report::Kind::Invalid,
               .message = "tensor map: " + what,
               .parties = {},
               .notes = {}});
}

void require(bool condition, const std::string &what) {
  if (!condition) {
    refuse(what);
  }
}

std::string dimension(size_t i, uint64_t value) {
  return std::to_string(value) + " of dimension " + std::to_string(i);
}

void checkModes(const TensorMapRecipe &recipe) {
  size_t rank = recipe.dims.size();
  require(rank >= 1 && rank <= 5, "the rank must be from 1 to 5, not " + std::to_string(rank));
  require(recipe.interleave == 0 || recipe.interleave == 16 || recipe.interleave == 32,
          "the interleave must be 0, 16 or 32 bytes");
  require(recipe.interleave == 0 || rank >= 3, "an interleaved tensor has a rank from 3 to 5");
  require(recipe.swizzle == 0 || recipe.swizzle == 32 || recipe.swizzle == 64 ||
              recipe.swizzle == 128,
          "the swizzle must be 0, 32, 64 or 128 bytes");
  require(recipe.interleave != 32 || recipe.swizzle == 32,
          "an interleave of 32 bytes requires a swizzle of 32 bytes");
  unsigned bytes = recipe.elementBytes;
  require(bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8,
          "an element must have 1, 2, 4 or 8 bytes");
  require(ptx::bitsOf(recipe.type) == 8 * bytes,
          "the type ." + std::string(ptx::typeName(recipe.type)) + " does not have " +
              std::to_string(bytes) + " bytes");
  bool isFloat = recipe.type == ptx::Type::F16 || recipe.type == ptx::Type::BF16 ||
                 recipe.type == ptx::Type::F32 || recipe.type == ptx::Type::TF32 ||
                 recipe.type == ptx::Type::F64;
  require(!recipe.nanFill || isFloat, "only floating-point types can be filled with NaN");
}

void checkTensor(const TensorMapRecipe &recipe) {
  unsigned align = recipe.interleave == 32 ? 32 : 16;
  require(recipe.base % align == 0,
          "the address must be a multiple of " + std::to_string(align) + " bytes");
  for (size_t i = 0; i != recipe.dims.size(); ++i) {
    require(recipe.dims[i] >= 1 && recipe.dims[i] <= uint64_t(1) << 32,
            "the size " + dimension(i, recipe.dims[i]) + " is not from 1 to 2^32");
  }
  require(recipe.strides.size() + 1 == recipe.dims.size(),
          "there must be a stride for every dimension but the first");
  for (size_t i = 0; i != recipe.strides.size(); ++i) {
    require(recipe.strides[i] % align == 0 && recipe.strides[i] < uint64_t(1) << 40,
            "the stride " + dimension(i + 1, recipe.strides[i]) + " is not a multiple of " +
                std::to_string(align) + " bytes below 2^40");
  }
}

void checkBox(const TensorMapRecipe &recipe) {
  require(recipe.box.size() == recipe.dims.size(), "the box must have the tensor's rank");
  require(recipe.elementStrides.size() == recipe.dims.size(),
          "there must be an element stride for every dimension");
  for (size_t i = 0; i != recipe.box.size(); ++i) {
    require(recipe.box[i] >= 1 && recipe.box[i] <= 256,
            "the box size " + dimension(i, recipe.box[i]) + " is not from 1 to 256");
    require(recipe.elementStrides[i] >= 1 && recipe.elementStrides[i] <= 8,
            "the element stride " + dimension(i, recipe.elementStrides[i]) + " is not from 1 to 8");
  }
  uint64_t inner = uint64_t(recipe.box[0]) * recipe.elementBytes;
  require(recipe.interleave != 0 || inner % 16 == 0, "the first dimension of the box has " +
                                                         std::to_string(inner) +
                                                         " bytes, not a multiple of 16");
  require(recipe.swizzle == 0 || recipe.interleave != 0 || inner <= recipe.swizzle,
          "the first dimension of the box has " + std::to_string(inner) +
              " bytes, more than the swizzle's " + std::to_string(recipe.swizzle));
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
  uint8_t rank, elementBytes, type, swizzle, interleave, nanFill;
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

std::array<uint8_t, 128> encodeTensorMap(const TensorMapRecipe &recipe) {
  checkModes(recipe);
  checkTensor(recipe);
  checkBox(recipe);
  Content content;
  std::memset(&content, 0, sizeof(content));
  std::memcpy(content.mark, kMark, sizeof(kMark));
  content.base = recipe.base;
  for (size_t i = 0; i != recipe.dims.size(); ++i) {
    content.lastIndex[i] = uint32_t(recipe.dims[i] - 1);
    content.box[i] = uint16_t(recipe.box[i]);
    content.elementStrides[i] = uint8_t(recipe.elementStrides[i]);
  }
  std::copy(recipe.strides.begin(), recipe.strides.end(), content.strides);
  content.rank = uint8_t(recipe.dims.size());
  content.elementBytes = uint8_t(recipe.elementBytes);
  content.type = uint8_t(recipe.type);
  content.swizzle = uint8_t(recipe.swizzle);
  content.interleave = uint8_t(recipe.interleave);
  content.nanFill = recipe.nanFill;
  content.checksum = checksumOf(content);
  std::array<uint8_t, 128> bytes{};
  std::memcpy(bytes.data(), &content, sizeof(content));
  return bytes;
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
  recipe.elementBytes = content.elementBytes;
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
