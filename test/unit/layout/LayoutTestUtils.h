// Shared by the layout tests.
#pragma once

#include "dialects/layout/Compatibility.h"

#include "gtest/gtest.h"

namespace tilec::layout {

/// The value of an answer that must be one.
template <typename T>
T must(const Answer<T> &answer) {
  if (!answer) {
    ADD_FAILURE() << "refused: " << answer.reason();
    return T();
  }
  return *answer;
}

/// Calls f(reg, lane, warp) for every place of a layout.
template <typename F>
void forEachPlace(const RegisterLayout &layout, F f) {
  for (int64_t w = layout.firstWarp(); w < layout.firstWarp() + layout.numWarps(); ++w) {
    for (int64_t l = 0; l < 32; ++l) {
      for (int64_t r = 0; r < layout.registersPerThread(); ++r) {
        f(r, l, w);
      }
    }
  }
}

/// The layout's text reads back as the same value.
inline void expectRoundTrip(const RegisterLayout &layout) {
  Answer<RegisterLayout> again = RegisterLayout::parse(layout.str());
  ASSERT_TRUE(bool(again)) << again.reason();
  EXPECT_TRUE(*again == layout) << layout.str();
  EXPECT_EQ(again->str(), layout.str());
  EXPECT_EQ(hash_value(*again), hash_value(layout));
}

inline void expectRoundTrip(const SharedLayout &layout) {
  Answer<SharedLayout> again = SharedLayout::parse(layout.str());
  ASSERT_TRUE(bool(again)) << again.reason();
  EXPECT_TRUE(*again == layout) << layout.str();
  EXPECT_EQ(again->str(), layout.str());
  EXPECT_EQ(hash_value(*again), hash_value(layout));
}

} // namespace tilec::layout
