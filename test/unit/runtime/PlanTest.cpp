// Host programs: variants, geometry, parameters, workspaces, checks.
#include "TestPack.h"
#include "runtime/src/Choices.h"

namespace tile_rt::test {
namespace {

struct Planned {
  Manifest manifest;
  LaunchPlan plan;
  const PlannedLaunch &launch(size_t i = 0) const {
    size_t seen = 0;
    for (const PlanStep &step : plan.steps) {
      if (step.isLaunch && seen++ == i) {
        return step.launch;
      }
    }
    throw std::out_of_range("no such launch");
  }
};

Planned plan(const Json &json, const Call &call, const DeviceInfo &device = hopper(),
             const VariantFilter &filter = {}) {
  Planned result;
  result.manifest = parseJson(json);
  result.plan = planCall(result.manifest, result.manifest.kernels[0],
                         bindArguments(result.manifest.kernels[0], call.args), device, filter);
  // The plan points into the manifest, whose vectors keep their memory when moved.
  return result;
}

std::string planError(const Json &json, const Call &call, const DeviceInfo &device = hopper(),
                      const VariantFilter &filter = {}) {
  Manifest manifest = parseJson(json);
  return errorOf([&] {
    planCall(manifest, manifest.kernels[0], bindArguments(manifest.kernels[0], call.args), device,
             filter);
  });
}

Json &variants(Json &json) {
  return json["kernels"][0]["configurations"][0]["host"][0]["launch"]["variants"];
}

TEST(Plan, GuardsChooseTheVariant) {
  Planned aligned = plan(gemmManifest(), gemmCall(1000, 1000, 1000));
  EXPECT_EQ(aligned.launch().variant->name, "tma");
  // 4 x 8 tiles, fewer than multiprocessors
  EXPECT_EQ(aligned.launch().blocks[0], 32u);
  EXPECT_EQ(plan(gemmManifest(), gemmCall(1000, 1000, 1001)).launch().variant->name, "plain");
  EXPECT_EQ(plan(gemmManifest(), gemmCall(1000, 1000, 1000), ampere()).launch().variant->name,
            "ampere");
}

TEST(Plan, PersistentBlocksAreBounded) {
  Planned big = plan(gemmManifest(), gemmCall(8192, 8192, 64));
  EXPECT_EQ(big.launch().blocks[0], 132u);
  Json json = gemmManifest();
  variants(json)[0]["cluster"] = {4, 1, 1};
  EXPECT_EQ(plan(json, gemmCall(8192, 8192, 64)).launch().blocks[0], 132u);
  variants(json)[0]["cluster"] = {8, 1, 1};
  EXPECT_EQ(plan(json, gemmCall(8192, 8192, 64)).launch().blocks[0], 128u);
  EXPECT_EQ(plan(json, gemmCall(128, 1024, 64)).launch().blocks[0], 8u);
  variants(json)[0]["blocks"] = {{"kind", "direct"}};
  EXPECT_EQ(plan(json, gemmCall(128, 256 * 9, 64)).launch().blocks[0], 16u);
  variants(json)[0]["blocks"] =
      Json::parse(R"({"kind": "explicit", "extents": [{"grid": 0}, {"grid": 1}, 2]})");
  EXPECT_EQ(plan(json, gemmCall(256, 256 * 9, 64)).launch().blocks,
            (std::array<unsigned, 3>{9, 2, 2}));
}

TEST(Plan, TensorMapsMustBeEncodable) {
  Json json = gemmManifest();
  variants(json)[0].erase("guard");
  Planned good = plan(json, gemmCall(100, 256, 72));
  ASSERT_EQ(good.launch().maps.size(), 1u);
  EXPECT_EQ(good.launch().maps[0].dims, (std::vector<uint64_t>{72, 100}));
  EXPECT_EQ(good.launch().maps[0].strides, (std::vector<uint64_t>{144}));
  EXPECT_EQ(good.launch().maps[0].base.value, kA);
  EXPECT_EQ(plan(json, gemmCall(100, 256, 71)).launch().variant->name, "plain"); // 142 bytes
  DeviceInfo old = hopper();
  old.hasTensorMaps = false;
  EXPECT_EQ(plan(json, gemmCall(100, 256, 72), old).launch().variant->name, "plain");
}

TEST(Plan, TensorsWithoutElementsHaveMapsOfOne) {
  Json json = gemmManifest();
  variants(json)[0].erase("guard");
  Planned empty = plan(json, gemmCall(100, 256, 0));
  EXPECT_EQ(empty.launch().variant->name, "tma");
  const PlannedMap &map = empty.launch().maps.at(0);
  EXPECT_TRUE(map.empty);
  EXPECT_EQ(map.dims, (std::vector<uint64_t>{1, 1}));
  EXPECT_EQ(map.strides, (std::vector<uint64_t>{16}));
  // Its element is a zero in the workspace, not where the caller says that nothing lies.
  EXPECT_TRUE(map.base.inWorkspace);
  ASSERT_FALSE(empty.plan.steps.empty());
  const PlanStep &first = empty.plan.steps.front();
  EXPECT_FALSE(first.isLaunch);
  EXPECT_EQ(first.fill.offset, map.base.value);
  EXPECT_EQ(first.fill.bits, 0u);
  EXPECT_EQ(first.fill.elementBytes * first.fill.count, 16u);
  EXPECT_EQ(empty.plan.workspaceBytes,
            plan(json, gemmCall(100, 256, 72)).plan.workspaceBytes + TILE_WORKSPACE_ALIGN);
  // What is only written needs no number there; what is also read has none that stays.
  json["kernels"][0]["arguments"][0]["direction"] = "out";
  empty = plan(json, gemmCall(100, 256, 0));
  EXPECT_EQ(empty.launch().variant->name, "tma");
  EXPECT_TRUE(empty.plan.steps.front().isLaunch);
  json["kernels"][0]["arguments"][0]["direction"] = "inout";
  EXPECT_EQ(plan(json, gemmCall(100, 256, 0)).launch().variant->name, "plain");
  // Nor has what reads as NaN outside.
  json["kernels"][0]["arguments"][0]["direction"] = "in";
  variants(json)[0]["tensor_maps"][0]["oob"] = "nan";
  EXPECT_EQ(plan(json, gemmCall(100, 256, 0)).launch().variant->name, "plain");
  EXPECT_EQ(plan(json, gemmCall(100, 256, 72)).launch().variant->name, "tma");
}

TEST(Plan, NoVariantSaysWhy) {
  Json json = gemmManifest();
  variants(json).erase(1);
  std::string text = planError(json, gemmCall(64, 64, 65), hopper(), {"sm_90a", ""});
  EXPECT_NE(text.find("[no-variant]"), std::string::npos);
  EXPECT_NE(text.find("tma: its guard is false: "), std::string::npos) << text;
  EXPECT_NE(text.find("ampere: not for sm_90a"), std::string::npos) << text;
  DeviceInfo small = hopper();
  small.maxSharedBytes = 1000;
  text = planError(gemmManifest(), gemmCall(64, 64, 64), small);
  EXPECT_NE(text.find("needs 196608 bytes of shared memory"), std::string::npos) << text;
}

TEST(Plan, FiltersForceAVariant) {
  EXPECT_EQ(
      plan(gemmManifest(), gemmCall(64, 64, 64), hopper(), {"sm_80", ""}).launch().variant->name,
      "ampere");
  EXPECT_EQ(
      plan(gemmManifest(), gemmCall(64, 64, 64), hopper(), {"", "plain"}).launch().variant->name,
      "plain");
}

TEST(Plan, CostsDecideWhenAllHaveOne) {
  Json json = gemmManifest();
  variants(json)[0]["cost"] = Json::parse(R"({"op": "mul", "args": [{"dim": "M"}, 3]})");
  variants(json)[1]["cost"] = 600;
  variants(json)[2]["cost"] = Json::parse(R"({"const": 1000.5, "type": "f32"})");
  EXPECT_EQ(plan(json, gemmCall(100, 64, 64)).launch().variant->name, "tma");
  EXPECT_EQ(plan(json, gemmCall(300, 64, 64)).launch().variant->name, "plain");
  EXPECT_EQ(plan(json, gemmCall(200, 64, 64)).launch().variant->name, "tma"); // a tie: the first
  variants(json)[1]["cost"] = nullptr;
  EXPECT_EQ(plan(json, gemmCall(300, 64, 64)).launch().variant->name, "tma");
}

TEST(Plan, PartsOfACostHaveNames) {
  Json json = gemmManifest();
  Json &variant = variants(json)[0];
  variant["lets"] = Json::parse(R"([
    {"name": "c0", "type": "f64", "expr": {"op": "cast", "args": [{"dim": "M"}], "type": "f64"}},
    {"name": "c1", "type": "f64", "expr": {"op": "mul", "args": [{"let": "c0"}, {"let": "c0"}], "type": "f64"}}])");
  variant["cost"] = Json::parse(R"({"let": "c1"})");
  variants(json)[1]["cost"] = 10000;
  variants(json)[2]["cost"] = 20000;
  EXPECT_EQ(plan(json, gemmCall(99, 64, 64)).launch().variant->name, "tma");
  EXPECT_EQ(plan(json, gemmCall(101, 64, 64)).launch().variant->name, "plain");
  // They are this variant's, and floats.
  Json other = json;
  variants(other)[1]["cost"] = Json::parse(R"({"let": "c1"})");
  EXPECT_NE(errorOf([&] { parseJson(other); }).find("no `let` of the name `c1` here"),
            std::string::npos);
  variant["lets"][0]["type"] = "i64";
  variant["lets"][0]["expr"] = 1;
  EXPECT_NE(errorOf([&] { parseJson(json); }).find("lets[0].type: a name in a cost is a float"),
            std::string::npos);
}

TEST(Plan, Architectures) {
  auto runs = [](const char *arch, unsigned major, unsigned minor,
                 Module::Kind kind = Module::Kind::Fatbin) {
    Module module;
    module.arch = arch;
    module.kind = kind;
    DeviceInfo device = hopper();
    device.major = major;
    device.minor = minor;
    return archRuns(module, device);
  };
  EXPECT_TRUE(runs("sm_90a", 9, 0));
  EXPECT_FALSE(runs("sm_90a", 10, 0));
  EXPECT_FALSE(runs("sm_90a", 8, 0));
  EXPECT_TRUE(runs("sm_80", 9, 0));
  EXPECT_TRUE(runs("sm_80", 8, 9));
  EXPECT_FALSE(runs("sm_89", 8, 6));
  EXPECT_FALSE(runs("sm_80", 9, 0, Module::Kind::Cubin));
  EXPECT_TRUE(runs("sm_80", 8, 6, Module::Kind::Cubin));
  EXPECT_TRUE(runs("sm_100f", 10, 3));
  EXPECT_FALSE(runs("sm_100f", 11, 0));
  EXPECT_TRUE(runs("sm_120", 12, 1));
}

TEST(Plan, Grid) {
  EXPECT_TRUE(plan(gemmManifest(), gemmCall(0, 64, 64)).plan.steps.empty());
  Json json = gemmManifest();
  json["kernels"][0]["configurations"][0]["host"][0]["launch"]["grid"] =
      Json::parse(R"([{"dim": "M"}, {"dim": "N"}, 256])");
  expectError(planError(json, gemmCall(4096, 2048, 64)), "grid-too-large",
              {"gemm.0", "4096 x 2048 x 256"});
  EXPECT_EQ(plan(json, gemmCall(4096, 2047, 65)).launch().blocks[0], 4096u * 2047 * 256);
}

TEST(Plan, Checks) {
  Json json = gemmManifest();
  json["kernels"][0]["checks"] = Json::parse(R"([{"text": "K % 8 == 0",
    "expr": {"op": "eq", "args": [{"op": "rem", "args": [{"dim": "K"}, 8]}, 0]}}])");
  EXPECT_EQ(plan(json, gemmCall(8, 8, 16)).plan.steps.size(), 1u);
  expectError(planError(json, gemmCall(8, 8, 17)), "where-failed",
              {"`K % 8 == 0`", "K = 17", "`gemm`"});
}

TEST(Plan, Parameters) {
  Json json = gemmManifest();
  json["kernels"][0]["arguments"].push_back(
      {{"name", "scale"}, {"kind", "scalar"}, {"dtype", "f32"}});
  variants(json) = Json::parse(R"([{ "module": 0, "entry": "e", "block": [32, 1, 1], "params": [
     { "tensor": "B" }, { "expr": {"grid": 1}, "type": "i32" }, { "expr": "grid_points", "type": "i64" },
     { "expr": {"arg": "scale"}, "type": "f32" }, { "expr": {"op": "cast", "args": [{"arg": "scale"}], "type": "f16"}, "type": "f16" },
     { "expr": -1, "type": "i32" }, { "expr": true, "type": "bool" } ] }])");
  Call call = gemmCall(300, 1000, 8);
  call.scalar<float>(TILE_F32, 1.5f);
  Planned planned = plan(json, call);
  const std::vector<PlannedParam> &params = planned.launch().params;
  EXPECT_EQ(params[0].place.value, kB);
  EXPECT_EQ(params[1].bits, 3u);
  EXPECT_EQ(params[2].bits, 12u);
  EXPECT_EQ(params[3].bits, 0x3fc00000u);
  EXPECT_EQ(params[4].bits, 0x3e00u);
  EXPECT_EQ(static_cast<uint32_t>(params[5].bits), 0xffffffffu);
  EXPECT_EQ(params[6].bits, 1u);
  variants(json)[0]["params"] = Json::parse(
      R"([{ "expr": {"op": "mul", "args": [{"dim": "M"}, 10000000]}, "type": "i32" }])");
  expectError(planError(json, call), "host-overflow", {"M * 10000000", "3000000000"});
}

TEST(Plan, HostProgram) {
  Json json = gemmManifest();
  Json launch = json["kernels"][0]["configurations"][0]["host"][0];
  launch["launch"]["variants"] =
      Json::parse(R"([{ "module": 0, "entry": "e", "block": [32, 1, 1], "params": [
     { "workspace": "partial" }, { "expr": {"let": "tiles"}, "type": "i32" } ] }])");
  json["kernels"][0]["configurations"][0]["host"] = Json::array(
      {Json::parse(
           R"({ "let": { "name": "tiles", "type": "i32", "expr": { "op": "ceildiv", "args": [{"dim": "K"}, 64] } } })"),
       Json::parse(
           R"({ "workspace": { "name": "counter", "dtype": "u32", "extents": [1], "init": 0 } })"),
       Json::parse(
           R"({ "workspace": { "name": "partial", "dtype": "f32", "extents": [{"let": "tiles"}, {"dim": "M"}], "init": null } })"),
       {{"if",
         {{"cond", Json::parse(R"({ "op": "gt", "args": [{"let": "tiles"}, 1] })")},
          {"then", {launch, launch}},
          {"else", {launch}}}}}});
  Planned split = plan(json, gemmCall(100, 64, 129));
  ASSERT_EQ(split.plan.steps.size(), 3u);
  EXPECT_EQ(split.plan.steps[0].fill.elementBytes, 4u);
  EXPECT_EQ(split.plan.steps[0].fill.count, 1u);
  EXPECT_EQ(split.launch(1).params[0].place.value, 256u);
  EXPECT_TRUE(split.launch(1).params[0].place.inWorkspace);
  EXPECT_EQ(split.launch(0).params[1].bits, 3u);
  EXPECT_EQ(split.plan.workspaceBytes, 256u + (3 * 100 * 4 + 255) / 256 * 256);
  EXPECT_EQ(plan(json, gemmCall(100, 64, 64)).plan.steps.size(), 2u);
  // A name of an inner scope is not visible outside.
  json["kernels"][0]["configurations"][0]["host"][3]["if"]["then"] =
      Json::array({json["kernels"][0]["configurations"][0]["host"][1]});
  json["kernels"][0]["configurations"][0]["host"][3]["if"]["then"][0]["workspace"]["name"] =
      "inner";
  Json after = launch;
  after["launch"]["variants"][0]["params"][0]["workspace"] = "inner";
  json["kernels"][0]["configurations"][0]["host"].push_back(after);
  EXPECT_NE(errorOf([&] { parseJson(json); }).find("no workspace of the name `inner`"),
            std::string::npos);
}

TEST(Plan, LetsMustFitWhereTheyAreNeeded) {
  Json json = gemmManifest();
  auto needs = [&](const char *extent) {
    json["kernels"][0]["configurations"][0]["host"] = Json::array(
        {Json::parse(
             R"({ "let": { "name": "t", "type": "i32", "expr": { "op": "mul", "args": [{"dim": "K"}, 2000000000] } } })"),
         Json::parse(
             R"({ "let": { "name": "u", "type": "i32", "expr": { "op": "add", "args": [{"let": "t"}, 1] } } })"),
         Json::parse(
             std::string(
                 R"({ "workspace": { "name": "w", "dtype": "i8", "init": null, "extents": [)") +
             extent + "] } }")});
    return json;
  };
  const char *chosen =
      R"({ "op": "select", "args": [{ "op": "gt", "args": [{"dim": "M"}, 1] }, {"let": "u"}, 7] })";
  expectError(planError(needs(R"({"let": "t"})"), gemmCall(1, 1, 2)), "host-overflow",
              {"`t` is 4000000000"});
  expectError(planError(needs(chosen), gemmCall(2, 1, 2)), "host-overflow", {"`t` is 4000000000"});
  EXPECT_EQ(plan(needs(chosen), gemmCall(1, 1, 2)).plan.workspaceBytes, 256u);
}

TEST(Plan, WorkspaceInitialValues) {
  Json json = gemmManifest();
  auto fill = [&](const char *dtype, Json init, int64_t count) {
    json["kernels"][0]["configurations"][0]["host"] = Json::array(
        {{{"workspace", {{"name", "w"}, {"dtype", dtype}, {"extents", {count}}, {"init", init}}}}});
    return plan(json, gemmCall(1, 1, 1)).plan;
  };
  EXPECT_EQ(fill("f32", "-inf", 3).steps[0].fill.bits, 0xff800000u);
  EXPECT_EQ(fill("i64", -2, 3).steps[0].fill.bits, 0xfffffffffffffffeu);
  EXPECT_EQ(fill("u4", 5, 6).steps[0].fill.bits, 0x55u);
  EXPECT_EQ(fill("u4", 5, 6).steps[0].fill.count, 3u);
  EXPECT_TRUE(fill("f32", 1.0, -3).steps.empty());
  EXPECT_EQ(fill("f32", 1.0, -3).workspaceBytes, 0u);
}

TEST(Plan, Description) {
  Planned planned = plan(gemmManifest(), gemmCall(8192, 8192, 64));
  EXPECT_EQ(describePlan(planned.manifest, planned.manifest.kernels[0], planned.plan),
            "gemm.0: variant tma, entry gemm_tma_2, sm_90a, 132 x 1 x 1 blocks of 384 threads, "
            "196608 bytes of shared memory\n");
}

} // namespace
} // namespace tile_rt::test
