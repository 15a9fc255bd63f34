// Objects used from several threads at once (tile.h), for ThreadSanitizer; without it too, what one
// thread is told must be its own.
#include "TestPack.h"
#include "runtime/include/tile/tile.hpp"
#include "runtime/src/Device.h"

#include <atomic>
#include <cstdlib>
#include <functional>
#include <latch>
#include <thread>
#include <unistd.h>

namespace tile_rt::test {
namespace {

constexpr int kThreads = 8, kCalls = 100;

class ThreadsTest : public testing::Test {
protected:
  void SetUp() override {
    setenv("TILE_CUDA_DRIVER", FAKE_DRIVER_PATH, 1);
    unsetenv("FAKE_DRIVER_LOG");
  }
  /// Runs `body` with the number of each thread, all at once.
  static void together(const std::function<void(int)> &body) {
    std::latch ready(kThreads);
    std::vector<std::thread> threads;
    threads.reserve(kThreads);
    for (int number = 0; number < kThreads; ++number) {
      threads.emplace_back([&, number] {
        ready.arrive_and_wait();
        body(number);
      });
    }
    for (std::thread &thread : threads) {
      thread.join();
    }
  }
  static tile::Pack load(const tile::Context &context, const Json &json) {
    std::string bytes = makePack(json.dump(), gemmBody());
    return tile::Pack(context, bytes.data(), bytes.size());
  }
  static std::vector<tile::Arg> args(int64_t m, int64_t n, int64_t k) {
    auto at = [](uint64_t address) { return reinterpret_cast<void *>(address); };
    return {tile::Arg::tensor(at(kA), TILE_F16, {m, k}),
            tile::Arg::tensor(at(kB), TILE_F16, {k, n}),
            tile::Arg::tensor(at(kC), TILE_F16, {m, n})};
  }
};

// The first calls load modules and look functions up, whichever thread makes them.
TEST_F(ThreadsTest, ShareAKernel) {
  tile::Context context;
  tile::Pack pack = load(context, gemmManifest());
  tile::Kernel kernel = pack.kernel("gemm");
  together([&](int number) {
    for (int i = 0; i < kCalls; ++i) {
      kernel.launch(args(128, 256, (number + i) % 2 ? 64 : 7)); // one variant or the other
      EXPECT_EQ(pack.kernel("gemm").get(), kernel.get());
      EXPECT_EQ(kernel.workspaceSize(args(128, 256, 64)), 0u);
      EXPECT_NE(kernel.describe(args(128, 256, 64)).find("variant tma"), std::string::npos);
    }
  });
}

TEST_F(ThreadsTest, PrepareWhileOthersLaunch) {
  tile::Context context;
  tile::Pack pack = load(context, gemmManifest());
  tile::Kernel kernel = pack.kernel("gemm");
  together([&](int number) {
    if (number % 2) {
      tile::check(tile_kernel_prepare(kernel.get()));
    } else {
      kernel.launch(args(128, 256, 64));
    }
  });
}

TEST_F(ThreadsTest, HaveObjectsOfTheirOwn) {
  together([&](int) {
    for (int i = 0; i < 10; ++i) {
      tile::Context context;
      tile::Pack pack = load(context, gemmManifest());
      pack.kernel("gemm").launch(args(128, 256, 64));
    }
  });
}

// Shapes and addresses differ from thread to thread, more of them than are kept; what is launched is right
// by what the launch says of itself.
TEST_F(ThreadsTest, ShareWhatWasPrepared) {
  tile::Context context;
  tile::Pack pack = load(context, gemmManifest());
  tile_kernel *kernel = pack.kernel("gemm").get();
  together([&](int number) {
    for (int64_t i = 0; i < kCalls; ++i) {
      const int64_t m = 128 * (1 + (i * (number + 1)) % 90);
      Call call;
      call.tensor(kA + 16 * static_cast<uint64_t>(number), TILE_F16, {m, 64});
      call.tensor(kB, TILE_F16, {64, 256}).tensor(kC, TILE_F16, {m, 256});
      EXPECT_EQ(tile_launch(kernel, call.args.data(), call.args.size(), nullptr, nullptr, 0),
                TILE_OK);
      const auto prepared = kernel->prepare(call.args.data(), call.args.size());
      EXPECT_EQ(prepared->plan.steps.at(0).launch.blocks[0], std::min<int64_t>(m / 128, 132));
    }
  });
}

TEST_F(ThreadsTest, LoadLaunchAndDestroyOnTwoDevices) {
  setenv("FAKE_DRIVER_DEVICES", "2", 1);
  tile::Context first(0), second(1);
  together([&](int number) {
    const tile::Context &context = number % 2 ? second : first;
    for (int i = 0; i < 20; ++i) {
      tile::Pack pack = load(context, gemmManifest());
      tile::Kernel kernel = pack.kernel("gemm");
      for (int64_t m = 1; m < 5; ++m) {
        kernel.launch(args(128 * m, 256, 64));
      }
    }
  });
  unsetenv("FAKE_DRIVER_DEVICES");
}

TEST_F(ThreadsTest, AreToldTheirOwnErrors) {
  tile::Context context;
  tile::Pack pack = load(context, gemmManifest());
  together([&](int number) {
    std::string symbol = "missing" + std::to_string(number);
    for (int i = 0; i < kCalls; ++i) {
      tile_kernel *kernel = nullptr;
      EXPECT_EQ(tile_kernel_find(pack.get(), symbol.c_str(), &kernel), TILE_ERROR_NOT_FOUND);
      EXPECT_EQ(tile_last_error(), "the pack has no kernel `" + symbol + "`; it has `gemm`");
    }
  });
}

// Kernels fail while others ask for failures, and bring places of their own.
TEST_F(ThreadsTest, EachFailureIsToldOnceAndWhole) {
  tile::Context context;
  std::atomic<int> told = 0, launched = 0;
  auto succeeds = [&](const std::function<void()> &call) {
    try {
      call();
      return true;
    } catch (const tile::Error &error) {
      EXPECT_EQ(error.status, TILE_ERROR_CHECK) << error.what();
      std::string text = error.what();
      EXPECT_EQ(text.rfind("k.tile:10", 0), 0u) << text;
      EXPECT_EQ(text.substr(text.find(": ")), ": error: n is 7 (block 3, thread 40)");
      ++told;
      return false;
    }
  };
  together([&](int number) {
    Json json = gemmManifest();
    Json &launch = json["kernels"][0]["configurations"][0]["host"][0]["launch"];
    launch["variants"] = Json::parse(R"([{ "module": 0, "entry": "fails_3", "block": [32, 1, 1],
      "params": [ { "tensor": "C" }, { "check": "record" }, { "check": "base" } ],
      "checks": [ { "number": 1, "file": "k.tile", "line": 0, "column": 1, "text": "n is {}", "values": ["i32"] } ] }])");
    launch["variants"][0]["checks"][0]["line"] = 100 + number;
    tile::Pack pack = load(context, json);
    for (int i = 0; i < kCalls; ++i) {
      launched += succeeds([&] { pack.kernel("gemm").launch(args(128, 256, 64)); });
      succeeds([&] { context.check(); });
    }
  });
  succeeds([&] { context.check(); });
  EXPECT_GT(told, 0);
  EXPECT_LE(told, launched);
}

} // namespace
} // namespace tile_rt::test
