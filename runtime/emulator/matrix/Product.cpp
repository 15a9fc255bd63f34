#include "Product.h"

#include "../../support/Floats.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

namespace tile_emu {

namespace {
/// Exponent of a zero: below that of every product of numbers.
constexpr int kZeroExponent = -600;
constexpr int kLowestExponent = -400;

/// Of the leading bit, at least `lowest`.
inline int exponentOf(float value, int lowest) {
  int biased = int(std::bit_cast<uint32_t>(value) >> 23 & 255);
  return value == 0 ? kZeroExponent : std::max(biased - 127, lowest);
}

inline double powerOfTwo(int exponent) { // -1022 to 1023
  return std::bit_cast<double>(uint64_t(exponent + 1023) << 52);
}

bool allFinite(const float *values, size_t count) {
  uint32_t special = 0;
  for (size_t i = 0; i < count; ++i) {
    special |= (std::bit_cast<uint32_t>(values[i]) & 0x7f800000u) == 0x7f800000u;
  }
  return !special;
}

/// Cut towards zero to `bits` (at most 23) after the leading bit. Too large becomes infinity.
inline float cut(double value, unsigned bits) {
  if (std::fabs(value) < 0x1p-126) { // subnormal: the last place stays where it is
    return float(std::trunc(value * 0x1p149) * 0x1p-149);
  }
  uint64_t raw = std::bit_cast<uint64_t>(value);
  return float(std::bit_cast<double>(raw & ~((uint64_t(1) << (52 - bits)) - 1)));
}

inline float finish(const Summation &how, double sum) {
  if (how.toHalf) {
    return float(tile_rt::roundFloat(tile_rt::DType::F16, sum));
  }
  return std::isnan(sum)   ? std::bit_cast<float>(0x7fffffffu)
         : std::isinf(sum) ? float(sum)
                           : cut(sum, how.result);
}

/// Working memory: one row of the result at a time.
struct Scratch {
  std::vector<int> exponents, largest;
  std::vector<double> scale, sum;
};

/// One row. `exponents` are those of b.
void addTerms(const Summation &how, unsigned columns, unsigned terms, const float *a,
              const float *b, const int *exponents, float *c, Scratch &scratch) {
  int *largest = scratch.largest.data();
  double *scale = scratch.scale.data(), *sum = scratch.sum.data();
  for (unsigned column = 0; column < columns; ++column) {
    largest[column] = std::max(exponentOf(c[column], -126), kLowestExponent);
  }
  for (unsigned i = 0; i < terms; ++i) {
    int exponent = exponentOf(a[i], how.lowestA);
    for (unsigned column = 0; column < columns; ++column) {
      largest[column] = std::max(largest[column], exponent + exponents[i * columns + column]);
    }
  }
  for (unsigned column = 0; column < columns; ++column) {
    scale[column] = powerOfTwo(int(how.fraction) - largest[column]);
    sum[column] = int32_t(c[column] * scale[column]);
  }
  for (unsigned i = 0; i < terms; ++i) {
    double left = a[i];
    for (unsigned column = 0; column < columns; ++column) {
      // At most 2 + fraction bits: converting to an integer cuts.
      sum[column] += int32_t(left * b[i * columns + column] * scale[column]);
    }
  }
  for (unsigned column = 0; column < columns; ++column) {
    c[column] = finish(how, sum[column] / scale[column]);
  }
}

void multiplyFinite(const Summation &how, unsigned rows, unsigned columns, unsigned k,
                    const float *a, const float *b, float *c) {
  static thread_local Scratch scratch;
  scratch.exponents.resize(size_t(k) * columns);
  for (size_t i = 0; i < size_t(k) * columns; ++i) {
    scratch.exponents[i] = exponentOf(b[i], how.lowestB);
  }
  scratch.largest.resize(columns);
  scratch.scale.resize(columns);
  scratch.sum.resize(columns);
  for (unsigned row = 0; row < rows; ++row) {
    addTerms(how, columns, k, a + row * k, b, scratch.exponents.data(), c + row * columns, scratch);
  }
}

bool isSpecial(float value) { return !std::isfinite(value); }

/// With infinities or NaN somewhere: they decide the results of their rows and columns, where the
/// order of the sum does not matter; the others are as without them.
void multiplySpecial(const Summation &how, unsigned rows, unsigned columns, unsigned k,
                     const float *a, const float *b, float *c) {
  std::vector<float> finiteA(a, a + size_t(rows) * k), finiteB(b, b + size_t(k) * columns),
      sums(c, c + size_t(rows) * columns);
  for (std::vector<float> *values : {&finiteA, &finiteB, &sums}) {
    std::replace_if(values->begin(), values->end(), isSpecial, 0.0f);
  }
  multiplyFinite(how, rows, columns, k, finiteA.data(), finiteB.data(), sums.data());
  for (unsigned row = 0; row < rows; ++row) {
    for (unsigned column = 0; column < columns; ++column) {
      float &result = c[row * columns + column];
      bool special = isSpecial(result);
      double sum = result;
      for (unsigned i = 0; i < k; ++i) {
        float left = a[row * k + i], right = b[i * columns + column];
        special |= isSpecial(left) || isSpecial(right);
        sum += double(left) * right;
      }
      result = special ? finish(how, sum) : sums[row * columns + column];
    }
  }
}

/// Summation::pairwise.
void multiplyPairwise(const Summation &how, unsigned rows, unsigned columns, unsigned k,
                      const float *a, const float *b, float *c) {
  std::vector<float> partA(size_t(rows) * k / 2), partB(size_t(k) / 2 * columns),
      sum(size_t(rows) * columns);
  Summation part = how;
  part.pairwise = false;
  for (unsigned half = 0; half < 2; ++half) {
    for (unsigned i = 0; i < k / 2; ++i) {
      unsigned from = 4 * (i / 2) + 2 * half + i % 2;
      for (unsigned row = 0; row < rows; ++row) {
        partA[row * k / 2 + i] = a[row * k + from];
      }
      std::copy_n(b + from * columns, columns, partB.begin() + i * columns);
    }
    multiply(part, rows, columns, k / 2, partA.data(), partB.data(), sum.data());
  }
  for (unsigned i = 0; i < rows * columns; ++i) {
    double total = double(c[i]) + sum[i];
    bool toNearest = !how.toHalf && std::isfinite(total);
    c[i] = toNearest ? c[i] + sum[i] : finish(how, total);
  }
}

/// Exponent of the smallest normal number.
int lowestExponent(Element element) {
  switch (element) {
  case Element::F16:
  case Element::E5M2:
    return -14;
  case Element::E4M3:
    return -6;
  default:
    return -126;
  }
}

bool isFp8(Element element) { return element == Element::E4M3 || element == Element::E5M2; }
} // namespace

Summation summationOfMma(Element a, Element b, Element sum) {
  bool pairwise = isFp8(a);
  return {.toHalf = sum == Element::F16,
          .lowestA = lowestExponent(pairwise ? Element::F16 : a),
          .lowestB = lowestExponent(pairwise ? Element::F16 : b),
          .pairwise = pairwise};
}

Summation summationOfWgmma(Element a, Element b, Element sum) {
  Summation how{
      .toHalf = sum == Element::F16, .lowestA = lowestExponent(a), .lowestB = lowestExponent(b)};
  if (isFp8(a)) {
    how.fraction = how.result = 13;
  }
  return how;
}

void multiply(const Summation &how, unsigned rows, unsigned columns, unsigned k, const float *a,
              const float *b, float *c) {
  if (how.pairwise) {
    multiplyPairwise(how, rows, columns, k, a, b, c);
  } else if (allFinite(a, size_t(rows) * k) && allFinite(b, size_t(k) * columns) &&
             allFinite(c, size_t(rows) * columns)) {
    multiplyFinite(how, rows, columns, k, a, b, c);
  } else {
    multiplySpecial(how, rows, columns, k, a, b, c);
  }
}

void multiply(unsigned rows, unsigned columns, unsigned k, const double *a, const double *b,
              double *c) {
  for (unsigned row = 0; row < rows; ++row) {
    for (unsigned column = 0; column < columns; ++column) {
      double &sum = c[row * columns + column];
      for (unsigned i = 0; i < k; ++i) {
        sum = std::fma(a[row * k + i], b[i * columns + column], sum);
      }
    }
  }
}

void multiply(bool clamp, unsigned rows, unsigned columns, unsigned k, const int32_t *a,
              const int32_t *b, int32_t *c) {
  constexpr int64_t kMin = std::numeric_limits<int32_t>::min(),
                    kMax = std::numeric_limits<int32_t>::max();
  static thread_local std::vector<int32_t> products;
  for (unsigned row = 0; row < rows; ++row) {
    products.assign(columns, 0); // far from overflow: at most 256 products of 16 bits
    for (unsigned i = 0; i < k; ++i) {
      int32_t left = a[row * k + i];
      for (unsigned column = 0; column < columns; ++column) {
        products[column] += left * b[i * columns + column];
      }
    }
    for (unsigned column = 0; column < columns; ++column) {
      int64_t sum = int64_t(c[row * columns + column]) + products[column];
      c[row * columns + column] = int32_t(clamp ? std::clamp(sum, kMin, kMax) : sum);
    }
  }
}

} // namespace tile_emu
