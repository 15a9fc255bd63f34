// A pack that a C++ program loads when it runs, by tile/tile.hpp: what is wrong throws tile::Error.
//
//   tilec ../axpy.tile --arch=sm_90a,sm_80 -o axpy.pack
//   c++ -std=c++17 axpy.cpp $(pkg-config --cflags --libs tile_rt) -o axpy
//   ./axpy axpy.pack
#include <cstdio>
#include <tile/tile.hpp>

namespace {
int run(const char *file) {
  constexpr size_t kCount = 5000;
  tile::Context context;
  tile::Pack pack(context, std::string(file));
  tile::Kernel axpy = pack.kernel("axpy");

  std::vector<float> x(kCount), y(kCount, 1.0F);
  for (size_t i = 0; i < kCount; ++i) {
    x[i] = static_cast<float>(i);
  }
  tile::Buffer<float> deviceX(context, x), deviceY(context, y);
  const std::vector<tile::Arg> args = {tile::Arg::tensor(deviceX.data(), {kCount}),
                                       tile::Arg::tensor(deviceY.data(), {kCount}),
                                       tile::Arg::scalar(2.0F)};
  std::printf("%s", axpy.describe(args).c_str());
  axpy.launch(args);
  context.synchronize();

  const std::vector<float> result = deviceY.read();
  size_t wrong = 0;
  for (size_t i = 0; i < kCount; ++i) {
    wrong += result[i] != 2 * x[i] + y[i];
  }
  std::printf("axpy of %zu elements: %zu wrong\n", kCount, wrong);
  return wrong != 0;
}
} // namespace

int main(int argc, char **argv) {
  try {
    return run(argc > 1 ? argv[1] : "axpy.pack");
  } catch (const tile::Error &error) {
    std::fprintf(stderr, "axpy: %s\n", error.what());
    return 1;
  }
}
