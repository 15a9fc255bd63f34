// Configurations of a kernel: which of them a call takes.
#include "runtime/src/Choices.h"

#include "TestPack.h"

namespace tile_rt::test {
namespace {

/// The gemm of gemmManifest with tiles of 128 x 256 and of 64 x 64, priced by waves on the device.
Json twoTiles() {
  Json json = gemmManifest();
  Json &kernel = json["kernels"][0];
  Json large = kernel["configurations"][0];
  large["host"][0]["launch"]["variants"].erase(2); // for one architecture
  Json small = large;
  large["params"] = {{"BM", 128}, {"BN", 256}};
  small["params"] = {{"BM", 64}, {"BN", 64}};
  small["host"][0]["launch"]["grid"] =
      Json::parse(R"([ { "op": "ceildiv", "args": [ {"dim": "N"}, 64 ], "type": "i32" },
                       { "op": "ceildiv", "args": [ {"dim": "M"}, 64 ], "type": "i32" } ])");
  auto price = [](Json &configuration, int tile) {
    for (Json &variant : configuration["host"][0]["launch"]["variants"]) {
      variant["cost"] = Json::parse(
          R"({ "op": "mul", "args": [ { "op": "ceildiv", "args": [ "grid_points", "sm_count" ] }, )" +
          std::to_string(tile) + " ] }");
    }
  };
  price(large, 50);
  price(small, 10);
  kernel["configurations"] = {large, small};
  kernel["params"].erase("BM");
  return json;
}

class Choices : public testing::Test {
protected:
  explicit Choices() : manifest(parseJson(twoTiles())) {}

  LaunchPlan plan(const Call &call, const VariantFilter &filter = {},
                  const DeviceInfo &device = hopper()) {
    return planCall(manifest, manifest.kernels[0], bindArguments(manifest.kernels[0], call.args),
                    device, filter);
  }

  Manifest manifest;
};

TEST_F(Choices, TheCheapestTakesTheCall) {
  LaunchPlan small = plan(gemmCall(512, 512, 64)); // 64 blocks of 10, or 8 of 50
  EXPECT_EQ(small.configuration, 1u);
  EXPECT_EQ(small.steps[0].launch.blocks[0], 64u);
  EXPECT_EQ(small.cost, 10.0);
  LaunchPlan large = plan(gemmCall(4096, 4096, 64)); // 512 / 132 = 4 waves of 50, or 32 of 10
  EXPECT_EQ(large.configuration, 0u);
  EXPECT_EQ(large.cost, 200.0);
  EXPECT_EQ(large.steps[0].launch.blocks[0], 132u); // persistent
}

TEST_F(Choices, OneWithoutACostIsTakenWhenItsTurnComes) {
  Json json = twoTiles();
  Json &first = json["kernels"][0]["configurations"][0]["host"][0]["launch"]["variants"];
  first[1].erase("cost");
  manifest = parseJson(json);
  // The variant for aligned rows has a cost, but not all that might be taken have.
  EXPECT_EQ(plan(gemmCall(512, 512, 64)).configuration, 0u);
  EXPECT_EQ(plan(gemmCall(512, 512, 64)).cost, std::nullopt);
}

TEST_F(Choices, AFalseCheckPassesOver) {
  Json json = twoTiles();
  json["kernels"][0]["configurations"][1]["checks"] = Json::parse(R"json([
    { "expr": { "op": "eq", "args": [ { "op": "rem", "args": [ {"dim": "K"}, 64 ] }, 0 ] },
      "text": "K % 64 == 0" } ])json");
  manifest = parseJson(json);
  EXPECT_EQ(plan(gemmCall(512, 512, 64)).configuration, 1u);
  EXPECT_EQ(plan(gemmCall(512, 512, 72)).configuration, 0u);
  VariantFilter second{"", "", 1};
  expectError(errorOf([&] { plan(gemmCall(512, 512, 72), second); }), "where-failed",
              {"`K % 64 == 0`", "K = 72"});
}

TEST_F(Choices, WhatNoneTakesSaysWhyForEach) {
  DeviceInfo tiny = hopper();
  tiny.maxSharedBytes = 1000;
  std::string text = errorOf([&] { plan(gemmCall(512, 512, 64), {}, tiny); });
  EXPECT_NE(text.find("[no-variant]"), std::string::npos) << text;
  EXPECT_NE(text.find("needs 196608 bytes"), std::string::npos) << text;
  EXPECT_NE(text.find("; BM = 64, BN = 64: [no-variant]"), std::string::npos) << text;
}

TEST_F(Choices, AGridTooLargeIsNotTaken) {
  // 2^31 points of 64 x 64, but not of 128 x 256.
  EXPECT_EQ(plan(gemmCall(1 << 22, 1 << 21, 8)).configuration, 0u);
}

TEST_F(Choices, CodeOfOtherArchitecturesIsNotCompared) {
  Json json = twoTiles();
  Json &configurations = json["kernels"][0]["configurations"];
  Json other = configurations[1];
  other["params"] = {{"BM", 32}, {"BN", 32}};
  for (Json &variant : other["host"][0]["launch"]["variants"]) {
    variant["module"] = 1;
    variant["cost"] = 1;
  }
  configurations.push_back(other);
  manifest = parseJson(json);
  EXPECT_EQ(plan(gemmCall(512, 512, 64)).configuration, 1u);
  EXPECT_EQ(plan(gemmCall(512, 512, 64), {"sm_80", ""}).configuration, 2u);
}

TEST_F(Choices, OneOfThemCanBeAskedFor) {
  EXPECT_EQ(plan(gemmCall(512, 512, 64), {"", "", 0}).configuration, 0u);
  EXPECT_EQ(plan(gemmCall(4096, 4096, 64), {"", "", 1}).configuration, 1u);
}

TEST_F(Choices, LetsAndWorkspacesAreTheirOwn) {
  Json json = twoTiles();
  Json &host = json["kernels"][0]["configurations"][1]["host"];
  host = Json::array();
  host.push_back(Json::parse(
      R"({ "let": { "name": "t", "type": "i32", "expr": { "op": "mul", "args": [ {"dim": "M"}, 2 ] } } })"));
  host.push_back(Json::parse(
      R"({ "workspace": { "name": "w", "dtype": "f32", "extents": [ { "let": "t" } ], "init": null } })"));
  host.push_back(twoTiles()["kernels"][0]["configurations"][1]["host"][0]);
  manifest = parseJson(json);
  EXPECT_EQ(plan(gemmCall(512, 512, 64)).workspaceBytes, 4096u);
  EXPECT_EQ(plan(gemmCall(4096, 4096, 64)).workspaceBytes, 0u);
}

TEST_F(Choices, DescriptionsNameTheConfiguration) {
  std::string text = describePlan(manifest, manifest.kernels[0], plan(gemmCall(512, 512, 64)));
  EXPECT_NE(text.find("configuration 1: BM = 64, BN = 64\ngemm.0: variant tma"), std::string::npos)
      << text;
}

/// With preferences, as JSON.
Json preferring(const char *preferences) {
  Json json = twoTiles();
  json["kernels"][0]["preferences"] = Json::parse(preferences);
  return json;
}

TEST_F(Choices, PreferencesOutrankCosts) {
  manifest = parseJson(preferring(R"([
    { "ranges": { "M": [512, 512], "N": [512, 512], "K": [64, 64] }, "configuration": 0 },
    { "ranges": { "M": [363, 724], "N": [363, 724], "K": [46, 90] }, "configuration": 1 },
    { "ranges": { "M": [2897, 5792] }, "configuration": 1 } ])"));
  EXPECT_EQ(plan(gemmCall(512, 512, 64)).configuration, 0u);   // exact; the cheapest is 1
  EXPECT_EQ(plan(gemmCall(512, 512, 72)).configuration, 1u);   // the bucket
  EXPECT_EQ(plan(gemmCall(4096, 4096, 64)).configuration, 1u); // the cheapest is 0
  EXPECT_EQ(plan(gemmCall(2896, 8192, 64)).configuration, 0u); // outside: the cheapest
  EXPECT_EQ(plan(gemmCall(512, 512, 64), {"", "", 1}).configuration, 1u); // asked for
}

TEST_F(Choices, APreferenceThatDoesNotTakeTheCallIsPassedOver) {
  Json json = preferring(R"([ { "ranges": { "M": [512, 512] }, "configuration": 1 },
                              { "ranges": { "N": [512, 512] }, "configuration": 0 } ])");
  json["kernels"][0]["configurations"][1]["host"][0]["launch"]["variants"].erase(1);
  manifest = parseJson(json);
  EXPECT_EQ(plan(gemmCall(512, 512, 64)).configuration, 1u);
  EXPECT_EQ(plan(gemmCall(512, 512, 65)).configuration, 0u); // rows that are not aligned
}

// Code for any rows takes aligned ones as well, which is slower than what any configuration has for them; likewise code for words.
TEST_F(Choices, PreferencesForSomeRowsAreNotForOthers) {
  Json json = preferring(
      R"([ { "ranges": { "M": [512, 512] }, "configuration": 0, "rows": "aligned" },
           { "ranges": { "M": [512, 512] }, "configuration": 2, "rows": "words" },
           { "ranges": { "M": [4000, 4200] }, "configuration": 1, "rows": "any" } ])");
  Json &configurations = json["kernels"][0]["configurations"];
  auto variantsOf = [&](unsigned i) -> Json & {
    return configurations[i]["host"][0]["launch"]["variants"];
  };
  for (unsigned i = 0; i < 2; ++i) {
    variantsOf(i)[0]["name"] = "aligned";
    variantsOf(i)[1]["name"] = "any";
  }
  configurations.push_back(configurations[0]);
  variantsOf(1).erase(0);
  variantsOf(2)[0]["name"] = "words";
  variantsOf(2)[0]["guard"] =
      Json::parse(R"({ "op": "eq", "args": [ { "op": "rem", "args": [ {"dim": "K"}, 2 ] }, 0 ] })");
  variantsOf(2)[0]["tensor_maps"] = Json::array();
  variantsOf(2)[0]["params"] = variantsOf(2)[1]["params"];
  variantsOf(2)[0]["cost"] = 1000000000; // what a preference takes all the same
  variantsOf(2).erase(1);
  manifest = parseJson(json);
  auto chosen = [&](int64_t m, int64_t k) {
    const LaunchPlan taken = plan(gemmCall(m, m, k));
    return std::to_string(taken.configuration) + taken.steps[0].launch.variant->name;
  };
  EXPECT_EQ(chosen(512, 64), "0aligned");  // preferred; the cheapest is 1
  EXPECT_EQ(chosen(512, 66), "2words");    // preferred likewise
  EXPECT_EQ(chosen(512, 65), "1any");      // neither preference is for such rows
  EXPECT_EQ(chosen(4096, 64), "0aligned"); // the preference is for rows that no code is made for
  EXPECT_EQ(chosen(4096, 66), "0any");     // likewise: the cheapest
  EXPECT_EQ(chosen(4096, 65), "1any");     // preferred; the cheapest is 0
  // Code that is for all rows alike says nothing of them, and is compared by its cost.
  configurations.push_back(configurations[1]);
  variantsOf(3)[0]["name"] = "default";
  variantsOf(3)[0]["cost"] = 1000000000;
  manifest = parseJson(json);
  EXPECT_EQ(chosen(512, 66), "2words");
  EXPECT_EQ(chosen(4096, 65), "1any");
  manifest.kernels[0].preferences.clear();
  EXPECT_EQ(chosen(512, 65), "1any");
  EXPECT_EQ(chosen(512, 64), "0aligned");
  variantsOf(3)[0]["cost"] = 0;
  manifest = parseJson(json);
  manifest.kernels[0].preferences.clear();
  EXPECT_EQ(chosen(512, 64), "3default");
  EXPECT_EQ(chosen(512, 65), "3default");
  configurations.erase(3);
  manifest = parseJson(json);
  manifest.kernels[0].preferences.clear();
  EXPECT_EQ(chosen(4096, 65), "0any");
  EXPECT_EQ(chosen(512, 66), "1any");
  EXPECT_EQ(chosen(512, 64), "0aligned"); // the cheapest for such rows, although 1 is cheaper
}

TEST_F(Choices, APreferenceWithoutRangesIsForEveryCall) {
  for (unsigned preferred : {0u, 1u}) {
    const std::string text =
        R"([ { "ranges": {}, "configuration": )" + std::to_string(preferred) + " } ]";
    manifest = parseJson(preferring(text.c_str()));
    EXPECT_EQ(plan(gemmCall(512, 512, 64)).configuration, preferred);
    EXPECT_EQ(plan(gemmCall(64, 4096, 64)).configuration, preferred);
  }
}

TEST_F(Choices, CostsThatAreNoNumbersFailNoCall) {
  for (const char *cost :
       {R"({ "op": "div", "args": [ { "dim": "M" }, 0 ] })",
        R"({ "op": "mul", "args": [ { "dim": "M" }, 2147483647 ], "type": "i32" })",
        R"({ "const": "nan", "type": "f64" })"}) {
    Json json = twoTiles();
    for (Json &variant : json["kernels"][0]["configurations"][0]["host"][0]["launch"]["variants"]) {
      variant["cost"] = Json::parse(cost);
    }
    manifest = parseJson(json);
    EXPECT_EQ(plan(gemmCall(4096, 4096, 64)).configuration, 1u) << cost; // which has costs
    EXPECT_EQ(plan(gemmCall(4096, 4096, 64), {"", "", 0}).configuration, 0u) << cost;
  }
}

TEST_F(Choices, PreferencesForOtherArchitecturesDoNotCount) {
  Json json = preferring(R"([ { "ranges": { "M": [512, 512] }, "configuration": 2 },
                              { "ranges": { "M": [512, 512] }, "configuration": 0 } ])");
  Json &configurations = json["kernels"][0]["configurations"];
  configurations.push_back(configurations[1]);
  for (Json &variant : configurations[2]["host"][0]["launch"]["variants"]) {
    variant["module"] = 1;
  }
  manifest = parseJson(json);
  EXPECT_EQ(plan(gemmCall(512, 512, 64)).configuration, 0u);
  EXPECT_EQ(plan(gemmCall(512, 512, 64), {"sm_80", ""}).configuration, 2u);
}

TEST(Preferences, AreChecked) {
  auto error = [](const char *preferences) {
    return errorOf([&] { parseJson(preferring(preferences)); });
  };
  auto expect = [&](const char *preferences, const char *text) {
    const std::string said = error(preferences);
    EXPECT_NE(said.find(text), std::string::npos) << said;
  };
  expect(R"([ { "ranges": { "M": [1, 2] }, "configuration": 2 } ])", "out of range");
  expect(R"([ { "ranges": { "Q": [1, 2] }, "configuration": 0 } ])", "`Q`");
  expect(R"([ { "ranges": { "A": [1, 2] }, "configuration": 0 } ])", "`A`");
  expect(R"([ { "ranges": { "M": [1] }, "configuration": 0 } ])", "the least and the greatest");
  expect(R"([ { "ranges": { "M": 1 }, "configuration": 0 } ])", "expected an array");
  expect(R"([ { "ranges": { "M": [2, 1] }, "configuration": 0 } ])", "above the greatest");
  expect(R"([ { "ranges": { "M": [1, 2] }, "configuration": 0, "rows": 1 } ])",
         "expected a string");
  expect(R"([ { "ranges": { "M": [1, 2] }, "configuration": 0, "rows": "odd" } ])",
         "not `aligned`, `words` or `any`");
  expect(R"([ { "ranges": [], "configuration": 0 } ])", "expected ranges by name");
  expect(R"([ { "configuration": 0 } ])", "`ranges` is missing");
}

TEST(Configurations, ThereIsOne) {
  Json json = gemmManifest();
  json["kernels"][0]["configurations"] = Json::array();
  EXPECT_NE(errorOf([&] { parseJson(json); }).find("configurations: there must be one"),
            std::string::npos);
}

} // namespace
} // namespace tile_rt::test
