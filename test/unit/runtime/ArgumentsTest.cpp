// The rules of a call, each broken once, and what must not be refused.
#include "TestPack.h"

#include <set>

namespace tile_rt::test {
namespace {

Manifest gemm() { return parseJson(gemmManifest()); }

std::string callError(const Manifest &manifest, const Call &call) {
  return errorOf([&] { bindArguments(manifest.kernels[0], call.args); });
}

Json elementwise(const char *attributes) {
  Json json = gemmManifest();
  Json &kernel = json["kernels"][0];
  kernel["arguments"] = Json::parse(R"([
    { "name": "X", "kind": "tensor", "dtype": "f32", "direction": "in", "strided": true,
      "extents": [ {"dim": "M"}, {"dim": "N"} ] },
    { "name": "Y", "kind": "tensor", "dtype": "f32", "direction": "out", "extents": [ {"dim": "M"}, {"dim": "N"} ] } ])");
  kernel["arguments"][1].update(Json::parse(attributes));
  kernel["dims"] = Json::parse(R"([
    { "name": "M", "type": "i32", "source": { "arg": "X", "axis": 0 } },
    { "name": "N", "type": "i32", "source": { "arg": "X", "axis": 1 } } ])");
  kernel["configurations"] = Json::parse(R"([{ "host": [] }])");
  return json;
}

TEST(Arguments, CountKindTypeAndRank) {
  Manifest manifest = gemm();
  Call two;
  two.tensor(kA, TILE_F16, {4, 4}).tensor(kB, TILE_F16, {4, 4});
  expectError(callError(manifest, two), "arguments", {"takes 3", "not 2"});
  Call scalar;
  scalar.scalar<float>(TILE_F32, 1).tensor(kB, TILE_F16, {4, 4}).tensor(kC, TILE_F16, {4, 4});
  expectError(callError(manifest, scalar), "arguments", {"`A` is a tensor"});
  Call dtype;
  dtype.tensor(kA, TILE_F16, {4, 4}).tensor(kB, TILE_BF16, {4, 4}).tensor(kC, TILE_F16, {4, 4});
  expectError(callError(manifest, dtype), "dtype", {"`B`", "f16", "bf16"});
  Call rank;
  rank.tensor(kA, TILE_F16, {4, 4}).tensor(kB, TILE_F16, {4, 4, 1}).tensor(kC, TILE_F16, {4, 4});
  expectError(callError(manifest, rank), "rank", {"`B`", "rank 2", "not 3"});
}

TEST(Arguments, MismatchNamesBothTensors) {
  Call call;
  call.tensor(kA, TILE_F16, {128, 64})
      .tensor(kB, TILE_F16, {65, 256})
      .tensor(kC, TILE_F16, {128, 256});
  expectError(callError(gemm(), call), "dim-mismatch",
              {"`B`", "dimension 0", "65", "`K` is 64", "dimension 1 of `A`"});
}

TEST(Arguments, OffsetsAndComputedExtents) {
  Json json = gemmManifest();
  Json &kernel = json["kernels"][0];
  // A: [M, K], B: [K / 8 + 1, N + 1]
  kernel["arguments"][1]["extents"] = Json::parse(R"([
    {"op": "add", "args": [{"op": "div", "args": [{"dim": "K"}, 8]}, 1]}, {"op": "add", "args": [{"dim": "N"}, 1]}])");
  kernel["dims"][2]["source"]["offset"] = 1;
  Manifest manifest = parseJson(json);
  Call good;
  good.tensor(kA, TILE_F16, {4, 64}).tensor(kB, TILE_F16, {9, 17}).tensor(kC, TILE_F16, {4, 16});
  EXPECT_EQ(bindArguments(manifest.kernels[0], good.args).dims[2].integer, 16);
  Call bad;
  bad.tensor(kA, TILE_F16, {4, 64}).tensor(kB, TILE_F16, {8, 17}).tensor(kC, TILE_F16, {4, 16});
  expectError(callError(manifest, bad), "dim-mismatch",
              {"`B`", "(K / 8) + 1", "is 9", "`K` is 64"});
  Call none;
  none.tensor(kA, TILE_F16, {4, 64}).tensor(kB, TILE_F16, {9, 0}).tensor(kC, TILE_F16, {4, 16});
  expectError(callError(manifest, none), "dim-mismatch", {"`N` would be -1"});
}

TEST(Arguments, FixedDimensions) {
  Json json = gemmManifest();
  json["kernels"][0]["dims"][1] = Json::parse(R"({ "name": "K", "type": "i32", "value": 4096 })");
  expectError(callError(parseJson(json), gemmCall(4, 4, 64)), "dim-mismatch",
              {"`A`", "4096", "fixed when compiling"});
}

TEST(Arguments, ConstantExtents) {
  Json json = gemmManifest();
  json["kernels"][0]["arguments"][0]["extents"][1] = 4096;
  json["kernels"][0]["dims"][1]["source"] = {{"arg", "B"}, {"axis", 0}};
  expectError(callError(parseJson(json), gemmCall(4, 4, 64)), "dim-mismatch",
              {"`A`, dimension 1", "64, it must be 4096"});
}

TEST(Arguments, LargeExtents) {
  Call call;
  call.tensor(kA, TILE_F16, {int64_t{1} << 31, 1})
      .tensor(kB, TILE_F16, {1, 1})
      .tensor(kC, TILE_F16, {1, 1});
  expectError(callError(gemm(), call), "extent-too-large", {"`A`", "2147483648"});
  Call negative;
  negative.tensor(kA, TILE_F16, {-1, 1}).tensor(kB, TILE_F16, {1, 1}).tensor(kC, TILE_F16, {1, 1});
  expectError(callError(gemm(), negative), "extent-too-large", {"-1"});
  // An i64 dimension may be larger.
  Json json = elementwise("{}");
  json["kernels"][0]["dims"][0]["type"] = "i64";
  Call wide;
  int64_t rows = int64_t{1} << 32;
  wide.tensor(0x10000000000, TILE_F32, {rows, 1}).tensor(0x20000000000, TILE_F32, {rows, 1});
  EXPECT_EQ(bindArguments(parseJson(json).kernels[0], wide.args).dims[0].integer, rows);
}

TEST(Arguments, Strides) {
  Manifest manifest = parseJson(elementwise("{}"));
  auto withStrides = [&](std::vector<int64_t> x, std::vector<int64_t> y) {
    Call call;
    call.tensor(kA, TILE_F32, {8, 16}, std::move(x)).tensor(kB, TILE_F32, {8, 16}, std::move(y));
    return call;
  };
  Env env = bindArguments(manifest.kernels[0], withStrides({100, 1}, {16, 1}).args);
  EXPECT_EQ(env.tensors[0].strides[0], 100);
  bindArguments(manifest.kernels[0], withStrides({0, 1}, {}).args);   // broadcast
  bindArguments(manifest.kernels[0], withStrides({-16, 1}, {}).args); // reversed
  expectError(callError(manifest, withStrides({16, 2}, {})), "stride",
              {"`X`", "dimension 1", "must be 1"});
  expectError(callError(manifest, withStrides({}, {32, 1})), "stride",
              {"`Y`", "must be 16", "contiguous"});
  Manifest stridedOut = parseJson(elementwise(R"({"strided": true})"));
  expectError(callError(stridedOut, withStrides({}, {0, 1})), "stride", {"`Y`", "written"});
  // Strides of dimensions of extent 1 are never used.
  Call one;
  one.tensor(kA, TILE_F32, {1, 16}, {7, 1}).tensor(kB, TILE_F32, {1, 16}, {5, 1});
  EXPECT_EQ(bindArguments(manifest.kernels[0], one.args).tensors[1].strides[0], 16);
}

TEST(Arguments, PlacesOfWhatIsWrittenAgreeWithEnumeration) {
  auto refusal = [](const Manifest &manifest, const Call &call) -> std::string {
    try {
      bindArguments(manifest.kernels[0], call.args);
    } catch (const Error &error) {
      return error.what();
    }
    return {};
  };
  Json json = elementwise(R"({"strided": true})");
  for (int i : {0, 1}) {
    json["kernels"][0]["arguments"][i]["extents"] =
        Json::parse(R"([ {"dim": "M"}, {"dim": "N"}, 3, 2 ])");
  }
  Manifest manifest = parseJson(json);
  for (int64_t a = -14; a <= 14; ++a) {
    for (int64_t b = -9; b <= 9; ++b) {
      for (int64_t c = -5; c <= 5; ++c) {
        std::set<int64_t> places;
        for (int64_t i = 0; i < 24; ++i) {
          places.insert(i / 12 * a + i / 6 % 2 * b + i / 2 % 3 * c + i % 2);
        }
        Call call;
        call.tensor(kA, TILE_F32, {2, 2, 3, 2}).tensor(kB, TILE_F32, {2, 2, 3, 2}, {a, b, c, 1});
        std::string error = refusal(manifest, call);
        EXPECT_EQ(error.find("[stride]") == std::string::npos, places.size() == 24)
            << a << ", " << b << ", " << c << ": " << error;
      }
    }
  }
  // Rows over each other, large ones too; transposed matrices and rows with gaps are apart.
  Manifest rows = parseJson(elementwise(R"({"strided": true})"));
  auto withRows = [&](int64_t stride) {
    Call call;
    call.tensor(kA, TILE_F32, {1000000, 1000}, {1000, 1})
        .tensor(kB << 8, TILE_F32, {1000000, 1000}, {stride, 1});
    return refusal(rows, call);
  };
  expectError(withRows(999), "stride", {"`Y`", "999, 1", "one place"});
  expectError(withRows(1), "stride", {"`Y`", "1, 1", "one place"});
  EXPECT_EQ(withRows(1000), "");
  EXPECT_EQ(withRows(1001), "");
  EXPECT_EQ(withRows(-1000), "");
}

TEST(Arguments, AlignmentAndNull) {
  Manifest manifest = gemm();
  Call odd;
  odd.tensor(kA + 8, TILE_F16, {4, 4}).tensor(kB, TILE_F16, {4, 4}).tensor(kC, TILE_F16, {4, 4});
  expectError(callError(manifest, odd), "align", {"`A`", "16"});
  Json json = gemmManifest();
  json["kernels"][0]["arguments"][0]["align"] = 2;
  bindArguments(parseJson(json).kernels[0], odd.args);
  Call null;
  null.tensor(kA, TILE_F16, {4, 4}).tensor(0, TILE_F16, {4, 4}).tensor(kC, TILE_F16, {4, 4});
  expectError(callError(manifest, null), "null", {"`B`"});
  // Tensors without elements have no memory.
  Call empty;
  empty.tensor(0, TILE_F16, {0, 4}).tensor(kB, TILE_F16, {4, 4}).tensor(0, TILE_F16, {0, 4});
  EXPECT_EQ(bindArguments(manifest.kernels[0], empty.args).dims[0].integer, 0);
}

TEST(Arguments, Aliasing) {
  Manifest manifest = parseJson(elementwise("{}"));
  Call same;
  same.tensor(kA, TILE_F32, {8, 16}).tensor(kA, TILE_F32, {8, 16});
  expectError(callError(manifest, same), "alias", {"`Y`", "`X`", "written"});
  Call touching; // ends where the other begins
  touching.tensor(kA, TILE_F32, {8, 16}).tensor(kA + 8 * 16 * 4, TILE_F32, {8, 16});
  bindArguments(manifest.kernels[0], touching.args);
  Call overlapping;
  overlapping.tensor(kA, TILE_F32, {8, 16}).tensor(kA + 8 * 16 * 4 - 16, TILE_F32, {8, 16});
  expectError(callError(manifest, overlapping), "alias", {"`Y`"});

  Manifest admitted = parseJson(elementwise(R"({"may_alias": ["X"]})"));
  bindArguments(admitted.kernels[0], same.args);
  expectError(callError(admitted, overlapping), "alias", {"not part of it"});
  Manifest strided = parseJson(elementwise(R"({"may_alias": ["X"], "strided": true})"));
  Call otherRows; // the same elements begin there, other rows follow
  otherRows.tensor(kA, TILE_F32, {8, 16}, {16, 1}).tensor(kA, TILE_F32, {8, 16}, {32, 1});
  expectError(callError(strided, otherRows), "alias", {"not part of it"});
  Call sameRows;
  sameRows.tensor(kA, TILE_F32, {8, 16}, {32, 1}).tensor(kA, TILE_F32, {8, 16}, {32, 1});
  bindArguments(strided.kernels[0], sameRows.args);
}

TEST(Arguments, ColumnsOfOneMatrixDoNotOverlap) {
  Manifest manifest = parseJson(elementwise(R"({"strided": true})"));
  // Columns 0..16 and 16..32 of rows of 64 floats; then 0..16 and 12..28.
  Call apart;
  apart.tensor(kA, TILE_F32, {8, 16}, {64, 1}).tensor(kA + 64, TILE_F32, {8, 16}, {64, 1});
  bindArguments(manifest.kernels[0], apart.args);
  Call meeting;
  meeting.tensor(kA, TILE_F32, {8, 16}, {64, 1}).tensor(kA + 48, TILE_F32, {8, 16}, {64, 1});
  expectError(callError(manifest, meeting), "alias", {"overlaps"});
  // The last columns wrap round into the first ones of the next row.
  Call wrapping;
  wrapping.tensor(kA, TILE_F32, {8, 16}, {64, 1}).tensor(kA + 56 * 4, TILE_F32, {8, 16}, {64, 1});
  expectError(callError(manifest, wrapping), "alias", {"overlaps"});
}

TEST(Arguments, AliasingAgreesWithEnumeration) {
  // Two small strided matrices in one buffer: refused whenever an element is shared, and never when
  // they are columns of one matrix with the same row stride.
  Manifest manifest = parseJson(elementwise(R"({"strided": true})"));
  for (int64_t stride : {5, 8, 12}) {
    for (int64_t shift = 0; shift < 30; ++shift) {
      std::vector<bool> first(200, false);
      bool shared = false;
      for (int64_t r = 0; r < 3; ++r) {
        for (int64_t c = 0; c < 4; ++c) {
          first[r * stride + c] = true;
        }
      }
      for (int64_t r = 0; r < 3; ++r) {
        for (int64_t c = 0; c < 4; ++c) {
          shared |= first[shift * 4 + r * stride + c];
        }
      }
      Call call;
      call.tensor(kA, TILE_F32, {3, 4}, {stride, 1})
          .tensor(kA + static_cast<uint64_t>(shift) * 16, TILE_F32, {3, 4}, {stride, 1});
      bool refused = false;
      try {
        bindArguments(manifest.kernels[0], call.args);
      } catch (const Error &) {
        refused = true;
      }
      if (shared) {
        EXPECT_TRUE(refused) << stride << " " << shift;
      } else if (stride >= 8) {
        EXPECT_FALSE(refused) << stride << " " << shift;
      }
    }
  }
}

TEST(Arguments, PackedTypes) {
  Json json = gemmManifest();
  for (int i : {0, 1, 2}) {
    json["kernels"][0]["arguments"][i]["dtype"] = "u4";
  }
  Call call;
  call.tensor(kA, TILE_U4, {4, 3}).tensor(kB, TILE_U4, {3, 4}).tensor(kC, TILE_U4, {4, 4});
  expectError(callError(parseJson(json), call), "packed-extent", {"`A`", "3"});
}

TEST(Arguments, Optional) {
  Json json = gemmManifest();
  json["kernels"][0]["arguments"].push_back(Json::parse(R"(
    { "name": "bias", "kind": "tensor", "dtype": "f32", "direction": "in", "optional": true, "extents": [ {"dim": "N"} ] })"));
  Manifest manifest = parseJson(json);
  Call without = gemmCall(4, 8, 8);
  without.absent();
  EXPECT_FALSE(bindArguments(manifest.kernels[0], without.args).tensors[3].present);
  Call with = gemmCall(4, 8, 8);
  with.tensor(0x400000000, TILE_F32, {9});
  expectError(callError(manifest, with), "dim-mismatch", {"`bias`", "`N` is 8", "`B`"});
}

} // namespace
} // namespace tile_rt::test
