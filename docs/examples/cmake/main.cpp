// C = diag(factors) * A * B: a product by the kernel gemm, then one of the project's own. The numbers are small integers, so that
// the result is exact and can be compared bit by bit.
#include "gemm.h"
#include "scale_rows.h"

#include <cstdio>

namespace {
/// A matrix of integers in [-3, 3], as the bits of f16.
std::vector<uint16_t> numbers(size_t count, unsigned seed) {
  std::vector<uint16_t> bits(count);
  for (uint16_t &one : bits) {
    seed = seed * 1664525U + 1013904223U;
    one = static_cast<uint16_t>(
        tile_scalar_bits(TILE_F16, static_cast<int>(seed >> 16 & 0xffff) % 7 - 3));
  }
  return bits;
}

double valueOf(uint16_t bits) {
  for (int value = -3; value <= 3; ++value) {
    if (tile_scalar_bits(TILE_F16, value) == bits) {
      return value;
    }
  }
  return 0;
}

int run() {
  constexpr int64_t kM = 72, kN = 88, kK = 40;
  const std::vector<uint16_t> a = numbers(kM * kK, 1), b = numbers(kK * kN, 2);
  std::vector<float> factors(kM);
  for (int64_t row = 0; row < kM; ++row) {
    factors[static_cast<size_t>(row)] = static_cast<float>(row % 5);
  }

  tile::Context context;
  tile::Buffer<uint16_t> deviceA(context, a), deviceB(context, b);
  tile::Buffer<float> deviceFactors(context, factors), deviceC(context, kM * kN);
  gemm_args product = {deviceA.data(), deviceB.data(), deviceC.data(), kM, kK, kN};
  size_t bytes = 0;
  tile::check(gemm_workspace(context.get(), &product, &bytes));
  tile::Buffer<char> workspace(context, bytes);
  tile::check(gemm(context.get(), &product, nullptr, workspace.data(), bytes));
  scale_rows_args scale = {deviceC.data(), deviceFactors.data(), kM, kN};
  tile::check(scale_rows(context.get(), &scale, nullptr, nullptr, 0));
  context.synchronize();

  const std::vector<float> c = deviceC.read();
  size_t wrong = 0;
  for (int64_t row = 0; row < kM; ++row) {
    for (int64_t column = 0; column < kN; ++column) {
      double sum = 0;
      for (int64_t k = 0; k < kK; ++k) {
        sum += valueOf(a[static_cast<size_t>(row * kK + k)]) *
               valueOf(b[static_cast<size_t>(k * kN + column)]);
      }
      wrong += c[static_cast<size_t>(row * kN + column)] != factors[static_cast<size_t>(row)] * sum;
    }
  }
  std::printf("scaled product of %d x %d x %d: %zu wrong\n", int{kM}, int{kN}, int{kK}, wrong);
  return wrong != 0;
}
} // namespace

int main() {
  try {
    return run();
  } catch (const tile::Error &error) {
    std::fprintf(stderr, "scaled_product: %s\n", error.what());
    return 1;
  }
}
