#include "runtime/harness/Pitch.h"

#include <algorithm>

namespace tile_rt {

namespace {
struct Rows {
  size_t count, bytes, pitch; ///< pitch in bytes

  Rows(const Array &array, int64_t pitchElements) {
    size_t element = static_cast<size_t>(dtypeBytes(array.dtype, 1));
    auto length = static_cast<size_t>(array.shape.back());
    bytes = length * element;
    count = length == 0 ? 0 : static_cast<size_t>(array.size()) / length;
    pitch = static_cast<size_t>(pitchElements) * element;
  }
  size_t total() const { return count == 0 ? 0 : (count - 1) * pitch + bytes; }
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

std::vector<std::byte> spreadRows(const Array &array, int64_t pitch, std::byte gap) {
  Rows rows(array, pitch);
  std::vector<std::byte> memory(rows.total(), gap);
  for (size_t row = 0; row < rows.count; ++row) {
    std::copy_n(array.data.data() + row * rows.bytes, rows.bytes, memory.data() + row * rows.pitch);
  }
  return memory;
}

Array gatherRows(const Array &like, int64_t pitch, const std::vector<std::byte> &memory,
                 std::byte gap, bool &gapsIntact) {
  Rows rows(like, pitch);
  Array result = like;
  gapsIntact = true;
  for (size_t row = 0; row < rows.count; ++row) {
    const std::byte *begin = memory.data() + row * rows.pitch;
    std::copy_n(begin, rows.bytes, result.data.data() + row * rows.bytes);
    const std::byte *end = std::min(begin + rows.pitch, memory.data() + memory.size());
    gapsIntact &= std::all_of(begin + rows.bytes, end, [&](std::byte b) { return b == gap; });
  }
  return result;
}

} // namespace tile_rt
