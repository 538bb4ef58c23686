#include "measure/effective_clock.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "kernels/isa.h"
#include "kernels/register_chain.h"
#include "kernels/wide_chain.h"
#include "measure/clock.h"

namespace nameplate {
namespace {

// CPUs of the last twenty years clock at 0.5 to 8 GHz. An addition that is eliminated at rename would give more.
TEST(EffectiveClock, IsAPlausibleClock) {
  Ticks shortest = run_burst();
  for (int i = 0; i < 50; ++i) shortest = std::min(shortest, run_burst());
  const double hertz = static_cast<double>(kBurstCycles) / Clock::get().seconds(shortest);
  EXPECT_GT(hertz, 0.5e9);
  EXPECT_LT(hertz, 8e9);
}

TEST(EffectiveClock, ALongerChainTakesProportionallyLonger) {
  const auto ticks_of = [](std::uint64_t turns) {
    const Ticks start = Clock::now();
    register_chain(turns);
    return Clock::now() - start;
  };
  Ticks shorter = ~Ticks{0};
  Ticks longer = ~Ticks{0};
  // Measure both alternately, so that they run at the same clock.
  for (int i = 0; i < 1000; ++i) {
    shorter = std::min(shorter, ticks_of(1024));
    longer = std::min(longer, ticks_of(4096));
  }
  EXPECT_NEAR(static_cast<double>(longer) / static_cast<double>(shorter), 4, 0.4);
}

TEST(EffectiveClock, AChainBesideVectorsTakesAsManyCyclesAsOneWithoutThem) {
  if (const auto why = why_not(Isa::avx512)) GTEST_SKIP() << *why;
  Ticks plain = ~Ticks{0};
  Ticks wide = ~Ticks{0};
  for (int i = 0; i < 1000; ++i) {
    plain = std::min(plain, run_burst());
    wide = std::min(wide, run_settled_burst(true));
  }
  // A core may clock lower with vectors, by up to a third on the first ones with AVX-512.
  const double ratio = static_cast<double>(wide) / static_cast<double>(plain);
  EXPECT_GT(ratio, 0.95);
  EXPECT_LT(ratio, 1.6);
}

TEST(BurstLog, GivesNothingWithoutBursts) {
  std::vector<BurstLog> logs(2);
  EXPECT_EQ(undisturbed_burst_s(logs), 0);
  for (int i = 0; i < 5; ++i) logs[0].burst(false);
  EXPECT_GT(undisturbed_burst_s(logs), 0);
  logs[0].clear();
  EXPECT_EQ(undisturbed_burst_s(logs), 0);
}

}  // namespace
}  // namespace nameplate
