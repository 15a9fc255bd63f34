#include "TensorBox.h"

#include <algorithm>

namespace tile_emu {

TensorBox::TensorBox(const TensorMapRecipe &map, const std::vector<int64_t> &start)
    : map(map), start(start) {
  for (size_t i = 0; i != map.box.size(); ++i) {
    // Dimension 0 has no element stride.
    uint32_t stride = i == 0 ? 1 : map.elementStrides[i];
    extent[i] = (map.box[i] + stride - 1) / stride;
    rowCount *= i == 0 ? 1 : extent[i];
  }
  inner = map.box[0] * map.elementBytes();
  rowPitch = map.swizzle ? map.swizzle : inner;
  swizzleMask = map.swizzle ? map.swizzle / 16 - 1 : 0;
}

uint64_t TensorBox::fill() const {
  // Measured on an H200: the same for all types.
  return map.nanFill ? 0x7ff7'7ff7'7ff7'7ff7 : 0;
}

BoxRow TensorBox::row(const std::array<uint32_t, 5> &index) const {
  BoxRow row;
  uint64_t address = map.base;
  for (size_t i = 1; i < start.size(); ++i) {
    int64_t at = start[i] + int64_t(index[i]) * map.elementStrides[i];
    if (at < 0 || uint64_t(at) >= map.dims[i]) {
      return row;
    }
    address += uint64_t(at) * map.strides[i - 1];
  }
  int64_t first = std::max<int64_t>(0, -start[0]);
  int64_t last = std::min<int64_t>(extent[0], int64_t(map.dims[0]) - start[0]);
  if (first >= last) {
    return row;
  }
  row.global = address + uint64_t(start[0] + first) * map.elementBytes();
  row.skipped = uint32_t(first) * map.elementBytes();
  row.bytes = uint32_t(last - first) * map.elementBytes();
  return row;
}

std::vector<BoxRow> TensorBox::rows() const {
  std::vector<BoxRow> rows;
  rows.reserve(rowCount);
  std::array<uint32_t, 5> index{};
  for (uint64_t i = 0; i != rowCount; ++i) {
    rows.push_back(row(index));
    rows.back().inBox = uint32_t(i) * rowPitch;
    for (size_t d = 1; d < 5 && ++index[d] == extent[d]; ++d) {
      index[d] = 0;
    }
  }
  return rows;
}

} // namespace tile_emu
