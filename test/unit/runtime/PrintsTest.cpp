// What kernels print: messages of the buffer as text, and how the calls of a context show them.
#include "runtime/src/Prints.h"

#include "TestPack.h"
#include "runtime/include/tile/tile.hpp"

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <thread>
#include <unistd.h>

namespace tile_rt::test {
namespace {

using Shown = PrintText::Shown;

/// Writes messages as device code does.
class Device {
public:
  explicit Device(tile_print_buffer &buffer) : buffer(buffer) {}

  /// False where there is no room. Without `publish` the message stays incomplete.
  bool print(uint32_t number, const std::vector<uint64_t> &values, bool publish = true) {
    const uint64_t bytes = 8 * (values.size() + 1);
    std::atomic_ref<uint64_t> reserved(buffer.reserved);
    uint64_t at = reserved.load();
    do {
      uint64_t read = std::atomic_ref(buffer.consumed).load(std::memory_order_acquire);
      if (static_cast<int64_t>(at - read) > static_cast<int64_t>(TILE_PRINT_RING_BYTES - bytes)) {
        std::atomic_ref(buffer.lost).fetch_add(1);
        return false;
      }
    } while (!reserved.compare_exchange_weak(at, at + bytes));
    for (size_t i = 0; i < values.size(); ++i) {
      word(at + 8 * (i + 1)) = values[i];
    }
    if (publish) {
      complete(at, number, bytes);
    }
    return true;
  }
  void complete(uint64_t at, uint32_t number, uint64_t bytes) {
    std::atomic_ref(word(at)).store(uint64_t{number} << 32 | bytes, std::memory_order_release);
  }

private:
  uint64_t &word(uint64_t at) { return buffer.ring[at / 8 % (TILE_PRINT_RING_BYTES / 8)]; }
  tile_print_buffer &buffer;
};

class Messages : public testing::Test {
protected:
  std::string take() {
    return takeMessages(*buffer, [this](uint32_t number) { return findPlace(texts, number); });
  }
  std::unique_ptr<tile_print_buffer> buffer = std::make_unique<tile_print_buffer>();
  Device device{*buffer};
  std::vector<PrintText> texts;
};

TEST_F(Messages, ValuesOfEveryType) {
  texts = {
      {0, "no value, {{ }", {}},
      {1,
       "{} {} {} {} {}",
       {{DType::I8, {}}, {DType::U8, {}}, {DType::I32, {}}, {DType::I64, {}}, {DType::U64, {}}}},
      {2, "{} {} {} {}", {{DType::F16, {}}, {DType::BF16, {}}, {DType::F32, {}}, {DType::F64, {}}}},
      {3,
       "{} {} {} {} {} {} {}",
       {{DType::Bool, {}},
        {DType::E4M3, {}},
        {DType::E5M2, {}},
        {DType::E8M0, {}},
        {DType::E2M1, {}},
        {DType::I4, {}},
        {DType::U4, {}}}}};
  device.print(0, {});
  const uint64_t all = ~uint64_t{0};
  device.print(1, {0xff, 0xff, 0xfffffff6, all, all});
  device.print(2, {0xc000, 0x3f80, 0x7fc00000, 0x3fb999999999999a});
  device.print(3, {1, 0xb8, 0x7c, 128, 7, 15, 15});
  EXPECT_EQ(take(), "no value, {{ }\n-1 255"
                    " -10 -1 18446744073709551615\n"
                    "-2 1 nan 0.1\n"
                    "true -1 inf 2 6 -1 15\n");
}

TEST_F(Messages, TilesStandOneBehindTheOther) {
  texts = {{0, "{}: {} and {}.", {{DType::U16, {3}}, {DType::F32, {2, 2}}, {DType::Bool, {1, 3}}}}};
  device.print(0, {0x0003'0002'0001, 0x3f80'0000'0000'0000, 0xbf80'0000'4000'0000, 0x01'00'01});
  EXPECT_EQ(take(), "[1, 2, 3]: [[0, 1], [2, -1]] and [[true, false, true]].\n");
}

TEST_F(Messages, AreReadInTheirOrderUpToOneThatIsNotComplete) {
  texts = {{0, "a {}", {{DType::I32, {}}}}, {1, "b", {}}};
  device.print(0, {1});
  device.print(0, {2}, /*publish=*/false);
  device.print(1, {});
  EXPECT_EQ(take(), "a 1\n");
  EXPECT_EQ(take(), "");
  device.complete(16, 0, 16);
  EXPECT_EQ(take(), "a 2\nb\n");
  EXPECT_EQ(buffer->consumed, buffer->reserved);
}

// What is full stays as it is; room is made by reading, and messages go on over the end of the ring.
TEST_F(Messages, AFullRingLosesNewOnes) {
  texts = {{0, "{}", {{DType::U64, {20'000}}}}, {1, "{}", {{DType::U64, {}}}}};
  std::vector<uint64_t> large(20'000);
  uint64_t written = 0, read = 0;
  for (int round = 0; round < 5; ++round) {
    const uint64_t lost = buffer->lost;
    for (large[19'999] = written; device.print(0, large); large[19'999] = ++written) {
    }
    EXPECT_TRUE(device.print(1, {77})) << "what is small still fits";
    EXPECT_EQ(buffer->lost, lost + 1);
    std::string text = take();
    for (size_t at = 0; (at = text.find("]\n", at)) != std::string::npos; ++at, ++read) {
      size_t number = text.rfind(' ', at) + 1;
      EXPECT_EQ(text.substr(number, at - number), std::to_string(read));
    }
    EXPECT_EQ(text.substr(text.rfind('\n', text.size() - 2) + 1), "77\n");
    EXPECT_EQ(read, written);
  }
  EXPECT_GT(buffer->consumed, 3u * TILE_PRINT_RING_BYTES);
  for (uint64_t word : buffer->ring) {
    ASSERT_EQ(word, 0u);
  }
}

TEST_F(Messages, WhatIsNoMessageEndsTheText) {
  texts = {{0, "a", {}}};
  device.print(0, {});
  device.print(5, {});
  EXPECT_EQ(take(), "a\na message of `print` that cannot be read: the rest is lost\n");
  EXPECT_EQ(take(), "");
}

TEST_F(Messages, WritersAndAReaderAtATime) {
  texts = {{0, "{} {}", {{DType::I32, {}}, {DType::U64, {100}}}}};
  std::atomic<int> running = 4;
  std::vector<std::thread> writers;
  writers.reserve(4);
  std::atomic<uint64_t> sent = 0;
  for (int writer = 0; writer < 4; ++writer) {
    writers.emplace_back([&, writer] {
      std::vector<uint64_t> values(101);
      values[0] = writer;
      for (uint64_t i = 0; i < 3000; ++i) {
        values[1] = values[100] = i;
        sent += device.print(0, values);
      }
      --running;
    });
  }
  uint64_t lines = 0;
  std::vector<int64_t> last(4, -1);
  auto look = [&] {
    std::string text = take();
    for (size_t at = 0, end; at < text.size(); at = end + 1, ++lines) {
      end = text.find('\n', at);
      const size_t writer = text[at] - '0';
      std::string first = text.substr(at + 3, text.find(',', at) - at - 3);
      size_t behind = text.rfind(' ', end) + 1;
      ASSERT_LT(writer, 4u);
      EXPECT_EQ(first, text.substr(behind, end - 1 - behind));
      EXPECT_GT(std::stoll(first), last[writer]);
      last[writer] = std::stoll(first);
    }
  };
  while (running > 0) {
    look();
  }
  for (std::thread &writer : writers) {
    writer.join();
  }
  look();
  EXPECT_EQ(lines, sent);
  EXPECT_EQ(sent + buffer->lost, 12000u);
}

/// gemmManifest with a kernel that prints, for which the fake driver writes if `entry` says so.
Json printingManifest(const char *entry, const char *word = "n") {
  Json json = gemmManifest();
  Json &launch = json["kernels"][0]["configurations"][0]["host"][0]["launch"];
  launch["variants"] = Json::parse(R"([{ "module": 0, "entry": "", "block": [32, 1, 1],
    "params": [ { "tensor": "C" }, { "print": "buffer" }, { "print": "base" } ],
    "prints": [ { "number": 0, "text": "first", "values": [] },
      { "number": 1, "text": "", "values": [ { "type": "i32" }, { "type": "f32", "shape": [2] } ] } ] }])");
  launch["variants"][0]["entry"] = entry;
  launch["variants"][0]["prints"][1]["text"] = std::string(word) + " is {}, x is {}";
  return json;
}

TEST(Prints, ManifestIsChecked) {
  Manifest manifest = parseJson(printingManifest("prints_3"));
  const Variant &variant = manifest.kernels[0].configurations[0].host[0].variants[0];
  ASSERT_EQ(variant.prints.size(), 2u);
  EXPECT_EQ(variant.prints[1].values[1].type, DType::F32);
  EXPECT_EQ(variant.prints[1].values[1].shape, std::vector<uint32_t>{2});
  EXPECT_EQ(messageBytes(variant.prints[1]), 24u);
  EXPECT_EQ(variant.params[1].kind, Parameter::Kind::PrintBuffer);
  EXPECT_EQ(variant.params[2].kind, Parameter::Kind::PrintBase);
  Json wrong = printingManifest("prints_3");
  wrong["kernels"][0]["configurations"][0]["host"][0]["launch"]["variants"][0]["params"][1]
       ["print"] = "other";
  EXPECT_THROW(parseJson(wrong), Error);
  for (const char *shape : {"[262144, 262144, 262144, 4]", "[65536]", "[0]"}) {
    Json large = printingManifest("prints_3");
    large["kernels"][0]["configurations"][0]["host"][0]["launch"]["variants"][0]["prints"][1]
         ["values"][1]["shape"] = Json::parse(shape);
    EXPECT_THROW(parseJson(large), Error) << shape;
  }
}

class PrintsOnDevice : public testing::Test {
protected:
  void SetUp() override { setenv("TILE_CUDA_DRIVER", FAKE_DRIVER_PATH, 1); }
  static tile::Pack load(const tile::Context &context, const Json &json) {
    std::string bytes = makePack(json.dump(), gemmBody());
    return tile::Pack(context, bytes.data(), bytes.size());
  }
  static std::vector<tile::Arg> args() {
    auto at = [](uint64_t address) { return reinterpret_cast<void *>(address); };
    return {tile::Arg::tensor(at(kA), TILE_F16, {128, 64}),
            tile::Arg::tensor(at(kB), TILE_F16, {64, 256}),
            tile::Arg::tensor(at(kC), TILE_F16, {128, 256})};
  }
  /// What `call` writes to standard output.
  template <class Call>
  static std::string shown(Call &&call) {
    testing::internal::CaptureStdout();
    call();
    return testing::internal::GetCapturedStdout();
  }
  static constexpr const char *kText = "n is 7, x is [1.5, -2]\n";
};

TEST_F(PrintsOnDevice, TheNextCallShowsIt) {
  tile::Context context;
  tile::Pack quiet = load(context, printingManifest("good_3"));
  tile::Pack pack = load(context, printingManifest("prints_3"));
  EXPECT_EQ(shown([&] { pack.kernel("gemm").launch(args()); }), "");
  EXPECT_EQ(shown([&] { quiet.kernel("gemm").launch(args()); }), kText);
  EXPECT_EQ(shown([&] { pack.kernel("gemm").launch(args()); }), "");
  EXPECT_EQ(shown([&] { pack.kernel("gemm").launch(args()); }), kText);
}

TEST_F(PrintsOnDevice, AskingAndUnloadingShowIt) {
  auto context = std::make_unique<tile::Context>();
  auto pack = std::make_unique<tile::Pack>(load(*context, printingManifest("prints_3")));
  tile::Pack second = load(*context, printingManifest("prints_3", "m"));
  pack->kernel("gemm").launch(args());
  EXPECT_EQ(shown([&] { context->check(); }), kText);
  pack->kernel("gemm").launch(args());
  EXPECT_EQ(shown([&] { pack.reset(); }), kText);
  second.kernel("gemm").launch(args());
  EXPECT_EQ(shown([&] {
              {
                tile::Pack gone = std::move(second);
              }
              context.reset();
            }),
            "m is 7, x is [1.5, -2]\n");
}

// A text outlives its pack, and those of several kernels do not mix.
TEST_F(PrintsOnDevice, TextsOfSeveralKernels) {
  tile::Context context;
  tile::Pack first = load(context, printingManifest("prints_3"));
  tile::Pack second = load(context, printingManifest("prints_3", "m"));
  first.kernel("gemm").launch(args());
  const std::string text = shown([&] { second.kernel("gemm").launch(args()); });
  EXPECT_EQ(text + shown([&] { context.check(); }),
            std::string(kText) + "m is 7, x is [1.5, -2]\n");
}

TEST_F(PrintsOnDevice, WhatIsLostIsCounted) {
  tile::Context context;
  tile::Pack pack = load(context, printingManifest("flood_3"));
  pack.kernel("gemm").launch(args());
  testing::internal::CaptureStderr();
  std::string text = shown([&] { context.check(); });
  const size_t fits = TILE_PRINT_RING_BYTES / 24;
  EXPECT_EQ(text.size(), fits * std::strlen(kText));
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            std::to_string(50'000 - fits) +
                " messages of `print` are lost: the buffer of 1048576 bytes was full\n");
  testing::internal::CaptureStderr();
  EXPECT_EQ(shown([&] { context.check(); }), "");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST_F(PrintsOnDevice, OnlyKernelsThatPrintHaveABuffer) {
  const std::string log = testing::TempDir() + "/" + std::to_string(getpid()) + "_prints.log";
  setenv("FAKE_DRIVER_LOG", log.c_str(), 1);
  auto lines = [&](const std::string &text) {
    std::ifstream file(log);
    size_t count = 0;
    for (std::string line; std::getline(file, line);) {
      count += line.find(text) != std::string::npos;
    }
    return count;
  };
  {
    tile::Context context;
    tile::Pack none = load(context, gemmManifest());
    tile::check(tile_kernel_prepare(none.kernel("gemm").get()));
    EXPECT_EQ(lines("host "), 0u);
    tile::Pack pack = load(context, printingManifest("good_3"));
    tile::check(tile_kernel_prepare(pack.kernel("gemm").get()));
    EXPECT_EQ(lines("host " + std::to_string(sizeof(tile_print_buffer)) + " flags 3"), 1u);
    pack.kernel("gemm").launch(args());
    EXPECT_EQ(lines("host "), 1u);
  }
  EXPECT_EQ(lines("free host"), 1u);
  std::remove(log.c_str());
}

} // namespace
} // namespace tile_rt::test
