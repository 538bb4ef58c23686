#include "measure/series_pace.h"

#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <vector>

namespace nameplate {
namespace {

constexpr Ticks kInterval = 1'000'000;
constexpr SeriesPace::Lengths kLengths{.interval = kInterval, .longest_call = kInterval / 8, .shortest_call = 100};

struct Taken {
  Ticks start;
  Ticks end;
  int calls;
};

// Returns the duration of a call with this number of repetitions that begins at this time.
using Duration = std::function<Ticks(Ticks now, std::uint64_t repetitions)>;

// Runs a series of a simulated probe, on a clock that only its calls advance.
std::vector<Taken> series(int samples, const Duration& duration, const Call& tried, bool fixed) {
  constexpr Ticks kStart = 12'345;
  SeriesPace pace(kStart, kLengths, tried, fixed);
  std::vector<Taken> result;
  Ticks now = kStart;
  for (int i = 0; i < samples; ++i) {
    Taken taken{.start = now, .end = now, .calls = 0};
    for (std::optional<std::uint64_t> repetitions = pace.first_call(now); repetitions;
         repetitions = pace.next_call(now)) {
      const Ticks elapsed = duration(now, *repetitions);
      now += elapsed;
      pace.called({.repetitions = *repetitions, .elapsed = elapsed});
      ++taken.calls;
    }
    taken.end = now;
    pace.end_sample();
    result.push_back(taken);
  }
  for (Taken& taken : result) {
    taken.start -= kStart;
    taken.end -= kStart;
  }
  return result;
}

void expect_on_time(const Taken& taken, std::size_t index, double tolerance) {
  EXPECT_NEAR(static_cast<double>(taken.end), static_cast<double>((index + 1) * kInterval), tolerance) << index;
}

TEST(SeriesPace, EverySampleOfASteadyProbeEndsWithItsInterval) {
  const auto samples = series(
      600, [](Ticks, std::uint64_t n) { return 700 * n + 30; }, {.repetitions = 10, .elapsed = 7'030}, false);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    expect_on_time(samples[i], i, 700);
    EXPECT_LE(samples[i].calls, 16) << "few calls, since each costs something";
  }
}

TEST(SeriesPace, ANoisyRateDoesNotDrift) {
  std::mt19937_64 random(1);  // NOLINT: the same noise in every run
  std::lognormal_distribution<double> factor(0, 0.2);
  const auto samples = series(
      2000,
      [&](Ticks, std::uint64_t n) { return static_cast<Ticks>(50.0 * static_cast<double>(n) * factor(random)) + 1; },
      {.repetitions = 1, .elapsed = 50}, false);
  for (std::size_t i = 0; i < samples.size(); ++i) expect_on_time(samples[i], i, kInterval * 0.25);
}

TEST(SeriesPace, AfterARateFellByHalfAndAfterAStallTheIntervalsAreKept) {
  const Duration duration = [](Ticks now, std::uint64_t n) {
    const Ticks stall = now > 10 * kInterval && now < 10 * kInterval + kInterval / 2 ? 3 * kInterval : 0;
    return (now > 20 * kInterval ? 200 : 100) * n + stall;
  };
  const auto samples = series(40, duration, {.repetitions = 100, .elapsed = 10'000}, false);
  EXPECT_GT(samples[10].end, 13 * kInterval) << "the stall is in the sample in which it began";
  EXPECT_EQ(samples[11].calls, 1);
  EXPECT_EQ(samples[12].calls, 1);
  for (std::size_t i = 14; i < samples.size(); ++i) expect_on_time(samples[i], i, kInterval * 0.01);
}

TEST(SeriesPace, CallsThatAreExpensiveToStartAreFewAndLong) {
  constexpr Ticks kCost = kInterval / 10;
  SeriesPace pace(0, kLengths, {.repetitions = 100, .elapsed = 10'000}, false);
  Ticks now = 0;
  for (std::uint64_t i = 0; i < 50; ++i) {
    int calls = 0;
    for (std::optional<std::uint64_t> repetitions = pace.first_call(now); repetitions;
         repetitions = pace.next_call(now)) {
      now += kCost + 100 * *repetitions;
      pace.called({.repetitions = *repetitions, .elapsed = 100 * *repetitions, .cost = kCost});
      ++calls;
    }
    pace.end_sample();
    if (i < 6) continue;  // the number of repetitions can at most double per call
    EXPECT_LE(calls, 2) << i;
    EXPECT_NEAR(static_cast<double>(now), static_cast<double>((i + 1) * kInterval), kInterval / 8.0) << i;
  }
}

TEST(SeriesPace, CallsOfAFixedLengthEndAsCloseAsPossible) {
  const auto samples = series(
      100, [](Ticks, std::uint64_t n) { return 30'000 * n; }, {.repetitions = 10, .elapsed = 300'000}, true);
  for (std::size_t i = 0; i < samples.size(); ++i) expect_on_time(samples[i], i, 150'000);
}

}  // namespace
}  // namespace nameplate
