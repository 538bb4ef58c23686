// The time that a cache line takes from one CPU to another and back. It shows where a host has placed the CPUs of a
// guest, which the guest cannot see otherwise: within a complex of cores with one cache, or not.
#pragma once

#include <atomic>
#include <cstdint>

#include "measure/team.h"

namespace nameplate {

// Nothing else may be on the cache line, nor on the one that a CPU fetches with it.
struct alignas(128) SharedLine {
  std::atomic<std::uint32_t> value{0};
};

// Returns the seconds of a round trip, the shortest mean of several batches, while the other side is in `answer_line`
// on the same line, which is 0 at first.
double time_line_round_trip_s(SharedLine& line);
void answer_line(SharedLine& line);

// Returns the seconds of a round trip between the first worker and the farthest of up to 16 others, evenly chosen; 0 if
// there is no other, or if workers share CPUs.
double farthest_round_trip_s(Team& team);

}  // namespace nameplate
