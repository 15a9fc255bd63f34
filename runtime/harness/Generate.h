// Seeded data: each element is a function of seed, stream and its own number, so that it depends on
// no order.
#pragma once

#include "Array.h"

#include <optional>
#include <string_view>

namespace tile_rt {

/// What elements are drawn from.
struct Distribution {
  enum class Kind { Normal, Uniform, Integers, Steps, Constant };
  Kind kind = Kind::Normal;
  double a = 0, b = 1; ///< normal: mean, deviation; uniform: [a, b); integers: a to b, both
                       ///< included; steps: a + b * i; constant: a
};

/// "normal", "normal(mean, deviation)", "uniform", "uniform(a, b)", "integers(a, b)", "steps(a, b)",
/// or a number. Nothing if it is none of these or a > b, where that has a meaning.
std::optional<Distribution> parseDistribution(std::string_view text);

/// 64 random bits of (seed, stream, counter): three rounds of the SplitMix64 finaliser (Steele,
/// Lea, Flood, OOPSLA 2014).
uint64_t randomBits(uint64_t seed, uint64_t stream, uint64_t counter);

/// Whether elements of this type take exactly the numbers that so many draws give: of integers, one that a double holds.
bool isExact(const Distribution &distribution, DType dtype, int64_t count);

/// One draw.
double draw(const Distribution &distribution, uint64_t seed, uint64_t stream, uint64_t counter);

/// Fills an array; values are converted by Array::setValue.
void generate(Array &array, const Distribution &distribution, uint64_t seed, uint64_t stream);

/// A stream for a name, so that arguments of one call differ.
uint64_t streamOf(std::string_view name);

} // namespace tile_rt
