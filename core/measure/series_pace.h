// How a series keeps to its intervals: the k-th sample ends at k intervals after the beginning, and the next one begins
// there. A call of a probe cannot be cut short, so the calls are made as long as what is left of the interval.
//
// Times are ticks that are handed in, so that this has no clock of its own.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "record/worker.h"

namespace nameplate {

// Repetitions that were tried, how long they took, and what it cost to begin and to end the call.
struct Call {
  std::uint64_t repetitions = 1;
  Ticks elapsed = 0;
  Ticks cost = 0;
};

class SeriesPace {
 public:
  // `longest_call`: a part of the interval, so that a rate that falls within a call does not carry it far beyond the
  // end, and yet so long that beginning calls costs nothing. `shortest_call`: less than that is not worth a call.
  struct Lengths {
    Ticks interval;
    Ticks longest_call;
    Ticks shortest_call;
  };

  // `tried` says how long a repetition takes; with `fixed` every call has as many as were tried.
  SeriesPace(Ticks begin, const Lengths& lengths, const Call& tried, bool fixed);

  // The repetitions of a sample's first call: each sample has one, also one whose time was used up by those before it.
  std::uint64_t first_call(Ticks now) const;
  // Of its next call; nothing: the sample ends here.
  std::optional<std::uint64_t> next_call(Ticks now) const;

  void called(const Call& call);
  void end_sample() { ++index_; }

 private:
  // Until the sample's end; negative after it.
  double left(Ticks now) const {
    return static_cast<double>(static_cast<std::int64_t>(begin_ + (index_ + 1) * lengths_.interval - now));
  }
  std::uint64_t size(double wanted) const;
  // What it costs to begin a call, as far as that is no stall.
  double cost() const {
    constexpr double kMaxOfAnInterval = 1.0 / 8;
    return std::min(static_cast<double>(last_.cost), static_cast<double>(lengths_.interval) * kMaxOfAnInterval);
  }
  double repetition() const { return static_cast<double>(last_.elapsed) / static_cast<double>(last_.repetitions); }

  Ticks begin_;
  Lengths lengths_;
  Call last_;
  std::uint64_t most_repetitions_;
  bool fixed_;
  std::uint64_t index_ = 0;
};

}  // namespace nameplate
