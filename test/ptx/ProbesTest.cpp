// Runs every program of test/ptx on the emulator: no report, and the answer of the hardware; of those that the hardware
// refuses, each launch is reported.
#include "tools/ptx-run/Comparison.h"
#include "tools/ptx-run/Run.h"

#include <algorithm>
#include <filesystem>
#include <gtest/gtest.h>

using namespace tile_ptx;

namespace {

/// A folder of test/ptx.
std::filesystem::path at(const char *folder) {
  return std::filesystem::path(PTX_TEST_DIR) / folder;
}

std::vector<std::string> programs(const char *folder) {
  std::vector<std::string> names;
  for (const auto &entry : std::filesystem::directory_iterator(at(folder))) {
    if (entry.path().extension() == ".ptx") {
      names.push_back(entry.path().stem().string());
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

/// Runs one program in a schedule and compares; `seed` 0 is round-robin.
void check(const char *folder, const std::string &name, uint64_t seed) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  const std::string path = (at(folder) / (name + ".ptx")).string();
  const std::string ptx = readFile(path);
  const Description description = describe(path, ptx);
  tile_emu::Options options;
  options.randomSchedule = seed != 0;
  options.seed = seed;
  options.stepBudget = 10'000'000;
  options.strictProxyReads = options.strictWaits = !description.lenient;
  const Outcome outcome = run(ptx, description, options);
  EXPECT_TRUE(outcome.ended);
  EXPECT_TRUE(outcome.reports.empty()) << outcome.text;
  const std::string want = readFile((at("answers") / (name + ".bin")).string());
  EXPECT_EQ(compare(outcome.answer, {reinterpret_cast<const uint8_t *>(want.data()), want.size()},
                    description.compare),
            "");
}

class Probe : public testing::TestWithParam<std::string> {};
TEST_P(Probe, AnswersLikeTheHardware) {
  check("probes", GetParam(), 0);
  check("probes", GetParam(), 1);
}
INSTANTIATE_TEST_SUITE_P(Ptx, Probe, testing::ValuesIn(programs("probes")),
                         [](const auto &info) { return info.param; });

class Golden : public testing::TestWithParam<std::string> {};
TEST_P(Golden, AnswersLikeTheHardware) {
  for (uint64_t seed = 0; seed < 5; ++seed) {
    check("golden", GetParam(), seed);
  }
}
INSTANTIATE_TEST_SUITE_P(Ptx, Golden, testing::ValuesIn(programs("golden")),
                         [](const auto &info) { return info.param; });

/// The launches of a file, each alone.
std::vector<Description> launchesOf(const std::string &name, std::string &ptx) {
  const std::string path = (at("faults") / (name + ".ptx")).string();
  ptx = readFile(path);
  const Description all = describe(path, ptx);
  std::vector<Description> each;
  for (const Launch &launch : all.launches) {
    each.push_back(all);
    each.back().launches = {launch};
  }
  return each;
}

class Refused : public testing::TestWithParam<std::string> {};
TEST_P(Refused, IsReported) {
  std::string ptx;
  for (const Description &description : launchesOf(GetParam(), ptx)) {
    SCOPED_TRACE(description.launches[0].entry);
    ASSERT_EQ(description.error, "CUDA_ERROR_ILLEGAL_INSTRUCTION");
    const Outcome outcome = run(ptx, description);
    EXPECT_FALSE(outcome.ended);
    ASSERT_EQ(outcome.reports.size(), 1u) << outcome.text;
    EXPECT_EQ(outcome.reports[0].kind, tile_emu::Report::Kind::Invalid);
    EXPECT_NE(outcome.reports[0].message.find("illegal instruction"), std::string::npos);
  }
}
INSTANTIATE_TEST_SUITE_P(Ptx, Refused, testing::ValuesIn(programs("faults")),
                         [](const auto &info) { return info.param; });

// A folder that lost its files would make the tests above pass on nothing.
TEST(Probes, AreThere) {
  EXPECT_GE(programs("probes").size(), 60u);
  EXPECT_GE(programs("golden").size(), 5u);
  EXPECT_GE(programs("faults").size(), 2u);
}

} // namespace
