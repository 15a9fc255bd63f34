// Records of failed checks: their text, and how the calls of a context find them.
#include "runtime/src/Failures.h"

#include "TestPack.h"
#include "runtime/include/tile/tile.hpp"

#include <cstdlib>
#include <fstream>
#include <unistd.h>

namespace tile_rt::test {
namespace {

CheckPlace placeWith(const char *text, std::vector<DType> types) {
  return {4, "k.tile", 12, 5, text, std::move(types)};
}

TEST(Failures, TextShowsValuesAsPrintDoes) {
  tile_failure_record record{};
  record.block = 2;
  record.thread = 33;
  uint64_t values[] = {0xff,   0xff, 0xfffffff6, 0x3f800000, 0x3fb999999999999a, uint64_t{1} << 63,
                       0x3c00, 1};
  std::copy(std::begin(values), std::end(values), record.values);
  CheckPlace place =
      placeWith("{} {} {} {} {} {} {} {}", {DType::U8, DType::I8, DType::I32, DType::F32,
                                            DType::F64, DType::U64, DType::F16, DType::Bool});
  EXPECT_EQ(describeFailure(record, &place),
            "k.tile:12:5: error: 255 -1 -10 1 0.1 9223372036854775808 1 true (block 2, thread 33)");
  place = placeWith("signed integer overflow", {});
  EXPECT_EQ(describeFailure(record, &place),
            "k.tile:12:5: error: signed integer overflow (block 2, thread 33)");
  EXPECT_EQ(describeFailure(record, nullptr),
            "a check failed at a place that is not known (block 2, thread 33)");
}

/// gemmManifest with a kernel that has checks, which the fake driver fails if `entry` says so.
Json checkedManifest(const char *entry) {
  Json json = gemmManifest();
  Json &launch = json["kernels"][0]["configurations"][0]["host"][0]["launch"];
  launch["variants"] = Json::parse(R"([{ "module": 0, "entry": "", "block": [32, 1, 1],
    "params": [ { "tensor": "C" }, { "check": "record" }, { "check": "base" } ],
    "checks": [ { "number": 0, "file": "k.tile", "line": 1, "column": 1, "text": "first", "values": [] },
      { "number": 1, "file": "k.tile", "line": 7, "column": 9, "text": "n is {}, x is {} [assert]",
        "values": ["i32", "f32"] } ] }])");
  launch["variants"][0]["entry"] = entry;
  return json;
}

TEST(Failures, ManifestIsChecked) {
  Manifest manifest = parseJson(checkedManifest("fails_3"));
  const Variant &variant = manifest.kernels[0].configurations[0].host[0].variants[0];
  ASSERT_EQ(variant.checks.size(), 2u);
  EXPECT_EQ(variant.checks[1].line, 7u);
  EXPECT_EQ(variant.checks[1].values[1], DType::F32);
  EXPECT_EQ(variant.params[1].kind, Parameter::Kind::CheckRecord);
  Json wrong = checkedManifest("fails_3");
  wrong["kernels"][0]["configurations"][0]["host"][0]["launch"]["variants"][0]["params"][1]
       ["check"] = "other";
  EXPECT_THROW(parseJson(wrong), Error);
  Json many = checkedManifest("fails_3");
  many["kernels"][0]["configurations"][0]["host"][0]["launch"]["variants"][0]["checks"][0]
      ["values"] = std::vector<std::string>(9, "i32");
  EXPECT_THROW(parseJson(many), Error);
}

class FailuresOnDevice : public testing::Test {
protected:
  void SetUp() override {
    log = testing::TempDir() + "/" + std::to_string(getpid()) + "_failures.log";
    std::remove(log.c_str());
    setenv("TILE_CUDA_DRIVER", FAKE_DRIVER_PATH, 1);
    setenv("FAKE_DRIVER_LOG", log.c_str(), 1);
  }
  void TearDown() override { std::remove(log.c_str()); }
  size_t linesWith(const std::string &text) {
    std::ifstream file(log);
    size_t count = 0;
    for (std::string line; std::getline(file, line);) {
      count += line.find(text) != std::string::npos;
    }
    return count;
  }
  static tile::Pack load(const tile::Context &context, const char *entry) {
    std::string bytes = makePack(checkedManifest(entry).dump(), gemmBody());
    return tile::Pack(context, bytes.data(), bytes.size());
  }
  static std::vector<tile::Arg> args() {
    auto at = [](uint64_t address) { return reinterpret_cast<void *>(address); };
    return {tile::Arg::tensor(at(kA), TILE_F16, {128, 64}),
            tile::Arg::tensor(at(kB), TILE_F16, {64, 256}),
            tile::Arg::tensor(at(kC), TILE_F16, {128, 256})};
  }
  static constexpr const char *kText =
      "k.tile:7:9: error: n is 7, x is -1.5 [assert] (block 3, thread 40)";
  std::string log;
};

TEST_F(FailuresOnDevice, TheNextCallReturnsIt) {
  tile::Context context;
  context.check();
  tile::Pack good = load(context, "good_3"), bad = load(context, "fails_3");
  good.kernel("gemm").launch(args());
  context.check();
  bad.kernel("gemm").launch(args()); // it fails on the device: the call itself is fine
  EXPECT_EQ(linesWith("launch fails_3"), 1u);
  try {
    good.kernel("gemm").launch(args());
    ADD_FAILURE() << "no error";
  } catch (const tile::Error &error) {
    EXPECT_EQ(error.status, TILE_ERROR_CHECK);
    EXPECT_STREQ(error.what(), kText);
    EXPECT_STREQ(tile_status_name(error.status), "check");
  }
  EXPECT_EQ(linesWith("launch good_3"), 1u); // the refused call launched nothing
  good.kernel("gemm").launch(args());        // told once
  EXPECT_EQ(linesWith("launch good_3"), 2u);
  EXPECT_EQ(linesWith("host "), 1u); // one record for the context
}

TEST_F(FailuresOnDevice, AskingReturnsItAndMakesRoomForTheNext) {
  {
    tile::Context context;
    for (int i = 0; i < 2; ++i) {
      tile::Pack pack = load(context, "fails_3");
      pack.kernel("gemm").launch(args());
      EXPECT_EQ(tile_context_check(context.get()), TILE_ERROR_CHECK);
      EXPECT_STREQ(tile_last_error(), kText);
      EXPECT_EQ(tile_context_check(context.get()), TILE_OK);
    }
    tile::Pack pack = load(context, "fails_3");
    pack.kernel("gemm").launch(args());
  }
  EXPECT_EQ(linesWith("free host"), 1u);
}

TEST_F(FailuresOnDevice, ItOutlivesItsPack) {
  tile::Context context;
  load(context, "fails_3").kernel("gemm").launch(args());
  EXPECT_EQ(tile_context_check(context.get()), TILE_ERROR_CHECK);
  EXPECT_STREQ(tile_last_error(), kText);
}

TEST_F(FailuresOnDevice, PrepareMakesTheRecord) {
  tile::Context context;
  tile::Pack pack = load(context, "good_3");
  tile::check(tile_kernel_prepare(pack.kernel("gemm").get()));
  EXPECT_EQ(linesWith("host 96 flags 3"), 1u);
  pack.kernel("gemm").launch(args());
  EXPECT_EQ(linesWith("host "), 1u);
}

TEST_F(FailuresOnDevice, PlacesOfSeveralKernelsDoNotMix) {
  tile::Context context;
  Json other = checkedManifest("good_3");
  other["kernels"][0]["configurations"][0]["host"][0]["launch"]["variants"][0]["checks"][1]
       ["line"] = 8;
  std::string bytes = makePack(other.dump(), gemmBody());
  tile::Pack first(context, bytes.data(), bytes.size());
  first.kernel("gemm").launch(args());
  tile::Pack second = load(context, "fails_3");
  second.kernel("gemm").launch(args());
  EXPECT_EQ(tile_context_check(context.get()), TILE_ERROR_CHECK);
  EXPECT_STREQ(tile_last_error(), kText);
}

} // namespace
} // namespace tile_rt::test
