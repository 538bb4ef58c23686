// How far the CPUs of two ranks on one node are from each other (measure/line_transfer.h). Where a launch or a host put
// them decides how long a small message takes.
#pragma once

#include <optional>

namespace nameplate {

// Collective over all ranks of the job. Ranks with a `partner` exchange a cache line with it, if both are on one node.
// Returns to all of them the seconds of a round trip between the farthest pair; 0 if no pair is on one node, or if the
// MPI library cannot share memory there.
double farthest_pair_round_trip_s(std::optional<int> partner);

}  // namespace nameplate
