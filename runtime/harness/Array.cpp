#include "Array.h"

#include "../support/Floats.h"

#include <cstring>

namespace tile_rt {

Array::Array(DType dtype, std::vector<int64_t> shape) : dtype(dtype), shape(std::move(shape)) {
  data.resize(dtypeBytes(dtype, static_cast<uint64_t>(size())));
}

int64_t Array::size() const {
  int64_t count = 1;
  for (int64_t extent : shape) {
    count *= extent;
  }
  return count;
}

uint64_t Array::bits(int64_t i) const {
  if (dtypeIsPacked(dtype)) {
    return (static_cast<uint64_t>(data[i / 2]) >> (i % 2 * 4)) & 15;
  }
  size_t bytes = dtypeBits(dtype) / 8;
  uint64_t result = 0;
  std::memcpy(&result, data.data() + i * bytes, bytes);
  return result;
}

void Array::setBits(int64_t i, uint64_t bits) {
  if (dtypeIsPacked(dtype)) {
    unsigned shift = i % 2 * 4;
    unsigned old = static_cast<unsigned>(data[i / 2]);
    data[i / 2] = static_cast<std::byte>((old & ~(15u << shift)) |
                                         ((static_cast<unsigned>(bits) & 15u) << shift));
    return;
  }
  size_t bytes = dtypeBits(dtype) / 8;
  std::memcpy(data.data() + i * bytes, &bits, bytes);
}

double Array::value(int64_t i) const {
  switch (dtypeKind(dtype)) {
  case ValueKind::Float:
    return decodeFloat(dtype, bits(i));
  case ValueKind::Bool:
    return bits(i) != 0;
  case ValueKind::Int:
    break;
  }
  return static_cast<double>(wrapInt(dtype, static_cast<__int128>(bits(i))));
}

void Array::setValue(int64_t i, double value) {
  switch (dtypeKind(dtype)) {
  case ValueKind::Float:
    return setBits(i, encodeFloat(dtype, value));
  case ValueKind::Bool:
    return setBits(i, value != 0);
  case ValueKind::Int:
    return setBits(i, static_cast<uint64_t>(floatToInt(dtype, value)));
  }
}

std::string describe(const Array &array) {
  std::string text = std::string(dtypeName(array.dtype)) + "[";
  for (size_t i = 0; i < array.shape.size(); ++i) {
    text += (i ? ", " : "") + std::to_string(array.shape[i]);
  }
  return text + "]";
}

Array convert(const Array &array, DType dtype) {
  Array result(dtype, array.shape);
  for (int64_t i = 0, n = array.size(); i < n; ++i) {
    result.setValue(i, array.value(i));
  }
  return result;
}

} // namespace tile_rt
