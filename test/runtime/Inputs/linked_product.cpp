// A product that is linked into the program, called as C does and by views, from several threads and in two contexts.
#include "product.h"

#include <cmath>
#include <cstdio>
#include <thread>

namespace {
constexpr int64_t M = 70, N = 90, K = 100, PITCH = 96;

/// The bits of a small integer in f16.
uint16_t half(int value) { return static_cast<uint16_t>(tile_scalar_bits(TILE_F16, value)); }

int wrong(const std::vector<float> &c, const std::vector<int> &a, const std::vector<int> &b,
          float alpha, bool biased) {
  int count = 0;
  for (int64_t i = 0; i < M; ++i) {
    for (int64_t j = 0; j < N; ++j) {
      int sum = 0;
      for (int64_t k = 0; k < K; ++k) {
        sum += a[static_cast<size_t>(i * K + k)] * b[static_cast<size_t>(k * PITCH + j)];
      }
      const float expected = static_cast<float>(sum) * alpha + (biased ? static_cast<float>(j) : 0);
      count += std::fabs(c[static_cast<size_t>(i * N + j)] - expected) > 1e-3F;
    }
  }
  return count;
}

void run(const tile::Context &context, bool biased) {
  std::vector<int> a(M * K), b(K * PITCH);
  std::vector<uint16_t> halfA(a.size()), halfB(b.size());
  std::vector<float> bias(N);
  for (size_t i = 0; i < a.size(); ++i) {
    a[i] = static_cast<int>(i * 7 % 5) - 2;
    halfA[i] = half(a[i]);
  }
  for (size_t i = 0; i < b.size(); ++i) {
    b[i] = static_cast<int>(i * 11 % 7) - 3;
    halfB[i] = half(b[i]);
  }
  for (size_t i = 0; i < bias.size(); ++i) {
    bias[i] = static_cast<float>(i);
  }
  tile::Buffer<uint16_t> deviceA(context, halfA), deviceB(context, halfB);
  tile::Buffer<float> deviceBias(context, bias), c(context, M * N);

  const int64_t strides[] = {PITCH, 1};
  product_args args{};
  args.A = deviceA.data();
  args.B = deviceB.data();
  args.B_strides = strides;
  args.bias = biased ? deviceBias.data() : nullptr;
  args.C = c.data();
  args.alpha = 0.5F;
  args.M = M;
  args.N = N;
  args.K = K;
  size_t bytes = 0;
  tile::check(product_workspace(context.get(), &args, &bytes));
  tile::Buffer<char> workspace(context, bytes);
  tile::check(product(context.get(), &args, nullptr, workspace.data(), bytes));
  std::printf("%d wrong of C, %zu bytes of workspace\n", wrong(c.read(), a, b, 0.5F, biased),
              bytes);

  const void *voidA = deviceA.data(), *voidB = deviceB.data();
  tile::kernels::product call{
      {voidA, {M, K}}, {voidB, {K, N}, {PITCH, 1}}, {}, {c.data(), {M, N}}, -2};
  if (biased) {
    call.bias = {deviceBias.data(), {N}};
  }
  if (tile::workspaceSize(context, call) != bytes) {
    std::printf("another size of workspace\n");
  }
  tile::launch(context, call, nullptr, workspace.data(), bytes);
  std::printf("%d wrong of C++\n", wrong(c.read(), a, b, -2, biased));
  call.A = {voidA, {M, K - 1}};
  try {
    tile::launch(context, call, nullptr, workspace.data(), bytes);
  } catch (const tile::Error &error) {
    std::printf("%s\n", error.what());
  }
}
} // namespace

int main() try {
  tile::Context one(0), two(1);
  std::thread first([&] { run(one, true); }), second([&] { run(two, false); }),
      third([&] { run(one, false); });
  first.join();
  second.join();
  third.join();
  return 0;
} catch (const tile::Error &error) {
  std::printf("%s\n", error.what());
  return 1;
}
