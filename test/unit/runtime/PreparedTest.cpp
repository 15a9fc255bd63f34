// Calls that were prepared before: what they depend on, what is put into them, what they never forget.
#include "TestPack.h"
#include "runtime/include/tile/tile.hpp"
#include "runtime/src/Device.h"

#include <cstdlib>
#include <fstream>
#include <unistd.h>

namespace tile_rt::test {
namespace {

Json parse(const char *text) { return Json::parse(text); }

Json &launchOf(Json &json) { return json["kernels"][0]["configurations"][0]["host"][0]["launch"]; }

/// gemmManifest with a scalar argument `s` that the plain variant gets as a parameter.
Json withScalar(const char *dtype) {
  Json json = gemmManifest();
  json["kernels"][0]["arguments"].push_back({{"name", "s"}, {"kind", "scalar"}, {"dtype", dtype}});
  Json &variants = launchOf(json)["variants"];
  variants = Json::array({variants[1]});
  variants[0]["params"] = parse(R"([ { "tensor": "C" } ])");
  variants[0]["params"].push_back({{"expr", {{"arg", "s"}}}, {"type", dtype}});
  return json;
}

class KeyTest : public testing::Test {
protected:
  void read(const Json &json) {
    manifest = parseJson(json);
    rules = keyRules(manifest.kernels[0]);
  }
  /// The words of a call's key; empty if it has none.
  std::vector<uint64_t> key(const Call &call) {
    CallKey key;
    if (!makeKey(key, manifest.kernels[0], rules, call.args.data(), call.args.size())) {
      return {};
    }
    return {key.words.begin(), key.words.begin() + static_cast<ptrdiff_t>(key.size)};
  }
  Manifest manifest;
  KeyRules rules;
};

TEST_F(KeyTest, AddressesCountByTheLargestAlignmentAskedFor) {
  Json json = gemmManifest();
  read(json);
  EXPECT_EQ(rules.granule, 16u);
  for (Json &argument : json["kernels"][0]["arguments"]) {
    argument["align"] = 2;
  }
  read(json);
  EXPECT_EQ(rules.granule, 16u); // of tensor maps
  json["kernels"][0]["arguments"][1]["align"] = 64;
  read(json);
  EXPECT_EQ(rules.granule, 64u);
  // Anywhere: in guards, and in the costs, of any depth.
  launchOf(json)["variants"][1]["cost"] =
      parse(R"({ "op": "select", "args": [ {"aligned": ["A", 8192]}, 1, 2 ] })");
  read(json);
  EXPECT_EQ(rules.granule, 8192u);
}

TEST_F(KeyTest, CallsThatDifferInWhatPlansDependOnHaveOtherKeys) {
  read(gemmManifest());
  const Call call = gemmCall(128, 256, 64);
  EXPECT_EQ(key(call), key(gemmCall(128, 256, 64)));
  EXPECT_NE(key(call), key(gemmCall(128, 256, 72)));
  auto with = [](uint64_t a, std::vector<int64_t> strides) {
    Call call;
    call.tensor(a, TILE_F16, {128, 64}, std::move(strides));
    call.tensor(kB, TILE_F16, {64, 256}).tensor(kC, TILE_F16, {128, 256});
    return call;
  };
  EXPECT_EQ(key(call), key(with(kA + 16, {})));
  EXPECT_NE(key(call), key(with(kA + 8, {})));
  EXPECT_NE(key(call), key(with(0, {}))); // null, though a multiple of everything
  EXPECT_NE(key(call), key(with(kA, {64, 1})));
  EXPECT_NE(key(with(kA, {72, 1})), key(with(kA, {64, 1})));
}

TEST_F(KeyTest, CallsThatBreakARuleAtFirstSightHaveNone) {
  read(gemmManifest());
  Call call = gemmCall(128, 256, 64);
  call.args[1].rank = 3;
  EXPECT_TRUE(key(call).empty());
  call = gemmCall(128, 256, 64);
  call.args[1].rank = TILE_SCALAR_RANK;
  EXPECT_TRUE(key(call).empty());
  call = gemmCall(128, 256, 64);
  call.args[2].dtype = TILE_F32;
  EXPECT_TRUE(key(call).empty());
  call = gemmCall(128, 256, 64);
  call.args[0].extents = nullptr;
  EXPECT_TRUE(key(call).empty());
  call = gemmCall(128, 256, 64);
  call.args.pop_back();
  EXPECT_TRUE(key(call).empty());
}

TEST_F(KeyTest, ScalarsCountUnlessTheyAreOnlyCopied) {
  auto call = [](float value) {
    Call call = gemmCall(128, 256, 64);
    call.scalar(TILE_F32, value);
    return call;
  };
  Json json = withScalar("f32");
  read(json);
  EXPECT_EQ(key(call(1)), key(call(2)));
  Call missing = call(1);
  missing.args[3].data = nullptr;
  EXPECT_TRUE(key(missing).empty());
  // Converted, it may not fit.
  Json converted = json;
  launchOf(converted)["variants"][0]["params"][1] = parse(
      R"({ "expr": { "op": "cast", "args": [ {"arg": "s"} ], "type": "i32" }, "type": "i32" })");
  read(converted);
  EXPECT_NE(key(call(1)), key(call(2)));
  // Both copied and looked at.
  Json guarded = json;
  launchOf(guarded)["variants"][0]["guard"] = parse(R"({ "op": "gt", "args": [
      { "op": "cast", "args": [ {"arg": "s"} ], "type": "i32" }, 0 ] })");
  read(guarded);
  EXPECT_NE(key(call(1)), key(call(2)));
}

TEST_F(KeyTest, AbsentTensorsAreTheSameWhateverElseIsSaidOfThem) {
  Json json = gemmManifest();
  json["kernels"][0]["arguments"].push_back(parse(
      R"({ "name": "D", "kind": "tensor", "dtype": "f16", "direction": "in", "optional": true, "extents": [ {"dim": "M"} ] })"));
  read(json);
  Call present = gemmCall(128, 256, 64);
  present.tensor(0x400000000, TILE_F16, {128});
  Call absent = gemmCall(128, 256, 64);
  absent.absent();
  Call odd = gemmCall(128, 256, 64);
  odd.tensor(0, TILE_F32, {1, 2, 3});
  EXPECT_NE(key(present), key(absent));
  EXPECT_EQ(key(odd), key(absent));
}

/// Over the fake driver, which says in its log what it was given.
class PreparedTest : public testing::Test {
protected:
  void SetUp() override {
    log = testing::TempDir() + "/" + std::to_string(getpid()) + "_prepared.log";
    std::remove(log.c_str());
    setenv("TILE_CUDA_DRIVER", FAKE_DRIVER_PATH, 1);
    setenv("FAKE_DRIVER_LOG", log.c_str(), 1);
    context = std::make_unique<tile::Context>();
  }
  void TearDown() override {
    pack.reset();
    std::remove(log.c_str());
    unsetenv("FAKE_DRIVER_LOG");
  }
  void load(const Json &json) {
    std::string bytes = makePack(json.dump(), gemmBody());
    pack = std::make_unique<tile::Pack>(*context, bytes.data(), bytes.size());
    kernel = pack->kernel("gemm").get();
  }
  /// The lines of the log since the last call.
  std::vector<std::string> lines() {
    std::ifstream file(log);
    std::vector<std::string> result;
    for (std::string line; std::getline(file, line);) {
      result.push_back(line);
    }
    std::vector<std::string> fresh(result.begin() + static_cast<ptrdiff_t>(seen), result.end());
    seen = result.size();
    return fresh;
  }
  tile_status launch(const Call &call, uint64_t workspace = 0, size_t bytes = 0) {
    return tile_launch(kernel, call.args.data(), call.args.size(), nullptr,
                       reinterpret_cast<void *>(workspace), bytes);
  }
  std::shared_ptr<PreparedCall> prepare(const Call &call) {
    return kernel->prepare(call.args.data(), call.args.size());
  }
  static Call at(uint64_t a, uint64_t b, uint64_t c, int64_t m = 128, int64_t n = 256,
                 int64_t k = 64) {
    Call call;
    call.tensor(a, TILE_F16, {m, k}).tensor(b, TILE_F16, {k, n}).tensor(c, TILE_F16, {m, n});
    return call;
  }
  std::string log;
  std::unique_ptr<tile::Context> context;
  std::unique_ptr<tile::Pack> pack;
  tile_kernel *kernel = nullptr;
  size_t seen = 0;
};

TEST_F(PreparedTest, OneCallIsPreparedOnceAndFollowsItsAddresses) {
  load(gemmManifest());
  const std::shared_ptr<PreparedCall> first = prepare(at(kA, kB, kC));
  EXPECT_EQ(prepare(at(kA, kB, kC)), first);
  EXPECT_EQ(prepare(at(kB, kA + 0x40, kC + 0x1000)), first);
  EXPECT_NE(prepare(at(kA, kB, kC, 256)), first);
  EXPECT_EQ(prepare(at(kA, kB, kC)), first);
}

TEST_F(PreparedTest, MapsAreEncodedForTheAddressesOfEachCall) {
  load(gemmManifest());
  EXPECT_EQ(launch(at(kA, kB, kC)), TILE_OK);
  lines();
  EXPECT_EQ(launch(at(kA, kB, kC)), TILE_OK); // nothing but the launch
  std::vector<std::string> again = lines();
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0], "launch gemm_tma_2 grid 1 1 1 block 384 1 1 shared 196608 0000000001000000 "
                      "4000000000000000");
  EXPECT_EQ(launch(at(0x1230, kB, kC)), TILE_OK);
  std::vector<std::string> moved = lines();
  ASSERT_EQ(moved.size(), 2u);
  EXPECT_EQ(moved[0].rfind("map ", 0), 0u);
  EXPECT_NE(moved[1].find(" 3012000000000000 "), std::string::npos) << moved[1];
}

TEST_F(PreparedTest, TensorsAndCopiedScalarsAreThoseOfTheCall) {
  load(withScalar("i16"));
  auto call = [](uint64_t c, int16_t value) {
    Call call = at(kA, kB, c);
    call.scalar(TILE_I16, value);
    return call;
  };
  const std::shared_ptr<PreparedCall> first = prepare(call(kC, 1));
  EXPECT_EQ(launch(call(kC, 1)), TILE_OK);
  EXPECT_EQ(prepare(call(kC + 16, -2)), first);
  EXPECT_EQ(launch(call(kC + 16, -2)), TILE_OK);
  std::vector<std::string> log = lines();
  ASSERT_GE(log.size(), 2u);
  EXPECT_NE(log[log.size() - 2].find(" 0000000003000000 0100"), std::string::npos);
  EXPECT_NE(log.back().find(" 1000000003000000 feff"), std::string::npos) << log.back();
}

TEST_F(PreparedTest, OverlapsAreFoundInEveryCall) {
  load(gemmManifest());
  EXPECT_EQ(launch(at(kA, kB, kC)), TILE_OK);
  EXPECT_EQ(launch(at(kA, kB, kA + 16)), TILE_ERROR_ARGUMENT);
  EXPECT_EQ(std::string(tile_last_error()), "[alias] argument `C` is written and overlaps `A`");
  EXPECT_EQ(launch(at(kC, kB, kC)), TILE_ERROR_ARGUMENT);
  EXPECT_EQ(launch(at(kA, kA, kC)), TILE_OK); // neither is written
  EXPECT_EQ(launch(at(kA, kB, kA + 128 * 64 * 2)), TILE_OK);
  EXPECT_EQ(launch(at(kA, kB, kA + 128 * 64 * 2 - 16)), TILE_ERROR_ARGUMENT);
  EXPECT_EQ(launch(at(kA, 0, kC)), TILE_ERROR_ARGUMENT);
}

TEST_F(PreparedTest, AdmittedAliasesMoveTogether) {
  Json json = gemmManifest();
  json["kernels"][0]["arguments"][2]["may_alias"] = {"A"};
  load(json);
  EXPECT_EQ(launch(at(kA, kB, kA, 64, 64, 64)), TILE_OK);
  const std::shared_ptr<PreparedCall> first = prepare(at(kA, kB, kA, 64, 64, 64));
  EXPECT_EQ(prepare(at(kC, kB, kC, 64, 64, 64)), first);
  EXPECT_EQ(launch(at(kC, kB, kC + 16, 64, 64, 64)), TILE_ERROR_ARGUMENT);
  EXPECT_EQ(launch(at(kC, kB, kA, 64, 64, 64)), TILE_OK);
  EXPECT_EQ(launch(at(kC, kC, kA, 64, 64, 64)), TILE_OK);
}

TEST_F(PreparedTest, MoreCallsThanAreKept) {
  load(gemmManifest());
  for (int round = 0; round < 2; ++round) {
    for (int64_t m = 1; m <= 200; ++m) {
      EXPECT_EQ(prepare(at(kA, kB, kC, m * 128))->plan.steps.at(0).launch.blocks[0],
                static_cast<unsigned>(std::min<int64_t>(m, 132)));
    }
  }
}

TEST_F(PreparedTest, WorkspacesAreThoseOfTheCall) {
  Json json = gemmManifest();
  Json &host = json["kernels"][0]["configurations"][0]["host"];
  Json launch0 = host[0];
  launch0["launch"]["variants"] = Json::array({launch0["launch"]["variants"][1]});
  launch0["launch"]["variants"][0]["params"] =
      parse(R"([ { "workspace": "v" }, { "workspace": "w" } ])");
  host = Json::array();
  for (const char *name : {"v", "w"}) {
    host.push_back(
        {{"workspace",
          {{"name", name}, {"dtype", "f32"}, {"extents", {{{"dim", "M"}}}}, {"init", 1.5}}}});
  }
  host.push_back(launch0);
  load(json);
  const Call call = at(kA, kB, kC);
  size_t bytes = 0;
  ASSERT_EQ(tile_workspace_size(kernel, call.args.data(), call.args.size(), &bytes), TILE_OK);
  EXPECT_EQ(bytes, 1024u);
  std::vector<unsigned char> memory(2 * bytes + 256);
  for (size_t offset : {size_t{0}, bytes}) {
    const uint64_t base = (reinterpret_cast<uint64_t>(memory.data()) + 255) / 256 * 256 + offset;
    EXPECT_EQ(launch(call, base, bytes), TILE_OK) << tile_last_error();
    char expected[64];
    std::snprintf(expected, sizeof(expected), " %016llx %016llx",
                  static_cast<unsigned long long>(__builtin_bswap64(base)),
                  static_cast<unsigned long long>(__builtin_bswap64(base + 512)));
    const std::string last = lines().back();
    EXPECT_NE(last.find(expected), std::string::npos) << last << " has no " << expected;
  }
  EXPECT_EQ(launch(call, 0, 0), TILE_ERROR_ARGUMENT);
  EXPECT_EQ(launch(call, kB + 64 * 256 * 2 - 256, bytes), TILE_ERROR_ARGUMENT);
  EXPECT_EQ(std::string(tile_last_error()), "[workspace] the workspace overlaps `B`");
  // Of the tensors of this call, not of the one that was prepared; what has no elements is nowhere.
  const uint64_t base = (reinterpret_cast<uint64_t>(memory.data()) + 255) / 256 * 256;
  EXPECT_EQ(launch(at(kA, kB, base + bytes), base, bytes), TILE_OK) << tile_last_error();
  EXPECT_EQ(launch(at(kA, base - 64 * 256 * 2 + 16, kC), base, bytes), TILE_ERROR_ARGUMENT);
  EXPECT_EQ(launch(at(base, base + 16, kC, 128, 256, 0), base, bytes), TILE_OK)
      << tile_last_error();
}

TEST_F(PreparedTest, ARestrictionForgetsWhatWasPreparedWithoutIt) {
  load(gemmManifest());
  EXPECT_EQ(prepare(at(kA, kB, kC))->plan.steps.at(0).launch.variant->name, "tma");
  tile::check(tile_kernel_restrict(kernel, nullptr, "plain"));
  EXPECT_EQ(prepare(at(kA, kB, kC))->plan.steps.at(0).launch.variant->name, "plain");
}

TEST_F(PreparedTest, AFailureBeforeTheLaunchIsFoundAgain) {
  Json json = gemmManifest();
  launchOf(json)["variants"][0]["entry"] = "missing";
  load(json);
  EXPECT_EQ(launch(at(kA, kB, kC)), TILE_ERROR_DRIVER);
  EXPECT_EQ(launch(at(kA, kB, kC)), TILE_ERROR_DRIVER);
}

} // namespace
} // namespace tile_rt::test
