// A dense row-major array on the host, of any element type of the language.
#pragma once

#include "../support/DType.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tile_rt {

struct Array {
  DType dtype = DType::F32;
  std::vector<int64_t> shape;
  std::vector<std::byte>
      data; ///< packed types hold two elements per byte, the even one in the low half

  Array() = default;
  /// Zeros.
  Array(DType dtype, std::vector<int64_t> shape);

  int64_t size() const;
  /// Bits of an element, in the low bits.
  uint64_t bits(int64_t i) const;
  void setBits(int64_t i, uint64_t bits);
  /// The element as double; exact but for integers beyond 2^53.
  double value(int64_t i) const;
  /// Converts as the language's `T(x)`: rounds floats, truncates and saturates to integers, nonzero
  /// is true.
  void setValue(int64_t i, double value);
};

/// "f16[128, 64]".
std::string describe(const Array &array);

/// The array converted to another type, element by element, by setValue's rules.
Array convert(const Array &array, DType dtype);

} // namespace tile_rt
