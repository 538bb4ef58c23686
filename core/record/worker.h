// The work of one worker (thread, pair or rank) in one sample.
#pragma once

#include <cstdint>

namespace nameplate {

using Ticks = std::uint64_t;  // of the clock in the header record

struct Worker {
  Ticks start = 0;
  Ticks finish = 0;
  std::uint64_t bytes = 0;
  std::uint64_t flops = 0;
  std::uint64_t ops = 0;
};

}  // namespace nameplate
