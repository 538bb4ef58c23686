// When the workers of a sample end.
#pragma once

#include <cstdint>
#include <string_view>

#include "measure/clock.h"

namespace nameplate {

enum class Ends {
  work,  // each does the same work, and the sample ends with the slowest
  time,  // each works for the same time
};

inline Ends parse_ends(std::string_view word) { return word == "time" ? Ends::time : Ends::work; }

// With Ends::time, a repetition is so much of each worker's time.
inline constexpr double kTimedRepetition_s = 10e-6;

// Returns when a worker that starts now ends its repetitions.
inline Ticks end_of(std::uint64_t repetitions) {
  return Clock::now() + Clock::get().ticks(static_cast<double>(repetitions) * kTimedRepetition_s);
}

}  // namespace nameplate
