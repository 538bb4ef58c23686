#include "cluster/repeats.h"

#include <algorithm>

namespace nameplate {

namespace {

// Collects average, minimum and maximum.
class SpreadOf {
 public:
  void add(double value) {
    sum_ += value;
    ++count_;
    spread_.minimum = count_ == 1 ? value : std::min(spread_.minimum, value);
    spread_.maximum = std::max(spread_.maximum, value);
  }

  Spread spread() const {
    return {.average = sum_ / static_cast<double>(count_), .minimum = spread_.minimum, .maximum = spread_.maximum};
  }

 private:
  Spread spread_;
  double sum_ = 0;
  std::uint64_t count_ = 0;
};

}  // namespace

NodeTimes summarised(std::span<const RepeatTicks> times, unsigned ranks, std::uint64_t bytes_in_repeat,
                     double seconds_per_tick) {
  const std::size_t repeats = times.size() / ranks;
  const auto seconds = [seconds_per_tick](Ticks ticks) { return static_cast<double>(ticks) * seconds_per_tick; };
  SpreadOf window;
  SpreadOf longest;
  SpreadOf rank_times;
  Ticks skew = 0;
  for (std::size_t repeat = 0; repeat < repeats; ++repeat) {
    Ticks first_start = times[repeat].start;
    Ticks last_start = times[repeat].start;
    Ticks last_finish = times[repeat].finish;
    Ticks most = 0;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      const RepeatTicks& ticks = times[rank * repeats + repeat];
      first_start = std::min(first_start, ticks.start);
      last_start = std::max(last_start, ticks.start);
      last_finish = std::max(last_finish, ticks.finish);
      most = std::max(most, ticks.finish - ticks.start);
      rank_times.add(seconds(ticks.finish - ticks.start));
    }
    window.add(seconds(last_finish - first_start));
    longest.add(seconds(most));
    skew = std::max(skew, last_start - first_start);
  }
  return {.ranks = ranks,
          .repeats = static_cast<std::uint32_t>(repeats),
          .bytes_in_repeat = bytes_in_repeat,
          .window_s = window.spread(),
          .longest_s = longest.spread(),
          .rank_s = rank_times.spread(),
          .start_skew_s = seconds(skew)};
}

}  // namespace nameplate
