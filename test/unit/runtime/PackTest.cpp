// Malformed packs: an error, never a crash.
#include "TestPack.h"
#include "runtime/harness/Generate.h"

namespace tile_rt::test {
namespace {

/// Loads and plans a call if it can; the status of what happened.
tile_status tryPack(const std::string &bytes) {
  tile_pack *pack = nullptr;
  tile_status status = tile_load_pack_memory(nullptr, bytes.data(), bytes.size(), &pack);
  if (status == TILE_OK) {
    tile_pack_destroy(pack);
  }
  return status;
}

TEST(Pack, LoadsWithoutDriver) {
  std::string bytes = makePack(gemmManifest().dump(), gemmBody());
  tile_pack *pack = nullptr;
  ASSERT_EQ(tile_load_pack_memory(nullptr, bytes.data(), bytes.size(), &pack), TILE_OK)
      << tile_last_error();
  ASSERT_EQ(tile_pack_kernel_count(pack), 1u);
  tile_kernel *kernel = nullptr;
  ASSERT_EQ(tile_kernel_find(pack, "gemm", &kernel), TILE_OK);
  EXPECT_EQ(tile_kernel_argument_count(kernel), 3u);
  tile_argument_info info;
  ASSERT_EQ(tile_kernel_argument(kernel, 2, &info), TILE_OK);
  EXPECT_STREQ(info.name, "C");
  EXPECT_EQ(info.direction, TILE_OUT);
  EXPECT_EQ(info.rank, 2);
  EXPECT_EQ(tile_kernel_argument(kernel, 3, &info), TILE_ERROR_NOT_FOUND);
  EXPECT_EQ(tile_kernel_find(pack, "gem", &kernel), TILE_ERROR_NOT_FOUND);
  EXPECT_NE(std::string(tile_last_error()).find("`gemm`"), std::string::npos);
  size_t size = 0;
  Call call = gemmCall(8, 8, 8);
  EXPECT_EQ(tile_workspace_size(tile_pack_kernel(pack, 0), call.args.data(), 3, &size),
            TILE_ERROR_NO_DRIVER);
  EXPECT_EQ(Json::parse(tile_pack_manifest(pack)), gemmManifest());
  tile_pack_destroy(pack);
}

TEST(Pack, EveryTruncationIsRefused) {
  std::string bytes = makePack(gemmManifest().dump(), gemmBody());
  for (size_t length = 0; length < bytes.size(); ++length) {
    ASSERT_EQ(tryPack(bytes.substr(0, length)), TILE_ERROR_PACK) << length;
  }
  EXPECT_EQ(tryPack(bytes + "x"), TILE_ERROR_PACK);
}

TEST(Pack, HeaderIsChecked) {
  std::string bytes = makePack(gemmManifest().dump(), gemmBody());
  std::string version = bytes;
  version[8] = 2;
  EXPECT_EQ(tryPack(version), TILE_ERROR_PACK);
  EXPECT_NE(std::string(tile_last_error()).find("version is 2"), std::string::npos);
  std::string magic = bytes;
  magic[0] = 't';
  EXPECT_EQ(tryPack(magic), TILE_ERROR_PACK);
  std::string huge = bytes;
  std::memset(huge.data() + 16, 0xff, 16); // sizes of 2^64 - 1
  EXPECT_EQ(tryPack(huge), TILE_ERROR_PACK);
}

TEST(Pack, EveryMissingOrWrongMemberIsHandled) {
  // Removes each value of the manifest in turn, then replaces it by values of other types.
  Json json = gemmManifest();
  Json flat = json.flatten();
  size_t refused = 0, tried = 0;
  for (const auto &[pointer, value] : flat.items()) {
    for (const Json &other :
         {Json(), Json(-1), Json(1e30), Json("x"), Json::array(), Json::object(), Json(true)}) {
      Json changed = json;
      changed[Json::json_pointer(pointer)] = other;
      tile_status status = tryPack(makePack(changed.dump(), gemmBody()));
      EXPECT_TRUE(status == TILE_OK || status == TILE_ERROR_PACK) << pointer;
      refused += status != TILE_OK;
      ++tried;
    }
  }
  EXPECT_GT(refused * 10, tried * 7);
}

TEST(Pack, RandomDamageNeverCrashes) {
  const std::string bytes = makePack(gemmManifest().dump(), gemmBody());
  for (uint64_t round = 0; round < 3000; ++round) {
    std::string damaged = bytes;
    for (uint64_t i = 0; i <= round % 4; ++i) {
      uint64_t bits = randomBits(round, i, 0);
      damaged[bits % damaged.size()] = static_cast<char>(bits >> 40);
    }
    tile_status status = tryPack(damaged);
    ASSERT_TRUE(status == TILE_OK || status == TILE_ERROR_PACK) << round;
  }
}

TEST(Pack, ManifestErrorsSayWhere) {
  Json json = gemmManifest();
  json["kernels"][0]["configurations"][0]["host"][0]["launch"]["variants"][1]["params"][0]
      ["tensor"] = "D";
  std::string text = errorOf([&] { parseJson(json); });
  EXPECT_NE(
      text.find(
          "manifest.kernels[0].configurations[0].host[0].launch.variants[1].params[0].tensor: no "
          "argument of the name `D`"),
      std::string::npos)
      << text;
  json = gemmManifest();
  json["modules"][1]["bytes"] = 7;
  EXPECT_NE(errorOf([&] { parseJson(json); }).find("outside the body"), std::string::npos);
  json = gemmManifest();
  json["kernels"].push_back(json["kernels"][0]);
  EXPECT_NE(errorOf([&] { parseJson(json); }).find("two kernels"), std::string::npos);
  json = gemmManifest();
  json["format"] = 1;
  EXPECT_NE(errorOf([&] { parseJson(json); }).find("reads format 2"), std::string::npos);
  EXPECT_NE(errorOf([&] { parseManifest("{", 0); }).find("not JSON"), std::string::npos);
}

TEST(Pack, PtxOfAModule) {
  Json json = gemmManifest();
  json["modules"][0]["ptx"] = {{"offset", 16}, {"bytes", 6}};
  json["modules"][1]["ptx"] = nullptr;
  Manifest manifest = parseManifest(json.dump(), gemmBody().size());
  EXPECT_EQ(manifest.modules[0].ptxOffset, 16u);
  EXPECT_EQ(manifest.modules[0].ptxBytes, 6u);
  EXPECT_EQ(manifest.modules[1].ptxBytes, 0u);
  for (auto [offset, bytes] : {std::pair<uint64_t, uint64_t>{16, 7}, {23, 0}, {8, UINT64_MAX}}) {
    json["modules"][0]["ptx"] = {{"offset", offset}, {"bytes", bytes}};
    std::string text = errorOf([&] { parseJson(json); });
    EXPECT_NE(text.find("manifest.modules[0].ptx: the module lies outside the body"),
              std::string::npos)
        << text;
  }
  json["modules"][0]["ptx"] = {{"offset", 0}};
  EXPECT_NE(errorOf([&] { parseJson(json); }).find("bytes"), std::string::npos);
}

TEST(Pack, DeepHostProgramsAreRefused) {
  std::string inner = "[]";
  for (int i = 0; i < 2000; ++i) {
    inner.insert(0, R"([{"if":{"cond":true,"then":)").append("}}]");
  }
  Json json = gemmManifest();
  std::string text = json.dump();
  std::string host = json["kernels"][0]["configurations"][0]["host"].dump();
  text.replace(text.find(host), host.size(), inner);
  EXPECT_EQ(tryPack(makePack(text, gemmBody())), TILE_ERROR_PACK);
}

TEST(Pack, MissingFile) {
  tile_pack *pack = nullptr;
  EXPECT_EQ(tile_load_pack_file(nullptr, "/nonexistent/x.pack", &pack), TILE_ERROR_IO);
}

} // namespace
} // namespace tile_rt::test
