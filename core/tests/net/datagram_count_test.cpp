#include "net/datagram_count.h"

#include <gtest/gtest.h>

#include <memory>

namespace nameplate {

namespace {

TEST(DatagramCount, DatagramsInOrderAreNotReordered) {
  DatagramCount count;
  for (std::uint64_t i = 0; i < 200000; ++i) count.note(i, 0, 0);
  EXPECT_EQ(count.unique(), 200000U);
  EXPECT_EQ(count.reordered() + count.duplicates(), 0U);
}

TEST(DatagramCount, ALateDatagramIsReorderedAndARepeatedOneADuplicate) {
  DatagramCount count;
  for (const std::uint64_t number : {0, 1, 4, 2, 3, 3, 5, 5, 0}) count.note(number, 0, 0);
  EXPECT_EQ(count.unique(), 6U);
  EXPECT_EQ(count.reordered(), 2U);  // 2 and 3 came after 4 (RFC 4737)
  EXPECT_EQ(count.duplicates(), 3U);
}

TEST(DatagramCount, DatagramsBeyondTheWindowAreForgotten) {
  DatagramCount count;
  count.note(0, 0, 0);
  count.note(1'000'000, 0, 0);
  count.note(1'000'000 - 65'535, 0, 0);  // the oldest one within the window
  count.note(999'000, 0, 0);
  count.note(999'000, 0, 0);
  EXPECT_EQ(count.unique(), 4U);
  EXPECT_EQ(count.reordered(), 2U);
  EXPECT_EQ(count.duplicates(), 1U);
  count.note(1, 0, 0);  // beyond the window, so it counts as a duplicate
  EXPECT_EQ(count.unique(), 4U);
  EXPECT_EQ(count.duplicates(), 2U);
}

TEST(DatagramCount, JitterIsTheRunningMeanOfTransitTimeDifferences) {
  DatagramCount count;
  double jitter_us = 0;
  std::uint32_t before = 0;
  for (std::uint32_t i = 0; i < 100; ++i) {
    const std::uint32_t transit = 500 + (i * 7919) % 97;
    count.note(i, 1000 * i, 1000 * i + transit);
    if (i > 0) {
      const double change = std::abs(static_cast<double>(transit) - before);
      jitter_us += (change - jitter_us) / 16;  // RFC 3550, section 6.4.1
    }
    before = transit;
  }
  EXPECT_NEAR(count.jitter_s(), jitter_us * 1e-6, 1e-12);
}

TEST(DatagramCount, JitterGoesOnInTheNextSample) {
  DatagramCount total;
  DatagramCount in_parts;
  for (std::uint32_t i = 0; i < 100; ++i) {
    const std::uint32_t arrival = 1000 * i + (i * 7919) % 97;
    if (i == 50) in_parts.clear();
    total.note(i, 1000 * i, arrival);
    in_parts.note(i % 50, 1000 * i, arrival);
  }
  EXPECT_EQ(in_parts.unique(), 50U);
  EXPECT_EQ(in_parts.jitter_s(), total.jitter_s());
}

TEST(DatagramCount, ClockOffsetAndWrapAroundCauseNoJitter) {
  DatagramCount count;
  for (std::uint32_t i = 0; i < 100; ++i) count.note(i, 0xFFFFFF00U + 10 * i, 123456 + 10 * i);
  EXPECT_EQ(count.jitter_s(), 0);
}

}  // namespace

}  // namespace nameplate
