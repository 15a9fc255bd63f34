// The emulator in place of the CUDA driver: what runs there, what it finds, and from several threads at once.
#include "TestPack.h"
#include "runtime/include/tile/tile.hpp"

#include <cstdlib>
#include <functional>
#include <latch>
#include <numeric>
#include <thread>

namespace tile_rt::test {
namespace {

/// Adds 1 to each of n integers; block 0 of `racing` by two threads each.
constexpr char kPtx[] = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry add(.param .u64 x, .param .u32 n) {
  .reg .pred %p<2>;
  .reg .b32 %r<9>;
  .reg .b64 %rd<5>;
  ld.param.u64 %rd1, [x];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %tid.x;
  mov.u32 %r3, %ctaid.x;
  mov.u32 %r4, %ntid.x;
  mad.lo.u32 %r5, %r3, %r4, %r2;
  setp.ge.u32 %p1, %r5, %r1;
  @%p1 bra DONE;
  mul.wide.u32 %rd2, %r5, 4;
  add.u64 %rd3, %rd1, %rd2;
  ld.global.u32 %r6, [%rd3];
  add.u32 %r7, %r6, 1;
  st.global.u32 [%rd3], %r7;
DONE:
  ret;
}
.visible .entry wait(.param .u64 x, .param .u32 n) {
  .reg .b32 %r<9>;
  .reg .b64 %rd<5>;
  ld.param.u64 %rd1, [x];
  mov.u32 %r2, %tid.x;
  mul.wide.u32 %rd2, %r2, 4;
  add.u64 %rd3, %rd1, %rd2;
  griddepcontrol.wait;
  ld.global.u32 %r6, [%rd3];
  add.u32 %r7, %r6, 1;
  st.global.u32 [%rd3], %r7;
  ret;
}
.visible .entry race(.param .u64 x, .param .u32 n) {
  .reg .b32 %r<3>;
  .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [x];
  mov.u32 %r1, %tid.x;
  st.global.u32 [%rd1], %r1;
  ret;
}
)";

Json manifest(const char *entry, uint64_t ptxBytes) {
  Json json = Json::parse(R"json({
    "format": 2, "tilec": "0.1.0", "source_hash": "0",
    "modules": [ { "arch": "sm_80", "kind": "fatbin", "offset": 0, "bytes": 4 } ],
    "kernels": [ {
      "symbol": "add", "source_kernel": "add", "params": {},
      "arguments": [ { "name": "X", "kind": "tensor", "dtype": "i32", "direction": "inout", "extents": [ {"dim": "N"} ] } ],
      "dims": [ { "name": "N", "type": "i32", "source": { "arg": "X", "axis": 0, "offset": 0 } } ],
      "checks": [],
      "configurations": [ { "host": [ { "launch": { "name": "add.0",
        "grid": [ { "op": "ceildiv", "args": [ {"dim": "N"}, 64 ], "type": "i32" } ],
        "variants": [ { "name": "any", "module": 0, "block": [64, 1, 1], "shared_bytes": 0,
          "params": [ { "tensor": "X" }, { "expr": {"dim": "N"}, "type": "i32" } ] } ] } } ] } ] } ]
  })json");
  if (ptxBytes > 0) {
    json["modules"][0]["ptx"] = {{"offset", 16}, {"bytes", ptxBytes}};
  }
  json["kernels"][0]["configurations"][0]["host"][0]["launch"]["variants"][0]["entry"] = entry;
  return json;
}

class EmulatedTest : public testing::Test {
protected:
  void SetUp() override {
    setenv("TILE_CUDA_DRIVER", EMULATOR_PATH, 1);
    setenv("TILE_DEVICE", "emu:sm_80,sm_90a", 1);
  }
  void TearDown() override { unsetenv("TILE_DEVICE"); }

  /// The body is machine code that nobody runs, and PTX.
  static tile::Pack load(const tile::Context &context, const char *entry, bool hasPtx = true) {
    std::string body = std::string("\x7f"
                                   "ELF",
                                   4) +
                       std::string(12, '\0') + kPtx;
    std::string bytes = makePack(manifest(entry, hasPtx ? sizeof(kPtx) - 1 : 0).dump(), body);
    return tile::Pack(context, bytes.data(), bytes.size());
  }
  static std::vector<tile::Arg> args(const tile::Buffer<int32_t> &x, int64_t count = -1) {
    return {tile::Arg::tensor(x.data(), {count < 0 ? static_cast<int64_t>(x.size()) : count})};
  }
  static std::vector<int32_t> numbers(size_t count, int32_t first) {
    std::vector<int32_t> result(count);
    std::iota(result.begin(), result.end(), first);
    return result;
  }
  /// What a call throws, with its status.
  static std::string failing(tile_status status, const std::function<void()> &call) {
    try {
      call();
    } catch (const tile::Error &error) {
      EXPECT_EQ(error.status, status) << error.what();
      return error.what();
    }
    ADD_FAILURE() << "no error";
    return "";
  }
};

TEST_F(EmulatedTest, NoBufferIsSmallerThanItsElements) {
  tile::Context context(0);
  failing(TILE_ERROR_DRIVER, [&] { tile::Buffer<double> buffer(context, (size_t(1) << 61) + 2); });
}

TEST_F(EmulatedTest, RunsThePtxOfAPack) {
  for (int device : {0, 1}) {
    tile::Context context(device);
    tile::Pack pack = load(context, "add");
    tile::Buffer<int32_t> x(context, numbers(100, 5));
    pack.kernel("add").launch(args(x));
    context.synchronize();
    EXPECT_EQ(x.read(), numbers(100, 6));
  }
}

TEST_F(EmulatedTest, NeedsPtx) {
  tile::Context context;
  tile::Pack pack = load(context, "add", /*hasPtx=*/false);
  tile::Buffer<int32_t> x(context, numbers(4, 0));
  EXPECT_EQ(
      failing(TILE_ERROR_PACK, [&] { pack.kernel("add").launch(args(x)); }),
      "the pack has no PTX for sm_80, which is what the emulator runs: compile it again with this "
      "version of tilec");
}

TEST_F(EmulatedTest, SaysWhichEntryIsMissing) {
  tile::Context context;
  tile::Pack pack = load(context, "gone");
  tile::Buffer<int32_t> x(context, numbers(4, 0));
  std::string text = failing(TILE_ERROR_DRIVER, [&] { pack.kernel("add").launch(args(x)); });
  EXPECT_NE(text.find("CUDA_ERROR_NOT_FOUND"), std::string::npos) << text;
}

// What it finds is the failure of the launch: the next call says so, and all others, until the context is gone.
TEST_F(EmulatedTest, ReportsEndTheContextsWork) {
  {
    tile::Context context;
    tile::Pack pack = load(context, "race");
    tile::Buffer<int32_t> x(context, numbers(64, 0));
    testing::internal::CaptureStderr();
    pack.kernel("add").launch(args(x)); // enqueued
    const std::string report = testing::internal::GetCapturedStderr();
    EXPECT_NE(report.find("data race: allocation 1 at +0x0"), std::string::npos) << report;
    for (int i = 0; i < 2; ++i) {
      const std::string text = failing(TILE_ERROR_DRIVER, [&] { context.synchronize(); });
      EXPECT_EQ(
          text,
          "waiting for the device: CUDA_ERROR_LAUNCH_FAILED, the emulator has found in `race`: "
          "data race");
    }
    failing(TILE_ERROR_DRIVER, [&] { x.read(); });
    failing(TILE_ERROR_DRIVER, [&] { load(context, "add").kernel("add").launch(args(x)); });
  }
  tile::Context context;
  tile::Pack pack = load(context, "add");
  tile::Buffer<int32_t> x(context, numbers(64, 0));
  pack.kernel("add").launch(args(x));
  EXPECT_EQ(x.read(), numbers(64, 1));
}

// A launch that overlaps the one before it and accesses what that one wrote without waiting for it.
TEST_F(EmulatedTest, LaunchesThatOverlap) {
  for (const char *entry : {"wait", "add"}) {
    for (bool overlaps : {true, false}) {
      tile::Context context;
      Json json = manifest("add", sizeof(kPtx) - 1);
      Json &host = json["kernels"][0]["configurations"][0]["host"];
      host.push_back(host[0]);
      Json &variant = host[1]["launch"]["variants"][0];
      variant["entry"] = entry;
      variant["overlaps"] = overlaps;
      const std::string body = std::string(16, '\0') + kPtx;
      std::string bytes = makePack(json.dump(), body);
      tile::Pack pack(context, bytes.data(), bytes.size());
      tile::Buffer<int32_t> x(context, numbers(64, 0));
      const bool isRight = !overlaps || std::string(entry) == "wait";
      testing::internal::CaptureStderr();
      for (int i = 0; i < (isRight ? 2 : 1); ++i) { // calls do not overlap
        pack.kernel("add").launch(args(x));
      }
      const std::string report = testing::internal::GetCapturedStderr();
      EXPECT_EQ(report.empty(), isRight) << entry << report;
      if (isRight) {
        EXPECT_EQ(x.read(), numbers(64, 4));
      } else {
        EXPECT_NE(report.find("data race: allocation 1 at +0x0"), std::string::npos) << report;
        EXPECT_NE(report.find("write by st.global.u32, in an earlier launch"), std::string::npos)
            << report;
      }
    }
  }
}

TEST_F(EmulatedTest, AccessesAreInsideOfAllocations) {
  tile::Context context;
  tile::Pack pack = load(context, "add");
  tile::Buffer<int32_t> x(context, numbers(64, 0));
  std::vector<int32_t> longer(65);
  EXPECT_EQ(tile_memcpy(context.get(), longer.data(), x.data(), 65 * 4, TILE_TO_HOST, nullptr),
            TILE_ERROR_DRIVER);
  EXPECT_NE(std::string(tile_last_error()).find("are in no allocation"), std::string::npos);
  pack.kernel("add").launch(args(x, 65));
  std::string text = failing(TILE_ERROR_DRIVER, [&] { context.synchronize(); });
  EXPECT_NE(text.find("out of bounds"), std::string::npos) << text;
}

TEST_F(EmulatedTest, MemoryOfTheDevice) {
  tile::Context context;
  tile_context *raw = context.get();
  tile::Buffer<int32_t> a(context, numbers(8, 0)), b(context, 8);
  tile::check(tile_memcpy(raw, b.data(), a.data(), 32, TILE_ON_DEVICE, nullptr));
  EXPECT_EQ(b.read(), numbers(8, 0));
  tile::check(tile_memset(raw, b.data(), 0xff, 16, nullptr));
  EXPECT_EQ(b.read(), (std::vector<int32_t>{-1, -1, -1, -1, 4, 5, 6, 7}));
  EXPECT_EQ(tile_free(raw, nullptr), TILE_OK);
  EXPECT_EQ(tile_free(raw, b.data() + 1), TILE_ERROR_DRIVER);
  EXPECT_EQ(tile_memcpy(raw, b.data(), a.data(), 32, 7, nullptr), TILE_ERROR_ARGUMENT);
  void *nothing = nullptr;
  tile::check(tile_malloc(raw, 0, &nothing));
  EXPECT_NE(nothing, nullptr);
  EXPECT_EQ(tile_free(raw, nothing), TILE_OK);
}

// What was never written stays so when it is copied.
TEST_F(EmulatedTest, CopiesKeepWhatWasNeverWritten) {
  tile::Context context;
  tile::Pack pack = load(context, "add");
  tile::Buffer<int32_t> a(context, 8), b(context, numbers(8, 0));
  tile::check(tile_memcpy(context.get(), b.data() + 4, a.data(), 4, TILE_ON_DEVICE, nullptr));
  pack.kernel("add").launch(args(b, 4));
  context.synchronize();
  pack.kernel("add").launch(args(b, 5));
  std::string text = failing(TILE_ERROR_DRIVER, [&] { context.synchronize(); });
  EXPECT_NE(text.find("uninitialised value"), std::string::npos) << text;
}

TEST_F(EmulatedTest, OtherDevicesAreNone) {
  EXPECT_EQ(failing(TILE_ERROR_NO_DRIVER, [] { tile::Context third(2); }),
            "there is no device 2: the driver has 2");
  setenv("TILE_DEVICE", "gpu", 1);
  EXPECT_EQ(failing(TILE_ERROR_NO_DRIVER, [] { tile::Context context; }),
            "TILE_DEVICE is `gpu`: give cuda, emu, or emu:sm_80");
}

// Contexts, packs, memory and launches of 8 threads on two devices.
TEST_F(EmulatedTest, Threads) {
  constexpr int kThreads = 8, kRounds = 3;
  std::latch ready(kThreads);
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  tile::Context shared(0);
  tile::Pack pack = load(shared, "add");
  for (int number = 0; number < kThreads; ++number) {
    threads.emplace_back([&, number] {
      ready.arrive_and_wait();
      for (int round = 0; round < kRounds; ++round) {
        tile::Context own(number % 2);
        tile::Pack ownPack = load(own, "add");
        tile::Buffer<int32_t> x(own, numbers(130, number)), y(shared, numbers(70, number));
        ownPack.kernel("add").launch(args(x));
        pack.kernel("add").launch(args(y));
        own.synchronize();
        EXPECT_EQ(x.read(), numbers(130, number + 1));
        EXPECT_EQ(y.read(), numbers(70, number + 1));
      }
    });
  }
  for (std::thread &thread : threads) {
    thread.join();
  }
}

} // namespace
} // namespace tile_rt::test
