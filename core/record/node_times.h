// The times of a node's ranks over several repeats of the same work, of fixed size so that they can be sent as they
// are.
#pragma once

#include <cstdint>

namespace nameplate {

struct Spread {
  double average = 0;
  double minimum = 0;
  double maximum = 0;
};

struct NodeTimes {
  std::uint32_t ranks = 0;
  std::uint32_t repeats = 0;
  std::uint64_t bytes_in_repeat = 0;  // the user's bytes, of all its ranks
  Spread window_s;                    // of each repeat: from the first rank's start to the last one's finish
  Spread longest_s;                   // of each repeat: the time of the slowest rank, as in DistributedStream
  Spread rank_s;                      // of every rank in every repeat
  double start_skew_s = 0;            // the maximum delay of a rank's start after the first one
};

}  // namespace nameplate
