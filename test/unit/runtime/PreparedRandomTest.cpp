// Calls in random order, each a little different from an earlier one, right or wrong: a kernel that keeps
// prepared calls says and launches what one says and launches that has forgotten all.
#include "TestPack.h"
#include "runtime/include/tile/tile.hpp"
#include "runtime/src/Device.h"

#include <cstdlib>
#include <fstream>
#include <random>
#include <unistd.h>

namespace tile_rt::test {
namespace {

/// gemmManifest with all that a plan may depend on: strides, alignments, absence, aliases, scalars that are
/// looked at in a check, a workspace, a condition, a guard, a map, a cost or a preference, or only copied.
Json manifestOfEverything() {
  Json json = gemmManifest();
  Json &kernel = json["kernels"][0];
  Json &arguments = kernel["arguments"];
  arguments[0]["strided"] = true;
  arguments[0]["align"] = 2;
  arguments[2]["strided"] = true;
  arguments[2]["may_alias"] = {"A"};
  arguments.push_back(Json::parse(
      R"({ "name": "D", "kind": "tensor", "dtype": "f32", "direction": "inout", "optional": true, "align": 64,
           "extents": [ {"dim": "N"} ] })"));
  for (const auto &[name, dtype] : {std::pair{"checked", "i32"},
                                    {"sized", "u8"},
                                    {"repeated", "u8"},
                                    {"branch", "bool"},
                                    {"guarded", "i64"},
                                    {"offset", "i32"},
                                    {"priced", "f32"},
                                    {"preferred", "i32"},
                                    {"copied", "i16"}}) {
    arguments.push_back({{"name", name}, {"kind", "scalar"}, {"dtype", dtype}});
  }
  kernel["checks"] = Json::parse(R"([ { "expr": { "op": "ge", "args": [ {"arg": "checked"}, 0 ] },
                                        "text": "checked >= 0", "diagnostic": "where-failed" } ])");
  Json launch = kernel["configurations"][0]["host"][0];
  Json &variants = launch["launch"]["variants"];
  Json &tma = variants[0], &plain = variants[1];
  tma["guard"]["args"].push_back(
      Json::parse(R"({ "op": "gt", "args": [ {"arg": "guarded"}, 1 ] })"));
  tma["entry"] = "tma_4";
  tma["params"] = Json::parse(R"([ { "tensor_map": 0 }, { "tensor": "D" }, { "workspace": "w" },
                                   { "expr": {"arg": "copied"}, "type": "i16" } ])");
  tma["tensor_maps"][0]["offset"] =
      Json::parse(R"({ "op": "mul", "args": [ {"arg": "offset"}, 16 ] })");
  tma["cost"] = Json::parse(R"({"arg": "priced"})");
  plain["entry"] = "plain_4";
  plain["params"] = Json::parse(
      R"([ { "tensor": "A" }, { "tensor": "C" }, { "expr": {"arg": "copied"}, "type": "i16" },
                                     { "expr": {"stride": ["C", 0]}, "type": "i64" } ])");
  plain["cost"] = 1;
  Json aligned = plain;
  aligned["name"] = "aligned";
  aligned["entry"] = "aligned_4";
  aligned["guard"] =
      Json::parse(R"({ "op": "and", "args": [ {"aligned": ["A", 32]}, {"present": "D"} ] })");
  aligned["cost"] = Json::parse(R"({ "const": 0.5, "type": "f64" })");
  variants = Json::array({tma, plain, aligned});
  Json host = Json::parse(
      R"([ { "workspace": { "name": "w", "dtype": "f32", "extents": [ {"arg": "sized"} ], "init": 1.5 } },
                               { "if": { "cond": {"arg": "branch"}, "then": [], "else": [] } } ])");
  host[1]["if"]["then"].push_back(launch);
  launch["launch"]["name"] = "gemm.1";
  launch["launch"]["grid"][0] = {{"arg", "repeated"}};
  host[1]["if"]["else"].push_back(launch);
  kernel["configurations"] = Json::array(
      {{{"host", host}, {"params", {{"BM", 1}}}}, {{"host", host}, {"params", {{"BM", 2}}}}});
  kernel["params"].erase("BM");
  kernel["preferences"] =
      Json::parse(R"([ { "configuration": 1, "ranges": { "preferred": [3, 7] } } ])");
  return json;
}

/// A call that can be taken apart and changed.
struct Draft {
  struct Tensor {
    uint64_t address = 0;
    int32_t dtype = TILE_F16;
    std::vector<int64_t> extents, strides;
  };
  std::vector<Tensor> tensors;
  std::vector<uint64_t> scalars;
  size_t missing = 0; ///< arguments that are left out at the end

  static constexpr int32_t kScalars[] = {TILE_I32, TILE_U8,  TILE_U8,  TILE_BOOL, TILE_I64,
                                         TILE_I32, TILE_F32, TILE_I32, TILE_I16};
  Call call() const {
    Call call;
    for (const Tensor &tensor : tensors) {
      call.tensor(tensor.address, static_cast<tile_dtype>(tensor.dtype), tensor.extents,
                  tensor.strides);
    }
    for (size_t i = 0; i < scalars.size(); ++i) {
      call.scalar(static_cast<tile_dtype>(kScalars[i]), scalars[i]);
    }
    call.args.resize(call.args.size() - missing);
    return call;
  }
};

class Drafts {
public:
  explicit Drafts(unsigned seed) : random(seed) {}

  Draft next() {
    Draft draft = known.empty() || below(8) == 0 ? right() : known[below(known.size())];
    for (size_t changes = below(3); changes > 0; --changes) {
      change(draft);
    }
    if (known.size() < 100) {
      known.push_back(draft);
    } else {
      known[below(known.size())] = draft;
    }
    return draft;
  }

private:
  size_t below(size_t count) { return std::uniform_int_distribution<size_t>(0, count - 1)(random); }
  template <class T>
  T one(std::initializer_list<T> list) {
    return list.begin()[below(list.size())];
  }

  Draft right() {
    const int64_t m = one({1, 64, 128}), n = one({8, 64, 65}), k = one({0, 1, 8, 64});
    Draft draft;
    draft.tensors = {{kA, TILE_F16, {m, k}, {}},
                     {kB, TILE_F16, {k, n}, {}},
                     {kC, TILE_F16, {m, n}, {}},
                     {below(2) * 0x400000000, TILE_F32, {n}, {}}};
    draft.scalars = {1, 2, 2, 1, 2, 0, 0, 0, 0};
    return draft;
  }

  void change(Draft &draft) {
    if (below(3) == 0) {
      draft.scalars[below(draft.scalars.size())] =
          one<uint64_t>({0, 1, 2, 3, 5, 8, ~uint64_t{0}, 0x40000000});
      draft.scalars[3] &= 1; // a bool
      return;
    }
    Draft::Tensor &tensor = draft.tensors[below(draft.tensors.size())];
    switch (below(10)) {
    case 0:
      tensor.address += one<uint64_t>({1, 2, 8, 16, 32, 64, 240, 4096});
      break;
    case 1:
      tensor.address = one({uint64_t{0}, kA, kB, kC});
      break;
    case 2:
      tensor.address = draft.tensors[0].address + one<uint64_t>({0, 16, 64, 128, 8192, 16384});
      break;
    case 3: // of all tensors alike
      for (Draft::Tensor &each : draft.tensors) {
        each.address += each.address ? 1 << 20 : 0;
      }
      break;
    case 4:
      tensor.extents[0] += one({-1, 1, 7});
      break;
    case 5:
      tensor.strides.assign(tensor.extents.size(), 1);
      tensor.strides[0] =
          tensor.extents.size() == 1 ? 1 : tensor.extents[1] + one({-8, 0, 0, 1, 8});
      break;
    case 6:
      tensor.strides.clear();
      break;
    case 7:
      tensor.strides.assign(tensor.extents.size(), one({1, 1, 0, -64, 2}));
      tensor.strides.back() = one({1, 1, 1, 2});
      break;
    case 8:
      tensor.dtype = one<int32_t>({TILE_F16, TILE_F16, TILE_F32, TILE_BF16});
      break;
    default:
      draft.missing = one({0, 0, 1});
      break;
    }
  }

  std::mt19937 random;
  std::vector<Draft> known;
};

class PreparedRandomTest : public testing::Test {
protected:
  void SetUp() override {
    log = testing::TempDir() + "/" + std::to_string(getpid()) + "_prepared_random.log";
    std::remove(log.c_str());
    setenv("TILE_CUDA_DRIVER", FAKE_DRIVER_PATH, 1);
    setenv("FAKE_DRIVER_LOG", log.c_str(), 1);
    context = std::make_unique<tile::Context>();
    const std::string bytes = makePack(manifestOfEverything().dump(), gemmBody());
    for (std::unique_ptr<tile::Pack> &pack : packs) {
      pack = std::make_unique<tile::Pack>(*context, bytes.data(), bytes.size());
    }
  }
  void TearDown() override {
    packs[0].reset();
    packs[1].reset();
    std::remove(log.c_str());
    unsetenv("FAKE_DRIVER_LOG");
  }

  /// What a call is answered: an error, or workspace, maps, fills and launches.
  std::string answer(tile_kernel *kernel, const Call &call) {
    size_t bytes = 0;
    if (tile_workspace_size(kernel, call.args.data(), call.args.size(), &bytes)) {
      return tile_last_error();
    }
    const std::shared_ptr<PreparedCall> prepared =
        kernel->prepare(call.args.data(), call.args.size());
    const LaunchPlan &plan = prepared->plan;
    std::string text = "configuration " + std::to_string(plan.configuration) + ", " +
                       std::to_string(bytes) + " bytes\n";
    for (const PlanStep &step : plan.steps) {
      for (const PlannedMap &map : step.launch.maps) {
        for (uint64_t number : map.dims) {
          text += std::to_string(number) + " x ";
        }
        for (uint64_t number : map.strides) {
          text += std::to_string(number) + " bytes ";
        }
      }
    }
    std::remove(log.c_str());
    if (tile_launch(kernel, call.args.data(), call.args.size(), nullptr, workspace, bytes)) {
      return text + tile_last_error();
    }
    std::ifstream file(log);
    for (std::string line; std::getline(file, line);) {
      if (line.rfind("launch", 0) == 0 || line.rfind("memset", 0) == 0) {
        text += "\n" + line;
      }
    }
    return text;
  }

  std::string log;
  std::unique_ptr<tile::Context> context;
  std::unique_ptr<tile::Pack> packs[2];
  alignas(TILE_WORKSPACE_ALIGN) char workspace[1024];
};

TEST_F(PreparedRandomTest, KeptCallsAnswerAsNewOnes) {
  tile_kernel *keeps = packs[0]->kernel("gemm").get(), *forgets = packs[1]->kernel("gemm").get();
  Drafts drafts(1);
  std::map<std::string, int> answers; // by the rule that is broken
  int known = 0;
  for (int i = 0; i < 6000; ++i) {
    const Call call = drafts.next().call();
    CallKey key;
    known += makeKey(key, *keeps->kernel, keeps->rules, call.args.data(), call.args.size()) &&
             keeps->calls.find(key) != nullptr;
    tile::check(tile_kernel_restrict(forgets, nullptr, nullptr));
    const std::string expected = answer(forgets, call);
    ASSERT_EQ(answer(keeps, call), expected) << "of call " << i;
    ++answers[expected[0] == '[' ? expected.substr(0, expected.find(']') + 1) : "launched"];
  }
  EXPECT_GT(known, 1000);
  EXPECT_GT(answers["launched"], 1500);
  for (const char *rule : {"[align]", "[alias]", "[arguments]", "[dim-mismatch]", "[dtype]",
                           "[null]", "[stride]", "[where-failed]"}) {
    EXPECT_GT(answers[rule], 20) << rule;
  }
}

} // namespace
} // namespace tile_rt::test
