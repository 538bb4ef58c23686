#include "measure/pace.h"

#include <gtest/gtest.h>

namespace nameplate {

namespace {

TEST(Pace, FollowsOnWhereTheLastSequenceWasPlannedToEnd) {
  Pace pace(1e-3, 0);
  pace.start();
  const Ticks first = pace.planned(0);
  const Ticks end = pace.end(10);
  EXPECT_EQ(pace.planned(10), end);
  pace.follow_on();
  EXPECT_EQ(pace.planned(0), end);
  EXPECT_NEAR(Clock::get().seconds(pace.end(10) - first), 20e-3, 1e-6);
}

}  // namespace

}  // namespace nameplate
