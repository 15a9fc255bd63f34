// A tensor map as the CUDA driver's cuTensorMapEncodeTiled takes it, and what the driver refuses. The
// driver says no more than "invalid value"; the runtime says why, and the emulator and the stand-in
// of the driver refuse by the same rules, so that what runs there does not fail on a GPU first.
#pragma once

#include <cstdint>
#include <string>

namespace tile_rt {

/// In the order of the driver's parameters; enumerations by their numbers in cuda.h.
struct TensorMapArguments {
  int dataType = 0; ///< CUtensorMapDataType
  uint32_t rank = 0;
  uint64_t address = 0;
  const uint64_t *dims = nullptr;           ///< elements, innermost first
  const uint64_t *strides = nullptr;        ///< bytes, of dimensions 1 and up
  const uint32_t *box = nullptr;            ///< elements
  const uint32_t *elementStrides = nullptr; ///< elements
  int interleave = 0, swizzle = 0, l2Promotion = 0, fill = 0;
};

/// CUtensorMapSwizzle, CUtensorMapInterleave and CUtensorMapL2promotion by their bytes; -1 if there
/// is none.
int tensorMapSwizzle(unsigned bytes);
int tensorMapInterleave(unsigned bytes);
int tensorMapL2Promotion(unsigned bytes);

/// Why the driver does not take these; empty if it does.
std::string whyRefused(const TensorMapArguments &arguments);

} // namespace tile_rt
