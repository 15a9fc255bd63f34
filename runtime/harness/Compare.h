// Comparison of a result with its reference, and the traps around buffers that show what a kernel
// wrote where it should not.
#pragma once

#include "Array.h"

#include <optional>

namespace tile_rt {

/// Accepted ||out - ref|| / ||ref|| for an output type; 0 means that every element must be equal
/// (integers, bool).
double defaultTolerance(DType type);

struct Comparison {
  bool ok = false;
  double error =
      0; ///< ||out - ref|| / ||ref|| in f64; ||out|| if the reference is zero; infinite with a NaN
  double worst = 0;     ///< largest absolute difference
  int64_t worstAt = -1; ///< its index, or that of the first NaN or unequal infinity
  int64_t numNonFinite =
      0;            ///< elements where either is NaN, or infinite and the other is not the same
  std::string text; ///< one line for people
};

/// Compares element by element in f64, 64-bit integers exactly. NaN never passes, in the reference
/// neither; equal infinities do. Shapes must be equal; else it is not ok and the text says so. The
/// reference may be of another type.
Comparison compareArrays(const Array &out, const Array &reference, double tolerance);

/// The byte that outputs are filled with before a run: a NaN in every float type that has one, -1
/// in integers.
constexpr std::byte kPoison{0xff};
/// The byte of guard zones before and after a buffer, and how many there are on each side.
constexpr std::byte kGuard{0xa5};
constexpr size_t kGuardBytes = 4096;

/// First index at which `bytes` differs from the guard byte.
std::optional<size_t> findDamage(const std::byte *bytes, size_t count);

} // namespace tile_rt
