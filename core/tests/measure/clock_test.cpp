#include "measure/clock.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace nameplate {
namespace {

// This test is also built with a clock scaled by 1.001, where it must fail.
TEST(Clock, AgreesWithMonotonicRawWithin50Ppm) {
  const Clock& clock = Clock::get();
  constexpr std::uint64_t kWindowNs = 2'000'000'000;
  constexpr double kMaxPpm = 50;
  const std::uint64_t raw_start = monotonic_raw_ns();
  const Ticks start = Clock::now();
  while (monotonic_raw_ns() - raw_start < kWindowNs) {
  }
  const Ticks end = Clock::now();
  const std::uint64_t raw_end = monotonic_raw_ns();
  const double raw_s = static_cast<double>(raw_end - raw_start) * 1e-9;
  EXPECT_LT(std::abs(clock.seconds(end - start) / raw_s - 1) * 1e6, kMaxPpm);
}

// Also where the kernel keeps the time by another source, as under an emulator.
TEST(Clock, TheCounterRunsAtASteadyRate) {
  constexpr int kWindows = 3;
  constexpr std::uint64_t kWindowNs = 100'000'000;
  constexpr double kMaxChange = 0.01;
  std::vector<double> rates;
  for (int i = 0; i < kWindows; ++i) {
    const std::uint64_t raw_start = monotonic_raw_ns();
    const Ticks start = Clock::counter_now();
    while (monotonic_raw_ns() - raw_start < kWindowNs) {
    }
    const Ticks end = Clock::counter_now();
    rates.push_back(static_cast<double>(end - start) / static_cast<double>(monotonic_raw_ns() - raw_start));
  }
  ASSERT_GT(rates.front(), 0);
  for (const double rate : rates) EXPECT_NEAR(rate / rates.front(), 1, kMaxChange);
}

TEST(Clock, NeverGoesBack) {
  Ticks previous = Clock::now();
  for (int i = 0; i < 100'000; ++i) {
    const Ticks current = Clock::now();
    ASSERT_GE(current, previous);
    previous = current;
  }
}

TEST(Clock, KnowsItsResolutionAndCost) {
  const ClockInfo& info = Clock::get().info();
  EXPECT_GT(info.resolution_s, 0);
  EXPECT_LT(info.resolution_s, 1e-5);
  EXPECT_GT(info.cost_s, 0);
  EXPECT_LT(info.cost_s, 1e-5);
}

TEST(Clock, ConvertsBothWays) {
  const Clock& clock = Clock::get();
  EXPECT_NEAR(clock.seconds(clock.ticks(1.5)), 1.5, 1e-6);
}

}  // namespace
}  // namespace nameplate
