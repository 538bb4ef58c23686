// Computes a node's times from the starts and ends of each rank's repeats.
#pragma once

#include <span>

#include "record/node_times.h"
#include "record/worker.h"

namespace nameplate {

struct RepeatTicks {
  Ticks start = 0;
  Ticks finish = 0;
};

// `times` has the repeats of one rank after those of another, by the node's own clock. `bytes_in_repeat` is the sum
// over the ranks.
NodeTimes summarised(std::span<const RepeatTicks> times, unsigned ranks, std::uint64_t bytes_in_repeat,
                     double seconds_per_tick);

}  // namespace nameplate
