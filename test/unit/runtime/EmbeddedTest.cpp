// Packs in the memory of the program: each context loads one once, whoever asks first.
#include "TestPack.h"
#include "runtime/include/tile/tile.hpp"

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <latch>
#include <set>
#include <thread>
#include <unistd.h>

namespace tile_rt::test {
namespace {

constexpr int kThreads = 8;

/// What `tilec --emit=obj` puts into an object, but for the digest, which is `number`.
class Embedded {
public:
  Embedded(const Json &manifest, uint64_t number)
      : Embedded(makePack(manifest.dump(), gemmBody()), number) {}
  Embedded(const std::string &pack, uint64_t number) {
    memory = std::make_unique<Block[]>(sizeof(tile_embedded_header) / sizeof(Block) +
                                       pack.size() / sizeof(Block) + 1);
    tile_embedded_header &header = get();
    std::memcpy(header.magic, TILE_EMBEDDED_MAGIC, TILE_EMBEDDED_MAGIC_BYTES);
    header.version = TILE_EMBEDDED_VERSION;
    header.pack_bytes = pack.size();
    std::memcpy(header.digest, &number, sizeof(number));
    std::memcpy(&header + 1, pack.data(), pack.size());
  }
  tile_embedded_header &get() { return *reinterpret_cast<tile_embedded_header *>(memory.get()); }

private:
  struct alignas(TILE_EMBEDDED_ALIGN) Block {
    char bytes[TILE_EMBEDDED_ALIGN];
  };
  std::unique_ptr<Block[]> memory;
};

class EmbeddedTest : public testing::Test {
protected:
  void SetUp() override {
    setenv("TILE_CUDA_DRIVER", FAKE_DRIVER_PATH, 1);
    unsetenv("FAKE_DRIVER_LOG");
  }
  static tile_kernel *find(const tile::Context &context, Embedded &embedded, size_t index = 0) {
    tile_kernel *kernel = nullptr;
    tile::check(tile_embedded_kernel(context.get(), &embedded.get(), index, &kernel));
    return kernel;
  }
  static tile_status refuse(tile_context *context, Embedded &embedded, size_t index = 0) {
    tile_kernel *kernel = nullptr;
    const tile_status status = tile_embedded_kernel(context, &embedded.get(), index, &kernel);
    EXPECT_EQ(kernel, nullptr);
    return status;
  }
};

Json namedManifest(const std::string &symbol) {
  Json json = gemmManifest();
  json["kernels"][0]["symbol"] = symbol;
  return json;
}

TEST_F(EmbeddedTest, IsLoadedOnceForEachContext) {
  tile::Context one, two;
  Embedded embedded(gemmManifest(), 1);
  tile_kernel *kernel = find(one, embedded);
  EXPECT_STREQ(tile_kernel_symbol(kernel), "gemm");
  EXPECT_EQ(find(one, embedded), kernel);
  EXPECT_NE(find(two, embedded), kernel);
  tile::Kernel(kernel).launch({tile::Arg::tensor(reinterpret_cast<void *>(kA), TILE_F16, {8, 16}),
                               tile::Arg::tensor(reinterpret_cast<void *>(kB), TILE_F16, {16, 8}),
                               tile::Arg::tensor(reinterpret_cast<void *>(kC), TILE_F16, {8, 8})});
}

// The table of a context grows while more and more come.
TEST_F(EmbeddedTest, ManyArePartOfOneProgram) {
  constexpr int kMany = 100;
  tile::Context context;
  std::vector<Embedded> packs;
  std::vector<tile_kernel *> kernels;
  for (int i = 0; i < kMany; ++i) {
    // Digests whose first bytes are equal: they collide in every table.
    packs.emplace_back(namedManifest("k" + std::to_string(i)), uint64_t(i) << 32);
    kernels.push_back(find(context, packs.back()));
  }
  for (int i = 0; i < kMany; ++i) {
    EXPECT_EQ(find(context, packs[i]), kernels[i]);
    EXPECT_EQ(tile_kernel_symbol(kernels[i]), "k" + std::to_string(i));
  }
}

// A library was unloaded, and another one lies where it was.
TEST_F(EmbeddedTest, IsKnownByWhatItIsNotWhereItLies) {
  tile::Context context;
  Embedded place(namedManifest("a"), 1), other(namedManifest("b"), 2), again(namedManifest("a"), 1);
  tile_kernel *first = find(context, place);
  std::memcpy(&place.get(), &other.get(), sizeof(tile_embedded_header) + other.get().pack_bytes);
  EXPECT_STREQ(tile_kernel_symbol(find(context, place)), "b");
  EXPECT_STREQ(tile_kernel_symbol(first), "a");
  EXPECT_EQ(find(context, again), first);
}

TEST_F(EmbeddedTest, IsUnloadedWithItsContext) {
  const std::string log = testing::TempDir() + "embedded-" + std::to_string(getpid());
  setenv("FAKE_DRIVER_LOG", log.c_str(), 1);
  {
    tile::Context context;
    Embedded embedded(gemmManifest(), 1);
    tile::check(tile_kernel_prepare(find(context, embedded)));
  }
  unsetenv("FAKE_DRIVER_LOG");
  std::ifstream file(log);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_NE(text.find("load imageA"), std::string::npos) << text;
  EXPECT_NE(text.find("unload"), std::string::npos) << text;
  unlink(log.c_str());
}

TEST_F(EmbeddedTest, WhatIsWrongIsSaid) {
  tile::Context context;
  Embedded embedded(gemmManifest(), 1);
  EXPECT_EQ(refuse(nullptr, embedded), TILE_ERROR_ARGUMENT);
  EXPECT_STREQ(tile_last_error(), "[null] the context is null");
  EXPECT_EQ(refuse(context.get(), embedded, 1), TILE_ERROR_NOT_FOUND);
  EXPECT_STREQ(tile_last_error(), "the embedded pack has no kernel number 1");

  Embedded later(gemmManifest(), 2);
  later.get().version = 7;
  EXPECT_EQ(refuse(context.get(), later), TILE_ERROR_PACK);
  EXPECT_STREQ(tile_last_error(), "the embedded pack has version 7, this runtime reads version 1");
  Embedded other(gemmManifest(), 3);
  other.get().magic[0] = 'x';
  EXPECT_EQ(refuse(context.get(), other), TILE_ERROR_PACK);
  EXPECT_STREQ(tile_last_error(), "no embedded pack is at this address");
  // What failed is not kept: nor is it taken for loaded the second time.
  Embedded broken(std::string("nothing"), 4);
  EXPECT_EQ(refuse(context.get(), broken), TILE_ERROR_PACK);
  EXPECT_EQ(refuse(context.get(), broken), TILE_ERROR_PACK);
}

TEST_F(EmbeddedTest, ThreadsAreGivenTheSame) {
  constexpr int kPacks = 20, kContexts = 2;
  tile::Context contexts[kContexts];
  std::vector<Embedded> packs;
  packs.reserve(kPacks);
  for (int i = 0; i < kPacks; ++i) {
    packs.emplace_back(namedManifest("k" + std::to_string(i)), uint64_t(i) << 40 | 3);
  }
  std::latch ready(kThreads);
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  std::array<std::array<std::vector<tile_kernel *>, kContexts>, kThreads> found;
  for (int number = 0; number < kThreads; ++number) {
    threads.emplace_back([&, number] {
      ready.arrive_and_wait();
      for (int round = 0; round < 3; ++round) {
        for (int i = 0; i < kPacks; ++i) {
          Embedded &pack = packs[(i + number) % kPacks];
          for (int c = 0; c < kContexts; ++c) {
            tile_kernel *kernel = find(contexts[c], pack);
            EXPECT_EQ(tile_kernel_symbol(kernel), "k" + std::to_string((i + number) % kPacks));
            tile::Kernel(kernel).launch(
                {tile::Arg::tensor(reinterpret_cast<void *>(kA), TILE_F16, {8, 16}),
                 tile::Arg::tensor(reinterpret_cast<void *>(kB), TILE_F16, {16, 8}),
                 tile::Arg::tensor(reinterpret_cast<void *>(kC), TILE_F16, {8, 8})});
            found[number][c].push_back(kernel);
          }
        }
      }
    });
  }
  for (std::thread &thread : threads) {
    thread.join();
  }
  std::set<tile_kernel *> all;
  for (const auto &ofThread : found) {
    for (const std::vector<tile_kernel *> &list : ofThread) {
      all.insert(list.begin(), list.end());
    }
  }
  EXPECT_EQ(all.size(), size_t{kPacks} * kContexts);
}

TEST(ScalarBits, AreRounded) {
  EXPECT_EQ(tile_scalar_bits(TILE_F16, 0.1), 0x2e66u);
  EXPECT_EQ(tile_scalar_bits(TILE_F16, 65520.0), 0x7c00u);
  EXPECT_EQ(tile_scalar_bits(TILE_BF16, 1.5), 0x3fc0u);
  EXPECT_EQ(tile_scalar_bits(TILE_F32, -2.0), 0xc0000000u);
  EXPECT_EQ(tile_scalar_bits(TILE_I32, 3.0), 0u);
  EXPECT_EQ(tile_scalar_bits(-1, 3.0), 0u);
  EXPECT_EQ(tile_scalar_bits(1000, 3.0), 0u);
}

} // namespace
} // namespace tile_rt::test
