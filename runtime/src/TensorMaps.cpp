#include "TensorMaps.h"

namespace tile_rt {

namespace {
/// CUtensorMapDataType.
int mapType(DType type) {
  switch (type) {
  case DType::U16:
  case DType::I16:
    return 1;
  case DType::U32:
    return 2;
  case DType::I32:
    return 3;
  case DType::U64:
    return 4;
  case DType::I64:
    return 5;
  case DType::F16:
    return 6;
  case DType::F32:
    return 7;
  case DType::F64:
    return 8;
  case DType::BF16:
    return 9;
  default:
    return 0; // bytes
  }
}
} // namespace

TensorMapArguments tensorMapArguments(const PlannedMap &map, uint64_t workspace) {
  const TensorMap &recipe = *map.recipe;
  // The driver refuses a null pointer, though a tensor of rank 1 has no strides to give.
  static constexpr uint64_t noStrides[] = {0};
  return {.dataType = mapType(recipe.dtype),
          .rank = static_cast<uint32_t>(map.dims.size()),
          .address = map.base.value + (map.base.inWorkspace ? workspace : 0),
          .dims = map.dims.data(),
          .strides = map.strides.empty() ? noStrides : map.strides.data(),
          .box = recipe.box.data(),
          .elementStrides = recipe.elementStrides.data(),
          .interleave = 0,
          .swizzle = tensorMapSwizzle(recipe.swizzle),
          .l2Promotion = tensorMapL2Promotion(recipe.l2Promotion),
          .fill = recipe.nanFill ? 1 : 0};
}

} // namespace tile_rt
