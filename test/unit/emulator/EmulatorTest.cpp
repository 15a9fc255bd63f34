// The emulator's interface: memory, modules, launches one after the other.
#include "runtime/emulator/Emulator.h"

#include "runtime/emulator/ptx/Parser.h"

#include <cstring>
#include <gtest/gtest.h>
#include <stdexcept>

namespace tile_emu {
namespace {

/// Adds `step` to a word, `count` to a variable of the module.
const char *const kAdd = R"(.version 9.0
.target sm_90a
.address_size 64
.global .align 4 .u32 count = 10;
.visible .entry add(.param .u64 word, .param .u32 step)
{
  .reg .b32 %r<4>;
  .reg .b64 %rd<2>;
  ld.param.u64 %rd0, [word];
  ld.param.u32 %r0, [step];
  ld.global.u32 %r1, [%rd0];
  add.u32 %r1, %r1, %r0;
  ld.global.u32 %r2, [count];
  add.u32 %r1, %r1, %r2;
  st.global.u32 [%rd0], %r1;
  add.u32 %r2, %r2, 1;
  st.global.u32 [count], %r2;
  ret;
}
)";

template <typename T>
std::vector<uint8_t> bytesOf(T value) {
  std::vector<uint8_t> bytes(sizeof(T));
  std::memcpy(bytes.data(), &value, sizeof(T));
  return bytes;
}

Emulator::Launch launchAdd(uint64_t word, uint32_t step) {
  return {.entry = "add",
          .grid = {1, 1, 1},
          .block = {1, 1, 1},
          .cluster = {1, 1, 1},
          .dynamicSharedBytes = 0,
          .params = {bytesOf(word), bytesOf(step)}};
}

TEST(Emulator, LaunchesFollowEachOther) {
  Emulator emulator;
  auto module = emulator.load(kAdd);
  uint64_t word = emulator.allocate(4, "word");
  uint32_t value = 1;
  emulator.write(word, &value, 4);
  EXPECT_TRUE(emulator.launch(*module, launchAdd(word, 5)));
  EXPECT_TRUE(emulator.launch(*module, launchAdd(word, 7)));
  emulator.read(word, &value, 4);
  EXPECT_EQ(value, 1U + 5 + 10 + 7 + 11); // the module keeps its variables
  EXPECT_EQ(emulator.describe(), "");
}

TEST(Emulator, FreedMemoryIsNotThereAnyMore) {
  Emulator emulator;
  auto module = emulator.load(kAdd);
  uint64_t word = emulator.allocate(4, "word");
  emulator.free(word);
  uint64_t other = emulator.allocate(4, "other");
  EXPECT_NE(word, other);
  EXPECT_FALSE(emulator.launch(*module, launchAdd(word, 5)));
  ASSERT_EQ(emulator.reports().size(), 1U);
  EXPECT_EQ(emulator.reports()[0].kind, Report::Kind::OutOfBounds);
  EXPECT_THROW(emulator.free(word), std::out_of_range);
}

TEST(Emulator, HostCopiesStayInsideOfAllocations) {
  Emulator emulator;
  uint64_t memory = emulator.allocate(8, "memory");
  uint8_t bytes[16] = {};
  emulator.write(memory, bytes, 8);
  emulator.read(memory + 8, bytes, 0);
  EXPECT_THROW(emulator.write(memory, bytes, 9), std::out_of_range);
  EXPECT_THROW(emulator.read(memory + 4, bytes, 8), std::out_of_range);
  EXPECT_THROW(emulator.read(memory - 1, bytes, 1), std::out_of_range);
  EXPECT_THROW(emulator.undefine(memory, 16, 0), std::out_of_range);
}

TEST(Emulator, UndefinedMemoryIsFilledAndReported) {
  Emulator emulator;
  auto module = emulator.load(R"(.version 9.0
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 word)
{
  .reg .b32 %r<2>;
  .reg .b64 %rd<2>;
  .reg .pred %p<2>;
  ld.param.u64 %rd0, [word];
  ld.global.u32 %r0, [%rd0];
  setp.eq.u32 %p0, %r0, 0;
  @%p0 trap;
}
)");
  uint64_t word = emulator.allocate(4, "word");
  uint32_t value = 0;
  emulator.write(word, &value, 4);
  emulator.undefine(word, 4, 0xcd);
  emulator.read(word, &value, 4);
  EXPECT_EQ(value, 0xcdcdcdcdU);
  Emulator::Launch launch = launchAdd(word, 0);
  launch.entry = "k";
  launch.params.pop_back();
  EXPECT_TRUE(emulator.launch(*module, launch));
  ASSERT_EQ(emulator.reports().size(), 1U);
  EXPECT_EQ(emulator.reports()[0].kind, Report::Kind::Uninitialised);
}

TEST(Emulator, WhatCannotBeLaunched) {
  EXPECT_THROW(Emulator().load("nonsense"), ptx::SyntaxError);
  Emulator emulator;
  auto module = emulator.load(kAdd);
  uint64_t word = emulator.allocate(4, "word");
  auto refused = [&](const Emulator::Launch &launch, const std::string &words) {
    size_t before = emulator.reports().size();
    EXPECT_FALSE(emulator.launch(*module, launch));
    ASSERT_EQ(emulator.reports().size(), before + 1) << words;
    EXPECT_EQ(emulator.reports().back().kind, Report::Kind::Invalid);
    EXPECT_NE(emulator.reports().back().message.find(words), std::string::npos)
        << emulator.reports().back().message;
  };
  Emulator::Launch launch = launchAdd(word, 1);
  launch.entry = "subtract";
  refused(launch, "no kernel `subtract`");
  launch = launchAdd(word, 1);
  launch.params.pop_back();
  refused(launch, "2 parameters, not 1");
  launch = launchAdd(word, 1);
  launch.params[1].push_back(0);
  refused(launch, "4 bytes, not 5");
  launch = launchAdd(word, 1);
  launch.block = {1025, 1, 1};
  refused(launch, "1025x1x1 threads");
  launch.block = {64, 32, 1};
  refused(launch, "larger than 1024");
  launch = launchAdd(word, 1);
  launch.grid = {0, 1, 1};
  refused(launch, "0x1x1 blocks");
  launch.grid = launch.cluster = {17, 1, 1};
  refused(launch, "larger than 16 blocks");
}

} // namespace
} // namespace tile_emu
