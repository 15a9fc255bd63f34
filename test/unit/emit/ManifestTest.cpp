// The manifest that a module's host part and device kernels give.
#include "compiler/emit/Manifest.h"

#include "dialects/tgpu/Tgpu.h"
#include "dialects/tile/Tile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace tilec;
namespace json = llvm::json;

namespace {

class ManifestTest : public testing::Test {
protected:
  ManifestTest() : diags(sources) {}

  /// When it returns, its IR and all strings of it are gone: a manifest outlives them.
  std::optional<json::Object> build(llvm::StringRef text, unsigned module = 0) {
    mlir::MLIRContext context;
    context.loadDialect<tile::TileDialect, tgpu::TgpuDialect, mlir::arith::ArithDialect,
                        mlir::scf::SCFDialect>();
    auto ir = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    EXPECT_TRUE(bool(ir));
    std::optional<json::Object> manifest = ir ? buildManifest(*ir, diags) : std::nullopt;
    if (manifest) {
      setModules(*manifest, [&](llvm::StringRef) { return module; });
    }
    return manifest;
  }
  /// The only kernel of a manifest.
  /// The host program of a kernel's first configuration.
  static json::Array &host(json::Object &kernel) {
    return *(*kernel.getArray("configurations"))[0].getAsObject()->getArray("host");
  }
  static json::Object &kernel(json::Object &manifest) {
    return *(*manifest.getArray("kernels"))[0].getAsObject();
  }

  llvm::SourceMgr sources;
  DiagnosticEngine diags;
};

/// Compares a part of a manifest with JSON text.
void expectJson(const json::Value &value, llvm::StringRef text) {
  llvm::Expected<json::Value> expected = json::parse(text);
  ASSERT_TRUE(bool(expected)) << llvm::toString(expected.takeError());
  EXPECT_EQ(value, *expected) << llvm::formatv("{0:2}", value).str();
}

constexpr llvm::StringLiteral matrix = R"(
  tile.kernel @k(%a: !tile.global<?x?xf16> {tile.name = "A", tile.dtype = "f16", tile.direction = "in"},
                 %b: !tile.global<?x64xf16> {tile.name = "B", tile.dtype = "f16", tile.direction = "out", tile.align = 32 : i64},
                 %s: f32 {tile.name = "scale", tile.dtype = "f32"})
      attributes {source_kernel = "mm", parameters = {BM = 128 : i64, T = "f16"}} {
    %m = tile.dim "M" from %a[0] : !tile.global<?x?xf16> -> i32
    %k = tile.dim "K" from %a[1] offset 1 : !tile.global<?x?xf16> -> i32
    %c2 = arith.constant 2 : i32
    %c128 = arith.constant 128 : i32
    %twice = arith.muli %m, %c2 overflow<nsw> : i32
    %e = tile.extent %b[0] : !tile.global<?x64xf16> -> i32
    %same = arith.cmpi eq, %e, %twice : i32
    tile.check %same, "dim-mismatch", "B"
    %small = arith.cmpi slt, %k, %c128 : i32
    tile.check %small, "where-failed", "K < 128"
    %g = arith.ceildivsi %twice, %c128 : i32
    %w = tile.workspace "part", "f32" (%g : i32) init 0.0 : f32 : !tile.global<?x4xf32>
    tgpu.launch "k.0" grid(%g, %c2 : i32, i32) args(%a, %w, %m, %k, %s : !tile.global<?x?xf16>, !tile.global<?x4xf32>, i32, i32, f32)
    tile.return
  }
)";

TEST_F(ManifestTest, ArgumentsChecksAndHost) {
  std::string text = matrix.str() + R"(
  tgpu.kernel @k_0(%a: !tile.global<?x?xf16>, %w: !tile.global<?x4xf32>, %m: i32, %k: i32, %s: f32)
      attributes {threads = 256 : i32, block_threads = 384 : i32, launch = "k.0", variant = "aligned",
                  guard = [#tgpu.divisible<3, 8>], shared_bytes = 1024 : i64, persistent = 1 : i32,
                  tensor_maps = [#tgpu.tensor_map<0, extents = [3, 2], strides = [-2, 3], box = [64, 128], swizzle = 128>]} {
    tgpu.return
  })";
  std::optional<json::Object> manifest = build(text, 1);
  ASSERT_TRUE(manifest.has_value());
  json::Object &k = kernel(*manifest);
  expectJson(*k.get("symbol"), R"("k")");
  expectJson(*k.get("source_kernel"), R"("mm")");
  expectJson(*k.get("params"), R"({"BM": 128, "T": "f16"})");
  expectJson(*k.get("arguments"), R"([
    {"name": "A", "kind": "tensor", "dtype": "f16", "direction": "in",
     "extents": [{"dim": "M"}, {"op": "add", "args": [{"dim": "K"}, 1]}]},
    {"name": "B", "kind": "tensor", "dtype": "f16", "direction": "out", "align": 32,
     "extents": [{"op": "mul", "args": [{"dim": "M"}, 2], "type": "i32"}, 64]},
    {"name": "scale", "kind": "scalar", "dtype": "f32"}])");
  expectJson(*k.get("dims"), R"([
    {"name": "M", "type": "i32", "source": {"arg": "A", "axis": 0, "offset": 0}},
    {"name": "K", "type": "i32", "source": {"arg": "A", "axis": 1, "offset": 1}}])");
  expectJson(*k.get("checks"), R"([
    {"expr": {"op": "lt", "args": [{"dim": "K"}, 128]}, "text": "K < 128", "diagnostic": "where-failed"}])");
  expectJson(json::Value(json::Array(host(k))), R"([
    {"let": {"name": "v0", "type": "i32", "expr": {"op": "mul", "args": [{"dim": "M"}, 2], "type": "i32"}}},
    {"let": {"name": "v1", "type": "i32", "expr": {"op": "ceildiv", "args": [{"let": "v0"}, 128], "type": "i32"}}},
    {"workspace": {"name": "part", "dtype": "f32", "extents": [{"let": "v1"}, 4], "init": 0.0}},
    {"launch": {"name": "k.0", "grid": [{"let": "v1"}, 2], "variants": [
      {"name": "aligned", "module": 1, "entry": "k_0", "block": [384, 1, 1], "shared_bytes": 1024,
       "blocks": {"kind": "persistent", "blocks_per_sm": 1},
       "guard": {"op": "eq", "args": [{"op": "rem", "args": [{"dim": "K"}, 8]}, 0]},
       "params": [{"tensor": "A"}, {"workspace": "part"}, {"expr": {"dim": "M"}, "type": "i32"},
                  {"expr": {"dim": "K"}, "type": "i32"}, {"expr": {"arg": "scale"}, "type": "f32"}, {"tensor_map": 0}],
       "tensor_maps": [{"tensor": "A", "dtype": "f16", "dims": [{"dim": "K"}, {"dim": "M"}],
                        "strides": [{"op": "mul", "args": [{"dim": "K"}, 2]}], "box": [64, 128], "swizzle": 128,
                        "l2_promotion": 128, "interleave": "none", "oob": "zero"}]}]}}])");
}

TEST_F(ManifestTest, CodeThatWaitsMayOverlapAndCodeThatSaysSoIsMadeRoomBeside) {
  std::optional<json::Object> manifest = build(R"(
  tile.kernel @k() {
    %c1 = arith.constant 1 : i32
    tgpu.launch "k.0" grid(%c1 : i32) args()
    tile.return
  }
  tgpu.kernel @k_0() attributes {threads = 32 : i32, launch = "k.0", variant = "aligned", follows} {
    tgpu.launch_dependents
    tgpu.wait_for_launches
    tgpu.return
  }
  tgpu.kernel @k_1() attributes {threads = 32 : i32, launch = "k.0", variant = "any", follows, precedes} { tgpu.return })");
  ASSERT_TRUE(manifest.has_value());
  json::Object &launch = *host(kernel(*manifest)).back().getAsObject()->getObject("launch");
  json::Array &variants = *launch.getArray("variants");
  expectJson(*variants[0].getAsObject()->get("overlaps"), "true");
  expectJson(*variants[0].getAsObject()->get("precedes"), "true");
  EXPECT_EQ(variants[1].getAsObject()->get("overlaps"), nullptr) << "what is in the code counts";
  EXPECT_EQ(variants[1].getAsObject()->get("precedes"), nullptr) << "here too";
}

TEST_F(ManifestTest, WhatACostUsesTwiceHasAName) {
  std::optional<json::Object> manifest = build(R"(
  tile.kernel @k(%n: i32 {tile.name = "n", tile.dtype = "i32"}) {
    %c1 = arith.constant 1 : i32
    tgpu.cost @k_0 terms ["launch"] {
      %x = arith.sitofp %n : i32 to f64
      %y = arith.addf %x, %x : f64
      %z = arith.mulf %y, %y : f64
      %unused = arith.mulf %z, %z : f64
      tgpu.yield %z, %unused : f64, f64
    }
    tgpu.launch "k.0" grid(%c1 : i32) args(%n : i32)
    tile.return
  }
  tgpu.kernel @k_0(%n: i32) attributes {threads = 32 : i32, launch = "k.0"} { tgpu.return })");
  ASSERT_TRUE(manifest.has_value());
  json::Object &launch = *host(kernel(*manifest)).back().getAsObject()->getObject("launch");
  json::Object &variant = *(*launch.getArray("variants"))[0].getAsObject();
  expectJson(*variant.get("lets"), R"([
    {"name": "c0", "type": "f64", "expr": {"op": "cast", "args": [{"arg": "n"}], "type": "f64"}},
    {"name": "c1", "type": "f64", "expr": {"op": "add", "args": [{"let": "c0"}, {"let": "c0"}], "type": "f64"}}])");
  expectJson(*variant.get("cost"),
             R"({"op": "mul", "args": [{"let": "c1"}, {"let": "c1"}], "type": "f64"})");
}

TEST_F(ManifestTest, ConditionsAndLaziness) {
  std::optional<json::Object> manifest = build(R"(
  tile.kernel @k(%x: !tile.global<?xf32> {tile.name = "X", tile.dtype = "f32", tile.direction = "out"},
                 %n: i32 {tile.name = "n", tile.dtype = "u32"}) {
    %c0 = arith.constant 0 : i32
    %c4 = arith.constant 4 : i32
    %some = arith.cmpi ugt, %n, %c0 : i32
    %g = scf.if %some -> (i32) {
      %q = arith.divui %c4, %n : i32
      scf.yield %q : i32
    } else {
      scf.yield %c0 : i32
    } {tile.unsigned = array<i32: 0>}
    scf.if %some {
      tgpu.launch "k.0" grid(%g : i32) args(%x : !tile.global<?xf32>)
    }
    tile.return
  }
  tgpu.kernel @k_0(%x: !tile.global<?xf32>) attributes {threads = 32 : i32, launch = "k.0"} { tgpu.return })");
  ASSERT_TRUE(manifest.has_value());
  json::Object &k = kernel(*manifest);
  expectJson((*k.getArray("arguments"))[0].getAsObject()->getArray("extents")->front(),
             R"({"extent": ["X", 0]})");
  expectJson(
      host(k)[0],
      R"({"let": {"name": "v0", "type": "bool", "expr": {"op": "gt", "args": [{"arg": "n"}, 0]}}})");
  json::Object &branch = *host(k)[1].getAsObject()->getObject("if");
  expectJson(*branch.get("cond"), R"({"let": "v0"})");
  json::Object &launch = *(*branch.getArray("then"))[0].getAsObject()->getObject("launch");
  expectJson(*launch.get("grid"), R"([{"op": "select", "type": "u32", "args": [{"let": "v0"},
      {"op": "div", "args": [4, {"arg": "n"}], "type": "u32"}, 0]}])");
}

/// The flags of an operation say whether it is exact, and with which sign; without any it wraps.
TEST_F(ManifestTest, SignsFollowFromOperations) {
  auto grid = [&](llvm::StringRef body) {
    std::optional<json::Object> manifest = build((R"(
    tile.kernel @k(%u: i32 {tile.name = "u", tile.dtype = "u32"}, %i: i32 {tile.name = "i", tile.dtype = "i32"}) {
      %c5 = arith.constant 5 : i32
      %big = arith.constant -2 : i32
      )" + body + R"(
      tgpu.launch "k.0" grid(%r : i32) args()
      tile.return
    }
    tgpu.kernel @k_0() attributes {threads = 32 : i32, launch = "k.0"} { tgpu.return })")
                                                     .str());
    EXPECT_TRUE(manifest.has_value());
    json::Object &launch = *host(kernel(*manifest))[0].getAsObject()->getObject("launch");
    return std::move((*launch.getArray("grid"))[0]);
  };
  expectJson(grid("%r = arith.addi %u, %big overflow<nuw> : i32"),
             R"({"op": "add", "args": [{"arg": "u"}, 4294967294], "type": "u32"})");
  expectJson(grid("%r = arith.addi %i, %big overflow<nsw> : i32"),
             R"({"op": "add", "args": [{"arg": "i"}, -2], "type": "i32"})");
  // An i32 as u32, and the other way round: a cast where it is read.
  expectJson(
      grid("%r = arith.subi %i, %c5 overflow<nuw> : i32"),
      R"({"op": "sub", "args": [{"op": "cast", "args": [{"arg": "i"}], "type": "u32"}, 5], "type": "u32"})");
  expectJson(
      grid("%r = arith.minsi %u, %c5 : i32"),
      R"({"op": "min", "args": [{"op": "cast", "args": [{"arg": "u"}], "type": "i32"}, 5], "type": "i32"})");
  expectJson(
      grid("%r = arith.muli %i, %i : i32"),
      R"({"op": "cast", "args": [{"op": "mul", "args": [{"arg": "i"}, {"arg": "i"}]}], "type": "i32"})");
  // Where only bits count, it is noted which results have no sign.
  expectJson(grid("%r = arith.andi %u, %big {tile.unsigned = array<i32: 0>} : i32"),
             R"({"op": "bitand", "args": [{"arg": "u"}, 4294967294], "type": "u32"})");
  expectJson(
      grid("%r = arith.andi %u, %big : i32"),
      R"({"op": "bitand", "args": [{"op": "cast", "args": [{"arg": "u"}], "type": "i32"}, -2], "type": "i32"})");
  for (const auto &[op, name] : {std::pair("arith.ori", "bitor"), {"arith.xori", "bitxor"}}) {
    expectJson(
        grid(std::string("%r = ") + op + " %i, %u {tile.unsigned = array<i32: 0>} : i32"),
        std::string(R"({"op": ")") + name +
            R"(", "args": [{"op": "cast", "args": [{"arg": "i"}], "type": "u32"}, {"arg": "u"}], "type": "u32"})");
  }
  expectJson(grid("%r = tile.div %i, %u {rounding = #tile.rounding<down>} : i32"),
             R"({"op": "floordiv", "type": "i32",
                 "args": [{"arg": "i"}, {"op": "cast", "args": [{"arg": "u"}], "type": "i32"}]})");
  expectJson(grid("%r = tile.rem %u, %big {is_unsigned} : i32"),
             R"({"op": "rem", "args": [{"arg": "u"}, 4294967294], "type": "u32"})");
  expectJson(grid("%r = tile.shl %u, %c5 {is_unsigned} : i32"),
             R"({"op": "shl", "args": [{"arg": "u"}, 5], "type": "u32"})");
  expectJson(grid("%t = arith.cmpi eq, %u, %i : i32 %r = arith.select %t, %u, %c5 "
                  "{tile.unsigned = array<i32: 0>} : i32"),
             R"({"op": "select", "type": "u32", "args": [
                 {"op": "eq", "args": [{"arg": "u"}, {"op": "cast", "args": [{"arg": "i"}], "type": "u32"}]},
                 {"arg": "u"}, 5]})");
  expectJson(grid("%l, %r = arith.mului_extended %u, %u : i32"),
             R"({"op": "mulhi", "args": [{"arg": "u"}, {"arg": "u"}], "type": "u32"})");
}

TEST_F(ManifestTest, MergedKernelsHaveSeveralConfigurations) {
  auto device = [](llvm::StringRef name) {
    return ("tgpu.kernel @" + name +
            "(%a: !tile.global<?x?xf16>, %w: !tile.global<?x4xf32>, %m: i32, %k: i32, %s: f32) "
            "attributes {threads = 32 : i32, launch = \"k.0\"} { tgpu.return }")
        .str();
  };
  // Grids, checks and defaults may differ.
  std::string other = matrix.str();
  other.replace(other.find("constant 128"), 12, "constant 256");
  std::optional<json::Object> first = build(matrix.str() + device("one"), 0);
  std::optional<json::Object> second = build(other + device("two"), 1);
  std::optional<json::Object> third = build(matrix.str() + device("three"), 2);
  ASSERT_TRUE(first && second && third);
  for (auto [manifest, step] : {std::pair(&*first, 64), {&*second, 32}, {&*third, 64}}) {
    (*kernel(*manifest).getObject("params"))["STEP"] = step;
  }
  ASSERT_TRUE(mergeManifest(*first, *second, diags));
  ASSERT_TRUE(mergeManifest(*first, *third, diags));
  addResources(*first, 1, *findTarget("sm_80"), {{"two", {40, 4, 4, 0, 16, 1}}});
  json::Object &k = kernel(*first);
  expectJson(*k.get("params"), R"({"BM": 128, "T": "f16"})");
  expectJson(*k.get("checks"), R"([])"); // `K < 128` in one, `K < 256` in the other
  json::Array &configurations = *k.getArray("configurations");
  ASSERT_EQ(configurations.size(), 3u);
  for (auto [i, step, entry] : {std::tuple(0, 64, "one"), {1, 32, "two"}, {2, 64, "three"}}) {
    json::Object &configuration = *configurations[i].getAsObject();
    EXPECT_EQ(configuration.getObject("params")->getInteger("STEP"), step);
    json::Array &checks = *configuration.getArray("checks");
    ASSERT_EQ(checks.size(), 1u);
    json::Object &launch =
        *configuration.getArray("host")->back().getAsObject()->getObject("launch");
    json::Object &variant = *(*launch.getArray("variants"))[0].getAsObject();
    EXPECT_EQ(variant.getString("entry"), entry);
    if (i != 1) {
      EXPECT_EQ(variant.get("resources"), nullptr);
      continue;
    }
    expectJson(*variant.get("resources"),
               R"({"registers": 40, "spill_bytes": 8, "static_shared_bytes": 16})");
  }
}

TEST_F(ManifestTest, MergingRefusesOtherArguments) {
  std::string device = "tgpu.kernel @one(%a: !tile.global<?x?xf16>, %w: !tile.global<?x4xf32>, "
                       "%m: i32, %k: i32, %s: f32) attributes {threads = 32 : i32, launch = "
                       "\"k.0\"} { tgpu.return }";
  std::optional<json::Object> first = build(matrix.str() + device, 0);
  std::optional<json::Object> second = build(matrix.str() + device, 1);
  ASSERT_TRUE(first && second);
  (*(*kernel(*second).getArray("arguments"))[0].getAsObject())["dtype"] = "bf16";
  EXPECT_FALSE(mergeManifest(*first, *second, diags));
  EXPECT_TRUE(diags.hasErrors());
}

TEST_F(ManifestTest, WhatTheHostCannotSayIsAnError) {
  EXPECT_FALSE(build(R"(
  tile.kernel @k(%x: !tile.global<?xf32> {tile.name = "X", tile.dtype = "f32", tile.direction = "out"}) {
    %c0 = arith.constant 0 : i32
    %v = tile.load %x[%c0 : i32] : !tile.global<?xf32> -> f32
    tgpu.launch "k.0" grid(%c0 : i32) args(%v : f32)
    tile.return
  }
  tgpu.kernel @k_0(%v: f32) attributes {threads = 32 : i32, launch = "k.0"} { tgpu.return })"));
  ASSERT_EQ(diags.sorted().size(), 1u);
  EXPECT_EQ(diags.sorted()[0]->id, diag::Id::NotSupported);
}

} // namespace
