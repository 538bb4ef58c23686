#include "record/histogram.h"

#include <gtest/gtest.h>

#include <memory>

namespace nameplate {
namespace {

TEST(Histogram, BucketsAreAtMost4PerMilleWideAndCoverEverything) {
  for (std::size_t bucket = 0; bucket + 1 < Histogram::kBuckets; ++bucket) {
    const auto low = Histogram::lower_bound(bucket);
    const auto next = Histogram::lower_bound(bucket + 1);
    ASSERT_LT(low, next);
    ASSERT_EQ(Histogram::index(low), bucket);
    ASSERT_EQ(Histogram::index(next - 1), bucket);
    if (low >= Histogram::kSubBuckets) {
      ASSERT_LE(static_cast<double>(next - low), 0.004 * static_cast<double>(low));
    }
  }
  EXPECT_EQ(Histogram::index(~std::uint64_t{0}), Histogram::kBuckets - 1);
}

TEST(Histogram, MergesAndWritesOnlyNonEmptyBuckets) {
  const auto left = std::make_unique<Histogram>();
  const auto right = std::make_unique<Histogram>();
  left->add(100);
  right->add(100);
  right->add(1'000'000);
  left->merge(*right);
  const auto json = left->to_json();
  EXPECT_EQ(json["count"], (nlohmann::json{2, 1}));
  EXPECT_EQ(json["lower_ns"][0], 100);
  left->clear();
  EXPECT_TRUE(left->to_json()["count"].empty());
}

}  // namespace
}  // namespace nameplate
