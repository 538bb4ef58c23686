#include "cluster/active_ranks.h"

#include <gtest/gtest.h>

#include <vector>

namespace nameplate {
namespace {

std::vector<int> active_local_ranks(int ranks, int active) {
  std::vector<int> result;
  for (int local_rank = 0; local_rank < ranks; ++local_rank) {
    if (takes_part(local_rank, ranks, active)) result.push_back(local_rank);
  }
  return result;
}

TEST(ActiveRanks, AreEvenlySpacedAndBeginWithTheFirst) {
  EXPECT_EQ(active_local_ranks(8, 1), (std::vector{0}));
  EXPECT_EQ(active_local_ranks(8, 2), (std::vector{0, 4}));
  EXPECT_EQ(active_local_ranks(8, 4), (std::vector{0, 2, 4, 6}));
  EXPECT_EQ(active_local_ranks(4, 3), (std::vector{0, 2, 3}));
}

TEST(ActiveRanks, HaveTheGivenNumber) {
  for (int ranks = 1; ranks <= 130; ++ranks) {
    for (int active = 1; active <= ranks; ++active) {
      const std::vector<int> local_ranks = active_local_ranks(ranks, active);
      ASSERT_EQ(local_ranks.size(), static_cast<std::size_t>(active)) << ranks << " ranks";
      ASSERT_EQ(local_ranks.front(), 0);
    }
  }
}

}  // namespace
}  // namespace nameplate
