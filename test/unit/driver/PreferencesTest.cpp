// Which candidates measured times keep, and for which calls.
#include "compiler/driver/Preferences.h"

#include <gtest/gtest.h>

namespace tilec {
namespace {

using Times = std::vector<std::pair<std::string, double>>; ///< by value of BM

TuneGroup group(const std::string &device, const std::vector<std::pair<Shape, Times>> &rows,
                const std::string &variant = "aligned") {
  TuneGroup result{"k", {{"T", "f16"}}, "sm_90a", device, "13.0", "0.1.0", "hash", {}};
  for (const auto &[shape, times] : rows) {
    for (const auto &[tile, time] : times) {
      result.rows.push_back({shape, {{"BM", tile}}, {variant}, time, time, time});
    }
  }
  return result;
}

std::vector<MeasuredShape> shapesOf(const std::vector<TuneGroup> &groups) {
  const std::vector<ParameterTexts> candidates = {
      {{"BM", "64"}, {"T", "f16"}}, {{"BM", "128"}, {"T", "f16"}}, {{"BM", "256"}, {"T", "f16"}}};
  std::vector<const TuneGroup *> pointers;
  pointers.reserve(groups.size());
  for (const TuneGroup &one : groups) {
    pointers.push_back(&one);
  }
  return measuredShapes(pointers, candidates, {"M", "N"});
}

TEST(MeasuredShapes, EachDeviceByItsOwnBest) {
  std::vector<MeasuredShape> shapes =
      shapesOf({group("slow", {{{{"M", 64}}, {{"64", 20}, {"128", 10}}}}),
                group("fast", {{{{"M", 64}}, {{"64", 1}, {"128", 1.1}}}})});
  ASSERT_EQ(shapes.size(), 1u);
  EXPECT_NEAR(shapes[0].excess[0], std::log(2) / 2, 1e-9);
  EXPECT_NEAR(shapes[0].excess[1], std::log(1.1) / 2, 1e-9);
  EXPECT_FALSE(shapes[0].rows == RowKind::Any);
}

TEST(MeasuredShapes, RowsOfOthersAreLeftOut) {
  EXPECT_TRUE(shapesOf({group("d", {{{{"M", 64}}, {{"32", 1}}}})}).empty());
  EXPECT_TRUE(shapesOf({group("d", {{{{"K", 64}}, {{"64", 1}}}})}).empty());
  EXPECT_TRUE(shapesOf({group("d", {{{}, {{"64", 1}}}})}).empty());
  TuneGroup other = group("d", {{{{"M", 64}}, {{"64", 1}}}});
  other.params["T"] = "bf16";
  EXPECT_TRUE(shapesOf({other}).empty());
}

TEST(MeasuredShapes, CodeForAnyRowsIsAMatterOfItsOwn) {
  std::vector<MeasuredShape> shapes = shapesOf({group("d", {{{{"M", 63}}, {{"64", 1}}}}, "any")});
  ASSERT_EQ(shapes.size(), 1u);
  EXPECT_TRUE(shapes[0].rows == RowKind::Any);
}

// Not each candidate has code for all rows: the one that relies on most says what the calls of a shape had.
TEST(MeasuredShapes, RowsAreThoseOfTheCall) {
  TuneGroup measured = group("d", {{{{"M", 62}}, {{"64", 1}, {"128", 2}, {"256", 3}}}}, "any");
  measured.rows[1].variants = {"words"};
  measured.rows[2].variants = {"default"};
  std::vector<MeasuredShape> shapes = shapesOf({measured});
  ASSERT_EQ(shapes.size(), 1u);
  EXPECT_TRUE(shapes[0].rows == RowKind::Words);
  EXPECT_EQ(shapes[0].excess.size(), 3u);
  for (TuneRow &row : measured.rows) {
    row.variants = {"default"};
  }
  EXPECT_TRUE(shapesOf({measured})[0].rows == RowKind::Aligned);
}

TEST(Buckets, EndHalfWayBetweenPowersOfTwo) {
  using Bounds = std::pair<int64_t, int64_t>;
  EXPECT_EQ(bucketOf(64), Bounds(46, 90));
  EXPECT_EQ(bucketOf(46), Bounds(46, 90));
  EXPECT_EQ(bucketOf(90), Bounds(46, 90));
  EXPECT_EQ(bucketOf(91), Bounds(91, 181));
  EXPECT_EQ(bucketOf(1), Bounds(1, 1));
  EXPECT_EQ(bucketOf(0), Bounds(0, 0));
  for (int64_t n = 1; n < 100000; ++n) { // none is left out, and none is in two
    const Bounds own = bucketOf(n);
    ASSERT_TRUE(own.first <= n && n <= own.second) << n;
    ASSERT_EQ(bucketOf(own.second + 1).first, own.second + 1) << n;
  }
}

TEST(RelevantShapes, ExactOnesOrThoseOfTheBucket) {
  std::vector<MeasuredShape> shapes =
      shapesOf({group("d", {{{{"M", 64}, {"N", 8}}, {{"64", 1}}},
                            {{{"M", 70}, {"N", 8}}, {{"64", 1}}},
                            {{{"M", 500}, {"N", 8}}, {{"64", 1}}}})});
  EXPECT_EQ(relevantShapes(shapes, {}).size(), 3u);
  ASSERT_EQ(relevantShapes(shapes, {{"M", 64}}).size(), 1u);
  EXPECT_EQ(relevantShapes(shapes, {{"M", 64}}).front().shape["M"], 64);
  EXPECT_EQ(relevantShapes(shapes, {{"M", 65}}).size(), 2u);
  EXPECT_TRUE(relevantShapes(shapes, {{"M", 65}, {"N", 9999}}).empty());
  // Rows that are not aligned say nothing of those that are.
  shapes.front().rows = RowKind::Any;
  ASSERT_EQ(shapes.front().shape["M"], 64);
  ASSERT_EQ(relevantShapes(shapes, {{"M", 64}}).size(), 2u);
  EXPECT_FALSE(relevantShapes(shapes, {{"M", 64}}).front().rows == RowKind::Any);
  EXPECT_TRUE(relevantShapes(shapes, {{"M", 64}}).back().rows == RowKind::Any);
}

TEST(CorrectedPrices, MeasuredTimesOnTheScaleOfTheModel) {
  // The model has 64 and 128 the wrong way round. 256 was not measured: it is not better than what was.
  MeasuredShape shape = shapesOf({group("d", {{{{"M", 64}}, {{"64", 10}, {"128", 40}}}})}).front();
  std::vector<double> prices = correctedPrices(shape, {8, 2, 1});
  EXPECT_NEAR(prices[0], 2, 1e-9); // 4, the mean of both, stays the mean
  EXPECT_NEAR(prices[1], 8, 1e-9);
  EXPECT_NEAR(prices[2], 2.02, 1e-9);
  EXPECT_NEAR(correctedPrices(shape, {8, 2, 5})[2], 5, 1e-9);
}

TEST(CorrectedPrices, OnlyOfWhatIsNotRefused) {
  MeasuredShape shape = shapesOf({group("d", {{{{"M", 64}}, {{"64", 10}, {"128", 40}}}})}).front();
  std::vector<double> prices = correctedPrices(shape, {0, 2, 1});
  EXPECT_EQ(prices[0], 0);
  EXPECT_NEAR(prices[1], 2, 1e-9);
  EXPECT_NEAR(prices[2], 2.02, 1e-9);
  EXPECT_EQ(correctedPrices(shape, {0, 0, 1}), (std::vector<double>{0, 0, 1}));
}

TEST(PreferencesOf, ShapesFirstThenBuckets) {
  std::vector<MeasuredShape> shapes =
      shapesOf({group("d", {{{{"M", 60}}, {{"64", 10}, {"128", 11}}},
                            {{{"M", 64}}, {{"64", 20}, {"128", 10}}},
                            {{{"M", 500}}, {{"64", 10}}}})});
  // What the model takes: the worse one of two, the worse one, and one that was not measured.
  const std::vector<std::vector<double>> prices = {{1, 2, 3}, {1, 2, 3}, {2, 1, 3}};
  std::vector<PreferredCandidate> all = preferencesOf(shapes, {0, 1}, prices);
  ASSERT_EQ(all.size(), 5u);
  EXPECT_EQ(all[0].ranges, (Ranges{{"M", {60, 60}}}));
  EXPECT_EQ(all[0].candidate, 0u);
  EXPECT_EQ(all[1].candidate, 1u);
  EXPECT_EQ(all[3].ranges, (Ranges{{"M", {46, 90}}}));
  EXPECT_EQ(all[3].candidate, 1u); // the mean of both shapes
  EXPECT_EQ(all[4].ranges, (Ranges{{"M", {363, 724}}}));
  // Of those that are kept; none where none of them was measured.
  std::vector<PreferredCandidate> some = preferencesOf(shapes, {1, 2}, prices);
  ASSERT_EQ(some.size(), 2u); // the bucket's is what the model takes
  EXPECT_EQ(some[0].candidate, 1u);
}

TEST(PreferencesOf, NoBucketThatTheModelServes) {
  std::vector<MeasuredShape> shapes =
      shapesOf({group("d", {{{{"M", 60}}, {{"64", 10.4}, {"128", 10}}},
                            {{{"M", 500}}, {{"64", 11}, {"128", 10}}}})});
  // At 60 what it takes is 4 % slower than the best, at 500 10 %.
  std::vector<PreferredCandidate> all = preferencesOf(shapes, {0, 1}, {{1, 2}, {1, 2}});
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].ranges, (Ranges{{"M", {60, 60}}}));
  EXPECT_EQ(all[0].candidate, 1u);
  EXPECT_EQ(all[2].ranges, (Ranges{{"M", {363, 724}}}));
  EXPECT_EQ(all[2].candidate, 1u);
  // It takes the best itself; nothing that was measured; nothing at all.
  EXPECT_EQ(preferencesOf(shapes, {0, 1}, {{2, 1}, {2, 1}}).size(), 2u);
  EXPECT_EQ(preferencesOf(shapes, {0, 1, 2}, {{2, 2, 1}, {2, 2, 1}}).size(), 4u);
  EXPECT_EQ(preferencesOf(shapes, {0, 1}, {{0, 0}, {0, 0}}).size(), 4u);
}

} // namespace
} // namespace tilec
