#include "Pitch.h"

#include <algorithm>

namespace tile_rt {

namespace {
/// Where the rows of a strided tensor lie, in bytes.
struct Rows {
  std::vector<size_t> offsets;
  size_t bytes, total = 0;

  Rows(const Array &array, const std::vector<int64_t> &strides) {
    size_t element = static_cast<size_t>(dtypeBytes(array.dtype, 1));
    bytes = static_cast<size_t>(array.shape.back()) * element;
    if (array.size() == 0) {
      return;
    }
    std::vector<int64_t> index(array.shape.size() - 1, 0);
    for (int64_t row = 0, count = array.size() / array.shape.back(); row < count; ++row) {
      int64_t at = 0;
      for (size_t d = 0; d < index.size(); ++d) {
        at += index[d] * strides[d];
      }
      offsets.push_back(static_cast<size_t>(at) * element);
      total = std::max(total, offsets.back() + bytes);
      for (size_t d = index.size(); d > 0; --d) {
        if (++index[d - 1] < array.shape[d - 1]) {
          break;
        }
        index[d - 1] = 0;
      }
    }
  }
};
} // namespace

std::vector<int64_t> pitchedStrides(const std::vector<int64_t> &shape, int64_t pitch) {
  std::vector<int64_t> strides(shape.size(), 1);
  int64_t next = pitch;
  for (size_t d = shape.size() - 1; d-- > 0;) {
    strides[d] = next;
    next *= shape[d];
  }
  return strides;
}

bool haveSharedRows(const Array &array, const std::vector<int64_t> &strides) {
  Rows rows(array, strides);
  std::sort(rows.offsets.begin(), rows.offsets.end());
  return std::adjacent_find(rows.offsets.begin(), rows.offsets.end(), [&](size_t a, size_t b) {
           return b - a < rows.bytes;
         }) != rows.offsets.end();
}

std::vector<std::byte> spreadRows(const Array &array, const std::vector<int64_t> &strides,
                                  std::byte gap) {
  Rows rows(array, strides);
  std::vector<std::byte> memory(rows.total, gap);
  for (size_t row = 0; row < rows.offsets.size(); ++row) {
    std::copy_n(array.data.data() + row * rows.bytes, rows.bytes,
                memory.data() + rows.offsets[row]);
  }
  return memory;
}

Array gatherRows(const Array &like, const std::vector<int64_t> &strides,
                 const std::vector<std::byte> &memory, std::byte gap, bool &gapsIntact) {
  Rows rows(like, strides);
  Array result = like;
  for (size_t row = 0; row < rows.offsets.size(); ++row) {
    std::copy_n(memory.data() + rows.offsets[row], rows.bytes,
                result.data.data() + row * rows.bytes);
  }
  gapsIntact = spreadRows(result, strides, gap) == memory;
  return result;
}

} // namespace tile_rt
