// The file of measurements: its form, its order, how others are added.
#include "compiler/driver/TuneFile.h"

#include <gtest/gtest.h>

namespace tilec {
namespace {

TuneGroup group() {
  return {"gemm",
          {{"T", "f16"}, {"FAST", "true"}},
          "sm_90a",
          "NVIDIA \"H\"",
          "13.0",
          "0.1.0",
          "abc",
          {{{{"M", 64}}, {{"BM", "128"}}, {"aligned"}, 12.3456, 12, 13},
           {{{"M", 64}}, {{"BM", "64"}}, {"aligned"}, 10, 9.5, 10.5},
           {{{"M", 8}}, {{"BM", "64"}}, {"any", "any"}, 2, 2, 2}}};
}

TEST(TuneFile, ReadsWhatItPrints) {
  const std::string text = printTuneFile({{group()}});
  llvm::Expected<TuneFile> file = parseTuneFile(text);
  ASSERT_TRUE(bool(file)) << llvm::toString(file.takeError());
  EXPECT_EQ(printTuneFile(*file), text);
  const TuneGroup &read = file->groups.front();
  EXPECT_EQ(read.params, group().params);
  EXPECT_EQ(read.device, "NVIDIA \"H\"");
  ASSERT_EQ(read.rows.size(), 3u);
  EXPECT_EQ(read.rows[0].shape, (Shape{{"M", 8}})); // by shape, then by time
  EXPECT_EQ(read.rows[0].variants, (std::vector<std::string>{"any", "any"}));
  EXPECT_EQ(read.rows[1].params, (ParameterTexts{{"BM", "64"}}));
  EXPECT_EQ(read.rows[2].median, 12.346);
  EXPECT_EQ(read.rows[2].upper, 13);
}

TEST(TuneFile, TheOrderOfRowsAndGroupsIsThatOfTheirContent) {
  TuneGroup one = group(), other = group();
  other.arch = "sm_80";
  TuneGroup turned = one;
  std::swap(turned.rows[0], turned.rows[2]);
  EXPECT_EQ(printTuneFile({{one, other}}), printTuneFile({{other, turned}}));
}

TEST(TuneFile, SaysWhatIsWrongAndWhere) {
  auto error = [](std::string from, const std::string &to) {
    std::string text = printTuneFile({{group()}});
    const size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
    llvm::Expected<TuneFile> file = parseTuneFile(text);
    return file ? std::string("none") : llvm::toString(file.takeError());
  };
  auto contains = [](const std::string &text, const char *part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  contains(error("{", ""), "Text after end of document");
  contains(error("\"format\": 1", "\"format\": 2"), "this tilec reads format 1");
  contains(error("\"measurements\"", "\"other\""), "measurements");
  contains(error("\"arch\": \"sm_90a\",", ""), "arch");
  contains(error("\"rows\"", "\"lines\""), "measurements[0].rows");
  contains(error("\"median_us\": 2,", ""), "rows[0].median_us");
  contains(error("\"median_us\": 2,", "\"median_us\": 0,"), "expected a time");
  contains(error("[2,2]", "[2]"), "expected two times");
  contains(error("{\"BM\":64}", "[]"), "rows[0].params");
  contains(error("{\"BM\":64}", "{\"BM\":[]}"), "rows[0].params.BM");
  contains(error("{\"M\":8}", "{\"M\":\"x\"}"), "rows[0].shape.M");
}

TEST(MergeTuneGroup, NewRowsTakeThePlaceOfOldOnes) {
  TuneFile file{{group()}};
  TuneGroup again = group();
  again.driver = "13.1";
  again.rows.resize(1);
  again.rows[0].median = 5;
  mergeTuneGroup(file, again);
  ASSERT_EQ(file.groups.size(), 2u); // of two drivers
  EXPECT_EQ(file.groups[0].rows.size(), 2u);
  EXPECT_EQ(file.groups[1].rows.size(), 1u);
  TuneGroup same = group();
  same.rows.resize(2);
  mergeTuneGroup(file, same);
  ASSERT_EQ(file.groups.size(), 1u); // nothing is left of the other driver
  EXPECT_EQ(file.groups[0].rows.size(), 3u);
}

TEST(MergeTuneGroup, OtherDevicesStayAndStaleGroupsGo) {
  TuneGroup other = group(), stale = group();
  other.device = "another";
  stale.kernel = "attention";
  stale.sourceHash = "old";
  TuneFile file{{other, stale}};
  mergeTuneGroup(file, group());
  ASSERT_EQ(file.groups.size(), 2u);
  EXPECT_EQ(file.groups[0].device, "another");
  EXPECT_EQ(file.groups[1].sourceHash, "abc");
}

} // namespace
} // namespace tilec
