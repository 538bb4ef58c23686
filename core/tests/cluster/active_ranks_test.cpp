#include "cluster/active_ranks.h"

#include <gtest/gtest.h>

#include <vector>

namespace nameplate {
namespace {

std::vector<int> active_places(int ranks, int active) {
  std::vector<int> places;
  for (int place = 0; place < ranks; ++place) {
    if (takes_part(place, ranks, active)) places.push_back(place);
  }
  return places;
}

TEST(ActiveRanks, AreEvenlySpacedAndBeginWithTheFirst) {
  EXPECT_EQ(active_places(8, 1), (std::vector{0}));
  EXPECT_EQ(active_places(8, 2), (std::vector{0, 4}));
  EXPECT_EQ(active_places(8, 4), (std::vector{0, 2, 4, 6}));
  EXPECT_EQ(active_places(4, 3), (std::vector{0, 2, 3}));
}

TEST(ActiveRanks, HaveTheGivenNumber) {
  for (int ranks = 1; ranks <= 130; ++ranks) {
    for (int active = 1; active <= ranks; ++active) {
      const std::vector<int> places = active_places(ranks, active);
      ASSERT_EQ(places.size(), static_cast<std::size_t>(active)) << ranks << " ranks";
      ASSERT_EQ(places.front(), 0);
    }
  }
}

}  // namespace
}  // namespace nameplate
