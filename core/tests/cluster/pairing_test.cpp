#include "cluster/pairing.h"

#include <gtest/gtest.h>

#include <set>
#include <utility>
#include <vector>

namespace nameplate {
namespace {

using Pairs = std::vector<std::pair<int, int>>;

Pairs every_pair_of(const Pairing& pairing) {
  Pairs pairs;
  for (int i = 0; i < pairing.pairs; ++i) {
    const int first = first_of(pairing, i);
    pairs.emplace_back(first, role_of(pairing, first)->partner);
  }
  return pairs;
}

TEST(Pairing, EachKindPairsAsItsName) {
  EXPECT_EQ(every_pair_of({PairingKind::block, 6, 3}), (Pairs{{0, 3}, {1, 4}, {2, 5}}));
  EXPECT_EQ(every_pair_of({PairingKind::mirrored, 6, 3}), (Pairs{{0, 5}, {1, 4}, {2, 3}}));
  EXPECT_EQ(every_pair_of({PairingKind::adjacent, 6, 2}), (Pairs{{0, 1}, {2, 3}}));
}

TEST(Pairing, BothMembersOfAPairAgreeAndNobodyIsInTwo) {
  for (const PairingKind kind :
       {PairingKind::block, PairingKind::mirrored, PairingKind::adjacent, PairingKind::random}) {
    for (const int ranks : {2, 3, 7, 8, 100, 1001}) {
      for (const int pairs : {1, (ranks / 2 + 1) / 2, ranks / 2}) {
        const Pairing pairing{kind, ranks, pairs, 5};
        std::set<int> busy;
        for (int rank = 0; rank < ranks; ++rank) {
          const auto role = role_of(pairing, rank);
          if (!role) continue;
          busy.insert(rank);
          const auto other = role_of(pairing, role->partner);
          ASSERT_TRUE(other && other->partner == rank && other->pair == role->pair);
          ASSERT_NE(other->is_first, role->is_first);
          ASSERT_EQ(first_of(pairing, role->pair), role->is_first ? rank : role->partner);
        }
        EXPECT_EQ(busy.size(), 2U * static_cast<unsigned>(pairs)) << ranks;
      }
    }
  }
}

TEST(Pairing, AnotherSeedGivesOtherPairs) {
  const Pairs pairs = every_pair_of({PairingKind::random, 100, 50, 1});
  EXPECT_EQ(pairs, every_pair_of({PairingKind::random, 100, 50, 1}));
  EXPECT_NE(pairs, every_pair_of({PairingKind::random, 100, 50, 2}));
}

}  // namespace
}  // namespace nameplate
