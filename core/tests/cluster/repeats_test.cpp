#include "cluster/repeats.h"

#include <gtest/gtest.h>

#include <array>

namespace nameplate {
namespace {

TEST(Repeats, ANodeTakesFromTheFirstStartToTheLastFinish) {
  // Two ranks with two repeats each, in microseconds.
  constexpr std::array<RepeatTicks, 4> kTimes = {{{100, 200}, {1000, 1300}, {110, 260}, {1000, 1100}}};
  const NodeTimes node = summarised(kTimes, 2, 4000, 1e-6);
  EXPECT_EQ(node.ranks, 2U);
  EXPECT_EQ(node.repeats, 2U);
  EXPECT_EQ(node.bytes_in_repeat, 4000U);
  EXPECT_DOUBLE_EQ(node.window_s.minimum, 160e-6);
  EXPECT_DOUBLE_EQ(node.window_s.maximum, 300e-6);
  EXPECT_DOUBLE_EQ(node.window_s.average, 230e-6);
  EXPECT_DOUBLE_EQ(node.longest_s.minimum, 150e-6);
  EXPECT_DOUBLE_EQ(node.longest_s.average, 225e-6);
  EXPECT_DOUBLE_EQ(node.rank_s.minimum, 100e-6);
  EXPECT_DOUBLE_EQ(node.rank_s.maximum, 300e-6);
  EXPECT_DOUBLE_EQ(node.rank_s.average, 162.5e-6);
  EXPECT_DOUBLE_EQ(node.start_skew_s, 10e-6);
}

TEST(Repeats, ASingleRankEqualsItsNode) {
  constexpr std::array<RepeatTicks, 2> kTimes = {{{0, 5}, {10, 17}}};
  const NodeTimes node = summarised(kTimes, 1, 1, 1);
  EXPECT_DOUBLE_EQ(node.window_s.average, node.longest_s.average);
  EXPECT_DOUBLE_EQ(node.rank_s.maximum, 7);
  EXPECT_DOUBLE_EQ(node.start_skew_s, 0);
}

}  // namespace
}  // namespace nameplate
