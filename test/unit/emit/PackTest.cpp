// The bytes of a pack, against docs/pack.md.
#include "compiler/emit/Pack.h"

#include <cstring>
#include <gtest/gtest.h>

using namespace tilec;

namespace {

uint64_t number(const std::string &bytes, size_t at, size_t size) {
  uint64_t value = 0;
  std::memcpy(&value, bytes.data() + at, size);
  return value;
}

TEST(Pack, HeaderManifestBody) {
  llvm::json::Object manifest{{"format", 1}};
  std::string pack = writePack(manifest, {{"sm_90a", "cubin", "CUBIN", "the PTX of the cubin"},
                                          {"sm_80", "fatbin", "FATBINARY", ""}});
  EXPECT_EQ(pack.substr(0, 8), "TILEPACK");
  EXPECT_EQ(number(pack, 8, 4), 1u);
  EXPECT_EQ(number(pack, 12, 4), 0u);
  uint64_t manifestBytes = number(pack, 16, 8), bodyBytes = number(pack, 24, 8);
  uint64_t body = (32 + manifestBytes + 15) / 16 * 16;
  ASSERT_EQ(pack.size(), body + bodyBytes);
  for (uint64_t i = 32 + manifestBytes; i != body; ++i) {
    EXPECT_EQ(pack[i], '\0');
  }
  llvm::Expected<llvm::json::Value> parsed = llvm::json::parse(pack.substr(32, manifestBytes));
  ASSERT_TRUE(bool(parsed)) << llvm::toString(parsed.takeError());
  const llvm::json::Array &modules = *parsed->getAsObject()->getArray("modules");
  ASSERT_EQ(modules.size(), 2u);
  const char *expected[] = {"CUBIN", "FATBINARY"};
  for (size_t i = 0; i != 2; ++i) {
    int64_t offset = *modules[i].getAsObject()->getInteger("offset");
    int64_t bytes = *modules[i].getAsObject()->getInteger("bytes");
    EXPECT_EQ(offset % 16, 0);
    EXPECT_EQ(pack.substr(body + offset, bytes), expected[i]);
  }
  const llvm::json::Object *ptx = modules[0].getAsObject()->getObject("ptx");
  ASSERT_TRUE(ptx);
  EXPECT_EQ(*ptx->getInteger("offset") % 16, 0);
  EXPECT_EQ(pack.substr(body + *ptx->getInteger("offset"), *ptx->getInteger("bytes")),
            "the PTX of the cubin");
  EXPECT_FALSE(modules[1].getAsObject()->get("ptx"));
}

TEST(Pack, WithoutCode) {
  llvm::json::Object manifest;
  std::string pack = writePack(manifest, {});
  EXPECT_EQ(number(pack, 24, 8), 0u);
  EXPECT_EQ(pack.size() % 16, 0u);
}

} // namespace
