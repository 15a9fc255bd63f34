// Packs and calls for the tests of the runtime.
#pragma once

#include "runtime/include/tile/pack_format.h"
#include "runtime/src/Plan.h"

#include <cstring>
#include <deque>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace tile_rt::test {

using Json = nlohmann::json;

/// gemm[M, K] x [K, N] with a TMA variant and a fallback, as the compiler would write it.
inline Json gemmManifest() {
  return Json::parse(R"json({
    "format": 2, "tilec": "0.1.0", "source_hash": "0",
    "modules": [ { "arch": "sm_90a", "kind": "fatbin", "offset": 0, "bytes": 6 },
                 { "arch": "sm_80", "kind": "fatbin", "offset": 16, "bytes": 6 } ],
    "kernels": [ {
      "symbol": "gemm", "source_kernel": "gemm", "params": { "T": "f16", "BM": 128 },
      "arguments": [
        { "name": "A", "kind": "tensor", "dtype": "f16", "direction": "in", "extents": [ {"dim": "M"}, {"dim": "K"} ] },
        { "name": "B", "kind": "tensor", "dtype": "f16", "direction": "in", "extents": [ {"dim": "K"}, {"dim": "N"} ] },
        { "name": "C", "kind": "tensor", "dtype": "f16", "direction": "out", "extents": [ {"dim": "M"}, {"dim": "N"} ] } ],
      "dims": [ { "name": "M", "type": "i32", "source": { "arg": "A", "axis": 0, "offset": 0 } },
                { "name": "K", "type": "i32", "source": { "arg": "A", "axis": 1, "offset": 0 } },
                { "name": "N", "type": "i32", "source": { "arg": "B", "axis": 1, "offset": 0 } } ],
      "checks": [],
      "configurations": [ { "host": [
        { "launch": { "name": "gemm.0",
          "grid": [ { "op": "ceildiv", "args": [ {"dim": "N"}, 256 ], "type": "i32" },
                    { "op": "ceildiv", "args": [ {"dim": "M"}, 128 ], "type": "i32" } ],
          "variants": [
            { "name": "tma", "module": 0, "entry": "gemm_tma_2",
              "guard": { "op": "and", "args": [
                { "op": "eq", "args": [ { "op": "rem", "args": [ {"dim": "K"}, 8 ] }, 0 ] },
                { "op": "eq", "args": [ { "op": "rem", "args": [ {"dim": "N"}, 8 ] }, 0 ] } ] },
              "block": [384, 1, 1], "blocks": { "kind": "persistent", "blocks_per_sm": 1 }, "shared_bytes": 196608,
              "params": [ { "tensor_map": 0 }, { "expr": {"dim": "K"}, "type": "i32" } ],
              "tensor_maps": [ { "tensor": "A", "dtype": "f16", "dims": [ {"dim": "K"}, {"dim": "M"} ],
                "strides": [ { "op": "mul", "args": [ {"stride": ["A", 0]}, 2 ] } ], "box": [64, 128], "swizzle": 128,
                "l2_promotion": 256 } ] },
            { "name": "plain", "module": 0, "entry": "gemm_plain_2", "block": [256, 1, 1], "shared_bytes": 65536,
              "params": [ { "tensor": "C" }, { "expr": {"dim": "M"}, "type": "i32" } ] },
            { "name": "ampere", "module": 1, "entry": "gemm_ampere_1", "block": [256, 1, 1], "shared_bytes": 1024,
              "params": [ { "tensor": "C" } ] } ] } } ] } ] } ]
  })json");
}

/// The body that goes with gemmManifest: two images.
inline std::string gemmBody() { return std::string("imageA\0\0\0\0\0\0\0\0\0\0imageB", 22); }

inline std::string makePack(const std::string &manifest, const std::string &body) {
  tile_pack_header header{};
  std::memcpy(header.magic, TILE_PACK_MAGIC, TILE_PACK_MAGIC_BYTES);
  header.version = TILE_PACK_VERSION;
  header.manifest_bytes = manifest.size();
  header.body_bytes = body.size();
  std::string bytes(reinterpret_cast<const char *>(&header), sizeof(header));
  bytes += manifest;
  bytes.resize((bytes.size() + TILE_PACK_ALIGN - 1) / TILE_PACK_ALIGN * TILE_PACK_ALIGN);
  return bytes + body;
}

inline DeviceInfo hopper() { return {9, 0, 132, 232448, true, "test"}; }
inline DeviceInfo ampere() { return {8, 0, 108, 166912, false, "test"}; }

/// The arguments of a call; owns what they point to.
class Call {
public:
  Call &tensor(uint64_t address, tile_dtype dtype, std::vector<int64_t> extents,
               std::vector<int64_t> strides = {}) {
    lists.push_back(std::move(extents));
    std::vector<int64_t> &e = lists.back();
    lists.push_back(std::move(strides));
    std::vector<int64_t> &s = lists.back();
    args.push_back({reinterpret_cast<void *>(address), e.data(), s.empty() ? nullptr : s.data(),
                    static_cast<int32_t>(e.size()), dtype});
    return *this;
  }
  template <class T>
  Call &scalar(tile_dtype dtype, T value) {
    uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof(T));
    values.push_back(bits);
    args.push_back({&values.back(), nullptr, nullptr, TILE_SCALAR_RANK, dtype});
    return *this;
  }
  Call &absent() {
    args.push_back({nullptr, nullptr, nullptr, 0, 0});
    return *this;
  }
  std::vector<tile_arg> args;

private:
  std::deque<std::vector<int64_t>> lists;
  std::deque<uint64_t> values;
};

/// Addresses far apart: A, B, C.
constexpr uint64_t kA = 0x100000000, kB = 0x200000000, kC = 0x300000000;

inline Call gemmCall(int64_t m, int64_t n, int64_t k) {
  Call call;
  call.tensor(kA, TILE_F16, {m, k}).tensor(kB, TILE_F16, {k, n}).tensor(kC, TILE_F16, {m, n});
  return call;
}

/// The text of the Error that `function` throws; "" and a failure if it throws none.
template <class Function>
std::string errorOf(Function &&function) {
  try {
    function();
  } catch (const Error &error) {
    return error.what();
  }
  ADD_FAILURE() << "no error";
  return "";
}

inline Manifest parseJson(const Json &json, uint64_t bodyBytes = 22) {
  return parseManifest(json.dump(), bodyBytes);
}

/// Expects that the text begins with the rule in brackets and contains all the words.
inline void expectError(const std::string &text, const std::string &rule,
                        std::initializer_list<const char *> words) {
  EXPECT_EQ(text.rfind("[" + rule + "] ", 0), 0u) << text;
  for (const char *word : words) {
    EXPECT_NE(text.find(word), std::string::npos) << "no `" << word << "` in: " << text;
  }
}

} // namespace tile_rt::test
