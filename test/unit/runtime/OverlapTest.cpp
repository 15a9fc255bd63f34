// Launches that may begin before the one before them has ended: which ones the driver is told of.
#include "TestPack.h"
#include "runtime/include/tile/tile.hpp"

#include <cstdlib>
#include <fstream>
#include <string_view>
#include <unistd.h>

namespace tile_rt::test {
namespace {

/// What marks such a launch in the log.
const char *const kMark = " attribute 6 1";
constexpr std::string_view kCarveout = "attribute 9 ";

Json launchOf(const char *entry, bool overlaps, Json extent = 1) {
  Json variant = {{"name", "any"},
                  {"module", 0},
                  {"entry", entry},
                  {"block", {32, 1, 1}},
                  {"params", Json::array()}};
  if (overlaps) {
    variant["overlaps"] = true;
  }
  return {{"launch",
           {{"name", entry}, {"grid", {std::move(extent)}}, {"variants", {std::move(variant)}}}}};
}

Json fillOf(const char *name, Json extent = 4) {
  return {{"workspace",
           {{"name", name}, {"dtype", "i32"}, {"extents", {std::move(extent)}}, {"init", 0}}}};
}

Json empty() { return Json::parse(R"({"op": "sub", "args": [{"dim": "M"}, 128], "type": "i32"})"); }

class OverlapTest : public testing::Test {
protected:
  void SetUp() override {
    log = testing::TempDir() + "/" + std::to_string(getpid()) + "_overlap.log";
    std::remove(log.c_str());
    setenv("TILE_CUDA_DRIVER", FAKE_DRIVER_PATH, 1);
    setenv("FAKE_DRIVER_LOG", log.c_str(), 1);
  }
  void TearDown() override {
    std::remove(log.c_str());
    unsetenv("FAKE_DRIVER_VERSION");
  }

  /// The entries of the last of `calls` calls of such a host program, those that overlap with a `+`.
  std::vector<std::string> launched(const std::vector<Json> &host, int calls = 1) {
    Json json = gemmManifest();
    json["kernels"][0]["configurations"][0]["host"] = host;
    std::string bytes = makePack(json.dump(), gemmBody());
    tile::Context context;
    tile::Pack pack(context, bytes.data(), bytes.size());
    tile::Kernel kernel = pack.kernel("gemm");
    alignas(256) static unsigned char memory[4096];
    auto at = [](uint64_t address) { return reinterpret_cast<void *>(address); };
    const std::vector<tile::Arg> args = {tile::Arg::tensor(at(kA), TILE_F16, {128, 64}),
                                         tile::Arg::tensor(at(kB), TILE_F16, {64, 256}),
                                         tile::Arg::tensor(at(kC), TILE_F16, {128, 256})};
    for (int i = 0; i < calls; ++i) {
      std::remove(log.c_str());
      kernel.launch(args, nullptr, memory, sizeof(memory));
    }
    std::vector<std::string> result;
    std::ifstream file(log);
    for (std::string line; std::getline(file, line);) {
      if (line.rfind(kCarveout, 0) == 0) {
        carveouts.push_back(std::stoi(line.substr(kCarveout.size())));
      }
      if (line.rfind("launch ", 0) == 0) {
        const std::string entry = line.substr(7, line.find(' ', 7) - 7);
        result.push_back((line.find(kMark) == std::string::npos ? "" : "+") + entry);
      }
    }
    return result;
  }

  /// Per cent of the memory that L1 and shared memory share, as asked for, one behind the other.
  std::vector<int> carveouts;

private:
  std::string log;
};

using Entries = std::vector<std::string>;

TEST_F(OverlapTest, OnlyBehindAnotherLaunchOfTheCall) {
  EXPECT_EQ(launched({launchOf("a", true), launchOf("b", true), launchOf("c", true)}),
            (Entries{"a", "+b", "+c"}));
  // The prepared call says the same.
  EXPECT_EQ(launched({launchOf("a", true), launchOf("b", true)}, 3), (Entries{"a", "+b"}));
}

TEST_F(OverlapTest, OnlyCodeThatWaits) {
  EXPECT_EQ(launched({launchOf("a", false), launchOf("b", false), launchOf("c", true),
                      launchOf("d", false)}),
            (Entries{"a", "b", "+c", "d"}));
}

TEST_F(OverlapTest, NotBehindAFill) {
  EXPECT_EQ(launched({fillOf("v"), launchOf("a", true), fillOf("w"), launchOf("b", true),
                      launchOf("c", true)}),
            (Entries{"a", "b", "+c"}));
  // Nothing is filled where the workspace is empty.
  EXPECT_EQ(launched({launchOf("a", true), fillOf("w", empty()), launchOf("b", true)}),
            (Entries{"a", "+b"}));
}

// Of 228 KB: eight blocks that have no shared memory of their own take a kilobyte each.
TEST_F(OverlapTest, SharedMemoryIsLeftForTheNextLaunch) {
  auto carveoutsFor = [&](uint64_t sharedBytes, uint64_t staticBytes, bool precedes) {
    Json first = launchOf("a", false);
    Json &variant = first["launch"]["variants"][0];
    variant["shared_bytes"] = sharedBytes;
    variant["resources"] = {{"static_shared_bytes", staticBytes}};
    variant["precedes"] = precedes;
    carveouts.clear();
    launched({first, launchOf("b", true)});
    return carveouts;
  };
  // One block of 196 KB and what it reserves are 197 KB; two of 97 KB are 196 KB, which is a split that L1 has.
  EXPECT_EQ(carveoutsFor(196 << 10, 0, true), std::vector<int>{90});
  EXPECT_EQ(carveoutsFor(97 << 10, 0, true), std::vector<int>{90});
  EXPECT_EQ(carveoutsFor(96 << 10, 1024, true), std::vector<int>{90});
  EXPECT_EQ(carveoutsFor(227 << 10, 0, true), std::vector<int>{100}) << "no more than there is";
  EXPECT_EQ(carveoutsFor(0, 0, true), std::vector<int>{6}) << "four blocks";
  EXPECT_EQ(carveoutsFor(196 << 10, 0, false), std::vector<int>{});
}

TEST_F(OverlapTest, LaunchesThatAreLeftOutAreNone) {
  EXPECT_EQ(launched({launchOf("a", true, empty()), launchOf("b", true), launchOf("c", true)}),
            (Entries{"b", "+c"}));
  EXPECT_EQ(launched({launchOf("a", true), launchOf("b", false, empty()), launchOf("c", true)}),
            (Entries{"a", "+c"}));
  const Json branch = {{"if",
                        {{"cond", Json::parse(R"({"op": "gt", "args": [{"dim": "M"}, 500]})")},
                         {"then", {launchOf("b", false)}},
                         {"else", {fillOf("w")}}}}};
  EXPECT_EQ(launched({launchOf("a", true), branch, launchOf("c", true)}), (Entries{"a", "c"}));
}

TEST_F(OverlapTest, WithAClusterToo) {
  Json later = launchOf("b", true);
  later["launch"]["variants"][0]["cluster"] = {1, 1, 1};
  EXPECT_EQ(launched({launchOf("a", true), later}), (Entries{"a", "+b"}));
  later["launch"]["variants"][0]["cluster"] = {2, 1, 1};
  EXPECT_EQ(launched({launchOf("a", true), later}), (Entries{"a", "+b"}));
}

// Graphs of CUDA before 12.3 have no such launches, and calls may be captured.
TEST_F(OverlapTest, NotWithOlderDrivers) {
  setenv("FAKE_DRIVER_VERSION", "12020", 1);
  EXPECT_EQ(launched({launchOf("a", true), launchOf("b", true)}), (Entries{"a", "b"}));
  setenv("FAKE_DRIVER_VERSION", "12030", 1);
  EXPECT_EQ(launched({launchOf("a", true), launchOf("b", true)}), (Entries{"a", "+b"}));
}

TEST(Overlap, IsDescribedAndAskedToBeABool) {
  Json json = gemmManifest();
  Json &host = json["kernels"][0]["configurations"][0]["host"];
  host = {launchOf("a", true), launchOf("b", true)};
  const Manifest manifest = parseManifest(json.dump(), gemmBody().size());
  const Kernel &kernel = manifest.kernels[0];
  Call call = gemmCall(128, 256, 64);
  const Env env = bindArguments(kernel, call.args);
  const LaunchPlan plan = planConfiguration(manifest, kernel, 0, env, hopper(), {});
  EXPECT_EQ(
      describePlan(manifest, kernel, plan),
      "a: variant any, entry a, sm_90a, 1 x 1 x 1 blocks of 32 threads, 0 bytes of shared memory\n"
      "b: variant any, entry b, sm_90a, 1 x 1 x 1 blocks of 32 threads, 0 bytes of shared memory, "
      "beginning before the end of the launch before it\n");
  for (const char *flag : {"overlaps", "precedes"}) {
    Json wrong = json;
    wrong["kernels"][0]["configurations"][0]["host"][1]["launch"]["variants"][0][flag] = 1;
    EXPECT_THROW(parseManifest(wrong.dump(), gemmBody().size()), Error) << flag;
  }
}

} // namespace
} // namespace tile_rt::test
