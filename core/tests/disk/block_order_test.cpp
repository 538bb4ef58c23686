#include "disk/block_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace nameplate {
namespace {

std::vector<std::uint64_t> pass_of(BlockOrder& order, std::uint64_t blocks) {
  std::vector<std::uint64_t> seen;
  while (seen.size() < blocks) {
    const auto some = order.next(std::min<std::uint64_t>(blocks - seen.size(), BlockOrder::kChunk));
    seen.insert(seen.end(), some.begin(), some.end());
  }
  return seen;
}

TEST(BlockOrder, EveryPatternExceptRecordVisitsEachBlockOncePerPass) {
  for (const Pattern pattern : {Pattern::sequential, Pattern::random, Pattern::backward, Pattern::stride}) {
    for (const std::uint64_t blocks : {1, 2, 16, 17, 18, 34, 1000}) {
      BlockOrder order(pattern, blocks, 512, 3);
      for (int pass = 0; pass < 3; ++pass) {
        const auto seen = pass_of(order, blocks);
        const std::set<std::uint64_t> different(seen.begin(), seen.end());
        EXPECT_EQ(different.size(), blocks) << pattern_names()[static_cast<std::size_t>(pattern)] << " " << blocks;
        EXPECT_EQ(*different.rbegin(), (blocks - 1) * 512);
      }
    }
  }
}

TEST(BlockOrder, PatternsHaveTheirOrder) {
  EXPECT_EQ(pass_of(*std::make_unique<BlockOrder>(Pattern::sequential, 3, 10, 0), 3),
            (std::vector<std::uint64_t>{0, 10, 20}));
  EXPECT_EQ(pass_of(*std::make_unique<BlockOrder>(Pattern::backward, 3, 10, 0), 3),
            (std::vector<std::uint64_t>{20, 10, 0}));
  EXPECT_EQ(pass_of(*std::make_unique<BlockOrder>(Pattern::record, 3, 10, 0), 3),
            (std::vector<std::uint64_t>{10, 10, 10}));
  EXPECT_EQ(pass_of(*std::make_unique<BlockOrder>(Pattern::stride, 20, 1, 0), 5),
            (std::vector<std::uint64_t>{0, 17, 1, 18, 2}));
}

TEST(BlockOrder, RandomPassesDifferPerPassAndWorker) {
  BlockOrder order(Pattern::random, 1000, 1, 1);
  const auto first = pass_of(order, 1000);
  EXPECT_NE(first, pass_of(order, 1000));
  BlockOrder other(Pattern::random, 1000, 1, 2);
  EXPECT_NE(first, pass_of(other, 1000));
  EXPECT_FALSE(std::ranges::is_sorted(first));
}

TEST(BlockOrder, APassCanBeRestarted) {
  BlockOrder order(Pattern::sequential, 100, 1, 0);
  order.next(30);
  order.start_pass();
  EXPECT_EQ(order.next(1)[0], 0U);
}

}  // namespace
}  // namespace nameplate
