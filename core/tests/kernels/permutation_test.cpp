#include "kernels/permutation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace nameplate {
namespace {

TEST(Permutation, MapsEveryNumberToADifferentOne) {
  for (const std::uint64_t count : {1U, 2U, 3U, 7U, 64U, 100U, 1000U, 4096U, 100'003U}) {
    const Permutation order(count);
    std::vector<bool> seen(count);
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t taken_to = order(i);
      ASSERT_LT(taken_to, count);
      ASSERT_FALSE(seen[taken_to]) << count;
      seen[taken_to] = true;
      ASSERT_EQ(order.inverse(taken_to), i) << count;
    }
  }
}

// In a random order, neighbours are a third of the range apart on average, and half of all steps go up.
TEST(Permutation, LooksRandomToAPrefetcher) {
  constexpr std::uint64_t kCount = 1 << 16;
  const Permutation order(kCount);
  double distance = 0;
  int upwards = 0;
  for (std::uint64_t i = 0; i + 1 < kCount; ++i) {
    const double step = static_cast<double>(order(i + 1)) - static_cast<double>(order(i));
    distance += std::abs(step) / (kCount - 1);
    upwards += step > 0 ? 1 : 0;
  }
  EXPECT_NEAR(distance / kCount, 1.0 / 3, 0.01);
  EXPECT_NEAR(upwards, kCount / 2.0, kCount / 50.0);
}

}  // namespace
}  // namespace nameplate
