// What the ranks of one node did in several repeats of the same work, small enough to be sent as it is.
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
  std::uint64_t bytes_in_repeat = 0;  // the user's, of all its ranks
  Spread window_s;                    // of each repeat: from the first rank's start to the last one's finish
  Spread longest_s;         // of each repeat: the time of the rank that took longest, as DistributedStream has it
  Spread rank_s;            // of every rank in every repeat
  double start_skew_s = 0;  // the most that a rank began after the first one
};

}  // namespace nameplate
