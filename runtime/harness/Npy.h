// NumPy's .npy files, format versions 1 to 3 (numpy.lib.format). Types numpy lacks are stored as
// unsigned integers of their size, bit for bit: bf16 as u2; e4m3, e5m2, e8m0 as u1; the packed
// types as u1 with half the last extent.
#pragma once

#include "Array.h"
#include "InputError.h"

#include <optional>

namespace tile_rt {

/// Failure to read or write; the text names the file.
struct NpyError : InputError {
  using InputError::InputError;
};

/// Reads a little-endian array in C or Fortran order. With `wanted`, the file must hold that type,
/// or the integers that stand for it; else its own type is taken.
Array readNpy(const std::string &path, std::optional<DType> wanted = std::nullopt);

/// Throws NpyError where no file of this name could be written. Leaves what is there as it is.
void checkNpyPath(const std::string &path);

/// Writes version 1.0, C order.
void writeNpy(const std::string &path, const Array &array);

} // namespace tile_rt
