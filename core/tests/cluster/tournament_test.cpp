#include "cluster/tournament.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace nameplate {
namespace {

class Tournament : public testing::TestWithParam<int> {};

TEST_P(Tournament, EachPairMeetsOnceAndNobodyIsInTwoPairs) {
  const int parties = GetParam();
  std::vector<int> meetings(static_cast<std::size_t>(pairs_of(parties)));
  for (int round = 0; round < rounds_of(parties); ++round) {
    int idle = 0;
    for (int party = 0; party < parties; ++party) {
      const auto other = opponent(parties, round, party);
      if (!other) {
        ++idle;
        continue;
      }
      ASSERT_TRUE(*other >= 0 && *other < parties && *other != party);
      // This fails if two parties have the same opponent.
      ASSERT_EQ(opponent(parties, round, *other), party);
      if (party < *other) ++meetings.at(pair_index(parties, party, *other));
    }
    EXPECT_EQ(idle, parties % 2);
  }
  EXPECT_EQ(meetings, std::vector<int>(meetings.size(), 1));
}

INSTANTIATE_TEST_SUITE_P(AnyNumber, Tournament, testing::Values(1, 2, 3, 4, 5, 8, 1001, kMaxParties));

TEST(Rounds, AreOneLessThanAnEvenNumber) {
  EXPECT_EQ(rounds_of(1), 0);
  EXPECT_EQ(rounds_of(2), 1);
  EXPECT_EQ(rounds_of(3), 3);
  EXPECT_EQ(rounds_of(1024), 1023);
}

TEST(PairIndex, GoesThroughTheUpperTriangleRowByRow) {
  std::size_t expected = 0;
  for (int row = 0; row < 5; ++row) {
    for (int column = row + 1; column < 5; ++column) {
      EXPECT_EQ(pair_index(5, row, column), expected);
      EXPECT_EQ(pair_index(5, column, row), expected++);
    }
  }
}

TEST(Objection, SaysWhatToDoInstead) {
  EXPECT_EQ(objection(2, 8, true), "");
  EXPECT_EQ(objection(1, 8, false), "");
  EXPECT_NE(objection(1, 8, true).find("between=ranks"), std::string::npos);
  EXPECT_NE(objection(1, 1, false).find("mpirun -n 2"), std::string::npos);
  EXPECT_EQ(objection(1024, 2048, true), "");
  EXPECT_NE(objection(1024, 2048, false).find("2048"), std::string::npos);
  EXPECT_NE(objection(1025, 1025, true).find("1024"), std::string::npos);
}

}  // namespace
}  // namespace nameplate
