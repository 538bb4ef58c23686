#include "measure/series_pace.h"

#include <algorithm>

namespace nameplate {

SeriesPace::SeriesPace(Ticks start, const Lengths& lengths, const Call& tried, bool fixed)
    : start_(start), lengths_(lengths), max_repetitions_(tried.repetitions), fixed_(fixed) {
  called(tried);
}

std::optional<std::uint64_t> SeriesPace::next_call(Ticks now) const {
  const double remaining = left(now);
  // If less than half of the shortest call is left, ending now is closer to the planned end than another call.
  const double shortest = fixed_ ? static_cast<double>(last_.elapsed)
                                 : std::max(repetition(), 2 * static_cast<double>(lengths_.shortest_call));
  if (remaining * 2 < shortest || remaining < cost()) return std::nullopt;
  return size(remaining);
}

void SeriesPace::called(const Call& call) {
  max_repetitions_ = std::max(max_repetitions_, call.repetitions);
  last_ = {.repetitions = call.repetitions, .elapsed = std::max<Ticks>(call.elapsed, 1), .cost = call.cost};
}

// After a call that exceeded its sample, the next samples are short until the series has caught up.
std::uint64_t SeriesPace::first_call(Ticks now) const {
  constexpr double kPartOfALateOne = 8;
  return size(std::max(left(now), static_cast<double>(lengths_.interval) / kPartOfALateOne));
}

std::uint64_t SeriesPace::size(double requested) const {
  if (fixed_) return last_.repetitions;
  constexpr std::uint64_t kGrowth = 2;  // at most, since a call may have seemed too short
  constexpr double kCosts = 20;         // calls with an expensive start, as in a job of many ranks, are longer
  const double total = std::min(requested, std::max(static_cast<double>(lengths_.longest_call), kCosts * cost()));
  const double length = std::max(total - cost(), total / 2);
  const double repetitions = std::min(length / repetition(), static_cast<double>(max_repetitions_ * kGrowth));
  return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(repetitions));
}

}  // namespace nameplate
