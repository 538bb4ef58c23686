// Keeps a series to its intervals: the k-th sample ends k intervals after the start, and the next one starts there. A
// call of a probe cannot be interrupted, so calls are sized by what is left of the interval.
//
// Times are ticks passed as arguments, so that it has no clock of its own.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "record/worker.h"

namespace nameplate {

// The repetitions of a call, how long they took, and the cost of starting and ending the call.
struct Call {
  std::uint64_t repetitions = 1;
  Ticks elapsed = 0;
  Ticks cost = 0;
};

class SeriesPace {
 public:
  // `longest_call` is a part of the interval: short enough that a rate that falls within a call does not carry it far
  // beyond the end, and long enough that starting calls costs nothing. Less than `shortest_call` is not worth a call.
  struct Lengths {
    Ticks interval;
    Ticks longest_call;
    Ticks shortest_call;
  };

  // `tried` says how long a repetition takes; with `fixed`, every call has as many as were tried.
  SeriesPace(Ticks start, const Lengths& lengths, const Call& tried, bool fixed);

  // Returns the repetitions of a sample's first call; each sample has one, even if earlier ones used up its time.
  std::uint64_t first_call(Ticks now) const;
  // Returns the repetitions of its next call; nothing if the sample ends.
  std::optional<std::uint64_t> next_call(Ticks now) const;

  void called(const Call& call);
  void end_sample() { ++index_; }

 private:
  // Returns the time until the sample's end; negative after it.
  double left(Ticks now) const {
    return static_cast<double>(static_cast<std::int64_t>(start_ + (index_ + 1) * lengths_.interval - now));
  }
  std::uint64_t size(double requested) const;
  // Returns the cost of starting a call, without stalls.
  double cost() const {
    constexpr double kMaxOfAnInterval = 1.0 / 8;
    return std::min(static_cast<double>(last_.cost), static_cast<double>(lengths_.interval) * kMaxOfAnInterval);
  }
  double repetition() const { return static_cast<double>(last_.elapsed) / static_cast<double>(last_.repetitions); }

  Ticks start_;
  Lengths lengths_;
  Call last_;
  std::uint64_t max_repetitions_;
  bool fixed_;
  std::uint64_t index_ = 0;
};

}  // namespace nameplate
