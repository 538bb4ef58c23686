// From when each rank of a node began and ended each repeat to the node's times.
#pragma once

#include <span>

#include "record/node_times.h"
#include "record/worker.h"

namespace nameplate {

struct RepeatTicks {
  Ticks start = 0;
  Ticks finish = 0;
};

// `times` holds one rank's repeats after the other's, by the node's own clock. `bytes_in_repeat` is all ranks'
// together.
NodeTimes summarised(std::span<const RepeatTicks> times, unsigned ranks, std::uint64_t bytes_in_repeat,
                     double seconds_per_tick);

}  // namespace nameplate
