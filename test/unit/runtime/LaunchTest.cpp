// The C ABI over the fake driver: what reaches the driver.
#include "TestPack.h"
#include "runtime/include/tile/tile.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <unistd.h>

namespace tile_rt::test {
namespace {

class LaunchTest : public testing::Test {
protected:
  void SetUp() override {
    log = testing::TempDir() + "/" + std::to_string(getpid()) + "_driver.log";
    std::remove(log.c_str());
    setenv("TILE_CUDA_DRIVER", FAKE_DRIVER_PATH, 1);
    setenv("FAKE_DRIVER_LOG", log.c_str(), 1);
  }
  void TearDown() override { std::remove(log.c_str()); }
  std::vector<std::string> lines() {
    std::ifstream file(log);
    std::vector<std::string> result;
    for (std::string line; std::getline(file, line);) {
      result.push_back(line);
    }
    return result;
  }
  /// A pack around gemmManifest, changed by the caller.
  tile::Pack load(const Json &json) {
    std::string bytes = makePack(json.dump(), gemmBody());
    return tile::Pack(context(), bytes.data(), bytes.size());
  }
  const tile::Context &context() {
    if (!opened) {
      opened = std::make_unique<tile::Context>();
    }
    return *opened;
  }
  static std::vector<tile::Arg> args(int64_t m, int64_t n, int64_t k) {
    auto at = [](uint64_t address) { return reinterpret_cast<void *>(address); };
    return {tile::Arg::tensor(at(kA), TILE_F16, {m, k}),
            tile::Arg::tensor(at(kB), TILE_F16, {k, n}),
            tile::Arg::tensor(at(kC), TILE_F16, {m, n})};
  }
  std::string log;
  std::unique_ptr<tile::Context> opened;
};

TEST_F(LaunchTest, MissingDriver) {
  setenv("TILE_CUDA_DRIVER", "/nonexistent/libcuda.so", 1);
  tile_context *context = nullptr;
  EXPECT_EQ(tile_context_create(0, &context), TILE_ERROR_NO_DRIVER);
  EXPECT_NE(std::string(tile_last_error()).find("cannot open the CUDA driver"), std::string::npos);
}

TEST_F(LaunchTest, MissingDevice) {
  tile_context *context = nullptr;
  EXPECT_EQ(tile_context_create(1, &context), TILE_ERROR_NO_DRIVER);
}

TEST_F(LaunchTest, TensorMapVariant) {
  {
    tile::Pack pack = load(gemmManifest());
    tile::Kernel kernel = pack.kernel("gemm");
    kernel.launch(args(8192, 8192, 64));
    kernel.launch(args(256, 256, 128));
  }
  std::vector<std::string> expected = {
      "load imageA",
      "attribute 8 196608",
      "map type 6 dims 64 8192 strides 128 box 64 128 modes 0330",
      ("launch gemm_tma_2 grid 132 1 1 block 384 1 1 shared 196608 0000000001000000 "
       "4000000000000000"),
      "map type 6 dims 128 256 strides 256 box 64 128 modes 0330",
      "launch gemm_tma_2 grid 2 1 1 block 384 1 1 shared 196608 0000000001000000 8000000000000000",
      "unload"};
  EXPECT_EQ(lines(), expected);
}

TEST_F(LaunchTest, ContextsShareWhatIsLoaded) {
  setenv("FAKE_DRIVER_DEVICES", "2", 1);
  {
    tile::Context first(0), second(1);
    const std::string bytes = makePack(gemmManifest().dump(), gemmBody());
    tile::Pack one(first, bytes.data(), bytes.size());
    {
      tile::Pack two(second, bytes.data(), bytes.size()), again(second, bytes.data(), bytes.size());
      two.kernel("gemm").launch(args(256, 256, 128));
      one.kernel("gemm").launch(args(256, 256, 128));
      again.kernel("gemm").launch(args(256, 256, 128));
    } // the last pack that uses it unloads it
    one.kernel("gemm").launch(args(128, 257, 7));
  }
  unsetenv("FAKE_DRIVER_DEVICES");
  std::vector<std::string> loads = lines();
  loads.erase(std::remove_if(loads.begin(), loads.end(),
                             [](const std::string &line) {
                               return line.rfind("load", 0) != 0 && line.rfind("launch", 0) != 0 &&
                                      line.rfind("unload", 0) != 0;
                             }),
              loads.end());
  for (std::string &line : loads) {
    line = line.substr(0, line.find(' ', line.find(' ') + 1));
  }
  EXPECT_EQ(loads,
            (std::vector<std::string>{"load imageA", "launch gemm_tma_2", "launch gemm_tma_2",
                                      "launch gemm_tma_2", "launch gemm_plain_2", "unload"}));
}

TEST_F(LaunchTest, RefusedTensorMapsSayWhy) {
  Json json = gemmManifest();
  Json &variants = json["kernels"][0]["configurations"][0]["host"][0]["launch"]["variants"];
  variants[0]["tensor_maps"][0]["swizzle"] = 64;
  tile::Pack pack = load(json);
  try {
    pack.kernel("gemm").launch(args(8192, 8192, 64));
    ADD_FAILURE();
  } catch (const tile::Error &error) {
    EXPECT_EQ(error.status, TILE_ERROR_DRIVER);
    EXPECT_EQ(std::string(error.what()),
              "cuTensorMapEncodeTiled (the first dimension of the box has 128 bytes, more than the "
              "swizzle's 64): CUDA_ERROR_FAKE, an error of the fake driver");
  }
}

TEST_F(LaunchTest, OtherVariantsAndModules) {
  tile::Pack pack = load(gemmManifest());
  tile::Kernel kernel = pack.kernel("gemm");
  kernel.launch(args(128, 257, 7));
  tile::check(tile_kernel_restrict(kernel.get(), "sm_80", nullptr));
  kernel.launch(args(128, 256, 64));
  EXPECT_NE(kernel.describe(args(128, 256, 64)).find("variant ampere"), std::string::npos);
  std::vector<std::string> expected = {
      "load imageA", "attribute 8 65536",
      "launch gemm_plain_2 grid 2 1 1 block 256 1 1 shared 65536 0000000003000000 8000000000000000",
      "load imageB", "launch gemm_ampere_1 grid 1 1 1 block 256 1 1 shared 1024 0000000003000000"};
  EXPECT_EQ(lines(), expected);
}

TEST_F(LaunchTest, ErrorsLaunchNothing) {
  tile::Pack pack = load(gemmManifest());
  std::vector<tile::Arg> bad = args(128, 256, 64);
  bad[1] = tile::Arg::tensor(reinterpret_cast<void *>(kB), TILE_F16, {63, 256});
  try {
    pack.kernel("gemm").launch(bad);
    ADD_FAILURE();
  } catch (const tile::Error &error) {
    EXPECT_EQ(error.status, TILE_ERROR_ARGUMENT);
    expectError(error.what(), "dim-mismatch", {"`B`", "`A`"});
  }
  EXPECT_TRUE(lines().empty());
}

TEST_F(LaunchTest, ClustersAreAnAttribute) {
  Json json = gemmManifest();
  json["kernels"][0]["configurations"][0]["host"][0]["launch"]["variants"][0]["cluster"] = {2, 1,
                                                                                            1};
  tile::Pack pack = load(json);
  pack.kernel("gemm").launch(args(128, 256, 64));
  EXPECT_NE(lines().back().find("grid 2 1 1 block 384 1 1 shared 196608 attribute 4 2"),
            std::string::npos)
      << lines().back();
}

TEST_F(LaunchTest, PrepareLoadsWhatCanRun) {
  tile::Pack pack = load(gemmManifest());
  tile::check(tile_kernel_prepare(pack.kernel("gemm").get()));
  std::vector<std::string> expected = {"load imageA", "attribute 8 196608", "attribute 8 65536",
                                       "load imageB"};
  EXPECT_EQ(lines(), expected);
}

TEST_F(LaunchTest, Workspace) {
  Json json = gemmManifest();
  Json &host = json["kernels"][0]["configurations"][0]["host"];
  host[0]["launch"]["variants"] =
      Json::parse(R"([{ "module": 0, "entry": "split_2", "block": [32, 1, 1],
     "params": [ { "workspace": "counter" }, { "workspace": "wide" } ] }])");
  host.insert(
      host.begin(),
      Json::parse(
          R"({"workspace": {"name": "counter", "dtype": "i16", "extents": [3], "init": -2}})"));
  host.insert(
      host.begin(),
      Json::parse(
          R"({"workspace": {"name": "wide", "dtype": "f64", "extents": [2], "init": 1.5}})"));
  tile::Pack pack = load(json);
  tile::Kernel kernel = pack.kernel("gemm");
  EXPECT_EQ(kernel.workspaceSize(args(128, 256, 64)), 512u);
  alignas(256) static unsigned char memory[768];
  EXPECT_THROW(kernel.launch(args(128, 256, 64)), tile::Error);
  EXPECT_THROW(kernel.launch(args(128, 256, 64), nullptr, memory, 511), tile::Error);
  EXPECT_THROW(kernel.launch(args(128, 256, 64), nullptr, memory + 16, 752), tile::Error);
  EXPECT_TRUE(lines().empty());
  kernel.launch(args(128, 256, 64), nullptr, memory, sizeof(memory));
  double wide[2];
  int16_t counter[4];
  std::memcpy(wide, memory, sizeof(wide));
  std::memcpy(counter, memory + 256, sizeof(counter));
  EXPECT_EQ(wide[0], 1.5);
  EXPECT_EQ(wide[1], 1.5);
  EXPECT_EQ(counter[2], -2);
  EXPECT_EQ(counter[3], 0);
  uint64_t base = reinterpret_cast<uint64_t>(memory);
  char expected[40];
  std::string line = lines().back();
  std::snprintf(expected, sizeof(expected), " %016lx %016lx", __builtin_bswap64(base + 256),
                __builtin_bswap64(base));
  EXPECT_EQ(line.substr(line.size() - 34), expected);
}

TEST_F(LaunchTest, DriverErrorsCarryTheDriversWords) {
  Json json = gemmManifest();
  json["kernels"][0]["configurations"][0]["host"][0]["launch"]["variants"][0]["entry"] = "missing";
  tile::Pack pack = load(json);
  try {
    pack.kernel("gemm").launch(args(128, 256, 64));
    ADD_FAILURE();
  } catch (const tile::Error &error) {
    EXPECT_EQ(error.status, TILE_ERROR_DRIVER);
    EXPECT_STREQ(error.what(),
                 "finding the entry `missing`: CUDA_ERROR_FAKE, an error of the fake driver");
  }
}

TEST_F(LaunchTest, AbsentTensors) {
  Json json = gemmManifest();
  json["kernels"][0]["arguments"].push_back(Json::parse(R"(
    { "name": "bias", "kind": "tensor", "dtype": "f32", "direction": "in", "optional": true, "extents": [ {"dim": "N"} ] })"));
  json["kernels"][0]["configurations"][0]["host"][0]["launch"]["variants"] =
      Json::parse(R"([{ "module": 0, "entry": "e_3", "block": [32, 1, 1],
     "params": [ { "tensor": "bias" }, { "tensor_map": 0 }, { "expr": {"present": "bias"}, "type": "bool" } ],
     "tensor_maps": [ { "tensor": "bias", "dtype": "f32", "dims": [ {"dim": "N"} ], "strides": [], "box": [64] } ] }])");
  tile::Pack pack = load(json);
  std::vector<tile::Arg> call = args(128, 256, 64);
  call.push_back(tile::Arg::absent());
  pack.kernel("gemm").launch(call);
  EXPECT_NE(lines().back().find(" 0000000000000000 0000000000000000 0000000000000000"),
            std::string::npos)
      << lines().back();
}

} // namespace
} // namespace tile_rt::test
